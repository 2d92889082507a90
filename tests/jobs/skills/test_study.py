"""The study of a tree's error: what it asks, what it says, and what it refuses."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from jobs.skills.predicted import leaf_errors
from jobs.skills.replicate import (
    Replicate,
    join,
)
from jobs.skills.study import LEAF_REFERENCES, own_points, points, run_study
from jobs.skills.study_plan import plan_study
from jobs.skills.study_spec import Size
from tests.cluster.populations import populate, write
from tests.jobs.house import House
from tests.jobs.skills.studied import STUDY, Crowd, point_of, spec_of, study_of
from udfs.errors import SchemaError, SpecError


@pytest.fixture(scope="module")
def studied() -> tuple[Crowd, dict[str, Any]]:
    crowd = Crowd()
    return crowd, run_study(spec_of(), study_of(), crowd)  # type: ignore[arg-type]


# What is studied


def test_each_size_is_varied_by_itself_in_every_mechanism(studied: tuple[Crowd, dict[str, Any]]) -> None:
    _, study = studied
    sizes = {(50, 2, 4, 1), (500, 2, 4, 1), (50, 4, 4, 1), (50, 2, 10, 1), (50, 2, 4, 4)}
    for mechanism in STUDY["mechanisms"]:
        ours = [one for one in study["points"] if one["mechanism"] == mechanism]
        assert {(one["workers"], one["depth"], one["bins"], one["epsilon"]) for one in ours} == sizes
        assert len(ours) == len(sizes)
    assert study["base"] == {"workers": 50, "depth": 2, "bins": 4, "epsilon": 1}
    own = [(one["mechanism"], one["epsilon"]) for one in study["own"]["points"]]
    assert own == [(mechanism, epsilon) for mechanism in STUDY["mechanisms"] for epsilon in (1, 4)]


def test_the_population_is_read_once_for_each_level_and_every_replication_is_made_once(
    studied: tuple[Crowd, dict[str, Any]],
) -> None:
    crowd, _ = studied
    assert [name for name, _ in crowd.rounds] == ["level 3", "level 2", "level 1", "level 0"]
    assert crowd.rounds[0][1] == 1  # all trees ask the same of their roots
    assert crowd.rounds[-1][1] <= 3 * 2 * 5
    made = sorted((place, replication) for place, replications in crowd.units for replication in replications)
    assert made == [(place, replication) for place in range(15) for replication in range(5)]


def test_shares_of_all_have_more_noise_than_is_due_one_party_has_what_is_due_and_exact_trees_none() -> None:
    beta = Fraction(300, 280)
    found = {one.mechanism: one.beta for one in points(spec_of(), study_of(), beta)}
    assert found == {"shares": beta, "central": 1, "exact": 0}
    assert {one.beta for one in own_points(spec_of(), study_of(), 300, beta)} == {beta, 1, 0}


def test_made_trees_split_every_node_and_the_populations_own_keeps_its_least_count() -> None:
    spec = spec_of(skills={"min_count": 7})
    assert {one.shape.min_count for one in points(spec, study_of(), Fraction(1))} == {0}
    assert {one.shape.min_count for one in own_points(spec, study_of(), 300, Fraction(1))} == {7}


def test_a_study_follows_from_its_seed_however_it_is_spread(studied: tuple[Crowd, dict[str, Any]]) -> None:
    _, study = studied
    again = run_study(spec_of(), study_of(), Crowd())  # type: ignore[arg-type]
    assert again == study
    other = run_study(spec_of(), study_of(seed=10), Crowd())  # type: ignore[arg-type]
    assert other["points"] != study["points"]
    point = point_of()
    chunk = Replicate((point,), 3)
    assert join(chunk((0, range(start, start + 2))) for start in (2, 0)) == chunk((0, range(4)))
    assert join([]) == {}


def test_a_study_of_files_is_that_of_the_same_workers_in_memory(tmp_path: Any) -> None:
    crowd = Crowd()
    tables = [{"a": part[:, 0].copy(), "b": part[:, 1].copy()} for part in np.split(crowd.skills, 3)]
    population = populate(tmp_path, write(tmp_path / "people", tables), rows_per_part=1)
    found = run_study(spec_of(), study_of(), population)
    assert found["own"] == run_study(spec_of(), study_of(), crowd)["own"]  # type: ignore[arg-type]


def test_a_study_is_written_by_itself_charges_nothing_and_protects_nothing(house: House) -> None:
    house.write(*({"a": part[:, 0].copy(), "b": part[:, 1].copy()} for part in np.split(Crowd().skills, 3)))
    house.given = {
        "job": "skills",
        "population": {"path": str(house.people), "public": True, "name": "people"},
        "output": {"path": str(house.out)},
        "skills": {"dimensions": ["a", "b"], "depth": 3},
        "privacy": {"epsilon": 1, "collusion": 20},
        "study": STUDY,
    }
    document, _ = house.run()
    names = ["manifest.json", "report.html", "result.json", "study.json"]
    assert sorted(house.files()) == names
    assert json.loads(house.files()["study.json"]) == document["result"]["study"]
    assert document["privacy"]["model"] == "none"
    assert document["privacy"]["spent_after"] == 0
    assert house.charges() == []


# What is measured


def test_a_mean_has_the_interval_of_students_t(studied: tuple[Crowd, dict[str, Any]]) -> None:
    _, study = studied
    (first, *_) = study["points"]
    mean, error = first["raw"]["mean"], first["raw"]["standard_error"]
    low, high = first["raw"]["interval"]
    assert (high + low) / 2 == pytest.approx(mean)
    assert (high - low) / 2 == pytest.approx(2.7764451051977987 * error)  # with 4 degrees of freedom


# What is expected


def test_reference_values_are_near_what_the_law_gives() -> None:
    spec = spec_of(skills={"dimensions": list("abcdefghij")})
    for (depth, product), ends in LEAF_REFERENCES.items():
        table = study_of(mechanisms=["shares"], epsilons=[1], workers=[product], depths=[depth], bins=[10])
        (point,) = points(spec, table, Fraction(10, 9))
        for name, law in leaf_errors(point).items():
            if ends[name] is not None and law is not None:
                low, high = ends[name]
                assert 0.85 * low < law < 1.15 * high


def test_references_stand_beside_trees_that_they_are_of_alone() -> None:
    def found(**changes: Any) -> list[Any]:
        table = {"epsilons": [1], "workers": [1000], "depths": [5], "bins": [10], "replications": 2}
        spec = spec_of(
            study=table | {key: changes.pop(key) for key in list(changes) if key in table}, **changes
        )
        assert spec.study is not None
        study = run_study(spec, spec.study, Crowd())  # type: ignore[arg-type]
        return [one["reference"] for one in study["points"]]

    assert found() == [{"raw": [0.166, 0.166], "consistent": [0.14, 0.14]}, None, None]
    assert found(bins=[9]) == found(workers=[1001]) == found(depths=[4]) == [None] * 3
    assert found(skills={"counts_share": 0.6}) == found(skills={"allocation": "tree"}) == [None] * 3


# Plans and refusals


class Files:
    rows, blocks, column_bytes = 300, 3, {"a": 10, "b": 20}

    def tasks(self) -> int:
        return 4


def test_a_plan_names_what_a_run_does(studied: tuple[Crowd, dict[str, Any]]) -> None:
    crowd, study = studied
    planned = plan_study(spec_of(), study_of(), Files())  # type: ignore[arg-type]
    names = [(one["name"], one["tasks"]) for one in planned["stages"]]
    assert names == [*((f"level {level}", 4) for level in (3, 2, 1, 0)), ("replicate", len(crowd.units))]
    assert planned["epsilon"] == {"total": 0, "charged": 0}
    keys = ("mechanism", "workers", "depth", "bins", "epsilon")
    ran = [
        (*(one[key] for key in keys), one["predicted"]) for one in (*study["points"], *study["own"]["points"])
    ]
    said = [
        (*(one[key] for key in keys), {"raw": one["raw"], "consistent": one["consistent"]})
        for one in planned["predicted"]["leaf_errors"]
    ]
    assert said == ran


def test_a_population_without_workers_or_of_colluders_alone_is_refused() -> None:
    with pytest.raises(SchemaError, match="workers"):
        run_study(spec_of(), study_of(), Crowd(0))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="collusion"):
        run_study(spec_of(privacy={"collusion": 300}), study_of(), Crowd())  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="collusion"):
        plan_study(spec_of(privacy={"collusion": 300}), study_of(), Files())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"epsilons": [1, 1]}, "epsilons"),
        ({"epsilons": [101]}, "epsilons"),
        ({"epsilons": [Decimal("0.00001")]}, "epsilons"),
        ({"workers": [0]}, "workers"),
        ({"workers": [20, 10]}, "workers"),
        ({"depths": [0, 3]}, "depths"),
        ({"depths": [15]}, "depths"),
        ({"bins": [0]}, "bins"),
        ({"depths": [14], "bins": [100]}, "depths"),
        ({"mechanisms": ["shares", "shares"]}, "mechanisms"),
        ({"mechanisms": ["none"]}, "mechanisms"),
        ({"replications": 1}, "replications"),
    ],
)
def test_a_grid_that_cannot_be_studied_is_refused_by_name(changes: dict[str, Any], where: str) -> None:
    with pytest.raises(SpecError, match=where):
        spec_of(study=changes)


def test_the_base_is_the_middle_of_every_grid() -> None:
    table = study_of(epsilons=[1, 2, 3], workers=[10, 20, 30, 40], depths=[1], bins=[2, 4])
    assert table.base == Size(20, 1, 2, Decimal(2))
    assert len(table.sizes) == 1 + 2 + 3 + 0 + 1
