"""What a survey puts to its population in one round, and the tables that come of the answers.

Beside the attributes' reports, collected data may have columns that are no secret: strata, groups and
weights. They are further axes and weights of the same tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jobs.population import Population
from jobs.survey.beside import weight_question
from jobs.survey.layout import Layout
from jobs.survey.margin import Margin
from jobs.survey.reconstruct import Axis, Sample, TableEstimate
from jobs.survey.spec import SurveySpec
from udfs.asides import Aside, LevelQuestion
from udfs.asking import Ask
from udfs.errors import SchemaError
from udfs.lookup import Category
from udfs.tables import LARGEST_TABLE, CrossTable, SparseCounts

Places = tuple[int, ...]

LARGEST_WEIGHTED = 1 << 16
"""Exact sums of weights are no machine numbers, and take some hundred bytes a cell."""


@dataclass(frozen=True)
class Estimates:
    """Tables of true shares, by the places of the units they are of.

    Parameters
    ----------
    spec : SurveySpec
    reports : tuple of ndarray
        Each unit's sum of reports.
    tables : dict
        By places; where one attribute of several is reported on, by the attribute's name.
    respondents : int
    """

    spec: SurveySpec
    reports: tuple[Any, ...]
    tables: dict[Places | str, TableEstimate]
    respondents: int

    def margin(self, attributes: Sequence[str]) -> Margin:
        """Return some attributes' shares, among those who answered all of them."""
        layout = self.spec.layout
        key: Places | str = layout.places(attributes)
        if len(layout.unit_of(attributes[0]).axes) > 1:
            key = attributes[0]
        missing = tuple(self.spec.attributes[name].missing == "category" for name in attributes)
        return Margin(self.tables[key], tuple(attributes), missing)

    def reports_of(self, attribute: str) -> Any:
        """Return the sum of the reports to an attribute: by its own cells, also where the reports are joint."""
        unit, axis = self.spec.layout.unit_of(attribute), self.spec.layout.axis_of(attribute)
        counts = unit.counts_of(attribute, self.reports[self.spec.layout.units.index(unit)])
        if len(axis.attributes) == 1:
            return counts
        others = tuple(place for place, name in enumerate(axis.attributes) if name != attribute)
        return counts.reshape(axis.shape).sum(axis=others)


@dataclass(frozen=True)
class Inquiry:
    """One round's asks and tallies.

    Parameters
    ----------
    spec : SurveySpec
    strata, groups : tuple, optional
        The values of these columns, where the spec names them.
    """

    spec: SurveySpec
    strata: tuple[Category, ...] | None = None
    groups: tuple[Category, ...] | None = None

    @classmethod
    def prepare(cls, spec: SurveySpec, population: Population) -> Inquiry:
        """Find the values of strata and groups, and see that they are those of the spec."""
        collected = spec.collected
        if collected is None:
            return cls(spec)
        strata = population.levels(collected.strata) if collected.strata else None
        groups = population.levels(collected.groups) if collected.groups else None
        if spec.sampling is not None and spec.sampling.strata is not None:
            found = {str(level) for level in strata or ()}
            if found != set(spec.sampling.strata):
                raise SchemaError(
                    "sampling.strata",
                    "must give the size of every stratum that has respondents, and of no other",
                    f"{len(set(spec.sampling.strata) - found)} without respondents, "
                    f"{len(found - set(spec.sampling.strata))} without a size",
                    "merge an empty stratum with another",
                )
        inquiry = cls(spec, strata, groups)
        most = LARGEST_WEIGHTED if collected.weight else LARGEST_TABLE
        cells = max((tally.size for tally in inquiry.tallies), default=0)
        if cells > most:
            raise SchemaError(
                "collected",
                f"a table has {most:,} cells at most{' with weights' if collected.weight else ''}",
                f"{cells:,}, by strata and groups",
                "take fewer attributes together, or fewer strata or groups",
            )
        return inquiry

    @property
    def asks(self) -> tuple[Ask, ...]:
        """What everybody is asked: the attributes, then what is no secret."""
        return (*self.spec.layout.asks, *self._asides)

    @property
    def _asides(self) -> list[Ask]:
        collected, asides = self.spec.collected, list[Ask]()
        if collected is not None:
            for column, levels in ((collected.strata, self.strata), (collected.groups, self.groups)):
                if column is not None and levels is not None:
                    asides.append((LevelQuestion(column, levels), Aside()))
            if (weights := weight_question(self.spec)) is not None:
                asides.append((weights, Aside()))
        return asides

    @property
    def _sides(self) -> tuple[tuple[int, ...], int | None]:
        """Return the places of strata and groups, and that of weights."""
        first = len(self.spec.layout.units)
        levels = tuple(range(first, first + (self.strata is not None) + (self.groups is not None)))
        weighted = self.spec.collected is not None and self.spec.collected.weight is not None
        return levels, first + len(levels) if weighted else None

    @property
    def needed(self) -> tuple[Places, ...]:
        """The tables that must be tallied, by the places of their units."""
        layout = self.spec.layout
        wanted = [layout.places(statistic.of) for statistic in self.spec.statistics]
        if self._asides:
            wanted = [*((place,) for place in range(len(layout.units))), *wanted]
            return tuple(dict.fromkeys(wanted))
        return tuple(dict.fromkeys(places for places in wanted if len(places) > 1))

    @property
    def tallies(self) -> tuple[CrossTable, ...]:
        """The tables beside each ask's own sum."""
        levels, weight = self._sides
        widths = tuple(max(1, len(one)) for one in (self.strata, self.groups) if one is not None)
        shapes = {places: _features(self.spec.layout, places) for places in self.needed}
        return tuple(
            CrossTable((*levels, *places), (*widths, *shape), weight) for places, shape in shapes.items()
        )

    def estimates(self, sums: Sequence[Any], rows: int) -> tuple[Estimates, list[tuple[Category, Estimates]]]:
        """Return the estimates of everybody, and of each group.

        Parameters
        ----------
        sums : sequence
            What the population answered: a sum for each ask, then one for each tally.
        rows : int
        """
        layout, asks = self.spec.layout, self.asks
        reports = tuple(sums[: len(layout.units)])
        tallied = {
            places: counts.dense().reshape(tally.shape) if isinstance(counts, SparseCounts) else counts
            for places, tally, counts in zip(self.needed, self.tallies, sums[len(asks) :], strict=True)
        }
        tables = self._own_tables(reports, rows) if not self._asides else {}
        split: list[dict[Places | str, TableEstimate]] = [{} for _ in self.groups or ()]
        for places, counts in tallied.items():
            axes = layout.axes(places)
            by_stratum, by_group = self._apart(counts)
            tables[places] = self._table(by_stratum, axes)
            for group, own in enumerate(by_group):
                strata = tables[places].samples if self.strata else ()
                split[group][places] = self._table(own, axes, strata)
        groups = [
            (label, Estimates(self.spec, (), own, next(iter(own.values())).reports))
            for label, own in zip(self.groups or (), split, strict=True)
        ]
        return Estimates(self.spec, reports, tables, rows), groups

    def strata_documents(self, estimates: Estimates) -> list[dict[str, Any]]:
        """Return how many respondents each stratum has, and its share of the population."""
        table = next(iter(estimates.tables.values()))
        return [
            {"stratum": label, "respondents": sample.reports, "share": share}
            for label, sample, share in zip(self.strata or (), table.samples, table.strata, strict=False)
        ]

    def _own_tables(self, reports: Sequence[Any], rows: int) -> dict[Places | str, TableEstimate]:
        """Return the tables of single units, from the asks' own sums."""
        tables: dict[Places | str, TableEstimate] = {}
        for place, unit in enumerate(self.spec.layout.units):
            for axis in unit.axes:
                key: Places | str = axis.attributes[0] if len(unit.axes) > 1 else (place,)
                counts = unit.counts_of(axis.attributes[0], reports[place])
                features = counts if axis.design.one_code else np.append(counts, rows)
                tables[key] = self._table([features], (axis,))
        return tables

    def _apart(self, counts: Any) -> tuple[list[Any], list[list[Any]]]:
        """Return a tally's parts by stratum, and by group and stratum; those of no stratum are one."""
        if self.strata is None and self.groups is None:
            return [counts], []
        layered = 1 if counts.dtype == object else 0  # the layers of a weighted table come first
        strata = [counts.take(place, layered) for place in range(len(self.strata or ()))] or [counts]
        if self.groups is None:
            return strata, []
        groups = [[one.take(group, layered) for one in strata] for group in range(len(self.groups))]
        return [one.sum(axis=layered) for one in strata], groups

    def _table(
        self, by_stratum: Sequence[Any], axes: Sequence[Axis], strata: Sequence[Sample] = ()
    ) -> TableEstimate:
        """Return the estimate of a table from its strata's counts: of everybody, or of a group within `strata`."""
        collected, sampling = self.spec.collected, self.spec.sampling
        weighted = collected is not None and collected.weight is not None
        maximum_likelihood = collected is not None and collected.denominator == "n"
        lost = 0 if maximum_likelihood or (weighted and len(by_stratum) == 1) else 1
        samples = tuple(
            Sample.of(counts, axes, lost, strata[place] if strata else None)
            for place, counts in enumerate(by_stratum)
        )
        sizes: tuple[int, ...] | None = None
        if sampling is not None and sampling.strata is not None:
            sizes = tuple(sampling.strata[str(level)] for level in self.strata or ())
        elif sampling is not None and sampling.size is not None:
            sizes = (sampling.size,)
        smaller = sum(one.stratum > size for one, size in zip(samples, sizes or (), strict=False))
        if smaller:
            raise SchemaError(
                "sampling.strata", "every stratum must be as large as its sample", f"{smaller} that are not"
            )
        weights = np.array([sample.weight for sample in samples])
        if sizes is not None:  # everybody asked stands for so many
            weights = weights * np.array(sizes) / [one.weight or 1.0 for one in strata or samples]
        shares = weights / weights.sum() if weights.sum() > 0 else np.full(len(samples), 1 / len(samples))
        return TableEstimate(tuple(axes), samples, shares, sizes)


def _features(layout: Layout, places: Places) -> tuple[int, ...]:
    return tuple(axis.design.features for axis in layout.axes(places))
