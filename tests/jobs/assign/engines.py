"""An engine that tells what it was asked for, and breaks down where a test wants it to."""

from __future__ import annotations

from typing import Any

from cluster.reduce import SerialEngine
from udfs.errors import ClusterError


class Counting(SerialEngine):
    """An engine that remembers its stages, and breaks down at one of them."""

    def __init__(self, last: int | None = None) -> None:
        super().__init__()
        self.stages: list[str] = []
        self._last = last

    def reduce(self, units: Any, chunk: Any, combine: Any, stage: str) -> Any:
        self.stages.append(stage)
        if self._last is not None and len(self.stages) > self._last:
            raise ClusterError(stage, "the cluster must stay up", "it is gone")
        return super().reduce(units, chunk, combine, stage)
