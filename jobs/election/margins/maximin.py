"""Maximin: one duel of the winner falls below all duels of a challenger."""

from __future__ import annotations

from itertools import product, starmap

import numpy as np

from jobs.election.margins.covers import Cover, fewest_covering
from jobs.election.margins.leads import behind
from jobs.election.margins.margin import Replacement
from jobs.election.rules.maximin import Maximin
from jobs.election.rules.pairs import margins
from udfs.contests import Duels
from udfs.profile import Profile


def fewest_for_maximin(rule: Maximin, profile: Profile, winner: int) -> Replacement:
    """Return the fewest replacements that unseat the winner.

    The winner w has lost to c as soon as some duel of w, against b, is no better than any duel of c: for each c and b
    a multicover, with D(c, a) - D(w, b) to be raised to 0 for every a, or to 1 where w precedes c. A ballot replaced
    by one with c first and w last raises D(c, a) by 1 if they shared a place on it, by 2 if c stood below, and
    lowers D(w, b) likewise: 4 at most.

    References
    ----------
    Xia 2012, theorem 12: NP-hard.
    """
    duels = Duels.of_all(rule.candidates)
    table = margins(rule.candidates, duels, profile.score(duels))

    def cover(challenger: int, rival: int) -> Cover:
        needs = table[winner, rival] + behind(winner, challenger) - table[challenger]
        needs[challenger] = 0
        goals = np.flatnonzero(needs > 0)
        raised = Duels(tuple((challenger, int(other)) for other in goals))
        lowered = Duels(((winner, rival),))
        return Cover(
            challenger,
            needs[goals],
            4,
            lambda: 2 - raised.encode(profile.places) + lowered.encode(profile.places),
        )

    others = [one for one in rule.everybody if one != winner]
    return fewest_covering(profile, winner, starmap(cover, product(others, others)))
