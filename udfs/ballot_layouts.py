"""How ballots stand in columns: as lists in one column, or with one column a rank.

A rank is skipped where it is null or an empty list: those below it move up. A rank that is a list of several
candidates is shared by them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from udfs.lookup import Lookup
from udfs.randomizer import Codes

Candidate: TypeAlias = str | int
Layout: TypeAlias = Literal["list", "ranks"]
Numbers: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Marks:
    """The names on a block's ballots: ballot by ballot, and from the highest rank down.

    Attributes
    ----------
    candidates : ndarray of unsigned integers, shape (marks,)
        Each candidate's number; above all of theirs where the name is unknown.
    ballots : ndarray of intp, shape (marks,)
        The ballot's row; ascending.
    ranks : ndarray of intp, shape (marks,)
        Ascending; two marks have one number where they share a rank of one ballot.
    """

    candidates: Codes
    ballots: Numbers
    ranks: Numbers

    @cached_property
    def shares(self) -> Mask:
        """Which marks share a rank with the mark before: shape (marks,)."""
        shares = np.zeros(len(self.ranks), dtype=np.bool_)
        np.equal(self.ranks[1:], self.ranks[:-1], out=shares[1:])
        return shares

    @property
    def heads(self) -> Numbers:
        """Where, among all marks, the rank of each begins: shape (marks,)."""
        heads = np.arange(len(self.ranks))
        if self.shares.any():
            heads[self.shares] = 0
            np.maximum.accumulate(heads, out=heads)
        return heads

    def repeats(self, candidates: int, rows: int) -> Mask:
        """Return which marks name a candidate whom an earlier mark of the ballot names: shape (marks,)."""
        repeats = np.zeros(len(self.ranks), dtype=np.bool_)
        known = np.flatnonzero(self.candidates < candidates)
        cells = self.candidates[known] * np.intp(rows) + self.ballots[known]
        named = np.zeros(candidates * rows, dtype=np.bool_)
        named[cells] = True
        if np.count_nonzero(named) < len(cells):
            first = np.full(len(named), len(repeats))
            np.minimum.at(first, cells, known)
            repeats[known] = first[cells] < known
        return repeats


def marks_in(
    columns: Sequence[pa.Array], layout: Layout, codes_of: Callable[[pa.Array], Codes], skipped: int
) -> Marks:
    """Return the marks of a block's ballots; ranks without a name are passed over.

    Parameters
    ----------
    columns : sequence of pyarrow.Array
        One of lists, or one a rank, the highest first.
    layout : {"list", "ranks"}
    codes_of : callable
        Given an array of names, returns their candidates' numbers.
    skipped : int
        The number that stands for no name.

    Returns
    -------
    Marks
    """
    if layout == "list":
        ballots, ranked = _unfold(columns[0])
        ranks, names = _unfold(ranked)
        codes, ballots = codes_of(names), ballots[ranks]
    else:
        unfolded = [_unfold(column) for column in columns]
        ranks = np.concatenate([rows * len(columns) + rank for rank, (rows, _) in enumerate(unfolded)])
        codes = np.concatenate([codes_of(names) for _, names in unfolded])
        order = np.argsort(ranks, kind="stable")
        codes, ranks = codes[order], ranks[order]
        ballots = ranks // len(columns)
    marked = codes != skipped
    if marked.all():
        return Marks(codes, ballots, ranks)
    return Marks(codes[marked], ballots[marked], ranks[marked])


def _unfold(column: pa.Array) -> tuple[Numbers, pa.Array]:
    """Return the row of each element of a column's lists, and the elements; of other columns, the rows."""
    rows = np.arange(len(column))
    if element_type(column.type) is None:
        return rows, column
    sizes = pc.list_value_length(column).fill_null(0).to_numpy()
    return np.repeat(rows, sizes), column.flatten()


def element_type(arrow_type: pa.DataType) -> pa.DataType | None:
    """Return the type of a list's elements, or None where the type is no list."""
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return arrow_type.value_type if any(is_kind(arrow_type) for is_kind in kinds) else None


class CandidateLookup:
    r"""Finds candidates by name in a column of one type.

    Text is compared after Unicode normalisation (NFC): an accent may be composed or not.

    Parameters
    ----------
    candidates : tuple of str or of int
        Text in the normal form.
    arrow_type : pyarrow.DataType
        Of the column: text or integers as the candidates are, a dictionary of these, or null.

    Examples
    --------
    >>> CandidateLookup(("Zoé", "Bo"), pa.string()).codes(pa.array(["Bo", None, "Zoe\u0301", "Cy"]))
    array([1, 2, 0, 3], dtype=uint8)
    """

    def __init__(self, candidates: tuple[Candidate, ...], arrow_type: pa.DataType) -> None:
        self._numbers = {candidate: number for number, candidate in enumerate(candidates)}
        self._lookup = Lookup(candidates, name_type(arrow_type))
        self._skipped, self._unknown = len(candidates), len(candidates) + 1

    def codes(self, names: pa.Array) -> Codes:
        """Return candidates' numbers; how many these are for a null; one more for an unknown name."""
        if pa.types.is_dictionary(names.type):
            entries = pa.array(self.codes(names.dictionary))
            codes: Codes = entries.take(names.indices).fill_null(self._skipped).to_numpy()
            return codes
        codes = self._lookup.codes(names)
        if not (pa.types.is_integer(names.type) or pa.types.is_null(names.type)):
            unknown = np.flatnonzero(codes == self._unknown)
            if len(unknown):
                codes[unknown] = self._respelled(names.cast(pa.large_string()).take(pa.array(unknown)))
        return codes

    def _respelled(self, names: pa.Array) -> Codes:
        """Return the codes of names that no candidate has as they are written."""
        codes = np.full(len(names), self._unknown, dtype=np.uint16)
        accented = np.flatnonzero(~pc.string_is_ascii(names).to_numpy(zero_copy_only=False))
        spellings = names.take(pa.array(accented)).dictionary_encode()
        # What is not UTF-8 becomes a name that no candidate can have, and never an error that shows it.
        texts = [
            name.decode(errors="surrogateescape")
            for name in spellings.dictionary.cast(pa.large_binary()).to_pylist()
        ]
        found = [self._numbers.get(unicodedata.normalize("NFC", text), self._unknown) for text in texts]
        codes[accented] = np.array(found, dtype=np.uint16)[spellings.indices.to_numpy()]
        return codes


def name_type(arrow_type: pa.DataType) -> pa.DataType:
    """Return the type of a dictionary's entries; of any other type, itself."""
    return arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type
