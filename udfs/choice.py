"""One contest a voter: each says whom they place first, or last, among a set of candidates drawn for them.

References
----------
Nguyen et al.: Collecting and analyzing data from smart device users with local differential privacy (2016),
section III, for one question of several; `udfs.subset_selection` for the answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.choice_answers import Remembered, choose
from udfs.choice_contests import Contests, WeightedContests, parts_of
from udfs.choice_reports import ChoiceColumn, ChoiceReports, blank_reports, hold, holders
from udfs.choice_scores import estimate_margins, estimate_sums, joined, largest_noise
from udfs.contests import Contest, Duels, Points
from udfs.draws import Draws, Lane, Some
from udfs.errors import SchemaError, SpecError
from udfs.exact import parse_epsilon
from udfs.lookup import Category
from udfs.randomizer import Codes, Counts
from udfs.score_noise import Noise, ScoreEstimate
from udfs.streams import SECRET_BYTES
from udfs.subset_selection import SubsetSelection
from udfs.turns import EVERYBODY, Turn


@dataclass(frozen=True)
class SampledChoice:
    """Subset selection on whom a voter places first, or last, in one of several contests.

    A public draw gives every voter one contest, with probability proportional to its weight. A ballot that
    places nobody alone first draws its answer uniformly from the contest's k candidates: each gains 1/k, and
    differences of candidates stay what they are. One that places several last together draws one of these, as
    `udfs.contests.Points` shares their points.

    Privacy: exactly epsilon-private in the local model, for any two ballots and given all public draws, which
    depend on no ballot. Cost: one public word a row, about two secret ones, and time by the size of the row's
    contest, however many contests there are.

    Parameters
    ----------
    candidates : int
    contests : tuple of tuple of int
        Different sets of at least two candidates, each in ascending order.
    weights : tuple of int
        Positive, one a contest; their sum is at most 2**40.
    epsilon : Decimal
    seed : bytes
        32 published bytes: of the contests and of the turns.
    turn : Turn
        Whom to ask. Others send no report.
    last : bool
        Whether to ask who stands last.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> duel = SampledChoice(2, ((0, 1),), (1,), Decimal(1), bytes(32))
    >>> reports = duel.randomize(np.array([[0, 1]], dtype=np.uint8), fresh_draws(1))
    >>> int(duel.asked(Duels(((0, 1),)), duel.tally(reports))[0])
    1
    """

    candidates: int
    contests: Contests
    weights: tuple[int, ...]
    epsilon: Decimal
    seed: bytes
    turn: Turn = EVERYBODY
    last: bool = False

    mechanism: ClassVar[str] = "sampled-choice"
    draws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters, and with epsilon every design."""
        object.__setattr__(self, "epsilon", parse_epsilon(self.epsilon))
        if len(self.seed) != SECRET_BYTES:
            raise SpecError(self.mechanism, f"a seed is {SECRET_BYTES} bytes", f"{len(self.seed)}")
        _ = self.designs

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters alone: what follows from them does not travel."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @cached_property
    def weighted(self) -> WeightedContests:
        """The contests, with what follows from them."""
        return WeightedContests(self.candidates, self.contests, self.weights)

    @cached_property
    def designs(self) -> dict[int, SubsetSelection]:
        """The randomizer of the contests of each size."""
        return {size: SubsetSelection(size, self.epsilon) for size in np.unique(self.weighted.sizes).tolist()}

    @property
    def label(self) -> str:
        """The mechanism and all its parameters, the contests by a digest."""
        designs = "; ".join(design.label for design in self.designs.values())
        return (
            f"{self.mechanism} contests={len(self.contests)} sha256={self.weighted.digest} "
            f"seed={self.seed.hex()} {self.turn.label} last={self.last}; {designs}"
        )

    def thresholds(self) -> dict[str, int]:
        """Return a set's size and its chance over 2**64 to hold the truth, by the candidates of a contest."""
        return {
            f"{name}_{cells}": value
            for cells, design in self.designs.items()
            for name, value in design.thresholds().items()
        }

    def randomize(self, answers: Codes, draws: Draws) -> ChoiceReports:
        """Turn the ballots of a block into the reports of those who are asked.

        Parameters
        ----------
        answers : ndarray of uint8, shape (rows, candidates)
            Places; fastest where columns are contiguous.
        draws : Draws

        Returns
        -------
        records of `udfs.choice_reports`, shape (asked,)

        Notes
        -----
        Runs where the answers are: on a worker, or on a respondent's device.
        """
        asked, source = self.turn.ask(answers.astype(np.uint8, copy=False), draws, self.seed)
        own = Remembered(source)
        by_chance, noise = Lane(own, 0, 2), Lane(own, 1, 2)
        reports = blank_reports(len(asked), self.weighted.widest)
        reports["question"] = self.weighted.draw(source, self.seed)
        sizes = self.weighted.sizes[reports["question"]]
        for size, design in self.designs.items():
            rows = np.flatnonzero(sizes == size)
            places = self.weighted.places(asked, reports["question"], rows, size)
            choices = choose(places, self.last, Some(by_chance, rows))
            hold(reports, rows, design.randomize(choices, Some(noise, rows)))
        return reports

    def zeros(self) -> Counts:
        """Return the sum of no reports: int64, shape (weighted.offsets[-1],)."""
        return np.zeros(self.weighted.offsets[-1], dtype=np.int64)

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Count, contest by contest, the sets that hold each of its candidates, then the reports: int64."""
        records = cast(ChoiceReports, reports)
        counts, questions, contests = self.zeros(), records["question"], len(self.contests)
        for position in range(self.weighted.widest):
            held = np.bincount(questions[holders(records, position)], minlength=contests)
            wide = self.weighted.sizes > position
            counts[self.weighted.offsets[:-1][wide] + position] = held[wide]
        counts[self.weighted.offsets[1:] - 1] = np.bincount(questions, minlength=contests)
        return counts

    def answers(self, contest: Contest) -> bool:
        """Return whether reports tell the sums of a contest.

        Those of first choices among their own sets and of duels of their own pairs; where all are asked whom
        they place last, those of points that are the same for all other places.
        """
        parts = parts_of(contest, self.candidates, self.last)
        return bool(parts) and all(part in self.weighted.numbers for part in parts)

    def _numbers(self, contest: Contest) -> list[int]:
        """Return the numbers of these sets."""
        if not self.answers(contest):
            raise SpecError(self.mechanism, "must be asked what its reports tell", type(contest).__name__)
        return [self.weighted.numbers[part] for part in parts_of(contest, self.candidates, self.last)]

    def asked(self, contest: Contest, counts: Counts) -> npt.NDArray[np.int64]:
        """Return how many voters reported on each set, or pair, of a contest: int64, shape (sets,)."""
        ends = [self.weighted.offsets[number + 1] - 1 for number in self._numbers(contest)]
        return counts[ends]

    def fewest(self, contest: Contest, counts: Counts) -> int:
        """Return the fewest who were asked any contest as large as one of these: what could stand in their place."""
        sizes = {len(self.contests[number]) for number in self._numbers(contest)}
        alike = np.isin(self.weighted.sizes, list(sizes))
        return int(counts[self.weighted.offsets[1:] - 1][alike].min())

    def estimate(self, contest: Contest, counts: Counts, ballots: int) -> ScoreEstimate:
        """Turn a tally into unbiased sums over all ballots, whoever was asked.

        Parameters
        ----------
        contest : Contest
            One that reports tell.
        counts : ndarray of int64
            From `tally`.
        ballots : int
            How many there are, with blank ones.

        Returns
        -------
        ScoreEstimate
            Of first choices, every score includes a k-th of the ballots that place nobody alone first. Points
            are not scaled.
        """
        starts = self.weighted.offsets
        slices = [counts[starts[n] : starts[n + 1]] for n in self._numbers(contest)]
        if isinstance(contest, Duels):
            margins = estimate_margins(self.designs[2], np.array(slices), ballots)
            signs = np.array([1.0 if one < other else -1.0 for one, other in contest.pairs])
            return ScoreEstimate(signs * margins.scores, margins.standard_errors)
        designs = [self.designs[len(part) - 1] for part in slices]
        parts = zip(designs, slices, strict=True)
        sums = joined([estimate_sums(*part, ballots, self.last) for part in parts])
        if not isinstance(contest, Points):
            return sums
        most, drop = float(contest.weights[0]), float(contest.weights[0] - contest.weights[-1])
        return ScoreEstimate(most * ballots - drop * sums.scores, drop * sums.standard_errors)

    def noise(self, contest: Contest, ballots: int, asked: int = 0) -> Noise:
        """Return the largest noise of a contest's sums, whatever the ballots are.

        Parameters
        ----------
        contest : Contest
            One that reports tell.
        ballots : int
        asked : int, optional
            The fewest who reported on any of its sets; without it, the fewest to be expected.
        """
        numbers = self._numbers(contest)
        each = ballots * float(self.turn.share) / self.weighted.total
        kinds = {(self.designs[len(self.contests[n])], asked or each * self.weights[n]) for n in numbers}
        noise = largest_noise(kinds, self.last, ballots)
        if isinstance(contest, Duels):
            return Noise(noise.gap, noise.gap, noise.reach, replaced=noise.replaced)
        drop = float(contest.weights[0] - contest.weights[-1]) if isinstance(contest, Points) else 1.0
        return Noise(
            drop**2 * noise.score,
            drop**2 * noise.gap,
            drop * noise.reach,
            replaced=drop**2 * noise.replaced,
        )

    @cached_property
    def column(self) -> ChoiceColumn:
        """How reports stand in a column."""
        sizes = self.weighted.sizes
        return ChoiceColumn(sizes, np.array([self.designs[size].size for size in sizes.tolist()]))

    def report_type(self, labels: Sequence[Category | None]) -> pa.DataType:
        """Return the type of a column of reports."""
        return self.column.type

    def to_arrow(self, reports: npt.NDArray[np.generic], labels: Sequence[Category | None]) -> pa.Array:
        """Return a block of reports as a column."""
        return self.column.write(cast(ChoiceReports, reports))

    def from_arrow(self, column: pa.Array) -> tuple[ChoiceReports, int]:
        """Return the reports of a column, and how many of its rows hold none that this mechanism makes."""
        return self.column.read(column)

    def collected(self, found: npt.NDArray[np.generic], draws: Draws) -> npt.NDArray[np.generic]:
        """Return the reports as they are, once each is on the contest that public draws gave its voter.

        So nobody who reports can choose the contest where a lie counts most, and reports that are not under their
        own ids or seed are noticed.

        Raises
        ------
        SchemaError
            Where some are on another contest; names how many.
        """
        asked = cast(ChoiceReports, found)["question"]
        others = int(np.count_nonzero(asked != self.weighted.draw(draws, self.seed)))
        if others:
            raise SchemaError(
                "collected",
                "reports must be on the contests that the seed in the footer gave to their ids or row numbers",
                f"{others} on others",
                "take whole files of reports as they were written, under the ids they were made with",
            )
        return found

    def describe(self) -> dict[str, Any]:
        """Return all that fixes the law, as JSON has it; see `from_description`."""
        return {
            "mechanism": self.mechanism,
            **self.weighted.describe(),
            "epsilon": str(self.epsilon),
            "seed": self.seed.hex(),
            "turn": [self.turn.first, self.turn.last, self.turn.of],
            "last": self.last,
            "thresholds": self.thresholds(),
        }

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> SampledChoice:
        """Return the mechanism that `describe` described.

        Raises
        ------
        SchemaError
            If it describes nothing, another mechanism, or other thresholds than follow from its parameters.
        """
        if description.get("mechanism") != cls.mechanism:
            raise SchemaError("reports", f"must be of {cls.mechanism}", f"{description.get('mechanism')}")
        try:
            weighted = WeightedContests.from_description(description)
            asked = weighted.candidates, weighted.contests, weighted.weights
            epsilon, seed = Decimal(description["epsilon"]), bytes.fromhex(description["seed"])
            choice = cls(*asked, epsilon, seed, Turn(*description["turn"]), description["last"])
        except (KeyError, TypeError, ValueError, ArithmeticError) as error:
            raise SchemaError("reports", "their description must be whole", type(error).__name__) from error
        if description.get("thresholds") != choice.thresholds():
            raise SchemaError("reports", "thresholds must be those of their epsilon", f"{choice.epsilon}")
        return choice
