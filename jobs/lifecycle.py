"""From a checked spec to a committed result: reserve, charge, ask, publish, destroy the secret.

The order is the guarantee. Nothing is read before the budget is reserved; nothing is charged before every row
has been found in order; nothing is drawn before the charge stands, and then it stands whatever happens; and the
manifest is written last, so a run that was cut off anywhere resumes with the same coins.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TypeVar

from jobs.cache import Cache
from jobs.ledger import Balance, Ledger
from jobs.population import Cluster, D, Data, Digests, Output, Population
from jobs.spec import Spec
from jobs.state import JobState, Record, keyed_id
from jobs.transcript import Transcript
from udfs.asking import MISSING_IDS, refusal
from udfs.errors import ClusterError, SchemaError, SpecError
from udfs.identity import IdColumn

S_contra = TypeVar("S_contra", bound=Spec, contravariant=True)
S = TypeVar("S", bound=Spec)


class Job(Protocol[S_contra]):
    """A kind of job: what lies between a checked spec and a result."""

    @property
    def spec_type(self) -> type[Spec]:
        """The type of its specs."""
        ...

    def plan(self, spec: S_contra, data: Data) -> dict[str, Any]:
        """Return what it would do and how good it would be; reads no row."""
        ...

    def check(self, spec: S_contra, data: Data) -> None:
        """Refuse data that do not fit the spec, by their footers."""
        ...

    def charges(self, spec: S_contra) -> list[tuple[str, Decimal]]:
        """Return what is charged: questions and their epsilon; nothing where nothing is drawn."""
        ...

    def look_through(self, spec: S_contra, data: Data, population: Population) -> Digests:
        """Have all rows looked through before anything is drawn; return their keyed digests."""
        ...

    def roles(self, spec: S_contra) -> str:
        """Return who stands in for whom: "embedded" where this cluster does for all."""
        ...

    def writes_reports(self, spec: S_contra) -> bool:
        """Tell whether reports are published beside the result."""
        ...

    def privacy(self, spec: S_contra) -> dict[str, Any]:
        """Return the guarantee: model, neighbours and epsilon."""
        ...

    def run(self, spec: S_contra, population: Population) -> dict[str, Any]:
        """Ask, and return the `result` of result.json."""
        ...

    def documents(self, document: dict[str, Any]) -> dict[str, bytes]:
        """Return what is published beside the reports, by name; result.json is one of them."""
        ...

    def page(self, document: dict[str, Any]) -> bytes:
        """Return the page of a published document, as HTML."""
        ...


def open_data(spec: Spec, cluster: Cluster[D]) -> tuple[D, IdColumn | None]:
    """Find a spec's population and its ids; no row is read.

    Raises
    ------
    SpecError
        Where there is no Parquet file.
    SchemaError
        Where the column of ids is not there, or can hold none.
    """
    table = spec.population
    where = table.respondents_key
    data = cluster.data(table.respondents, table.id, spec.task_rows, spec.unit_rows, where)
    if table.id is None:
        return data, None
    types = [arrow_type for _, arrow_type in data.columns(table.id)]
    column = IdColumn.of(table.id, types, table.ids == "checked")
    nulls = {(file, table.id, MISSING_IDS): count for file, count in data.known_nulls(table.id)}
    if nulls:
        raise refusal(nulls)
    return data, column


def run_job(
    job: Job[S], spec: S, cluster: Cluster[D], ledger: Ledger, home: Path
) -> tuple[dict[str, Any], bool]:
    """Run a job, resume it, or answer with its stored result.

    Parameters
    ----------
    job : Job
    spec : Spec
        Checked.
    cluster : Cluster
    ledger : Ledger
    home : Path
        The state folder.

    Returns
    -------
    tuple of dict and bool
        The document of result.json, and whether it was there already: nothing was drawn or charged.

    Raises
    ------
    JobError
        Before the charge, nothing is left: no output, no charge, no secret. From the charge on, which comes
        after every row was found in order and before the first coin, it stands, and another run resumes.
    """
    started = time.monotonic()
    data, ids = open_data(spec, cluster)
    job.check(spec, data)
    output = cluster.output(spec.output.path)
    if data.would_read(output.url):
        raise SpecError("output.path", "must lie apart from the population's files", spec.output.path)
    state = JobState(home, keyed_id(home, spec.job_id(spec.snapshot(data))))
    with state.locked():
        record = state.record()
        stored = _stored(job, state, record, spec, output, cluster)
        if record and stored:
            return json.loads(stored), True
        resumed = _resume(state, record, output, cluster)
        record = resumed or _begin(state, record, spec.job_id(data.root), output, cluster, ledger)
        charged = False
        # What draws pages takes half a second to load: time enough while the cluster starts.
        threading.Thread(target=importlib.import_module, args=("jobs.page.page",), daemon=True).start()
        try:
            balance = ledger.reserve(spec.population.account, state.job_id, record.draw, job.charges(spec))
            with cluster.population(data, ids, output.url, state.job_id, record.secret) as population:
                ready = time.monotonic()
                looked = job.look_through(spec, data, population)
                state.keep_digests(looked)
                ledger.charge(record.draw)
                charged = True
                result = job.run(spec, Transcript(population, state.rounds, Cache(home / "cache")))
                asked = time.monotonic()
        except BaseException as error:
            if not (charged or resumed):
                with suppress(ClusterError):
                    ledger.release_reserved(record.draw)
                _forget(state, record, cluster)
            elif isinstance(error, SchemaError | SpecError):  # it cannot be resumed, and is paid for
                _forget(state, record, cluster)
            raise
        digests = looked | population.digests
        document: dict[str, Any] = {
            "job": spec.job,
            "version": version("dask-canvass"),
            "spec": spec.canonical(),
            "population": {
                "name": spec.population.account,
                "rows": population.rows,
                "fingerprint": hashlib.sha256(json.dumps(digests).encode()).hexdigest(),
            },
            "privacy": job.privacy(spec) | _spending(balance, job.charges(spec)),
            "roles": job.roles(spec),
            "result": result,
        }
        if document["privacy"]["model"] != "central":  # there, time is raw data
            seconds = {"prepare": ready - started, "ask": asked - ready}
            document["seconds"] = seconds if spec.tells_times else {}
        manifest = {"version": 1, "job": state.job_id, "draw": record.draw, "digests": digests}
        documents = job.documents(document)
        documents |= _page(job, json.loads(documents["result.json"]))
        files = population.files if job.writes_reports(spec) else {}
        digest = output.publish(state.job_id, files, documents, manifest)
        state.commit(record, digest)
        _purge(state, record, cluster)
    return json.loads(documents["result.json"]), False


def _page(job: Job[S], document: dict[str, Any]) -> dict[str, bytes]:
    """Return the page by its name; nothing where it cannot be drawn, which is no reason to lose a result."""
    try:
        return {"report.html": job.page(document)}
    except Exception as error:
        warnings.warn(f"report.html could not be drawn: {type(error).__name__}", RuntimeWarning, stacklevel=2)
        return {}


def _stored(
    job: Job[S], state: JobState, record: Record | None, spec: S, output: Output, cluster: Cluster[D]
) -> bytes | None:
    """Return the result that is in place, whole; where it is wanted elsewhere, copy it there."""
    if record is None:
        return None
    there = output if output.verify(record.draw, record.manifest) else cluster.output(record.output)
    found = there.verify(record.draw, record.manifest)
    if found is None:
        return None
    wanted = job.writes_reports(spec) and json.loads(found.result)["population"]["rows"]
    if wanted and not found.reports:
        raise SpecError(
            f"output.{spec.output.beside}",
            f"the stored result was made without {spec.output.beside}",
            "true",
            "remove it to draw, and pay, anew",
        )
    if there.url != output.url:
        there.copy_to(output.url, state.job_id)
    state.commit(record, found.digest)
    _purge(state, record, cluster)
    return found.result


def _purge(state: JobState, record: Record, cluster: Cluster[D]) -> None:
    """Destroy what only an unfinished job needs: its secret, and what it staged."""
    cluster.destroy_secret(record.secret)
    cluster.output(record.output).discard(state.job_id)


def _forget(state: JobState, record: Record, cluster: Cluster[D]) -> None:
    """Leave nothing of a job but what stands in the ledger."""
    _purge(state, record, cluster)
    state.forget()


def _resume(state: JobState, record: Record | None, output: Output, cluster: Cluster[D]) -> Record | None:
    """Return the draw that goes on; None where none was begun, its result or secret is gone, or its code."""
    if (
        record is None
        or record.committed
        or record.code != cluster.code()
        or not cluster.has_secret(record.secret)
    ):
        return None
    if record.output != output.url:
        cluster.output(record.output).discard(state.job_id)
        record = replace(record, output=output.url)
        state.write(record)
    return record


def _begin(
    state: JobState, record: Record | None, spec: str, output: Output, cluster: Cluster[D], ledger: Ledger
) -> Record:
    """Begin a new draw; destroy what runs left that can never be resumed, as their data are gone."""
    if record is not None:
        ledger.release_reserved(record.draw)
        _purge(state, record, cluster)
    for other, its_record in state.abandoned(spec):
        ledger.release_reserved(its_record.draw)
        _forget(other, its_record, cluster)
    return state.begin(output.url, spec, cluster.secret_path(str(state.folder)), cluster.code())


def _spending(balance: Balance, charges: list[tuple[str, Decimal]]) -> dict[str, Decimal | None]:
    """Return what stood against the account before and after the job."""
    spent = sum((epsilon for _, epsilon in charges), Decimal(0))
    return {"spent_before": balance.spent, "spent_after": balance.spent + spent, "limit": balance.limit}
