"""The population: looked through, then asked, block by block, every draw keyed by where it belongs."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from cluster.dataset import open_dataset
from cluster.levels import FindLevels
from cluster.manifest import Part
from cluster.reduce import Engine
from cluster.repeats import SearchBucket, join_repeats, join_sightings, plan_scratch
from cluster.reports import ReportWriter, WriteBlock
from cluster.scrutiny import AnswersDigest, CheckPart, CountSightings, columns_of, read_part
from cluster.secret_file import SecretFile
from cluster.storage import Store
from udfs.asking import Ask, Partial, Question, Tally, WrittenFile, combine, refusal, respond
from udfs.draws import Draws, IdDraws, Numbered, RowDraws, Standing
from udfs.errors import SchemaError
from udfs.identity import Blocks, IdColumn
from udfs.lookup import Category
from udfs.randomizer import Codes
from udfs.streams import Secret

U = TypeVar("U")
P = TypeVar("P")


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
                        raise _changed(part.files[unit.file].url)
                    if not mechanism.draws:
                        digest.add(place, number, response.answers)
                    counts[place] += mechanism.tally(response.reports)
                    columns.append(response.reports)
                further = [
                    so_far + tally.tally(columns) for so_far, tally in zip(further, self.tallies, strict=True)
                ]
                write(columns, id_column)
            if digest.hexdigests() != digests[unit.name]:
                raise _changed(part.files[unit.file].url)
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


def _changed(file: str) -> SchemaError:
    return SchemaError(
        file, "must hold the rows that were looked through", "other answers", "run again: it is a new draw"
    )


@dataclass
class ClusterPopulation:
    """A population on an engine: what jobs ask.

    Parameters
    ----------
    engine : Engine
    parts : tuple of Part
        The manifest's work units, fixed when the job started.
    ids : IdColumn, optional
        Without, draws belong to rows.
    secret_file : SecretFile
    staging : Store
        The job's own folder beside its output; `reports/` and `ids/` below it must be there.
    metadata : tuple of dict
        What each file's footer says of reports in it.
    digests : dict
        Keyed digests of the answers, by the question's label and by unit, filled as they are looked through.
    files : dict
        The files of reports that were written, by name.
    """

    engine: Engine
    parts: tuple[Part, ...]
    ids: IdColumn | None
    secret_file: SecretFile
    staging: Store
    metadata: tuple[dict[str, Any], ...] = ()
    digests: dict[str, dict[str, str]] = field(default_factory=dict)
    ids_known: bool = False
    files: dict[str, WrittenFile] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many respondents there are."""
        return sum(part.rows for part in self.parts)

    @property
    def blocks(self) -> int:
        """How many blocks they are read in."""
        return sum(unit.blocks for part in self.parts for unit in part.units)

    @property
    def public_seed(self) -> bytes:
        """The job's 32 bytes for public draws: published, and of no use to whoever looks for the secret."""
        return self.driver_key("public seed")

    def driver_key(self, *labels: str) -> bytes:
        """Return a key of the job's secret, for what is drawn on the driver."""
        return self.secret_file.load().key("driver", *labels)

    def collected(self) -> ClusterPopulation:
        """Return the reports that `collect` wrote: a population of their own, whose ids are known to differ."""
        folder = self.staging.folder("reports")
        data = open_dataset(folder.url)
        ids = replace(self.ids, checked=False) if self.ids else None
        return replace(
            self, parts=data.parts(), ids=ids, metadata=data.metadata, digests={}, ids_known=True, files={}
        )

    def check(self, questions: Sequence[Question]) -> dict[str, dict[str, str]]:
        """Look through all rows, once for each question and once for the ids; return the units' keyed digests.

        Nothing is drawn.

        Raises
        ------
        SchemaError
            Where rows cannot be asked: names files, columns and counts.
        """
        new = tuple({one.label: one for one in questions if one.label not in self.digests}.values())
        if new or not self.ids_known:
            ids = None if self.ids_known else self.ids
            scratch = plan_scratch(self.parts, self.staging.folder("ids")) if ids and ids.checked else None
            chunk = CheckPart(new, ids, self.secret_file, scratch)
            found = self.engine.reduce(self.parts, chunk, combine, "check")
            if found.faults:
                raise refusal(found.faults)
            repeats = found.repeats
            if scratch is not None:
                runs = tuple(name for name in scratch.folder.names() if name.endswith(".run"))  # no torn ones
                search = SearchBucket(scratch, runs)
                repeats = self.engine.reduce(range(scratch.buckets), search, join_repeats, "repeated ids")
            if repeats:
                self._refuse_repeats(repeats)
            self.ids_known = True
            for place, question in enumerate(new):
                units = sorted(found.digests.items())
                self.digests[question.label] = {unit: digests[place] for unit, digests in units}
        return {question.label: self.digests[question.label] for question in questions}

    def ask(self, asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally] = ()) -> list[Any]:
        """Ask everybody; return the sum of reports to each ask, int64 of shape (cells,), then each tally.

        Raises
        ------
        SchemaError
            Where rows cannot be asked, or are no longer those that were looked through.
        """
        return self._ask(tuple(asks), tuple(tallies), round_name, None)

    def collect(self, asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally] = ()) -> list[Any]:
        """Ask everybody, write the reports to the staging folder, and return their sums and tallies."""
        return self._ask(tuple(asks), tuple(tallies), round_name, self.staging.folder("reports"))

    def say(self, text: str) -> None:
        """Tell whoever runs the job what goes on."""
        self.engine.say(text)

    def levels(self, column: str) -> tuple[Category, ...]:
        """Return the values of a column that is no secret, in order.

        Raises
        ------
        SchemaError
            Where there are more than `MOST_LEVELS`, or some are missing.
        """
        find = FindLevels(column)
        return self.engine.reduce(self.parts, find, find.join, f"levels of {column}").values

    def reduce(
        self,
        units: Sequence[U],
        chunk: Callable[[U], P],
        combine: Callable[[Iterable[P]], P],
        stage: str,
    ) -> P:
        """Spread work that reads no rows over the engine: see `cluster.reduce.Engine.reduce`."""
        return self.engine.reduce(units, chunk, combine, stage)

    def _ask(
        self, asks: tuple[Ask, ...], tallies: tuple[Tally, ...], round_name: str, reports: Store | None
    ) -> list[Any]:
        digests = self.check([question for question, _ in asks])
        by_ask = [digests[question.label] for question, _ in asks]
        checked = [
            (part, {unit.name: tuple(units[unit.name] for units in by_ask) for unit in part.units})
            for part in self.parts
        ]
        chunk = AskPart(asks, tallies, round_name, self.ids, self.secret_file, reports)
        answer = self.engine.reduce(checked, chunk, combine, round_name)
        self.files |= answer.files
        if self.parts:
            return list(answer.counts)
        return [*(mechanism.zeros() for _, mechanism in asks), *(tally.zeros() for tally in tallies)]

    def _refuse_repeats(self, repeats: tuple[int, ...]) -> None:
        """Refuse ids that stand twice, by all their bits; fingerprints alone may meet by chance."""
        if self.ids is not None:
            count = CountSightings(self.ids, self.secret_file, repeats)
            files = self.engine.reduce(self.parts, count, join_sightings, "locate repeated ids").repeated()
            if files:
                raise refusal(
                    {(file, self.ids.name, "rows whose id repeats"): rows for file, rows in files.items()}
                )
