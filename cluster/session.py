"""A cluster to work on: an embedded one of processes, or a scheduler elsewhere."""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import platform
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import dask
import distributed
from distributed.comm.addressing import get_address_host_port
from distributed.security import Security
from distributed.utils import silence_logging_cmgr

from cluster.engine import CONNECT_TIMEOUT_S, DaskEngine
from cluster.progress import Progress
from cluster.reduce import code_digest
from udfs.errors import ClusterError, JobError, SpecError

T = TypeVar("T")

_CHECKED_PACKAGES = ("dask", "distributed", "numpy", "pyarrow", "cryptography")
_ANSWER_TIMEOUT_S = 120.0

_EMBEDDED_CONFIG = {
    "distributed.scheduler.allowed-failures": 3,
    "distributed.scheduler.worker-ttl": None,  # a long call that holds the GIL is no death
    "distributed.comm.require-encryption": True,
    "distributed.comm.timeouts.connect": f"{CONNECT_TIMEOUT_S}s",
    "distributed.deploy.lost-worker-timeout": "30d",  # a process that dies twice is started twice
    "distributed.admin.tick.limit": "1h",
    "distributed.worker.memory.spill": False,  # partial answers do not go to disk
}


@dataclass(frozen=True)
class ClusterOptions:
    """Where a job runs.

    Attributes
    ----------
    scheduler : str, optional
        The address of a running scheduler.
    scheduler_file : str, optional
        The file in which a running scheduler wrote its address.
    workers : int, optional
        Processes of the embedded cluster; by default one a core.
    threads : int
        Threads of each process of the embedded cluster.
    memory : str, optional
        The memory of each process of the embedded cluster, such as "4GiB".
    timeout_s : float
        The job fails when no task has finished for so many seconds, or no process has been there for
        as long.
    """

    scheduler: str | None = None
    scheduler_file: str | None = None
    workers: int | None = None
    threads: int = 1
    memory: str | None = None
    timeout_s: float = 600.0

    @property
    def embedded(self) -> bool:
        """Whether the job brings its own cluster."""
        return self.scheduler is None and self.scheduler_file is None


@contextlib.contextmanager
def open_engine(options: ClusterOptions, progress: Progress | None = None) -> Iterator[DaskEngine]:
    """Start or reach a cluster, check that it runs the same code, and hand out its engine.

    Raises
    ------
    ClusterError
        Where it cannot be reached in time, or runs other versions or other code.
    """
    progress = progress or Progress()
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(_EMBEDDED_CONFIG if options.embedded else {}))
        stack.enter_context(silence_logging_cmgr(logging.CRITICAL))  # a failure is one line: the error's
        try:
            if options.embedded:
                progress.say("starting processes on this machine")
                client = _start_embedded(options, stack)
            else:
                _check_place(options)
                client = stack.enter_context(
                    distributed.Client(
                        address=options.scheduler,
                        scheduler_file=options.scheduler_file,
                        timeout=min(options.timeout_s, CONNECT_TIMEOUT_S),
                        set_as_default=False,
                    )
                )
            client.wait_for_workers(1, timeout=min(options.timeout_s, 120.0))
        except JobError:
            raise
        except (OSError, TimeoutError, ValueError, LookupError, TypeError, RuntimeError) as error:
            where = options.scheduler or options.scheduler_file or "embedded cluster"
            raise ClusterError(
                where,
                "a scheduler with workers must answer",
                type(error).__name__,
                "check its address and its log",
            ) from None
        check_cluster(client)
        yield DaskEngine(client, progress, options.timeout_s)


def _check_place(options: ClusterOptions) -> None:
    """Raise what a client would only meet after long waits: no file, an address that is none, no certificates."""
    address = options.scheduler or json.loads(Path(str(options.scheduler_file)).read_text("utf-8"))["address"]
    get_address_host_port(address)
    if address.startswith("tls://") and not Security().get_connection_args("client").get("ssl_context"):
        raise ClusterError(
            address, "TLS needs certificates", "none", "set distributed.comm.tls in Dask's configuration"
        )


def _start_embedded(options: ClusterOptions, stack: contextlib.ExitStack) -> distributed.Client:
    """Start processes on loopback, speaking TLS under throw-away certificates."""
    try:
        with _interrupts_kept_from_children():
            cluster = distributed.LocalCluster(
                n_workers=options.workers,
                threads_per_worker=options.threads,
                processes=True,
                memory_limit=options.memory or "auto",
                host="127.0.0.1",
                dashboard_address=None,
                scheduler_kwargs={
                    "dashboard_address": "127.0.0.1:0"
                },  # its HTTP server asks for no fixed port
                security=True,
                silence_logs=logging.CRITICAL,
            )
    except ValueError as error:
        raise SpecError("cluster.memory", "must be a size such as 4GiB", str(options.memory)) from error
    stack.enter_context(cluster)
    return stack.enter_context(distributed.Client(cluster, set_as_default=False, timeout=CONNECT_TIMEOUT_S))


@contextlib.contextmanager
def _interrupts_kept_from_children() -> Iterator[None]:
    """Let processes that start now leave Ctrl-C to this one, which ends them in order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def worker_facts() -> dict[str, str]:
    """Return what must be the same on the driver and on every worker; import what tasks will need."""
    for module in ("cluster.population", "pandas"):  # pyarrow imports pandas when it first meets numpy
        importlib.import_module(module)
    facts = {name: version(name) for name in _CHECKED_PACKAGES}
    return facts | {"python": ".".join(platform.python_version_tuple()[:2]), "code": code_digest()}


def check_cluster(client: distributed.Client) -> None:
    """Refuse a cluster that runs other versions or other code than the driver.

    Raises
    ------
    ClusterError
    """
    own = worker_facts()
    try:
        found: dict[str, Any] = _within(
            _ANSWER_TIMEOUT_S, lambda: client.run(worker_facts, on_error="return")
        )
    except Exception as error:
        raise ClusterError("cluster", "every worker must answer", type(error).__name__) from None
    for address, facts in sorted(found.items()):
        if not isinstance(facts, dict):
            raise ClusterError(
                f"worker {address}",
                "must have dask-canvass installed",
                type(facts).__name__,
                f"install dask-canvass {version('dask-canvass')} on every worker",
            )
        for name, value in own.items():
            if facts.get(name) != value:
                raise ClusterError(
                    f"worker {address}",
                    f"must run the driver's {name}, {value[:12]}",
                    str(facts.get(name))[:12],
                    "install the same releases everywhere, and restart the worker",
                )


def _within(seconds: float, call: Callable[[], T]) -> T:
    """Return what a call returns, or fail when it takes longer; the call is then left behind."""
    answer: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answer.put((True, call()))
        except Exception as error:
            answer.put((False, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        returned, value = answer.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError from None
    if not returned:
        raise value
    return value
