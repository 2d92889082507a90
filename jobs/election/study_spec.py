"""What a study of decisive margins varies."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from jobs.spec import Epsilon, Table, as_tuple, middle
from udfs.errors import SpecError

MOST_STUDIED = 16
"""Candidates of an election that is made: a release may ask about every set of them."""
MOST_BY_TRANSFERS = 7
"""Candidates of one by single transferable vote: its exact margin takes seconds from here on."""
FEWEST_BALLOTS, MOST_BALLOTS = 100, 10_000_000


Model = Literal["central", "local", "interactive"]
StudiedRule = Literal["plurality", "maximin", "runoff", "stv", "condorcet"]
"""The rules of the paper's table 1."""


class ElectionStudyTable(Table):
    """The paper's table 1 as an experiment: replications, each size varied with the others in the middle of theirs."""

    epsilons: Annotated[tuple[Epsilon, ...], BeforeValidator(as_tuple)] = Field(min_length=1)
    mechanisms: Annotated[tuple[Model, ...], BeforeValidator(as_tuple)] = Field(
        min_length=1, description="Models of privacy."
    )
    rules: Annotated[tuple[StudiedRule, ...], BeforeValidator(as_tuple)] = Field(
        ("plurality", "maximin", "runoff", "stv", "condorcet"), min_length=1
    )
    ballots: Annotated[tuple[int, ...], BeforeValidator(as_tuple)] = Field(
        min_length=1, description="Of the elections that are made."
    )
    candidates: Annotated[tuple[int, ...], BeforeValidator(as_tuple)] = Field(
        min_length=1, description="Of the elections that are made."
    )
    electorates: int = Field(4, ge=1, le=1000, description="Random electorates that share the replications.")
    replications: int = Field(ge=2, le=1_000_000, description="Of each margin.")
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _check_grid(self) -> Self:
        for name in ("epsilons", "ballots", "candidates"):
            values = getattr(self, name)
            if any(later <= sooner for sooner, later in pairwise(values)):
                raise SpecError(name, "must rise, each above the one before it", f"{len(values)} values")
        for name in ("mechanisms", "rules"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise SpecError(name, "must differ", f"{len(values)} values")
        if not FEWEST_BALLOTS <= self.ballots[0] <= self.ballots[-1] <= MOST_BALLOTS:
            raise SpecError(
                "ballots",
                f"must be from {FEWEST_BALLOTS} to {MOST_BALLOTS}",
                f"{self.ballots[0]} to {self.ballots[-1]}",
            )
        most = MOST_BY_TRANSFERS if "stv" in self.rules else MOST_STUDIED
        if not 2 <= self.candidates[0] <= self.candidates[-1] <= most:
            raise SpecError(
                "candidates",
                f"must be from 2 to {most}, so that margins are found in time",
                f"{self.candidates[0]} to {self.candidates[-1]}",
            )
        if self.electorates > self.replications:
            raise SpecError(
                "electorates", f"share {self.replications} replications", f"{self.electorates} electorates"
            )
        return self

    @property
    def base(self) -> dict[str, Any]:
        """The middle of every grid, by the name of the size."""
        return {
            "ballots": middle(self.ballots),
            "candidates": middle(self.candidates),
            "epsilon": middle(self.epsilons),
        }

    @property
    def sizes(self) -> tuple[tuple[int, int, Decimal], ...]:
        """Ballots, candidates and epsilon of every election: all in the middle, then each varied by itself."""
        n, m, epsilon = self.base.values()
        varied = [(one, m, epsilon) for one in self.ballots]
        varied += [(n, one, epsilon) for one in self.candidates]
        varied += [(n, m, one) for one in self.epsilons]
        return tuple(dict.fromkeys(varied))
