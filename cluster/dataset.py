"""The population's files, found and known by their footers: no row is read."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from cluster.manifest import PART_ROWS, DataFile, Part, Unit, group_units
from cluster.scrutiny import read_part
from cluster.storage import filesystem, size_and_version
from udfs.errors import SchemaError, SpecError

_SUFFIXES = (".parquet", ".parq", ".pq")
_FOOTER_READERS = 16


@dataclass(frozen=True)
class Dataset:
    """All files of a population.

    Attributes
    ----------
    files : tuple of DataFile
        In the order of their paths.
    schemas : tuple of pyarrow.Schema
        Each file's.
    metadata : tuple of dict
        The `canvass` entry of each file's footer, where there is one.
    units : tuple of Unit
        All row groups that hold rows, or parts of them.
    column_bytes : dict of str to int
        The bytes of each top-level column as they are stored.
    nulls : dict of (int, str) to int
        By file and column, how many values are null, where a footer says that some are.
    root : str
        The file, folder or glob that was searched; absolute.
    task_rows : int
        Rows of a task, at least.
    """

    files: tuple[DataFile, ...]
    schemas: tuple[pa.Schema, ...]
    metadata: tuple[dict[str, Any], ...]
    units: tuple[Unit, ...]
    column_bytes: dict[str, int]
    nulls: dict[tuple[int, str], int]
    root: str
    task_rows: int = PART_ROWS

    @property
    def rows(self) -> int:
        """All rows."""
        return sum(unit.rows for unit in self.units)

    @property
    def snapshot(self) -> str:
        """A digest of what all files are: path, size, version and footer."""
        return hashlib.sha256(json.dumps([asdict(file) for file in self.files]).encode()).hexdigest()

    @property
    def blocks(self) -> int:
        """How many blocks all rows are read in."""
        return sum(unit.blocks for unit in self.units)

    def tasks(self) -> int:
        """Return how many tasks one question takes."""
        return len(self.parts())

    def parts(self) -> tuple[Part, ...]:
        """Return the tasks: consecutive units of at least so many rows."""
        return group_units(self.units, self.files, self.task_rows)

    def would_read(self, url: str) -> bool:
        """Tell whether files put at a place would belong to the population, or its files lie there."""
        url = _without_links(url)
        folder = (
            self.root if not _is_glob(self.root) else self.root.split("**")[0] if "**" in self.root else ""
        )
        inside = bool(folder) and f"{url}/".startswith(folder.rstrip("/") + "/")
        return inside or any(
            _without_links(file.url).startswith(f"{url.rstrip('/')}/") for file in self.files
        )

    def beside(self, path: str, where: str) -> Dataset:
        """Find another data set's files and read their footers; `where` names it in errors."""
        return open_dataset(path, where=where)

    def read(self, columns: list[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yield all rows, a block at a time and in this process, each with the path of its file.

        Raises
        ------
        SchemaError
            Where a file changes meanwhile.
        """
        for part in self.parts():
            for unit, blocks in read_part(part, columns):
                for block in blocks:
                    yield part.files[unit.file].url, block

    def known_nulls(self, name: str) -> Iterator[tuple[str, int]]:
        """Yield the paths of files whose footers say that a column has nulls, and how many."""
        for place, file in enumerate(self.files):
            if count := self.nulls.get((place, name)):
                yield file.url, count

    def columns(self, name: str) -> Iterator[tuple[str, pa.DataType]]:
        """Yield each file's path and the type of one of its columns.

        Raises
        ------
        SchemaError
            Where a file has no such column, or more than one.
        """
        for file, schema in zip(self.files, self.schemas, strict=True):
            places = schema.get_all_field_indices(name)
            if len(places) != 1:
                found = (
                    "columns " + ", ".join(schema.names[:20]) if not places else f"{len(places)} of that name"
                )
                raise SchemaError(
                    file.url, f"must have one column {name!r}", found, "name the column as it is"
                )
            yield file.url, schema.field(places[0]).type


def open_dataset(
    path: str,
    id_column: str | None = None,
    task_rows: int = PART_ROWS,
    unit_rows: int | None = None,
    where: str = "population.path",
) -> Dataset:
    """Find a population's files and read their footers; no row is read.

    Parameters
    ----------
    path : str
        A Parquet file, a directory (searched to its depths) or a glob, local or behind an fsspec URL.
    id_column : str, optional
        The column whose least and greatest values are noted from the footers.
    task_rows : int
        Rows of a task, at least; fewer where a row takes long.
    unit_rows : int, optional
        Rows of a work unit, at most: larger row groups are cut, where reading them again takes less than their rows do.
    where : str
        The spec's key that names the path, for errors.

    Raises
    ------
    SpecError
        Where there is no Parquet file.
    SchemaError
        Where a file is no Parquet file.
    """
    fs, root = filesystem(path, where)
    if isinstance(fs, LocalFileSystem) and not _is_glob(root):
        root = os.path.realpath(root)
    paths = _find(fs, root)
    if not paths:
        raise SpecError(where, "must name a Parquet file, or a folder or glob of them", path)
    with ThreadPoolExecutor(min(_FOOTER_READERS, len(paths))) as pool:
        footers = list(pool.map(lambda one: _read_footer(fs, one), paths))
    units: list[Unit] = []
    column_bytes: Counter[str] = Counter()
    nulls: Counter[tuple[int, str]] = Counter()
    entries = tuple(_canvass_entry(metadata) for _, metadata, _ in footers)
    number_of_row = 0
    for place, (_, metadata, schema) in enumerate(footers):
        top_level = set(schema.names)
        number_of_row = _first_row(entries[place], number_of_row)
        for number in range(metadata.num_row_groups):
            group, span, values = metadata.row_group(number), None, 0
            for column in (group.column(index) for index in range(group.num_columns)):
                name = column.path_in_schema
                column_bytes[name if name in top_level else name.split(".")[0]] += (
                    column.total_compressed_size
                )
                values = max(values, column.num_values)
                statistics = column.statistics
                if statistics is not None and statistics.has_null_count and statistics.null_count:
                    nulls[place, name] += statistics.null_count
                if statistics is not None and name == id_column:
                    span = _integer_span(statistics)
            if group.num_rows:
                whole = Unit(place, number, group.num_rows, span, number_of_row, values)
                units += whole.cut(unit_rows or whole.rows)
            number_of_row += group.num_rows
    return Dataset(
        files=tuple(file for file, _, _ in footers),
        schemas=tuple(schema for _, _, schema in footers),
        metadata=entries,
        units=tuple(units),
        column_bytes=dict(column_bytes),
        nulls=dict(nulls),
        root=_url(fs, root),
        task_rows=task_rows,
    )


def _url(fs: Any, path: str) -> str:
    return path if isinstance(fs, LocalFileSystem) else str(fs.unstrip_protocol(path))


def _without_links(url: str) -> str:
    return url if "://" in url else os.path.realpath(url)


def _is_glob(path: str) -> bool:
    return any(sign in path for sign in "*?[")


def _find(fs: Any, root: str) -> list[str]:
    """Return the paths of all Parquet files, sorted; hidden files and folders are passed over."""
    if _is_glob(root):
        start = re.split(r"[*?\[]", root, maxsplit=1)[0].rpartition("/")[0]
        return sorted(one for one in fs.glob(root) if not fs.isdir(one) and not _hidden(one, start))
    if fs.isfile(root):
        return [root]
    if not fs.isdir(root):
        return []
    root = root.rstrip("/")
    return sorted(one for one in fs.find(root) if one.endswith(_SUFFIXES) and not _hidden(one, root))


def _hidden(path: str, folder: str) -> bool:
    """Tell whether a file is hidden, or lies in a hidden folder below this one."""
    return any(step.startswith((".", "_")) for step in path[len(folder) + 1 :].split("/"))


def _read_footer(fs: Any, path: str) -> tuple[DataFile, pq.FileMetaData, pa.Schema]:
    """Read one file's footer."""
    url = _url(fs, path)
    try:
        size, version = size_and_version(fs, path)
        with fs.open(path, "rb") as source:
            source.seek(max(0, size - 8))
            length = int.from_bytes(source.read(8)[:4], "little")
            source.seek(max(0, size - 8 - length))
            footer = hashlib.sha256(source.read()).hexdigest()
            source.seek(0)
            reader = pq.ParquetFile(source)
            return DataFile(url, size, version, footer), reader.metadata, reader.schema_arrow
    except (pa.ArrowException, OSError) as error:
        raise SchemaError(url, "must be a readable Parquet file", type(error).__name__) from None


def _integer_span(statistics: pq.Statistics) -> tuple[int, int] | None:
    """Return the least and greatest value of a row group's column of integers, where they are known."""
    stored, meant = statistics.physical_type, statistics.logical_type.type
    if not statistics.has_min_max or stored not in ("INT32", "INT64") or meant not in ("INT", "NONE"):
        return None
    return statistics.min, statistics.max


def _first_row(entry: dict[str, Any], otherwise: int) -> int:
    """Return the number that a file's first row had when its reports were drawn, or else has here."""
    found = entry.get("first_row")
    return found if isinstance(found, int) and 0 <= found < 1 << 63 else otherwise


def _canvass_entry(metadata: pq.FileMetaData) -> dict[str, Any]:
    """Return what a report file's footer says of its reports; nothing for other files."""
    entry = (metadata.metadata or {}).get(b"canvass")
    if entry is None:
        return {}
    try:
        found = json.loads(entry)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
