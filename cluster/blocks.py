"""Rows of a work unit, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from cluster.manifest import BLOCK_ROWS, DataFile, Unit
from cluster.storage import filesystem, size_and_version
from udfs.errors import ClusterError, SchemaError

_BUFFER_BYTES = 1 << 20


def check_unchanged(file: DataFile) -> None:
    """Refuse a file that is no longer what it was when the job started.

    Raises
    ------
    SchemaError
    """
    fs, path = filesystem(file.url)
    try:
        now = size_and_version(fs, path)
    except FileNotFoundError:
        now = (-1, "gone")
    if now != (file.size, file.version):
        raise SchemaError(
            file.url,
            "must stay as it was when the job started",
            "a file that has changed or gone",
            "run again on the new data: it is a new draw, with its own charge",
        )


def read_blocks(file: DataFile, unit: Unit, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield a unit's rows, `BLOCK_ROWS` at a time (the last block may be shorter).

    Text columns come as dictionaries. Memory is bounded by the block, the pages it comes from and the
    reader's buffers, however long the row group is.
    """
    fs, path = filesystem(file.url)
    with _open(fs, path) as source:
        plain = pq.ParquetFile(source)
        text = [name for name in columns if _is_text(plain.schema_arrow.field(name).type)]
        reader = pq.ParquetFile(
            source, metadata=plain.metadata, read_dictionary=text, buffer_size=_BUFFER_BYTES, pre_buffer=False
        )
        batches = reader.iter_batches(
            BLOCK_ROWS, row_groups=[unit.row_group], columns=columns, use_threads=False
        )
        try:
            yield from _exact_blocks(_between(batches, unit.offset, unit.rows))
        except (pa.ArrowException, OSError) as error:  # its message may quote an answer
            raise ClusterError(
                file.url, "its rows must be readable", type(error).__name__, "see that the file is whole"
            ) from None


def _between(batches: Iterator[pa.RecordBatch], first: int, rows: int) -> Iterator[pa.RecordBatch]:
    """Yield so many rows from the first on."""
    seen = 0
    for batch in batches:
        start, stop = max(first - seen, 0), min(first + rows - seen, batch.num_rows)
        if start < stop:
            yield batch.slice(start, stop - start)
        seen += batch.num_rows
        if seen >= first + rows:
            return


def _exact_blocks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Cut batches of any length into blocks of `BLOCK_ROWS`."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        while rows + batch.num_rows >= BLOCK_ROWS:
            head = batch.slice(0, BLOCK_ROWS - rows)
            yield pa.concat_batches([*waiting, head]) if waiting else head
            batch, waiting, rows = batch.slice(head.num_rows), [], 0  # noqa: PLW2901
        if batch.num_rows:
            waiting.append(batch)
            rows += batch.num_rows
    if waiting:
        yield pa.concat_batches(waiting) if len(waiting) > 1 else waiting[0]


def _is_text(arrow_type: pa.DataType) -> bool:
    return any(is_type(arrow_type) for is_type in (pa.types.is_string, pa.types.is_large_string))


def _open(fs: Any, path: str) -> IO[bytes] | pa.NativeFile:
    """Open a file for Arrow: natively where it is local."""
    try:
        return pa.OSFile(path, "rb") if isinstance(fs, LocalFileSystem) else fs.open(path, "rb")
    except OSError as error:
        raise ClusterError(path, "must be readable on every worker", type(error).__name__) from None
