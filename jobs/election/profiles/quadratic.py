"""An election by transfers that is tied round by round, and yet hard to change.

Along `tied_eliminations`, whoever goes has no more votes than anybody left; but it takes at least (m - 3)**2
/ 64 ballots to make another candidate win. So that the certificate of single transferable vote cannot do
without a term quadratic in the number of candidates.

References
----------
papers/private-voting: lemma A.5 and remark A.7.
"""

from __future__ import annotations

from fractions import Fraction

from jobs.election.profiles.instance import Instance, numbered, profile_of
from udfs.errors import SpecError

FEWEST_CANDIDATES = 4


def quadratic(candidates: int) -> Instance:
    """Return the profile of remark A.7, of (2 m - 2) (m - 2)**2 ballots, and its winner b.

    The tie order, which eliminates from the end, is b, x_k, ..., x_1, a with k = m - 2.

    Parameters
    ----------
    candidates : int
        At least four.

    Examples
    --------
    >>> election = quadratic(4)
    >>> election.names, int(election.profile.ballots)
    (('b', 'x2', 'x1', 'a'), 24)
    """
    if candidates < FEWEST_CANDIDATES:
        raise SpecError("quadratic", f"needs {FEWEST_CANDIDATES} candidates at least", f"{candidates}")
    k = candidates - 2
    a, b, many = k + 1, 0, k**2
    ascending = range(k, 0, -1)  # x_1, ..., x_k, as x_i is number k + 1 - i
    rankings = [
        ((a, b, *ascending), many),
        ((b, a, *ascending), (candidates - 1) * many),
        *(((x, *range(1, x), a, b, *range(x + 1, k + 1)), many) for x in ascending),
    ]
    names = ("b", *numbered("x", k)[::-1], "a")
    return Instance(names, profile_of(rankings), b)


def tied_eliminations(candidates: int) -> tuple[int, ...]:
    """Return the order of eliminations along which each is tied for the fewest votes: x_k, ..., x_1, b, a.

    Examples
    --------
    >>> tied_eliminations(4)
    (1, 2, 0, 3)
    """
    return (*range(1, candidates - 1), 0, candidates - 1)


def quadratic_bound(candidates: int) -> Fraction:
    """Return what the margin of victory is at least: (m - 3)**2 / 64."""
    return Fraction((candidates - 3) ** 2, 64)
