"""What all protocols of retrieval share: a library that lies in a shape, and its version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, Self, TypeVar

from udfs.retrieval import Cost, library_version


class LibraryShape(Protocol):
    """How a library lies in its matrix; as text, all that decides where each byte lies."""

    @property
    def items(self) -> int:
        """How many items the library has."""
        ...

    @property
    def item_bytes(self) -> int:
        """How many bytes each of them has."""
        ...

    @property
    def cost(self) -> Cost:
        """What retrieval costs."""
        ...


S = TypeVar("S", bound=LibraryShape)


@dataclass(frozen=True)
class LaidOut(Generic[S]):
    """The part of a `udfs.retrieval.Retrieval` that its shape decides.

    Parameters
    ----------
    shape : LibraryShape
    version : str
        The library's, from `version_of`.
    """

    shape: S
    version: str
    name: ClassVar[str]

    @classmethod
    def version_of(cls, shape: S, items: Sequence[bytes]) -> str:
        """Return the version of a library that lies in this shape."""
        return library_version(f"{cls.name} {shape}", items)

    @classmethod
    def of(cls, shape: S, items: Sequence[bytes]) -> Self:
        """Return the protocol for these items in this shape."""
        return cls(shape, cls.version_of(shape, items))

    @property
    def items(self) -> int:
        """How many items the library has."""
        return self.shape.items

    @property
    def item_bytes(self) -> int:
        """How many bytes each of them has."""
        return self.shape.item_bytes

    @property
    def cost(self) -> Cost:
        """What it costs."""
        return self.shape.cost
