"""Margins of victory: how few ballots decide, exactly, for every rule. One line each.

Raw data, all of it: a margin is computed from the ballots as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jobs.election.margins.condorcet import fewest_for_condorcet, needs
from jobs.election.margins.margin import Margin, Replacement, inexact, outcome
from jobs.election.margins.maximin import fewest_for_maximin
from jobs.election.margins.plurality import fewest_for_plurality
from jobs.election.margins.runoff import fewest_for_runoff
from jobs.election.margins.scoring import fewest_for_scoring
from jobs.election.margins.stv import fewest_for_stv
from jobs.election.rules.condorcet import Condorcet
from jobs.election.rules.maximin import Maximin
from jobs.election.rules.plurality import Plurality
from jobs.election.rules.rule import Rule
from jobs.election.rules.runoff import Runoff
from jobs.election.rules.scoring import Scoring
from jobs.election.rules.stv import SingleTransferableVote
from udfs.errors import SpecError
from udfs.profile import Profile

__all__ = ["FEWEST", "Margin", "Replacement", "margin_of_victory", "needs", "outcome"]

FEWEST: dict[type[Rule], Callable[[Any, Profile, Any], Replacement]] = {
    Plurality: fewest_for_plurality,
    Scoring: fewest_for_scoring,
    Condorcet: fewest_for_condorcet,
    Maximin: fewest_for_maximin,
    Runoff: fewest_for_runoff,
    SingleTransferableVote: fewest_for_stv,
}
"""Given a rule, ballots and their outcome: the fewest replacements of ballots that change the outcome."""


def margin_of_victory(rule: Rule, profile: Profile) -> Margin:
    """Return the outcome and the least number of ballots to replace for another, as integer programs where need be.

    A ballot may be replaced by any other that a voter may cast: a complete one, a truncated one, or a blank.
    Ties are resolved by number, before and after.

    Parameters
    ----------
    rule : Rule
    profile : Profile
        Of as many candidates as the rule's.

    Returns
    -------
    Margin
        The margin is 0 where there is but one possible outcome, at least 1 elsewhere. It changes by at most 1
        where one ballot is replaced and the outcome stays; where the outcome changes, it is 1 before and after.

    Raises
    ------
    JobError
        If the solver's answer does not stand in whole numbers, or the replacement it names changes nothing.

    Notes
    -----
    Runs on the driver and sees the ballots. Cost: sorting for plurality, scoring rules, the runoff and Condorcet
    winners. Where there is no Condorcet winner, and for maximin and STV, the problem is NP-hard: seconds for
    10 candidates or so. There is no limit of time, for running into one would depend on the ballots.

    References
    ----------
    Xia: Computing the margin of victory for various voting rules (2012); papers/private-voting, definition 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from jobs.election.rules import Plurality
    >>> ballots = np.array([[0, 1], [1, 0]], dtype=np.uint8)
    >>> margin_of_victory(Plurality(2), Profile.of(ballots, np.array([7, 3])))
    Margin(outcome=0, margin=3)
    """
    before = outcome(rule, profile)
    if profile.candidates == 1 or not profile.ballots:
        return Margin(before, 0)
    fewest = next((FEWEST[kind] for kind in type(rule).__mro__ if kind in FEWEST), None)
    if fewest is None:
        raise SpecError("election.rule", "must be one whose margin of victory is known", rule.name)
    witness = fewest(rule, profile, before)
    if outcome(rule, witness.applied_to(profile)) == before:
        raise inexact()
    return Margin(before, witness.ballots, witness)
