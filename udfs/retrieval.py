"""Private information retrieval: a worker gets an item of a library, and the platform does not learn which.

A protocol has two sides. A *worker* asks (`query`) and makes out its item (`decode`); the *platform* has the
library and does the same work whatever is asked (`answer`). All that the platform sees of a worker is
`Query.sent`.

The platform's work is a map over blocks of the library's rows, and a reduction in their order (`combine`):
any cut into blocks gives the same bytes. Some protocols need a *hint* besides: it depends on the library
alone, and every worker downloads it once.

References
----------
Chor, Kushilevitz, Goldreich, Sudan: Private information retrieval (1998). papers/private-skills, PIR-get.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from udfs.draws import Draws
from udfs.errors import ProtocolError, SchemaError, SpecError

Rows = npt.NDArray[Any]
"""Rows of a library's matrix, of its hint, or an answer: what each is, is the protocol's matter."""


@dataclass(frozen=True)
class Query:
    """What workers ask in one get each.

    Attributes
    ----------
    sent : ndarray, shape (workers, ...)
        All that the platform sees.
    kept : object
        What the workers need to make out the answers, and nobody else may see.
    """

    sent: Rows
    kept: Any = field(repr=False)


@dataclass(frozen=True)
class Hint:
    """What every worker downloads once, whatever it will ask.

    Attributes
    ----------
    version : str
        Of the library that it belongs to: see `library_version`.
    rows : ndarray, shape (rows, ...)
        The hints of all blocks, in their order. Empty where the protocol needs none.
    """

    version: str
    rows: Rows

    def check(self, version: str) -> None:
        """Refuse a hint of another library: it would give wrong bytes.

        Raises
        ------
        ProtocolError
        """
        if self.version != version:
            raise ProtocolError(
                "hint",
                f"must belong to version {version[:16]} of the library",
                f"version {self.version[:16]}",
                "download the hint again",
            )


@dataclass(frozen=True)
class Cost:
    """What retrieval costs a worker and the platform.

    Attributes
    ----------
    hint_bytes : int
        What each worker downloads once.
    upload_bytes, download_bytes : int
        Of each get.
    products : int
        The platform's multiplications for each get, of the kind that its protocol does.
    """

    hint_bytes: int
    upload_bytes: int
    download_bytes: int
    products: int

    def bytes_per_worker(self, gets: int) -> int:
        """Return all bytes that a worker sends and receives."""
        return self.hint_bytes + gets * (self.upload_bytes + self.download_bytes)


def whole_download(items: int, item_bytes: int) -> Cost:
    """Return the cost of sending everyone everything: perfectly private, and cheapest of a small library.

    Examples
    --------
    >>> whole_download(64, 1000).bytes_per_worker(gets=3)
    64000
    """
    return Cost(hint_bytes=items * item_bytes, upload_bytes=0, download_bytes=0, products=0)


class Retrieval(Protocol):
    """A protocol for one library, whose size is public, and so is its version."""

    @property
    def name(self) -> str:
        """The protocol's name."""
        ...

    @property
    def items(self) -> int:
        """How many items the library has."""
        ...

    @property
    def item_bytes(self) -> int:
        """How many bytes each of them has."""
        ...

    @property
    def version(self) -> str:
        """What tells this library from any other: see `library_version`."""
        ...

    @property
    def cost(self) -> Cost:
        """What it costs."""
        ...

    @property
    def failure(self) -> Fraction:
        """A bound on the probability that any worker of the job decodes any wrong byte."""
        ...

    def library(self, items: Sequence[bytes]) -> Rows:
        """Return the library's matrix: cut it into blocks along its first axis. Platform."""
        ...

    def hint(self, rows: Rows, first: int) -> Rows:
        """Return the hint of a block of rows, from row `first` on: shape (rows, ...). Platform."""
        ...

    def query(self, places: npt.NDArray[np.integer], draws: Draws) -> Query:
        """Ask for the items at these places, one a worker: deterministic in the draws. Workers.

        Parameters
        ----------
        places : ndarray of int, shape (workers,)
        draws : Draws
            One row a worker, and of each get its own: no word may serve two queries.

        Raises
        ------
        SpecError
            Where a place is outside of the library, before anything is drawn.
        """
        ...

    def keep(self, places: npt.NDArray[np.integer], draws: Draws) -> Any:
        """Return what `query` keeps of the same places and draws, without making the queries again. Workers."""
        ...

    def answer(self, rows: Rows, first: int, sent: Rows) -> Rows:
        """Return what a block of rows, from row `first` on, answers: shape (workers, ...). Platform."""
        ...

    def combine(self, parts: Sequence[Rows]) -> Rows:
        """Put answers of adjoining blocks, in their order, together to that of all. Associative. Platform."""
        ...

    def decode(self, kept: Any, answers: Rows, hint: Hint) -> npt.NDArray[np.uint8]:
        """Make out each worker's item: uint8, shape (workers, item_bytes). Workers.

        Raises
        ------
        ProtocolError
            Where the hint belongs to another library, or answers do not have the right shape.
        """
        ...


def library_version(description: str, items: Sequence[bytes]) -> str:
    """Return the version of a library: 64 hexadecimal digits, SHA-256 of how it is laid out and of its items.

    Parameters
    ----------
    description : str
        The protocol and the shape of its matrix.
    items : sequence of bytes

    Examples
    --------
    >>> len(library_version("of no shape", [b"one", b"two"]))
    64
    """
    digest = hashlib.sha256()
    for part in (description.encode(), *items):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def check_size(items: int, item_bytes: int) -> None:
    """Refuse a library without items, or with items without bytes.

    Raises
    ------
    SpecError
    """
    if items < 1 or item_bytes < 1:
        raise SpecError(
            "library",
            "must have at least one item, and items at least one byte",
            f"{items} items of {item_bytes} bytes",
        )


def check_items(found: Sequence[bytes], items: int, item_bytes: int) -> None:
    """Refuse items that are not as many as they should be, or not all of the same length.

    Raises
    ------
    SchemaError
    """
    others = sum(len(item) != item_bytes for item in found)
    if len(found) != items or others:
        raise SchemaError(
            "library",
            f"must have {items} items of {item_bytes} bytes each",
            f"{len(found)} items, {others} of them of another length",
            "pad all items to the longest",
        )


def checked_places(places: npt.NDArray[Any], items: int) -> npt.NDArray[np.int64]:
    """Return places as int64, or refuse them where they are no integers or outside of the library.

    A place is the worker's secret, so the error shows none.

    Raises
    ------
    SpecError

    Examples
    --------
    >>> checked_places(np.array([0, 4]), items=5)
    array([0, 4])
    """
    places = np.asarray(places)
    whole = places.ndim == 1 and np.issubdtype(places.dtype, np.integer)
    outside = int(np.count_nonzero((places < 0) | (places >= items))) if whole else 0
    if not whole or outside:
        raise SpecError(
            "retrieval",
            f"places must be integers from 0 to {items - 1}, one a worker",
            f"{outside} of {len(places)} outside" if whole else f"{places.dtype} in {places.ndim} dimensions",
        )
    return places.astype(np.int64)
