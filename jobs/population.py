"""What a job is handed: a population to ask, its data before it is asked, and a place for its output.

The cluster's classes and the in-process ones of the tests obey these protocols, and give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy.typing as npt
import pyarrow as pa

from udfs.asking import Ask, Question, Tally, WrittenFile
from udfs.identity import IdColumn
from udfs.link_reports import LinkReports, PairMechanism
from udfs.links import Tile
from udfs.loads import Put
from udfs.lookup import Category

Digests: TypeAlias = dict[str, dict[str, str]]
"""Keyed digests of answers, by question and work unit."""

U = TypeVar("U")
P = TypeVar("P")


class Population(Protocol):
    """Everybody who can be asked."""

    @property
    def rows(self) -> int:
        """How many respondents there are."""
        ...

    @property
    def blocks(self) -> int:
        """How many blocks they are read in."""
        ...

    @property
    def digests(self) -> Digests:
        """Keyed digests of the answers, by question and work unit."""
        ...

    @property
    def files(self) -> dict[str, WrittenFile]:
        """The files of reports that were written."""
        ...

    @property
    def metadata(self) -> tuple[dict[str, Any], ...]:
        """What each file's footer says of reports in it."""
        ...

    @property
    def public_seed(self) -> bytes:
        """The job's 32 bytes for public draws: they are published."""
        ...

    def driver_key(self, *labels: str) -> bytes:
        """Return a key of the job's secret, for what is drawn on the driver: 32 bytes."""
        ...

    def collected(self) -> Population:
        """Return the reports that `collect` wrote: a population of their own."""
        ...

    def check(self, questions: Sequence[Question]) -> Digests:
        """Look through all rows and refuse what cannot be asked; return the units' keyed digests."""
        ...

    def ask(self, asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally] = ()) -> list[Any]:
        """Ask everybody; return the sum of reports to each ask, then each tally of them together."""
        ...

    def collect(
        self, asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally] = (), private: bool = False
    ) -> list[Any]:
        """Ask everybody, write the reports, for their owner alone where private, and return their sums and tallies."""
        ...

    def batches(self, rows: int) -> Iterator[Population]:
        """Yield the population in turn, so many rows at a time if tasks are no larger."""
        ...

    def other(self, path: str, where: str) -> Population:
        """Return another data set of the same respondents, without ids: its rows are answers too."""
        ...

    def collect_pairs(
        self,
        question: Question,
        mechanism: PairMechanism,
        tiles: Sequence[Tile],
        nodes: int,
        name: str,
        put: Put,
    ) -> LinkReports:
        """Ask every pair of respondents whether it is one of this population's rows; reports are laid down."""
        ...

    def write(self, units: Sequence[U], table_of: Callable[[U], pa.Table], stage: str) -> int:
        """Write a table of each unit beside the result, as parts of one data set; return how many rows there are."""
        ...

    def beside(self, path: str, where: str) -> Data:
        """Find another data set's files, that are no respondents' and no secret; `where` is the spec's key."""
        ...

    def room(self) -> AbstractContextManager[Put]:
        """Open a room where arrays that are no secret are put, and every task can read them, until it is closed."""
        ...

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return JSON values that `make` returns, or returned before this job was cut off; no raw data among them."""
        ...

    def cached(self, name: str, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the array that `make` returns, or returned in this job or another: the name tells all that it is."""
        ...

    def say(self, text: str) -> None:
        """Tell whoever runs the job what goes on."""
        ...

    def levels(self, column: str) -> tuple[Category, ...]:
        """Return the values of a column that is no secret, in order."""
        ...

    def reduce(
        self,
        units: Sequence[U],
        chunk: Callable[[U], P],
        combine: Callable[[Iterable[P]], P],
        stage: str,
    ) -> P:
        """Spread work that reads no rows: return `combine` of `chunk` of every unit."""
        ...


class Data(Protocol):
    """A population's files, known by their footers: no row has been read."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        ...

    @property
    def root(self) -> str:
        """The file, folder or glob that was searched; absolute."""
        ...

    @property
    def snapshot(self) -> str:
        """A digest of path, size, version and footer of every file."""
        ...

    @property
    def metadata(self) -> tuple[dict[str, Any], ...]:
        """What each file's footer says of reports in it."""
        ...

    @property
    def column_bytes(self) -> dict[str, int]:
        """The stored bytes of each column."""
        ...

    def known_nulls(self, name: str) -> Iterator[tuple[str, int]]:
        """Yield the paths of files whose footers say that a column has nulls, and how many."""
        ...

    def beside(self, path: str, where: str) -> Data:
        """Find another data set's files, that are no respondents' and no secret; `where` is the spec's key."""
        ...

    def read(self, columns: list[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yield all rows in this process, a block at a time, each with the path of its file."""
        ...

    def columns(self, name: str) -> Iterator[tuple[str, pa.DataType]]:
        """Yield each file's path and the type of one of its columns."""
        ...

    def would_read(self, url: str) -> bool:
        """Tell whether files put at a place would belong to the population, or its files lie there."""
        ...

    @property
    def blocks(self) -> int:
        """How many blocks all rows are read in."""
        ...

    def tasks(self) -> int:
        """Return how many tasks one question takes."""
        ...


class Verified(Protocol):
    """An output that is whole."""

    @property
    def result(self) -> bytes:
        """result.json."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 of the manifest."""
        ...

    @property
    def reports(self) -> bool:
        """Whether reports are in place with it."""
        ...


class Output(Protocol):
    """Where a job's results go."""

    @property
    def url(self) -> str:
        """Where it is; absolute."""
        ...

    def publish(
        self,
        job_id: str,
        reports: dict[str, WrittenFile],
        documents: dict[str, bytes],
        manifest: dict[str, Any],
    ) -> str:
        """Put staged reports and documents in place, the manifest last; return the manifest's SHA-256."""
        ...

    def verify(self, draw: str, digest: str) -> Verified | None:
        """Return what is in place where everything is as the draw's manifest says."""
        ...

    def discard(self, job_id: str) -> None:
        """Remove what was staged."""
        ...

    def copy_to(self, url: str, job_id: str) -> None:
        """Copy a verified output elsewhere."""
        ...


D = TypeVar("D", bound=Data)


class Cluster(Protocol[D]):
    """Opens data, populations and outputs, and keeps secrets where workers find them."""

    def data(
        self,
        path: str,
        id_column: str | None,
        task_rows: int | None = None,
        unit_rows: int | None = None,
        where: str = "population.path",
    ) -> D:
        """Find a population's files and read their footers; cut tasks of so many rows, or as reading suits."""
        ...

    def output(self, url: str) -> Output:
        """Return a job's output folder."""
        ...

    def population(
        self, data: D, ids: IdColumn | None, output_url: str, job_id: str, secret_path: str
    ) -> AbstractContextManager[Population]:
        """Start or reach a cluster; stage below the output; make the secret where there is none."""
        ...

    def code(self) -> str:
        """Return a digest of the code that draws."""
        ...

    def secret_path(self, folder: str) -> str:
        """Return a path for a new secret: in the folder, or in one that all workers share."""
        ...

    def has_secret(self, path: str) -> bool:
        """Tell whether a secret is there."""
        ...

    def destroy_secret(self, path: str) -> None:
        """Destroy a secret."""
        ...
