"""The elections of a study: random ones and those of the lower bounds' proofs, by their margin of victory."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from jobs.election.margins import Margin, margin_of_victory
from jobs.election.profiles.instance import Instance
from jobs.election.profiles.packing import majority_packing
from jobs.election.profiles.random import random_election
from jobs.election.profiles.transfers import MarginalsByTransfers
from jobs.election.profiles.two_way import TwoWayByDuels
from jobs.election.rules import Condorcet, Maximin, Runoff, SingleTransferableVote
from jobs.election.rules.rule import Rule
from udfs.profile import Profile

RANDOM, DUELS, TRANSFERS, PACKING = "random", "two-way", "transfers", "packing"

_FOR_TRANSFERS = 3
"""Candidates of the elections by transfers who are no attribute."""


def families(rule: Rule, model: str) -> tuple[str, ...]:
    """Return which kinds of elections a rule is studied on.

    In the central model an outcome's law depends on the margin alone, so one kind is enough: the packing whose
    profiles its lower bound is proved by. The local ones' lower bounds are proved by duels and transfers.

    Examples
    --------
    >>> families(Condorcet(3), "local"), families(Condorcet(3), "central")
    (('random', 'two-way'), ('packing',))
    """
    if model == "central":
        return (PACKING,)
    if isinstance(rule, Condorcet | Maximin | Runoff):
        return (RANDOM, DUELS)
    if isinstance(rule, SingleTransferableVote) and rule.candidates > _FOR_TRANSFERS:
        return (RANDOM, TRANSFERS)
    return (RANDOM,)


def widest(family: str, rule: Rule, ballots: int) -> int:
    """Return a margin that an election of so many ballots, or a few less, can have in a family."""
    if family in (DUELS, TRANSFERS):
        return _records(family, rule, ballots)
    return ballots // 2


def make_election(
    family: str, rule: Rule, ballots: int, margin: int, seed: tuple[int, ...]
) -> tuple[Profile, Margin]:
    """Return an election of about this margin of victory, and its outcome and margin, which are exact.

    Parameters
    ----------
    family : str
    rule : Rule
    ballots : int
        Packings have 2 `margin` instead; the others of the proofs have a few less, as many as their records make.
    margin : int
        From 1 to `widest`.
    seed : tuple of int
        Public: of the random electorate, or of the proof's records.
    """
    if family == RANDOM:
        made = random_election(rule, ballots, margin, seed, measure=_measured_once)
        return made.profile, Margin(made.designated, margin)
    generator = np.random.default_rng(seed)
    if family == PACKING:
        made = majority_packing(rule.candidates, margin)[generator.integers(rule.candidates)]
    else:
        made = _from_records(family, rule, _records(family, rule, ballots), margin, generator)
    return made.profile, margin_of_victory(rule, made.profile)


def _from_records(
    family: str, rule: Rule, records: int, margin: int, generator: np.random.Generator
) -> Instance:
    """Return an election none of whose records has what is asked about: it misses the threshold by the margin."""
    if family == DUELS:
        bits = generator.random((records, rule.candidates)) < 0.5
        bits[:, 1] &= ~bits[:, 0]
        return TwoWayByDuels(bits, _padded(rule)).instance((0, 1), margin)
    bits = generator.random((records, rule.candidates - _FOR_TRANSFERS)) < 0.5
    bits[:, 0] = False
    return MarginalsByTransfers(bits).instance((0,), margin)


def _records(family: str, rule: Rule, ballots: int) -> int:
    """Return how many records an election of at most so many ballots has."""
    if family == TRANSFERS:
        return (ballots + 2) // 24
    return (ballots + 1) // (12 if _padded(rule) else 8)


def _padded(rule: Rule) -> bool:
    """Return whether more ballots are needed, so that those two are compared that are asked about."""
    return isinstance(rule, Runoff)


def _measured_once(rule: Rule, profile: Profile) -> Margin:
    """Return the margin of victory, which most margins, models and epsilons ask for again."""
    return _measured(rule, profile.places.tobytes(), profile.counts.tobytes())


@lru_cache(maxsize=256)
def _measured(rule: Rule, places: bytes, counts: bytes) -> Margin:
    rows: npt.NDArray[np.uint8] = np.frombuffer(places, dtype=np.uint8).reshape(-1, rule.candidates)
    return margin_of_victory(rule, Profile(rows, np.frombuffer(counts, dtype=np.int64)))
