"""Elections by the real command: in every model, cut off between rounds, told again from reports, and never told at all."""

from __future__ import annotations

import contextlib
import json
import os
import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sample_data
from tests.e2e.command import COMMAND, Canvass, end, files_below, kill_group, to_toml, wait_until
from udfs.streams import Secret

FOLDER = Path(next(iter(sample_data.__path__)))
PLANTED = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))["ballots"]
SAMPLE = {"path": str(FOLDER / "ballots"), "id": "ballot", "ranking": "ranking"}


def election(root: Path, rule: str, *options: str, **privacy: Any) -> Canvass:
    """Return the command over the sample's ballots."""
    one = Canvass(root, *options)
    one.tables = {
        "job": "election",
        "population": SAMPLE | {"name": "voters"},
        "output": {"path": "out"},
        "cluster": {"workers": 1},
        "election": {"candidates": PLANTED["candidates"], "rule": rule},
        "privacy": {"model": "local", "epsilon": 1} | privacy,
    }
    return one


def charged(one: Canvass) -> list[tuple[str, str, str]]:
    return [(charge.question, str(charge.epsilon), charge.status) for charge in one.charges()]


@pytest.mark.parametrize("rule", ["condorcet", "stv"])
def test_the_central_model_names_the_planted_winner(tmp_path: Path, rule: str) -> None:
    """At these margins another outcome is drawn less than once in 1e300 times."""
    one = election(tmp_path, rule, model="central")
    assert one.document()["result"]["outcome"] == PLANTED["outcomes"][rule]["outcome"]
    assert charged(one) == [("ballot", "1", "charged")]
    assert sorted(path.name for path in one.out.iterdir()) == ["manifest.json", "report.html", "result.json"]


def test_where_reports_hardly_lie_rounds_find_the_planted_winner(tmp_path: Path) -> None:
    """Each answer is false less than once in 1e43 times, and ballots without one draw theirs: too few to matter."""
    one = election(tmp_path, "stv", model="interactive", epsilon=500, rounds="share-budget")
    result = one.document()["result"]
    assert len(result["rounds"]) == len(PLANTED["candidates"]) - 1
    assert result["outcome"] == PLANTED["outcomes"]["stv"]["outcome"]
    assert not (one.out / "reports").exists()


def test_a_plan_is_printed_as_json_and_leaves_nothing(tmp_path: Path) -> None:
    for model, stages in (
        ("central", ["count ballots"]),
        ("local", ["randomize"]),
        ("interactive", ["round 1", "round 2"]),
    ):
        one = election(tmp_path / model, "runoff", model=model)
        (one.root / "spec.toml").write_text(to_toml(one.tables), encoding="utf-8")
        found = _command(one, "plan", "spec.toml", "--json")
        planned = json.loads(found.stdout)
        assert [stage["name"] for stage in planned["stages"]] == stages
        assert planned["rows"] == PLANTED["rows"]
        assert planned["epsilon"] == {"total": 1, "charged": 1}
        assert planned["predicted"]["decisive_margin"]["value"] > 0
        assert not one.out.exists()
        assert one.charges() == []


def _command(one: Canvass, *words: str) -> subprocess.CompletedProcess[str]:
    """Run another command of the same project, with the same state."""
    finished = subprocess.run(
        [COMMAND, *words],
        cwd=one.root,
        env=os.environ | one.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished


def test_reports_that_were_collected_are_told_again_and_under_another_rule(tmp_path: Path) -> None:
    first = election(tmp_path / "first", "stv", randomizer="sampled")
    told = first.document()["result"]
    for rule in ("stv", "condorcet"):
        later = election(tmp_path / rule, rule)
        later.tables["population"] = {"path": str(first.out / "reports"), "id": "ballot", "name": "reports"}
        later.tables["collected"] = {"design": "ballots"}
        result = later.document()["result"]
        assert later.charges() == []
        if rule == "stv":
            assert (result["outcome"], result["rounds"]) == (told["outcome"], told["rounds"])


def test_reports_whose_ids_are_not_named_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    """A bit is on a side of the direction that belongs to an id: by the numbers of rows, it would be noise."""
    first = election(tmp_path / "first", "borda", randomizer="ball")
    first.document()
    later = election(tmp_path / "later", "borda")
    later.tables["population"] = {"path": str(first.out / "reports"), "name": "reports"}
    later.tables["collected"] = {"design": "ballots"}
    assert "population.id: must tell reports apart as when they were made" in later.refusal()


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return so many ballots that every round takes its time."""
    kinds = [["Ada", "Cy", "Bo"], ["Bo", "Ada"], ["Cy"], ["Di", "Bo", "Ada", "Cy"], []]
    chosen = np.arange(1_200_000) * 7 % 19 % 5
    lengths = np.array([len(kind) for kind in kinds])[chosen]
    codes = np.concatenate([np.resize(kinds_as_codes(kind), len(kind)) for kind in kinds])
    starts = np.cumsum([0, *(len(kind) for kind in kinds)])[chosen]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    names = pa.array(["Ada", "Bo", "Cy", "Di"]).take(pa.array(codes[np.repeat(starts, lengths) + within]))
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    folder = tmp_path_factory.mktemp("crowd")
    table = pa.table({"voter": np.arange(len(chosen)), "ranking": pa.ListArray.from_arrays(offsets, names)})
    pq.write_table(table, folder / "0.parquet")
    return str(folder)


def kinds_as_codes(kind: list[str]) -> np.ndarray[Any, Any]:
    return np.array([["Ada", "Bo", "Cy", "Di"].index(name) for name in kind], dtype=int)


def test_an_election_that_is_killed_between_rounds_goes_on_with_those_that_were_answered(
    tmp_path: Path, crowd: str
) -> None:
    secret = tmp_path / "secret"
    secret.touch(0o600)
    secret.write_bytes(Secret.new().reveal())
    runs = []
    for name in ("undisturbed", "killed"):
        one = election(
            tmp_path / name, "stv", "--secret-file", str(secret), model="interactive", rounds="share-budget"
        )
        one.tables["population"] = {
            "path": crowd,
            "id": "voter",
            "ids": "trusted",
            "ranking": "ranking",
            "name": "voters",
        }
        one.tables["election"]["candidates"] = ["Ada", "Bo", "Cy", "Di"]
        runs.append(one)
    expected = runs[0].document()

    killed = runs[1]
    run = killed.start()
    kept = wait_until(lambda: rounds_of(killed), run)
    kill_group(run)
    kept = rounds_of(killed)
    assert 1 <= len(kept) < 3
    assert not (killed.out / "manifest.json").exists()
    assert charged(killed) == [("ballot", "1", "charged")]

    resumed = killed.run()
    assert resumed.returncode == 0, resumed.stderr
    asked = sorted(set(re.findall(r"round \d", resumed.stderr)))
    assert asked == [f"round {number}" for number in (1, 2, 3)][len(kept) :]
    document = json.loads((killed.out / "result.json").read_text("utf-8"))
    assert document["result"] == expected["result"]
    assert charged(killed) == [("ballot", "1", "charged")]
    assert rounds_of(killed) == []
    assert not list(killed.state.rglob("*.secret"))


def rounds_of(one: Canvass) -> list[Path]:
    """Return the rounds that are kept."""
    return sorted(one.state.rglob("rounds/*.json"))


def exact_numbers() -> set[int]:
    """Return numbers of the sample's tally that nobody comes upon otherwise: scores, duels, margins."""
    from jobs.election.rules import RULES, Scoring
    from udfs.contests import Duels, FirstChoice, Points
    from udfs.profile import Profile

    names, kinds = PLANTED["candidates"], PLANTED["ballots"]
    last = [len(kind["ranking"]) for kind in kinds]
    places = [
        [kind["ranking"].index(one) if one in kind["ranking"] else end for one in range(len(names))]
        for kind, end in zip(kinds, last, strict=True)
    ]
    profile = Profile.of(np.array(places, dtype=np.uint8), np.array([kind["count"] for kind in kinds]))
    everybody = tuple(range(len(names)))
    contests: list[Any] = [FirstChoice(everybody), FirstChoice(everybody[:3]), FirstChoice(everybody[:2])]
    contests += [Duels.of_all(len(names)), Points(tuple(range(len(names) - 1, -1, -1)))]
    found = {abs(int(score)) for contest in contests for score in profile.score(contest)}
    assert set(PLANTED["outcomes"]) == {name for name in RULES if name != Scoring.name}
    found |= {one["margin"] for one in PLANTED["outcomes"].values()} | {kind["count"] for kind in kinds}
    return {number for number in found if number >= 900}


def sightings(data: bytes, numbers: set[int]) -> Iterator[tuple[int, str]]:
    """Yield the numbers that stand in some bytes: as text, with thousands apart, or as 64-bit words."""
    text = data.decode("utf-8", "replace")
    for number in numbers:
        pattern = (
            rf"{number // 1000}[,\u2009\u202f\u00a0 ]?{number % 1000:03d}" if number >= 1000 else f"{number}"
        )
        if re.search(rf"(?<![\w.,]){pattern}(?![\w]|\.\d)", text):
            yield number, "text"
        for layout in ("<q", ">q"):
            if struct.pack(layout, number) in data:
                yield number, layout


def test_nothing_of_the_tally_is_in_any_file_or_word_of_the_central_model(tmp_path: Path) -> None:
    numbers = exact_numbers()
    one = election(tmp_path / "run", "stv", model="central")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    one.environment["TMPDIR"] = str(scratch)
    run, seen = one.start(), dict[Path, bytes]()
    while run.poll() is None:
        with contextlib.suppress(FileNotFoundError):  # folders come and go
            seen |= dict(files_below(one.root, scratch))
    ended = end(run)
    assert ended.returncode == 0, ended.stderr
    seen |= dict(files_below(one.root, scratch))
    seen |= {Path("stdout"): ended.stdout.encode(), Path("stderr"): ended.stderr.encode()}
    assert {"result.json", "report.html", "manifest.json", "record.json"} <= {path.name for path in seen}
    found = [(path.name, *sighting) for path, data in seen.items() for sighting in sightings(data, numbers)]
    assert found == []
    document = json.loads((one.out / "result.json").read_text("utf-8"))
    assert not {"seconds", "rounds", "estimated_margin"} & {*document, *document["result"]}

    told = _command(one, "margin", SAMPLE["path"], "--rule", "stv")
    found = list(sightings(told.stdout.encode(), numbers))
    assert len(found) >= 3  # who may see the tally finds it: these numbers would have been seen
