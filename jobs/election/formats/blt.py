r"""BLT, the format of Hill, Wichmann and Woodall's counts, as OpenSTV and OpaVote write it.

Line 1 has the numbers of candidates and of seats; negative numbers after it withdraw candidates. Every ballot is a
line of its weight, its candidates' numbers and a closing 0; ``1=3`` are two who share a rank, ``-`` is a rank that
was skipped. A lone 0 ends the ballots; the quoted names and the quoted title follow. ``#`` starts a remark.

A withdrawn candidate is taken off every ballot, and whoever stood below moves up.

References
----------
B. A. Wichmann, "Data format for STV files", Voting matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from jobs.election.formats.listed import Lines, ListedBallots
from jobs.election.formats.source import Source, tidy
from udfs.contests import MOST_CANDIDATES

_TOKEN = re.compile(r'\s*(?:#.*|"([^"]*)"|([^\s"#]+)|(\S))')
_PREFERENCE = re.compile(r"-|\d+(?:=\d+)*")


class _Token(NamedTuple):
    """A word of a file, or what stood between quotes."""

    line: int
    text: str
    quoted: bool


class _EndOfFileError(Exception):
    """There is nothing more."""


def read_blt(source: Source) -> ListedBallots:
    """Read a BLT file.

    Raises
    ------
    SchemaError
        Names the first line that is wrong.
    """
    reader = _Reader(source)
    try:
        return reader.read()
    except _EndOfFileError:
        must = "must go on: ballots, a 0, and a quoted name for every candidate"
        raise source.malformed(reader.line, must, "the end of the file", "is the file whole?") from None


class _Reader:
    """Reads a file's words in turn."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tokens = self._split()
        self._next: _Token | None = None
        self.line = 1

    def _split(self) -> Iterator[_Token]:
        """Yield all words; remarks are none."""
        for number, line in self._source.lines():
            for found in _TOKEN.finditer(line.rstrip()):
                quoted, word, odd = found.groups()
                if odd is not None:
                    raise self._source.malformed(number, "every quote must be closed on its line")
                if quoted is not None or word is not None:
                    yield _Token(number, word if quoted is None else quoted, quoted is not None)

    def _peek(self) -> _Token:
        """Return the next word and leave it."""
        if self._next is None:
            self._next = next(self._tokens, None)
            if self._next is None:
                raise _EndOfFileError
        self.line = self._next.line
        return self._next

    def _take(self) -> _Token:
        token = self._peek()
        self._next = None
        return token

    def _number(self, what: str) -> int:
        """Take a whole number."""
        token = self._take()
        if token.quoted or not re.fullmatch("[0-9]+", token.text):
            raise self._source.malformed(token.line, f"{what} must be a whole number")
        return int(token.text)

    def read(self) -> ListedBallots:
        """Read the whole file."""
        several = self._number("the number of candidates")
        if not 1 <= several <= MOST_CANDIDATES:
            must = f"must have from 1 to {MOST_CANDIDATES} candidates"
            raise self._source.malformed(self.line, must, f"{several:.6g}")
        self._number("the number of seats")
        withdrawn = self._withdrawn(several)
        standing = [one for one in range(1, several + 1) if one not in withdrawn]
        lines = self._ballots(several, {one: number for number, one in enumerate(standing)})
        names = [tidy(self._name().text) for _ in range(several)]
        self._source.check_candidates(names, self.line)
        title = self._title()
        return lines.ballots(
            self._source.file,
            [names[one - 1] for one in standing],
            [names[one - 1] for one in sorted(withdrawn)],
            title,
        )

    def _withdrawn(self, several: int) -> set[int]:
        """Take the numbers of those who withdrew."""
        withdrawn = set[int]()
        while re.fullmatch("-[0-9]+", self._peek().text) and not self._peek().quoted:
            one = -int(self._take().text)
            if not 1 <= one <= several:
                raise self._source.malformed(
                    self.line, f"must withdraw candidates from 1 to {several}", f"-{one}"
                )
            withdrawn.add(one)
            if len(withdrawn) == several:
                raise self._source.malformed(self.line, "must leave a candidate who has not withdrawn")
        return withdrawn

    def _ballots(self, several: int, numbers: dict[int, int]) -> Lines:
        """Take all ballots and the 0 that ends them; `numbers` are those of whoever stands."""
        lines = Lines()
        while count := self._number("a ballot's weight"):
            line, ranks = self.line, list[list[int]]()
            while (token := self._take()).text != "0" or token.quoted:
                if token.line != line:
                    raise self._source.malformed(line, "a ballot must end in 0 on its own line")
                if token.quoted or not _PREFERENCE.fullmatch(token.text):
                    raise self._source.malformed(
                        line, "preferences must be candidates' numbers, such as 2 or 1=3"
                    )
                named = [int(one) for one in token.text.split("=")] if token.text != "-" else []
                if not all(1 <= one <= several for one in named):
                    raise self._source.malformed(line, f"must name candidates from 1 to {several}")
                ranks.append([numbers[one] for one in named if one in numbers])
            if token.line != line:
                raise self._source.malformed(line, "a ballot must end in 0 on its own line")
            lines.add(count, ranks)
        return lines

    def _name(self) -> _Token:
        """Take a quoted name."""
        token = self._take()
        if not token.quoted:
            raise self._source.malformed(token.line, "must be a name in quotes")
        return token

    def _title(self) -> str:
        """Take the title, where there is one, and nothing after it."""
        try:
            title = self._name().text
        except _EndOfFileError:
            return ""
        try:
            token = self._take()
        except _EndOfFileError:
            return tidy(title)
        raise self._source.malformed(token.line, "the file must end with the candidates' names and its title")
