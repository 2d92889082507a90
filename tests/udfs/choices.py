"""Sampled choices for tests, ballots, and what each answers by a slow reading of the definition."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from tests.udfs.laws import sets, subset_law
from udfs.choice import SampledChoice


def every_ballot(candidates):
    """Return all ballots, blank and with shared places: uint8, shape (ballots, candidates)."""
    levels = product(range(candidates), repeat=candidates)
    ballots = {tuple(sum(other < one for other in row) for one in row) for row in levels}
    return np.array(sorted(ballots), dtype=np.uint8)


def answer_law(ballot, contest, last):
    """Return the probability of each answer: of the tied last, or of all where there is no single first."""
    places = [int(ballot[candidate]) for candidate in contest]
    wanted = max(places) if last else min(places)
    at = [place == wanted for place in places]
    if not last and sum(at) > 1:
        at = [True] * len(contest)
    return [Fraction(one, sum(at)) for one in at]


def choice_of(candidates, contests, epsilon="1", **parameters):
    """Return a mechanism with equal weights."""
    weights = parameters.pop("weights", (1,) * len(contests))
    seed = parameters.pop("seed", bytes(32))
    return SampledChoice(candidates, contests, weights, Decimal(epsilon), seed, **parameters)


@cache
def own_estimates(design):
    """Return every set's own unbiased estimate of each cell's share: float64, shape (sets, cells)."""
    p, q = design.support_if_true, design.support_if_false
    held = [
        [Fraction(cell in one) for cell in range(design.cells)] for one in sets(design.cells, design.size)
    ]
    return np.array([[float((one - q) / (p - q)) for one in row] for row in held])


@cache
def report_law(design, answers):
    """Return the probability of every set for an answer that is drawn so: float64, shape (sets,)."""
    law = subset_law(design.cells, design.size, design.support_if_true)
    return np.array([float(sum(map(Fraction.__mul__, row, answers))) for row in law])


def answers_of(cells, last):
    """Return what ballots may answer to a contest of so many: probabilities of each candidate."""
    return sorted({tuple(answer_law(ballot, range(cells), last)) for ballot in every_ballot(cells)})


def variance(design, kinds, shares, direction, f):
    """Return n times the variance of a sum of shares, where so many ballots answer like each kind."""
    estimates = own_estimates(design) @ direction
    squares = np.array([report_law(design, kind) @ estimates**2 for kind in kinds])
    means = np.array([np.array(kind, dtype=float) @ direction for kind in kinds])
    return shares @ squares - (1 - f) * (shares @ means**2) - f * (shares @ means) ** 2
