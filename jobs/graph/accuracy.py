"""By how much a graph's statistics are off on average, and how many links of a rebuilt graph are true ones: by the law of reports.

References
----------
De Moivre's formula of the mean deviation: Diaconis, Zabell, Closed form summation for classical distributions (1991).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.stats import binom

from jobs.graph.estimate import slope
from udfs.link_sums import Sums


def mean_degree_error(degrees: Sums, flip: Fraction | float) -> float:
    """Return by how much estimated numbers of links are off on average, by the law of reports.

    Parameters
    ----------
    degrees : ndarray of int64, shape (nodes,)
        True links at each node, one node at least.
    flip : Fraction or float
        q: at least 0 and below 1/2.

    Returns
    -------
    float
        The mean over nodes of the expected absolute errors of `degree_sequence`.

    Raises
    ------
    SpecError

    Notes
    -----
    Of a node with d links, L of these are reported as none and M of the other n - 1 - d pairs as links, binomial both; its
    estimate is off by (M - L - (n - 1 - 2 d) q) / (p - q). Where flips are few that is far from normal: of a single pair it
    is 2 p q / (p - q), and sqrt(2 / pi) standard errors are sqrt(2 p q / pi) / (p - q).

    Cost: degrees times nodes, for each degree that there is.

    Examples
    --------
    >>> mean_degree_error(np.array([1, 1]), Fraction(1, 4))
    0.75
    """
    others, q, errors = len(degrees) - 1, float(flip), 0.0
    for links, nodes in zip(*np.unique(degrees, return_counts=True), strict=True):
        lost, made = (binom.pmf(np.arange(pairs + 1), pairs, q) for pairs in (links, others - links))
        off = np.arange(-links, others - links + 1) - (others - 2 * links) * q
        errors += int(nodes) * float(np.convolve(made, lost[::-1]) @ np.abs(off))
    return errors / (len(degrees) * float(slope(flip)))


def mean_absolute_error(
    kind: str, standard_error: float, reports: int | None, lie: float | None
) -> tuple[float, bool]:
    """Return by how much an estimate is off on average, and whether that is but a bound.

    Parameters
    ----------
    kind : {"edges", "degrees", "triangles"}
    standard_error : float
        Not negative.
    reports : int or None
        Of how many pairs an estimate is the sum; None of a trusted holder, who needs none.
    lie : float or None
        How likely a report is not the answer: at least 0 and below 1/2.

    Returns
    -------
    float, bool
        Of discrete Laplace noise with a variance of V, V / sqrt(1 + 2 V). Of links, the mean deviation of a binomial number of
        flips, all of them of pairs without a link; others hardly change it. Of triangles, and where anything is not known, a
        standard error, which no mean absolute error is above.

    Examples
    --------
    >>> mean_absolute_error("edges", 0.87, 1, 0.25), mean_absolute_error("triangles", 3.0, 9, 0.25)
    ((0.75, False), (3.0, True))
    >>> round(mean_absolute_error("triangles", 1.0, None, None)[0], 4)
    0.5774
    """
    if reports is None:
        return (
            standard_error / math.hypot(1 / standard_error, math.sqrt(2)) if standard_error else 0.0
        ), False
    if kind == "triangles" or lie is None or not 0 <= lie < 0.5 or not 0 <= reports < 2**53:
        return standard_error, True
    if reports == 0 or lie == 0:
        return 0.0, False
    first = math.floor(reports * lie) + 1  # the first number of flips that is above their mean
    others = reports - first
    ways = math.lgamma(reports + 1) - math.lgamma(first + 1) - math.lgamma(others + 1)
    chance = math.exp(ways + first * math.log(lie) + others * math.log1p(-lie))
    return 2 * first * (1 - lie) * chance / (1 - 2 * lie), False


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
        By Bayes' rule, for a share of links / pairs among all pairs. That share is an estimate, and the number goes with its
        square: with a lie of q, it is too large on average where links are few, by up to (p**3 + q**3) / (p - q)**2 or so.
        So it is None where there are fewer links than twice their standard error, and where that is no share.

    Examples
    --------
    >>> true_links(30, 22, 100, 0.25), true_links(30, 30, 100, 0.0)
    (13.375, 30.0)
    """
    if not (0 < links < pairs and 0 <= kept <= links and 0 <= lie < 0.5):
        return None
    if links < 2 * math.sqrt(pairs * lie * (1 - lie)) / (1 - 2 * lie):
        return None
    share = links / pairs
    of_reported = (1 - lie) * share / ((1 - lie) * share + lie * (1 - share))
    of_others = lie * share / (lie * share + (1 - lie) * (1 - share))
    return kept * of_reported + (links - kept) * of_others
