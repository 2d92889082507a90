"""What a job draws under each way of sharing a budget follows its law."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.jobs.house import House
from tests.statistics import Sample, UnlikelyError, assert_law
from udfs.streams import Secret

CELLS = {"a": 3, "b": 4}
TRUE = {"a": 1, "b": 2}


def truth(cells: int, epsilon: float) -> float:
    return 1 / (1 + (cells - 1) * math.exp(-epsilon))


def law(scheme: str, epsilon: float, first: float = 0.5) -> list[float]:
    """Return the chances that a, that b, and that another a and another b are reported.

    Where one attribute is reported on, the first with the chance `first`.
    """
    if scheme == "joint":
        right = truth(12, epsilon)
        lie = (1 - right) / 11
        return [right + 3 * lie, right + 2 * lie, 4 * lie, 3 * lie]
    if scheme == "sample":
        a, b = truth(3, epsilon), truth(4, epsilon)
        return [first * a, (1 - first) * b, first * (1 - a) / 2, (1 - first) * (1 - b) / 3]
    a, b = truth(3, epsilon / 2), truth(4, epsilon / 2)
    return [a, b, (1 - a) / 2, (1 - b) / 3]


def events(root: Path, scheme: str, epsilon: Any) -> Sample:
    """Return a sample of reports that a job draws from people who all answer alike."""

    def sample(secret: Secret, draws: int) -> npt.NDArray[np.integer]:
        house = House(root / secret.reveal().hex())
        house.write({"id": np.arange(draws)} | {name: [f"{TRUE[name]}"] * draws for name in CELLS})
        house.given = {key: house.given[key] for key in ("job", "population", "output")}
        house.given |= {
            "attributes": {
                name: {"categories": [f"{code}" for code in range(cells)]} for name, cells in CELLS.items()
            },
            "budget": {"epsilon": epsilon, "scheme": scheme},
        }
        found = house.run(secret=secret)[0]["result"]["attributes"]
        counts = {name: np.array(one["reports"]) for name, one in found.items()}
        return np.array([counts["a"][1], counts["b"][2], counts["a"][0], counts["b"][0]])

    return sample


@pytest.mark.parametrize("scheme", ["split", "sample", "joint"])
def test_reports_follow_the_law_of_the_budget_that_was_given(tmp_path: Path, scheme: str) -> None:
    expected, mutant = law(scheme, 2), law(scheme, 2 * 1.1)
    assert_law(events(tmp_path, scheme, 2), expected, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(events(tmp_path, scheme, 2.2), expected, mutant)


def test_each_attribute_is_as_likely_to_be_reported_on(tmp_path: Path) -> None:
    expected, mutant = law("sample", 2), law("sample", 2, first=0.53)
    assert_law(events(tmp_path, "sample", 2), expected, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(events(tmp_path, "sample", 2), mutant, expected)
