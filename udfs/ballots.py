"""The question of an election: in what order do you place the candidates?

A ballot names candidates from the highest rank down, in one list or with one column a rank; see
`udfs.ballot_layouts`. It is read as *places*: how many candidates stand strictly above each; see
`udfs.contests`. All whom it does not name stand last together.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from udfs.ballot_layouts import (
    Candidate,
    CandidateLookup,
    Layout,
    Marks,
    Mask,
    element_type,
    marks_in,
    name_type,
)
from udfs.categories import Reading
from udfs.contests import MOST_CANDIDATES, Places
from udfs.draws import Draws
from udfs.errors import SchemaError, SpecError
from udfs.lookup import Lookup
from udfs.randomizer import Codes

Invalid: TypeAlias = Literal["truncate", "blank", "refuse"]
Shared: TypeAlias = Literal["overvote", "tie"]

UNKNOWN = "ballots with unknown names"
REPEATED = "ballots that repeat a candidate"
OVERVOTED = "ballots with several names in one rank"

_CELLS_AT_ONCE = 1 << 17
"""So many ballots times candidates are read at once that what is laid out for them stays in the cache."""


@dataclass(frozen=True)
class BallotColumn:
    """A column that holds ballots, or one rank of them.

    Parameters
    ----------
    column : str
    candidates : tuple of str or of int
    layout : {"list", "ranks"}
    """

    column: str
    candidates: tuple[Candidate, ...]
    layout: Layout
    missing: ClassVar[str] = "none"

    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that cannot hold ballots of the candidates.

        Raises
        ------
        SchemaError
            Names `where`, the column and its type.
        """
        in_ranks = self.layout == "ranks" or pa.types.is_null(arrow_type)
        ranks = arrow_type if in_ranks else element_type(arrow_type)
        if ranks is not None and self._can_stand_in(name_type(element_type(ranks) or ranks)):
            return
        what = "lists of candidates" if self.layout == "list" else "candidates"
        raise SchemaError(
            f"{where}, column {self.column!r}",
            f"must hold {what} such as {self.candidates[0]!r}, written as {self._kind}",
            f"type {arrow_type}",
            "correct the candidates, the layout, or the column",
        )

    @property
    def _kind(self) -> str:
        """What the candidates are."""
        return "text" if isinstance(self.candidates[0], str) else "integers"

    def _can_stand_in(self, names: pa.DataType) -> bool:
        """Whether names of this type can be candidates': digits in text are no integers."""
        if pa.types.is_null(names):
            return True
        if self._kind == "integers":
            return bool(pa.types.is_integer(names) and Lookup(self.candidates, names).holds)
        kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
        return any(is_kind(names) for is_kind in kinds)


@dataclass(frozen=True)
class BallotQuestion:
    """In what order do you place these candidates?

    Parameters
    ----------
    columns : tuple of str
        One column of lists, or one column a rank, the highest first.
    candidates : tuple of str or of int
        In the tie order; at most 255. Text is compared after Unicode normalisation (NFC).
    layout : {"list", "ranks"}
    invalid : {"truncate", "blank", "refuse"}
        A ballot with a fault is cut above the first rank that has one, is blank, or cannot be asked. Faults
        are unknown names, a candidate's second mark, and, where these are overvotes, shared ranks.
    shared : {"overvote", "tie"}
        Several candidates in one rank are a fault, or share a place.
    name : str
        Of the column of reports.

    Examples
    --------
    >>> question = BallotQuestion(("ranking",), ("Ada", "Bo", "Cy"), "list")
    >>> ballots = pa.record_batch({"ranking": [["Cy", "Ada", "Bo"], ["Bo"], None, ["Bo", "Di", "Cy"]]})
    >>> question.read(ballots).codes
    array([[1, 2, 0],
           [1, 0, 1],
           [0, 0, 0],
           [1, 0, 1]], dtype=uint8)
    """

    columns: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    layout: Layout
    invalid: Invalid = "truncate"
    shared: Shared = "overvote"
    name: str = "ballot"
    _lookups: dict[pa.DataType, CandidateLookup] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    labels: ClassVar[tuple[()]] = ()
    imputes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check that columns and candidates can be told apart."""
        self._check_columns()
        self._check_candidates()

    def _check_columns(self) -> None:
        if self.layout == "list" and len(self.columns) != 1:
            raise SpecError(
                "population.ranking", "ballots in lists stand in one column", f"{len(self.columns)}"
            )
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise SpecError(
                "population.ranks", "needs a column for each rank, all different", f"{self.columns}"
            )

    def _check_candidates(self) -> None:
        where, candidates = "election.candidates", self.candidates
        if not 1 <= len(candidates) <= MOST_CANDIDATES:
            raise SpecError(where, f"needs 1 to {MOST_CANDIDATES} candidates", f"{len(candidates)}")
        if {type(candidate) for candidate in candidates} not in ({str}, {int}):
            raise SpecError(where, "candidates must be all text or all integers", f"{candidates}")
        if "" in candidates:
            raise SpecError(where, "each candidate must have a name", "an empty one")
        counts = Counter(self._normal_candidates)
        twice = [str(candidate) for candidate, count in counts.items() if count > 1]
        if twice:
            raise SpecError(
                where,
                "each candidate must stand once, however accents are encoded",
                f"{', '.join(twice)} twice",
            )

    @property
    def _normal_candidates(self) -> tuple[Candidate, ...]:
        """The candidates, text in the normal form."""
        return tuple(
            unicodedata.normalize("NFC", candidate) if isinstance(candidate, str) else candidate
            for candidate in self.candidates
        )

    @property
    def parts(self) -> tuple[BallotColumn, ...]:
        """The columns that hold the ballots."""
        return tuple(BallotColumn(column, self.candidates, self.layout) for column in self.columns)

    @property
    def label(self) -> str:
        """The question and all that bears on its answers: part of the keys of its draws."""
        return (
            f"ballot {self.layout} {self.columns!r} {self.candidates!r} "
            f"invalid={self.invalid} shared={self.shared}"
        )

    def read(self, block: pa.RecordBatch) -> Reading:
        """Return a block's ballots as places, and how many cannot be asked.

        Parameters
        ----------
        block : pyarrow.RecordBatch
            With the question's columns, whose types were checked.

        Returns
        -------
        Reading
            Its codes are places: uint8, shape (rows, candidates), a candidate's all side by side. A ballot
            counts once for each column and kind of fault.
        """
        places = np.empty((block.num_rows, len(self.candidates)), dtype=np.uint8, order="F")
        faults: Counter[tuple[str, str]] = Counter()
        step = max(1, _CELLS_AT_ONCE // len(self.candidates))
        for start in range(0, block.num_rows, step):
            rows = block.slice(start, step)
            columns = [rows.column(column) for column in self.columns]
            marks = marks_in(columns, self.layout, self._codes, len(self.candidates))
            found = self._faults(marks, rows.num_rows)
            if self.invalid == "refuse":
                faults.update(self._count(marks, found))
            self._write_places(marks, found, places[start : start + rows.num_rows])
        return Reading(places, dict(faults))

    def impute(self, codes: Codes, draws: Draws) -> Codes:
        """Return the ballots: one without names is blank."""
        return codes

    def _codes(self, names: pa.Array) -> Codes:
        """Return the candidates' numbers, by a look-up made once for each type of column."""
        if names.type not in self._lookups:
            self._lookups[names.type] = CandidateLookup(self._normal_candidates, names.type)
        return self._lookups[names.type].codes(names)

    def _faults(self, marks: Marks, rows: int) -> dict[str, Mask]:
        """Return which marks are faults, by what is wrong with them."""
        faults = {
            UNKNOWN: marks.candidates >= len(self.candidates),
            REPEATED: marks.repeats(len(self.candidates), rows),
        }
        if self.shared == "overvote":
            faults[OVERVOTED] = marks.shares
        return {what: faulty for what, faulty in faults.items() if faulty.any()}

    def _count(self, marks: Marks, faults: dict[str, Mask]) -> dict[tuple[str, str], int]:
        """Return how many ballots have each fault in each column."""
        counts, columns = {}, len(self.columns)
        for what, faulty in faults.items():
            cells = np.unique(marks.ballots[faulty] * columns + marks.ranks[faulty] % columns)
            for column, count in zip(
                self.columns, np.bincount(cells % columns, minlength=columns), strict=True
            ):
                if count:
                    counts[column, what] = int(count)
        return counts

    def _write_places(self, marks: Marks, faults: dict[str, Mask], places: Places) -> None:
        """Write the places of all ballots: where each candidate's rank begins, or the ballot ends."""
        starts = np.searchsorted(marks.ballots, np.arange(len(places) + 1))
        starts, ends = starts[:-1], starts[1:].copy()
        candidates, ballots, heads = marks.candidates, marks.ballots, marks.heads
        if faults:
            faulty = np.flatnonzero(np.logical_or.reduce(list(faults.values())))
            cut, first = np.unique(ballots[faulty], return_index=True)
            ends[cut] = starts[cut] if self.invalid == "blank" else heads[faulty[first]]
            kept = heads < ends[ballots]
            candidates, ballots, heads = candidates[kept], ballots[kept], heads[kept]
        places[:] = (ends - starts).astype(np.uint8)[:, None]
        places[ballots, candidates] = (heads - starts[ballots]).astype(np.uint8)
