"""The one primitive on a Dask cluster: a task for each unit, and a tree of tasks that combine."""

from __future__ import annotations

import contextlib
import queue
import time
import uuid
from collections.abc import Callable, Iterable, Sequence

import distributed

from cluster.progress import Progress
from cluster.reduce import P, U, code_digest, run_chunk, run_combine, tree
from udfs.errors import ClusterError, JobError

CONNECT_TIMEOUT_S = 30.0

_POLL_S = 1.0


class DaskEngine:
    """Reduces on a Dask cluster: one task a unit, and a tree of tasks that combine.

    Parameters
    ----------
    client : distributed.Client
    progress : Progress
    timeout_s : float
        The longest wait for the next task to finish.
    """

    def __init__(self, client: distributed.Client, progress: Progress, timeout_s: float) -> None:
        self._client, self._progress, self._timeout_s = client, progress, timeout_s

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
        if not units:
            return combine([])
        run, code = uuid.uuid4().hex, code_digest()
        mapped = [
            self._client.submit(
                run_chunk, chunk, unit, stage, code, key=(f"{stage}-{run}", place), pure=False
            )
            for place, unit in enumerate(units)
        ]
        level, combined = mapped, list[distributed.Future]()
        for depth, groups in enumerate(tree(len(mapped))):
            level = [
                self._client.submit(
                    run_combine,
                    combine,
                    [level[place] for place in group],
                    stage,
                    key=(f"{stage} combine-{run}-{depth}", node),
                    pure=False,
                    priority=1,
                )
                for node, group in enumerate(groups)
            ]
            combined += level
        root = level[0]
        try:
            with self._progress.stage(stage, len(mapped)) as advance:
                self._wait(mapped, root, advance, stage)
            return root.result(timeout=self._timeout_s)
        except (JobError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise self._failure(error, stage) from None
        finally:
            with contextlib.suppress(Exception):
                self._client.cancel([*mapped, *combined], force=True)

    def _wait(
        self,
        mapped: list[distributed.Future],
        root: distributed.Future,
        advance: Callable[[], None],
        stage: str,
    ) -> None:
        """Wait for the root, counting mapped tasks as they end; fail on the first error or when all stands still."""
        done: queue.SimpleQueue[distributed.Future] = queue.SimpleQueue()
        waiting = {future.key for future in mapped}
        for future in {future.key: future for future in [*mapped, root]}.values():
            future.add_done_callback(done.put)
        last = time.monotonic()
        while True:
            try:
                future = done.get(timeout=_POLL_S)
            except queue.Empty:
                if self._client.status != "running":
                    raise ClusterError(stage, "the scheduler must stay up", self._client.status) from None
                if time.monotonic() - last > self._timeout_s:
                    raise ClusterError(
                        stage,
                        f"a task must finish within {self._timeout_s:g} s of another",
                        f"none, with {len(self._client.scheduler_info()['workers'])} workers there",
                        "see that workers are up, or raise cluster.timeout_s; running again resumes",
                    ) from None
                continue
            last = time.monotonic()
            if future.status in ("pending", "lost"):  # its process died after it was done: it runs again
                future.add_done_callback(done.put)
                continue
            if future.status != "finished":
                raise self._failure(future.exception(timeout=CONNECT_TIMEOUT_S), stage)
            if future.key in waiting:
                waiting.discard(future.key)
                advance()
            if future.key == root.key:
                return

    @staticmethod
    def _failure(error: BaseException | None, stage: str) -> JobError:
        """Return a task's own error, or what the cluster's failure comes to."""
        if isinstance(error, JobError):
            return error
        if isinstance(error, distributed.KilledWorker):
            return ClusterError(
                stage,
                "workers must outlive their tasks",
                "a task whose worker died several times",
                "give workers more memory; running again resumes",
            )
        got = type(error).__name__ if error else "its tasks cancelled"
        return ClusterError(stage, "the cluster must stay up", got, "running again resumes")
