"""The values of a column that is no secret: the strata and groups of collected data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cluster.manifest import Part
from cluster.scrutiny import read_part
from udfs.errors import SchemaError
from udfs.lookup import Category

MOST_LEVELS = 1000
"""A column of more values than this holds no strata."""


@dataclass(frozen=True)
class Levels:
    """Some values, all different, in order."""

    values: tuple[Category, ...]


@dataclass(frozen=True)
class FindLevels:
    """Finds the values of a column in one part. Runs on a worker; what it reads is no secret."""

    column: str

    def __call__(self, part: Part) -> Levels:
        """Return the part's values."""
        found: list[Levels] = []
        for unit, blocks in read_part(part, [self.column]):
            for block in blocks:
                missing = pc.sum(block.column(0).is_null(nan_is_null=True)).as_py()
                if missing:
                    raise SchemaError(
                        f"{part.files[unit.file].url}, column {self.column!r}",
                        "every row must be of one stratum or group",
                        f"{missing} missing",
                    )
                values = pc.unique(block.column(0))
                if pa.types.is_dictionary(values.type):
                    values = values.cast(values.type.value_type)
                found.append(_levels(self.column, values.to_pylist()))
        return self.join(found)

    def join(self, found: Iterable[Levels]) -> Levels:
        """Join the values of several blocks or parts."""
        return _levels(self.column, [value for levels in found for value in levels.values])


def _levels(column: str, values: list[Any]) -> Levels:
    unique = set(values)
    if len(unique) > MOST_LEVELS:
        raise SchemaError(
            f"column {column!r}", f"strata and groups must be {MOST_LEVELS} at most", f"{len(unique)} or more"
        )
    if len({type(value) for value in values}) > 1:  # True is 1, and would be lost in it
        raise SchemaError(
            f"column {column!r}", "strata and groups must be of one type in all files", "several"
        )
    return Levels(tuple(sorted(unique)))
