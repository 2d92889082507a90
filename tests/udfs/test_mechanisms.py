from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest

from udfs.categories import CategoryQuestion
from udfs.collected import Collected, CollectedReports
from udfs.errors import SpecError
from udfs.mechanisms import MECHANISMS, describe, describe_asks, least_variance
from udfs.randomized_response import RandomizedResponse

QUESTION = CategoryQuestion("smokes", ("no", "yes"), missing="category")


def test_mechanisms_go_by_their_names():
    assert set(MECHANISMS) == {"randomized-response", "subset-selection", "optimized-unary", "laplace"}
    assert all(kind.mechanism == name for name, kind in MECHANISMS.items())


@pytest.mark.parametrize("mechanism", MECHANISMS.values())
def test_a_reader_can_build_the_design_again_from_its_description(mechanism):
    design = mechanism(QUESTION.cells, Decimal("1.10"))
    told = json.loads(json.dumps(describe((QUESTION, design))))
    again = MECHANISMS[told["mechanism"]](told["cells"], Decimal(told["epsilon"]))
    assert again == design
    assert {name: told[name] for name in again.thresholds()} == again.thresholds()
    assert told["denominator"] == "2**64"
    assert CategoryQuestion("smokes", tuple(told["categories"]), told["missing"]) == QUESTION


def test_a_file_of_reports_describes_each_attribute_that_was_randomized():
    design = RandomizedResponse(3, 1)
    collected = (CollectedReports(QUESTION, design.label), Collected(design))
    drinks = CategoryQuestion("drinks", ("no", "yes"))
    footer = describe_asks(((QUESTION, design), (drinks, RandomizedResponse(2, 1)), collected))
    assert footer["version"] == 1
    assert footer["attributes"] == {
        "smokes": describe((QUESTION, design)),
        "drinks": describe((drinks, RandomizedResponse(2, 1))),
    }


def variances(cells, epsilon):
    """Return each mechanism's mean variance of a share at equal shares, times the reports."""
    equal = np.full(cells, 1 / cells)
    designs = {name: kind(cells, epsilon) for name, kind in MECHANISMS.items()}
    return {name: np.trace(design.predicted_covariance(equal)) / cells for name, design in designs.items()}


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "4", "10", "1000"])
@pytest.mark.parametrize("cells", [2, 3, 4, 6, 16, 64])
def test_the_mechanism_of_the_least_variance_is_chosen(cells, epsilon):
    found = variances(cells, Decimal(epsilon))
    chosen, reason = least_variance(cells, Decimal(epsilon))
    least = min(found.values())
    assert found[chosen.mechanism] == pytest.approx(least, rel=1e-9)
    if found["randomized-response"] <= least * (1 + 1e-9):
        assert chosen.mechanism == "randomized-response"
    assert reason.startswith(f"{chosen.mechanism} has the least variance at {cells} equal shares, ")


@pytest.mark.parametrize("epsilon", ["0.05", "0.1", "0.3", "1", "2", "5", "12", "30", "60", "1000"])
@pytest.mark.parametrize("cells", [2, 3, 4, 5, 6, 9, 16, 33, 64, 200])
def test_laplace_is_never_better_than_randomized_response(cells, epsilon):
    """Why it is not weighed."""
    found = variances(cells, Decimal(epsilon))
    assert found["laplace"] >= found["randomized-response"] * (1 - 1e-12)
    assert least_variance(cells, Decimal(epsilon))[0].mechanism != "laplace"


def test_the_reason_names_the_runner_up_and_the_numbers():
    chosen, reason = least_variance(16, Decimal(1))
    assert chosen == MECHANISMS["subset-selection"](16, 1)
    found = variances(16, Decimal(1))
    assert (
        f"{found['subset-selection']:.4g} / n, before optimized-unary with {found['optimized-unary']:.4g}"
        in reason
    )


def test_of_equals_the_one_of_smaller_reports_is_chosen():
    chosen, reason = least_variance(2, Decimal(1))
    assert chosen == RandomizedResponse(2, 1)
    assert reason == (
        "randomized-response has the least variance at 2 equal shares, 1.171 / n,"
        " in smaller reports than subset-selection with as little"
    )


@pytest.mark.parametrize("cells", [2, 16])
def test_where_reports_must_be_codes_no_sets_are_weighed(cells):
    chosen, reason = least_variance(cells, Decimal(1), codes_only=True)
    assert chosen == RandomizedResponse(cells, 1)
    assert reason.endswith(" / n")


def test_where_nothing_can_be_estimated_no_mechanism_is_chosen():
    with pytest.raises(SpecError, match="randomized-response: its design must be invertible"):
        least_variance(3, Decimal("1e-20"))
