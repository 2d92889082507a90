"""Workers that die at a chosen moment, once: what a cluster does to a job, scripted."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import cluster.scrutiny
from cluster.asking import AskPart
from cluster.manifest import Part
from cluster.reduce import Engine

Moment = Literal["before", "midway", "after"]


@dataclass(frozen=True)
class DyingPart:
    """Asks a part; the first time, for some parts, the process dies before, midway or after."""

    chunk: AskPart
    moments: dict[int, Moment]
    graves: Path

    def __call__(self, checked: tuple[Part, dict[str, str]]) -> Any:
        part = checked[0]
        grave = self.graves / f"part-{part.index}"
        moment = self.moments.get(part.index)
        if moment is None or grave.exists():
            return self.chunk(checked)
        grave.touch()
        if moment == "midway":
            cluster.scrutiny.read_blocks = _one_block_then_death  # this process's own, and it is about to die
        if moment != "before":
            self.chunk(checked)
        return die()


def die() -> None:
    """Be killed as the kernel kills: at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def _one_block_then_death(*place: Any) -> Iterator[Any]:
    from cluster.blocks import read_blocks

    yield next(read_blocks(*place))
    die()


@dataclass(frozen=True)
class Disturbed:
    """An engine whose workers die while they ask."""

    engine: Engine
    moments: dict[int, Moment]
    graves: Path

    def reduce(
        self, units: Sequence[Any], chunk: Callable[..., Any], combine: Callable[..., Any], stage: str
    ) -> Any:
        """Reduce, with deaths where answers are asked for."""
        dying = DyingPart(chunk, self.moments, self.graves) if isinstance(chunk, AskPart) else chunk
        return self.engine.reduce(units, dying, combine, stage)
