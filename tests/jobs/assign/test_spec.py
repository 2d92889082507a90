"""Specs, tasks and trees that cannot be, refused before anything is written or asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from jobs.spec import Spec
from tests.jobs.assign.dispatch import Dispatch, grown
from tests.jobs.house import Unusable
from udfs.errors import SchemaError, SpecError


@pytest.fixture
def dispatch(tmp_path: Path) -> Dispatch:
    return Dispatch(tmp_path)


def refused(dispatch: Dispatch, error: type[Exception], match: str) -> None:
    """Check that a job is refused before anybody is asked, and leaves nothing."""
    with pytest.raises(error, match=match):
        dispatch.run(Unusable())
    assert dispatch.files() == {}
    assert dispatch.charges() == []
    assert not dispatch.secrets()


def _set(table: str, **values: Any) -> Callable[[Dispatch], None]:
    return lambda dispatch: dispatch.given[table].update(values)


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (_set("retrieval", gets=0), r"retrieval\.gets"),
        (_set("retrieval", gets=1.5), r"retrieval\.gets"),
        (_set("retrieval", gets=True), r"retrieval\.gets"),
        (_set("retrieval", protocol="onion"), r"retrieval\.protocol"),
        (_set("retrieval", server_seconds=0), r"retrieval\.server_seconds"),
        (_set("retrieval", server_seconds=math.inf), r"retrieval\.server_seconds"),
        (_set("retrieval", bits=1000), r"retrieval\.bits"),
        (_set("retrieval", bits=256), r"retrieval\.bits"),
        (_set("retrieval", get=2), r'retrieval\.get: is not a key of this table. Did you mean "gets"'),
        (_set("tasks", packing="twice"), r"tasks\.packing"),
        (_set("tasks", payload="task"), r"tasks\.payload"),
        (_set("tree", path=""), r"tree\.path"),
        (lambda dispatch: dispatch.given.pop("tasks"), "tasks: is required"),
        (lambda dispatch: dispatch.given.pop("tree"), "tree: is required"),
        (lambda dispatch: dispatch.tree.unlink(), r"tree\.path"),
        (_set("tasks", path="nowhere"), r"tasks\.path: must name a Parquet file"),
        (
            lambda dispatch: _set("output", path=str(dispatch.tasks / "out"))(dispatch),
            r"output\.path: must lie apart from the tasks",
        ),
        (
            lambda dispatch: _set("output", path=str(dispatch.people / "out"))(dispatch),
            r"output\.path: must lie apart from the pop",
        ),
    ],
)
def test_a_spec_that_cannot_be_is_refused(
    dispatch: Dispatch, spoil: Callable[[Dispatch], Any], match: str
) -> None:
    spoil(dispatch)
    refused(dispatch, SpecError, match)


@pytest.mark.parametrize(
    ("column", "values", "match"),
    [
        ("sawing_low", [math.nan, *[0.0] * 39], "1 values that are not numbers in column 'sawing_low'"),
        ("sawing_low", [2.0, 2.0, *[0.0] * 38], "2 values outside the domain in column 'sawing_low'"),
        ("sewing_high", [0.0] * 40, "lower bounds above the upper ones in column 'sewing_low'"),
        ("task", ["twice"] * 2 + [str(k) for k in range(38)], "1 repeated ids in column 'task'"),
        ("task", [None, *[str(k) for k in range(39)]], "1 missing values in column 'task'"),
        ("what", [None] * 40, "40 missing values in column 'what'"),
        ("what", [1.5] * 40, "column 'what': must hold binary values or text"),
        ("task", [1.5] * 40, "column 'task': must hold integers or text"),
        ("sawing_low", ["much"] * 40, "column 'sawing_low': must hold numbers"),
    ],
)
def test_tasks_that_are_not_in_order_are_refused(
    dispatch: Dispatch, column: str, values: list[Any], match: str
) -> None:
    table = dispatch.task_table()
    table[column] = pa.array(values, pa.binary() if values == [None] * 40 else None)
    dispatch.offer(table)
    refused(dispatch, SchemaError, match)


def test_the_tree_s_own_folder_is_no_place_for_the_result(
    dispatch: Dispatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it is named: the tree would be replaced, and what was published of the workers with it."""
    folder = dispatch.tree.parent / "tree"
    folder.mkdir()
    dispatch.tree = dispatch.tree.rename(folder / "result.json")
    (folder.parent / "link").symlink_to(folder)
    monkeypatch.chdir(folder.parent)
    for output, tree in ((folder, folder), ("tree/", folder), ("link", "tree"), ("./tree", "link")):
        dispatch.given |= {"output": {"path": str(output)}, "tree": {"path": f"{tree}/result.json"}}
        with pytest.raises(SpecError, match=r"output\.path: must be another folder than the tree's"):
            dispatch.run(Unusable())
    assert [path.name for path in folder.iterdir()] == ["result.json"]


def test_ids_hold_no_skill(dispatch: Dispatch) -> None:
    dispatch.write(dispatch.workers(list(range(90))) | {"sawing": list(range(90))})
    dispatch.given["population"]["id"] = "sawing"
    refused(dispatch, SpecError, r"population\.id: the column of ids must hold no skill")


def test_a_tree_of_skills_that_workers_have_not_is_refused(dispatch: Dispatch) -> None:
    table = dispatch.workers(list(range(90)))
    table.pop("sewing")
    dispatch.write(table)
    refused(dispatch, SchemaError, "must have one column 'sewing'")


def test_workers_outside_the_domain_are_refused_by_count(dispatch: Dispatch) -> None:
    dispatch.skills[:3, 0] = 1.5
    dispatch.settle(files=1)
    with pytest.raises(SchemaError, match="3 values outside the domain in column 'sawing'"):
        dispatch.run()
    assert dispatch.files() == {}


def test_the_job_is_another_where_tasks_or_the_tree_are(dispatch: Dispatch, tmp_path: Path) -> None:
    def job_id() -> str:
        spec: Spec = dispatch.spec()
        from cluster.dataset import open_dataset

        return spec.job_id(spec.snapshot(open_dataset(str(dispatch.people))))

    ids = [job_id()]
    moved = tmp_path / "moved.json"
    dispatch.tree.rename(moved)
    dispatch.given["tree"]["path"] = str(moved)
    assert job_id() == ids[0]
    dispatch.tree = moved
    dispatch.grow(grown(counts=21.0))
    ids.append(job_id())
    dispatch.payloads[0] = b"something else altogether"
    dispatch.offer(dispatch.task_table())
    ids.append(job_id())
    dispatch.skills[0] = 0.33
    dispatch.write(dispatch.workers(list(range(90))))
    ids.append(job_id())
    assert len(set(ids)) == 4
