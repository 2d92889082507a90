"""The population: asked on an engine, block by block, every draw keyed by where it belongs."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cluster.blocks import BLOCK_ROWS, check_unchanged, read_blocks
from cluster.manifest import DataFile, Part, Unit
from cluster.reduce import Engine
from cluster.repeats import (
    RunSorter,
    Scratch,
    SearchBucket,
    Sightings,
    join_repeats,
    join_sightings,
    plan_scratch,
    sight,
)
from cluster.reports import ReportWriter, WriteBlock
from cluster.secret_file import SecretFile
from cluster.storage import Store
from udfs.asking import MISSING_IDS, Ask, Fault, Partial, WrittenFile, combine, refusal, respond
from udfs.errors import SchemaError
from udfs.identity import Blocks, IdColumn
from udfs.randomizer import Codes, Counts
from udfs.streams import Draws, IdDraws, RowDraws, Secret, block_key


@dataclass(frozen=True)
class AskPart:
    """Asks one part: reads it block by block, randomizes, adds up and, where wanted, writes the reports.

    Runs on a worker. It reads answers; it gives back sums of reports, counts of faults and keyed digests.
    """

    asks: tuple[Ask, ...]
    round_name: str
    ids: IdColumn | None
    secret_file: SecretFile
    scratch: Scratch | None
    reports: Store | None

    def __call__(self, part: Part) -> Partial:
        """Return the part's partial answer.

        A part whose reports are whole has been asked: its answer is noted beside them, and no row is read
        again.
        """
        writer = ReportWriter(self.reports, part.name, self.asks, self.ids) if self.reports else None
        if writer and (answered := writer.answered()):
            return answered
        try:
            if writer is None:
                return self._ask(part, lambda *_: None)
            return writer.write(lambda write: self._ask(part, write))
        except _FaultFound:
            return Partial(self._zeros(), part.rows, self._count_faults(part))

    def _ask(self, part: Part, write: WriteBlock) -> Partial:
        """Ask all blocks of a part; stop at the first fault."""
        secret = self.secret_file.load()
        keys = [
            secret.key(
                "draws",
                self.round_name,
                question.label,
                mechanism.label,
                self.ids.kind if self.ids else "row",
            )
            for question, mechanism in self.asks
        ]
        sorter = (
            RunSorter(part, self.scratch, secret.key("repeats")) if self.ids and self.ids.checked else None
        )
        counts, digests = self._zeros(), dict[str, str]()
        for unit, blocks in _read(part, self._columns()):
            digest = hmac.new(secret.key("digest", self.round_name), digestmod="sha256")
            for number, block in enumerate(blocks):
                id_column = block.column(self.ids.name) if self.ids else None
                ids = self._ids_of(id_column, unit, secret)
                if sorter is not None and ids is not None:
                    sorter.add(ids)
                place = (unit.file, unit.row_group, number * BLOCK_ROWS)
                columns = []
                for index, (question, mechanism) in enumerate(self.asks):
                    draws = _KeyedDraws(keys[index], place, ids)
                    response = respond((question, mechanism), block.column(question.column), draws)
                    if response.reports is None:
                        raise _FaultFound
                    digest.update(draws.block_key)
                    counts[index][:] += mechanism.tally(response.reports)
                    columns.append(response.reports)
                write(columns, id_column)
            digests[unit.name] = digest.hexdigest()
        return Partial(counts, part.rows, {}, digests, sorter.finish() if sorter else ())

    def _ids_of(self, column: pa.Array | None, unit: Unit, secret: Secret) -> Blocks | None:
        """Return a block's ids; refuse ids that the file's own footer does not own to."""
        if column is None or self.ids is None:
            return None
        if column.null_count:
            raise _FaultFound
        if self.ids.kind != "text" and self.scratch is None and unit.id_span and len(column):
            span = pc.min_max(column)
            if span["min"].as_py() < unit.id_span[0] or span["max"].as_py() > unit.id_span[1]:
                raise SchemaError(
                    f"column {self.ids.name!r}",
                    "must lie between the least and greatest value in its file's footer",
                    "ids outside them",
                    "write the file anew",
                )
        return self.ids.blocks(column, secret)

    def _count_faults(self, part: Part) -> dict[Fault, int]:
        """Count every row of a part that cannot be asked; draw nothing."""
        faults: dict[Fault, int] = {}
        for unit, blocks in _read(part, self._columns()):
            file = part.files[unit.file].url
            for block in blocks:
                found = (
                    {(self.ids.name, MISSING_IDS): block.column(self.ids.name).null_count} if self.ids else {}
                )
                for question, mechanism in self.asks:
                    response = respond((question, mechanism), block.column(question.column), _no_draws)
                    found |= {(question.column, what): count for what, count in response.faults.items()}
                for (column, what), count in found.items():
                    if count:
                        faults[file, column, what] = faults.get((file, column, what), 0) + count
        return faults

    def _columns(self) -> list[str]:
        names = [question.column for question, _ in self.asks]
        return [self.ids.name, *names] if self.ids and self.ids.name not in names else names

    def _zeros(self) -> tuple[Counts, ...]:
        return tuple(mechanism.zeros() for _, mechanism in self.asks)


class _FaultFound(Exception):  # noqa: N818  no error: the way out of a part that cannot be asked
    """A block has a row that cannot be asked."""


class _KeyedDraws:
    """Given a block's answers, makes the draws that belong to them, and keeps the block's key."""

    def __init__(self, key: bytes, place: tuple[int, ...], ids: Blocks | None) -> None:
        self._key, self._place, self._ids = key, place, ids
        self.block_key = b""

    def __call__(self, answers: Codes) -> Draws:
        self.block_key = block_key(self._key, self._place, answers)
        if self._ids is None:
            return RowDraws(self.block_key, len(answers))
        return IdDraws(self._key, self._ids, answers)


def _no_draws(answers: Codes) -> Draws:
    return RowDraws(bytes(32), len(answers))


def _read(part: Part, columns: list[str]) -> Iterator[tuple[Unit, Iterator[pa.RecordBatch]]]:
    """Yield each unit of a part with its blocks; refuse files that have changed, before and after."""
    for unit in part.units:
        file: DataFile = part.files[unit.file]
        check_unchanged(file)
        yield unit, read_blocks(file, unit, columns)
        check_unchanged(file)


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
        for unit, blocks in _read(part, [self.ids.name]):
            for block in blocks:
                blocks_of = self.ids.blocks(block.column(0), secret)
                found.append(sight(part.files[unit.file].url, blocks_of, suspects, secret.key("repeats")))
        return join_sightings(found)


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
    digests : dict
        The units' digests by round, filled as rounds are asked.
    files : dict
        The files of reports that were written, by name.
    """

    engine: Engine
    parts: tuple[Part, ...]
    ids: IdColumn | None
    secret_file: SecretFile
    staging: Store
    digests: dict[str, dict[str, str]] = field(default_factory=dict)
    files: dict[str, WrittenFile] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many respondents there are."""
        return sum(part.rows for part in self.parts)

    def ask(self, asks: Sequence[Ask], round_name: str) -> list[Counts]:
        """Ask everybody and return the sums of reports, one for each ask: int64, shape (cells,).

        Raises
        ------
        SchemaError
            Where rows cannot be asked; names files, columns and counts, and nothing has left.
        """
        return self._reduce(tuple(asks), round_name, None)

    def collect(self, asks: Sequence[Ask], round_name: str) -> list[Counts]:
        """Ask everybody, write the reports to the staging folder, and return their sums."""
        return self._reduce(tuple(asks), round_name, self.staging.folder("reports"))

    def _reduce(self, asks: tuple[Ask, ...], round_name: str, reports: Store | None) -> list[Counts]:
        check = self.ids is not None and self.ids.checked
        scratch = plan_scratch(self.parts, self.staging.folder("ids")) if check else None
        chunk = AskPart(asks, round_name, self.ids, self.secret_file, scratch, reports)
        answer = self.engine.reduce(self.parts, chunk, combine, round_name)
        if answer.faults:
            raise refusal(answer.faults)
        self._check_repeats(answer.repeats, scratch)
        self.digests[round_name] = dict(sorted(answer.digests.items()))
        self.files |= answer.files
        return list(answer.counts) if self.parts else [mechanism.zeros() for _, mechanism in asks]

    def _check_repeats(self, repeats: tuple[int, ...], scratch: Scratch | None) -> None:
        """Refuse ids that stand twice; look for them across parts where the footers do not rule it out."""
        if scratch is not None:
            runs = tuple(name for name in scratch.folder.names() if name.endswith(".run"))  # no torn ones
            search = SearchBucket(scratch, runs)
            repeats = self.engine.reduce(range(scratch.buckets), search, join_repeats, "repeated ids")
        if not repeats or self.ids is None:
            return
        count = CountSightings(self.ids, self.secret_file, repeats)
        files = self.engine.reduce(self.parts, count, join_sightings, "locate repeated ids").repeated()
        if files:
            raise refusal(
                {(file, self.ids.name, "rows whose id repeats"): rows for file, rows in files.items()}
            )
