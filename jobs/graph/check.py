"""Whether nodes and links fit a spec of a graph, by footers."""

from __future__ import annotations

from jobs.graph.central import noise_of
from jobs.graph.nodes import id_column
from jobs.graph.spec import GraphSpec
from jobs.graph.study import check_study
from jobs.population import Data
from udfs.errors import SpecError
from udfs.link_question import EndColumn
from udfs.link_response import LinkResponse
from udfs.link_sums import MOST_NODES


def check_data(spec: GraphSpec, data: Data) -> None:
    """Refuse links whose ends cannot be nodes, more nodes than can be counted, and an epsilon too small for its mechanism.

    Raises
    ------
    SchemaError
    SpecError
    """
    column = id_column(spec, data)
    links = data.beside(spec.population.path, "population.path")
    if links.would_read(spec.output.path):
        raise SpecError("output.path", "must lie apart from the links' files", spec.output.path)
    nodes_files = {file for file, _ in data.columns(column.name)}
    for name in (spec.population.source, spec.population.target):
        for file, arrow_type in links.columns(name):
            EndColumn(name, column).check_type(arrow_type, file)
            if file in nodes_files:
                raise SpecError(
                    "population.nodes",
                    "must be other files than the links', as it is told who is there",
                    file,
                )
    if data.rows > MOST_NODES:
        raise SpecError("population.nodes", f"must name at most {MOST_NODES:,} nodes", f"{data.rows:,}")
    if spec.privacy.model == "central":
        for kind in spec.kinds:
            noise_of(kind, data.rows, spec.share)
    else:
        LinkResponse.of(spec.privacy.mechanism, spec.privacy.epsilon)
    if spec.study is not None:
        check_study(spec.study, data.rows)
