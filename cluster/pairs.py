"""Pairs of respondents: every pair is one answer, and a tile of them a block.

Answers stand in a table of the pairs that are linked; all others are not. A task reads that table through, keeps what lies
in its tiles, and writes what their pairs report: the matrix of all pairs never lies in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt

from cluster.manifest import Part
from cluster.scrutiny import AnswersDigest, changed, columns_of, read_part
from cluster.secret_file import SecretFile
from udfs.asking import Question
from udfs.link_reports import LinkReports, PairMechanism
from udfs.links import Tile
from udfs.loads import Put
from udfs.streams import Secret

Links = npt.NDArray[np.int64]


@dataclass(frozen=True)
class AskTiles:
    """Asks the pairs of some tiles: reads the links among them, randomizes, and writes the reports.

    Runs on a worker. It reads answers; it gives back where reports lie, and their sums.

    Parameters
    ----------
    question : Question
        Of links: its codes are numbers of nodes, int64 of shape (rows, 2), the lower one first.
    mechanism : PairMechanism
    round_name : str
        Tells this round's draws from any other's.
    nodes : int
    links : tuple of (Part, dict of str to str)
        All tasks of the table, with the digests that their units were found to have.
    secret_file : SecretFile
    put : Put
        Lays reports down.
    """

    question: Question
    mechanism: PairMechanism
    round_name: str
    nodes: int
    links: tuple[tuple[Part, dict[str, str]], ...]
    secret_file: SecretFile
    put: Put

    def __call__(self, tiles: Sequence[Tile]) -> LinkReports:
        """Return the reports of tiles."""
        secret = self.secret_file.load()
        key = secret.key("draws", "pairs", self.round_name, self.question.label, self.mechanism.label)
        links = self._links_among(tiles, secret)
        found = self.combine([])
        for tile in tiles:
            places = tile.select(links)
            bits = self.mechanism.report(places, tile, key)
            load = self.put(bits)
            ones = int(np.bitwise_count(bits).sum(dtype=np.int64))
            found += LinkReports((tile,), (load,), (ones,), tile.degrees(bits, self.nodes))
        return found

    def _links_among(self, tiles: Sequence[Tile], secret: Secret) -> Links:
        """Return the links whose lower end is in a row of the tiles; refuse a table that has changed."""
        first, stop = min(tile.rows.start for tile in tiles), max(tile.rows.stop for tile in tiles)
        kept = [np.empty((0, 2), dtype=np.int64)]
        for part, digests in self.links:
            for unit, blocks in read_part(part, columns_of((self.question,), None)):
                digest = AnswersDigest(secret, (self.question,), unit)
                for number, block in enumerate(blocks):
                    reading = self.question.read(block)
                    digest.add(0, number, reading.codes)
                    low, high = reading.codes.T
                    kept.append(reading.codes[(low >= first) & (low < stop) & (low < high)])
                if digest.hexdigests() != (digests[unit.name],):
                    raise changed(part.files[unit.file].url)
        return np.concatenate(kept)

    def combine(self, parts: Iterable[LinkReports]) -> LinkReports:
        """Put the reports of tiles together."""
        return reduce(add, parts, LinkReports((), (), (), np.zeros(self.nodes, dtype=np.int64)))
