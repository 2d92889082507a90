"""Scoring rules: the ballots that say most for the winner against a challenger go first."""

from __future__ import annotations

from jobs.election.margins.leads import Leads, behind, overtaking
from jobs.election.margins.margin import Replacement
from jobs.election.rules.scoring import Scoring
from udfs.contests import Points
from udfs.profile import Profile


def fewest_for_scoring(rule: Scoring, profile: Profile, winner: int) -> Replacement:
    """Return the fewest replacements that unseat the winner.

    All in points times the contest's scale, whole numbers. No ballot serves a challenger better than one that
    ranks them first and the winner last, tied ranks' averages included.

    References
    ----------
    Xia 2012, theorem 5.
    """
    contest = Points(rule.weights)
    points = contest.encode(profile.places)
    least = int((rule.weights[-1] - rule.weights[0]) * contest.scale)

    def leads(challenger: int) -> Leads:
        return points[:, winner] - points[:, challenger]

    return overtaking(profile, winner, leads, least, lambda challenger: -behind(winner, challenger))
