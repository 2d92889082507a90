"""The nodes of a graph: who could be linked with whom is public."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc

from jobs.graph.spec import GraphSpec
from jobs.population import Data, Population
from udfs.identity import IdColumn
from udfs.link_question import LinkQuestion, ids_to_bytes


def id_column(spec: GraphSpec, nodes: Data) -> IdColumn:
    """Return how the nodes' ids are read.

    Raises
    ------
    SchemaError
    """
    name = spec.population.id
    return IdColumn.of(name, [arrow_type for _, arrow_type in nodes.columns(name)])


def read_ids(column: IdColumn, nodes: Data) -> pa.Array:
    """Return the ids of all nodes, in order."""
    blocks = [column.plain(block.column(column.name)) for _, block in nodes.read([column.name])]
    ids = pa.concat_arrays(blocks or [pa.array([], column.arrow_type)])
    return ids.take(pc.sort_indices(ids))


@contextmanager
def asking(spec: GraphSpec, population: Population) -> Iterator[tuple[LinkQuestion, pa.Array]]:
    """Lay the ids of nodes where tasks can read them, and give the question of links with the ids."""
    nodes = population.beside(spec.population.nodes, "population.nodes")
    column = id_column(spec, nodes)
    ids = read_ids(column, nodes)
    data = ids_to_bytes(ids)
    table = spec.population
    with population.room() as put:
        digest = hashlib.sha256(data.tobytes()).hexdigest()
        yield LinkQuestion(table.source, table.target, column, put(data), digest, table.self_loops), ids
