"""What the tests from end to end share: the command, a remote cluster, and a population cut into many tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.e2e.command import Canvass
from tests.e2e.remote import Remote, remote_scheduler
from tests.e2e.skills_guild import deal, settle

TASKS, TASK_ROWS = 4, (1 << 21) + 1000


@pytest.fixture(scope="session")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A scheduler over plain TCP with two workers."""
    with remote_scheduler(tmp_path_factory.mktemp("remote")) as remote:
        for _ in range(2):
            remote.start_worker()
        yield remote


@pytest.fixture
def canvass(tmp_path: Path) -> Canvass:
    """The command on an embedded cluster."""
    return Canvass(tmp_path / "run")


@pytest.fixture
def sent(tmp_path: Path, remote: Remote) -> Canvass:
    """The command on the remote cluster."""
    return Canvass(tmp_path / "run", "--scheduler-file", str(remote.file))


@pytest.fixture(scope="session")
def multitude(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Millions of people in files that are a task each, with ids of both kinds and small answers."""
    folder = tmp_path_factory.mktemp("multitude")
    for file in range(TASKS):
        numbers = np.arange(file * TASK_ROWS, (file + 1) * TASK_ROWS)
        table = pa.table(
            {
                "number": numbers,
                "name": pc.cast(pa.array(numbers), pa.string()),
                "smokes": (numbers % 3 == 0).astype(np.int8),
                "income": (numbers * 5 % 13 % 5).astype(np.int8),
            }
        )
        pq.write_table(
            table,
            folder / f"{file}.parquet",
            row_group_size=TASK_ROWS // 3,
            use_dictionary=["smokes", "income"],
        )
    return str(folder)


@pytest.fixture(scope="module")
def guild(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Some thousand workers with skills, in files that are a task each."""
    return settle(tmp_path_factory.mktemp("guild"))


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key of three holders, any two of whom open."""
    folder = tmp_path_factory.mktemp("keys") / "keys"
    deal(folder)
    return folder


@pytest.fixture
def mailbox(tmp_path: Path) -> Path:
    """An empty mailbox."""
    folder = tmp_path / "mailbox"
    folder.mkdir()
    return folder
