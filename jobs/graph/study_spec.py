"""What a study of a graph's statistics varies."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from jobs.spec import Epsilon, Table, as_tuple
from udfs.errors import SpecError

StudiedMechanism = Literal[
    "randomized-response", "laplace", "global-sensitivity", "smooth-sensitivity", "zero"
]
"""On every pair; of a trusted holder, with noise for the worst graph, or for this one; the answer zero."""

MOST_NODES = 4096
"""Of a graph that is studied: its matrix is held whole."""


class GraphStudyTable(Table):
    """The error of a graph's statistics as an experiment."""

    epsilons: Annotated[tuple[Epsilon, ...], BeforeValidator(as_tuple)] = Field(
        min_length=1, description="For a link, each of them spent on one statistic alone."
    )
    mechanisms: Annotated[tuple[StudiedMechanism, ...], BeforeValidator(as_tuple)] = Field(
        ("randomized-response", "laplace", "global-sensitivity", "smooth-sensitivity", "zero"),
        min_length=1,
        description="Pairs' own reports, or a trusted holder's noise; zero is what the others must be better than.",
    )
    replications: int = Field(ge=2, le=100_000, description="Of each mechanism at each epsilon.")
    seed: int = Field(0, ge=0, lt=1 << 256, description="At most 32 bytes.")

    @model_validator(mode="after")
    def _check_grid(self) -> Self:
        if any(later <= sooner for sooner, later in pairwise(self.epsilons)):
            raise SpecError(
                "epsilons", "must rise, each above the one before it", f"{len(self.epsilons)} values"
            )
        if len(set(self.mechanisms)) < len(self.mechanisms):
            raise SpecError("mechanisms", "must differ", f"{len(self.mechanisms)} values")
        return self
