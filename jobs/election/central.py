"""The central model: the ballots are counted as they are, and nothing leaves but an outcome drawn by chance.

Privacy: epsilon for the outcome, exactly. The tally and the margin of victory are raw data: neither is shown, kept or
published. Nor is the time that they take; whoever watches the cluster or the files' times sees it, and must be trusted.

References
----------
papers/private-voting, section 3, theorems 3.1 and 3.2.
"""

from __future__ import annotations

from fractions import Fraction

from jobs.election.margins import margin_of_victory, outcome
from jobs.election.selection import Bits, select
from jobs.election.spec import ElectionSpec
from jobs.election.surrogates import surrogate
from jobs.population import Population
from udfs.asides import Aside
from udfs.draws import RowDraws
from udfs.profile import Profile, ProfileTally


def draw_outcome(spec: ElectionSpec, population: Population) -> int | None:
    """Count all ballots, and draw the outcome: the winner's number, or None."""
    rule = spec.rule
    tally = ProfileTally(rule.candidates)
    profile: Profile = population.ask([(spec.question, Aside())], "count ballots", [tally])[-1]
    if spec.privacy.score == "polynomial":
        found, margin = outcome(rule, profile), surrogate(rule, profile)
    else:
        exact = margin_of_victory(rule, profile)
        found, margin = exact.outcome, Fraction(exact.margin)
    if not profile.ballots:  # how many there are is public, and without any there is one possible outcome
        return found
    nobody = rule.candidates
    drawn = select(
        nobody if found is None else found,
        rule.outcomes,
        margin,
        spec.privacy.epsilon,
        spec.privacy.selection,
        Bits(RowDraws(population.driver_key("outcome"), 1)),
    )
    return None if drawn == nobody else drawn
