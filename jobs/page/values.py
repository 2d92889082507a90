"""What is in a document, whatever is in it: the wrong kind of value, or none, is read as nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobs.page import words


def mapping(value: Any) -> dict[str, Any]:
    """Return an object, or one without keys."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """Return a list, or an empty one."""
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list."""
    return [one for one in sequence(value) if isinstance(one, dict)]


def numbers(value: Any) -> list[float | None]:
    """Return the values of a list as numbers, and None for what is none."""
    return [words.finite(one) for one in sequence(value)]


def pairs(value: Any) -> list[tuple[float | None, float | None]]:
    """Return the values of a list as pairs of numbers, as `numbers` does."""
    both = (filled(numbers(ends), 2) for ends in sequence(value))
    return [(low, high) for low, high in both]


def filled(values: Sequence[Any], size: int, filler: Any = None) -> list[Any]:
    """Return a list of exactly this size: cut, or filled up."""
    return [*values, *[filler] * size][:size]


def epsilon_of(one: dict[str, Any]) -> str:
    """Return an epsilon as it is shown; null is infinite."""
    if "epsilon" not in one:
        return ""
    epsilon = one["epsilon"]
    if isinstance(epsilon, str):  # as a spec holds it: all its digits
        return epsilon
    return "∞" if epsilon is None else words.bound(epsilon)
