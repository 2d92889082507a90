"""Words for graphs: the page and the terminal say the same."""

from __future__ import annotations

from typing import Any

MECHANISMS = {
    "randomized-response": "randomized response",
    "laplace": "Laplace noise, rounded",
    "discrete-laplace": "discrete Laplace noise",
    "global-sensitivity": "output, global sensitivity",
    "smooth-sensitivity": "output, smooth sensitivity",
    "zero": "the answer zero",
}
WAYS = {
    "unbiased": "unbiased estimates",
    "rebuilt": "counted in a rebuilt graph",
    "output": "a trusted holder's answers",
}


def guarantee_of(privacy: dict[str, Any], bound: str | None) -> tuple[str, str, str]:
    """Return the one sentence about privacy, its claim apart: what goes before it, the claim, and what follows."""
    if bound is None:
        return "With an infinite epsilon ", "nothing is protected", "."
    whom = "Whether any one link is there or not, all that pairs report is "
    if privacy.get("model") == "central":
        whom = "Whether any one link is there or not, all that is published is "
    return whom, "at most " + bound + " times as likely", " as otherwise."


def merged() -> str:
    """Return how links that were noted more than once were reported."""
    return (
        "Each unordered pair of nodes reported once, at this epsilon: a link that was noted twice, or at both of its ends,"
        " was merged. Were both ends to report for themselves, a link would cost twice as much."
    )
