"""A tree that was really grown, on its page and in a terminal; invented documents are like its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jobs.page.page import render_skills
from jobs.show import show_result
from tests.jobs.page.missing import assert_clean
from tests.jobs.page.reading import Element, card_of, read, rows, value
from tests.jobs.page.skill_trees import ended, skills
from tests.jobs.skills.guild import SKILLS, Guild

DEPTH = 3
_APART = {"spec", "box"}
"""A spec is whatever was given, and no part of what is shown; boxes are named by dimensions."""


@pytest.fixture(scope="module")
def guild(tmp_path_factory: pytest.TempPathFactory) -> Guild:
    guild = Guild(tmp_path_factory.mktemp("guild"))
    guild.given["privacy"] = {"epsilon": 30, "collusion": 3}
    guild.given["skills"]["min_count"] = 40
    guild.run()
    return guild


@pytest.fixture(scope="module")
def made(guild: Guild) -> dict[str, Any]:
    """Return the document as it was written."""
    found: dict[str, Any] = json.loads(guild.files()["result.json"])
    return found


@pytest.fixture(scope="module")
def page(made: dict[str, Any]) -> Element:
    return read(render_skills(made))


def shape_of(value: Any) -> Any:
    """Return the keys of a document at all depths; those of a list are of all its elements together."""
    if isinstance(value, dict):
        return {key: None if key in _APART else shape_of(inner) for key, inner in value.items()}
    if isinstance(value, list):
        shapes: dict[str, Any] = {}
        for one in value:
            shapes |= shape_of(one) or {}
        return shapes
    return None


@pytest.mark.parametrize("invented", [skills(list(SKILLS), DEPTH), ended()], ids=["invented", "ended"])
def test_an_invented_document_has_the_keys_of_a_real_one(
    made: dict[str, Any], invented: dict[str, Any]
) -> None:
    assert shape_of(invented) == shape_of(made)


def test_numbers_of_an_invented_document_are_of_the_kinds_of_a_real_one(made: dict[str, Any]) -> None:
    kinds = _kinds(made["result"])
    for path, own in _kinds(skills(list(SKILLS), DEPTH)["result"]).items():
        assert own <= kinds.get(path, own), path  # a list that is empty has no kind


def _kinds(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], set[str]]:
    """Return of which kinds what stands at each path is, numbers being one kind."""
    if not isinstance(value, dict | list):
        kind = "number" if isinstance(value, int | float) else type(value).__name__
        return {path: {kind}}
    found: dict[tuple[str, ...], set[str]] = {}
    for key, inner in value.items() if isinstance(value, dict) else (("[]", one) for one in value):
        for at, kinds in _kinds(inner, (*path, key)).items():
            found.setdefault(at, set()).update(kinds)
    return found


def test_the_page_of_a_real_tree_holds_what_its_document_does(made: dict[str, Any], page: Element) -> None:
    assert_clean(render_skills(made), ())
    result = made["result"]
    (table,) = card_of(page, "Leaves, the largest first").all("table")[:1]
    shown = {row[0]: [value(cell) for cell in row[2:4]] for row in rows(table)}
    assert set(shown) == {str(leaf["id"]) for leaf in result["leaves"]}
    for leaf in result["leaves"]:
        count, error = shown[str(leaf["id"])]
        assert count == leaf["count"]
        assert error == pytest.approx(leaf["standard_error"], abs=0.051)
    terms = {one.text: two.text for one, two in zip(page.all("dt"), page.all("dd"), strict=True)}
    assert terms["Key id"] == result["keys"]["key_id"]
    assert terms["Participants"] == "240"
    assert terms["May collude"] == "Up to 3."
    sent = result["ciphertexts"]
    ends = [" to ".join(map(str, sorted({min(sent[key]), max(sent[key])}))) for key in ("slots", "width")]
    assert terms["A ciphertext has room for"].startswith(f"{ends[0]} counters of {ends[1]} bits")
    assert "A node whose raw count is below 40 is not cut." in page.text
    assert "Holders 1 and 2 of 3 opened the sums; 2 are needed." in page.text


def test_the_terminal_shows_a_real_tree(made: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    show_result(made, "out", stored=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 110
    told = [" ".join(line.split()) for line in lines]
    for leaf in made["result"]["leaves"][:10]:
        assert any(line.startswith(f"{leaf['id']} ") and f" {leaf['count']} " in line for line in told)
    said = " ".join(told).replace("\N{NO-BREAK SPACE}", " ")
    assert "A node whose raw count is below 40 is not cut." in said
    assert f"as likely as with any other skills, plus δ = {made['result']['delta']:.2g}." in said


def test_a_tree_of_so_large_an_epsilon_that_delta_is_one_has_no_guarantee(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guild = Guild(tmp_path)
    guild.given["skills"]["depth"] = 0
    document, _ = guild.run()
    assert document["result"]["delta"] == 1
    show_result(document, "out", stored=False)
    for text in (capsys.readouterr().out, read(render_skills(document)).text):
        assert "no guarantee of differential privacy: δ is 1" in text
