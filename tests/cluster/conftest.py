"""What the tests of the cluster share: two real worker processes, and an object store behind HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.engine import DaskEngine
from cluster.session import ClusterOptions, open_engine
from cluster.storage import Store
from tests.cluster.object_store import serve_bucket


@pytest.fixture(scope="package")
def engine() -> Iterator[DaskEngine]:
    """Two worker processes."""
    with open_engine(ClusterOptions(workers=2, timeout_s=60)) as engine:
        yield engine


@pytest.fixture(scope="package")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a bucket."""
    with contextlib.ExitStack() as stack:
        yield stack.enter_context(serve_bucket(tmp_path_factory.mktemp("moto")))


@pytest.fixture(params=["local", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """An empty folder, made: here, and on an object store."""
    url = str(tmp_path) if request.param == "local" else request.getfixturevalue("bucket")
    folder = Store(f"{url}/{tmp_path.name}")
    folder.make()
    return folder
