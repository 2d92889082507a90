"""The ball randomizer: one bit of a vector in a ball, on which side of a public direction it is more likely.

References
----------
Duchi, Jordan, Wainwright: Minimax optimal procedures for locally private estimation (2018), section 4.2.3;
papers/private-voting, lemma 2.8. Their report is a point of a sphere: a sign times a uniform direction. Where the
direction is public, the sign alone is the report. Gaussian directions in place of spherical ones cost
1 + 1 / (2 dimension) of the variance and make every coordinate independent of the others.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.ball_scores import MOST_SUMMED, REPORT, BallScores, DirectionSums, Reports
from udfs.contest_descriptions import contest_of, describe_contest
from udfs.contests import Contest, EveryFirstChoice, Places
from udfs.design import Counts
from udfs.directions import LARGEST, ROWS_AT_ONCE, Directions, row_names
from udfs.draws import Draws, Some
from udfs.ellipsoid import Ellipsoid
from udfs.errors import SchemaError, SpecError
from udfs.exact import WORD, parse_epsilon, truth_threshold
from udfs.lookup import Category
from udfs.projections import Projected, project, project_first_choices
from udfs.streams import SECRET_BYTES, Words
from udfs.turns import EVERYBODY, Turn

__all__ = ["REPORT", "Ball", "DirectionSums"]

_LEAST_SLOPE = Fraction(1, 10**12)
_HALF = WORD // 2
_MOST_LAID_OUT = 1 << 22
"""So many entries of answers are laid out at once: 32 MB of them."""


@dataclass(frozen=True)
class Ball(BallScores):
    """The ball randomizer of ballots' answers to one contest.

    An answer x, less the contest's centre, has a norm of at most r. Its direction V is public, Gaussian, and
    independent of the ballot; the report is the sign of <V, x> with probability 1/2 + (p - 1/2) |x| / r, else the
    other sign, where p / (1 - p) = e**epsilon: the two coins of lemma 2.8, which direction x is made to have and
    whether the sign is kept, are one. Signs are of whole numbers, and the probability is an integer over 2**64.

    Privacy: each ballot is epsilon-private in the local model, exactly. Given the directions, the probability of
    either report is between 1 - p and p whatever the ballot, so that nothing else is asked of the directions.

    Parameters
    ----------
    contest : Contest
        `FirstChoice`, `Duels`, `Points` or `EveryFirstChoice`.
    epsilon : Decimal
        Positive and finite.
    seed : bytes
        32 published bytes, of which directions and turns are made.
    turn : Turn
        Who is asked.
    transform : Ellipsoid, optional
        For the duels of all pairs: a better ball for them.

    Raises
    ------
    SpecError
        For an epsilon that is none, or one so small that nothing can be estimated; for answers so large that sums
        would not be exact; for an ellipsoid of other duels.

    Examples
    --------
    >>> from udfs.contests import Duels
    >>> from udfs.draws import Numbered, fresh_draws
    >>> ball = Ball(Duels.of_all(3), Decimal(1), bytes(32))
    >>> ballots = np.array([[0, 1, 2], [1, 0, 1]], dtype=np.uint8)
    >>> ball.randomize(ballots, fresh_draws(2, Numbered(0, 2)))["positive"].dtype
    dtype('bool')
    """

    contest: Contest
    epsilon: Decimal
    seed: bytes
    turn: Turn = EVERYBODY
    transform: Ellipsoid | None = None

    mechanism: ClassVar[str] = "ball"
    draws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "epsilon", parse_epsilon(self.epsilon))
        where = self.mechanism
        if len(self.seed) != SECRET_BYTES:
            raise SpecError(where, f"a seed is {SECRET_BYTES} bytes", f"{len(self.seed)}")
        if self.transform is not None and self.contest != self.transform.duels:
            raise SpecError(
                where, "an ellipsoid is for the duels of all its pairs", type(self.contest).__name__
            )
        if self.slope < _LEAST_SLOPE:
            raise SpecError(where, "its design must be invertible", f"epsilon {self.epsilon}", "give more")
        if LARGEST**2 * self.contest.dimension * self.squared_norm >= WORD**2 // 4:
            raise SpecError(
                where,
                "answers must be so small that their sums are exact",
                f"a squared norm of {self.squared_norm}",
                "points whose averages have a small common denominator, or another randomizer",
            )

    @cached_property
    def truth(self) -> int:
        """The probability p of the likelier sign of a longest answer, over 2**64."""
        return truth_threshold(Fraction(1), self.epsilon)

    @property
    def slope(self) -> Fraction:
        """The expectation of the sign, 2 p - 1, of a longest answer on its own side: 1 / kappa."""
        return Fraction(2 * self.truth - WORD, WORD)

    @property
    def squared_norm(self) -> int:
        """The square of r."""
        return self.contest.squared_norm if self.transform is None else self.transform.squared_norm

    @property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        answers = hashlib.sha256(json.dumps(describe_contest(self.contest)).encode()).hexdigest()
        parts = [
            f"{self.mechanism} {type(self.contest).__name__} dimension={self.contest.dimension} answers={answers}",
            *([self.transform.label] if self.transform else []),
            f"epsilon={self.epsilon.normalize()} truth={self.truth} seed={self.seed.hex()} {self.turn.label}",
        ]
        return " ".join(parts)

    def thresholds(self) -> dict[str, int]:
        """Return the probability of the likelier sign of a longest answer, over 2**64."""
        return {"truth": self.truth}

    def chance(self, square: int) -> int:
        """Return the probability of the likelier sign of an answer of this squared norm, over 2**64.

        Never above `truth`, so that even an answer longer than r would be protected.
        """
        share = Fraction(min(square, self.squared_norm), self.squared_norm)
        spread = (self.truth - _HALF) ** 2 * share
        return _HALF + math.isqrt(spread.numerator // spread.denominator)

    def randomize(self, answers: Places, draws: Draws) -> Reports:
        """Turn a block of ballots into reports of those who are asked.

        Parameters
        ----------
        answers : ndarray of uint8, shape (rows, candidates)
            Ballots, as places.
        draws : Draws
            One source for the block, of rows that stand somewhere.

        Returns
        -------
        ndarray of `REPORT`, shape (asked,)

        Notes
        -----
        Runs where the ballots are: on a worker, or on a respondent's device. One secret word a row. An answer that
        is zero, or at a right angle to its direction, is reported by a fair coin.
        """
        places, draws = self.turn.ask(answers, draws, self.seed)
        reports = np.empty(len(draws), dtype=REPORT)
        reports["name"] = row_names(draws, self.seed)
        squares, along = np.empty((2, len(reports)), dtype=np.int64)
        at_once = min(ROWS_AT_ONCE, max(1, _MOST_LAID_OUT // self.contest.dimension))
        for start in range(0, len(reports), at_once):
            rows = slice(start, start + at_once)
            directions = Directions(self.seed, reports["name"][rows])
            squares[rows], along[rows] = self._project(places[rows], directions)
        kinds, which = np.unique(squares, return_inverse=True)
        chances: Words = np.array([self.chance(square) for square in kinds.tolist()], dtype=np.uint64)[which]
        chances[along == 0] = _HALF
        reports["positive"] = (draws.words(0) < chances) == (along > 0)
        return reports

    def _project(self, places: Places, directions: Directions) -> Projected:
        """Return the squared norms and the projections of some ballots' answers."""
        if isinstance(self.contest, EveryFirstChoice):
            return project_first_choices(self.contest, places, directions)
        answers = self.contest.encode(places)
        if self.contest.centre:
            answers = answers - self.contest.centre
        return project(self.transform.stretch(answers) if self.transform else answers, directions)

    @property
    def sums_all(self) -> bool:
        """Whether `tally` sums all coordinates: there are few, and a rule may ask for any of them."""
        return self.contest.dimension <= MOST_SUMMED and not isinstance(self.contest, EveryFirstChoice)

    @property
    def _tally(self) -> DirectionSums:
        """What `tally` adds up."""
        return DirectionSums(self, tuple(range(self.contest.dimension)) if self.sums_all else ())

    def zeros(self) -> Counts:
        """Return the sum of no reports."""
        return self._tally.zeros()

    def tally(self, reports: Reports) -> Counts:
        """Sum the reports' signed directions where `sums_all`, and last count the reports.

        Returns
        -------
        ndarray of int64, shape (dimension + 1,), or (1,)
            Where it only counts, `DirectionSums` adds up what a contest needs.
        """
        return self._tally.tally([reports])

    def report_type(self, labels: Sequence[Category | None]) -> pa.DataType:
        """Return the type of a bit."""
        return pa.bool_()

    def to_arrow(self, reports: Reports, labels: Sequence[Category | None]) -> pa.Array:
        """Return the bits: directions are public."""
        return pa.array(np.ascontiguousarray(reports["positive"]))

    def from_arrow(self, column: pa.Array) -> tuple[npt.NDArray[np.bool_], int]:
        """Return the bits of a column, and how many of its rows hold none."""
        bits: npt.NDArray[np.bool_] = column.fill_null(False).to_numpy(zero_copy_only=False)
        return bits, column.null_count

    def collected(self, found: npt.NDArray[np.generic], draws: Draws) -> Reports:
        """Return the reports of those who are asked, from the bits of all rows and where these stand.

        Parameters
        ----------
        found : ndarray of bool, shape (rows,)
        draws : Draws
            Public ones are enough.
        """
        rows = self.turn.rows(draws, self.seed)
        reports = np.empty(len(rows), dtype=REPORT)
        reports["name"] = row_names(Some(draws, rows), self.seed)
        reports["positive"] = found[rows]
        return reports

    def describe(self) -> dict[str, Any]:
        """Return all that fixes the law, as JSON has it; see `from_description`."""
        return {
            "mechanism": self.mechanism,
            "contest": describe_contest(self.contest),
            "epsilon": str(self.epsilon),
            "seed": self.seed.hex(),
            "turn": [self.turn.first, self.turn.last, self.turn.of],
            "ellipsoid": self.transform is not None,
            "thresholds": self.thresholds(),
        }

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Ball:
        """Return the mechanism that `describe` described.

        Raises
        ------
        SchemaError
            If it describes another mechanism, or other thresholds than follow from its parameters.
        """
        where = "reports"
        if description.get("mechanism") != cls.mechanism:
            raise SchemaError(where, f"must be of {cls.mechanism}", f"{description.get('mechanism')}")
        try:
            contest = contest_of(description["contest"])
            transform = Ellipsoid.of(contest) if description["ellipsoid"] else None
            epsilon, seed = Decimal(description["epsilon"]), bytes.fromhex(description["seed"])
            ball = cls(contest, epsilon, seed, Turn(*description["turn"]), transform)
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            raise SchemaError(where, "must say how they were made", type(error).__name__) from None
        if description.get("thresholds") != ball.thresholds():
            raise SchemaError(where, "thresholds must be those of their epsilon", f"{ball.epsilon}")
        return ball
