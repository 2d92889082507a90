"""The spec of a graph whose links are private."""

from __future__ import annotations

import hashlib
import json
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from jobs.graph.study_spec import GraphStudyTable
from jobs.population import Data
from jobs.spec import Epsilon, PopulationTable, Spec, Table, Text, as_tuple
from udfs.errors import SpecError
from udfs.link_response import LinkResponse

_FLOOR = Context(prec=28, rounding=ROUND_FLOOR)

Kind = Literal["edges", "degrees", "triangles"]
KINDS: tuple[Kind, ...] = ("edges", "degrees", "triangles")


class GraphPopulationTable(PopulationTable):
    """Whose links are asked for."""

    id: Text = Field(description="The column of nodes' ids, in the table of nodes.")
    nodes: Text = Field(
        description="A Parquet file, directory or glob with a row for each node; any fsspec URL."
    )
    source: Text = Field("source", description="The column of the id at one end of a link.")
    target: Text = Field("target", description="The column of the id at its other end.")
    self_loops: Literal["refuse", "drop"] = Field(
        "refuse", description="Links of a node with itself, which are no pair and are not reported."
    )

    @property
    def respondents(self) -> str:
        """Where there is a row for each node: which nodes there are is public, who is linked is not."""
        return self.nodes

    @property
    def respondents_key(self) -> str:
        """The key that says so."""
        return "population.nodes"


class GraphPrivacyTable(Table):
    """How links are protected."""

    epsilon: Epsilon
    mechanism: Literal["randomized-response", "laplace", "discrete-laplace"] = Field(
        "randomized-response",
        description="How every pair reports its link: randomized-response, or laplace, as Laplace noise rounded to 0 or"
        " 1; or, for a trusted holder of all links, discrete-laplace noise on each statistic.",
    )

    @property
    def model(self) -> Literal["local", "central"]:
        """Whether pairs randomize, or one who holds all links."""
        return "central" if self.mechanism == "discrete-laplace" else "local"


class StatisticTable(Table):
    """What is wanted of the graph."""

    kind: Kind


class ReleaseTable(Table):
    """What is released besides."""

    graph: bool = Field(False, description="A graph rebuilt from the reports, as an edge list in Parquet.")


class GraphSpec(Spec):
    """Links under edge privacy."""

    job: Literal["graph"]
    population: GraphPopulationTable
    privacy: GraphPrivacyTable
    statistics: Annotated[tuple[StatisticTable, ...], BeforeValidator(as_tuple)] = tuple(
        StatisticTable(kind=kind) for kind in KINDS
    )
    release: ReleaseTable = ReleaseTable()
    study: GraphStudyTable | None = None

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        if self.population.source == self.population.target:
            raise SpecError(
                "population.target", "must be another column than the source", self.population.target
            )
        kinds = [one.kind for one in self.statistics]
        if len(set(kinds)) != len(kinds):
            raise SpecError("statistics", "each kind must stand once", ", ".join(kinds))
        if not kinds and not self.release.graph and self.study is None:
            raise SpecError("statistics", "something must be wanted", "no statistic and no graph")
        if self.release.graph and self.privacy.model == "central":
            raise SpecError(
                "release.graph",
                "is rebuilt from pairs' own reports",
                self.privacy.mechanism,
                "let pairs randomize",
            )
        if self.release.graph and not self.output.reports:
            raise SpecError(
                "release.graph", "is written to reports/", "output.reports = false", "leave out one of them"
            )
        if self.release.graph and self.study is not None:
            raise SpecError("release.graph", "is of no study, which measures rebuilt graphs", "both")
        if self.study is not None and not self.population.public:
            raise SpecError(
                "study", "a study compares with the truth, so its population must be public", "public = false"
            )
        return self

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The statistics that are wanted."""
        return tuple(one.kind for one in self.statistics)

    @property
    def share(self) -> Decimal:
        """Central: each statistic's part of epsilon, rounded down."""
        return _FLOOR.divide(self.privacy.epsilon, Decimal(max(1, len(self.kinds))))

    @property
    def spent(self) -> Decimal:
        """What is charged for a link: of rounded Laplace noise, what it really gives away."""
        if self.privacy.model == "central":
            return self.privacy.epsilon
        return LinkResponse.of(self.privacy.mechanism, self.privacy.epsilon).true_epsilon

    @property
    def tells_times(self) -> bool:
        """Only of a study: it takes the longer to read links, the more there are."""
        return self.study is not None

    def snapshot(self, data: Data) -> str:
        """Return a digest of nodes and links."""
        both = [data.snapshot, data.beside(self.population.path, "population.path").snapshot]
        return hashlib.sha256(json.dumps(both).encode()).hexdigest()
