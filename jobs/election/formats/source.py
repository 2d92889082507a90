"""A file of ballots as text, and how it is refused: by its name and a line, never by what a ballot says."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from udfs.contests import MOST_CANDIDATES
from udfs.errors import SchemaError, SpecError


@dataclass(frozen=True)
class Source:
    """A file that was read.

    Attributes
    ----------
    file : str
        Its path, as it was given.
    text : str
        Its lines end in a line feed each.
    """

    file: str
    text: str

    @classmethod
    def read(cls, path: str) -> Source:
        """Read a file: UTF-8, with or without a byte order mark, or else Latin-1.

        Raises
        ------
        SpecError
            Where it cannot be read.
        """
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            remedy = "name a file of ballots"
            raise SpecError(path, "must be a file that can be read", type(error).__name__, remedy) from None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
        return cls(path, text.replace("\r\n", "\n").replace("\r", "\n"))

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield all lines with their numbers, from 1."""
        return enumerate(self.text.rstrip("\n").split("\n"), 1)

    def malformed(self, line: int, must: str, got: str = "", remedy: str = "") -> SchemaError:
        """Return the refusal of a line; `got` is for what is no ballot's."""
        return SchemaError(
            f"{self.file} line {line}", must, got, remedy or "mend the file, or name its format"
        )

    def check_candidates(self, names: Sequence[str], line: int) -> None:
        """Refuse candidates who cannot be told apart, or are none, or too many.

        Parameters
        ----------
        names : sequence of str
            As `tidy` returns them.
        line : int
            The line that ends their list.
        """
        if not names:
            raise self.malformed(line, "must name candidates", "none")
        if len(names) > MOST_CANDIDATES:
            raise self.malformed(line, f"must name at most {MOST_CANDIDATES} candidates", f"{len(names)}")
        if not all(name and name.isprintable() for name in names):
            raise self.malformed(line, "must give every candidate a name in printable signs")
        if len(set(names)) < len(names):
            raise self.malformed(
                line,
                "must give all candidates different names",
                "",
                "accents may be composed or not: it is one",
            )


def tidy(name: str) -> str:
    """Return a name with composed accents (Unicode NFC) and single spaces.

    Examples
    --------
    >>> tidy("  Zoe" + chr(0x308) + "   Abegg ") == "Zo" + chr(0xEB) + " Abegg"
    True
    """
    return " ".join(unicodedata.normalize("NFC", name).split())
