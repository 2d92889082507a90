"""Formulas as elections by transfers: why their margin cannot be told in polynomial time, unless P = NP.

Where a formula can be satisfied, one ballot changes the winner; where it cannot, half of `copies` ballots do
not.

References
----------
papers/private-voting: theorem B.1, section B.1 and proposition B.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from jobs.election.profiles.instance import Instance, Ranking, completed, profile_of
from udfs.errors import SpecError

MOST_OF_A_LITERAL = 2
"""Clauses that a literal may be in."""
_W, _A = 0, 1


@dataclass(frozen=True)
class Satisfiability:
    """The election of a formula in conjunctive normal form, of 4 N + 2 candidates for N variables.

    Candidate w wins. Before, of each variable one literal has gone, as if it were false; a clause of whose
    literals none is left votes for w, and puts a out of reach. So a can win only if all clauses are
    satisfied.

    Two things are stated more sharply than in the paper. Ballots go on with w, then a, wherever the paper
    stops at w: with any suffix, eliminated literals could hand theirs to others, above the count of
    proposition B.5's last step. And a clause may have fewer literals than three, as the proof does not count
    them: the least formulas that cannot be satisfied are then small enough for an exact margin.

    Parameters
    ----------
    variables : int
        N, at least one.
    clauses : tuple of tuple of int
        One to three different literals each: a variable's number from 1 on, negative for its negation. No
        literal is in more than two clauses.
    copies : int
        t, the unit of all counts: the margin of a formula that cannot be satisfied is at least t / 2. The
        paper's is so large that it is almost the number of ballots.

    Examples
    --------
    >>> contradiction = Satisfiability(variables=1, clauses=((1,), (-1,)), copies=4)
    >>> election = contradiction.instance()
    >>> election.names, int(election.profile.ballots)
    (('w', 'a', 'y1', 'y-1', 'z1', 'z-1'), 575)
    """

    variables: int
    clauses: tuple[tuple[int, ...], ...]
    copies: int

    def __post_init__(self) -> None:
        """Refuse other formulas."""
        if min(self.variables, self.copies) < 1:
            raise SpecError(
                "satisfiability", "needs a variable and a copy at least", f"{self.variables}, {self.copies}"
            )
        uses = Counter(literal for clause in self.clauses for literal in clause)
        if any(not 1 <= len(clause) == len(set(clause)) <= 3 for clause in self.clauses) or any(
            not 1 <= abs(literal) <= self.variables or many > MOST_OF_A_LITERAL
            for literal, many in uses.items()
        ):
            raise SpecError(
                "satisfiability.clauses",
                f"must be of one to three literals of {self.variables} variables, none in more than"
                f" {MOST_OF_A_LITERAL} clauses",
                f"{self.clauses}",
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The winner w, the alternate a, then the literals' y and their z."""
        literals = [sign * one for one in range(1, self.variables + 1) for sign in (1, -1)]
        return ("w", "a", *(f"y{one}" for one in literals), *(f"z{one}" for one in literals))

    @property
    def depth(self) -> int:
        """D of the paper."""
        return 10 * self.variables

    def literal_candidate(self, literal: int) -> int:
        """Return y of a literal."""
        return 2 * abs(literal) + (literal < 0)

    def selection_candidate(self, literal: int) -> int:
        """Return z of a literal."""
        return self.literal_candidate(literal) + 2 * self.variables

    def satisfied(self, assignment: Sequence[bool]) -> bool:
        """Return whether an assignment of the variables satisfies all clauses."""
        return all(any(assignment[abs(one) - 1] == (one > 0) for one in clause) for clause in self.clauses)

    def instance(self) -> Instance:
        """Return the election; w is designated, and wins."""
        return Instance(self.names, profile_of(self._rankings(0, ())), _W)

    def changed(self, assignment: Sequence[bool], ballots: int) -> Instance:
        """Return the election in which some voters of w select an assignment and then a, who is designated.

        With an assignment that satisfies the formula and up to t / 6 ballots, a wins, with a margin of
        victory of at least half the number of ballots.

        Parameters
        ----------
        assignment : sequence of bool
            One a variable.
        ballots : int
            From 0 to 4 D t.
        """
        most = 4 * self.depth * self.copies
        if len(assignment) != self.variables or not 0 <= ballots <= most:
            raise SpecError(
                "satisfiability.changed",
                f"needs {self.variables} values and 0 to {most} ballots",
                f"{len(assignment)} and {ballots}",
            )
        selected = [
            self.selection_candidate(number if value else -number)
            for number, value in enumerate(assignment, 1)
        ]
        return Instance(self.names, profile_of(self._rankings(ballots, selected)), _A)

    def _rankings(self, changed: int, selected: Sequence[int]) -> list[tuple[Ranking, int]]:
        """Return all rankings with their numbers, `changed` of w's voters having changed."""
        t, depth = self.copies, self.depth
        rankings: list[tuple[Ranking, int]] = [
            (self._ranking(), 4 * depth * t - changed),
            (self._ranking(_A), 4 * depth * t - 1),
            (self._ranking(*selected, _A), changed),
        ]
        for number in range(1, self.variables + 1):
            for literal in (number, -number):
                y, y_not = self.literal_candidate(literal), self.literal_candidate(-literal)
                z, z_not = self.selection_candidate(literal), self.selection_candidate(-literal)
                rankings += [
                    (self._ranking(z, y_not, y), (depth + 5 * number - 4) * t),
                    (self._ranking(z, z_not, y, y_not), 4 * t),
                    (self._ranking(y, y_not), (depth + 5 * number + 1) * t),
                ]
        return rankings + [
            (self._ranking(*map(self.literal_candidate, clause)), t) for clause in self.clauses
        ]

    def _ranking(self, *top: int) -> Ranking:
        """Return a ranking that goes on with w, a and everybody else."""
        return completed(top, range(4 * self.variables + 2))
