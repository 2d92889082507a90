"""Ballots as a file lists them, what becomes of ranks that are shared, and one row a ballot."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.draws import fresh_draws
from udfs.errors import SchemaError, SpecError

OVERVOTES = ("truncate", "skip", "void", "keep")
"""A rank that several share cuts the ballot there, is passed over, makes the ballot blank, or stays as it is."""

UNTOLD = -1
"""The size of a rank that several share without our being told who."""

MOST_BALLOTS = 10**9
"""More than there are voters: a larger number is a slip, and would fill the disk."""

ROWS_PER_FILE = 2_000_000
"""Unless another number of files is wished for."""

_BLOCK_ROWS = 1 << 18

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ListedBallots:
    """The ballots of a file, each line once, as they were marked.

    Attributes
    ----------
    candidates : tuple of str
        In the file's order, which is the tie order unless a spec says otherwise. Withdrawn ones are none.
    counts : ndarray of int64, shape (lines,)
        How many voters cast each ballot.
    ranks : ndarray of int64, shape (lines,)
        How many ranks each ballot has.
    sizes : ndarray of int64, shape (ranks,)
        How many candidates share each rank: 0 for one that was skipped, `UNTOLD` where it is not told who.
    mentions : ndarray of int16, shape (mentions,)
        The candidates' numbers, rank by rank.
    withdrawn : tuple of str
    title : str
    """

    candidates: tuple[str, ...]
    counts: Numbers
    ranks: Numbers
    sizes: Numbers
    mentions: npt.NDArray[np.int16]
    withdrawn: tuple[str, ...] = ()
    title: str = ""

    def settle(self, overvotes: str) -> SettledBallots:
        """Return the ballots with every rank that several share dealt with, and every skipped one passed over.

        Parameters
        ----------
        overvotes : {"truncate", "skip", "void", "keep"}

        Raises
        ------
        SpecError
            Where shared ranks are to be kept, and the file does not tell who shares them.
        """
        ends = np.cumsum(self.ranks)
        starts = ends - self.ranks
        ballot = np.repeat(np.arange(len(self.ranks)), self.ranks)
        shared = (self.sizes > 1) | (self.sizes == UNTOLD)
        so_far = np.append(0, np.cumsum(shared))
        overvoted = so_far[ends] > so_far[starts]
        if overvotes == "truncate":
            kept = so_far[1:] == so_far[starts][ballot]
        elif overvotes == "skip":
            kept = ~shared
        elif overvotes == "void":
            kept = ~overvoted[ballot]
        else:
            kept = np.ones_like(shared)
            if (self.sizes == UNTOLD).any():
                raise SpecError(
                    "--overvotes",
                    "must not keep ranks of which the file does not tell who shares them",
                    overvotes,
                    "choose truncate, skip or void",
                )
        kept &= self.sizes != 0
        sizes = self.sizes[kept]
        mentions = self.mentions[np.repeat(kept, np.maximum(self.sizes, 0))]
        ranks = np.bincount(ballot[kept], minlength=len(self.ranks))
        ranking = _nested(mentions, sizes) if (sizes > 1).any() else pa.array(mentions)
        return SettledBallots(
            self.candidates,
            _nested(ranking, ranks),
            self.counts,
            {
                "ballots": int(self.counts.sum()),
                "blank": int(self.counts[ranks == 0].sum()),
                "overvoted": int(self.counts[overvoted].sum()),
            },
        )


@dataclass(frozen=True, eq=False)
class SettledBallots:
    """Ballots ready to be written, one row each.

    Attributes
    ----------
    candidates : tuple of str
    rankings : pyarrow.ListArray of int16, or of lists of int16 where some ranks are shared
        Each line's candidates, best first.
    counts : ndarray of int64, shape (lines,)
        How many rows each line becomes.
    tallies : dict of str to int
        How many ballots there are, how many are blank as they are written, and how many were overvoted.
    """

    candidates: tuple[str, ...]
    rankings: pa.ListArray
    counts: Numbers
    tallies: dict[str, int]

    @property
    def ballots(self) -> int:
        """How many rows there are."""
        return self.tallies["ballots"]

    def schema(self, told: dict[str, Any]) -> pa.Schema:
        """Return the columns `ballot` and `ranking`; the footer's `canvass` key holds what is told of them."""
        names = pa.string() if self.rankings.type.value_type == pa.int16() else pa.list_(pa.string())
        fields = [pa.field("ballot", pa.int64(), nullable=False), pa.field("ranking", pa.list_(names))]
        ballots = {"candidates": self.candidates, **told, "counts": self.tallies}
        entry = json.dumps({"version": 1, "ballots": ballots}, ensure_ascii=False)
        return pa.schema(fields, metadata={"canvass": entry})

    def parts(self, files: int | None, schema: pa.Schema) -> Iterator[Iterator[pa.Table]]:
        """Yield so many files' rows, or one for two million ballots; as many in each but for one.

        Rows stand in an order that is drawn at random: in that of the file's lines, like ballots would stand
        together, and where a report on one stands would tell what it was.
        """
        files = files or max(1, -(-self.ballots // ROWS_PER_FILE))
        cuts = [self.ballots * part // files for part in range(files + 1)]
        order = np.argsort(fresh_draws(self.ballots).words(0))
        return (self._tables(order, first, last, schema) for first, last in itertools.pairwise(cuts))

    def _tables(
        self, order: npt.NDArray[np.intp], first: int, last: int, schema: pa.Schema
    ) -> Iterator[pa.Table]:
        """Yield the rows of a file, a block at a time."""
        ends = np.cumsum(self.counts)
        names = pa.array(self.candidates, pa.string())
        for start in range(first, last, _BLOCK_ROWS):
            rows = np.arange(start, min(start + _BLOCK_ROWS, last))
            lines = np.searchsorted(ends, order[rows], side="right")
            rankings = _named(self.rankings.take(pa.array(lines)), names)
            yield pa.Table.from_arrays([pa.array(rows + 1), rankings], schema=schema)


def _nested(values: Any, sizes: Numbers) -> pa.ListArray:
    """Return consecutive values as lists of these sizes."""
    return pa.ListArray.from_arrays(pa.array(np.append(0, np.cumsum(sizes)), pa.int32()), values)


def _named(numbers: pa.Array, names: pa.Array) -> pa.Array:
    """Return the names that numbers stand for, in however many lists they are."""
    if not pa.types.is_list(numbers.type):
        return names.take(numbers)
    return pa.ListArray.from_arrays(numbers.offsets, _named(numbers.values, names))


class Lines:
    """Gathers the ballots of a file, line by line."""

    def __init__(self) -> None:
        self._counts: list[int] = []
        self._ranks: list[int] = []
        self._sizes: list[int] = []
        self._mentions: list[int] = []

    def add(self, count: int, ranks: Sequence[Sequence[int]]) -> None:
        """Take a ballot that so many voters cast: the numbers of the candidates at each rank."""
        self._counts.append(count)
        self._ranks.append(len(ranks))
        self._sizes.extend(map(len, ranks))
        for rank in ranks:
            self._mentions.extend(rank)

    def ballots(
        self, file: str, candidates: Sequence[str], withdrawn: Sequence[str] = (), title: str = ""
    ) -> ListedBallots:
        """Return what was gathered.

        Raises
        ------
        SchemaError
            Where there are more than `MOST_BALLOTS`.
        """
        if (total := sum(self._counts)) > MOST_BALLOTS:
            raise SchemaError(file, f"must hold at most {MOST_BALLOTS:,} ballots", f"{total:.3g}")
        return ListedBallots(
            tuple(candidates),
            np.array(self._counts, dtype=np.int64),
            np.array(self._ranks, dtype=np.int64),
            np.array(self._sizes, dtype=np.int64),
            np.array(self._mentions, dtype=np.int16),
            tuple(withdrawn),
            title,
        )
