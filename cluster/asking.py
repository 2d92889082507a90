"""Asking one part of a population: what a task does with its rows."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from cluster.manifest import Part
from cluster.reports import ReportWriter, WriteBlock
from cluster.scrutiny import AnswersDigest, changed, columns_of, read_part
from cluster.secret_file import SecretFile
from cluster.storage import Store
from udfs.asking import Ask, Partial, Tally, respond
from udfs.draws import Draws, IdDraws, Numbered, RowDraws, Standing
from udfs.identity import Blocks, IdColumn
from udfs.randomizer import Codes
from udfs.streams import Secret


@dataclass(frozen=True)
class AskPart:
    """Asks one part: reads it block by block, randomizes, adds up and, where wanted, writes the reports.

    Runs on a worker. It reads answers; it gives back sums of reports.

    Parameters
    ----------
    asks : tuple of Ask
    tallies : tuple of Tally
        What is added up of the reports beside each ask's own sum.
    round_name : str
        Tells this round's draws from any other's.
    ids : IdColumn, optional
    secret_file : SecretFile
    reports : Store, optional
        Where reports are staged.
    """

    asks: tuple[Ask, ...]
    tallies: tuple[Tally, ...]
    round_name: str
    ids: IdColumn | None
    secret_file: SecretFile
    reports: Store | None

    def __call__(self, checked: tuple[Part, dict[str, tuple[str, ...]]]) -> Partial:
        """Return the partial answer of a part whose units have these digests.

        A part whose reports are whole has been asked: its answer is noted beside them, and no row is read
        again.
        """
        part, digests = checked
        if self.reports is None:
            return self._ask(part, digests, lambda *_: None)
        tallies = tuple(map(repr, self.tallies))
        where = (part.first_row, part.rows)
        writer = ReportWriter(self.reports, part.name, self.asks, self.ids, tallies, *where)
        return writer.answered() or writer.write(lambda write: self._ask(part, digests, write))

    def _ask(self, part: Part, digests: dict[str, tuple[str, ...]], write: WriteBlock) -> Partial:
        """Ask all blocks of a part."""
        secret = self.secret_file.load()
        keys = [self._draw_key(secret, ask) for ask in self.asks]
        questions = tuple(question for question, _ in self.asks)
        counts = [mechanism.zeros() for _, mechanism in self.asks]
        further = [tally.zeros() for tally in self.tallies]
        for unit, blocks in read_part(part, columns_of(questions, self.ids)):
            digest = AnswersDigest(secret, questions, unit)
            first_row = unit.first_row
            for number, block in enumerate(blocks):
                id_column = block.column(self.ids.name) if self.ids else None
                ids = self.ids.blocks(id_column, secret) if self.ids else None
                standing = self.ids.standing(id_column) if self.ids else Numbered(first_row, block.num_rows)
                first_row += block.num_rows
                columns = []
                for place, (question, mechanism) in enumerate(self.asks):
                    draws_of = _DrawsOf(digest, place, number, keys[place], ids, standing)
                    response = respond((question, mechanism), block, draws_of, standing)
                    if response.reports is None or response.answers is None:
                        raise changed(part.files[unit.file].url)
                    if not mechanism.draws:
                        digest.add(place, number, response.answers)
                    counts[place] += mechanism.tally(response.reports)
                    columns.append(response.reports)
                further = [
                    so_far + tally.tally(columns) for so_far, tally in zip(further, self.tallies, strict=True)
                ]
                write(columns, id_column)
            if digest.hexdigests() != digests[unit.name]:
                raise changed(part.files[unit.file].url)
        return Partial((*counts, *further), part.rows)

    def _draw_key(self, secret: Secret, ask: Ask) -> bytes:
        """Return the key of one ask's draws in this round."""
        question, mechanism = ask
        kind = self.ids.kind if self.ids else "row"
        return secret.key("draws", kind, self.round_name, question.label, mechanism.label)


@dataclass(frozen=True)
class _DrawsOf:
    """Given one question's answers in one block, digests them and makes the draws that belong to them."""

    digest: AnswersDigest
    question: int
    block: int
    key: bytes
    ids: Blocks | None
    standing: Standing

    def __call__(self, answers: Codes) -> Draws:
        block_digest = self.digest.add(self.question, self.block, answers)
        block_secret = hmac.digest(self.key, block_digest, "sha256")
        if self.ids is not None:
            return IdDraws(self.key, self.ids, answers, self.standing, block_secret)
        return RowDraws(block_secret, len(answers), self.standing)
