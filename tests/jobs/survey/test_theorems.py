from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from jobs.survey import theorems
from jobs.survey.theorems import check_theorems, guesses
from tests.jobs.house import House


def check(house: House, shares: list[float], epsilon: str) -> tuple[list[Any], list[Any]]:
    """Hold the theorems against these shares of one attribute, at one epsilon."""
    house.given["attributes"] = {"level": {"categories": list(range(len(shares))), "epsilon": 1}}
    spec: Any = house.spec()
    return check_theorems(spec, [Decimal(epsilon)], lambda place, cells: np.array(shares))


def outcomes(house: House, shares: list[float], epsilon: str) -> dict[int, dict[str, Any]]:
    found, unchecked = check(house, shares, epsilon)
    assert unchecked == []
    return {one["theorem"]: one for one in found}


def test_theorem_four_fails_where_mass_lies_at_the_ends(house):
    found = outcomes(house, [0.5, 0.0, 0.5], "0.5")
    assert not found[4]["holds_on_average"]
    assert found[4]["cells_where_not"].tolist() == [0, 2]
    assert found[4]["randomized_response"] == pytest.approx(0.478227, abs=1e-6)
    assert found[4]["laplace"] == pytest.approx(0.474362, abs=1e-6)
    assert found[3]["holds_for_every_cell"]


def test_theorem_four_fails_on_average_for_many_equal_shares(house):
    found = outcomes(house, [0.05] * 20, "0.5")
    assert not found[4]["holds_on_average"]


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_theorems_two_and_three_hold_for_two_categories(house, share, epsilon):
    found = outcomes(house, [1 - share, share], epsilon)
    assert set(found) == {2, 3}
    assert all(one["holds_for_every_cell"] and one["holds_on_average"] for one in found.values())


def test_theorems_are_checked_where_both_designs_can_be_built(house):
    found, unchecked = check(house, [1 / 12] * 12, "0.0003")
    assert found == []
    (one,) = unchecked
    assert (one["epsilon"], one["attribute"]) == (Decimal("0.0003"), "level")
    assert one["reason"].startswith("laplace: its design must be invertible")


def test_attributes_of_many_cells_are_not_checked(house, monkeypatch):
    monkeypatch.setattr(theorems, "LARGEST_CHECKED", 3)
    assert check(house, [1 / 3] * 3, "1")[1] == []
    found, (one,) = check(house, [1 / 4] * 4, "1")
    assert found == []
    assert one["reason"] == "theorems: are checked for 3 cells at most; got 4"


def test_guesses_are_of_reports_of_one_code_and_few_cells(house, monkeypatch):
    wide = {"epsilon": 1, "mechanism": "subset-selection", "categories": list(range(9))}
    house.given["attributes"] |= {"sets": wide, "many": wide | {"mechanism": "randomized-response"}}
    spec: Any = house.spec()

    def equal(place: int, cells: int) -> np.ndarray:
        return np.full(cells, 1 / cells)

    assert set(guesses(spec, equal)) == {"smokes", "many"}
    monkeypatch.setattr(theorems, "LARGEST_GUESSED", 8)
    told = guesses(spec, equal)
    assert set(told) == {"smokes"}
    truth = np.e / (1 + np.e)
    np.testing.assert_allclose(told["smokes"]["right"], truth**2 + (1 - truth) ** 2, rtol=1e-12)
