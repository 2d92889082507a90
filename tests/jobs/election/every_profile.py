"""All profiles of a few ballots, their neighbours, and their margins of victory by breadth-first search."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement, permutations, product

import numpy as np

from udfs.profile import Profile


def complete(candidates):
    """Return all rankings, as places."""
    return np.array(list(permutations(range(candidates))), dtype=np.uint8)


def truncated(candidates):
    """Return all rankings of some candidates, the others last together: blank and complete ones too."""
    return np.unique(
        [
            np.minimum(places, named)
            for places in complete(candidates).tolist()
            for named in range(candidates)
        ],
        axis=0,
    ).astype(np.uint8)


def shared(candidates):
    """Return all ballots that there are, with any ranks shared."""
    every = product(range(candidates), repeat=candidates)
    return np.array([one for one in every if all(sum(p < q for p in one) == q for q in one)], dtype=np.uint8)


class Profiles:
    """Profiles of ballots of these kinds.

    Parameters
    ----------
    kinds : ndarray of uint8, shape (kinds, candidates)
    counts : ndarray of int64, shape (profiles, kinds)
    """

    def __init__(self, kinds, counts):
        self.kinds, self.counts = kinds, counts

    def scores(self, contest):
        """Return every profile's scores: shape (profiles, dimension)."""
        return self.counts @ contest.encode(self.kinds).astype(np.int64)

    def profile(self, place):
        """Return one profile."""
        return Profile.of(self.kinds, self.counts[place])

    def outcomes(self, rule):
        """Return every profile's outcome: nobody is the number after the last candidate's."""
        scores = cache(self.scores)
        found = []
        for place in range(len(self.counts)):
            counting = rule.count()
            contest = next(counting)
            try:
                while True:
                    contest = counting.send(scores(contest)[place])
            except StopIteration as stop:
                found.append(rule.candidates if stop.value is None else stop.value)
        return np.array(found)


class EveryProfile(Profiles):
    """All profiles of so many ballots of these kinds.

    Attributes
    ----------
    rows : ndarray of int64, shape (profiles of a ballot less, kinds)
        A row holds all profiles that share all ballots but one: neighbours of each other. Any two neighbours
        share a row.
    """

    def __init__(self, kinds, ballots):
        drawn = list(combinations_with_replacement(range(len(kinds)), ballots))
        super().__init__(kinds, np.array([np.bincount(one, minlength=len(kinds)) for one in drawn]))
        self.ballots = ballots
        number = {one: place for place, one in enumerate(drawn)}
        self.rows = np.array(
            [
                [number[tuple(sorted((*stem, kind)))] for kind in range(len(kinds))]
                for stem in combinations_with_replacement(range(len(kinds)), ballots - 1)
            ]
        )

    def distances(self, there):
        """Return how many ballots must be replaced to be at one of these profiles."""
        away = np.where(there, 0, self.ballots + 1)
        for _ in range(self.ballots):
            nearest = away[self.rows].min(axis=1, keepdims=True)
            if (away[self.rows] <= nearest + 1).all():
                break
            np.minimum.at(away, self.rows, np.broadcast_to(nearest + 1, self.rows.shape))
        return away

    def margins(self, outcomes):
        """Return every profile's margin of victory."""
        margins = np.full(len(outcomes), self.ballots + 1)
        for other in range(outcomes.max() + 1):
            distances = self.distances(outcomes == other)
            margins = np.where(outcomes == other, margins, np.minimum(margins, distances))
        return margins

    def neighbouring(self, outcomes, margins):
        """Return every pair of (outcome, margin) that two neighbouring profiles have."""
        both = np.stack([outcomes, margins], axis=1)
        kinds, which = np.unique(both, axis=0, return_inverse=True)
        rows = which[self.rows]
        pairs = np.unique(rows[:, :, None] * len(kinds) + rows[:, None, :])
        found = [tuple(one) for one in kinds.tolist()]
        return [(found[one], found[other]) for one, other in zip(*divmod(pairs, len(kinds)), strict=True)]


@cache
def every_profile(kinds, candidates, ballots):
    """Return all profiles, made once."""
    return EveryProfile(kinds(candidates), ballots)
