"""The one primitive: map a chunk over work units, and combine what comes back in a tree.

A new kind of job brings a chunk and a combine. It never builds a graph of its own.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

from cluster.allocator import keep_freed_memory
from cluster.progress import Progress
from udfs.errors import ClusterError, JobError

U = TypeVar("U")
P = TypeVar("P")

FAN_IN = 16
"""So many partial answers are combined at a time."""


class Engine(Protocol):
    """Runs a reduction somewhere."""

    def say(self, text: str) -> None:
        """Tell whoever runs the job what goes on."""
        ...

    def reduce(
        self,
        units: Sequence[U],
        chunk: Callable[[U], P],
        combine: Callable[[Iterable[P]], P],
        stage: str,
    ) -> P:
        """Return `combine` of `chunk` of every unit.

        Parameters
        ----------
        units : sequence
            The work, small and picklable.
        chunk : callable
            A module-level function or an instance of a module-level class. It may run twice for a unit,
            in different processes, and must give the same answer and write the same bytes.
        combine : callable
            Takes any number of partial answers, none included; associative, as the tree is deep.
        stage : str
            What this is, in the words of the job: shown as progress and on the cluster's pages.

        Raises
        ------
        JobError
            What a chunk raised. Any other error of a chunk becomes a ClusterError that names its type
            alone: a library's message may quote an answer.
        """
        ...


class SerialEngine:
    """Reduces in this process, in the order of the tree: for tests and small work."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress or Progress()

    def say(self, text: str) -> None:
        """Tell whoever runs the job what goes on."""
        self._progress.say(text)

    def reduce(
        self,
        units: Sequence[U],
        chunk: Callable[[U], P],
        combine: Callable[[Iterable[P]], P],
        stage: str,
    ) -> P:
        """Return `combine` of `chunk` of every unit."""
        level: list[P] = []
        with self._progress.stage(stage, len(units)) as advance:
            for unit in units:
                level.append(run_chunk(chunk, unit, stage, code_digest()))
                advance()
        for groups in tree(len(level)):
            level = [run_combine(combine, [level[place] for place in group], stage) for group in groups]
        return level[0] if level else combine([])


def tree(leaves: int) -> Iterable[list[range]]:
    """Yield the levels of the tree: which of the level below each node combines.

    Examples
    --------
    >>> [[list(group) for group in level] for level in tree(17)]
    [[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [16]], [[0, 1]]]
    """
    while leaves > 1:
        groups = [range(start, min(start + FAN_IN, leaves)) for start in range(0, leaves, FAN_IN)]
        yield groups
        leaves = len(groups)


def run_chunk(chunk: Callable[[U], P], unit: U, stage: str, expected_code: str) -> P:
    """Run one chunk where it stands, and let no answer out with an error."""
    check_code(expected_code)
    keep_freed_memory()
    return _guarded(lambda: chunk(unit), stage)


def run_combine(combine: Callable[[Iterable[P]], P], partials: Sequence[P], stage: str) -> P:
    """Combine some partial answers where they stand."""
    return _guarded(lambda: combine(partials), stage)


def _guarded(work: Callable[[], P], stage: str) -> P:
    failure: JobError
    try:
        return work()
    except JobError as error:
        failure = error
    except MemoryError:
        failure = ClusterError(
            stage, "a block must fit in memory", "out of memory", "give workers more memory"
        )
    except Exception as error:  # its message may quote an answer
        failure = ClusterError(
            stage, "a task must not fail", _where_it_broke(error), "see the worker's system log"
        )
    # Raised out of the handlers, so that no traceback or context of the first error travels along.
    failure.__traceback__ = failure.__context__ = failure.__cause__ = None
    raise failure


def _where_it_broke(error: Exception) -> str:
    """Return the error's type, and the line of this project's code that it passed last."""
    place, traceback = "", error.__traceback__
    while traceback is not None:
        path = Path(traceback.tb_frame.f_code.co_filename)
        if not {"cluster", "udfs", "jobs"}.isdisjoint(path.parts[-3:-1]):
            place = f" at {path.parent.name}/{path.name}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return type(error).__name__ + place


def draw_digest() -> str:
    """Return SHA-256 of the source that draws or decides what is asked: all modules but what shows results.

    Other code draws other reports, or asks respondents other questions once more.
    """
    return _digest("udfs", "cluster", "jobs", without=("page", "show"))


def code_digest() -> str:
    """Return SHA-256 of the source that tasks run: all modules of this project in this process."""
    return _digest("udfs", "cluster", "jobs")


@cache
def _digest(*packages: str, without: tuple[str, ...] = ()) -> str:
    digest = hashlib.sha256()
    for package in packages:
        folder = Path(str(importlib.import_module(package).__file__)).parent
        for path in sorted(folder.rglob("*.py")):
            if path.relative_to(folder).parts[0] in without:
                continue
            digest.update(f"{package}/{path.relative_to(folder)}".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def check_code(expected: str) -> None:
    """Refuse to work for a driver that runs other code: the two would draw differently.

    Raises
    ------
    ClusterError
    """
    if code_digest() != expected:
        raise ClusterError(
            "cluster",
            "workers must run the same release of dask-canvass as the driver",
            f"code {code_digest()[:12]}, not {expected[:12]}",
            "install the same release on every worker and restart it",
        )
