"""The work units, cut from the population's files once, when a job starts.

A work unit is a row group of a file, or a part of one where rows take long. Units are grouped into parts, a part is a task, and what a part holds
depends on the data alone: not on how many processes there are, nor on which columns are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

BLOCK_ROWS = 1 << 16
"""Rows that are read, randomized and written at a time. Draws of rows without an id depend on it."""

PART_ROWS = 1 << 21
"""Rows of a task, at least, or values of lists: it should take a tenth of a second or more."""


@dataclass(frozen=True)
class DataFile:
    """One Parquet file as it was when the job started.

    Attributes
    ----------
    url : str
        Where it is; absolute.
    size : int
        In bytes.
    version : str
        The modification time in nanoseconds, or what the object store tells versions apart by.
    footer : str
        SHA-256 of the Parquet footer.
    """

    url: str
    size: int
    version: str
    footer: str


@dataclass(frozen=True)
class Unit:
    """One row group of one file, or some consecutive rows of it: the smallest piece of work.

    Attributes
    ----------
    file : int
        The file's place in the data set.
    row_group : int
    rows : int
    id_span : tuple of int, optional
        The least and greatest integer id, as the file's footer says.
    first_row : int
        The number of its first row in the whole population.
    values : int
        The most values of any column: more than rows where lists stand in one.
    offset : int
        The place of its first row in the row group.
    """

    file: int
    row_group: int
    rows: int
    id_span: tuple[int, int] | None = None
    first_row: int = 0
    values: int = 0
    offset: int = 0

    @property
    def blocks(self) -> int:
        """How many blocks it is read in."""
        return -(-self.rows // BLOCK_ROWS)

    @property
    def name(self) -> str:
        """The unit's name in manifests."""
        return f"{self.file}/{self.row_group}" + (f"+{self.offset}" if self.offset else "")

    def cut(self, rows: int) -> Iterator[Unit]:
        """Yield its rows as units of at most so many."""
        for start in range(0, self.rows, rows):
            length = min(rows, self.rows - start)
            yield replace(
                self,
                rows=length,
                first_row=self.first_row + start,
                values=-(-self.values * length // self.rows),
                offset=self.offset + start,
            )


@dataclass(frozen=True)
class Part:
    """Some consecutive units and their files: one task.

    Attributes
    ----------
    index : int
        The part's place in the manifest.
    units : tuple of Unit
    files : dict of int to DataFile
        The units' files, by their place in the data set.
    """

    index: int
    units: tuple[Unit, ...]
    files: dict[int, DataFile]

    @property
    def rows(self) -> int:
        """The rows of all its units."""
        return sum(unit.rows for unit in self.units)

    @property
    def first_row(self) -> int:
        """The number of its first row in the whole population."""
        return self.units[0].first_row

    @property
    def name(self) -> str:
        """The name of the part's file of reports."""
        return f"part-{self.index:05d}.parquet"


def group_units(
    units: Sequence[Unit], files: Sequence[DataFile], rows_per_part: int = PART_ROWS
) -> tuple[Part, ...]:
    """Group the units, in order, into parts of at least so many rows, or values (the last may have fewer)."""
    groups: list[list[Unit]] = []
    filled = rows_per_part
    for unit in units:
        if filled >= rows_per_part:
            groups.append([])
            filled = 0
        groups[-1].append(unit)
        filled += max(unit.rows, unit.values)
    return tuple(
        Part(index, tuple(group), {unit.file: files[unit.file] for unit in group})
        for index, group in enumerate(groups)
    )
