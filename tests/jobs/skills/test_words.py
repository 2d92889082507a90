"""A tree of skills in words."""

from __future__ import annotations

import pytest

from jobs.skills.words import answers_of, box_of, conditions_of


@pytest.mark.parametrize(
    ("number", "threshold", "expected"),
    [
        (1, 1, "The one holder of the key could"),
        (3, 1, "Each of the 3 key-holders, alone, could"),
        (3, 2, "Any 2 of the 3 key-holders together could"),
        (3, 3, "All 3 key-holders together could"),
    ],
)
def test_who_could_open_a_contribution_is_said_for_any_threshold(
    number: int, threshold: int, expected: str
) -> None:
    ((name, text),) = conditions_of({"holders": {"number": number, "threshold": threshold}})
    assert name == "The key-holders"
    assert text.startswith(expected)
    assert ("fewer cannot" in text) == (threshold > 1)


@pytest.mark.parametrize(
    ("collusion", "dropout", "expected"),
    [
        (0, 0, "Nobody may tell others their share of it, and nobody may be missing: else there is less"),
        (0, 5, "Nobody may tell others their share of it, and up to 5 may be missing: else there is less"),
        (4, 0, "Up to 4 of the 90 may tell others their share of it, and nobody may be missing: the rest"),
        (4, 5, "Up to 4 of the 90 may tell others their share of it, and up to 5 may be missing: the rest"),
    ],
)
def test_how_many_may_collude_and_be_missing_is_said(collusion: int, dropout: int, expected: str) -> None:
    ((_, text),) = conditions_of({"participants": 90, "collusion": collusion, "dropout": dropout})
    assert expected in text


def test_nothing_is_said_of_what_is_not_known() -> None:
    assert conditions_of({}) == []
    assert answers_of({}) == ""
    assert answers_of({"answered": 3, "declined": None, "wrong": "x"}) == ""
    assert answers_of({"answered": list(range(1, 31)), "number": 40}) == "30 holders of 40 opened the sums."


@pytest.mark.parametrize(
    ("wrong", "where", "expected"),
    [
        ([2], "embedded", "An answer in holder 2’s name was wrong, and not used."),
        ([2, 3], "trial", "Answers in the names of holders 2 and 3 were wrong, and not used."),
        (
            [2, 3],
            "mailbox",
            "Answers in the names of holders 2 and 3 were wrong, and not used: anybody who can write to the"
            " mailbox can have put that there.",
        ),
    ],
)
def test_a_wrong_answer_accuses_nobody(wrong: list[int], where: str, expected: str) -> None:
    assert answers_of({"wrong": wrong, "where": where}) == expected


def test_a_box_is_said_by_its_cuts_alone() -> None:
    box = {"a": (-1.0, 0.5), "b": (0.123456, 1.0), "c": (-1.0, 1.0), "d": (0.0, 0.0)}
    assert box_of(box, (-1.0, 1.0)) == "a < 0.5, b ≥ 0.1235, 0 ≤ d < 0"
