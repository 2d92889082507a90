"""Make the sample data: four populations, tasks for one of them, two graphs, their planted truth and checksums.

Run from the project root as ``python sample_data/make.py``. Everything here is public, and all that is drawn is
synthetic, so an ordinary seeded generator is the right one: the same seed writes the same bytes.
"""

import hashlib
import json
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
if not __package__:  # run as a script, which knows its own folder alone
    sys.path.insert(0, str(HERE.parent))

from sample_data.chores import task_table, task_truth  # noqa: E402
from sample_data.crowd import worker_table, worker_truth  # noqa: E402
from sample_data.friends import Graph, friend_graph, graph_truth, karate_graph  # noqa: E402

SEED = 19650301

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Attribute:
    """One question: its possible answers, in order, and how they are shared out.

    Attributes
    ----------
    categories : tuple
        The answers, in order.
    percent : tuple of int
        The share of each answer among those who answered.
    missing : int
        The percentage of the population that gave no answer.
    type : str
        The Arrow type of the column.
    """

    categories: tuple[str | int, ...]
    percent: tuple[int, ...]
    missing: int = 0
    type: str = "string"

    def counts(self, rows: int) -> Codes:
        """Return the exact count of each answer in `rows` respondents, those who gave none last."""
        answered, missing = apportion(rows, (100 - self.missing, self.missing))
        return np.append(apportion(answered, self.percent), missing)

    def column(self, codes: Codes) -> pa.Array:
        """Return the answers that `codes` stand for; the code past the last category is a null."""
        return pa.array([*self.categories, None], self.type).take(pa.array(codes))


ROWS, FILES = 200_000, 8
RESPONSES = {
    "cheated": Attribute(("no", "yes"), (93, 7)),
    "drinks": Attribute(
        ("never", "monthly", "weekly", "several-a-week", "daily"), (22, 30, 27, 15, 6), missing=8
    ),
    "region": Attribute(
        ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"),
        (18, 9, 14, 12, 21, 8, 11, 7),
    ),
    "income": Attribute(tuple(range(1, 13)), (5, 9, 12, 14, 14, 12, 10, 8, 6, 5, 3, 2), type="int8"),
}
# How far each region's incomes lie from the middle, in standard deviations of everyone's.
REGION_LIFT = np.array([-0.2, -0.3, 0.1, 0.4, 0.2, 0.0, -0.1, -0.2])

LDL = ("<70", "70-99", "100-129", "130-159", "160-189", ">=190")
TC = ("<200", "200-239", ">=240")
BIOMARKERS = np.array([[16, 0, 0], [63, 1, 0], [83, 20, 0], [6, 40, 4], [0, 4, 8], [0, 0, 3]])

CANDIDATES = ("Ana Muñoz", "Benoît Lefèvre", "Chloé Šimková", "Dániel Øberg", "Eszter Nagy", "Finn O'Connor")
VOTERS, BALLOT_FILES = 30_000, 4
WORKER_FILES, WORKER_GROUPS = 4, 4
TASK_FILES = 2
LINK_FILES, NODE_FILES = 4, 5
# Rankings by initials, best first, and how many voters in a thousand cast each. A second C or B is a slip.
BALLOTS = {
    "": 10,
    "A": 30, "AC": 60, "ACBDEF": 90, "ACDEB": 60, "ACEFDB": 80, "ADCBFE": 30, "AFCEBD": 30, "ABCFED": 10,
    "B": 20, "BC": 40, "BCADEF": 80, "BCDFEA": 80, "BCEDFA": 60, "BDCE": 20, "BEFCAD": 20, "BACFDE": 10,
    "C": 10, "CB": 20, "CBADEF": 70, "CBEFDA": 70, "CBD": 30, "CABEDF": 15, "CAFDEB": 15,
    "DBCEFA": 5, "DCBAFE": 6, "EBCFDA": 10, "FBCADE": 5, "FACBED": 4,
    "ACCB": 5, "BBC": 3, "CBCA": 2,
}  # fmt: skip
# The winner and the exact margin of victory of each rule, as `canvass margin sample_data/ballots --rule RULE` finds them.
OUTCOMES = {
    "plurality": ("Ana Muñoz", 931),
    "borda": ("Chloé Šimková", 2285),
    "veto": ("Chloé Šimková", 1422),
    "condorcet": ("Chloé Šimková", 2235),
    "maximin": ("Chloé Šimková", 2235),
    "runoff": ("Benoît Lefèvre", 1516),
    "stv": ("Benoît Lefèvre", 1726),
}


def apportion(total: int, weights: tuple[int, ...]) -> Codes:
    """Share `total` out by `weights`, exactly: the floor of each share, then the largest remainders.

    Parameters
    ----------
    total : int
        What is shared out.
    weights : tuple of int
        The relative size of each share.

    Returns
    -------
    numpy.ndarray
        Whole shares that sum to `total`.

    Examples
    --------
    >>> apportion(10, (1, 1, 1)).tolist()
    [4, 3, 3]
    """
    shares, remainders = np.divmod(total * np.array(weights), sum(weights))
    shares[np.argsort(-remainders, kind="stable")[: total - shares.sum()]] += 1
    return shares


def repeated(counts: Codes) -> Codes:
    """Return the codes 0, 1, 2, ..., in order, each as often as `counts` says."""
    return np.repeat(np.arange(len(counts)), counts)


def response_table(rng: Generator) -> pa.Table:
    """Return the survey's population, in shuffled order.

    Every attribute is dealt out independently, save income: people are ranked by a score that depends
    mildly on their region, and the brackets are dealt out in that order, so its counts stay exact.
    """
    codes = {name: rng.permutation(repeated(each.counts(ROWS))) for name, each in RESPONSES.items()}
    score = REGION_LIFT[codes["region"]] + rng.standard_normal(ROWS)
    codes["income"][np.argsort(score, kind="stable")] = repeated(RESPONSES["income"].counts(ROWS))
    ids = [f"R-{number:06d}" for number in rng.permutation(ROWS) + 1]
    return pa.table({"respondent": ids} | {name: RESPONSES[name].column(codes[name]) for name in codes})


def biomarker_table(rng: Generator) -> pa.Table:
    """Return one row for each person counted in the biomarkers table, in shuffled order."""
    ldl, tc = np.divmod(rng.permutation(repeated(BIOMARKERS.ravel())), len(TC))
    respondent = rng.permutation(len(ldl)) + 1
    return pa.table({"respondent": respondent, "ldl": np.take(LDL, ldl), "tc": np.take(TC, tc)})


def ballot_table(rng: Generator) -> pa.Table:
    """Return one row for each ballot, in shuffled order; the last file's names have their accents apart.

    The footers name the candidates in the tie order, like those that ``canvass import`` writes.
    """
    kinds = rng.permutation(repeated(apportion(VOTERS, tuple(BALLOTS.values()))))
    names = {name[0]: name for name in CANDIDATES}
    apart = {initial: unicodedata.normalize("NFD", name) for initial, name in names.items()}
    spelled = [[by[initial] for initial in ballot] for by in (names, apart) for ballot in BALLOTS]
    elsewhere = np.arange(VOTERS) >= VOTERS - VOTERS // BALLOT_FILES
    rankings = pa.array(spelled, pa.list_(pa.string())).take(pa.array(kinds + elsewhere * len(BALLOTS)))
    footer = json.dumps({"version": 1, "ballots": {"candidates": CANDIDATES}}, ensure_ascii=False)
    table = pa.table({"ballot": rng.permutation(VOTERS) + 1, "ranking": rankings})
    return table.replace_schema_metadata({"canvass": footer})


def write_parts(table: pa.Table, name: str, files: int, groups: int = 1) -> list[Path]:
    """Write `table` as the data set `name`, in `files` equal parts of `groups` row groups each.

    Parameters
    ----------
    table : pyarrow.Table
        The rows, ids first; metadata go into every footer.
    name : str
        The folder to write to.
    files : int
        The number of parts; it divides the number of rows.
    groups : int
        The number of row groups of a part; it divides a part's rows.

    Returns
    -------
    list of pathlib.Path
        The files written.
    """
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    rows = table.num_rows // files
    paths = [folder / f"part-{part}.parquet" for part in range(files)]
    for part, path in enumerate(paths):
        pq.write_table(
            table.slice(part * rows, rows),
            path,
            row_group_size=rows // groups,
            compression="zstd",
            use_dictionary=table.column_names[1:],  # ids, which come first, are unique
        )
    return paths


def ballot_truth() -> dict[str, Any]:
    """Return what was planted of the ballots: those that count, by kind, and every rule's outcome."""
    counted: dict[str, int] = {}
    for ballot, count in zip(BALLOTS, apportion(VOTERS, tuple(BALLOTS.values())).tolist(), strict=True):
        slip = next((place for place, one in enumerate(ballot) if one in ballot[:place]), len(ballot))
        counted[ballot[:slip]] = counted.get(ballot[:slip], 0) + count
    numbers = {name[0]: number for number, name in enumerate(CANDIDATES)}
    return {
        "rows": VOTERS,
        "candidates": CANDIDATES,
        "ballots": [
            {"ranking": [numbers[one] for one in ballot], "count": count} for ballot, count in counted.items()
        ],
        "outcomes": {rule: {"outcome": name, "margin": margin} for rule, (name, margin) in OUTCOMES.items()},
    }


def truth(workers: pa.Table, tasks: pa.Table, friends: Graph, karate: Graph) -> dict[str, Any]:
    """Return what was planted: answers' counts, the biomarkers' joint table, ballots, workers, tasks and graphs."""
    planted = {name: (each.categories, each.counts(ROWS).tolist()) for name, each in RESPONSES.items()}
    responses = {
        name: {"categories": categories, "counts": counts[:-1], "missing": counts[-1]}
        for name, (categories, counts) in planted.items()
    }
    biomarkers = {
        name: {"categories": categories, "counts": BIOMARKERS.sum(axis).tolist(), "missing": 0}
        for name, categories, axis in (("ldl", LDL, 1), ("tc", TC, 0))
    }
    crowd = worker_truth(workers)
    return {
        "responses": {"rows": ROWS, "attributes": responses},
        "biomarkers": {
            "rows": int(BIOMARKERS.sum()),
            "attributes": biomarkers,
            "table": BIOMARKERS.tolist(),
        },
        "ballots": ballot_truth(),
        "workers": crowd,
        "tasks": task_truth(tasks, workers, crowd["tree"]),
        "links": graph_truth(friends),
        "karate": graph_truth(karate),
    }


def write_truth(planted: dict[str, Any]) -> Path:
    """Write the planted truth and return its path."""
    path = HERE / "truth.json"
    path.write_text(json.dumps(planted, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def write_sums(paths: list[Path]) -> None:
    """Write the checksums of `paths` the way ``sha256sum`` does, relative to this folder."""
    lines = (
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(HERE).as_posix()}\n"
        for path in sorted(paths)
    )
    (HERE / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def main() -> None:
    """Write all data sets, the truth and the checksums."""
    rng = Generator(PCG64(SEED))
    responses = write_parts(response_table(rng), "responses", FILES)
    biomarkers = write_parts(biomarker_table(rng), "biomarkers", 1)
    ballots = write_parts(ballot_table(rng), "ballots", BALLOT_FILES)
    crowd = worker_table(rng)
    workers = write_parts(crowd, "workers", WORKER_FILES, WORKER_GROUPS)
    chores = task_table(rng)
    tasks = write_parts(chores, "tasks", TASK_FILES)
    friends, karate = friend_graph(rng), karate_graph()
    graphs = [
        *write_parts(friends.links, "links", LINK_FILES),
        *write_parts(friends.nodes, "nodes", NODE_FILES),
        *write_parts(karate.links, "karate/links", 1),
        *write_parts(karate.nodes, "karate/nodes", 1),
    ]
    planted = write_truth(truth(crowd, chores, friends, karate))
    write_sums([*responses, *biomarkers, *ballots, *workers, *tasks, *graphs, planted])


if __name__ == "__main__":
    main()
