"""Which protocol is taken, and what the plan says of all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cluster.dataset import open_dataset
from jobs.assign.plan import plan_assignments
from jobs.assign.protocols import Choice, choose
from jobs.assign.spec import RetrievalTable
from jobs.catalogue import load
from tests.jobs.assign.dispatch import Dispatch
from tests.jobs.house import spoil_rows


class Sized:
    """A library of which only the size is known."""

    def __init__(self, items: int, item_bytes: int) -> None:
        self._items, self.item_bytes = items, item_bytes

    def __len__(self) -> int:
        return self._items


def chosen(items: int, item_bytes: int, workers: int = 1000, **table: Any) -> Choice:
    return choose(RetrievalTable(**table), Sized(items, item_bytes), workers)  # type: ignore[arg-type]


SIZES = [(1, 1), (2, 40), (64, 321_129), (1024, 5_000), (4096, 50_000), (100_000, 300)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("gets", [1, 5])
@pytest.mark.parametrize("limit", [1e-6, 0.01, 1e6])
def test_auto_takes_the_fewest_bytes_of_what_can_be_afforded(
    size: tuple[int, int], gets: int, limit: float
) -> None:
    choice = chosen(*size, gets=gets, server_seconds=limit)
    assert {one.protocol for one in choice.options} == {"lattice", "paillier", "download"}
    affordable = [one for one in choice.options if choice.affordable(one)]
    assert "download" in [one.protocol for one in affordable]
    assert choice.taken in affordable
    assert choice.taken.bytes_per_worker == min(one.bytes_per_worker for one in affordable)


def test_small_libraries_are_downloaded_large_ones_asked_and_ciphertexts_taken_where_time_is_cheap() -> None:
    assert chosen(64, 321_129).taken.protocol == "download"
    assert chosen(1024, 5_000).taken.protocol == "lattice"
    assert chosen(1024, 5_000, server_seconds=100).taken.protocol == "paillier"


@pytest.mark.parametrize("protocol", ["lattice", "paillier", "download"])
@pytest.mark.parametrize("size", SIZES)
def test_what_the_spec_names_is_taken_whatever_it_costs(protocol: str, size: tuple[int, int]) -> None:
    choice = chosen(*size, protocol=protocol, server_seconds=1e-9)
    assert choice.taken.protocol == protocol


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("workers", "gets"), [(1, 1), (10**6, 10)])
def test_a_whole_job_decodes_wrongly_with_less_than_2_to_the_minus_40(
    size: tuple[int, int], workers: int, gets: int
) -> None:
    items = [bytes(size[1])] * min(size[0], 64)
    retrieval: Any = chosen(len(items), size[1], workers, gets=gets, protocol="lattice").taken.retrieval(
        items
    )
    assert (retrieval.shape.workers, retrieval.shape.gets) == (workers, gets)
    assert 0 < retrieval.failure < 2**-40


@pytest.mark.parametrize("protocol", ["auto", "lattice", "download"])
def test_the_plan_says_what_the_result_will(tmp_path: Path, protocol: str) -> None:
    dispatch = Dispatch(tmp_path)
    dispatch.given["retrieval"] |= {"protocol": protocol, "gets": 2}
    job, spec = load(dispatch.given)
    result = dispatch.run()[0]["result"]
    spoil_rows(dispatch.people)  # no worker's row is read
    data = open_dataset(str(dispatch.people))
    job.check(spec, data)
    planned = job.plan(spec, data)
    predicted = planned["predicted"]
    for key in (
        "item_bytes",
        "library_bytes",
        "bytes_up",
        "bytes_down",
        "hint_bytes",
        "gets",
        "packing",
        "costs",
        "workers",
    ):
        assert predicted[key] == result[key], key
    assert predicted["protocol"] == result["retrieval"]["protocol"]
    assert predicted["failure_log2"] == result["retrieval"]["failure_log2"]
    assert predicted["leaves"] == len(result["leaves"])
    assert planned["bytes"]["up"] == 90 * result["bytes_up"]
    assert planned["bytes"]["down"] == 90 * result["bytes_down"]
    assert planned["epsilon"] == {"total": 0, "charged": 0}
    mean = sum(result["precision"]) / 5  # the tree counts as many workers in each leaf
    assert predicted["precision"] == pytest.approx(mean)


def test_the_plan_gives_its_reasons(tmp_path: Path) -> None:
    dispatch = Dispatch(tmp_path)
    data = open_dataset(str(dispatch.people))

    def reasons(**given: Any) -> str:
        for table, values in given.items():
            dispatch.given[table] |= values
        spec: Any = load(dispatch.given)[1]
        return "; ".join(plan_assignments(spec, data)["reasons"])

    assert "paillier would take" in reasons()
    assert "2 gets" not in reasons(retrieval={"gets": 1})
    assert "would not see all tasks for them" in reasons(tasks={"packing": "once"})
    assert "gets would bring everything: the others bring nothing new" in reasons(retrieval={"gets": 9})
    auto = reasons(retrieval={"protocol": "auto", "server_seconds": 1e-9})
    assert "lattice and paillier would cost the platform more than 1e-09 s a get" in auto
    assert "stands in for workers' devices" in auto
