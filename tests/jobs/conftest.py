"""What the tests of jobs share: a house of its own for each test, and empty ledgers."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from cluster.dataset import open_dataset
from jobs.__main__ import main
from tests.jobs.house import Canvass, House
from udfs.streams import Secret


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
def twin(tmp_path: Path) -> House:
    """The same house once more, with a ledger and a state folder of its own."""
    return House(tmp_path / "twin")


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file be a task of its own."""
    monkeypatch.setattr("cluster.backend.PART_ROWS", 1)
    monkeypatch.setattr(open_dataset, "__defaults__", (None, 1, None, "population.path"))


@pytest.fixture
def secret() -> Secret:
    return Secret(bytes(range(100, 132)))


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'ledger.db'}"
        return
    if not (server := os.environ.get("CANVASS_TEST_POSTGRES")):
        pytest.skip("no PostgreSQL: set CANVASS_TEST_POSTGRES to its URL")
    schema = f"canvass_{uuid.uuid4().hex}"
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.execute(sa.schema.CreateSchema(schema))
    url = sa.engine.make_url(server).update_query_dict({"options": f"-csearch_path={schema}"})
    yield url.render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(sa.schema.DropSchema(schema, cascade=True))


@pytest.fixture
def canvass(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Canvass:
    """Run a command; return its exit code and what it wrote to either stream."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["canvass", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run
