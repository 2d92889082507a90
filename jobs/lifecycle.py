"""From a checked spec to a committed result: reserve, charge, ask, publish, destroy the secret.

The order is the guarantee. Nothing is read before the budget is reserved; nothing is drawn before the
charge stands; nothing leaves the staging folder before every row has been found in order; and the manifest
is written last, so a run that was cut off anywhere resumes with the same coins.
"""

from __future__ import annotations

import hashlib
import json
import time
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TypeVar

from jobs.ledger import Balance, Ledger
from jobs.population import Cluster, D, Data, Output, Population
from jobs.results import encode
from jobs.spec import Spec
from jobs.state import JobState, Record
from udfs.asking import MISSING_IDS, refusal
from udfs.errors import BudgetError, SchemaError, SpecError
from udfs.identity import IdColumn, id_kind

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

    def privacy(self, spec: S_contra) -> dict[str, Any]:
        """Return the guarantee: model, neighbours and epsilon."""
        ...

    def run(self, spec: S_contra, population: Population) -> dict[str, Any]:
        """Ask, and return the `result` of result.json."""
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
    data = cluster.data(table.path, table.id)
    if table.id is None:
        return data, None
    types = {arrow_type: None for _, arrow_type in data.columns(table.id)}
    kind = id_kind(types)
    if kind is None:
        raise SchemaError(f"column {table.id!r}", "ids must be text or integers", ", ".join(map(str, types)))
    nulls = {(file, table.id, MISSING_IDS): count for file, count in data.known_nulls(table.id)}
    if nulls:
        raise refusal(nulls)
    return data, IdColumn(table.id, kind, table.ids == "checked")


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
        After a refusal nothing is left of the output or the charge; after any other failure the charge
        stands, and another run resumes.
    """
    started = time.monotonic()
    data, ids = open_data(spec, cluster)
    job.check(spec, data)
    job_id = spec.job_id(data.snapshot)
    state = JobState(home, job_id)
    with state.locked():
        record = state.record()
        stored = _stored(record, spec, cluster)
        if record and stored:
            _finish(state, record, job_id, cluster)
            return json.loads(stored), True
        output = cluster.output(spec.output.path)
        record = _begin_or_resume(state, record, output, job_id, cluster, ledger)
        balance = _reserve(job, spec, cluster, ledger, state, record, job_id)
        try:
            with cluster.population(data, ids, spec.output.path, job_id, str(state.folder)) as population:
                ready = time.monotonic()
                ledger.charge(record.draw)
                result = job.run(spec, population)
                asked = time.monotonic()
        except (SchemaError, SpecError):
            output.discard(job_id)
            cluster.destroy_secret(job_id, str(state.folder))
            ledger.release(record.draw)
            state.forget()
            raise
        except BaseException:
            ledger.release_reserved(record.draw)
            raise
        document = {
            "job": spec.job,
            "version": version("dask-canvass"),
            "spec": spec.canonical(),
            "population": {
                "name": spec.population.account,
                "rows": population.rows,
                "fingerprint": hashlib.sha256(json.dumps(population.digests).encode()).hexdigest(),
            },
            "privacy": job.privacy(spec) | _spending(balance, job.charges(spec)),
            "roles": "embedded",
            "result": result,
            "seconds": {"prepare": ready - started, "ask": asked - ready},
        }
        manifest = {"version": 1, "job": job_id, "draw": record.draw, "digests": population.digests}
        digest = output.publish(job_id, population.files, {"result.json": encode(document)}, manifest)
        state.commit(record, digest)
        _finish(state, record, job_id, cluster)
    return json.loads(encode(document)), False


def _stored(record: Record | None, spec: Spec, cluster: Cluster[D]) -> bytes | None:
    """Return the result that is in place, whole; where it is wanted elsewhere too, copy it there."""
    if record is None:
        return None
    there = cluster.output(record.output)
    result = there.verify(record.draw, record.manifest)
    wanted = cluster.output(spec.output.path)
    if result is not None and wanted.url != there.url and wanted.verify(record.draw, record.manifest) is None:
        there.copy_to(wanted.url)
    return result


def _finish(state: JobState, record: Record, job_id: str, cluster: Cluster[D]) -> None:
    """Destroy what only an unfinished job needs."""
    cluster.destroy_secret(job_id, str(state.folder))
    cluster.output(record.output).discard(job_id)


def _begin_or_resume(
    state: JobState, record: Record | None, output: Output, job_id: str, cluster: Cluster[D], ledger: Ledger
) -> Record:
    """Return the draw that goes on, or a new one where none was begun, or its result or secret is gone."""
    folder = str(state.folder)
    if record and record.output != output.url:
        cluster.output(record.output).discard(job_id)
    if record and not record.committed and cluster.has_secret(job_id, folder):
        moved = Record(record.draw, output.url)
        state.write(moved)
        return moved
    if record:
        ledger.release_reserved(record.draw)
    cluster.destroy_secret(job_id, folder)
    output.discard(job_id)
    return state.begin(output.url)


def _reserve(
    job: Job[S], spec: S, cluster: Cluster[D], ledger: Ledger, state: JobState, record: Record, job_id: str
) -> Balance:
    """Reserve the job's epsilon; of a job that is over the limit, leave nothing."""
    try:
        return ledger.reserve(spec.population.account, job_id, record.draw, job.charges(spec))
    except BudgetError:
        _finish(state, record, job_id, cluster)
        state.forget()
        raise


def _spending(balance: Balance, charges: list[tuple[str, Decimal]]) -> dict[str, Decimal | None]:
    """Return what stood against the account before and after the job."""
    spent = sum((epsilon for _, epsilon in charges), Decimal(0))
    return {"spent_before": balance.spent, "spent_after": balance.spent + spent, "limit": balance.limit}
