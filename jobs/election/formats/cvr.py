"""Cast-vote records of ranked-choice elections in the United States: a CSV of one row a ballot.

Columns that bear a rank in their name are read, such as `rank1`, `Choice 2` or `3rd choice`; others are passed over.
A mark is a candidate's name, or says that the rank was skipped (nothing, skipped, undervote) or holds several
(overvote). All spellings of write-in are one candidate. The file lists no candidates: they are all who are
named, in the order of their names, and write-ins last.
"""

from __future__ import annotations

import csv
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from jobs.election.formats.listed import UNTOLD, ListedBallots
from jobs.election.formats.source import Source, tidy
from udfs.errors import SchemaError

WRITE_IN = "Write-in"
"""The candidate that all write-ins are."""

_RANK = re.compile(
    r"\b(?:rank|choice|pref(?:erence)?)[\s_.#-]*(\d+)(?!\d)"
    r"|\b(\d+)(?:st|nd|rd|th)?[\s_.-]*(?:rank|choice|pref(?:erence)?)",
    re.IGNORECASE,
)
_WEIGHT = re.compile(r"\s*(?:weights?|counts?|multiplicity)\s*", re.IGNORECASE)
_SKIPPED = {"", "skipped", "skippedranking", "undervote", "undervoted", "undervotes"}
_OVERVOTE = {"overvote", "overvoted", "overvotes"}
_WRITE_IN = {"writein", "writeins", "uwi", "undeclaredwritein", "undeclaredwriteins"}
_SKIP, _SEVERAL = -1, -2


def read_cvr(source: Source) -> ListedBallots:
    """Read cast-vote records.

    Raises
    ------
    SchemaError
        Names the first line that is wrong.
    """
    columns = _read_marks(source, _rank_columns(source))
    marks = {mark: _meant(mark) for column in columns for mark in column.dictionary.to_pylist()}
    named = {meant for meant in marks.values() if isinstance(meant, str)}
    candidates = sorted(named, key=lambda name: (name == WRITE_IN, name))
    source.check_candidates(candidates, 1)
    numbers = {name: number for number, name in enumerate(candidates)}
    codes = {mark: numbers[meant] if isinstance(meant, str) else meant for mark, meant in marks.items()}
    cells = np.stack([_coded(column, codes) for column in columns], axis=1)
    ballots, ranks = cells.shape
    cells = cells.ravel()
    return ListedBallots(
        candidates=tuple(candidates),
        counts=np.ones(ballots, dtype=np.int64),
        ranks=np.full(ballots, ranks, dtype=np.int64),
        sizes=np.select([cells >= 0, cells == _SEVERAL], [1, UNTOLD], 0),
        mentions=cells[cells >= 0],
    )


def _rank_columns(source: Source) -> list[str]:
    """Return the places of the ranks' columns, as text, from the first rank to the last."""
    header = next(csv.reader(source.text.split("\n", 1)[:1]), [])
    places: dict[int, str] = {}
    for place, name in enumerate(header):
        if _WEIGHT.fullmatch(name):
            raise source.malformed(
                1, "must have one row a ballot", f"a column {name!r}", "repeat rows, or take it out"
            )
        if found := _RANK.search(name):
            rank = int(found[1] or found[2])
            if rank in places:
                remedy = "keep the columns of one contest"
                raise source.malformed(1, "must have one column a rank", f"several for rank {rank}", remedy)
            places[rank] = str(place)
    if sorted(places) != list(range(1, len(places) + 1)) or not places:
        got = "ranks " + ", ".join(map(str, sorted(places)[:20])) if places else "none"
        raise source.malformed(
            1, "must name columns rank1, rank2 and so on", got, "name the columns of ranks"
        )
    return [places[rank] for rank in sorted(places)]


def _read_marks(source: Source, wanted: list[str]) -> list[pa.DictionaryArray]:
    """Read the columns of marks."""
    if empty := re.search(r"\n[ \t]*\n", source.text.rstrip("\n")):
        line = source.text.count("\n", 0, empty.start()) + 2
        raise source.malformed(line, "must be a ballot", "an empty line", "mark a blank ballot as undervote")
    columns = len(next(csv.reader(source.text.split("\n", 1)[:1])))
    wrong: list[SchemaError] = []

    def refuse(row: pyarrow.csv.InvalidRow) -> str:
        got = f"{row.actual_columns}"
        wrong.append(source.malformed(row.number, f"must have {row.expected_columns} columns", got))
        return "error"

    mark = pa.dictionary(pa.int32(), pa.string())
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader((source.text.rstrip("\n") + "\n").encode()),
            pyarrow.csv.ReadOptions(
                use_threads=False, skip_rows=1, column_names=list(map(str, range(columns)))
            ),
            pyarrow.csv.ParseOptions(ignore_empty_lines=False, invalid_row_handler=refuse),
            pyarrow.csv.ConvertOptions(include_columns=wanted, column_types=dict.fromkeys(wanted, mark)),
        )
    except pa.ArrowException:  # its message quotes a row
        raise (
            wrong[0] if wrong else source.malformed(1, "must be followed by rows of comma-separated values")
        ) from None
    return [column.unify_dictionaries().combine_chunks() for column in table.columns]


def _meant(mark: str) -> str | int:
    """Return the candidate of a mark, `_SKIP` or `_SEVERAL`."""
    sign = re.sub(r"[\W_]+", "", mark.casefold())
    if sign in _SKIPPED:
        return _SKIP
    if sign in _OVERVOTE:
        return _SEVERAL
    return WRITE_IN if sign in _WRITE_IN else tidy(mark)


def _coded(column: pa.DictionaryArray, codes: dict[Any, int]) -> npt.NDArray[np.int16]:
    """Return the codes of a column's marks."""
    table = np.array([codes[mark] for mark in column.dictionary.to_pylist()], dtype=np.int16)
    coded: npt.NDArray[np.int16] = table[column.indices.to_numpy(zero_copy_only=False)]
    return coded
