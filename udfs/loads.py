"""Arrays that lie somewhere, and are handed on as where that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy.typing as npt

Load: TypeAlias = Callable[[], npt.NDArray[Any]]
"""Gives an array; nobody may write to it."""

Put: TypeAlias = Callable[[npt.NDArray[Any]], Load]
"""Lays an array down where others can load it."""
