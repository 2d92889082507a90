from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from cluster.dataset import open_dataset
from jobs.catalogue import load
from jobs.results import encode, plain
from jobs.survey.guess import right_guess
from jobs.survey.margin import Margin
from jobs.survey.plan import _variances
from jobs.survey.reconstruct import Axis, TableEstimate
from tests.jobs.house import House, spoil_rows
from tests.jobs.survey.reported import fresh_rng
from udfs.design import MatrixDesign
from udfs.errors import ClusterError
from udfs.field_designs import matrix
from udfs.laplace import LaplaceMechanism
from udfs.randomized_response import RandomizedResponse

ROWS = 240


def plan(house: House) -> dict[str, Any]:
    """Return the plan as `canvass plan --json` prints it."""
    job, spec = load(house.given)
    data = open_dataset(spec.population.path, spec.population.id)
    job.check(spec, data)
    return plain(job.plan(spec, data))


@pytest.fixture(autouse=True)
def fill(house: House) -> None:
    house.fill(files=4, rows=ROWS // 4)


@pytest.mark.usefixtures("small_parts")
def test_a_plan_says_what_would_be_done_and_what_it_would_cost(house: House) -> None:
    house.given["attributes"]["drinks"] = {"categories": ["no", "yes"], "epsilon": 0.5}
    house.write(*({"id": [n], "smokes": ["no"], "drinks": ["yes"]} for n in range(3)))
    planned = plan(house)
    assert set(planned) == {"rows", "stages", "bytes", "epsilon", "predicted", "reasons"}
    assert planned["rows"] == 3
    assert planned["stages"] == [
        {"name": "randomize", "tasks": 3, "reads": ["id", "smokes", "drinks"], "writes": "reports"}
    ]
    assert planned["epsilon"] == {
        "total": 1.5,
        "charged": 1.5,
        "attributes": {"smokes": 1.0, "drinks": 0.5},
    }
    assert [reason.split(":")[0] for reason in planned["reasons"]] == ["smokes", "drinks"]
    assert encode(planned).endswith(b"}\n")


def test_a_plan_reads_footers_alone(house: House) -> None:
    before = plan(house)
    spoil_rows(house.people)
    assert plan(house) == before
    with pytest.raises(ClusterError, match="its rows must be readable"):
        house.run()


def test_planning_leaves_no_trace(house: House) -> None:
    plan(house)
    assert not house.out.exists()
    assert house.charges() == []
    assert not (house.home / "jobs").exists()


def test_the_bytes_read_are_those_of_the_columns_in_the_footers(house: House) -> None:
    planned, stored = plan(house)["bytes"], open_dataset(str(house.people)).column_bytes
    assert planned["read_by_column"] == {name: stored[name] for name in ("id", "smokes")}
    assert planned["read"] == sum(planned["read_by_column"].values()) > 0


@pytest.mark.parametrize(("mechanism", "bits"), [("randomized-response", 1), ("subset-selection", 8)])
def test_the_bytes_written_are_those_of_reports_and_ids(house: House, mechanism: str, bits: int) -> None:
    house.smokes["mechanism"] = mechanism
    with_ids = plan(house)["bytes"]["written"]
    house.given["population"]["id"] = None
    assert plan(house)["bytes"]["written"] == ROWS * bits // 8
    assert with_ids == ROWS * bits // 8 + open_dataset(str(house.people)).column_bytes["id"]


def test_nothing_is_written_where_reports_are_not_wanted(house: House) -> None:
    house.given["output"]["reports"] = False
    planned = plan(house)
    assert planned["stages"][0]["writes"] is None
    assert planned["bytes"]["written"] == 0


def test_reports_that_are_here_already_cost_nothing(house: House) -> None:
    house.given["collected"] = {"design": "randomized-response"}
    planned = plan(house)
    assert planned["stages"] == [
        {"name": "count reports", "tasks": 1, "reads": ["id", "smokes"], "writes": None}
    ]
    assert planned["epsilon"] == {"total": 1.0, "charged": 0.0, "attributes": {"smokes": 1.0}}


@pytest.mark.parametrize("mechanism", ["randomized-response", "subset-selection"])
@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_standard_errors_are_predicted_from_the_law(house: House, mechanism: str, epsilon: float) -> None:
    cells = 5
    house.smokes.update(mechanism=mechanism, epsilon=epsilon, categories=["no", "yes", "a", "b", "c"])
    randomizer = house.spec().layout.axis_of("smokes").design
    p, q = float(randomizer.support_if_true), float(randomizer.support_if_false)

    def standard_error(share: float) -> float:
        observed = q + (p - q) * share
        return math.sqrt(observed * (1 - observed) / ROWS) / (p - q)

    predicted = plan(house)["predicted"]["attributes"]["smokes"]
    worst = min(max((0.5 - q) / (p - q), 0), 1)
    assert predicted["standard_error"] == pytest.approx(standard_error(1 / cells), rel=1e-9)
    assert predicted["largest_standard_error"] == pytest.approx(standard_error(worst), rel=1e-9)
    assert predicted["without_privacy"] == pytest.approx(math.sqrt((1 / cells) * (1 - 1 / cells) / ROWS))
    assert predicted["without_privacy"] < predicted["standard_error"] <= predicted["largest_standard_error"]


@pytest.mark.parametrize("mechanism", ["randomized-response", "subset-selection"])
def test_a_run_reports_the_standard_error_that_was_predicted(house: House, mechanism: str) -> None:
    house.smokes["mechanism"] = mechanism
    attribute = house.run()[0]["result"]["attributes"]["smokes"]
    randomizer, dispersion = house.spec().layout.axis_of("smokes").design, math.sqrt(ROWS / (ROWS - 1))
    for share, error in zip(attribute["proportions"], attribute["standard_errors"], strict=True):
        variance = randomizer.variances(np.array([share, 1 - share]))[0]
        assert error == pytest.approx(math.sqrt(variance / ROWS) * dispersion)


LAWS = [
    [["1/2", "1/8", "0"], ["1/4", "1/2", "1/8"], ["1/4", "3/8", "7/8"]],
    [["1", "0"], ["0", "1"]],
    [["1/3", "1/4"], ["1/3", "1/4"], ["1/3", "1/2"]],
]


@pytest.mark.parametrize("design", [*map(matrix, LAWS), LaplaceMechanism(4, 1), LaplaceMechanism(3, 30)])
def test_the_largest_variance_is_that_of_the_worst_shares(design: MatrixDesign) -> None:
    cells = design.cells
    told = _variances(Axis(("a",), (cells,), design), cells)[1]
    steps = np.linspace(0, 1, 2001)
    found = 0.0
    for own, other in itertools.permutations(range(cells), 2):  # the worst shares are of two cells
        shares = np.outer(steps, np.eye(cells)[own]) + np.outer(1 - steps, np.eye(cells)[other])
        found = max(found, design.variances(shares, 1).max())
    assert told == pytest.approx(found, rel=1e-6)
    rng, seed = fresh_rng()
    assert design.variances(rng.dirichlet(np.full(cells, 0.3), size=500), 1).max() <= told * (1 + 1e-12), seed


def test_missing_answers_are_one_more_cell(house: House) -> None:
    house.smokes["missing"] = "category"
    assert plan(house)["predicted"]["attributes"]["smokes"]["cells"] == 3


def test_of_nobody_nothing_is_predicted(house: House) -> None:
    house.write({"id": [], "smokes": []})
    predicted = plan(house)["predicted"]["attributes"]["smokes"]
    assert [predicted[key] for key in ("standard_error", "largest_standard_error", "without_privacy")] == [
        None
    ] * 3


@pytest.mark.parametrize(
    ("mechanism", "reason"),
    [
        ("randomized-response", "smokes: randomized-response, as the spec says; a report is the truth"),
        ("subset-selection", "smokes: subset-selection, as the spec says; a report holds the truth"),
    ],
)
def test_a_reason_says_how_often_a_report_is_true(house: House, mechanism: str, reason: str) -> None:
    house.smokes["mechanism"] = mechanism
    assert plan(house)["reasons"] == [f"{reason} with probability 0.7311"]


def test_columns_beside_collected_reports_are_read_too(house: House) -> None:
    house.write({"id": [1], "smokes": ["no"], "s": ["x"], "w": [1.0], "age": [40], "sex": ["f"]})
    house.smokes.pop("epsilon")
    house.given["collected"] = {"design": "warner", "p": 0.7, "strata": "s", "weight": "w"}
    house.given["regressions"] = [
        {"outcome": "smokes", "numbers": ["age"], "factors": {"sex": ["f", "m"]}},
        {"outcome": "smokes", "numbers": ["age"]},
    ]
    planned = plan(house)
    assert planned["stages"][0]["reads"] == ["id", "smokes", "w", "age", "sex", "s"]
    assert planned["bytes"]["read"] == sum(planned["bytes"]["read_by_column"].values())
    assert planned["epsilon"]["charged"] == 0


@pytest.mark.parametrize("mechanism", ["randomized-response", "laplace"])
@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_a_right_guess_is_as_likely_as_bayes_theorem_says(
    house: House, mechanism: str, epsilon: float
) -> None:
    house.smokes.update(mechanism=mechanism, epsilon=epsilon, categories=["no", "yes", "a", "b"])
    guesses = plan(house)["predicted"]["attributes"]["smokes"]["right_guess"]
    assert list(guesses) == ["here", "randomized-response", "laplace"]
    assert guesses["here"] == guesses[mechanism]
    for kind in (RandomizedResponse, LaplaceMechanism):
        law = np.array([[float(entry) for entry in row] for row in kind(4, epsilon).law])
        posterior = law / law.sum(axis=1, keepdims=True)  # all answers are as likely
        expected = float((law * posterior).sum() / 4)
        assert guesses[kind.mechanism]["probability"] == pytest.approx(expected, rel=1e-9)
        assert guesses[kind.mechanism]["probability"] == pytest.approx(
            float(right_guess(law, np.full(4, 1 / 4)).mean()), rel=1e-9
        )
        assert guesses[kind.mechanism]["error"] == pytest.approx(1 - expected, rel=1e-9)


def test_no_guess_is_predicted_from_sets_but_of_the_papers_mechanisms(house: House) -> None:
    house.smokes["mechanism"] = "optimized-unary"
    guesses = plan(house)["predicted"]["attributes"]["smokes"]["right_guess"]
    assert list(guesses) == ["randomized-response", "laplace"]


def test_the_schemes_are_compared_and_the_best_is_taken(house: House) -> None:
    for name in ("smokes", "drinks", "gambles"):
        house.given["attributes"][name] = {"categories": ["no", "yes"]}
    house.write({"id": [1], "smokes": ["no"], "drinks": ["no"], "gambles": ["yes"]})
    house.given["budget"] = {"epsilon": 1}
    house.given["statistics"] = [{"kind": "pearson", "of": ["smokes", "gambles"]}]
    planned = plan(house)
    schemes = planned["predicted"]["schemes"]
    costs = {name: cost for name, cost in schemes["summed_variance_times_n"].items() if cost is not None}
    assert (schemes["epsilon"], set(costs)) == (1.0, {"split", "joint"})
    assert schemes["chosen"] == min(costs, key=lambda name: costs[name])
    assert planned["epsilon"]["total"] == 1.0
    assert all(f"{schemes['chosen']}: has the least predicted variance" in one for one in planned["reasons"])


@pytest.mark.parametrize(("scheme", "share_of_reports"), [("split", 1), ("sample", 1 / 3), ("joint", 1)])
def test_standard_errors_under_a_shared_budget_are_those_of_its_reports(
    house: House, scheme: str, share_of_reports: float
) -> None:
    shape = {"smokes": 2, "drinks": 3, "gambles": 4}
    house.given["attributes"] = {
        name: {"categories": [f"{code}" for code in range(cells)]} for name, cells in shape.items()
    }
    house.write({"id": list(range(90))} | {name: ["0"] * 90 for name in shape})
    house.given["budget"] = {"epsilon": 3, "scheme": scheme}
    predicted, layout = plan(house)["predicted"]["attributes"], house.spec().layout
    for name, cells in shape.items():
        axis = layout.axis_of(name)
        table = TableEstimate((axis,), (), np.ones(0))
        margin = Margin(table, (name,), (False,))
        covariance = table.at(np.full(axis.shape, 1 / axis.design.cells)).covariance(
            margin.lift(np.eye(cells))
        )
        expected = math.sqrt(covariance[0, 0] / (90 * share_of_reports))
        assert predicted[name]["standard_error"] == pytest.approx(expected, rel=1e-9)
        assert predicted[name]["largest_standard_error"] >= expected * (1 - 1e-12)
