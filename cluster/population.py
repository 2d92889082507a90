"""The population: looked through, then asked, block by block, every draw keyed by where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy.typing as npt
import pyarrow as pa

from cluster.asking import AskPart
from cluster.dataset import Dataset, open_dataset
from cluster.levels import FindLevels
from cluster.manifest import Part
from cluster.pairs import AskTiles
from cluster.reduce import Engine
from cluster.repeats import SearchBucket, join_repeats, join_sightings, plan_scratch
from cluster.reports import WriteTable
from cluster.scrutiny import CheckPart, CountSightings
from cluster.secret_file import SecretFile
from cluster.shared import Room, open_room
from cluster.storage import Store
from udfs.asking import Ask, Question, Tally, WrittenFile, combine, refusal
from udfs.identity import IdColumn
from udfs.link_reports import LinkReports, PairMechanism
from udfs.links import Tile, pair_tasks
from udfs.loads import Put
from udfs.lookup import Category

U = TypeVar("U")
P = TypeVar("P")


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
    others : dict
        Other data sets of the same respondents, by path.
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
    others: dict[str, ClusterPopulation] = field(default_factory=dict)

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

    def collect(
        self, asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally] = (), private: bool = False
    ) -> list[Any]:
        """Ask everybody, write the reports to the staging folder, and return their sums and tallies.

        Private reports stay their owner's alone, also where they are published.
        """
        reports = replace(self.staging.folder("reports"), private=private)
        return self._ask(tuple(asks), tuple(tallies), round_name, reports)

    def batches(self, rows: int) -> Iterator[ClusterPopulation]:
        """Yield the population in turn, at least one task and otherwise at most so many rows at a time.

        Who is asked in which batch changes no draw.
        """
        batch: list[Part] = []
        for part in self.parts:
            if batch and sum(one.rows for one in batch) + part.rows > rows:
                yield replace(self, parts=tuple(batch))
                batch = []
            batch.append(part)
        if batch:
            yield replace(self, parts=tuple(batch))

    def other(self, path: str, where: str) -> ClusterPopulation:
        """Return another data set of the same respondents, without ids: its rows are answers too."""
        if path not in self.others:
            data = open_dataset(path, where=where)
            self.others[path] = replace(
                self, parts=data.parts(), ids=None, ids_known=True, metadata=data.metadata, digests={}
            )
        return self.others[path]

    def collect_pairs(
        self,
        question: Question,
        mechanism: PairMechanism,
        tiles: Sequence[Tile],
        nodes: int,
        name: str,
        put: Put,
    ) -> LinkReports:
        """Ask every pair of respondents whether it is one of this population's rows; reports are laid down.

        Raises
        ------
        SchemaError
            Where rows cannot be asked, or are no longer those that were looked through.
        """
        digests = self.check([question])[question.label]
        links = tuple((part, {unit.name: digests[unit.name] for unit in part.units}) for part in self.parts)
        chunk = AskTiles(question, mechanism, name, nodes, links, self.secret_file, put)
        return self.engine.reduce(pair_tasks(tiles), chunk, chunk.combine, name)

    def write(self, units: Sequence[U], table_of: Callable[[U], pa.Table], stage: str) -> int:
        """Write a table of each unit beside the result, as parts of one data set; return how many rows there are."""
        chunk = WriteTable(self.staging.folder("reports"), table_of)
        written = self.engine.reduce(list(enumerate(units)), chunk, combine, stage)
        self.files |= written.files
        return written.rows

    def beside(self, path: str, where: str) -> Dataset:
        """Find another data set's files, that are no respondents' and no secret, and read their footers."""
        return open_dataset(path, where=where)

    def room(self) -> AbstractContextManager[Room]:
        """Open a room where arrays that are no secret are put, and every task can read them, until it is closed."""
        return open_room(self.staging.folder("rooms"))

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what `make` returns: nothing is remembered here."""
        return make()

    def cached(self, name: str, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return what `make` returns: nothing is remembered here."""
        return make()

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
