"""What result.json says of a graph, and its nodes as a table."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.graph.estimate import Estimates, TriangleEstimates


def node_ids(ids: pa.Array) -> list[str | int]:
    """Return the ids of nodes, in the order in which they are told of."""
    found: list[str | int] = ids.to_pylist()
    return found


def edge_document(value: float, error: float) -> dict[str, Any]:
    """Return the number of links."""
    return {"estimates": value, "standard_errors": error}


def degree_document(degrees: Estimates) -> dict[str, Any]:
    """Return each node's number of links."""
    return {"estimates": degrees.values, "standard_errors": degrees.standard_errors}


def triangle_document(triangles: TriangleEstimates) -> dict[str, Any]:
    """Return the triangles at each node, and in all."""
    return {
        "estimates": triangles.at.values,
        "standard_errors": triangles.at.standard_errors,
        "total": {"estimates": triangles.total, "standard_errors": triangles.total_error},
    }


def nodes_table(document: dict[str, Any]) -> bytes:
    """Return the nodes as Parquet: their ids, and what is known of each with its standard error."""
    result = document["result"]
    columns: dict[str, Any] = {"id": pa.array(result["ids"])}
    for kind, name in (("degrees", "degree"), ("triangles", "triangles")):
        if kind in result:
            columns[name] = pa.array(result[kind]["estimates"], pa.float64())
            columns[f"{name}_standard_error"] = pa.array(result[kind]["standard_errors"], pa.float64())
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()
