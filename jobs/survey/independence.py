"""Tests of independence of two attributes, which keep their size whatever randomized the answers.

A table reconstructed from reports is far noisier than a table of as many answers, so that Pearson's test of
it rejects true independence nearly always. Two tests are right:

- Where each attribute was randomized on its own, reports are independent if answers are: Pearson's test of
  the table of reports.
- Elsewhere (the product cell was randomized at once, missing answers are left out, reports are sets, or
  there are weights or strata), a test of the reconstructed table, corrected in the way of Rao and Scott.

All is post-processing.

References
----------
Rao, Scott: On chi-squared tests for multiway contingency tables with cell proportions estimated from survey
data (1984), sections 2 and 3. Imhof: Computing the distribution of quadratic forms in normal variables (1961),
section 4 (Pearson's approximation by three moments).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2

from jobs.survey.margin import Margin
from jobs.survey.measures import phi_squared
from jobs.survey.postprocess import project_to_simplex
from jobs.survey.reconstruct import Gradients
from udfs.design import Shares

_ROUNDING = 1e-9
"""A variance below this, of a single report, is none."""
_NOTHING_TO_TEST = "Too few seem to have answered, or all alike."


@dataclass(frozen=True)
class IndependenceTest:
    """A test of the hypothesis that two attributes are independent.

    Attributes
    ----------
    of : tuple of str
        The attributes.
    statistic : float
        Of a chi-square law with `degrees_of_freedom` under independence; NaN where the reports do not tell.
    degrees_of_freedom : float
        Whole numbers for `pearson`.
    p_value : float
        For many respondents uniform under independence.
    method : str
        `pearson`, of reports, or `rao-scott`, of those who answered.
    note : str, optional
        Why nothing can be said.
    """

    of: tuple[str, ...]
    statistic: float
    degrees_of_freedom: float
    p_value: float
    method: str
    note: str | None = None


def independence_test(margin: Margin) -> IndependenceTest:
    """Test whether two attributes are independent among those who answered both.

    Parameters
    ----------
    margin : Margin
        Of two attributes. Answers drawn uniformly for those who gave none must not be among them: they are
        independent by themselves, and no test can tell.

    Returns
    -------
    IndependenceTest

    Notes
    -----
    The basis of `rao-scott` is the sum of squares of the residuals `share - row * column`, each over the
    standard error that it is predicted to have under independence. (Pearson's divisor, the root of `row *
    column`, is the right one for noise of counting alone; under noise of a design it lets the smallest margins
    decide.) Under independence the sum is one of chi-squares of one degree of freedom, weighted by the
    eigenvalues of the scaled residuals' covariance C; shifted and scaled, it has the first three moments of a
    chi-square of `trace(C**2)**3 / trace(C**3)**2` degrees of freedom. Rao and Scott match two, which rejects
    1.5 % at the level of 1 % where eigenvalues differ much. C is the estimated covariance of these very
    estimates, so weights, strata and missing answers are in it, each with its own design effect. There is no
    finite-population correction: independence is said of what the population came from.

    The test keeps its size from a thousand reports on; where noise leaves hardly any information on many cells,
    it rejects too seldom.

    Cost: rao-scott forms the dense covariance of the cells.
    """
    if not np.isfinite(margin.proportions).all():
        return _judged(margin, math.nan, math.nan, "rao-scott")
    return _pearson(margin) if _independent_reports(margin) else _rao_scott(margin)


def _independent_reports(margin: Margin) -> bool:
    """Tell whether independent answers would give a plain sample of independent reports."""
    asked = [axis for axis in margin.table.axes if set(axis.attributes) & set(margin.of)]
    alone = all(len(axis.attributes) == 1 and axis.design.one_code for axis in asked)
    samples = margin.table.samples
    plain = len(samples) == 1 and samples[0].squares is samples[0].observed
    return alone and plain and not any(margin.missing)


def _pearson(margin: Margin) -> IndependenceTest:
    """Test the table of reports; those that nobody gave count no degrees of freedom."""
    (sample,) = margin.table.samples
    observed = sample.observed
    for number, axis in reversed([*enumerate(margin.table.axes)]):
        if axis.attributes[0] not in margin.of:
            observed = axis.design.forget(observed, axis=number)
    rows, columns = (int((observed.sum(axis=other) > 0).sum()) for other in (1, 0))
    statistic = sample.reports * float(phi_squared(observed)[0])
    return _judged(margin, statistic, (rows - 1) * (columns - 1), "pearson")


def _rao_scott(margin: Margin) -> IndependenceTest:
    """Test the reconstructed table."""
    infinite = replace(margin, table=replace(margin.table, sizes=None))
    unit = np.eye(margin.proportions.size).reshape(-1, *margin.proportions.shape)
    covariance = infinite.table.covariance(np.stack([infinite.gradient(one) for one in unit]))
    residuals, jacobian = _scaled_residuals(infinite)
    covariance = jacobian @ covariance @ jacobian.T
    square = covariance @ covariance
    mean, spread, skew = (float(np.trace(one)) for one in (covariance, square, square @ covariance))
    if not mean * margin.table.reports > _ROUNDING:  # also where it is NaN
        return _judged(margin, math.nan, math.nan, "rao-scott")
    freedom = spread**3 / skew**2
    statistic = freedom + (float(residuals @ residuals) - mean) * math.sqrt(freedom / spread)
    return _judged(margin, max(statistic, 0.0), freedom, "rao-scott")


def _scaled_residuals(margin: Margin) -> tuple[Shares, Gradients]:
    """Return the residuals from independence over their predicted standard errors, and their derivative."""
    shares = margin.proportions
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    jacobian, variances, _ = _under_independence(margin)
    known = variances > _ROUNDING
    scale = np.divide(1.0, np.sqrt(np.where(known, variances, 1.0)), out=np.zeros(shares.size), where=known)
    return scale * (shares - np.outer(rows, columns)).ravel(), scale[:, None] * jacobian


def _under_independence(margin: Margin) -> tuple[Gradients, Shares, Shares]:
    """Return the residuals' derivative, and under independence their variances times the reports and the shares."""
    shares = margin.proportions
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    # Of a cell's share, its row's part of the column and its column's part of the row are no residual.
    jacobian = np.kron(np.eye(len(rows)) - rows[:, None], np.eye(len(columns)) - columns[:, None])
    independent = np.outer(project_to_simplex(rows), project_to_simplex(columns))
    variances = np.diag(jacobian @ margin.covariance_at(independent) @ jacobian.T)
    return jacobian, variances, independent.ravel()


def phi_squared_of_noise(margin: Margin) -> float:
    """Return what the estimate of `phi_squared` would be on average if two attributes were independent.

    To second order, and without the projection of negative shares: noise alone, of the design and of sampling.
    Times the number of reports it is (rows - 1)(columns - 1) where nothing hides the answers.
    """
    _, variances, expected = _under_independence(margin)
    terms = np.divide(variances, expected, out=np.zeros_like(variances), where=expected > _ROUNDING)
    return float(terms.sum()) / margin.table.reports


def _judged(margin: Margin, statistic: float, freedom: float, method: str) -> IndependenceTest:
    if not freedom > 0:
        return IndependenceTest(margin.of, math.nan, math.nan, math.nan, method, _NOTHING_TO_TEST)
    return IndependenceTest(margin.of, statistic, freedom, float(chi2.sf(statistic, freedom)), method)
