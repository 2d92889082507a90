"""What jobs are handed: data, populations and outputs, with the secret where workers find it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from cluster.backend import Backend
from cluster.reduce import SerialEngine
from tests.cluster.populations import ASKS, SECRET, people, write
from udfs.identity import IdColumn

JOB = "a" * 64


def backend(**options: object) -> Backend:
    """Return a backend that works in this process."""
    return Backend(lambda: contextlib.nullcontext(SerialEngine()), **options)  # type: ignore[arg-type]


def test_a_population_is_staged_below_its_output_and_its_secret_kept_in_the_job_s_folder(
    tmp_path: Path,
) -> None:
    own = backend(secret=SECRET)
    path = own.secret_path(str(tmp_path / "state"))
    assert path != own.secret_path(str(tmp_path / "state"))
    data = own.data(write(tmp_path / "data", [people(10)]), "id")
    assert not own.has_secret(path)
    with own.population(data, IdColumn("id", "integer"), str(tmp_path / "out"), JOB, path) as population:
        assert population.rows == 10
        population.collect(ASKS, "randomize")
    (staging,) = (tmp_path / "out").iterdir()
    assert staging.name.startswith(".")
    assert own.has_secret(path)
    (secret,) = (tmp_path / "state").iterdir()
    assert secret.read_bytes() == SECRET.reveal()
    own.destroy_secret(path)
    own.destroy_secret(path)
    assert not own.has_secret(path)
    own.output(str(tmp_path / "out")).discard(JOB)
    assert not (tmp_path / "out").exists()


def test_secrets_can_lie_where_all_workers_see_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shared = backend(secrets_dir="shared")
    data = shared.data(write(tmp_path / "data", [people(10)]), None)
    with shared.population(data, None, "out", JOB, shared.secret_path("state")) as population:
        assert Path(population.secret_file.path).parent == tmp_path / "shared"
    assert not (tmp_path / "state").exists()


def test_where_no_cluster_opens_nothing_is_made(tmp_path: Path) -> None:
    def refuse() -> contextlib.AbstractContextManager[SerialEngine]:
        raise RuntimeError("no cluster")

    data = backend().data(write(tmp_path / "data", [people(10)]), None)
    nobody = Backend(refuse).population(data, None, str(tmp_path / "out"), JOB, str(tmp_path / "state"))
    with pytest.raises(RuntimeError, match="no cluster"), nobody:
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
