"""Tasks: what is to be done, and how much of each skill it takes.

A task is an id, a payload that the project never looks into, and a box: for each dimension of the tree, from how much
of the skill to how much, both included. It is for every worker whose skills lie in its box, so a leaf's workers
may be offered it where the leaf's box and its own share a point.

Tasks are the platform's own and no secret to it. What is wrong with them is still named by column and count alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jobs.population import Data
from udfs.asking import Fault
from udfs.categories import MISSING
from udfs.errors import SchemaError
from udfs.identity import IdColumn, id_kind
from udfs.items import TASK_BYTES, Task
from udfs.skills import SkillsQuestion

NULL, REPEATED, ABOVE = "missing values", "repeated ids", "lower bounds above the upper ones"

Bounds: TypeAlias = npt.NDArray[np.float64]

_MOST_NAMED = 10
_KINDS_OF_BYTES = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
)


@dataclass(frozen=True, eq=False)
class Tasks:
    """Tasks that were read.

    Attributes
    ----------
    ids : pyarrow.Array
        int64, uint64 or text; all different.
    payloads : pyarrow.LargeBinaryArray
    low, high : ndarray of float64, shape (tasks, dimensions)
        The ends of the boxes, both included.
    """

    ids: pa.Array
    payloads: pa.Array
    low: Bounds
    high: Bounds

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self.ids)

    @property
    def payload_bytes(self) -> npt.NDArray[np.int64]:
        """The bytes of each payload: int64, shape (tasks,)."""
        return _lengths(self.payloads)

    @property
    def item_bytes(self) -> npt.NDArray[np.int64]:
        """The bytes that each task takes in an item: int64, shape (tasks,)."""
        return self.payload_bytes + _lengths(self.ids.cast(pa.large_string())) + TASK_BYTES

    def at(self, places: Sequence[int]) -> list[Task]:
        """Return some of the tasks, as items hold them."""
        some = pa.array(places, pa.int64())
        return list(zip(self.ids.take(some).to_pylist(), self.payloads.take(some).to_pylist(), strict=True))


def _lengths(texts: pa.Array) -> npt.NDArray[np.int64]:
    lengths: npt.NDArray[np.int64] = pc.binary_length(texts).to_numpy(zero_copy_only=False)
    return lengths.astype(np.int64, copy=False)


@dataclass(frozen=True)
class TaskColumns:
    """Where a table of tasks has what.

    Parameters
    ----------
    id : str
        The column of ids, integers or text.
    payload : str
        The column of payloads, binary or text.
    dimensions : tuple of str
        Those of the tree. Bounds lie in columns `<dimension>_low` and `<dimension>_high`; one that is missing is the
        domain's end.
    domain : tuple of float
        The least and the greatest that bounds can be.

    Examples
    --------
    >>> columns = TaskColumns("task", "payload", ("python",), (0.0, 1.0))
    >>> rows = {"task": [7, 8], "payload": [b"a", b"bc"], "python_low": [0.5, None], "python_high": [0.75, 0.2]}
    >>> tasks = columns.read([("part-0", pa.record_batch(rows))])
    >>> tasks.low.tolist(), tasks.high.tolist(), tasks.at([1])
    ([[0.5], [0.0]], [[0.75], [0.2]], [(8, b'bc')])
    """

    id: str
    payload: str
    dimensions: tuple[str, ...]
    domain: tuple[float, float]

    @property
    def bounds(self) -> SkillsQuestion:
        """How bounds are read: as skills are, so that one written like a skill equals it. All lower ones come first."""
        ends = ("low", "high")
        return SkillsQuestion(tuple(f"{name}_{end}" for end in ends for name in self.dimensions), self.domain)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (self.id, self.payload, *self.bounds.columns)

    def check_types(self, data: Data) -> None:
        """Refuse files whose columns cannot hold tasks, by their footers.

        Raises
        ------
        SchemaError
            Names the file, the column and its type.
        """
        for file, arrow_type in data.columns(self.id):
            if id_kind([arrow_type]) is None:
                raise _unfit(file, self.id, "integers or text", arrow_type)
        for file, arrow_type in data.columns(self.payload):
            if not _holds_bytes(arrow_type):
                raise _unfit(file, self.payload, "binary values or text", arrow_type)
        for part in self.bounds.parts:
            for file, arrow_type in data.columns(part.column):
                part.check_type(arrow_type, file)

    def read(self, blocks: Iterable[tuple[str, pa.RecordBatch]]) -> Tasks:
        """Return all tasks, in the order in which they lie.

        Parameters
        ----------
        blocks : iterable of (str, pyarrow.RecordBatch)
            Each with the path of its file; their types were checked.

        Raises
        ------
        SchemaError
            Where ids or payloads are missing, ids repeat, bounds are no numbers or lie outside the domain, or
            lower ones lie above upper ones. Names columns and counts, and files but for repeats.
        """
        ids, payloads, bounds = [], [], [np.empty((0, 2 * len(self.dimensions)))]
        faults = Counter[Fault]()
        for file, block in blocks:
            ids.append(block.column(self.id))
            payloads.append(_plain(block.column(self.payload)).cast(pa.large_binary()))
            reading = self.bounds.read(block)
            bounds.append(reading.codes)
            found = Counter(reading.faults)
            for name, column in ((self.id, ids[-1]), (self.payload, payloads[-1])):
                found[name, NULL] = column.null_count
            for name, low, high in zip(self.dimensions, *self._ends(reading.codes), strict=True):
                found[f"{name}_low", ABOVE] = int((low > high).sum())
            faults += Counter({(file, *fault): rows for fault, rows in found.items() if fault[1] != MISSING})
        named = self._one_type(ids)
        repeated = len(named) - named.null_count - pc.count_distinct(named).as_py()
        faults += Counter({("all files", self.id, REPEATED): repeated})
        if faults:
            raise _refusal(faults)
        low, high = self._ends(np.concatenate(bounds))
        return Tasks(named, pa.concat_arrays(payloads or [pa.array([], pa.large_binary())]), low.T, high.T)

    def _one_type(self, ids: Sequence[pa.Array]) -> pa.Array:
        """Return the ids of all blocks, in the one type that holds them."""
        column = IdColumn(self.id, id_kind(one.type for one in ids) or "text")
        return pa.concat_arrays([column.plain(one) for one in ids] or [pa.array([], column.arrow_type)])

    def _ends(self, bounds: Bounds) -> tuple[Bounds, Bounds]:
        """Return lower and upper bounds, both of shape (dimensions, tasks); those missing are the domain's ends."""
        low, high = bounds.T.reshape(2, len(self.dimensions), -1)
        least, most = self.domain
        return np.where(np.isnan(low), least, low), np.where(np.isnan(high), most, high)


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _holds_bytes(arrow_type: pa.DataType) -> bool:
    if pa.types.is_dictionary(arrow_type):
        return _holds_bytes(arrow_type.value_type)
    return any(is_kind(arrow_type) for is_kind in _KINDS_OF_BYTES)


def _unfit(file: str, name: str, must: str, arrow_type: pa.DataType) -> SchemaError:
    remedy = "correct what the spec says of tasks, or the column"
    return SchemaError(f"{file}, column {name!r}", f"must hold {must}", f"type {arrow_type}", remedy)


def _refusal(faults: Mapping[Fault, int]) -> SchemaError:
    """Name what is wrong with tasks by file, column and count."""
    named = [
        f"{rows} {what} in column {name!r} of {file}" for (file, name, what), rows in sorted(faults.items())
    ]
    rest = f"; and {len(named) - _MOST_NAMED} more of the kind" if len(named) > _MOST_NAMED else ""
    must = "every task needs an id of its own, a payload, and bounds within the domain, the lower below the upper"
    return SchemaError("tasks", must, "; ".join(named[:_MOST_NAMED]) + rest, "mend the tasks")
