r"""PrefLib's orders: .soc, .soi, .toc and .toi, a line for each different ballot.

A header of lines ``# KEY: value`` names the alternatives; then come lines ``count: 2,1,{3,4}``, where braces hold
those who share a rank. A shared rank at the very end that names all who are left is how .toc files are filled
up: those are unranked, and no overvote.

References
----------
https://preflib.github.io/PrefLib-Jekyll/format
"""

from __future__ import annotations

import re

from jobs.election.formats.listed import Lines, ListedBallots
from jobs.election.formats.source import Source, tidy

_HEADER = re.compile(r"#\s*([A-Z][A-Z ]*?)\s*(\d+)?\s*:\s*(.*)")
_ORDER = re.compile(r"(\d+)\s*:\s*((?:(?:\d+|\{[\d\s,]*\})(?:\s*,\s*(?!$)|\s*$))*)")
_RANK = re.compile(r"\{([\d\s,]*)\}|(\d+)")

_TYPES = ("soc", "soi", "toc", "toi")
"""Orders are strict or with ties, and complete or not."""


def read_preflib(source: Source) -> ListedBallots:
    """Read orders.

    Raises
    ------
    SchemaError
        Names the first line that is wrong, or the line of the header that counts other ballots than there are.
    """
    reader = _Reader(source)
    for number, line in source.lines():
        if line.startswith("#"):
            reader.header(number, line)
        elif line.strip():
            reader.order(number, line.strip())
    return reader.ballots()


class _Reader:
    """What was read so far."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = Lines()
        self._known: dict[str, tuple[int, str]] = {}
        self._names: list[str] = []
        self._type = ""
        self._orders = self._voters = 0

    def header(self, number: int, line: str) -> None:
        """Take a line of the header."""
        found = _HEADER.fullmatch(line.strip())
        if found is None:
            return  # a remark
        key, place, value = found.groups()
        if self._orders:
            raise self._source.malformed(number, "the header must stand before the first order")
        if key != "ALTERNATIVE NAME":
            self._known[key] = number, value
        elif place is None or int(place) != len(self._names) + 1:
            raise self._source.malformed(number, "alternatives must be numbered from 1 in turn")
        else:
            self._names.append(tidy(value))

    def _end_header(self, number: int) -> None:
        """Check what the header said, at the line where it has ended."""
        line, kind = self._known.get("DATA TYPE", (number, "nothing"))
        if kind not in _TYPES:
            must = "DATA TYPE must be one of " + ", ".join(_TYPES)
            raise self._source.malformed(
                line, must, kind[:20], "PrefLib's files of since 2022 have such a header"
            )
        self._type = kind
        line, alternatives = self._known.get("NUMBER ALTERNATIVES", (number, str(len(self._names))))
        if alternatives != str(len(self._names)):
            must = "NUMBER ALTERNATIVES must be how many are named"
            raise self._source.malformed(line, must, f"{len(self._names)} named")
        self._source.check_candidates(self._names, number)

    def order(self, number: int, line: str) -> None:
        """Take a line of so many equal ballots."""
        if not self._type:
            self._end_header(number)
        found = _ORDER.fullmatch(line)
        if found is None:
            raise self._source.malformed(number, "must be an order, such as `12: 2,1,{3,4}`")
        ranks = [self._rank(*one) for one in _RANK.findall(found[2])]
        named = [one for rank in ranks for one in rank]
        if not all(0 <= one < len(self._names) for one in named):
            raise self._source.malformed(number, f"must name alternatives from 1 to {len(self._names)}")
        if len(set(named)) < len(named):
            raise self._source.malformed(number, "must name no alternative twice")
        everybody = len(named) == len(self._names)
        if self._type[0] == "s" and len(named) > len(ranks):
            raise self._source.malformed(number, "must have no ties, as the header's DATA TYPE says")
        if self._type[2] == "c" and not everybody:
            must = "must name every alternative, as the header's DATA TYPE says"
            raise self._source.malformed(number, must, f"{len(named)} of {len(self._names)}")
        if everybody and len(ranks[-1]) > 1:
            ranks.pop()  # the unranked
        count = int(found[1])
        self._lines.add(count, ranks)
        self._orders += 1
        self._voters += count

    @staticmethod
    def _rank(shared: str, single: str) -> list[int]:
        return [int(one) - 1 for one in (single or shared).split(",") if one.strip()]

    def ballots(self) -> ListedBallots:
        """Return all, once the header's sums are found right."""
        if not self._type:
            self._end_header(self._source.text.rstrip("\n").count("\n") + 1)
        for key, found in (("NUMBER VOTERS", self._voters), ("NUMBER UNIQUE ORDERS", self._orders)):
            line, said = self._known.get(key, (0, str(found)))
            if said != str(found):
                raise self._source.malformed(
                    line,
                    f"{key} must be what the file holds",
                    f"{said[:20]}, and {found} held",
                    "is it whole?",
                )
        return self._lines.ballots(self._source.file, self._names, (), self._known.get("TITLE", (0, ""))[1])
