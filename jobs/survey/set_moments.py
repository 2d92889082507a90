"""Second moments of what single reports say of the cells of a table, where some reports are sets.

Such reports have too many values to score one by one. Given the answers the reports to several questions are
independent, so their second moments are products: of what holds of every report (the constant feature, as the sum
of the shares is one in expectation only) and of what each answer adds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jobs.survey.samples import Axis
from udfs.design import Design, Shares
from udfs.randomizer import PureRandomizer


def second_moments(observed: Shares, axes: Sequence[Axis]) -> npt.NDArray[np.float64]:
    """Return the second moments of single reports' own estimates of all cells.

    Parameters
    ----------
    observed : ndarray of float64
        The mean of the reports' features: a dimension for each axis.
    axes : sequence of Axis

    Returns
    -------
    ndarray of float64, shape (cells, cells)
        Unbiased. For small tables: it is dense.
    """
    moments = observed
    for number, axis in enumerate(axes):
        constant = np.expand_dims(axis.design.forget(moments, number), number)
        moments = np.concatenate([axis.design.reconstruct(moments, number), constant], axis=number)
    moments = moments[..., None, None]
    for axis in axes:  # (features left, past, past) -> (features left, past x cells, past x cells)
        cells, past = axis.design.cells, moments.shape[-1]
        moments = _of_pairs(axis.design, moments)
        moments = moments.reshape(*moments.shape[:-4], past * cells, past * cells)
    return moments


def _of_pairs(design: Design, moments: Shares) -> Shares:
    """Return second moments from those of the other axes by answer and of all: (..., past, cells, past, cells)."""
    if not isinstance(design, PureRandomizer):
        products: Shares = np.einsum("v...ij,vkl->...ikjl", moments, _by_answer(design))
        return products
    own, other, one_of_two, neither = design.pair_moments
    answers, everyone = moments[:-1], moments[-1][..., :, None, :, None]
    first = np.moveaxis(answers, 0, -2)  # (..., past, cells, past)
    second = np.moveaxis(answers, 0, -1)[..., None, :, :]  # (..., past, 1, past, cells)
    pairs: Shares = everyone * neither + (first[..., None] + second) * (one_of_two - neither)
    of_one = everyone[..., 0] * other + first * (own - other)
    cell = np.arange(design.cells)
    pairs[..., :, cell, :, cell] = np.moveaxis(of_one, -2, 0)  # where both cells are the same
    return pairs


def _by_answer(design: Design) -> Shares:
    """Return what each answer adds to the second moments of a report's estimates, and last what all share."""
    moments, cell = design.second_moments(), np.eye(design.cells, dtype=np.bool_)
    elsewhere = ~(cell[:, :, None] | cell[:, None, :])  # [v, i, j]: the answer v is neither i nor j
    elsewhere |= ~elsewhere.any(axis=0)  # of two cells, every answer is one of them
    shared = moments.mean(axis=0, where=elsewhere)
    return np.concatenate([moments - shared, shared[None]])
