"""Words for graphs: the page and the terminal say the same."""

from __future__ import annotations

import math
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


def mean_absolute_error(standard_error: Any, model: str = "local") -> float | None:
    """Return the mean absolute error of an estimate, by its standard error.

    Parameters
    ----------
    standard_error : float
        Anything else gives None.
    model : {"local", "central"}
        Sums of many reports are near normal, so that it is sqrt(2 / pi) standard errors. Of discrete Laplace noise with a
        variance of V it is V / sqrt(1 + 2 V).

    Examples
    --------
    >>> round(mean_absolute_error(1.0), 4), round(mean_absolute_error(1.0, "central"), 4)
    (0.7979, 0.5774)
    """
    known = isinstance(standard_error, int | float) and not isinstance(standard_error, bool)
    if not known or not math.isfinite(standard_error):
        return None
    error = float(standard_error)
    if model == "central":
        return error / math.hypot(1 / error, math.sqrt(2)) if error else 0.0
    return math.sqrt(2 / math.pi) * error


def true_links(links: float, kept: float, pairs: float, lie: float) -> float | None:
    """Return how many links of a rebuilt graph are to be expected to be true ones.

    Parameters
    ----------
    links, kept : float
        All of them, and those that were reported.
    pairs : float
        Of nodes.
    lie : float
        How likely a report is not the answer: below 1/2.

    Returns
    -------
    float or None
        By Bayes' rule, for a share of links / pairs among all pairs. None where that is no share. That share is an estimate,
        and the number goes with its square: with a lie of q, it is too large on average where links are few, by up to
        (p**3 + q**3) / (p - q)**2 or so.

    Examples
    --------
    >>> true_links(30, 22, 100, 0.25), true_links(30, 30, 100, 0.0)
    (13.375, 30.0)
    """
    if not (0 < links < pairs and 0 <= kept <= links and 0 <= lie < 0.5):
        return None
    share = links / pairs
    of_reported = (1 - lie) * share / ((1 - lie) * share + lie * (1 - share))
    of_others = lie * share / (lie * share + (1 - lie) * (1 - share))
    return kept * of_reported + (links - kept) * of_others
