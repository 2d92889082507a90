"""Ballots in files are read whole, their candidates known or refused, and counted with their exact margin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sample_data
from cluster.dataset import open_dataset
from jobs.election.ballot_box import gather, open_box
from jobs.election.formats import read_ballots
from tests.jobs.election.boxes import Box
from udfs.ballots import BallotQuestion
from udfs.errors import SchemaError, SpecError

unhurried = settings(deadline=None, max_examples=60)
SAMPLES = Path(next(iter(sample_data.__path__)))
TRUTH: dict[str, Any] = json.loads((SAMPLES / "truth.json").read_text(encoding="utf-8"))["ballots"]
PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "ballots"

QUESTION = BallotQuestion(("ranking",), ("Ada", "Bo", "Cy"), "list", "refuse")
FOOTER = {"canvass": json.dumps({"version": 1, "ballots": {"candidates": ["Ada", "Bo"]}})}


class Opened:
    """A folder of ballots, opened as it is."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def count(self, rule: str, **election: Any) -> Any:
        return Box.count(self, rule, **election)  # type: ignore[arg-type]


def put(folder: Path, *rankings: list[Any], footer: dict[str, str] | None = None, kind: Any = None) -> Opened:
    """Write one file for each list of rankings."""
    folder.mkdir(exist_ok=True)
    for number, one in enumerate(rankings):
        table = pa.table({"ranking": pa.array(one, kind or pa.list_(pa.string()))})
        pq.write_table(table.replace_schema_metadata(footer), folder / f"{number}.parquet")
    return Opened(folder)


@unhurried
@given(st.lists(st.permutations(["Ada", "Bo", "Cy"]), max_size=40), st.lists(st.integers(1, 7), min_size=1))
def test_blocks_cut_anywhere_give_one_profile(ballots: list[list[str]], sizes: list[int]) -> None:
    batch = pa.record_batch({"ranking": pa.array(ballots, pa.list_(pa.string()))})
    blocks, start = [], 0
    while start < len(ballots):
        blocks.append(("file", batch.slice(start, sizes[len(blocks) % len(sizes)])))
        start += len(blocks[-1][1])
    whole, found = gather(QUESTION, [("file", batch)]), gather(QUESTION, blocks)
    np.testing.assert_array_equal(found.places, whole.places)
    np.testing.assert_array_equal(found.counts, whole.counts)
    assert found.ballots == len(ballots)


def test_faults_are_counted_by_file_and_kind_and_never_shown() -> None:
    blocks = [
        (file, pa.record_batch({"ranking": [["Ada"], ["Dee"], ["Ada", "Ada"]]})) for file in ("x", "y", "x")
    ]
    with pytest.raises(SchemaError) as refused:
        gather(QUESTION, blocks)
    assert "2 ballots with unknown names in column 'ranking' of x" in str(refused.value)
    assert "1 ballots that repeat a candidate in column 'ranking' of y" in str(refused.value)
    assert "Dee" not in str(refused.value)


def test_candidates_are_the_footers_unless_others_are_given(tmp_path: Path) -> None:
    box = put(tmp_path / "box", [["Bo"], ["Ada"]], footer=FOOTER)
    assert box.count("plurality")["tie_order"] == ["Ada", "Bo"]
    found = box.count("plurality", candidates=["Cy", "Bo", "Ada"])
    assert (found["tie_order"], found["outcome"]) == (["Cy", "Bo", "Ada"], "Bo")


def test_without_candidates_nothing_is_counted(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"^--candidates: is required"):
        put(tmp_path / "box", [["Bo"]]).count("plurality")


def test_files_of_different_elections_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "box", [["Ada"]], [["Ada"]], footer=FOOTER)
    other = {"canvass": FOOTER["canvass"].replace("Bo", "Cy")}
    with pytest.raises(SchemaError, match="all files must name the same candidates; got 2 lists"):
        put(tmp_path / "box", [["Ada"]], footer=other).count("plurality")


def test_candidates_are_integers_where_the_column_holds_integers(tmp_path: Path) -> None:
    box = put(tmp_path / "box", [[3, 12], [12], [12]], kind=pa.list_(pa.int16()))
    assert box.count("plurality", candidates=["3", "12"])["outcome"] == 12


@pytest.mark.parametrize(
    ("election", "said"),
    [
        ({"rule": "stw"}, r"^election\.rule: "),
        ({"rule": "scoring"}, r"^election\.weights: "),
        ({"rule": "scoring", "weights": ["1", "2"]}, r"^election\.weights: must not rise"),
        ({"rule": "stv", "weights": ["2", "1"]}, r"^election\.weights: "),
        ({"rule": "stv", "invalid": "void"}, r"^election\.invalid: "),
        ({"rule": "stv", "candidates": ["Ada", "Ada"]}, r"^election\.candidates: "),
    ],
)
def test_a_wrong_wish_is_named(tmp_path: Path, election: dict[str, Any], said: str) -> None:
    box = put(tmp_path / "box", [["Ada"]], footer=FOOTER)
    with pytest.raises(SpecError, match=said):
        box.count(**election)


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.string(), pa.list_(pa.int8())])
def test_a_column_that_holds_no_ballots_is_refused(tmp_path: Path, kind: Any) -> None:
    box = put(tmp_path / "box", [None], footer=FOOTER, kind=kind)
    data = open_dataset(box.path)
    with pytest.raises(SchemaError, match=r"column 'ranking': must hold lists of candidates"):
        open_box(data, {"path": box.path, "ranking": "ranking"}, {"rule": "stv"})
    with pytest.raises(SchemaError, match="must have one column 'votes'"):
        open_box(data, {"path": box.path, "ranking": "votes"}, {"rule": "stv"})


@pytest.mark.parametrize(("rule", "expected"), TRUTH["outcomes"].items())
def test_the_outcomes_planted_in_the_samples_are_found(rule: str, expected: dict[str, Any]) -> None:
    found = Opened(SAMPLES / "ballots").count(rule)
    assert {"outcome": found["outcome"], "margin": found["margin"]} == expected
    assert (found["ballots"], found["candidates"]) == (TRUTH["rows"], TRUTH["candidates"])


def test_the_ballots_planted_in_the_samples_are_found() -> None:
    question = BallotQuestion(("ranking",), tuple(TRUTH["candidates"]), "list")
    table = pq.read_table(SAMPLES / "ballots")
    assert sorted(table["ballot"].to_pylist()) == list(range(1, TRUTH["rows"] + 1))
    found = gather(question, [("file", batch) for batch in table.to_batches()])
    planted = {}
    for kind in TRUTH["ballots"]:
        places = [len(kind["ranking"])] * len(TRUTH["candidates"])
        for place, candidate in enumerate(kind["ranking"]):
            places[candidate] = place
        planted[tuple(places)] = kind["count"]
    assert dict(zip(map(tuple, found.places.tolist()), found.counts.tolist(), strict=True)) == planted


def test_the_samples_hold_what_trips_readers_up() -> None:
    rankings = pq.read_table(SAMPLES / "ballots")["ranking"].to_pylist()
    assert rankings.count([]) == 300
    assert sum(len(set(one)) < len(one) for one in rankings) == 300
    assert len({name for one in rankings for name in one}) > len(TRUTH["candidates"])  # composed or not


def test_the_winners_planted_in_the_samples_differ_by_rule() -> None:
    outcomes = TRUTH["outcomes"]
    assert outcomes["runoff"]["outcome"] == outcomes["stv"]["outcome"]
    assert len({outcomes[rule]["outcome"] for rule in ("plurality", "stv", "condorcet")}) == 3


@pytest.mark.parametrize(
    ("kind", "file", "expected"),
    [
        (
            "preflib",
            "burlington-2009-mayor.toi",
            {
                "plurality": ("Kurt Wright", 183),
                "runoff": ("Bob Kiss", 127),
                "stv": ("Bob Kiss", 127),
                "condorcet": ("Andy Montroll", 294),
                "maximin": ("Andy Montroll", 294),
            },
        ),
        ("irv", "pierce-2008-countyexecutive.txt", {"stv": ("117", 2028)}),  # 2,027 for a tie, which 117 wins
    ],
)
def test_published_elections_come_out(
    tmp_path: Path, kind: str, file: str, expected: dict[str, tuple[str, int]]
) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("the published ballots are not here")
    settled, _ = read_ballots(kind, str(PUBLISHED / file))
    box = Box(tmp_path / "box", settled, files=3)
    for rule, (outcome, margin) in expected.items():
        found = box.count(rule)
        assert (rule, found["outcome"], found["margin"]) == (rule, outcome, margin)
