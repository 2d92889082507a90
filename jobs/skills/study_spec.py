"""What a study of a tree's error varies."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, model_validator

from jobs.skills.tree import MOST_COUNTERS
from jobs.spec import Epsilon, Table, as_tuple, middle
from udfs.errors import SpecError

LIMITS = {
    "epsilons": (Decimal("0.0001"), 100),
    "workers": (1, 1_000_000),
    "depths": (1, 14),
    "bins": (1, 1000),
}
"""The least and the most of each size."""


StudiedMechanism = Literal["shares", "central", "exact"]
"""Noise shares of all participants, of whom some were planned to be missing; one trusted party's noise; none."""


class Size(NamedTuple):
    """The size of a tree that is studied."""

    workers: int
    depth: int
    bins: int
    epsilon: Decimal


class SkillsStudyTable(Table):
    """The error of trees as an experiment: each size is varied with the others in the middle of theirs."""

    epsilons: Annotated[tuple[Epsilon, ...], BeforeValidator(as_tuple)] = Field(
        min_length=1, description="Of a whole tree, for one worker more or less."
    )
    mechanisms: Annotated[tuple[StudiedMechanism, ...], BeforeValidator(as_tuple)] = Field(
        ("shares",),
        min_length=1,
        description='Whose noise: "shares" of all participants, "central" of one who is trusted, or "exact", none.',
    )
    workers: Annotated[tuple[int, ...], BeforeValidator(as_tuple)] = Field(
        min_length=1, description="Of the uniform populations that are made."
    )
    depths: Annotated[tuple[int, ...], BeforeValidator(as_tuple)] = Field(
        min_length=1, description="Of their trees."
    )
    bins: Annotated[tuple[int, ...], BeforeValidator(as_tuple)] = Field(
        (10,), min_length=1, description="Of their nodes' histograms."
    )
    replications: int = Field(ge=2, le=100_000, description="Of each tree, the population's own ones too.")
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _check_grid(self) -> Self:
        for name, (least, most) in LIMITS.items():
            values = getattr(self, name)
            if any(later <= sooner for sooner, later in pairwise(values)):
                raise SpecError(name, "must rise, each above the one before it", f"{len(values)} values")
            if not least <= values[0] <= values[-1] <= most:
                raise SpecError(name, f"must be from {least} to {most:,}", f"{values[0]} to {values[-1]}")
        if len(set(self.mechanisms)) < len(self.mechanisms):
            raise SpecError("mechanisms", "must differ", f"{len(self.mechanisms)} values")
        for size in self.sizes:
            if 2**size.depth * (size.bins + 2) > MOST_COUNTERS:
                got = f"depth {size.depth} with {size.bins} bins"
                raise SpecError("depths", f"a level must have at most {MOST_COUNTERS:,} counters", got)
        return self

    @property
    def base(self) -> Size:
        """The middle of every grid."""
        return Size(middle(self.workers), middle(self.depths), middle(self.bins), middle(self.epsilons))

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The size of every tree that is made: all in the middle, then each varied by itself."""
        n, depth, bins, epsilon = self.base
        varied = [Size(one, depth, bins, epsilon) for one in self.workers]
        varied += [Size(n, one, bins, epsilon) for one in self.depths]
        varied += [Size(n, depth, one, epsilon) for one in self.bins]
        varied += [Size(n, depth, bins, one) for one in self.epsilons]
        return tuple(dict.fromkeys([self.base, *varied]))
