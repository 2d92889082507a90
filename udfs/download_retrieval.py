"""Retrieval by downloading the whole library: perfectly private, and cheapest of a small one.

Every worker gets the same bytes, all of them, and picks its item out by itself: the platform sees nothing, whatever it
can compute. The library is the hint; queries and answers are empty.

References
----------
Chor, Kushilevitz, Goldreich, Sudan: Private information retrieval (1998): with one server and no assumption there is
nothing better than this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from udfs.draws import Draws
from udfs.errors import ProtocolError
from udfs.laid_out import LaidOut
from udfs.retrieval import (
    Cost,
    Hint,
    Query,
    Rows,
    check_items,
    check_size,
    checked_places,
    whole_download,
)


@dataclass(frozen=True)
class DownloadShape:
    """A library as it is.

    Parameters
    ----------
    items, item_bytes : int

    Raises
    ------
    SpecError
    """

    items: int
    item_bytes: int

    def __post_init__(self) -> None:
        """Check the size."""
        check_size(self.items, self.item_bytes)

    @property
    def cost(self) -> Cost:
        """What it costs: everything, once."""
        return whole_download(self.items, self.item_bytes)

    def __str__(self) -> str:
        """Return the sizes in words."""
        return f"{self.items} items of {self.item_bytes} bytes"


@dataclass(frozen=True)
class DownloadRetrieval(LaidOut[DownloadShape]):
    """The whole download as a `udfs.retrieval.Retrieval`.

    Privacy: perfect. Cost: all of the library to every worker, once, whatever the number of gets.

    Parameters
    ----------
    shape : DownloadShape
    version : str
        The library's, from `version_of`.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> items, shape = [b"plough", b"reap  "], DownloadShape(2, 6)
    >>> download = DownloadRetrieval.of(shape, items)
    >>> library = download.library(items)
    >>> hint = Hint(download.version, download.hint(library, 0))
    >>> query = download.query(np.array([1]), fresh_draws(1))
    >>> [bytes(item) for item in download.decode(query.kept, download.answer(library, 0, query.sent), hint)]
    [b'reap  ']
    """

    name = "download"
    failure = Fraction(0)

    def library(self, items: Sequence[bytes]) -> Rows:
        """Return the items, one a row: uint8, shape (items, item_bytes). Platform."""
        check_items(items, self.items, self.item_bytes)
        return np.frombuffer(b"".join(items), dtype=np.uint8).reshape(self.items, self.item_bytes)

    def hint(self, rows: Rows, first: int) -> Rows:
        """Return the items themselves. Platform."""
        return rows

    def query(self, places: npt.NDArray[np.integer], draws: Draws) -> Query:
        """Ask for nothing: `sent` is uint8, shape (workers, 0). Workers. Nothing is drawn."""
        return Query(np.zeros((len(places), 0), dtype=np.uint8), self.keep(places, draws))

    def keep(self, places: npt.NDArray[np.integer], draws: Draws) -> npt.NDArray[np.int64]:
        """Return the places: int64, shape (workers,). Workers."""
        return checked_places(places, self.items)

    def answer(self, rows: Rows, first: int, sent: Rows) -> Rows:
        """Answer nothing: uint8, shape (workers, 0). Platform."""
        return np.zeros((len(sent), 0), dtype=np.uint8)

    def combine(self, parts: Sequence[Rows]) -> Rows:
        """Put nothing together."""
        return parts[0]

    def decode(self, kept: npt.NDArray[np.int64], answers: Rows, hint: Hint) -> npt.NDArray[np.uint8]:
        """Pick each worker's item: uint8, shape (workers, item_bytes). Workers.

        Raises
        ------
        ProtocolError
            Where the hint belongs to another library, or is not all of it.
        """
        hint.check(self.version)
        if hint.rows.shape != (self.items, self.item_bytes) or len(answers) != len(kept):
            raise ProtocolError(
                "download",
                f"must be {self.items} items of {self.item_bytes} bytes, and an answer for each of {len(kept)} queries",
                f"{hint.rows.shape}, and {len(answers)}",
                "download all blocks of the library, in their order",
            )
        items: npt.NDArray[np.uint8] = hint.rows[kept]
        return items
