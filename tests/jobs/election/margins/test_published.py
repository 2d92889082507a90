"""Margins of victory of real elections, as they are known."""

from __future__ import annotations

import numpy as np
import pytest

from jobs.election.margins import margin_of_victory
from jobs.election.rules import RULES
from tests.jobs.election.published import needs_published, published
from udfs.profile import Profile

KNOWN = {
    "burlington-2009-mayor.toi": {
        "plurality": ("Kurt Wright", 183),
        "runoff": ("Bob Kiss", 127),
        "stv": ("Bob Kiss", 127),
        "condorcet": ("Andy Montroll", 294),
        "maximin": ("Andy Montroll", 294),
    },
    "glasgow-2007-govan.soi": {
        "plurality": ("Allison Hunter", 519),
        "runoff": ("John Flanagan", 34),
        "stv": ("Allison Hunter", 11),
        "condorcet": (None, 11),
        "maximin": ("Stephen Dornan", 17),
    },
    "lismore-2015.txt": {
        "plurality": ("2", 3770),
        "runoff": ("2", 190),
        "stv": ("2", 209),
        "condorcet": ("2", 96),
        "maximin": ("2", 97),
    },
    "aspen-2009-mayor.txt": {"stv": ("4", 89)},
    "aspen-2009-citycouncil.txt": {"stv": ("8", 35)},
    # one more than published, where ties go against the winner: see below
    "pierce-2008-countyexecutive.txt": {"stv": ("117", 2028)},
    "pierce-2008-countyassessor.txt": {"stv": ("120", 1111)},
    "dublin-west-2002.soi": {
        "plurality": ("Brian Lenihan F.F.", 822),
        "runoff": ("Brian Lenihan F.F.", 722),
        "stv": ("Brian Lenihan F.F.", 722),
        "condorcet": ("Brian Lenihan F.F.", 722),
        "maximin": ("Brian Lenihan F.F.", 722),
    },
}
PUBLISHED = {
    "aspen-2009-mayor.txt": 89,
    "aspen-2009-citycouncil.txt": 35,
    "pierce-2008-countyexecutive.txt": 2027,
    "pierce-2008-countyassessor.txt": 1111,
}
"""Magrino and others 2011, Blom and others 2016: STV, ties to the adversary."""


@needs_published
@pytest.mark.parametrize("name", KNOWN)
def test_winners_and_margins_of_real_elections_come_out(name: str):
    names, profile = published(name)
    found = {rule: margin_of_victory(RULES[rule](len(names)), profile) for rule in KNOWN[name]}
    winners = {rule: None if one.outcome is None else names[one.outcome] for rule, one in found.items()}
    assert {rule: (winners[rule], one.margin) for rule, one in found.items()} == KNOWN[name]


@needs_published
@pytest.mark.parametrize("name", PUBLISHED)
def test_with_the_winner_last_in_the_tie_order_margins_are_the_published_ones(name: str):
    names, profile = published(name)
    rule = RULES["stv"](len(names))
    winner = margin_of_victory(rule, profile).outcome
    order = [*(one for one in rule.everybody if one != winner), winner]
    moved = margin_of_victory(
        rule, Profile.of(np.ascontiguousarray(profile.places[:, order]), profile.counts)
    )
    assert (order[moved.outcome], moved.margin) == (winner, PUBLISHED[name])
