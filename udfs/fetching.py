"""Fetching: every worker asks for the items of its leaf, and makes out what comes back.

It is a conversation in two rounds. In the first (`Fetching`) workers' devices make queries, and all that leaves them
is letters: an address and what the platform may see. In the second (`Receiving`) the same devices find the answers
at their addresses and decode them. A device needs what it kept of its query; it draws that again, from the same
keyed words, so nothing secret is stored in between. Both mechanisms therefore have one label, and must be asked in
rounds of one name: other draws would give other queries, whose answers nobody has.

All workers make the same number of gets: how many, and of how many bytes, tells nothing of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.design import Counts
from udfs.draws import Draws, Lane, Some
from udfs.encrypted_sum import Cells
from udfs.errors import ProtocolError
from udfs.items import unpack_item
from udfs.loads import Load, Put
from udfs.retrieval import Hint, Retrieval, Rows
from udfs.streams import Words

Places: TypeAlias = npt.NDArray[np.int64]

_SLICE_BYTES = 1 << 25
"""So many bytes of items are decoded at once, or one worker's."""


@dataclass(frozen=True)
class Letters:
    """What workers send to the platform: adds up by `+`, in the order of workers.

    Attributes
    ----------
    addresses : tuple of ndarray of uint64, shape (workers, 2)
        Where answers are looked for; no secret.
    sent : tuple of Load
        All that the platform sees of them, laid down for it: shape (workers, gets, ...).
    """

    addresses: tuple[Words, ...] = ()
    sent: tuple[Load, ...] = ()

    def __add__(self, other: Letters) -> Letters:
        """Put letters after each other."""
        return Letters(self.addresses + other.addresses, self.sent + other.sent)


@dataclass(frozen=True)
class Fetch:
    """A block of workers about to ask: queries are made when they are wanted, and are the same each time.

    Attributes
    ----------
    retrieval : Retrieval
    places : ndarray of int64, shape (workers, gets)
        The items that they ask for.
    draws : Draws
        One source for the block.
    addresses : ndarray of uint64, shape (workers, 2)
    """

    retrieval: Retrieval
    places: Places
    draws: Draws
    addresses: Words

    def sent(self) -> Rows:
        """Return what the workers send: shape (workers, gets, ...)."""
        gets = self.places.shape[1]
        sent = [
            self.retrieval.query(self.places[:, get], Lane(self.draws, get, gets)).sent for get in range(gets)
        ]
        return np.stack(sent, axis=1)

    def slices(self) -> Iterator[Fetch]:
        """Yield a few workers at a time, so that memory holds few items."""
        some = max(1, _SLICE_BYTES // (self.retrieval.item_bytes * self.places.shape[1]))
        for first in range(0, len(self.places), some):
            rows = np.arange(first, min(first + some, len(self.places)))
            yield Fetch(self.retrieval, self.places[rows], Some(self.draws, rows), self.addresses[rows])

    def decode(self, answers: Rows, hint: Hint) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield what each get in turn brought: uint8, shape (workers, item_bytes).

        Parameters
        ----------
        answers : ndarray, shape (workers, gets, ...)
        hint : Hint
        """
        gets = self.places.shape[1]
        for get in range(gets):
            kept = self.retrieval.keep(self.places[:, get], Lane(self.draws, get, gets))
            yield self.retrieval.decode(kept, answers[:, get], hint)


@dataclass(frozen=True)
class Fetching:
    """The first round: a `udfs.asking.Mechanism` whose sums are letters.

    Runs where the answers are. It sees skills; it gives back letters.

    Privacy: all that leaves is `Letters`; see the protocol for what the platform learns of places, which is nothing but
    for what it can break. Cost: the protocol's query, once a get.

    Parameters
    ----------
    retrieval : Retrieval
    cells : Cells
        Whose first cell is a worker's leaf.
    fetched : tuple of tuple of int
        By leaf, the items that its workers get: all of one length.
    seed : bytes
        The job's 32 bytes for public draws: of these are addresses.
    put : Put
        Lays down what is sent, for the platform.
    """

    retrieval: Retrieval
    cells: Cells
    fetched: tuple[tuple[int, ...], ...]
    seed: bytes
    put: Put
    draws: ClassVar[bool] = True

    @cached_property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        fetched = hashlib.sha256(repr(self.fetched).encode()).hexdigest()
        return f"fetch {self.retrieval.name} {self.retrieval.version} {self.cells.label} items={fetched}"

    def randomize(self, answers: npt.NDArray[Any], draws: Draws) -> Fetch:
        """Turn a block of workers' skills into gets.

        Parameters
        ----------
        answers : ndarray, shape (rows, ...)
            As the cells read them.
        draws : Draws
        """
        places = np.array(self.fetched, dtype=np.int64)[self.cells.cells(answers)[:, 0]]
        public = draws.public(self.seed)
        addresses = np.stack([public.words(0), public.words(1)], axis=1)
        return Fetch(self.retrieval, places, draws, addresses)

    def zeros(self) -> Letters:
        """Return no letters."""
        return Letters()

    def tally(self, reports: Fetch) -> Letters:
        """Return a block's letters."""
        return Letters((reports.addresses,), (self.put(reports.sent()),))

    def thresholds(self) -> dict[str, int]:
        """Return the integers that fix the law: none that a footer could hold."""
        return {}

    def report_type(self, labels: Sequence[Any]) -> pa.DataType:
        """Return the type of a column of letters: bytes."""
        return pa.large_binary()

    def to_arrow(self, reports: Fetch, labels: Sequence[Any]) -> pa.Array:
        """Return what a block sends as a column of bytes, a worker's gets one after the other."""
        return pa.array([one.tobytes() for one in reports.sent()], pa.large_binary())


@dataclass(frozen=True)
class Receipts:
    """A block of workers about to open what came: decoded when it is wanted.

    Attributes
    ----------
    receiving : Receiving
    fetch : Fetch
    """

    receiving: Receiving
    fetch: Fetch

    def __len__(self) -> int:
        """Return the number of workers."""
        return len(self.fetch.places)

    @cached_property
    def received(self) -> tuple[list[tuple[str | int, ...] | None], Places]:
        """The different items that came, as the ids of their tasks, and which each get brought.

        None is one whose checksum is wrong. The places are int64, shape (workers, gets).
        """
        known: dict[bytes, int] = {}
        items: list[tuple[str | int, ...] | None] = []
        brought = np.empty(self.fetch.places.shape, dtype=np.int64)
        first = 0
        for some in self.fetch.slices():
            answers = self.receiving.answers_to(some.addresses)
            for get, column in enumerate(some.decode(answers, self.receiving.hint)):
                for worker, item in enumerate(column):
                    data = item.tobytes()
                    if data not in known:
                        known[data] = len(items)
                        items.append(_task_ids(data))
                    brought[first + worker, get] = known[data]
            first += len(some.places)
        return items, brought


@dataclass(frozen=True)
class Receiving:
    """The second round: a `udfs.asking.Mechanism` that counts what was received, and can write it down for its owners.

    Runs where the answers are. It sees skills and what the platform answered; it gives back counts of workers and gets.
    A get whose checksum is wrong is counted, and is never made again.

    Parameters
    ----------
    fetching : Fetching
        The first round.
    answered : Load
        Of the answers: shape (workers, gets, ...), in the order of their letters.
    addressed : Load
        Of the addresses: uint64, shape (workers, 2).
    hinted : Load
        Of the hint's rows.
    id_type : pyarrow.DataType
        Of the ids of tasks.
    """

    fetching: Fetching
    answered: Load
    addressed: Load
    hinted: Load
    id_type: pa.DataType
    draws: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """The first round's: its words must be drawn again."""
        return self.fetching.label

    @property
    def hint(self) -> Hint:
        """What every worker downloaded once."""
        return Hint(self.fetching.retrieval.version, self.hinted())

    def answers_to(self, addresses: Words) -> Rows:
        """Return the answers at these addresses: shape (workers, gets, ...).

        Raises
        ------
        ProtocolError
            Where the platform has not answered.
        """
        known = np.ascontiguousarray(self.addressed()).view(_ADDRESS)[:, 0]
        wanted = np.ascontiguousarray(addresses).view(_ADDRESS)[:, 0]
        order = np.argsort(known)
        places = (
            order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(order) - 1)]
            if len(order)
            else order
        )
        missing = int(np.count_nonzero(known[places] != wanted)) if len(order) else len(wanted)
        if missing:
            raise ProtocolError("answers", "the platform must answer every letter", f"none to {missing}")
        return np.asarray(self.answered()[places])

    def randomize(self, answers: npt.NDArray[Any], draws: Draws) -> Receipts:
        """Turn a block of workers' skills into what they received."""
        return Receipts(self, self.fetching.randomize(answers, draws))

    def zeros(self) -> Counts:
        """Return the counts of nobody."""
        return np.zeros(3, dtype=np.int64)

    def tally(self, reports: Receipts) -> Counts:
        """Count workers, gets that were decoded, and gets that were not: int64, shape (3,)."""
        items, brought = reports.received
        spoilt = np.array([one is None for one in items], dtype=bool)[brought]
        undecoded = int(np.count_nonzero(spoilt))
        return np.array([len(brought), brought.size - undecoded, undecoded], dtype=np.int64)

    def thresholds(self) -> dict[str, int]:
        """Return the integers that fix the law: none that a footer could hold."""
        return {}

    def report_type(self, labels: Sequence[Any]) -> pa.DataType:
        """Return the type of assignments: `tasks`, lists of their ids, and whether all gets were `decoded`."""
        return pa.struct([pa.field("tasks", pa.list_(self.id_type)), pa.field("decoded", pa.bool_())])

    def to_arrow(self, reports: Receipts, labels: Sequence[Any]) -> pa.Array:
        """Return what each worker received: the ids of tasks in all items that were decoded, each once and in order."""
        items, brought = reports.received
        together, inverse = np.unique(brought, axis=0, return_inverse=True)
        parts = [[items[place] for place in row] for row in together.tolist()]
        lists = [list(dict.fromkeys(name for one in row if one is not None for name in one)) for row in parts]
        whole = [None not in row for row in parts]
        rows = pa.array(inverse.reshape(-1), pa.int64())
        kinds = list(self.report_type(labels))
        columns = [
            pa.array(own, kind.type).take(rows) for own, kind in zip((lists, whole), kinds, strict=True)
        ]
        return pa.StructArray.from_arrays(columns, fields=kinds)


_ADDRESS = np.dtype([("left", np.uint64), ("right", np.uint64)])


def _task_ids(data: bytes) -> tuple[str | int, ...] | None:
    """Return the ids of an item's tasks, or None where it is none."""
    try:
        return tuple(name for name, _ in unpack_item(data, "item"))
    except ProtocolError:
        return None
