"""How well a report tells its respondent's own answer: the paper's first question.

Whoever sees a report, and knows the shares of all answers, guesses the answer by Bayes' theorem: v with
the probability that it has, given the report. A guess is right more often the more a report gives away, so
that this compares designs of the same epsilon by how much of the individual value they keep. It is no bound on
what a report gives away: whoever always names the likeliest answer is right more often (`best_guess`).

References
----------
papers/randomized-response, equations 5 and 12, and theorems 2 and 4.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from udfs.design import Shares


def right_guess(matrix: npt.NDArray[np.float64], shares: Shares) -> Shares:
    """Return the probability that the guess is right, for each answer.

    Parameters
    ----------
    matrix : ndarray of float64, shape (reports, cells)
        The design matrix: each column sums to one.
    shares : ndarray of float64, shape (cells,)
        The true shares: non-negative, of sum one.

    Returns
    -------
    ndarray of float64, shape (cells,)
        The sum over reports u of `matrix[u, v]**2 * shares[v] / observed[u]`; 0 where the share is.

    Examples
    --------
    >>> right_guess(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5]))
    array([0.625, 0.625])
    """
    together = matrix * shares
    observed = together.sum(axis=1, keepdims=True)
    posterior = np.divide(together, observed, out=np.zeros_like(together), where=observed > 0)
    right: Shares = (matrix * posterior).sum(axis=0)
    return right


def best_guess(matrix: npt.NDArray[np.float64], shares: Shares) -> float:
    """Return how often the likeliest answer, given the report, is the right one: the best that anybody can do.

    Examples
    --------
    >>> best_guess(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5]))
    0.75
    """
    return float((matrix * shares).max(axis=1).sum())


def guess_error(matrix: npt.NDArray[np.float64], shares: Shares) -> Shares:
    """Return the probability that the guess is wrong, for each answer; parameters as in `right_guess`."""
    return 1.0 - right_guess(matrix, shares)
