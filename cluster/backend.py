"""What jobs are handed: data, populations and outputs, opened as a spec's cluster table says."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from cluster.dataset import Dataset, open_dataset
from cluster.manifest import PART_ROWS
from cluster.output import Output
from cluster.population import ClusterPopulation
from cluster.reduce import Engine, draw_digest
from cluster.secret_file import destroy_secret, keep_secret
from udfs.identity import IdColumn
from udfs.streams import Secret


@dataclass(frozen=True)
class Backend:
    """Opens what jobs need.

    Parameters
    ----------
    open_engine : callable
        Starts or reaches a cluster.
    secrets_dir : str, optional
        A folder that all workers share; by default the job's own state folder.
    secret : Secret, optional
        A fixed secret, for reproducible tests; by default each job draws its own.
    """

    open_engine: Callable[[], AbstractContextManager[Engine]]
    secrets_dir: str | None = None
    secret: Secret | None = None

    def data(
        self,
        path: str,
        id_column: str | None,
        task_rows: int | None = None,
        unit_rows: int | None = None,
        where: str = "population.path",
    ) -> Dataset:
        """Find a population's files and read their footers; cut tasks of so many rows, or as reading suits."""
        return open_dataset(path, id_column, task_rows or PART_ROWS, unit_rows, where)

    def output(self, url: str) -> Output:
        """Return a job's output folder."""
        return Output(url)

    @contextlib.contextmanager
    def population(
        self, data: Dataset, ids: IdColumn | None, output_url: str, job_id: str, secret_path: str
    ) -> Iterator[ClusterPopulation]:
        """Start or reach a cluster; stage below the output; make the secret where there is none."""
        with self.open_engine() as engine:
            secret_file = keep_secret(secret_path, self.secret)
            staging = Output(output_url).open_staging(job_id)
            yield ClusterPopulation(engine, data.parts(), ids, secret_file, staging, data.metadata)

    def code(self) -> str:
        """Return a digest of the code that draws."""
        return draw_digest()

    def secret_path(self, folder: str) -> str:
        """Return a path for a new secret: in the folder, or in one that all workers share."""
        return os.path.join(os.path.abspath(self.secrets_dir or folder), f"{uuid.uuid4().hex}.secret")

    def has_secret(self, path: str) -> bool:
        """Tell whether a secret is there."""
        return os.path.exists(path)

    def destroy_secret(self, path: str) -> None:
        """Destroy a secret."""
        destroy_secret(path)
