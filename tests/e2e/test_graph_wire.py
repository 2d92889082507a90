"""No link and no true degree passes a wire, or stands in a log or a file, where pairs randomize."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.e2e.command import Canvass, files_below
from tests.e2e.remote import Remote, remote_scheduler
from tests.e2e.society import FILES, Society
from tests.e2e.wire import Wire, tapped


@dataclass
class Tapped:
    """A cluster all of whose words with its scheduler are heard."""

    remote: Remote
    wire: Wire

    def ask(self, root: Path, society: Society, **privacy: object) -> Canvass:
        return society.ask(root, "--scheduler", self.wire.address, **privacy)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tapped]:
    with remote_scheduler(tmp_path_factory.mktemp("remote")) as remote, tapped(remote.address) as wire:
        remote.start_worker(address=wire.address)
        yield Tapped(remote, wire)


def bytes_of(numbers: npt.NDArray[np.int64]) -> bytes:
    """Return what passes a wire where an array does: a part of it that no other array is likely to hold."""
    return np.ascontiguousarray(numbers[:40]).tobytes()


def links_as_read(society: Society) -> bytes:
    """Return the first links of a file as they are read: by number, the lower one first."""
    return bytes_of(society.links)


def links_in_order(society: Society) -> bytes:
    """Return the first links of a file in order."""
    return bytes_of(np.unique(np.array_split(society.links, FILES)[0], axis=0))


def true_degrees(society: Society) -> bytes:
    return bytes_of(society.degrees)


def test_what_passes_is_what_pairs_report(tmp_path: Path, cluster: Tapped) -> None:
    society = Society(tmp_path)
    one = cluster.ask(tmp_path / "run", society)
    ended = one.run()
    assert ended.returncode == 0, ended.stderr
    said = ended.stderr + cluster.remote.logs()
    assert "somebody" not in said
    assert not cluster.wire.saw(b"somebody")
    for telltale in (links_as_read, links_in_order, true_degrees):
        assert not cluster.wire.saw(telltale(society))
    reported = json.loads((one.out / "result.json").read_text())["result"]
    degrees = np.array(reported["degrees"]["estimates"]) * (1 - 2 * reported["lie"])
    noisy = np.rint(degrees + (len(society.names) - 1) * reported["lie"]).astype(np.int64)
    assert cluster.wire.saw(bytes_of(noisy)), "the sums of reports passed here"


def test_they_would_have_been_seen(tmp_path: Path, cluster: Tapped) -> None:
    """Reports that are the truth, and the links of a trusted holder, do pass, and are heard."""
    society = Society(tmp_path)
    assert cluster.ask(tmp_path / "run", society, epsilon=60).run().returncode == 0
    assert cluster.wire.saw(true_degrees(society))
    trusting = cluster.ask(tmp_path / "trusted", society, mechanism="discrete-laplace")
    assert trusting.run().returncode == 0
    assert cluster.wire.saw(links_in_order(society))
    assert "somebody" not in cluster.remote.logs()


@pytest.mark.parametrize("mechanism", ["randomized-response", "discrete-laplace"])
def test_no_file_but_the_result_tells_of_nodes_and_none_of_links(
    tmp_path: Path, cluster: Tapped, mechanism: str
) -> None:
    society = Society(tmp_path / "society")
    one = cluster.ask(tmp_path / "run", society, mechanism=mechanism)
    one.tables["release"] = {"graph": False}
    assert one.run("--quiet").returncode == 0
    files = dict(files_below(one.state, one.out))
    told = {path.name for path, data in files.items() if b"somebody" in data}
    assert told <= {"result.json", "nodes.parquet", "report.html"}
    assert "result.json" in told
    assert not any("somebody" in str(path) for path in files)
    for data in files.values():
        assert links_as_read(society) not in data
        assert links_in_order(society) not in data
        assert true_degrees(society) not in data
        assert json.dumps(society.degrees[:40].tolist())[1:-1].encode() not in data
