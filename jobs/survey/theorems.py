"""Theorems 2 to 4 of the paper, held against a population's true shares.

Theorems 2 and 4 say that an individual answer is guessed wrong less often from randomized response than from
the Laplace mechanism, of two categories and of more; theorem 3 says that proportions of two categories have
less variance. Whether that holds on average, and whether it does for every single category, are two questions:
both are answered here, and so is theorem 3's for more than two categories, which the paper only expects.

Theorem 2 holds. Theorem 4 does not hold in general, neither for every category nor on average: where mass lies
at the ends of the scale and epsilon is small, the Laplace mechanism's cut tails lump it together and help the
guess. Of three categories with shares 1/2, 0 and 1/2, at epsilon 1/2, randomized response errs in .4782 of all
cases and Laplace in .4744; of 20 equal shares, in .94906 and .94896.

References
----------
papers/randomized-response, equations 5, 12 and 18, theorems 2 to 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from jobs.survey.guess import guess_error, right_guess
from udfs.design import Shares
from udfs.errors import SpecError
from udfs.laplace import LaplaceMechanism
from udfs.randomized_response import RandomizedResponse

if TYPE_CHECKING:
    from jobs.survey.spec import SurveySpec

LARGEST_GUESSED = 1000
"""Cells beyond which guesses are not told: they take the whole design matrix."""
LARGEST_CHECKED = 256
"""Cells beyond which theorems are not checked: the Laplace mechanism's matrix is one of fractions."""

_ROUNDING = 1e-12
SharesOf = Callable[[int, int], Shares]
"""Given an attribute's place and number of cells, returns its true shares."""


def guesses(spec: SurveySpec, shares_of: SharesOf) -> dict[str, Any]:
    """Return how well an individual answer can be guessed from a report, at the true shares.

    Attributes whose reports are sets, or shared with others, are passed over; so are those of more than
    `LARGEST_GUESSED` cells.
    """
    found = {}
    for place, name in enumerate(spec.attributes):
        axis = spec.layout.axis_of(name)
        cells = axis.design.cells
        if not axis.design.one_code or len(axis.attributes) > 1 or cells > LARGEST_GUESSED:
            continue
        law, shares = axis.design.observe(np.eye(cells), 0), shares_of(place, cells)
        found[name] = {
            "right": right_guess(law, shares),
            "mean_right": float(right_guess(law, shares) @ shares),
            "mean_error": float(guess_error(law, shares) @ shares),
        }
    return found


def check_theorems(
    spec: SurveySpec, epsilons: Sequence[Decimal], shares_of: SharesOf
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Hold the theorems against every attribute's true shares, at every epsilon at which both designs exist.

    Parameters
    ----------
    spec : SurveySpec
    epsilons : sequence of Decimal
    shares_of : callable
        See `SharesOf`.

    Returns
    -------
    tuple of two lists of dict
        For an epsilon and an attribute, whether a theorem holds on average and for every category; and the
        `reason` of those that could not be checked.
    """
    found: list[dict[str, Any]] = []
    unchecked: list[dict[str, Any]] = []
    for epsilon in epsilons:
        for place, name in enumerate(spec.attributes):
            cells = spec.question(name).cells
            head = {"epsilon": epsilon, "attribute": name}
            try:
                ours, theirs = _both(cells, epsilon)
            except SpecError as error:
                unchecked.append(head | {"reason": str(error)})
                continue
            shares, equal = shares_of(place, cells), np.full(cells, 1 / cells)
            errors = [guess_error(design.observe(np.eye(cells), 0), shares) for design in (ours, theirs)]
            found.append(head | {"theorem": 2 if cells == 2 else 4} | _outcome(errors[0], errors[1], shares))
            variances = [design.variances(shares) for design in (ours, theirs)]
            found.append(head | {"theorem": 3} | _outcome(variances[0], variances[1], equal))
    return found, unchecked


def _both(cells: int, epsilon: Decimal) -> tuple[RandomizedResponse, LaplaceMechanism]:
    """Return both mechanisms' designs.

    Raises
    ------
    SpecError
        Where one of them cannot be inverted, as epsilon is too small for so many cells, or is too large.
    """
    if cells > LARGEST_CHECKED:
        raise SpecError("theorems", f"are checked for {LARGEST_CHECKED} cells at most", str(cells))
    return RandomizedResponse(cells, epsilon), LaplaceMechanism(cells, epsilon)


def _outcome(ours: Shares, theirs: Shares, weights: Shares) -> dict[str, Any]:
    """Return both mechanisms' errors, whether the first has less on average, and in which cells it has not."""
    more = np.flatnonzero(ours > theirs * (1 + _ROUNDING))
    means = float(ours @ weights), float(theirs @ weights)
    return {
        "randomized_response": means[0],
        "laplace": means[1],
        "holds_on_average": means[0] <= means[1] * (1 + _ROUNDING),
        "holds_for_every_cell": not len(more),
        "cells_where_not": more,
    }
