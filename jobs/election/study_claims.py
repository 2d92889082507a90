"""What the paper says of its lower bounds' profiles, held against exact margins at small sizes.

Every claim is checked by making its profiles and finding their margins of victory, as integer programs where need
be. A claim that does not hold is told as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from jobs.election.margins import margin_of_victory
from jobs.election.profiles.instance import Instance
from jobs.election.profiles.marginals import MarginalElections
from jobs.election.profiles.packing import (
    MAJORITY_KAPPA,
    SCORING_KAPPA,
    majority_packing,
    scoring_packing,
)
from jobs.election.profiles.quadratic import quadratic, quadratic_bound, tied_eliminations
from jobs.election.profiles.satisfiability import Satisfiability
from jobs.election.profiles.transfers import MarginalsByTransfers
from jobs.election.profiles.two_way import TwoWayByDuels
from jobs.election.rules import RULES
from jobs.election.rules.rule import Rule
from udfs.contests import FirstChoice
from udfs.profile import Profile

_RECORDS = np.array(
    [[1, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 1], [1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=np.bool_
)
_CONTRADICTION = Satisfiability(variables=1, clauses=((1,), (-1,)), copies=6)
_TRUE = Satisfiability(variables=1, clauses=((1,),), copies=12)
_MOST_CHANGED = 2
"""A sixth of its copies."""
_MAJORITY = ("plurality", "maximin", "runoff", "stv", "condorcet")
_SCORING = ("plurality", "borda", "veto")


@dataclass(frozen=True)
class Case:
    """One profile: the margin that is claimed at least, the one that was found, and whether all else holds."""

    claimed: float
    found: int
    holds: bool = True


@dataclass(frozen=True)
class Claim:
    """A statement about profiles, with all its cases of some size.

    Attributes
    ----------
    source : str
        Where the paper has it.
    says : str
    rule : str
    size : str
    cases : callable
    """

    source: str
    says: str
    rule: str
    size: str
    cases: Callable[[Rule], Iterator[Case]]
    candidates: int

    def checked(self) -> dict[str, Any]:
        """Make the profiles, find their margins, and tell whether the claim holds, and how much there is to spare."""
        cases = list(self.cases(RULES[self.rule](self.candidates)))
        narrowest = min(cases, key=lambda one: one.found - one.claimed)
        return {
            "source": self.source,
            "claim": self.says,
            "rule": self.rule,
            "size": self.size,
            "profiles": len(cases),
            "holding": sum(one.holds and one.found >= one.claimed for one in cases),
            "holds": all(one.holds and one.found >= one.claimed for one in cases),
            "claimed_margin": narrowest.claimed,
            "found_margin": narrowest.found,
        }


def _marginals(generator: MarginalElections, most: int) -> Callable[[Rule], Iterator[Case]]:
    """Return the cases of all queries of two attributes, or fewer, and of all thresholds (definition E.5)."""

    def cases(rule: Rule) -> Iterator[Case]:
        records, attributes = generator.records.shape
        sizes = (2,) if most == 2 else range(1, most + 1)
        for query in (one for size in sizes for one in combinations(range(attributes), size)):
            marginal = generator.marginal(query)
            for threshold in range(1, records + 1):
                made = generator.instance(query, threshold)
                found = margin_of_victory(rule, made.profile)
                told = (found.outcome == made.designated) == (marginal >= threshold)
                yield Case(abs(marginal - threshold), found.margin, told)

    return cases


def _packing(packing: Callable[[int, int], tuple[Instance, ...]], kappa: int, margin: int) -> Any:
    """Return the cases of all candidates in turn (assumption 3.4)."""

    def cases(rule: Rule) -> Iterator[Case]:
        made = packing(rule.candidates, margin)
        near = all(
            _apart(one.profile, other.profile) <= kappa * margin for one, other in combinations(made, 2)
        )
        for one in made:
            found = margin_of_victory(rule, one.profile)
            yield Case(margin, found.margin, near and found.outcome == one.designated)

    return cases


def _unsatisfiable(rule: Rule) -> Iterator[Case]:
    """Yield the case of a formula that cannot be satisfied: half of its copies do not change the winner."""
    made = _CONTRADICTION.instance()
    found = margin_of_victory(rule, made.profile)
    yield Case(_CONTRADICTION.copies / 2, found.margin, found.outcome == made.designated)


def _satisfiable(rule: Rule) -> Iterator[Case]:
    """Yield the cases of a formula that can be: k ballots change the winner, who then wins by k / 2 at least."""
    before = _TRUE.instance()
    found = margin_of_victory(rule, before.profile)
    yield Case(1, found.margin, found.outcome == before.designated and found.margin == 1)
    for ballots in range(1, _MOST_CHANGED + 1):
        after = _TRUE.changed((True,), ballots)
        found = margin_of_victory(rule, after.profile)
        yield Case(math.ceil(ballots / 2), found.margin, found.outcome == after.designated)


def _quadratic(rule: Rule) -> Iterator[Case]:
    """Yield the case of remark A.7: along its order everybody who goes is tied for the fewest votes."""
    made, order = quadratic(rule.candidates), tied_eliminations(rule.candidates)
    found = margin_of_victory(rule, made.profile)
    tied = all(_is_fewest(made.profile, order[gone:]) for gone in range(len(order)))
    yield Case(
        float(quadratic_bound(rule.candidates)), found.margin, tied and found.outcome == made.designated
    )


def _is_fewest(profile: Profile, left: tuple[int, ...]) -> bool:
    """Tell whether the first of those who are left has no more first choices than any other."""
    active = tuple(sorted(left))
    scores = profile.score(FirstChoice(active))
    return bool(scores[active.index(left[0])] == scores.min())


def _apart(one: Profile, other: Profile) -> int:
    """Return how many ballots must be replaced to make one profile the other."""
    both = np.concatenate([one.places, other.places])
    signed = np.concatenate([one.counts, -other.counts])
    _, which = np.unique(both, axis=0, return_inverse=True)
    left = np.bincount(which, weights=signed)
    return int(left[left > 0].sum())


_E5 = "whoever is asked about wins if and only if the marginal reaches the threshold, by their distance at least"
_PACKED = "each is won by another candidate by t at least, and any two are {} t ballots apart"
_HALF = "a formula that cannot be satisfied: fewer than t / 2 ballots do not change the winner"
_ONE = (
    "a formula that can be satisfied: one ballot changes the winner, and k let another win by k / 2 at least"
)
_TIED = "all who go are tied for the fewest votes, but the margin is (m − 3)² / 64 at least"

CLAIMS: tuple[Claim, ...] = (
    *(
        Claim("E.3", _E5, rule, "6 records, 4 attributes", _marginals(TwoWayByDuels(_RECORDS, padded), 2), 4)
        for rule, padded in (("condorcet", False), ("maximin", False), ("runoff", True))
    ),
    Claim(
        "F.3", _E5, "stv", "4 records, 2 attributes", _marginals(MarginalsByTransfers(_RECORDS[:4, :2]), 1), 5
    ),
    *(
        Claim(
            "3.6",
            _PACKED.format(2),
            rule,
            "4 candidates, t = 5",
            _packing(majority_packing, MAJORITY_KAPPA, 5),
            4,
        )
        for rule in _MAJORITY
    ),
    *(
        Claim(
            "3.8",
            _PACKED.format(4),
            rule,
            "4 candidates, t = 5",
            _packing(scoring_packing, SCORING_KAPPA, 5),
            4,
        )
        for rule in _SCORING
    ),
    Claim("B.1", _HALF, "stv", "x and not x, t = 6", _unsatisfiable, 6),
    Claim("B.1", _ONE, "stv", "x, t = 12", _satisfiable, 6),
    *(Claim("A.7", _TIED, "stv", f"{m} candidates", _quadratic, m) for m in (4, 5, 6, 7)),
)


def check_claim(place: int) -> dict[int, dict[str, Any]]:
    """Check the claim in one place of `CLAIMS`. Runs on a worker."""
    return {place: CLAIMS[place].checked()}


def together(found: Iterable[dict[int, dict[str, Any]]]) -> dict[int, dict[str, Any]]:
    """Put checked claims together."""
    return {place: one for part in found for place, one in part.items()}
