"""The question of a graph: which nodes does this link join?

Links stand in a table of two columns, the ids of their ends. Which nodes there are is public; which of them are linked is
the answer. Ends are read as the nodes' numbers in the order of their ids, so that it does not matter how either table is
cut or ordered, nor which end of a link comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from udfs.categories import MISSING, Reading
from udfs.draws import Draws
from udfs.errors import SchemaError
from udfs.identity import IdColumn, id_kind
from udfs.loads import Load
from udfs.randomizer import Codes

UNKNOWN, SELF_LOOPS = "ends that are no nodes", "links of a node with itself"

SelfLoops = Literal["refuse", "drop"]


@dataclass(frozen=True)
class EndColumn:
    """A column that holds an end of each link.

    Parameters
    ----------
    column : str
    nodes : IdColumn
        How the nodes' ids are read.
    """

    column: str
    nodes: IdColumn
    missing: ClassVar[str] = "none"

    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that holds no ids of the nodes' kind.

        Raises
        ------
        SchemaError
            Names `where`, the column and its type.
        """
        kind = id_kind([arrow_type])
        if kind is None or (
            self.nodes.kind != "text" and kind == "text" and not pa.types.is_null(arrow_type)
        ):
            raise SchemaError(
                f"{where}, column {self.column!r}",
                f"must hold ids of nodes, as column {self.nodes.name!r} does ({self.nodes.kind})",
                f"type {arrow_type}",
                "correct the source and target, or the column",
            )


@dataclass(frozen=True)
class LinkQuestion:
    """Which nodes does this link join?

    Parameters
    ----------
    source, target : str
        The columns of ends.
    nodes : IdColumn
        How the nodes' ids are read.
    ids : Load
        Of the ids of all nodes in order, as `ids_to_bytes` puts them.
    digest : str
        Of the ids.
    self_loops : {"refuse", "drop"}
        A link of a node with itself.

    Examples
    --------
    >>> ids = pa.array(["ada", "bo", "cy"])
    >>> question = LinkQuestion("from", "to", IdColumn("name", "text"), lambda: ids_to_bytes(ids), "3 names")
    >>> question.read(pa.record_batch({"from": ["cy", "ada"], "to": ["ada", "bo"]})).codes
    array([[0, 2],
           [0, 1]])
    >>> question.read(pa.record_batch({"from": ["cy", "ada"], "to": ["di", "ada"]})).faults
    {('to', 'ends that are no nodes'): 1, ('to', 'links of a node with itself'): 1}
    """

    source: str
    target: str
    nodes: IdColumn
    ids: Load
    digest: str
    self_loops: SelfLoops = "refuse"
    name: ClassVar[str] = "links"
    labels: ClassVar[tuple[()]] = ()
    imputes: ClassVar[bool] = False

    @property
    def parts(self) -> tuple[EndColumn, EndColumn]:
        """The columns that hold the ends."""
        return EndColumn(self.source, self.nodes), EndColumn(self.target, self.nodes)

    @property
    def node_ids(self) -> pa.Array:
        """The ids of all nodes, in order."""
        return _ids_of(self.ids)

    @property
    def label(self) -> str:
        """The question and all that bears on its answers: part of the keys of its draws."""
        return f"links {self.source!r} {self.target!r} of nodes {self.digest} self-loops={self.self_loops}"

    def read(self, block: pa.RecordBatch) -> Reading:
        """Return the ends of a block's links as numbers of nodes, and how many cannot be asked.

        Parameters
        ----------
        block : pyarrow.RecordBatch
            With both columns, whose types were checked.

        Returns
        -------
        Reading
            Its codes are int64, shape (rows, 2), the lower number first; both are the same where a node is linked with
            itself and that is to be dropped.
        """
        ids = self.node_ids
        ends = np.empty((block.num_rows, 2), dtype=np.int64)
        faults: dict[tuple[str, str], int] = {}
        for place, name in enumerate((self.source, self.target)):
            column = block.column(name)
            found = pc.index_in(_ids_that_fit(column, self.nodes), value_set=ids)
            unknown = found.null_count - column.null_count
            faults |= {(name, MISSING): column.null_count} if column.null_count else {}
            faults |= {(name, UNKNOWN): unknown} if unknown else {}
            ends[:, place] = found.fill_null(-1 - place).to_numpy()
        loops = int(np.count_nonzero(ends[:, 0] == ends[:, 1]))
        if loops and self.self_loops == "refuse":
            faults[self.target, SELF_LOOPS] = loops
        return Reading(np.sort(ends, axis=1), faults)

    def impute(self, codes: Codes, draws: Draws) -> Codes:
        """Return the links: none are missing."""
        return codes


def ids_to_bytes(ids: pa.Array) -> npt.NDArray[np.uint8]:
    """Return ids as an array of bytes (an Arrow stream), so that tasks can share them: uint8."""
    sink = pa.BufferOutputStream()
    batch = pa.record_batch([ids], names=["id"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def _ids_that_fit(column: pa.Array, nodes: IdColumn) -> pa.Array:
    """Return ends in the type of the nodes' ids; null where that cannot hold them, as they are then no nodes."""
    values = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if nodes.kind == "integer" and pa.types.is_uint64(values.type):
        values = pc.if_else(pc.less_equal(values, pa.scalar((1 << 63) - 1, pa.uint64())), values, None)
    elif nodes.kind == "unsigned" and pa.types.is_signed_integer(values.type):
        values = pc.if_else(pc.greater_equal(values, pa.scalar(0, values.type)), values, None)
    return nodes.plain(values)


@lru_cache(maxsize=2)
def _ids_of(load: Any) -> pa.Array:
    with pa.ipc.open_stream(pa.py_buffer(load())) as reader:
        return reader.read_all().column("id").combine_chunks()
