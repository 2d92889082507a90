"""A scheduler elsewhere, over TLS: the same reports, and nothing in clear."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed.security import Security

from tests.e2e.command import Canvass
from tests.e2e.remote import Remote, remote_scheduler

COLOURS = {"colour": {"categories": ["red", "green"], "epsilon": 1}}
TLS = "DASK_DISTRIBUTED__COMM__TLS__"


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A scheduler and a worker that speak nothing but TLS, under certificates of their own."""
    folder = tmp_path_factory.mktemp("tls")
    made = Security.temporary()
    for name in ("ca", "cert", "key"):
        text = made.tls_ca_file if name == "ca" else getattr(made, f"tls_worker_{name}")
        (folder / name).touch(0o600)
        (folder / name).write_text(text)
    environment = {f"{TLS}CA_FILE": str(folder / "ca"), "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True"}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        environment |= {f"{TLS}{role}__CERT": str(folder / "cert"), f"{TLS}{role}__KEY": str(folder / "key")}
    with remote_scheduler(folder / "cluster", "--protocol", "tls", **environment) as remote:
        remote.start_worker("--protocol", "tls")
        yield remote


@pytest.fixture
def secret(tmp_path: Path) -> str:
    (tmp_path / "secret").touch(0o600)
    (tmp_path / "secret").write_bytes(bytes(range(32)))
    return str(tmp_path / "secret")


@pytest.fixture
def people(tmp_path: Path) -> str:
    (tmp_path / "people").mkdir()
    colours = pa.table({"id": [f"p{n}" for n in range(500)], "colour": ["red", "green"] * 250})
    pq.write_table(colours, tmp_path / "people" / "0.parquet")
    return str(tmp_path / "people")


def test_a_remote_cluster_gives_the_reports_of_an_embedded_one(
    tmp_path: Path, remote: Remote, secure: Remote, secret: str, people: str
) -> None:
    places = {
        "embedded": ["--workers", "1"],
        "file": ["--scheduler-file", str(remote.file)],
        "address": ["--scheduler", remote.address],
        "tls": ["--scheduler", secure.address],
    }
    assert secure.address.startswith("tls://")
    found = []
    for name, place in places.items():
        canvass = Canvass(tmp_path / name, *place, "--secret-file", secret)
        canvass.environment |= secure.environment if name == "tls" else {}
        canvass.ask(people, COLOURS, id="id")
        found.append((canvass.document()["result"], canvass.reports()))
    assert all(one == found[0] for one in found)


def test_a_command_without_certificates_is_refused(tmp_path: Path, secure: Remote, people: str) -> None:
    canvass = Canvass(tmp_path / "run", "--scheduler", secure.address)
    canvass.ask(people, COLOURS)
    assert f"{secure.address}: TLS needs certificates; got none." in canvass.refusal(code=5)


def test_secrets_may_lie_in_a_folder_that_workers_share(tmp_path: Path, sent: Canvass, people: str) -> None:
    sent.ask(people, COLOURS)
    (tmp_path / "shared").mkdir(0o700)
    sent.tables["cluster"] = {"secrets_dir": str(tmp_path / "shared")}
    assert sent.run("--quiet").returncode == 0
    assert list((tmp_path / "shared").iterdir()) == []
