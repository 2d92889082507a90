from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cluster.reduce import SerialEngine
from jobs.survey import replicate as replicating
from jobs.survey import study as studying
from jobs.survey.replicate import Moments, Replicate, Truth, add_moments, replications_a_task
from jobs.survey.study import grid, learn_truth, outcomes
from tests.cluster.populations import populate
from tests.jobs.house import House
from tests.jobs.survey.studies import put_study
from udfs.draws import RowDraws
from udfs.errors import SchemaError, SpecError


@pytest.fixture
def study(house: House) -> House:
    return put_study(house)


def truth_of(house: House) -> Truth:
    spec: Any = house.spec()
    return learn_truth(spec, populate(house.home / "population", str(house.people)))


def replicate(house: House, replications: range, place: int = 0) -> np.ndarray:
    """Return the sums of some replications, as if the truth were zero."""
    spec: Any = house.spec()
    truth = truth_of(house)
    points = grid(spec, spec.study, truth.rows)
    names = len(house.given["statistics"])
    names += sum(len(table.categories) for table in spec.attributes.values())
    return Replicate(points, truth, (np.zeros(names),) * len(points), 7)((place, replications)).sums[place]


class Recorder(SerialEngine):
    """An engine that notes the units of each stage."""

    def __init__(self) -> None:
        super().__init__()
        self.units: dict[str, list[Any]] = {}

    def reduce(self, units: Sequence[Any], chunk: Any, combine: Any, stage: str) -> Any:
        self.units[stage] = list(units)
        return super().reduce(units, chunk, combine, stage)


def test_the_truth_is_what_everybody_answers(study):
    truth = truth_of(study)
    assert truth.rows == 200
    np.testing.assert_allclose(truth.shares(0, 2), [0.75, 0.25])
    assert truth.shares(1, 4)[3] == pytest.approx(0.1)
    assert truth.table((0, 1), (2, 4))[1, 3] * 200 == pytest.approx(10)  # multiples of 20


@pytest.mark.parametrize("block_rows", [1, 7, 8, 1 << 16])
def test_blocks_laid_one_after_the_other_are_everybody(monkeypatch, block_rows):
    monkeypatch.setattr(replicating, "BLOCK_ROWS", block_rows)
    counts = np.array([3, 1, 8, 20, 1])
    codes = (np.array([0, 0, 1, 1, 1], np.uint8), np.array([4, 0, 1, 2, 3], np.uint8))
    blocks = list(Truth(codes, counts).blocks())
    assert [len(block[0]) for block in blocks[:-1]] == [block_rows] * (len(blocks) - 1)
    assert 0 < len(blocks[-1][0]) <= block_rows
    for attribute, code in enumerate(codes):
        laid = np.concatenate([block[attribute] for block in blocks])
        np.testing.assert_array_equal(laid, np.repeat(code, counts))


@pytest.mark.parametrize("block_rows", [9, 1 << 16])
@pytest.mark.parametrize("sparse_beyond", [1, 1 << 16])
def test_reports_add_up_block_by_block(study, monkeypatch, block_rows, sparse_beyond):
    monkeypatch.setattr(replicating, "BLOCK_ROWS", block_rows)
    monkeypatch.setattr("udfs.tables.LARGEST_DENSE", sparse_beyond)
    study.given["study"] |= {
        "epsilons": [1000],
        "mechanisms": ["randomized-response"],
    }  # reports are the truth
    study.given["statistics"] = [{"kind": "chi-square", "of": ["smokes", "drinks"]}]
    found = study.run()[0]["result"]["study"]
    np.testing.assert_allclose(found["points"][0]["mean"], found["truth"], rtol=1e-12)
    np.testing.assert_allclose(found["points"][0]["root_mean_squared_error"], 0, atol=1e-12)


def test_every_block_of_every_replication_and_point_has_coins_of_its_own(study, monkeypatch):
    keys: list[bytes] = []

    class Noted(RowDraws):
        def __init__(self, key: bytes, rows: int) -> None:
            super().__init__(key, rows)
            assert rows <= replicating.BLOCK_ROWS
            keys.append(key)

    monkeypatch.setattr(replicating, "BLOCK_ROWS", 60)
    monkeypatch.setattr(replicating, "RowDraws", Noted)
    for place in (0, 1):
        replicate(study, range(3), place)
    attributes, blocks, replications, points = 3, 4, 3, 2
    assert len(keys) == len(set(keys)) == attributes * blocks * replications * points


def test_what_is_expected_of_the_truth_takes_its_cells_and_not_its_respondents(study):
    spec: Any = study.spec()
    codes = tuple(np.array([0, 1], np.uint8) for _ in spec.attributes)
    many, few = (Truth(codes, np.array([3, 1]) * times) for times in (10**12, 1))
    (point, _), (at_few, _) = (grid(spec, spec.study, truth.rows) for truth in (many, few))
    values, variances = studying._expectation(point.spec, many)
    at_few_values, at_few_variances = studying._expectation(at_few.spec, few)
    np.testing.assert_allclose(values, at_few_values)
    np.testing.assert_allclose(variances * 10**12, at_few_variances)


def test_any_cutting_of_replications_gives_the_same_study(study):
    whole = replicate(study, range(12))
    parts = [Moments({0: replicate(study, range(first, first + 3))}) for first in range(0, 12, 3)]
    np.testing.assert_allclose(add_moments(parts).sums[0], whole, rtol=1e-12)
    assert add_moments([]).sums == {}


def test_a_task_makes_as_many_replications_as_there_are_few_respondents(study):
    spec: Any = study.spec()
    cells = 2 + 4 + 3
    assert replications_a_task(spec, 0) == replications_a_task(spec, 200) == replicating.REPLICATIONS_A_TASK
    few = (1 << 27) // (cells * 10)
    assert replications_a_task(spec, few) in (9, 10)
    assert replications_a_task(spec, 10**10) == 1


def test_tasks_make_every_replication_of_every_point_once(study, monkeypatch):
    monkeypatch.setattr(replicating, "_NUMBERS_A_TASK", 200 * 9 * 4)
    spec: Any = study.spec()
    assert replications_a_task(spec, 200) == 3
    study.given["study"]["replications"] = 8
    engine = Recorder()
    study.run(engine)
    units = engine.units["replicate"]
    assert [len(replications) for _, replications in units] == [3, 3, 2] * 2
    made = [(place, one) for place, replications in units for one in replications]
    assert made == [(place, one) for place in (0, 1) for one in range(8)]


def test_estimates_and_variances_that_are_none_are_counted_apart():
    nan, inf = np.nan, np.inf
    told = [
        Moments.of(0, np.array([1.0, nan, 3.0]), np.array([nan, 4.0, 16.0])),
        Moments.of(0, np.array([3.0, nan, inf]), np.array([4.0, 16.0, inf])),
    ]
    truth = np.zeros(3)
    found = outcomes(add_moments(told).sums[0], (truth, truth))
    np.testing.assert_array_equal(found["finite"], [2, 0, 1])
    np.testing.assert_array_equal(found["mean"], [2, nan, 3])
    np.testing.assert_allclose(found["mean_estimated_standard_error"], [2, np.sqrt(10), 4])
    np.testing.assert_allclose(found["empirical_standard_error"], [np.sqrt(2), nan, nan])
    np.testing.assert_allclose(found["root_mean_squared_error"], [np.sqrt(5), nan, 3])


def test_one_respondent_gives_estimates_without_standard_errors(study):
    study.write({"id": [1], "smokes": ["yes"], "drinks": ["none"], "walks": [0]})
    point = study.run()[0]["result"]["study"]["points"][0]
    assert point["finite"][:2] == [4, 4]
    assert point["mean_estimated_standard_error"][:2] == [None, None]


def test_a_population_of_nobody_is_refused_before_it_is_asked(study):
    text, number = pa.array([], pa.string()), pa.array([], pa.int64())
    study.write({"id": number, "smokes": text, "drinks": text, "walks": number})
    engine = Recorder()
    with pytest.raises(SchemaError, match="must have respondents"):
        study.run(engine)
    assert not {"truth", "replicate"} & set(engine.units)


def test_a_study_charges_nothing_writes_no_reports_and_comes_with_its_page(study):
    document, _ = study.run()
    files = study.files()
    assert set(files) == {"result.json", "study.json", "report.html", "manifest.json"}
    assert json.loads(files["study.json"]) == document["result"]["study"]
    assert study.charges() == []
    assert document["privacy"]["epsilon"] is None
    assert study.run()[1]


def test_the_same_seed_gives_the_same_study(study, twin):
    twin.given = study.given | {"output": {"path": str(twin.out)}}
    assert study.run()[0]["result"] == twin.run()[0]["result"]
    twin.given = twin.given | {"study": study.given["study"] | {"seed": 8}}
    assert study.run()[0]["result"] != twin.run()[0]["result"]


def test_a_study_of_designs_that_laplace_has_not_runs_and_says_what_is_unchecked(study):
    study.write({"id": list(range(24)), "level": [i % 12 for i in range(24)]})
    study.given["attributes"] = {"level": {"categories": list(range(12))}}
    study.given["statistics"] = []
    study.given["study"] |= {"epsilons": [0.0003, 1], "mechanisms": ["randomized-response"]}
    found = study.run()[0]["result"]["study"]
    assert [one["epsilon"] for one in found["theorems"]] == [1, 1]
    (unchecked,) = found["theorems_unchecked"]
    assert (unchecked["epsilon"], unchecked["attribute"]) == (0.0003, "level")
    assert unchecked["reason"].startswith("laplace: its design must be invertible")


@pytest.mark.parametrize("early", ["guesses", "check_theorems", "_expectation"])
def test_what_the_truth_alone_tells_is_told_before_the_replications(study, monkeypatch, early):
    def fail(*_: Any) -> None:
        raise SpecError("study", "must fail early", str(Decimal(1)))

    monkeypatch.setattr(studying, early, fail)
    engine = Recorder()
    with pytest.raises(SpecError, match="must fail early"):
        study.run(engine)
    assert "truth" in engine.units
    assert "replicate" not in engine.units
