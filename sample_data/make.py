"""Make the sample data: two synthetic populations, their planted truth and their checksums.

Run from the project root as ``python sample_data/make.py``. Everything here is public and synthetic, so an
ordinary seeded generator is the right one: the same seed writes the same bytes.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
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


def write_parts(table: pa.Table, name: str, files: int) -> list[Path]:
    """Write `table` as the data set `name`, in `files` equal parts of one row group each.

    Parameters
    ----------
    table : pyarrow.Table
        The rows, whose first column is the respondent's id.
    name : str
        The folder to write to.
    files : int
        The number of parts; it divides the number of rows.

    Returns
    -------
    list of pathlib.Path
        The files written.
    """
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    rows = table.num_rows // files
    paths = [folder / f"part-{part}.parquet" for part in range(files)]
    for part, path in enumerate(paths):
        pq.write_table(
            table.slice(part * rows, rows),
            path,
            row_group_size=rows,
            compression="zstd",
            use_dictionary=table.column_names[1:],  # the ids are unique
        )
    return paths


def truth() -> dict[str, Any]:
    """Return what was planted: the counts of every answer, and the biomarkers' joint table."""
    planted = {name: (each.categories, each.counts(ROWS).tolist()) for name, each in RESPONSES.items()}
    responses = {
        name: {"categories": categories, "counts": counts[:-1], "missing": counts[-1]}
        for name, (categories, counts) in planted.items()
    }
    biomarkers = {
        name: {"categories": categories, "counts": BIOMARKERS.sum(axis).tolist(), "missing": 0}
        for name, categories, axis in (("ldl", LDL, 1), ("tc", TC, 0))
    }
    return {
        "responses": {"rows": ROWS, "attributes": responses},
        "biomarkers": {
            "rows": int(BIOMARKERS.sum()),
            "attributes": biomarkers,
            "table": BIOMARKERS.tolist(),
        },
    }


def write_truth() -> Path:
    """Write the planted truth and return its path."""
    path = HERE / "truth.json"
    path.write_text(json.dumps(truth(), indent=1) + "\n", encoding="utf-8")
    return path


def write_sums(paths: list[Path]) -> None:
    """Write the checksums of `paths` the way ``sha256sum`` does, relative to this folder."""
    lines = (
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(HERE).as_posix()}\n"
        for path in sorted(paths)
    )
    (HERE / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def main() -> None:
    """Write both data sets, the truth and the checksums."""
    rng = Generator(PCG64(SEED))
    responses = write_parts(response_table(rng), "responses", FILES)
    biomarkers = write_parts(biomarker_table(rng), "biomarkers", 1)
    write_sums([*responses, *biomarkers, write_truth()])


if __name__ == "__main__":
    main()
