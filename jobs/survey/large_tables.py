"""Tables with more cells than a page or result.json should hold: Parquet files beside them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from udfs.design import Shares

LARGEST_SHOWN = 10_000
"""Cells beyond which a table is a file of its own."""


def move_large_tables(result: dict[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return a result whose large tables are named instead of held, and these tables' files.

    Parameters
    ----------
    result : dict
        With `statistics` and `joint`, whose tables are arrays.

    Returns
    -------
    tuple of dict and dict
        A file has a row a cell: a column for each attribute, `proportion` and `standard_error`. The
        document of its table has the file's name as `table` and the number of its rows as `cells`.
    """
    files: dict[str, bytes] = {}
    moved = {
        "statistics": [_moved(one, "estimate", "standard_error", files) for one in result["statistics"]],
        "joint": [_moved(one, "proportions", "standard_errors", files) for one in result["joint"]],
    }
    return result | moved, files


def _moved(document: dict[str, Any], shares: str, errors: str, files: dict[str, bytes]) -> dict[str, Any]:
    table = document.get(shares)
    if not isinstance(table, np.ndarray) or table.size <= LARGEST_SHOWN:
        return document
    name = f"tables/{len(files)}.parquet"
    files[name] = _table_file(document["of"], document["categories"], table, document[errors])
    return document | {shares: None, errors: None, "categories": None, "table": name, "cells": table.size}


def _table_file(
    of: Sequence[str], categories: Sequence[Sequence[Any]], shares: Shares, errors: Shares
) -> bytes:
    columns: dict[str, Any] = {}
    for place, (name, labels) in enumerate(zip(of, categories, strict=True)):
        codes = np.arange(len(labels), dtype=np.int32).reshape(
            [-1 if one == place else 1 for one in range(len(of))]
        )
        spread = np.broadcast_to(codes, shares.shape).ravel()
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(spread), pa.array(list(labels)))
    columns |= {"proportion": shares.ravel(), "standard_error": errors.ravel()}
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, compression="zstd", write_statistics=False)
    return buffer.getvalue()
