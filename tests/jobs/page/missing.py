"""Documents of which a part is null or is not there, and what their pages must not show."""

from __future__ import annotations

import copy
import re
from typing import Any


def without(made: Any, path: tuple[Any, ...], replace: bool) -> Any:
    """Return a copy of a document in which what stands at a path is null, or is not there."""
    made = copy.deepcopy(made)
    at = made
    for key in path[:-1]:
        at = at[key]
    if replace:
        at[path[-1]] = None
    else:
        del at[path[-1]]
    return made


STRANGE: list[Any] = ["x", [], [1], {"a": 1}, -1, 0, 1e308, True, 10**400, [None, None], [1.0, 0.0]]
"""What may stand where another kind of value should."""


def replaced(made: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of a document in which something else stands at a path."""
    made = without(made, path, True)
    at = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return made


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of everything in a document, but of one element of each list."""
    if isinstance(value, dict):
        inner = list(value.items())
    else:
        inner = list(enumerate(value))[:1] if isinstance(value, list) else []
    return [(*path, key) for key, _ in inner] + [p for key, one in inner for p in paths_of(one, (*path, key))]


def assert_clean(page: bytes, path: tuple[Any, ...]) -> None:
    """Assert that a page shows no None, nan or inf; name the path that was taken out if it does."""
    shown = page.decode()
    assert "None" not in re.sub(r"<style>.*?</style>", "", shown, flags=re.S), path
    assert not re.search(r"\b(nan|inf)\b", re.sub(r"<[^>]*>", "", shown)), path
