"""Ballots, contests and vectors for tests of the ball randomizer."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from udfs.contests import Duels, EveryFirstChoice, FirstChoice, Points
from udfs.ellipsoid import Ellipsoid

THREE = {
    "first choice": (FirstChoice((0, 1, 2)), None),
    "first choice of two": (FirstChoice((0, 2)), None),
    "duels": (Duels.of_all(3), None),
    "one duel": (Duels(((1, 2),)), None),
    "ellipsoid": (Duels.of_all(3), Ellipsoid(3)),
    "points": (Points((Fraction(5, 2), 1, 0)), None),
    "veto": (Points((1, 1, 0)), None),
    "every first choice": (EveryFirstChoice(3), None),
}


FOUR = {
    "first choice": (FirstChoice((0, 1, 2, 3)), None),
    "duels": (Duels.of_all(4), None),
    "ellipsoid": (Duels.of_all(4), Ellipsoid(4)),
    "points": (Points((3, 2, 1, 0)), None),
    "every first choice": (EveryFirstChoice(4), None),
}
RANKING = np.array([[2, 0, 3, 1]], dtype=np.uint8)


def weak_orders(candidates):
    """Return all ballots: each place holds how many candidates stand strictly above."""
    rows = {
        tuple(sum(other < one for other in levels) for one in levels)
        for levels in product(range(candidates), repeat=candidates)
    }
    return np.array(sorted(rows), dtype=np.uint8)


def vectors(ball, places):
    """Return the answers less the centre, as the ball sees them: int64, shape (rows, dimension)."""
    answers = ball.contest.encode(places).astype(np.int64) - ball.contest.centre
    return ball.transform.stretch(answers) if ball.transform else answers
