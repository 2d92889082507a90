"""Reports on one contest of several: which contest, and a set of its candidates as bits.

A report is a record of two fields: `question`, the number of the contest, and `answer`, a bit a candidate of
it, the first candidate the lowest bit of the first byte.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from udfs.errors import SchemaError

ChoiceReports = npt.NDArray[np.void]
"""Records of question (int32) and answer (uint8, shape (bytes,))."""


def blank_reports(rows: int, widest: int) -> ChoiceReports:
    """Return reports on contest 0 with the empty set, of contests that have so many candidates at most."""
    return np.zeros(rows, dtype=[("question", "<i4"), ("answer", "u1", (-(-widest // 8),))])


def hold(reports: ChoiceReports, rows: npt.NDArray[np.intp], held: npt.NDArray[np.bool_]) -> None:
    """Put sets into some rows of reports: bool, shape (some, candidates)."""
    for byte, start in enumerate(range(0, held.shape[1], 8)):
        bits = np.zeros(len(rows), dtype=np.uint8)
        for bit, column in enumerate(held.T[start : start + 8]):
            bits |= column.view(np.uint8) << np.uint8(bit)
        reports["answer"][rows, byte] = bits


def holders(reports: ChoiceReports, position: int) -> npt.NDArray[np.intp]:
    """Return the rows whose set holds the candidate at a position of its contest."""
    bytes_ = reports["answer"][:, position // 8]
    return np.flatnonzero(bytes_ & np.uint8(1 << position % 8))


@dataclass(frozen=True, eq=False)
class ChoiceColumn:
    """How reports stand in a column: as structs of question and answer.

    Parameters
    ----------
    sizes, chosen : ndarray of int64, shape (contests,)
        How many candidates each contest has, and how many of them a report holds.
    """

    sizes: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int64]

    @property
    def single(self) -> bool:
        """Whether every report holds one candidate."""
        return bool(self.chosen.max() == 1)

    @property
    def type(self) -> pa.DataType:
        """The contest's number, and the position of the only candidate; else bits in fixed-size binary."""
        widest = int(self.sizes.max())
        position = pa.int8() if widest <= 128 else pa.int16()
        answer = position if self.single else pa.binary(-(-widest // 8))
        return pa.struct([pa.field("question", pa.int32()), pa.field("answer", answer)])

    def write(self, reports: ChoiceReports) -> pa.Array:
        """Return reports as a column."""
        kind = self.type.field("answer").type
        if self.single:
            positions = np.zeros(len(reports), dtype=kind.to_pandas_dtype())
            for position in range(int(self.sizes.max())):
                positions[holders(reports, position)] = position
            answers = pa.array(positions)
        else:
            packed = pa.py_buffer(np.ascontiguousarray(reports["answer"]))
            answers = pa.FixedSizeBinaryArray.from_buffers(kind, len(reports), [None, packed])
        questions = pa.array(np.ascontiguousarray(reports["question"]))
        return pa.StructArray.from_arrays([questions, answers], fields=list(self.type))

    def read(self, column: pa.Array) -> tuple[ChoiceReports, int]:
        """Return the reports of a column that can be, and how many of its rows hold none.

        Returns
        -------
        reports : records, shape (possible,)
        impossible : int
            Rows that are null, or whose contest does not exist, or whose set has another size or holds what
            is no candidate of the contest.

        Raises
        ------
        SchemaError
            If the column is of another type.
        """
        if column.type != self.type:
            raise SchemaError("reports", f"must be of type {self.type}", str(column.type))
        there = column.drop_null()
        question, answer = there.field("question"), there.field("answer")
        whole = pc.and_(question.is_valid(), answer.is_valid())
        question, answer = question.filter(whole), answer.filter(whole)
        reports = blank_reports(len(question), int(self.sizes.max()))
        reports["question"] = question
        possible = (reports["question"] >= 0) & (reports["question"] < len(self.sizes))
        number = np.where(possible, reports["question"], 0)
        if self.single:
            positions = answer.to_numpy()
            possible &= (positions >= 0) & (positions < self.sizes[number])
            position = np.where(possible, positions, 0)
            reports["answer"][np.arange(len(reports)), position // 8] = 1 << position % 8
        else:
            width = answer.type.byte_width
            flat = np.frombuffer(answer.buffers()[1], dtype=np.uint8)
            reports["answer"] = flat[answer.offset * width :][: len(reports) * width].reshape(-1, width)
            possible &= self._members(reports, self.sizes[number]) == self.chosen[number]
            possible &= self._members(reports, np.full(len(reports), 8 * width)) == self.chosen[number]
        return reports[possible], len(column) - int(np.count_nonzero(possible))

    def _members(self, reports: ChoiceReports, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return how many of the first so many positions each report holds."""
        held = np.unpackbits(reports["answer"], axis=1, bitorder="little")
        within: npt.NDArray[np.int64] = (held & (np.arange(held.shape[1]) < sizes[:, None])).sum(axis=1)
        return within
