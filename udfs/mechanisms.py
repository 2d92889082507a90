"""The randomizers of categories by name, which of them to take, and how a footer says what made a report."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from udfs.asking import Ask
from udfs.ballot_reports import BallotMechanism, describe_ballots
from udfs.ballots import BallotQuestion
from udfs.categories import CategoryQuestion
from udfs.errors import SpecError
from udfs.laplace import LaplaceMechanism
from udfs.optimized_unary import OptimizedUnaryEncoding
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import Randomizer
from udfs.sampled_response import SampledResponse
from udfs.several import SeveralQuestions
from udfs.subset_selection import SubsetSelection

MECHANISMS: dict[str, type[Randomizer]] = {
    mechanism.mechanism: mechanism
    for mechanism in (RandomizedResponse, SubsetSelection, OptimizedUnaryEncoding, LaplaceMechanism)
}

_CANDIDATES = (RandomizedResponse, SubsetSelection, OptimizedUnaryEncoding)
"""What a mechanism is chosen from. The Laplace mechanism never has less variance than randomized response."""

_SAME = 1e-9
"""Variances closer than this, relatively, are one variance."""


def least_variance(cells: int, epsilon: Decimal, codes_only: bool = False) -> tuple[Randomizer, str]:
    """Choose the mechanism whose shares have the least variance where all cells are equally large.

    Parameters
    ----------
    cells : int
        At least two.
    epsilon : Decimal
        Positive and finite.
    codes_only : bool
        Whether a report must be one code.

    Returns
    -------
    Randomizer
        Of those with as little variance, randomized response: its reports are the smallest.
    str
        Why, in one sentence: its variance times the number of reports, and that of the runner-up.

    Raises
    ------
    SpecError
        Where randomized response cannot be estimated from; others that cannot are left out.

    Notes
    -----
    The Laplace mechanism is not among the candidates: its reports are one code, as randomized response's are,
    and its variance at equal shares is the larger for every number of cells and every epsilon.

    Examples
    --------
    >>> least_variance(16, Decimal(1))[1]
    'subset-selection has the least variance at 16 equal shares, 3.245 / n, before optimized-unary with 3.804 / n'
    """
    first = RandomizedResponse(cells, epsilon)
    candidates: list[Randomizer] = [first]
    for kind in _CANDIDATES[1:]:
        try:
            candidate = kind(cells, epsilon)
        except SpecError:
            continue
        if candidate.one_code or not codes_only:
            candidates.append(candidate)
    equal = np.full(cells, 1 / cells)
    variances = {one: float(one.variances(equal).mean()) for one in candidates}
    best, *others = sorted(candidates, key=lambda one: variances[one])
    if variances[first] <= variances[best] * (1 + _SAME) and best != first:
        best, others = first, [best, *(one for one in others if one != first)]
    reason = f"{best.mechanism} has the least variance at {cells} equal shares, {variances[best]:.4g} / n"
    for runner_up in others[:1]:
        if variances[runner_up] <= variances[best] * (1 + _SAME):
            reason += f", in smaller reports than {runner_up.mechanism} with as little"
        else:
            reason += f", before {runner_up.mechanism} with {variances[runner_up]:.4g} / n"
    return best, reason


def describe(ask: Ask) -> dict[str, Any]:
    """Return what a reader must know to estimate from a column of reports, as JSON values.

    Examples
    --------
    >>> question = CategoryQuestion("smokes", ("no", "yes"))
    >>> describe((question, RandomizedResponse(2, 1)))["mechanism"]
    'randomized-response'
    """
    question, mechanism = ask
    made = {"denominator": "2**64", **mechanism.thresholds()}
    if isinstance(mechanism, Randomizer | SampledResponse):
        made |= {"mechanism": mechanism.mechanism, "epsilon": str(mechanism.epsilon)}
    if isinstance(question, CategoryQuestion):
        return made | _describe_question(question)
    if isinstance(question, SeveralQuestions):
        parts = [{"attribute": part.column, **_describe_question(part)} for part in question.parts]
        return made | {"of": parts, "cells": len(question.labels)}
    return made


def _describe_question(question: CategoryQuestion) -> dict[str, Any]:
    return {
        "categories": list(question.categories),
        "missing": question.missing,
        "cells": question.cells,
    }


def describe_asks(asks: tuple[Ask, ...]) -> dict[str, Any]:
    """Return the `canvass` entry of the footer of a file of reports to these asks."""
    question = asks[0][0] if asks else None
    if isinstance(question, BallotQuestion):
        made = {one.name: how for one, how in asks if isinstance(how, BallotMechanism)}
        return {"version": 1, "ballots": describe_ballots(question, made)}
    return {"version": 1, "attributes": {ask[0].name: describe(ask) for ask in asks if ask[1].draws}}
