"""Elections of a study have the margin that is asked for, and are few ballots short at most."""

from __future__ import annotations

import pytest

from jobs.election.margins import margin_of_victory
from jobs.election.rules import RULES
from jobs.election.study_elections import (
    DUELS,
    PACKING,
    RANDOM,
    TRANSFERS,
    families,
    make_election,
    widest,
)

BALLOTS = 300
STUDIED = ("plurality", "maximin", "runoff", "stv", "condorcet")
SHORT = {RANDOM: 0, DUELS: 11, TRANSFERS: 23}


@pytest.mark.parametrize("candidates", [2, 3, 4, 5])
@pytest.mark.parametrize("model", ["central", "local"])
@pytest.mark.parametrize("rule", STUDIED)
def test_every_family_has_every_margin_up_to_its_widest(rule: str, model: str, candidates: int) -> None:
    made = RULES[rule](candidates)
    for family in families(made, model):
        most = widest(family, made, BALLOTS)
        assert most >= BALLOTS // 25
        for margin in {1, 2, most // 3, most}:
            profile, truth = make_election(family, made, BALLOTS, margin, (3, 1))
            again = margin_of_victory(made, profile)
            assert truth == again
            assert truth.margin == margin
            if family == PACKING:
                assert profile.ballots == 2 * margin
            else:
                assert 0 <= BALLOTS - profile.ballots <= SHORT[family]


def test_elections_follow_from_the_seed_and_electorates_differ() -> None:
    for family, rule in ((RANDOM, "stv"), (DUELS, "condorcet"), (TRANSFERS, "stv")):
        ballots = [
            make_election(family, RULES[rule](5), BALLOTS, 5, seed)[0] for seed in ((1, 0), (1, 0), (1, 1))
        ]
        texts = [one.places.tobytes() + one.counts.tobytes() for one in ballots]
        assert texts[0] == texts[1] != texts[2]


def test_transfers_need_a_candidate_more_than_three() -> None:
    assert families(RULES["stv"](3), "interactive") == (RANDOM,)
    assert families(RULES["stv"](4), "interactive") == (RANDOM, TRANSFERS)
