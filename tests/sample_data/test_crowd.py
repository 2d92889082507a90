"""The sample's workers: what is shipped is what was planted, and its tree is that of its rows."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.random import PCG64, Generator

import sample_data
from sample_data import crowd, make

FOLDER = Path(next(iter(sample_data.__path__)))
PLANTED: dict[str, Any] = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))["workers"]


@pytest.fixture(scope="module")
def workers() -> pa.Table:
    return pq.read_table(FOLDER / "workers")


def test_every_file_is_the_one_that_the_checksums_name() -> None:
    lines = (FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = dict(reversed(line.split("  ")) for line in lines)
    shipped = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.parquet")} | {"truth.json"}
    assert set(sums) == shipped
    for name, checksum in sums.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == checksum, name


def test_the_shipped_workers_are_those_of_the_seed(workers: pa.Table) -> None:
    rng = Generator(PCG64(make.SEED))
    for made in (make.response_table, make.biomarker_table, make.ballot_table):
        made(rng)
    assert workers.equals(crowd.worker_table(rng))


def test_the_same_seed_makes_the_same_workers_and_another_others() -> None:
    first, again, other = (crowd.worker_table(Generator(PCG64(seed))) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_the_planted_truth_is_that_of_the_shipped_workers(workers: pa.Table) -> None:
    assert crowd.worker_truth(workers) == PLANTED


def test_workers_lie_in_row_groups_that_spread_over_processes() -> None:
    groups = []
    for path in sorted((FOLDER / "workers").iterdir()):
        footer = pq.ParquetFile(path).metadata
        groups.append([footer.row_group(group).num_rows for group in range(footer.num_row_groups)])
    assert groups == [[1250] * 4] * 4


def test_every_worker_has_an_id_of_their_own_and_ten_skills_from_0_to_1(workers: pa.Table) -> None:
    assert workers.schema == pa.schema(
        [("worker", pa.string())] + [(skill, pa.float64()) for skill in PLANTED["skills"]]
    )
    assert len(PLANTED["skills"]) == 10
    assert workers.num_rows == PLANTED["rows"] == len(set(workers["worker"].to_pylist()))
    for skill in PLANTED["skills"]:
        assert workers[skill].null_count == 0
        assert ((workers[skill].to_numpy() >= 0) & (workers[skill].to_numpy() <= 1)).all()


@pytest.mark.parametrize("kind", crowd.KINDS, ids=lambda kind: kind.name)
def test_half_of_a_kind_lies_on_either_side_of_its_centre_and_a_tenth_is_certified(kind: crowd.Kind) -> None:
    for skill in crowd.SKILLS:
        scores, centre = kind.scores(skill), kind.centre(skill)
        assert len(scores) == kind.workers
        assert (np.diff(scores) >= 0).all()
        assert np.median(scores) == centre
        assert (scores < centre).sum() <= kind.workers / 2 >= (scores > centre).sum()
        assert (scores == 1000).sum() == (kind.workers // 10 if skill == kind.certified else 0)
        assert (scores % kind.step == 0).all()


def test_there_is_all_that_is_hard_about_workers() -> None:
    """One skill is the same for all, many are at the domain's upper end, and on edges of bins."""
    skills = PLANTED["skills"]
    assert [name for name, found in skills.items() if found["least"] == found["most"]] == ["first_aid"]
    assert sum(found["at_one"] > 0 for found in skills.values()) >= 5
    assert min(found["in_tenths"] for found in skills.values()) > 1000
    assert sum(kind["workers"] for kind in PLANTED["kinds"]) == PLANTED["rows"]


def test_every_worker_is_in_one_leaf_of_the_planted_tree_and_counts_add_up() -> None:
    nodes = {node["id"]: node["count"] for node in PLANTED["tree"]["splits"] + PLANTED["tree"]["leaves"]}
    assert sorted(nodes) == list(range(1, 128))
    assert nodes[1] == PLANTED["rows"]
    assert all(nodes[node] == nodes[2 * node] + nodes[2 * node + 1] for node in range(1, 64))


def test_a_binned_median_is_in_proportion_within_the_bin_in_which_half_is_reached() -> None:
    zero, one = Fraction(0), Fraction(1)
    for values, expected in (
        ([0.1, 0.3, 0.6, 0.7], 0.5),  # half of them lie before the edge
        ([0.2, 0.6, 0.7, 0.8], 2 / 3),
        ([0.5] * 4, 0.75),  # on an edge: in the bin that begins there
        ([1.0] * 4, 0.75),  # the last bin is closed
        ([], 0.5),
    ):
        assert crowd.binned_median(np.array(values), zero, one, 2) == expected
