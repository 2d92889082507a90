"""What jobs are handed: data, populations and outputs, opened as a spec's cluster table says."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from cluster.dataset import Dataset, open_dataset
from cluster.output import Output
from cluster.population import ClusterPopulation
from cluster.reduce import Engine
from cluster.secret_file import SecretFile, destroy_secret, keep_secret
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

    def data(self, path: str, id_column: str | None) -> Dataset:
        """Find a population's files and read their footers."""
        return open_dataset(path, id_column)

    def output(self, url: str) -> Output:
        """Return a job's output folder."""
        return Output(url)

    @contextlib.contextmanager
    def population(
        self, data: Dataset, ids: IdColumn | None, output_url: str, job_id: str, folder: str
    ) -> Iterator[ClusterPopulation]:
        """Start or reach a cluster; stage below the output; make the secret where there is none."""
        with self.open_engine() as engine:
            secret_file = self._secret(job_id, folder)
            staging = Output(output_url).open_staging(job_id)
            yield ClusterPopulation(engine, data.parts(), ids, secret_file, staging)

    def has_secret(self, job_id: str, folder: str) -> bool:
        """Tell whether the job's secret is there."""
        return os.path.exists(self._secret_path(job_id, folder))

    def destroy_secret(self, job_id: str, folder: str) -> None:
        """Destroy the job's secret."""
        destroy_secret(self._secret_path(job_id, folder))

    def _secret(self, job_id: str, folder: str) -> SecretFile:
        return keep_secret(self._secret_path(job_id, folder), self.secret)

    def _secret_path(self, job_id: str, folder: str) -> str:
        return os.path.join(os.path.abspath(self.secrets_dir or folder), f"{job_id[:16]}.secret")
