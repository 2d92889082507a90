"""Random elections of an exact margin of victory: what a study of decisive margins runs on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from jobs.election.margins import Margin, Replacement, margin_of_victory, outcome
from jobs.election.profiles.cultures import mixed, truncated
from jobs.election.profiles.instance import Instance, numbered
from jobs.election.rules.maximin import worst_duels
from jobs.election.rules.rule import Rule, first
from udfs.contests import Duels, Places
from udfs.errors import SpecError
from udfs.profile import Profile

Measure: TypeAlias = Callable[[Rule, Profile], Margin]
"""Returns the exact margin of victory, with a witness."""


def random_election(
    rule: Rule,
    ballots: int,
    margin: int,
    seed: int | Sequence[int],
    unranked: float = 0.0,
    measure: Measure = margin_of_victory,
) -> Instance:
    """Draw an electorate, and change it so that the winner has exactly this margin of victory.

    Who wins the electorate that is drawn (or has the best worst duel, where nobody does) is designated. As
    many voters put them first, or last, as it takes for them to just win; then more put them first, or fewer
    last, until they win by the margin at least. What is above it is taken off: some of the ballots that would
    change the outcome are replaced as they would be for that.

    Parameters
    ----------
    rule : Rule
        For two candidates or more.
    ballots : int
    margin : int
        At least 1.
    seed : int or sequence of int
        Public.
    unranked : float
        The share of ballots that do not rank everybody.
    measure : callable

    Returns
    -------
    Instance
        The designated candidate wins by the margin.

    Raises
    ------
    SpecError
        Where not even everybody's first choice has such a margin.

    Notes
    -----
    Margins are measured near the one asked for alone, as large ones take long: once, and again each time that
    it was too small. It need not be measured in the end: let v of the ballots be a witness of a margin v, and
    replace v - k of them. So few do not change the outcome, and the other k then do, so the new margin is at
    most k; were it less, that before would have been less than v.

    Examples
    --------
    >>> from jobs.election.rules import Plurality
    >>> election = random_election(Plurality(3), ballots=100, margin=7, seed=1)
    >>> margin_of_victory(Plurality(3), election.profile).margin
    7
    """
    if rule.candidates < 2 or margin < 1:
        raise SpecError(
            "random_election",
            "needs two candidates and a margin of 1 at least",
            f"{rule.candidates} and {margin}",
        )
    generator = np.random.default_rng(seed)
    places = truncated(generator, mixed(generator, ballots, rule.candidates), unranked)
    drawn = Profile.of(places)
    winner = outcome(rule, drawn)
    designated = _least_beaten(drawn) if winner is None else winner
    fewest = _fewest_steps(rule, places, designated)
    more = 5 * margin // 2  # most steps are worth half a ballot of the margin
    while True:
        steps = min(fewest + more, ballots)
        profile = shifted(places, designated, steps)
        found = measure(rule, profile)
        if found.outcome == designated and found.margin >= margin:
            return Instance(numbered("c", rule.candidates), _narrowed(profile, found, margin), designated)
        if steps == ballots:
            raise SpecError(
                "random_election.margin",
                "must be within reach of this electorate",
                f"{margin}",
                "ask for less, or more ballots",
            )
        more *= 2


def shifted(places: Places, candidate: int, steps: int) -> Profile:
    """Return the profile once `steps` ballots place a candidate first or, where negative, so many last.

    Examples
    --------
    >>> shifted(np.array([[0, 1, 2], [0, 1, 1]], dtype=np.uint8), 1, 1).places.tolist()
    [[0, 1, 1], [1, 0, 2]]
    """
    changed, kept = places[: abs(steps)], places[abs(steps) :]
    return Profile.of(np.concatenate([(raised if steps > 0 else sunk)(changed, candidate), kept]))


def raised(places: Places, candidate: int) -> Places:
    """Return ballots that place a candidate first, and everybody else as before.

    Examples
    --------
    >>> raised(np.array([[0, 1, 2, 2]], dtype=np.uint8), 2)
    array([[1, 2, 0, 3]], dtype=uint8)
    """
    new = places + (places <= places[:, [candidate]])
    new[:, candidate] = 0
    return new


def sunk(places: Places, candidate: int) -> Places:
    """Return ballots that place a candidate last, or no longer rank them where others are unranked too.

    Examples
    --------
    >>> sunk(np.array([[0, 1, 2], [0, 1, 1]], dtype=np.uint8), 0)
    array([[2, 0, 1],
           [0, 0, 0]], dtype=uint8)
    """
    last = places.shape[1] - 1
    new = places - (places > places[:, [candidate]])
    new[:, candidate] = 0
    lowest = new.max(axis=1)
    new[:, candidate] = np.where(last - lowest > 1, lowest, last)
    return new


def _fewest_steps(rule: Rule, places: Places, candidate: int) -> int:
    """Return some number of steps at which a candidate wins but does not with one less, by bisection."""
    low, high = -len(places), len(places)
    while high - low > 1:
        middle = (low + high) // 2
        if outcome(rule, shifted(places, candidate, middle)) == candidate:
            high = middle
        else:
            low = middle
    return high


def _least_beaten(profile: Profile) -> int:
    """Return whose worst duel is the best."""
    return first(worst_duels(profile.candidates, profile.score(Duels.of_all(profile.candidates))))


def _narrowed(profile: Profile, found: Margin, margin: int) -> Profile:
    """Return the profile after all replacements of a witness but the last `margin`."""
    if found.witness is None or found.margin == margin:
        return profile
    removed, added = (
        _some(part, found.margin - margin) for part in (found.witness.removed, found.witness.added)
    )
    return Replacement(removed, added).applied_to(profile)


def _some(profile: Profile, ballots: int) -> Profile:
    """Return so many of a profile's ballots: its first."""
    before = np.cumsum(profile.counts) - profile.counts
    return Profile.of(profile.places, np.clip(ballots - before, 0, profile.counts))
