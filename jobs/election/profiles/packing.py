"""Packings: profiles near each other, each safely won by another candidate. The central model's lower bounds.

A private algorithm that is right about one of them with probability 1 - gamma cannot be right about all,
unless the margin t is at least floor(ln(0.4 m / gamma) / (kappa epsilon)), with any two of them kappa t
ballots apart.

References
----------
papers/private-voting: assumption 3.4, lemmas 3.5, 3.6 and 3.8.
"""

from __future__ import annotations

from jobs.election.profiles.instance import Instance, completed, numbered, profile_of
from udfs.errors import SpecError

MAJORITY_KAPPA = 2
"""Any two profiles of `majority_packing` are 2 t ballots apart."""
SCORING_KAPPA = 4
"""Any two profiles of `scoring_packing` are 4 t ballots apart."""


def majority_packing(candidates: int, margin: int) -> tuple[Instance, ...]:
    """Return profiles of 2 `margin` ballots, all of which rank one candidate first (lemma 3.6).

    Under every rule that elects whom more than half place first, each is won by its designated candidate,
    with a margin of victory of at least `margin`.

    Parameters
    ----------
    candidates, margin : int
        At least one of each.

    Returns
    -------
    tuple of Instance
        One a candidate, in turn.

    Examples
    --------
    >>> [int(one.profile.ballots) for one in majority_packing(3, 5)]
    [10, 10, 10]
    """
    _check(candidates, margin)
    everybody, names = range(candidates), numbered("c", candidates)
    return tuple(
        Instance(names, profile_of([(completed((first,), everybody), 2 * margin)]), first)
        for first in everybody
    )


def scoring_packing(candidates: int, margin: int) -> tuple[Instance, ...]:
    """Return profiles of 2 `candidates` `margin` ballots, for any scoring rule (lemma 3.8).

    Each starts from all cyclic shifts of the candidates, 2 `margin` times each, where everybody has the same
    score; then the designated candidate goes from last to first on the 2 `margin` ballots that place them
    last. Whatever the weights, as long as the first place is worth more than the last, they lead by 2
    `margin` times that difference, and no ballot can take more than twice the difference off: the margin of
    victory is at least `margin`.

    Parameters
    ----------
    candidates, margin : int
        At least one of each.

    Returns
    -------
    tuple of Instance
        One a candidate, in turn.

    Examples
    --------
    >>> first, _ = scoring_packing(2, 1)
    >>> first.profile.places.tolist(), first.profile.counts.tolist()
    ([[0, 1]], [4])
    """
    _check(candidates, margin)
    everybody, names = tuple(range(candidates)), numbered("c", candidates)
    shifts = [(*everybody[first:], *everybody[:first]) for first in everybody]
    return tuple(
        Instance(
            names,
            profile_of(
                [(completed((first,), one) if one[-1] == first else one, 2 * margin) for one in shifts]
            ),
            first,
        )
        for first in everybody
    )


def _check(candidates: int, margin: int) -> None:
    if min(candidates, margin) < 1:
        raise SpecError("packing", "needs a candidate and a margin at least", f"{candidates} and {margin}")
