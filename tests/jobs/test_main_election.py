"""`canvass import` and `canvass margin`: from a file of ballots to an exact margin, or to one line and no trace."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.election.formats import FORMATS
from jobs.election.rules import RULES
from tests.jobs.house import Canvass

BLT = '3 1\n40 1 2 0\n35 2 0\n20 3 2 0\n5 1=3 0\n1 0\n0\n"Ada"\n"Bo [b]"\n"Zoë"\n"A vote"\n'


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Work in a folder with a file of ballots."""
    monkeypatch.chdir(tmp_path)
    Path("vote.blt").write_text(BLT, encoding="utf-8")


def test_help_names_the_commands(canvass: Canvass) -> None:
    code, out, _ = canvass("--help")
    assert code == 0
    assert all(f"  {command} " in out for command in ("import", "margin"))


def test_help_names_every_rule_and_every_format(canvass: Canvass) -> None:
    assert set(RULES) <= set(re.findall(r"\w+", canvass("margin", "--help")[1]))
    assert set(FORMATS) <= set(re.findall(r"\w+", canvass("import", "--help")[1]))


def test_ballots_are_brought_in_and_counted(canvass: Canvass) -> None:
    code, out, err = canvass("import", "blt", "vote.blt", "--out", "box", "--blocks", "3")
    assert (code, err) == (0, "")
    assert out == "box: 101 ballots (1 blank) on 3 candidates, in 3 files\n"
    code, out, err = canvass("margin", "box", "--rule", "stv", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert {
        key: found[key] for key in ("outcome", "margin", "rule", "ballots", "blank", "majority_base")
    } == {
        "outcome": "Bo [b]",
        "margin": 8,
        "rule": "stv",
        "ballots": 101,
        "blank": 6,
        "majority_base": 95,
    }
    assert [one["scores"] for one in found["rounds"]] == [[40, 35, 20], [40, 55]]
    assert [one["eliminated"] for one in found["rounds"]] == ["Zoë", "Ada"]


def test_a_footer_tells_where_ballots_come_from(canvass: Canvass) -> None:
    canvass("import", "blt", "vote.blt", "--out", "box")
    schema = pq.read_schema("box/part-00000.parquet")
    assert [str(one) for one in schema.types] == ["int64", "list<element: list<element: string>>"]
    assert json.loads(schema.metadata[b"canvass"]) == {
        "version": 1,
        "ballots": {
            "candidates": ["Ada", "Bo [b]", "Zoë"],
            "withdrawn": [],
            "format": "blt",
            "overvotes": "keep",
            "source_title": "A vote",
            "counts": {"ballots": 101, "blank": 1, "overvoted": 5},
        },
    }


def test_overvotes_are_taken_as_is_wished(canvass: Canvass) -> None:
    for wish, votes in (("truncate", [40, 35, 20]), ("keep", [42.5, 35, 22.5])):
        canvass("import", "blt", "vote.blt", "--out", wish, "--overvotes", wish)
        code, out, _ = canvass(
            "margin", wish, "--rule", "scoring", "--weights", "1,0,0", "--json", "--invalid", "refuse"
        )
        assert code == 0
        assert json.loads(out)["rounds"][0]["scores"] == votes  # blank ballots give no points


def test_the_tie_order_is_that_of_the_candidates_given(canvass: Canvass) -> None:
    Path("tie.blt").write_text('2 1\n1 1 0\n1 2 0\n0\n"Ada"\n"Bo"\n', encoding="utf-8")
    canvass("import", "blt", "tie.blt", "--out", "box")
    for order in (["Ada", "Bo"], ["Bo", "Ada"]):
        out = canvass("margin", "box", "--rule", "plurality", "--json", "--candidates", ",".join(order))[1]
        found = json.loads(out)
        assert (found["outcome"], found["tie_order"], found["margin"]) == (order[0], order, 1)
        assert sorted(found["rounds"][0]["tied"]) == ["Ada", "Bo"]


def test_ranks_may_stand_in_columns_of_their_own(canvass: Canvass) -> None:
    ranks = {"first": ["Lee, Ann", "Bo", "Bo"], "second": [None, "Lee, Ann", None]}
    pq.write_table(pa.table(ranks), "ranks.parquet")
    words = ("--rule", "borda", "--ranks", "first, second", "--candidates", '"Lee, Ann",Bo')
    found = json.loads(canvass("margin", "ranks.parquet", *words, "--json")[1])
    assert (found["outcome"], found["candidates"]) == ("Bo", ["Lee, Ann", "Bo"])
    assert found["rounds"][0]["scores"] == [1, 2]


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ("stv", ["Bo [b] wins by single transferable vote, of 101 ballots, 6 blank.", "if 8 ballots are"]),
        ("condorcet", ["Bo [b] wins by the Condorcet rule", "Bo [b] and Zoë"]),
        ("borda", ["wins by the Borda count", "points"]),
        ("runoff", ["wins by plurality with runoff", "Ada and Bo [b]"]),
    ],
)
def test_a_count_is_a_table_elsewhere(canvass: Canvass, rule: str, shown: list[str]) -> None:
    canvass("import", "blt", "vote.blt", "--out", "box")
    code, out, err = canvass("margin", "box", "--rule", rule, "--shared", "overvote")
    assert (code, err) == (0, "")
    assert all(one in out for one in shown), out


def test_a_folder_that_holds_something_is_left_as_it_is(canvass: Canvass) -> None:
    Path("box").mkdir()
    assert canvass("import", "blt", "vote.blt", "--out", "box")[0] == 0
    before = Path("box/part-00000.parquet").read_bytes()
    code, out, err = canvass("import", "blt", "vote.blt", "--out", "box", "--overvotes", "void")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "box: must be a folder that is empty or not there" in err
    assert [path.name for path in Path("box").iterdir()] == ["part-00000.parquet"]
    assert Path("box/part-00000.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["import", "bltt", "vote.blt", "--out", "box"], 'FORMAT: must be one that is known; got \'bltt\'. Did you mean "blt"?'),
        (["import", "blt", "absent", "--out", "box"], "absent: must be a file that can be read"),
        (["import", "blt", ".", "--out", "box"], ".: must be a file that can be read"),
        (["import", "blt", "vote.blt", "--out", "box", "--overvotes", "drop"], "--overvotes: must be one that is known"),
        (["import", "irv", "vote.blt", "--out", "box"], "vote.blt line 3: must be a rule of dashes"),
        (["import", "preflib", "vote.blt", "--out", "box"], "vote.blt line 1: DATA TYPE"),
        (["import", "cvr", "vote.blt", "--out", "box"], "vote.blt line 1: must name columns rank1"),
        (["import", "blt", "vote.blt", "--out", "vote.blt"], "vote.blt: must be a folder that is empty"),
        (["margin", "absent", "--rule", "stv"], "must name a Parquet file"),
    ],
)  # fmt: skip
def test_a_failure_is_one_line_and_leaves_nothing(canvass: Canvass, words: list[str], said: str) -> None:
    code, out, err = canvass(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert [path.name for path in Path().iterdir()] == ["vote.blt"]


@pytest.mark.parametrize(
    "words", [["import", "blt", "vote.blt"], ["import", "blt", "vote.blt", "--out", "x", "--blocks", "0"], ["margin", "x"]]
)  # fmt: skip
def test_a_command_that_is_none_is_an_error_of_use(canvass: Canvass, words: list[str]) -> None:
    code, _, err = canvass(*words)
    assert code == 2
    assert "Error: " in err
