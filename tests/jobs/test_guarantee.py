from __future__ import annotations

from typing import Any

import pytest
from markupsafe import Markup

from jobs.guarantee import guarantee, not_covered

COLLECTED = {"basis": "collected: as the spec says", "covers": "reports, and no column beside them"}
DRAWN = {"basis": "drawn by this job", "covers": "all that respondents report"}


@pytest.mark.parametrize(
    ("privacy", "bound", "expected"),
    [
        (DRAWN, "e^2", "Whatever one respondent answered, their reports are at most e^2 times as likely"),
        (
            COLLECTED,
            "e^2",
            "If the reports were made as the spec says, then whatever one respondent answered",
        ),
        (
            DRAWN,
            None,
            "This design gives no guarantee of differential privacy: a report can tell for certain",
        ),
    ],
)
def test_a_guarantee_is_one_sentence(privacy: dict[str, Any], bound: str | None, expected: str) -> None:
    said = "".join(guarantee(privacy, bound))
    assert said.startswith(expected)
    assert said.count(".") == 1


def test_a_bound_that_is_markup_stays_markup() -> None:
    _, claim, _ = guarantee(DRAWN, Markup("e<sup>2</sup>"))
    assert isinstance(claim, Markup)
    assert claim == "e<sup>2</sup> times"


def test_all_that_stands_beside_reports_and_is_used_is_named() -> None:
    beside = {"weight": "w", "strata": "s", "groups": "g"}
    assert not_covered(COLLECTED, {"collected": beside, "regressions": [{}]}) == (
        "This covers reports, and no column beside them: weights, strata, groups and predictors are used as they"
        " stand."
    )


@pytest.mark.parametrize(
    "spec", [{}, {"collected": None, "regressions": []}, {"collected": {"design": "kuk"}}]
)
def test_where_nothing_else_is_used_nothing_is_said(spec: dict[str, Any]) -> None:
    assert not_covered(DRAWN, spec) == not_covered(COLLECTED, spec) == ""
