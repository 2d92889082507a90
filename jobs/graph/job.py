"""The graph job.

Question: which of these pairs of nodes are linked? Privacy unit: one link, added or removed; which nodes there are
is public. Guarantee: epsilon for every pair, in the local model, exactly, as each unordered pair reports once, whichever
end its link was noted at; or, for a trusted holder, for each statistic its part of epsilon. Who sees what: a Dask process
stands in for the pairs and sees links; the driver, the output and everybody after see reports and their sums. Method:
randomized response on every pair, tile by tile; degrees and triangles by sums over the reports; a graph rebuilt from
them. Cost: some nanoseconds a pair; triangles take a product of matrices.

References
----------
papers/randomized-response, section 6.3.
"""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import Any

from jobs.graph.central import central_statistics
from jobs.graph.check import check_data
from jobs.graph.document import nodes_table
from jobs.graph.local import local_statistics
from jobs.graph.nodes import asking
from jobs.graph.plan import plan_graph
from jobs.graph.spec import GraphSpec
from jobs.graph.study import plan_study, run_study
from jobs.population import Data, Digests, Population
from jobs.results import encode


class Graph:
    """Links under edge privacy."""

    @property
    def spec_type(self) -> type[GraphSpec]:
        """The type of its specs."""
        return GraphSpec

    def check(self, spec: GraphSpec, data: Data) -> None:
        """Refuse nodes and links whose columns do not fit the spec; no row is read.

        Raises
        ------
        SchemaError
        SpecError
        """
        check_data(spec, data)

    def plan(self, spec: GraphSpec, data: Data) -> dict[str, Any]:
        """Return what the job would do and how good it would be; reads no row."""
        return plan_graph(spec, data) if spec.study is None else plan_study(spec, spec.study, data)

    def look_through(self, spec: GraphSpec, data: Data, population: Population) -> Digests:
        """Have all links looked through for ends that are no nodes; return a keyed digest of them.

        It is one for all units: how many there are follows the number of links.
        """
        population.check([])
        with asking(spec, population) as (question, _):
            units = population.other(spec.population.path, "population.path").check([question])
        whole = hashlib.sha256(json.dumps(units, sort_keys=True).encode()).hexdigest()
        return {question.label: {"links": whole}}

    def roles(self, spec: GraphSpec) -> str:
        """Return who stands in for whom: the cluster for those who know of a link."""
        return "embedded"

    def writes_reports(self, spec: GraphSpec) -> bool:
        """Tell whether a rebuilt graph is published."""
        return spec.release.graph and spec.study is None

    def charges(self, spec: GraphSpec) -> list[tuple[str, Decimal]]:
        """Return epsilon for a link."""
        return [] if spec.study is not None else [("link", spec.spent)]

    def privacy(self, spec: GraphSpec) -> dict[str, Any]:
        """Return the guarantee."""
        if spec.study is not None:
            return {"model": "none", "basis": "a study on public data: nothing is protected", "epsilon": None}
        return {
            "model": spec.privacy.model,
            "neighbours": "one link added or removed",
            "basis": "drawn by this job",
            "covers": "all that pairs report" if spec.privacy.model == "local" else "all that is published",
            "epsilon": spec.spent,
        }

    def run(self, spec: GraphSpec, population: Population) -> dict[str, Any]:
        """Ask every pair, and estimate."""
        with asking(spec, population) as (question, ids):
            links = population.other(spec.population.path, "population.path")
            if spec.study is not None:
                return {"study": run_study(spec.study, links, question, len(ids))}
            if spec.privacy.model == "central":
                return central_statistics(spec, population, links, question, ids)
            return local_statistics(spec, population, links, question, ids)

    def documents(self, document: dict[str, Any]) -> dict[str, bytes]:
        """Return the result, with what is known of each node as a table."""
        if "study" in document["result"]:
            return {"result.json": encode(document), "study.json": encode(document["result"]["study"])}
        return {"result.json": encode(document), "nodes.parquet": nodes_table(document)}

    def page(self, document: dict[str, Any]) -> bytes:
        """Return the page of a graph."""
        from jobs.page import page  # noqa: PLC0415  its figures take half a second to import

        render = page.render_graph_study if "study" in document["result"] else page.render_graph
        return render(document)
