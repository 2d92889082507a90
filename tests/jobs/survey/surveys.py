"""Specs of surveys, and the joint table of the two blood markers of sample_data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from jobs.spec import check
from jobs.survey.spec import SurveySpec

LDL = ["<70", "70-99", "100-129", "130-159", "160-189", ">=190"]
TC = ["<200", "200-239", ">=240"]
BIOMARKERS = np.array([[16, 0, 0], [63, 1, 0], [83, 20, 0], [6, 40, 4], [0, 4, 8], [0, 0, 3]])
"""How many of 248 people are in each cell of LDL and TC."""


def survey(attributes: dict[str, Any], **tables: Any) -> SurveySpec:
    """Return the checked spec of a survey of attributes: categories, how many there are, or whole tables."""
    whole = {name: attribute(given) for name, given in attributes.items()}
    given = {"job": "survey", "population": {"path": "people", "id": "id"}, "output": {"path": "out"}}
    spec = check(SurveySpec, given | {"attributes": whole} | tables)
    assert isinstance(spec, SurveySpec)
    return spec


def attribute(given: Any) -> dict[str, Any]:
    """Return an attribute's table."""
    if isinstance(given, int):
        given = [f"c{place}" for place in range(given)]
    return given if isinstance(given, dict) else {"categories": list(given)}


def people(
    counts: npt.NDArray[np.integer], labels: dict[str, Sequence[Any]], first: int = 0
) -> dict[str, Any]:
    """Return columns of people of whom so many are in each cell, in a fixed order that mixes the cells."""
    places = np.repeat(np.arange(counts.size), counts.ravel())
    places = np.random.default_rng(counts.size).permutation(places)
    codes = np.unravel_index(places, counts.shape)
    columns = {
        name: [categories[code] for code in own]
        for (name, categories), own in zip(labels.items(), codes, strict=True)
    }
    return {"id": list(range(first, first + len(places)))} | columns
