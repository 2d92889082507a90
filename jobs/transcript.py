"""A conversation in rounds, kept round by round: what was answered is not asked again.

A job that is killed between rounds goes on with the rounds that are kept. One that is killed within a round
asks it again, and the keyed draws give the same reports. Kept are sums of private reports, and nothing else: a
round that only reads what respondents answered is not kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import numpy.typing as npt
import pyarrow as pa

from jobs.cache import Cache
from jobs.population import Data, Population
from jobs.state import write_whole
from udfs.asking import Ask, Question, Tally, WrittenFile
from udfs.link_reports import LinkReports, PairMechanism
from udfs.links import Tile
from udfs.loads import Put
from udfs.lookup import Category
from udfs.sums import sum_from_json, sum_to_json

U = TypeVar("U")
P = TypeVar("P")


class Transcript:
    """A population that remembers what it answered: a `jobs.population.Population`.

    Parameters
    ----------
    population : Population
    folder : Path
        Where rounds are kept, one file each, readable by their owner alone.
    cache : Cache
        Where arrays are kept that other jobs can use.
    """

    def __init__(self, population: Population, folder: Path, cache: Cache) -> None:
        self._population, self._folder, self._cache = population, folder, cache

    @property
    def rows(self) -> int:
        """How many respondents there are."""
        return self._population.rows

    @property
    def blocks(self) -> int:
        """How many blocks they are read in."""
        return self._population.blocks

    @property
    def digests(self) -> dict[str, dict[str, str]]:
        """Keyed digests of the answers, by question and work unit."""
        return self._population.digests

    @property
    def files(self) -> dict[str, WrittenFile]:
        """The files of reports that were written."""
        return self._population.files

    @property
    def metadata(self) -> tuple[dict[str, Any], ...]:
        """What each file's footer says of reports in it."""
        return self._population.metadata

    @property
    def public_seed(self) -> bytes:
        """The job's 32 bytes for public draws."""
        return self._population.public_seed

    def driver_key(self, *labels: str) -> bytes:
        """Return a key for what is drawn on the driver."""
        return self._population.driver_key(*labels)

    def check(self, questions: Sequence[Question]) -> dict[str, dict[str, str]]:
        """Look through all rows."""
        return self._population.check(questions)

    def ask(self, asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally] = ()) -> list[Any]:
        """Return what was answered in this round, or ask."""
        if not all(mechanism.draws for _, mechanism in asks):
            return self._population.ask(asks, round_name, tallies)
        kept = self._folder / f"{_round(asks, round_name, tallies)}.json"
        if kept.exists():
            return [sum_from_json(one) for one in json.loads(kept.read_text("utf-8"))["sums"]]
        sums = self._population.ask(asks, round_name, tallies)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        write_whole(kept, json.dumps({"round": round_name, "sums": [sum_to_json(one) for one in sums]}))
        return sums

    def collect(
        self, asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally] = (), private: bool = False
    ) -> list[Any]:
        """Ask, and write the reports; parts that are staged whole are not asked again."""
        return self._population.collect(asks, round_name, tallies, private)

    def batches(self, rows: int) -> Iterator[Population]:
        """Yield the population in turn; what batches answer is not kept: see `once`."""
        return self._population.batches(rows)

    def other(self, path: str, where: str) -> Population:
        """Return another data set of the same respondents; what is asked of it is not kept."""
        return self._population.other(path, where)

    def collect_pairs(
        self,
        question: Question,
        mechanism: PairMechanism,
        tiles: Sequence[Tile],
        nodes: int,
        name: str,
        put: Put,
    ) -> LinkReports:
        """Ask every pair of respondents; the same reports are drawn again by a run that goes on."""
        return self._population.collect_pairs(question, mechanism, tiles, nodes, name, put)

    def write(self, units: Sequence[U], table_of: Callable[[U], pa.Table], stage: str) -> int:
        """Write a table of each unit beside the result."""
        return self._population.write(units, table_of, stage)

    def beside(self, path: str, where: str) -> Data:
        """Find another data set's files."""
        return self._population.beside(path, where)

    def room(self) -> AbstractContextManager[Put]:
        """Open a room for arrays."""
        return self._population.room()

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what was made under this name in this job, or make it."""
        kept = self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.json"
        if not kept.exists():
            made = json.dumps({"name": name, "made": make()})
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write_whole(kept, made)
        return json.loads(kept.read_text("utf-8"))["made"]

    def cached(self, name: str, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return what was made under this name in any job, or make it."""
        return self._cache.array(name, make)

    def collected(self) -> Population:
        """Return the reports that `collect` wrote."""
        return self._population.collected()

    def say(self, text: str) -> None:
        """Tell whoever runs the job what goes on."""
        self._population.say(text)

    def levels(self, column: str) -> tuple[Category, ...]:
        """Return the values of a column that is no secret."""
        return self._population.levels(column)

    def reduce(
        self, units: Sequence[U], chunk: Callable[[U], P], combine: Callable[[Iterable[P]], P], stage: str
    ) -> P:
        """Spread work that reads no rows."""
        return self._population.reduce(units, chunk, combine, stage)


def _round(asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally]) -> str:
    """Return a name for a round that asks this and no other thing."""
    asked = [(question.label, mechanism.label) for question, mechanism in asks]
    text = json.dumps([round_name, asked, [repr(tally) for tally in tallies]])
    return hashlib.sha256(text.encode()).hexdigest()[:32]
