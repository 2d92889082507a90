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
from scipy.stats import chi2, random_table

from jobs.survey.margin import Margin
from jobs.survey.measures import phi_squared
from jobs.survey.postprocess import project_to_simplex
from jobs.survey.reconstruct import Gradients
from udfs.design import Counts, Design, Shares

_ROUNDING = 1e-9
"""A variance below this, of a single report, is none."""
_ENOUGH = 5.0
"""Where a cell expects fewer reports than this, the chi-square law is not taken for granted."""
_TABLES, _LEAST_TABLES, _NUMBERS = 9_999, 499, 4_000_000
_SEED = 1965
"""Public: the same reports give the same p-value."""
_FEW_EXPECTED = (
    "Some cells expect fewer than 5 reports: the p-value is by permuted tables, not by the chi-square law."
)
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
    samples = margin.table.samples
    plain = len(samples) == 1 and samples[0].squares is samples[0].observed
    return _asked_alone(margin) is not None and plain


def _asked_alone(margin: Margin) -> list[Design] | None:
    """Return the designs of attributes that were each asked alone and of everybody, if their reports are codes."""
    axes = {axis.attributes: axis for axis in margin.table.axes}
    asked = [axes[(name,)].design for name in margin.of if (name,) in axes]
    codes = all(design.one_code for design in asked)
    return asked if len(asked) == len(margin.of) and codes and not any(margin.missing) else None


def _pearson(margin: Margin) -> IndependenceTest:
    """Test the table of reports; those that nobody gave count no degrees of freedom."""
    (sample,) = margin.table.samples
    observed = sample.observed
    for number, axis in reversed([*enumerate(margin.table.axes)]):
        if axis.attributes[0] not in margin.of:
            observed = axis.design.forget(observed, axis=number)
    counts = np.rint(observed * sample.reports).astype(np.int64)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    statistic = sample.reports * float(phi_squared(counts / sample.reports)[0])
    found = _judged(margin, statistic, (counts.shape[0] - 1) * (counts.shape[1] - 1), "pearson")
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / sample.reports
    if not found.degrees_of_freedom > 0 or expected.min() >= _ENOUGH:
        return found
    return replace(found, p_value=_permuted(counts, statistic), note=_FEW_EXPECTED)


def _permuted(counts: Counts, statistic: float) -> float:
    """Return how often tables of the same margins, drawn if both are independent, have such a statistic or more.

    Valid however few reports a cell has: the reports are no secret, and can be dealt out anew.
    """
    times = max(_LEAST_TABLES, min(_TABLES, _NUMBERS // counts.size))
    law, rng = random_table(counts.sum(axis=1), counts.sum(axis=0)), np.random.default_rng(_SEED)
    drawn = law.rvs(times, random_state=rng) / counts.sum()
    statistics = counts.sum() * phi_squared(drawn)[0]
    return float(1 + np.count_nonzero(statistics >= statistic * (1 - _ROUNDING))) / (times + 1)


def _rao_scott(margin: Margin) -> IndependenceTest:
    """Test the reconstructed table."""
    infinite = replace(margin, table=replace(margin.table, sizes=None))
    residuals, gradients = _scaled_residuals(infinite)
    covariance = infinite.table.covariance(infinite.gradient(gradients))
    # traces of powers of a symmetric matrix, of which only the square is multiplied out
    mean, spread = float(np.trace(covariance)), float(np.vdot(covariance, covariance))
    skew = float(np.vdot(covariance, covariance @ covariance))
    if not mean * margin.table.reports > _ROUNDING:  # also where it is NaN
        return _judged(margin, math.nan, math.nan, "rao-scott")
    freedom = spread**3 / skew**2
    statistic = freedom + (float(residuals @ residuals) - mean) * math.sqrt(freedom / spread)
    return _judged(margin, max(statistic, 0.0), freedom, "rao-scott")


def _scaled_residuals(margin: Margin) -> tuple[Shares, Gradients]:
    """Return the residuals from independence over their predicted standard errors, and their gradients."""
    shares, whole = margin.proportions, margin.proportions.sum()  # one, but for sets that differ in size
    rows, columns = shares.sum(axis=1) / whole, shares.sum(axis=0) / whole
    variances, _ = _under_independence(margin)
    known = variances > _ROUNDING
    scale = np.divide(1.0, np.sqrt(np.where(known, variances, 1.0)), out=np.zeros(shares.size), where=known)
    gradients = scale[:, None, None] * _residual_gradients(rows, columns)
    return scale * (shares - whole * np.outer(rows, columns)).ravel(), gradients


def _residual_gradients(rows: Shares, columns: Shares) -> Gradients:
    """Return the gradients of all `share - row * column` by the shares: (cells, rows, columns).

    Of a cell's share, its row's part of the column and its column's part of the row are no residual.
    """
    by_row, by_column = (np.eye(len(one)) - one[:, None] for one in (rows, columns))
    gradients: Gradients = by_row[:, None, :, None] * by_column[None, :, None, :]
    return gradients.reshape(-1, len(rows), len(columns))


def _under_independence(margin: Margin) -> tuple[Shares, Shares]:
    """Return the residuals' variances times the reports, were the attributes independent, and the shares then.

    Reports to attributes that were asked alone are then independent, too, and a residual is on average 0: its
    variance is the product of those of its row's and its column's share.
    """
    shares = margin.proportions
    rows, columns = (project_to_simplex(shares.sum(axis=other)) for other in (1, 0))
    independent = np.outer(rows, columns)
    if (designs := _asked_alone(margin)) is not None:
        of_rows, of_columns = (
            design.variances(one) for design, one in zip(designs, (rows, columns), strict=True)
        )
        return np.outer(of_rows, of_columns).ravel(), independent.ravel()
    variances = margin.variances_at(independent, _residual_gradients(rows, columns))
    return variances, independent.ravel()


def phi_squared_of_noise(margin: Margin) -> float:
    """Return what the estimate of `phi_squared` would be on average if two attributes were independent.

    To second order, and without the projection of negative shares: noise alone, of the design and of sampling.
    Times the number of reports it is (rows - 1)(columns - 1) where nothing hides the answers.

    Cost: where attributes were not asked alone, a score for every cell and every report's code.
    """
    variances, expected = _under_independence(margin)
    terms = np.divide(variances, expected, out=np.zeros_like(variances), where=expected > _ROUNDING)
    table = margin.table
    return float(terms.sum()) / (table.reports if table.plain else table.effective)


def _judged(margin: Margin, statistic: float, freedom: float, method: str) -> IndependenceTest:
    if not freedom > 0:
        return IndependenceTest(margin.of, math.nan, math.nan, math.nan, method, _NOTHING_TO_TEST)
    return IndependenceTest(margin.of, statistic, freedom, float(chi2.sf(statistic, freedom)), method)
