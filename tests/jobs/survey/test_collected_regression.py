from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import optimize

from tests.jobs.house import House
from tests.jobs.survey.collecting import collect, collected, refused

Floats = npt.NDArray[np.float64]

WARNER = {"design": "warner", "p": "0.8"}
ROWS = 900
REGIONS = ["north", "south", "west"]


def columns() -> dict[str, Any]:
    """Return reports of a trait that rises with age and is rarer in the south."""
    rng = np.random.default_rng(5)
    age, region = np.round(rng.normal(40, 12, ROWS)), rng.integers(0, 3, ROWS)
    eta = -2 + 0.04 * age - 0.8 * (region == 1)
    trait = rng.random(ROWS) < 1 / (1 + np.exp(-eta))
    reports = np.where(trait ^ (rng.random(ROWS) < 0.2), "yes", "no")
    return {
        "trait": reports.tolist(),
        "age": age,
        "region": [REGIONS[code] for code in region],
        "w": np.round(rng.uniform(0.5, 3, ROWS), 2),
    }


def features(data: dict[str, Any]) -> Floats:
    dummies = [[float(one == label) for one in data["region"]] for label in REGIONS[1:]]
    return np.column_stack([np.ones(ROWS), data["age"], *dummies])


def scores(beta: Floats, x: Floats, yes: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the log-likelihood, the score by the linear predictor, and the expected information of each row."""
    trait = 1 / (1 + np.exp(-x @ beta))
    chance = 0.2 + 0.6 * trait
    slope = 0.6 * trait * (1 - trait)
    likelihood = np.where(yes, np.log(chance), np.log(1 - chance))
    return (
        likelihood,
        slope * np.where(yes, 1 / chance, -1 / (1 - chance)),
        slope**2 / (chance * (1 - chance)),
    )


def fit(x: Floats, yes: Floats, weights: Floats) -> Floats:
    """Maximise the likelihood of the reports by a general method."""

    def loss(beta: Floats) -> tuple[float, Floats]:
        likelihood, score, _ = scores(beta, x, yes)
        return -float(weights @ likelihood), -(weights * score) @ x

    start = np.zeros(x.shape[1])
    return optimize.minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}).x


TERMS = {"outcome": "trait", "numbers": ["age"], "factors": {"region": REGIONS}}


def test_a_regression_through_a_design_is_a_direct_fit_of_its_likelihood(house: House) -> None:
    data = columns()
    document = collect(house, data, collected=WARNER, regressions=[TERMS])
    (found,) = document["result"]["regressions"]
    x, yes = features(data), np.array(data["trait"]) == "yes"
    beta = fit(x, yes, np.ones(ROWS))
    likelihood, _, information = scores(beta, x, yes)
    errors = np.sqrt(np.diag(np.linalg.inv((x * information[:, None]).T @ x)))
    assert (found["outcome"], found["rows"]) == ("trait", ROWS)
    assert [term["term"] for term in found["terms"]] == ["intercept", "age", "region=south", "region=west"]
    assert [term["estimate"] for term in found["terms"]] == pytest.approx(beta, rel=1e-4, abs=1e-5)
    assert [term["standard_error"] for term in found["terms"]] == pytest.approx(errors, rel=1e-4)
    assert found["log_likelihood"] == pytest.approx(likelihood.sum(), rel=1e-9)


def test_a_weighted_regression_has_the_sandwichs_errors(house: House) -> None:
    data = columns()
    document = collect(house, data, collected=WARNER | {"weight": "w"}, regressions=[TERMS])
    (found,) = document["result"]["regressions"]
    x, yes, weights = features(data), np.array(data["trait"]) == "yes", data["w"]
    beta = fit(x, yes, weights)
    step = 1e-6
    slope_of_score = (
        scores(beta + step * np.eye(4)[0], x, yes)[1] - scores(beta - step * np.eye(4)[0], x, yes)[1]
    ) / (2 * step)  # the intercept moves every row's linear predictor alike
    bread = np.linalg.inv((x * (weights * slope_of_score)[:, None]).T @ x)
    own = x * (weights * scores(beta, x, yes)[1])[:, None]
    errors = np.sqrt(np.diag(bread @ own.T @ own @ bread))
    assert [term["estimate"] for term in found["terms"]] == pytest.approx(beta, rel=1e-4, abs=1e-5)
    assert [term["standard_error"] for term in found["terms"]] == pytest.approx(errors, rel=1e-3)


@pytest.mark.usefixtures("small_parts")
def test_a_regression_does_not_hang_on_how_rows_lie_in_files(house: House, twin: House) -> None:
    data = columns()
    whole = collect(house, data, collected=WARNER, regressions=[TERMS])["result"]["regressions"]
    cuts = (slice(0, 1), slice(1, 400), slice(400, ROWS))
    parts = [{name: one[cut] for name, one in data.items()} for cut in cuts]
    cut = collect(twin, *reversed(parts), collected=WARNER, regressions=[TERMS])["result"]["regressions"]
    for one, other in zip(whole[0]["terms"], cut[0]["terms"], strict=True):
        assert one["estimate"] == pytest.approx(other["estimate"], rel=1e-9)
        assert one["standard_error"] == pytest.approx(other["standard_error"], rel=1e-9)


def test_reports_of_an_own_mechanism_can_be_regressed(house: House) -> None:
    """Randomized response of two cells at ln 4 is Warner's design at .8."""
    data = columns()
    attributes = {"trait": {"categories": ["no", "yes"], "epsilon": float(np.log(4))}}
    own = collect(
        house, data, attributes=attributes, collected={"design": "randomized-response"}, regressions=[TERMS]
    )
    beta = fit(features(data), np.array(data["trait"]) == "yes", np.ones(ROWS))
    (found,) = own["result"]["regressions"]
    assert [term["estimate"] for term in found["terms"]] == pytest.approx(beta, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    ("regression", "said"),
    [
        ({"outcome": "trait", "numbers": ["nowhere"]}, "nowhere"),
        ({"outcome": "trait", "numbers": ["region"]}, "must hold numbers"),
        ({"outcome": "trait", "factors": {"region": ["north", "south"]}}, "region"),
        ({"outcome": "trait", "numbers": ["age", "age"]}, "age"),
    ],
)
def test_covariates_that_are_none_are_refused_without_a_trace(
    house: House, regression: dict[str, Any], said: str
) -> None:
    collected(house, columns(), collected=WARNER, regressions=[regression])
    assert said in str(refused(house))
