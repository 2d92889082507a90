"""The randomizers of categories by name, and how a report file's footer describes what made it."""

from __future__ import annotations

from typing import Any

from udfs.asking import Ask
from udfs.categories import CategoryQuestion
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import PureRandomizer
from udfs.subset_selection import SubsetSelection

MECHANISMS: dict[str, type[PureRandomizer]] = {
    mechanism.mechanism: mechanism for mechanism in (RandomizedResponse, SubsetSelection)
}


def describe(question: CategoryQuestion, randomizer: PureRandomizer) -> dict[str, Any]:
    """Return what a reader must know to estimate from a column of reports, as JSON values.

    Examples
    --------
    >>> question = CategoryQuestion("smokes", ("no", "yes"))
    >>> describe(question, RandomizedResponse(2, 1))["mechanism"]
    'randomized-response'
    """
    return {
        "mechanism": randomizer.mechanism,
        "epsilon": str(randomizer.epsilon),
        "categories": list(question.categories),
        "missing": question.missing,
        "cells": randomizer.cells,
        "denominator": "2**64",
        **randomizer.thresholds(),
    }


def describe_asks(asks: tuple[Ask, ...]) -> dict[str, Any]:
    """Return the `canvass` entry of the footer of a file of reports to these asks."""
    return {
        "version": 1,
        "attributes": {
            question.column: describe(question, mechanism)
            for question, mechanism in asks
            if isinstance(question, CategoryQuestion) and isinstance(mechanism, PureRandomizer)
        },
    }
