"""The sample's tasks: what is shipped is what was planted, and the project finds the leaves that they meet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.random import PCG64, Generator

import sample_data
from jobs.assign.packing import meeting, pack_every, pack_once
from jobs.assign.tasks import TaskColumns, Tasks
from sample_data import chores, crowd, make
from udfs.items import pack_item, pad, unpack_item

FOLDER = Path(next(iter(sample_data.__path__)))
TRUTH: dict[str, Any] = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))
PLANTED = TRUTH["tasks"]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pq.read_table(FOLDER / "tasks")


@pytest.fixture(scope="module")
def tasks() -> Tasks:
    columns = TaskColumns("task", "payload", chores.SKILLS, (0.0, 1.0))
    files = sorted((FOLDER / "tasks").iterdir())
    return columns.read([(file.name, batch) for file in files for batch in pq.read_table(file).to_batches()])


@pytest.fixture(scope="module")
def meets(tasks: Tasks) -> Any:
    leaves = np.stack(list(chores.leaf_boxes(TRUTH["workers"]["tree"]).values()))
    return meeting(tasks.low, tasks.high, leaves.transpose(0, 2, 1), 1.0)


def test_the_shipped_tasks_are_those_of_the_seed(table: pa.Table) -> None:
    rng = Generator(PCG64(make.SEED))
    for made in (make.response_table, make.biomarker_table, make.ballot_table, crowd.worker_table):
        made(rng)
    assert table.equals(chores.task_table(rng))


def test_the_same_seed_makes_the_same_tasks_and_another_others() -> None:
    first, again, other = (chores.task_table(Generator(PCG64(seed))) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_the_planted_truth_is_that_of_the_shipped_tasks(table: pa.Table) -> None:
    workers = pq.read_table(FOLDER / "workers")
    assert chores.task_truth(table, workers, TRUTH["workers"]["tree"]) == PLANTED


def test_every_task_has_an_id_of_its_own_and_says_what_is_to_be_done(table: pa.Table) -> None:
    assert table.num_rows == PLANTED["rows"] == len(set(table["task"].to_pylist())) == 600
    assert len(list((FOLDER / "tasks").iterdir())) == 2
    payloads = table["payload"].to_pylist()
    assert (min(map(len, payloads)), max(map(len, payloads))) == (200, 2000)
    for payload in payloads:
        task = json.loads(payload.rstrip(b"\0"))
        assert list(task) == ["title", "minutes", "pay", "brief"]
    assert sum(payload.endswith(b"\0") for payload in payloads) == PLANTED["payloads"]["end_in_zeros"] == 24


def test_some_tasks_are_for_everybody_some_for_few_and_some_for_nobody() -> None:
    able = {chore["name"]: (chore["able_least"], chore["able_most"]) for chore in PLANTED["chores"]}
    assert able["opinions"] == (TRUTH["workers"]["rows"],) * 2
    assert able["talking robots"] == (0, 0)
    assert PLANTED["for_nobody"] == 4
    certified = {skill: TRUTH["workers"]["skills"][skill]["at_one"] for skill in chores.SKILLS}
    assert {skill: able[f"{skill} audits"] for skill in chores.SKILLS} == {
        skill: (workers, workers) for skill, workers in certified.items()
    }
    assert [chore["tasks"] for chore in PLANTED["chores"]] == [chore.tasks for chore in chores.CHORES]


@pytest.mark.parametrize(
    ("chore", "kind"),
    [
        ("scripts", "programmers"),
        ("data repairs", "analysts"),
        ("translations", "translators"),
        ("shelves", "builders"),
        ("posters", "designers"),
        ("captions", "photographers"),
        ("odd jobs", "generalists"),
        ("deliveries", "drivers"),
        ("first steps", "newcomers"),
    ],
)
def test_every_kind_of_workers_has_a_chore_whose_bounds_its_centre_lies_in(chore: str, kind: str) -> None:
    asks = next(one for one in chores.CHORES if one.name == chore).asks
    workers = next(one for one in crowd.KINDS if one.name == kind)
    for skill, (low, high) in asks.items():
        assert (0 if low is None else low) <= workers.centre(skill) <= (1000 if high is None else high)


def test_tasks_meet_the_leaves_that_were_planted(tasks: Tasks, meets: Any) -> None:
    assert (meets.T.astype(int) @ np.ones(len(tasks), dtype=int)).tolist() == [
        leaf["tasks"] for leaf in PLANTED["leaves"]
    ]
    assert (meets.T @ tasks.payload_bytes).tolist() == [leaf["bytes"] for leaf in PLANTED["leaves"]]


def test_items_of_the_sample_hold_its_tasks_zeros_included(table: pa.Table, tasks: Tasks, meets: Any) -> None:
    said = dict(zip(table["task"].to_pylist(), table["payload"].to_pylist(), strict=True))
    for pack in (pack_every, pack_once):
        packing = pack(meets, tasks.item_bytes, tasks.payload_bytes)
        item_bytes, items = pad([pack_item(tasks.at(leaf)) for leaf in packing.leaf_tasks])
        assert item_bytes == packing.largest
        found = [dict(unpack_item(item, "a leaf")) for item in items]
        assert {name: payload for item in found for name, payload in item.items()} == said
