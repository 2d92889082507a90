"""A survey's guarantee in words: the same on its page and in a terminal."""

from __future__ import annotations

from typing import Any, TypeVar

Text = TypeVar("Text", bound=str)


def guarantee(privacy: dict[str, Any], bound: Text | None) -> tuple[str, Text | str, str]:
    """Return a survey's guarantee in one sentence.

    Parameters
    ----------
    privacy : dict
        Of the result document.
    bound : str or None
        How often e to the epsilon is written, as text or as markup; None where epsilon is infinite.

    Returns
    -------
    tuple of str
        What comes before the claim, the claim, and what comes after.

    Examples
    --------
    >>> "".join(guarantee({"basis": "drawn by this job"}, "e^2"))
    'Whatever one respondent answered, their reports are at most e^2 times as likely as under any other answers.'
    """
    if bound is None:
        claim = "no guarantee of differential privacy"
        return (
            "This design gives ",
            claim,
            ": a report can tell for certain that some answers were not given.",
        )
    return (
        f"{'If the reports were made as the spec says, then whatever' if collected(privacy) else 'Whatever'} one respondent"
        " answered, their reports are at most ",
        bound + " times",
        " as likely as under any other answers.",
    )


def collected(privacy: dict[str, Any]) -> bool:
    """Tell whether the reports were there before the job, so that it drew and charged none."""
    return str(privacy.get("basis")).startswith("collected")


def not_covered(privacy: dict[str, Any], spec: dict[str, Any]) -> str:
    """Return what the guarantee leaves out of what a survey used, in a sentence; empty where that is nothing.

    Examples
    --------
    >>> privacy = {"covers": "reports, and no column beside them"}
    >>> not_covered(privacy, {"collected": {"weight": "w", "strata": None, "groups": "town"}, "regressions": []})
    'This covers reports, and no column beside them: weights and groups are used as they stand.'
    """
    table = spec.get("collected")
    if not isinstance(table, dict):
        return ""
    named = {"weight": "weights", "strata": "strata", "groups": "groups"}
    used = [name for key, name in named.items() if table.get(key) is not None]
    used += ["predictors"] if spec.get("regressions") else []
    if not (used and privacy.get("covers")):
        return ""
    *before, last = used
    listed = f"{', '.join(before)} and {last}" if before else last
    return f"This covers {privacy['covers']}: {listed} are used as they stand."
