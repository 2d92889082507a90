from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from jobs.survey.study import Replicate, Truth, add_moments, grid, learn_truth
from jobs.survey.theorems import check_theorems
from tests.cluster.populations import populate
from tests.jobs.house import House

REPLICATIONS = 2_000
Z = 6.2
"""A normal deviate is beyond it once in a billion times."""


@pytest.fixture
def study(house: House) -> House:
    """A public population of 200, with a gap in one attribute, and a grid of two points."""
    rows = 200
    house.write(
        {
            "id": list(range(rows)),
            "smokes": ["yes" if i % 4 == 0 else "no" for i in range(rows)],
            "drinks": [None if i % 10 == 0 else ("some", "none", "much")[i % 3] for i in range(rows)],
        }
    )
    house.given["population"]["public"] = True
    house.given["attributes"] = {
        "smokes": {"categories": ["no", "yes"]},
        "drinks": {"categories": ["none", "some", "much"], "missing": "category"},
    }
    house.given["statistics"] = [{"kind": "entropy", "of": ["smokes"]}]
    house.given["study"] = {
        "epsilons": [3],
        "mechanisms": ["randomized-response", "subset-selection"],
        "replications": 4,
    }
    return house


def truth_of(house: House) -> Truth:
    spec: Any = house.spec()
    return learn_truth(spec, populate(house.home / "population", str(house.people)))


def replicate(house: House, replications: range) -> Any:
    spec: Any = house.spec()
    truth = truth_of(house)
    points = grid(spec, spec.study, truth.rows)
    names = 1 + sum(len(table.categories) for table in spec.attributes.values())
    return Replicate(points, truth, (np.zeros(names),) * len(points), 7)((0, replications))


def test_the_truth_is_what_everybody_answers(study):
    truth = truth_of(study)
    assert truth.rows == 200
    np.testing.assert_allclose(truth.shares(0, 2), [0.75, 0.25])
    assert truth.shares(1, 4)[3] == pytest.approx(0.1)
    both = np.stack([truth.answers(0), truth.answers(1)])
    assert np.count_nonzero((both[0] == 1) & (both[1] == 3)) == 10  # multiples of 20


def test_any_cutting_of_replications_gives_the_same_study(study):
    whole = replicate(study, range(12)).sums[0]
    parts = [replicate(study, range(first, first + 3)) for first in range(0, 12, 3)]
    np.testing.assert_allclose(add_moments(parts).sums[0], whole, rtol=1e-12)
    assert add_moments([]).sums == {}


def test_no_two_replications_share_coins(study):
    one, other = (replicate(study, range(place, place + 1)).sums[0][1] for place in (0, 1))
    assert not np.allclose(one, other)


def points_of(house: House, replications: int, epsilon: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    house.given["study"] |= {
        "replications": replications,
        "epsilons": [epsilon],
        "seed": int(np.random.SeedSequence().entropy % 2**40),
    }
    found = house.run()[0]["result"]["study"]
    return found, found["points"]


def off_by(point: dict[str, Any], predicted: np.ndarray) -> np.ndarray:
    """Return how many standard errors the variance over replications is away from a predicted one."""
    empirical = np.array(point["empirical_standard_error"]) ** 2
    return (empirical / predicted**2 - 1) / np.sqrt(2 / REPLICATIONS)


def test_estimates_scatter_about_the_truth_as_predicted_without_sampling(study):
    found, points = points_of(study, REPLICATIONS, 3)
    truth = np.array(found["truth"])
    for point in points:
        predicted = np.array(point["predicted_standard_error"])
        deviations = (np.array(point["mean"]) - truth) / (predicted / np.sqrt(REPLICATIONS))
        context = f"seed {found['seed']}, {point['mechanism']}"
        assert np.abs(deviations[:2]).max() < Z, context  # drinks' are ratios, and entropy is biased
        assert np.abs(off_by(point, predicted)[:5]).max() < 1.3 * Z, (
            context
        )  # sums of few terms: kurtosis is near 3
        sampled = np.sqrt(predicted[:2] ** 2 + truth[:2] * (1 - truth[:2]) / 200)
        with pytest.raises(AssertionError):
            assert np.abs(off_by(point, np.append(sampled, predicted[2:]))[:2]).max() < 1.3 * Z


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


def outcomes(house: House, shares: list[float], epsilon: str) -> dict[int, dict[str, Any]]:
    house.given["attributes"] = {"level": {"categories": list(range(len(shares)))}}
    house.given.pop("statistics")
    spec: Any = house.spec()
    found = check_theorems(spec, [Decimal(epsilon)], lambda place, cells: np.array(shares))
    return {one["theorem"]: one for one in found}


def test_theorem_four_fails_where_mass_lies_at_the_ends(study):
    found = outcomes(study, [0.5, 0.0, 0.5], "0.5")
    assert not found[4]["holds_on_average"]
    assert found[4]["cells_where_not"].tolist() == [0, 2]
    assert found[4]["randomized_response"] == pytest.approx(0.478227, abs=1e-6)
    assert found[4]["laplace"] == pytest.approx(0.474362, abs=1e-6)
    assert found[3]["holds_for_every_cell"]


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_theorems_two_and_three_hold_for_two_categories(study, share, epsilon):
    found = outcomes(study, [1 - share, share], epsilon)
    assert set(found) == {2, 3}
    assert all(one["holds_for_every_cell"] and one["holds_on_average"] for one in found.values())
