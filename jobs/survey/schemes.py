"""Three ways for several attributes to share one epsilon, and what each would cost in variance.

- *split*: each attribute is randomized on its own, with an equal part;
- *sample*: each respondent reports on one attribute, chosen by chance, with all of it;
- *joint*: the product cell of all attributes is randomized at once, with all of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from udfs.design import Design
from udfs.errors import SpecError
from udfs.mechanisms import MECHANISMS, least_variance
from udfs.randomized_response import RandomizedResponse
from udfs.several import LARGEST_PRODUCT

if TYPE_CHECKING:
    from jobs.survey.spec import SurveySpec

SHARED_MECHANISMS = ("randomized-response", "auto")
"""What an attribute may say it is asked with where it shares a report."""
SCHEMES = ("split", "sample", "joint")


@dataclass(frozen=True)
class Schemes:
    """What each scheme predicts.

    Attributes
    ----------
    epsilon : Decimal
        That all attributes share.
    tables : tuple of tuple of str
        The tables whose variances are added up: one an attribute, and one a statistic of several.
    variances : dict of str to float, or None
        By scheme: the sum of the variances of all shares in these tables, times the number of respondents,
        where all cells are equally large and attributes independent. None where a scheme cannot be had.
    """

    epsilon: Decimal
    tables: tuple[tuple[str, ...], ...]
    variances: dict[str, float | None]

    @property
    def best(self) -> str:
        """The scheme that predicts the least variance."""
        return min(SCHEMES, key=self._cost)

    def _cost(self, scheme: str) -> float:
        found = self.variances[scheme]
        return math.inf if found is None else found

    def reason(self, chosen: str) -> str:
        """Return what a scheme costs, and what the others would."""
        costs = ", ".join(
            f"{scheme} " + ("not possible" if found is None else f"{found:.4g} / n")
            for scheme, found in self.variances.items()
        )
        what = "has the least predicted variance" if chosen == self.best else "as the spec says"
        return f"{what} (summed over {len(self.tables)} tables: {costs})"


def predict_schemes(spec: SurveySpec, names: Sequence[str], epsilon: Decimal) -> Schemes:
    """Predict what each scheme would cost for some attributes that share an epsilon."""
    cells = {name: spec.question(name).cells for name in names}
    tables: list[tuple[str, ...]] = [(name,) for name in names]
    for statistic in spec.statistics:
        inside = tuple(name for name in statistic.of if name in cells)
        if len(inside) > 1 and inside not in tables:
            tables.append(inside)
    predictions = {"split": _split, "sample": _sampled, "joint": _joint}
    variances: dict[str, float | None] = {}
    shareable = all(spec.attributes[name].mechanism in SHARED_MECHANISMS for name in names)
    bound = spec.budget is not None and not shareable
    for scheme, predict in predictions.items():
        try:
            apart = bound and scheme != "split"
            variances[scheme] = None if apart else predict(spec, cells, tables, epsilon)
        except SpecError:  # so little epsilon, or so many cells, that nothing could be estimated
            variances[scheme] = None
    return Schemes(epsilon, tuple(tables), variances)


def _split(
    spec: SurveySpec, cells: dict[str, int], tables: Sequence[tuple[str, ...]], epsilon: Decimal
) -> float:
    """Add up, for each table, the product of the attributes' second moments less what is no variance."""
    part = epsilon / len(cells)
    moments = {}
    for name, count in cells.items():
        kind = spec.attributes[name].mechanism
        design = least_variance(count, part)[0] if kind == "auto" else MECHANISMS[kind](count, part)
        moments[name] = summed_variance(design) + 1 / count
    return sum(
        math.prod(moments[name] for name in table) - 1 / math.prod(cells[name] for name in table)
        for table in tables
    )


def _sampled(
    spec: SurveySpec, cells: dict[str, int], tables: Sequence[tuple[str, ...]], epsilon: Decimal
) -> float | None:
    """Add up the attributes' own variances, times how many they are: so few report on each."""
    if any(len(table) > 1 for table in tables):
        return None
    designs = [RandomizedResponse(count, epsilon) for count in cells.values()]
    return len(cells) * sum(summed_variance(design) for design in designs)


def summed_variance(design: Design) -> float:
    """Return the sum of the variances of all shares, times the number of reports, where all are equal."""
    return float(design.variances(np.full(design.cells, 1 / design.cells)).sum())


def _joint(
    spec: SurveySpec, cells: dict[str, int], tables: Sequence[tuple[str, ...]], epsilon: Decimal
) -> float | None:
    """Add up the variances of the margins of the product cell."""
    product = math.prod(cells.values())
    if product > LARGEST_PRODUCT or len(cells) < 2:
        return None
    design = RandomizedResponse(product, epsilon)
    truth, lie = float(design.support_if_true), float(design.support_if_false)
    whole = 0.0
    for table in tables:
        size = math.prod(cells[name] for name in table)
        # Each cell of the margin is reported by one of product / size cells: a lie, or the truth among them.
        observed = (product // size) * lie + (truth - lie) / size
        whole += size * observed * (1 - observed) / (truth - lie) ** 2
    return whole
