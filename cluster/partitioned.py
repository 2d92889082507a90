"""Tables outside of jobs: a partitioned data set put in place whole."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq

from cluster.storage import Store
from udfs.errors import SpecError


def check_free(url: str) -> None:
    """Refuse a folder that holds anything, or is none.

    Raises
    ------
    SpecError
    """
    if Store(url).names():
        raise _taken(url)


def write_partitioned(url: str, schema: pa.Schema, parts: Iterable[Iterable[pa.Table]]) -> int:
    """Write a data set: `part-00000.parquet` and so on, which stand under their names when all are whole.

    Parameters
    ----------
    url : str
        A folder that is not there or holds nothing; local, or behind any fsspec URL.
    schema : pyarrow.Schema
        Its metadata go into every footer.
    parts : iterable of iterables of pyarrow.Table
        The tables of each file; each becomes a row group.

    Returns
    -------
    int
        How many files there are.

    Raises
    ------
    SpecError
        Where the folder holds something.

    Notes
    -----
    A local folder appears at once; in an object store files appear one after the other, the first of them
    when the last is whole.
    """
    check_free(url)
    store = Store(url)
    staging = Store(f"{store.url.rstrip('/')}.{uuid.uuid4().hex}.tmp")
    staging.make()
    names = []
    try:
        for number, tables in enumerate(parts):
            names.append(f"part-{number:05d}.parquet")
            with (
                staging.replacing(names[-1]) as file,
                pq.ParquetWriter(file, schema, compression="zstd") as writer,
            ):
                for table in tables:
                    writer.write_table(table)
        _put_in_place(staging, store, names)
    finally:
        staging.clear()
    return len(names)


def _put_in_place(staging: Store, store: Store, names: list[str]) -> None:
    """Give a folder its name, or its files theirs."""
    if not store.local:
        for name in names:
            store.take(staging, name, name)
        return
    try:
        os.replace(staging.root, store.root)
    except OSError:
        raise _taken(store.url) from None


def _taken(url: str) -> SpecError:
    return SpecError(
        url, "must be a folder that is empty or not there", "one that holds files", "name another"
    )
