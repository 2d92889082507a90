"""Scrutiny: every row is read and found in order before one coin is drawn.

What is counted here is named by file, column and count; what passes is fixed by a keyed digest, so that the
rows that are asked afterwards are the rows that were looked at.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cluster.blocks import check_unchanged, read_blocks
from cluster.manifest import BLOCK_ROWS, Part, Unit
from cluster.repeats import RunSorter, Scratch, Sightings, join_sightings, sight
from cluster.secret_file import SecretFile
from udfs.asking import MISSING_IDS, Fault, Partial, Question
from udfs.errors import SchemaError
from udfs.identity import IdColumn
from udfs.streams import Secret, block_key


class AnswersDigest:
    """The keyed digests of one unit's answers to some questions, one a question, fed block by block.

    Parameters
    ----------
    secret : Secret
    questions : tuple of Question
    unit : Unit
    """

    def __init__(self, secret: Secret, questions: tuple[Question, ...], unit: Unit) -> None:
        self._keys = [secret.key("answers", question.label) for question in questions]
        self._place, self._first = (unit.file, unit.row_group), unit.offset
        self._digests = [hmac.new(secret.key("digest"), digestmod="sha256") for _ in questions]

    def add(self, question: int, block: int, answers: npt.NDArray[np.generic]) -> bytes:
        """Take one question's answers in one block, and return their own digest: 32 secret bytes."""
        digest = block_key(self._keys[question], (*self._place, self._first + block * BLOCK_ROWS), answers)
        self._digests[question].update(digest)
        return digest

    def hexdigests(self) -> tuple[str, ...]:
        """Return the digests of all answers taken, one a question."""
        return tuple(digest.hexdigest() for digest in self._digests)


@dataclass(frozen=True)
class CheckPart:
    """Looks through one part: counts what cannot be asked, and digests the rest. Draws nothing.

    Runs on a worker. It reads answers; it gives back counts of faults, keyed digests, and fingerprints of
    ids that seem to stand twice.
    """

    questions: tuple[Question, ...]
    ids: IdColumn | None
    secret_file: SecretFile
    scratch: Scratch | None

    def __call__(self, part: Part) -> Partial:
        """Return what the part was found to be."""
        secret = self.secret_file.load()
        sorter = None
        if self.ids is not None and self.ids.checked:
            sorter = RunSorter(part, self.scratch, secret.key("repeats"))
        faults: dict[Fault, int] = {}
        digests: dict[str, tuple[str, ...]] = {}
        for unit, blocks in read_part(part, columns_of(self.questions, self.ids)):
            digest = AnswersDigest(secret, self.questions, unit)
            for number, block in enumerate(blocks):
                found = self._check_ids(block, unit, sorter, secret)
                for place, question in enumerate(self.questions):
                    answers = question.read(block)
                    digest.add(place, number, answers.codes)
                    found |= answers.faults
                for (column, what), rows in found.items():
                    fault = (part.files[unit.file].url, column, what)
                    faults[fault] = faults.get(fault, 0) + rows
            digests[unit.name] = digest.hexdigests()
        return Partial((), part.rows, faults, digests, sorter.finish() if sorter else ())

    def _check_ids(
        self, block: pa.RecordBatch, unit: Unit, sorter: RunSorter | None, secret: Secret
    ) -> dict[tuple[str, str], int]:
        """Count missing ids, and hand the others on to be told apart."""
        if self.ids is None:
            return {}
        column = block.column(self.ids.name)
        if column.null_count:
            return {(self.ids.name, MISSING_IDS): column.null_count}
        if sorter is not None:
            if self.ids.kind != "text" and self.scratch is None and unit.id_span and len(column):
                self._check_span(column, unit.id_span)
            sorter.add(self.ids.blocks(column, secret))
        return {}

    def _check_span(self, column: pa.Array, id_span: tuple[int, int]) -> None:
        """Refuse ids that the file's own footer does not own to: repeats are ruled out by it."""
        span = pc.min_max(column)
        if span["min"].as_py() < id_span[0] or span["max"].as_py() > id_span[1]:
            raise SchemaError(
                f"column {self.ids.name if self.ids else ''!r}",
                "must lie between the least and greatest value in its file's footer",
                "ids outside them",
                "write the file anew",
            )


@dataclass(frozen=True)
class CountSightings:
    """Counts, in one part, the rows whose id is suspected to stand twice."""

    ids: IdColumn
    secret_file: SecretFile
    suspects: tuple[int, ...]

    def __call__(self, part: Part) -> Sightings:
        """Return where the suspects stand."""
        secret = self.secret_file.load()
        suspects = np.array(self.suspects, dtype=np.uint64)
        found = []
        for unit, blocks in read_part(part, [self.ids.name]):
            for block in blocks:
                blocks_of = self.ids.blocks(block.column(0), secret)
                found.append(sight(part.files[unit.file].url, blocks_of, suspects, secret.key("repeats")))
        return join_sightings(found)


def columns_of(questions: tuple[Question, ...], ids: IdColumn | None) -> list[str]:
    """Return the columns that questions and ids are read from."""
    names = [part.column for question in questions for part in question.parts]
    return list(dict.fromkeys([ids.name, *names] if ids else names))


def read_part(part: Part, columns: list[str]) -> Iterator[tuple[Unit, Iterator[pa.RecordBatch]]]:
    """Yield each unit of a part with its blocks; refuse files that have changed, before and after."""
    for unit in part.units:
        file = part.files[unit.file]
        check_unchanged(file)
        yield unit, read_blocks(file, unit, columns)
        check_unchanged(file)


def changed(file: str) -> SchemaError:
    """Return the refusal of a file whose rows are no longer those that were looked through."""
    return SchemaError(
        file, "must hold the rows that were looked through", "other answers", "run again: it is a new draw"
    )
