"""Which randomizers can answer a question, and which of them has the least variance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.asking import Mechanism
from udfs.ball import Ball
from udfs.choice import SampledChoice
from udfs.contests import Contest, Duels, EveryFirstChoice, FirstChoice, Points, members
from udfs.draws import Draws
from udfs.ellipsoid import Ellipsoid
from udfs.errors import SpecError
from udfs.randomizer import Counts
from udfs.score_noise import Noise, ScoreEstimate
from udfs.turns import EVERYBODY, Turn


class ScoreMechanism(Mechanism, Protocol):
    """A randomizer of ballots: from its reports, scores are estimated."""

    @property
    def epsilon(self) -> Decimal:
        """What its report gives away of a ballot."""
        ...

    @property
    def turn(self) -> Turn:
        """Whom it asks."""
        ...

    @property
    def mechanism(self) -> str:
        """What footers call it."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return all parameters as JSON has them."""
        ...

    def from_arrow(self, column: pa.Array) -> tuple[npt.NDArray[np.generic], int]:
        """Return what a column of reports holds, and how many of its rows hold none that can be."""
        ...

    def collected(self, found: npt.NDArray[np.generic], draws: Draws) -> npt.NDArray[np.generic]:
        """Return the reports, with what public draws add to them."""
        ...

    def answers(self, contest: Contest) -> bool:
        """Tell whether its reports answer a contest."""
        ...

    def estimate(self, contest: Contest, counts: Counts, ballots: int) -> ScoreEstimate:
        """Return unbiased sums over all ballots."""
        ...

    def noise(self, contest: Contest, ballots: int, asked: int = 0) -> Noise:
        """Return how far these can be from the exact tally, where so many are asked, or as can be expected."""
        ...

    def fewest(self, contest: Contest, counts: Counts) -> int:
        """Return the fewest who were asked this, or what the rule might have asked in its place."""
        ...

    def asked(self, contest: Contest, counts: Counts) -> npt.NDArray[np.int64]:
        """Return how many ballots were asked, one number for each set of first choices or duel."""
        ...


@dataclass(frozen=True)
class Setting:
    """What any randomizer of a question is made with.

    Attributes
    ----------
    candidates : int
    epsilon : Decimal
    seed : bytes
        32 published bytes.
    turn : Turn
        Whom the question is put to.
    """

    candidates: int
    epsilon: Decimal
    seed: bytes
    turn: Turn = EVERYBODY


Options: TypeAlias = dict[str, Callable[[], ScoreMechanism]]


def options(contest: Contest, setting: Setting) -> Options:
    """Return the randomizers that can answer a contest, by the names that specs have for them."""

    def ball(shape: Ellipsoid | None = None) -> Callable[[], ScoreMechanism]:
        return lambda: Ball(contest, setting.epsilon, setting.seed, setting.turn, shape)

    def choice(*sets: tuple[int, ...], last: bool = False) -> Callable[[], ScoreMechanism]:
        weights = (1,) * len(sets)
        return lambda: SampledChoice(
            setting.candidates, sets, weights, setting.epsilon, setting.seed, setting.turn, last
        )

    everybody = tuple(range(setting.candidates))
    if isinstance(contest, FirstChoice):
        one = choice(contest.active)
        return {"subset-selection": one, "sampled": one, "ball": ball()}
    if isinstance(contest, Duels):
        sampled = choice(*(tuple(sorted(pair)) for pair in contest.pairs))
        found: Options = {"sampled": sampled, "ball": ball()}
        if len(contest.pairs) == 1:
            found["subset-selection"] = sampled
        if setting.candidates > 2 and contest == Duels.of_all(setting.candidates):
            found["ellipsoid"] = ball(Ellipsoid(setting.candidates))
        return found
    if isinstance(contest, EveryFirstChoice):
        return {"sampled": choice(*map(members, contest.sets)), "ball": ball()}
    if isinstance(contest, Points) and len(set(contest.weights[:-1])) == 1:
        return {"subset-selection": choice(everybody, last=True), "ball": ball()}
    return {"ball": ball()}


def choose(contest: Contest, wanted: str, setting: Setting, ballots: int) -> tuple[ScoreMechanism, str]:
    """Return the randomizer of a contest, and why it is that one.

    Parameters
    ----------
    contest : Contest
    wanted : str
        A name, or "auto": the one whose gaps between candidates have the least variance, at worst.
    setting : Setting
    ballots : int

    Raises
    ------
    SpecError
        Where that randomizer cannot answer it.
    """
    found = options(contest, setting)
    if wanted != "auto":
        if wanted not in found:
            known = ", ".join(sorted(found))
            raise SpecError(
                "privacy.randomizer", "must be one that can answer what the rule asks", wanted, f"use {known}"
            )
        return found[wanted](), "as the spec says"
    candidates = {name: build() for name, build in found.items()}
    spread = {
        name: one.noise(contest, max(ballots, 1)).gap / max(ballots, 1) for name, one in candidates.items()
    }
    best, *others = sorted(spread, key=lambda name: spread[name])
    reason = f"{best} has the least variance of a gap, {spread[best]:.4g} a ballot"
    apart = [name for name in others if candidates[name] != candidates[best]]
    return candidates[best], reason + (f", before {apart[0]} with {spread[apart[0]]:.4g}" if apart else "")


def name_of(mechanism: ScoreMechanism) -> str:
    """Return what specs call a randomizer."""
    if isinstance(mechanism, Ball):
        return "ball" if mechanism.transform is None else "ellipsoid"
    if isinstance(mechanism, SampledChoice):
        return "subset-selection" if len(mechanism.contests) == 1 else "sampled"
    return mechanism.mechanism


def sums_when_asked(mechanism: ScoreMechanism) -> TypeGuard[Ball]:
    """Tell whether reports are passed over again for each contest: all that one may ask for is too much to sum."""
    return isinstance(mechanism, Ball) and not mechanism.sums_all
