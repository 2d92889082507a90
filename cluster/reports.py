"""Reports as a partitioned Parquet data product: one file a part, whole or not there."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import IO, Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from cluster.storage import Store
from udfs.asking import Ask, Mechanism, Partial, WrittenFile
from udfs.identity import IdColumn
from udfs.lookup import Category
from udfs.mechanisms import describe_asks
from udfs.sums import sum_from_json, sum_to_json

_ROWS_PER_GROUP = 1 << 20
_HASHED_BYTES = 1 << 20

U = TypeVar("U")

Labels: TypeAlias = tuple[Category | None, ...]
Reports: TypeAlias = npt.NDArray[np.generic]
WriteBlock: TypeAlias = Callable[[list[Reports], pa.Array | None], None]


@dataclass(frozen=True)
class ReportWriter:
    """Writes one part's reports under a temporary name, and puts the file in place when it is whole.

    Beside it then goes a note of the part's partial answer, a sum of the reports in the file, and of the
    file's SHA-256: whoever finds both need not ask the part again.

    Parameters
    ----------
    folder : Store
    name : str
    asks : tuple of Ask
        One column each; a report of several parts takes one for each part, of its name.
    ids : IdColumn, optional
        The column of ids that goes along.
    tallies : tuple of str
        What the partial answer's further sums are of.
    first_row, rows : int
        The number of the part's first row in the whole population, and how many it has: public draws go by them
        where there are no ids.
    """

    folder: Store
    name: str
    asks: tuple[Ask, ...]
    ids: IdColumn | None
    tallies: tuple[str, ...] = ()
    first_row: int = 0
    rows: int = 0

    def answered(self) -> Partial | None:
        """Return the partial answer of a file that is there, as it was noted, or None."""
        if not (self.folder.exists(self._note) and self.folder.exists(self.name)):
            return None
        note = self.folder.read(self._note)
        partial = _partial_from_json(note)
        if partial is None or json.loads(note).get("tallies") != list(self.tallies):
            return None  # torn, or of other sums than are wanted: the same reports are drawn again
        with self.folder.open(self.name) as file:
            return partial if partial.files == {self.name: hash_file(file)} else None

    def write(self, ask: Callable[[WriteBlock], Partial]) -> Partial:
        """Let `ask` write blocks of reports and ids, and note its partial answer."""
        labels = [question.labels for question, _ in self.asks]
        schema = self._schema(labels)
        with self.folder.replacing(self.name, durable=False) as file:
            hashing = _HashingFile(file)
            with pq.ParquetWriter(hashing, schema, **self._encoding(schema)) as writer:
                groups = _RowGroups(lambda blocks: writer.write_table(self._table(blocks, labels, schema)))
                partial = ask(groups.add)
                groups.flush()
        partial = replace(partial, files={self.name: hashing.written()})
        note = _partial_to_json(partial, self.tallies)
        self.folder.write(self._note, note.encode(), durable=False)
        return partial

    @property
    def _note(self) -> str:
        return f"{self.name}.json"

    def _schema(self, labels: list[Labels]) -> pa.Schema:
        fields = []
        for (question, mechanism), own in zip(self.asks, labels, strict=True):
            kind = mechanism.report_type(own)
            parts = list(kind) if pa.types.is_struct(kind) else [pa.field(question.name, kind)]
            fields += [part.with_nullable(None in own) for part in parts]
        if self.ids is not None:
            fields.insert(0, pa.field(self.ids.name, self.ids.arrow_type, nullable=False))
        standing = {
            "ids": self.ids.kind if self.ids else None,
            "first_row": self.first_row,
            "rows": self.rows,
        }
        entry = describe_asks(self.asks) | standing
        return pa.schema(fields, metadata={"canvass": json.dumps(entry, sort_keys=True)})

    def _encoding(self, schema: pa.Schema) -> dict[str, Any]:
        """Return how columns are written: reports do not compress, ids may.

        Small numbers are packed into bits by a dictionary: by themselves, each would take four bytes.
        """
        packed = (pa.types.is_dictionary, pa.types.is_integer)
        reports = [one for one in schema if self.ids is None or one.name != self.ids.name]
        options: dict[str, Any] = {
            "use_dictionary": [one.name for one in reports if any(kind(one.type) for kind in packed)],
            "compression": {one.name: "none" for one in schema},
            "write_statistics": False,
        }
        if self.ids is not None:
            options["write_statistics"] = [self.ids.name]
            if self.ids.kind == "text":
                options["compression"][self.ids.name] = "snappy"
            else:
                options["column_encoding"] = {self.ids.name: "DELTA_BINARY_PACKED"}
        return options

    def _table(
        self, blocks: list[tuple[list[Reports], pa.Array | None]], labels: list[Labels], schema: pa.Schema
    ) -> pa.Table:
        """Return blocks as one table."""
        columns: list[pa.Array] = []
        for place, (_, mechanism) in enumerate(self.asks):
            column = _column(mechanism, [reports[place] for reports, _ in blocks], labels[place])
            columns += column.flatten() if pa.types.is_struct(column.type) else [column]
        if self.ids is not None:
            ids = [self.ids.plain(block) for _, block in blocks]
            columns.insert(0, pa.chunked_array(ids, type=self.ids.arrow_type))
        return pa.Table.from_arrays(columns, schema=schema)


@dataclass(frozen=True)
class WriteTable(Generic[U]):
    """Writes a unit's table as one part of a data set, whole or not at all, with a note of it beside.

    Parameters
    ----------
    folder : Store
    table_of : callable
        Makes the table, the same each time.
    """

    folder: Store
    table_of: Callable[[U], pa.Table]

    def __call__(self, numbered: tuple[int, U]) -> Partial:
        """Write the table of a unit under its number."""
        number, unit = numbered
        name, table = f"part-{number:05d}.parquet", self.table_of(unit)
        with self.folder.replacing(name, durable=False) as file:
            hashing = _HashingFile(file)
            pq.write_table(table, hashing, compression="zstd")
        partial = Partial((), table.num_rows, files={name: hashing.written()})
        self.folder.write(f"{name}.json", _partial_to_json(partial).encode(), durable=False)
        return partial


def _column(mechanism: Mechanism, blocks: Sequence[Any], labels: Labels) -> pa.Array | pa.ChunkedArray:
    """Return blocks of reports as one column: arrays at once, whatever else reports are block by block."""
    if all(isinstance(reports, np.ndarray) for reports in blocks):
        return mechanism.to_arrow(np.concatenate(blocks), labels)
    return pa.chunked_array([mechanism.to_arrow(reports, labels) for reports in blocks])


class _RowGroups:
    """Gathers blocks until they make a row group."""

    def __init__(self, write: Callable[[list[tuple[list[Reports], pa.Array | None]]], None]) -> None:
        self._write = write
        self._blocks: list[tuple[list[Reports], pa.Array | None]] = []
        self._rows = 0

    def add(self, reports: list[Reports], ids: pa.Array | None) -> None:
        """Take one block."""
        self._blocks.append((reports, ids))
        self._rows += len(reports[0])
        if self._rows >= _ROWS_PER_GROUP:
            self.flush()

    def flush(self) -> None:
        """Write what is there."""
        if self._blocks:
            self._write(self._blocks)
        self._blocks, self._rows = [], 0


class _HashingFile(io.RawIOBase):
    """Hashes what is written through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._sha256, self._size = file, hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, data: Any) -> int:
        self._sha256.update(data)
        self._size += len(data)
        self._file.write(data)
        return len(data)

    def close(self) -> None:
        """Leave the file below open: it is put in place by its owner."""

    def written(self) -> WrittenFile:
        return WrittenFile(self._size, self._sha256.hexdigest())


def hash_file(file: IO[bytes]) -> WrittenFile:
    """Return what a file is: bytes and SHA-256."""
    digest, size = hashlib.sha256(), 0
    while data := file.read(_HASHED_BYTES):
        digest.update(data)
        size += len(data)
    return WrittenFile(size, digest.hexdigest())


def noted_files(note: bytes) -> dict[str, WrittenFile]:
    """Return the files that a note beside staged reports tells of."""
    partial = _partial_from_json(note)
    return partial.files if partial else {}


def _partial_to_json(partial: Partial, tallies: tuple[str, ...] = ()) -> str:
    return json.dumps(
        {
            "tallies": tallies,
            "counts": [sum_to_json(counts) for counts in partial.counts],
            "rows": partial.rows,
            "files": {name: asdict(written) for name, written in partial.files.items()},
        },
        sort_keys=True,
    )


def _partial_from_json(text: bytes) -> Partial | None:
    """Return what was noted; None where the note is torn, as after a power failure: the part is asked again."""
    try:
        found = json.loads(text)
        counts = tuple(sum_from_json(one) for one in found["counts"])
        files = {name: WrittenFile(**written) for name, written in found["files"].items()}
        return Partial(counts, found["rows"], files=files)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
