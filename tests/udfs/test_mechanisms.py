from __future__ import annotations

import json
from decimal import Decimal

import pytest

from udfs.categories import CategoryQuestion
from udfs.collected import Collected, CollectedReports
from udfs.mechanisms import MECHANISMS, describe, describe_asks
from udfs.randomized_response import RandomizedResponse

QUESTION = CategoryQuestion("smokes", ("no", "yes"), missing="category")


def test_mechanisms_go_by_their_names():
    assert set(MECHANISMS) == {"randomized-response", "subset-selection"}
    assert all(kind.mechanism == name for name, kind in MECHANISMS.items())


@pytest.mark.parametrize("mechanism", MECHANISMS.values())
def test_a_reader_can_build_the_design_again_from_its_description(mechanism):
    design = mechanism(QUESTION.cells, Decimal("1.10"))
    told = json.loads(json.dumps(describe(QUESTION, design)))
    again = MECHANISMS[told["mechanism"]](told["cells"], Decimal(told["epsilon"]))
    assert again == design
    assert {name: told[name] for name in again.thresholds()} == again.thresholds()
    assert told["denominator"] == "2**64"
    assert CategoryQuestion("smokes", tuple(told["categories"]), told["missing"]) == QUESTION


def test_a_file_of_reports_describes_each_attribute_that_was_randomized():
    design = RandomizedResponse(3, 1)
    collected = (CollectedReports(QUESTION, design), Collected(design))
    drinks = CategoryQuestion("drinks", ("no", "yes"))
    footer = describe_asks(((QUESTION, design), (drinks, RandomizedResponse(2, 1)), collected))
    assert footer["version"] == 1
    assert footer["attributes"] == {
        "smokes": describe(QUESTION, design),
        "drinks": describe(drinks, RandomizedResponse(2, 1)),
    }
