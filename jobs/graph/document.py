"""What result.json says of a graph, and its nodes as a table."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.graph.estimate import Estimated

_LARGEST_SIGNED = (1 << 63) - 1


def statistic_document(found: Estimated, total: Estimated | None = None) -> dict[str, Any]:
    """Return a statistic's estimates with their standard errors, and what they are in all."""
    document = {"estimates": found.estimates.tolist(), "standard_errors": found.standard_errors.tolist()}
    return document if total is None else document | {"total": statistic_document(total)}


def nodes_table(document: dict[str, Any]) -> bytes:
    """Return the nodes as Parquet: their ids, and what is known of each with its standard error."""
    result = document["result"]
    columns: dict[str, Any] = {"id": _as_column(result["ids"])}
    for kind, name in (("degrees", "degree"), ("triangles", "triangles")):
        if kind in result:
            columns[name] = pa.array(result[kind]["estimates"], pa.float64())
            columns[f"{name}_standard_error"] = pa.array(result[kind]["standard_errors"], pa.float64())
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def _as_column(ids: list[str | int]) -> pa.Array:
    """Return ids as text or as integers: unsigned ones where signed ones cannot hold them all."""
    beyond = any(isinstance(one, int) and one > _LARGEST_SIGNED for one in ids)
    return pa.array(ids, pa.uint64() if beyond else None)
