"""What the page of a tree of skills says of its guarantee, of whom it rests on, and of what was sent."""

from __future__ import annotations

import math
from typing import Any

import pytest

from jobs.page.page import render_skills
from tests.jobs.page.reading import Element, read
from tests.jobs.page.skill_trees import ended, plane


def _terms(page: Element) -> dict[str, str]:
    terms, values = page.all("dt"), page.all("dd")
    return {term.text: one.text for term, one in zip(terms, values, strict=True)}


def _is_weak(page: Element) -> bool:
    """Tell whether the guarantee looks like one that is none."""
    (found,) = (one for one in page.all("div") if "guarantee" in one.attributes.get("class", "").split())
    return "none" in found.attributes["class"].split()


def test_the_guarantee_is_said_first_with_epsilon_as_charged_and_delta() -> None:
    header = read(render_skills(plane())).all("header")[0]
    said = header.all("p")[2].text.replace("\N{NO-BREAK SPACE}", " ")
    assert said == (
        "Whatever one worker’s skills, the tree and its counts are at most e1 ≈ 2.719 times as likely as with"
        " any other skills, plus δ = 3.2 × 10⁻¹⁹."
    )


def _with_delta(delta: Any) -> Element:
    made = plane()
    made["result"]["delta"] = delta
    return read(render_skills(made))


@pytest.mark.parametrize("delta", [0, 0.0])
def test_a_delta_of_nothing_is_not_mentioned(delta: float) -> None:
    assert "δ" not in _with_delta(delta).text


@pytest.mark.parametrize("delta", [None, "3", -0.5, math.nan, math.inf])
def test_a_delta_that_is_not_known_is_not_taken_for_none(delta: Any) -> None:
    page = _with_delta(delta)
    assert "with any other skills, plus a δ that is not known." in page.text
    assert _is_weak(page)


@pytest.mark.parametrize(
    ("delta", "shown", "weak"),
    [(1e-9, "1.0 × 10⁻⁹", False), (1.1e-9, "1.1 × 10⁻⁹", True), (0.25, "0.25", True)],
)
def test_a_large_delta_is_said_to_make_the_guarantee_weak(delta: float, shown: str, weak: bool) -> None:
    page = _with_delta(delta)
    text = page.text.replace("\N{NO-BREAK SPACE}", " ")
    said = f"plus δ = {shown}. This is a weak guarantee: with a chance of about δ, anything may come out"
    assert f"plus δ = {shown}." in text
    assert (said in text) == weak == _is_weak(page)


@pytest.mark.parametrize("delta", [1, 1.0, 40.0])
def test_a_delta_of_one_is_no_guarantee(delta: float) -> None:
    page = _with_delta(delta)
    assert "This tree gives no guarantee of differential privacy: δ is 1" in page.text
    assert "times as likely" not in page.text
    assert _is_weak(page)


def test_without_a_finite_epsilon_there_is_no_guarantee() -> None:
    made = plane()
    made["privacy"]["epsilon_replace"] = None
    page = read(render_skills(made))
    assert "This tree gives no guarantee of differential privacy." in page.text
    assert _is_weak(page)


def test_the_guarantee_is_for_a_worker_replaced_whatever_epsilon_is_for() -> None:
    made = plane()
    made["privacy"] |= {"neighbours": "add-or-remove", "epsilon_replace": 2.0, "epsilon_add_or_remove": 1.0}
    page = read(render_skills(made))
    assert "are at most e2 ≈ 7.39 times as likely" in page.text
    assert _terms(page)["Epsilon of the tree"] == "1, for one worker more or less."
    assert "twice as much" in _terms(page)["Epsilon is for"]


def test_who_could_break_it_is_said_of_encryption_holders_and_participants() -> None:
    terms = _terms(read(render_skills(plane())))
    assert "a key of 2,048 bits" in terms["The encryption"]
    assert "trials" not in terms["The encryption"]
    assert terms["The key-holders"].startswith(
        "Any 2 of the 4 key-holders together could open what one participant"
    )
    assert "through a mailbox" in terms["The key-holders"]
    assert "Up to 40 of the 4,000" in terms["The participants"]
    assert "up to 20 may be missing" in terms["The participants"]


def test_a_trial_by_short_keys_is_said_to_be_one() -> None:
    terms = _terms(read(render_skills(ended())))
    assert "Keys of 512 bits can be broken: they are for trials." in terms["The encryption"]
    assert "whoever ran it could have: that is for trials" in terms["The key-holders"]
    assert terms["A participant is"].startswith("The steward of a block of rows: sees the skills")


def test_what_came_of_each_holder_is_told_apart_and_nobody_is_accused() -> None:
    made = plane()
    made["result"]["holders"] |= {"number": 5, "declined": [3, 4]}
    page = read(render_skills(made))
    marks = [one.text for one in page.all("li") if "holder" in str([x.attributes for x in one.all("span")])]
    assert [" ".join(text.split()) for text in marks] == [
        "1 opened",
        "2 an answer in its name was wrong",
        "3 opened, declined",
        "4 declined",
        "5 no answer used",
    ]
    assert (
        "Declined to open one or more: holders 3 and 4. An answer in holder 2’s name was wrong" in page.text
    )


@pytest.mark.parametrize(
    ("slots", "width", "expected"),
    [
        ([97], [21], "97 counters of 21 bits."),
        ([93, 1024, 97], [22, 21, 21], "93 to 1,024 counters of 21 to 22 bits, by level."),
        ([1, 1], [900, 901], "1 counter of 900 to 901 bits, by level."),
        ([93, 97], None, "93 to 97 counters, by level."),
        ([], [21], None),
        (97, [21], None),
    ],
)
def test_what_a_ciphertext_holds_is_said_for_all_levels(slots: Any, width: Any, expected: str | None) -> None:
    made = plane()
    made["result"]["ciphertexts"] |= {"slots": slots, "width": width}
    terms = _terms(read(render_skills(made)))
    assert terms.get("A ciphertext has room for") == expected
    assert terms["Each sent"] == "5 ciphertexts, 2,560 bytes."


def test_counts_of_branches_that_ended_for_a_low_one_are_said_to_be_biased() -> None:
    said = "A node whose raw count is below 75 is not cut. So leaves above level 0 are leaves because their"
    assert said in read(render_skills(ended())).text
    assert "biased" not in read(render_skills(plane())).text
