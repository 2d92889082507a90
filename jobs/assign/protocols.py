"""Which protocol workers fetch by, what each would cost, and how sure its privacy is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jobs.assign.library import Library
from jobs.assign.spec import RetrievalTable
from udfs.download_retrieval import DownloadRetrieval, DownloadShape
from udfs.lattice_retrieval import LatticeRetrieval
from udfs.lattice_shape import Shape, choose_shape
from udfs.paillier_retrieval import PaillierRetrieval
from udfs.paillier_shape import PaillierShape
from udfs.retrieval import Cost, Retrieval

Protocol: TypeAlias = Literal["lattice", "paillier", "download"]

LATTICE_PRODUCTS_PER_SECOND = 1.7e10
"""Of batches, on a core of the machine that the benchmarks were run on."""
PAILLIER_PRODUCTS_PER_SECOND = 2.3e5
"""Modulo n^2 for |n| = 2048, on the same core; for other lengths as the square of them."""

SECURITY = {
    "lattice": "learning with errors, dimension 1024 modulo 2^32 (SimplePIR's parameters): about 2^126 operations by the"
    " usual estimate of the primal attack",
    "paillier": "deciding composite residuosity modulo each worker's own number: about 2^112 operations for 2048 bits",
    "download": "perfect: everybody downloads everything, whatever the platform can compute",
}


@dataclass(frozen=True)
class Option:
    """A protocol and its layout of a library.

    Attributes
    ----------
    protocol : str
    shape : Shape, PaillierShape or DownloadShape
    gets : int
    """

    protocol: Protocol
    shape: Shape | PaillierShape | DownloadShape
    gets: int

    @property
    def cost(self) -> Cost:
        """What it costs."""
        return self.shape.cost

    @property
    def bytes_per_worker(self) -> int:
        """All that a worker sends and receives."""
        return self.cost.bytes_per_worker(self.gets)

    @property
    def server_seconds(self) -> float:
        """What a get costs the platform, in seconds of one core, by the speed of its products."""
        if isinstance(self.shape, PaillierShape):
            return self.cost.products / PAILLIER_PRODUCTS_PER_SECOND * (self.shape.bits / 2048) ** 2
        return self.cost.products / LATTICE_PRODUCTS_PER_SECOND

    def retrieval(self, items: Sequence[bytes]) -> Retrieval:
        """Return the protocol for a library of these items."""
        if isinstance(self.shape, Shape):
            return LatticeRetrieval.of(self.shape, items)
        if isinstance(self.shape, PaillierShape):
            return PaillierRetrieval.of(self.shape, items)
        return DownloadRetrieval.of(self.shape, items)


@dataclass(frozen=True)
class Choice:
    """All protocols, and the one that is taken.

    Attributes
    ----------
    options : tuple of Option
        Lattice, Paillier, download.
    taken : Option
    limit : float
        What a get may cost the platform where the protocol is chosen here.
    """

    options: tuple[Option, ...]
    taken: Option
    limit: float

    def affordable(self, option: Option) -> bool:
        """Tell whether an option costs the platform no more than it may."""
        return option.server_seconds <= self.limit


def choose(table: RetrievalTable, library: Library, workers: int) -> Choice:
    """Return the protocol of the spec, or the one with the fewest bytes a worker of those that can be afforded.

    All are private. The whole download costs the platform no computation, so that one is always left.

    Raises
    ------
    SpecError
        Where no layout decodes surely enough.
    """
    items, item_bytes, gets, workers = len(library), library.item_bytes, table.gets, max(1, workers)
    shape = choose_shape(items, item_bytes, gets, workers, _most_spread(table, items, item_bytes))
    options = (
        Option("lattice", shape, gets),
        Option("paillier", PaillierShape(items, item_bytes, table.bits), gets),
        Option("download", DownloadShape(items, item_bytes), gets),
    )
    limit = table.server_seconds
    allowed = [
        one
        for one in options
        if one.protocol == table.protocol or (table.protocol == "auto" and one.server_seconds <= limit)
    ]
    return Choice(options, min(allowed, key=lambda one: (one.bytes_per_worker, one.server_seconds)), limit)


def _most_spread(table: RetrievalTable, items: int, item_bytes: int) -> int | None:
    """Return in how many columns an item may lie, for the platform's work to be affordable: it grows with them."""
    if table.protocol == "lattice":
        return None
    products = choose_shape(items, item_bytes, most_spread=1).cost.products
    return max(1, int(table.server_seconds * LATTICE_PRODUCTS_PER_SECOND // products))
