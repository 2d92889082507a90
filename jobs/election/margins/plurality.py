"""Plurality: first choices of the winner become a challenger's."""

from __future__ import annotations

import numpy as np

from jobs.election.margins.leads import Leads, behind, overtaking
from jobs.election.margins.margin import Replacement
from jobs.election.rules.plurality import Plurality
from udfs.contests import FirstChoice
from udfs.profile import Profile


def fewest_for_plurality(rule: Plurality, profile: Profile, winner: int) -> Replacement:
    """Return the fewest replacements that unseat the winner.

    With a lead of G over the challenger, ceil(G / 2) where they precede the winner in the tie order, else
    floor(G / 2) + 1: a first choice of the winner closes the lead by 2, and there are always enough.

    References
    ----------
    Xia 2012, theorem 5.
    """
    choices = FirstChoice(rule.everybody).choices(profile.places)

    def leads(challenger: int) -> Leads:
        lead: Leads = (choices == winner).astype(np.int64) - (choices == challenger)
        return lead

    return overtaking(profile, winner, leads, -1, lambda challenger: -behind(winner, challenger))
