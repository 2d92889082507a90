"""The voting rules: one line each."""

from __future__ import annotations

from jobs.election.rules.condorcet import Condorcet
from jobs.election.rules.maximin import Maximin
from jobs.election.rules.plurality import Plurality
from jobs.election.rules.rule import Rule
from jobs.election.rules.runoff import Runoff
from jobs.election.rules.scoring import Borda, Scoring, Veto
from jobs.election.rules.stv import SingleTransferableVote

__all__ = [
    "RULES",
    "Borda",
    "Condorcet",
    "Maximin",
    "Plurality",
    "Rule",
    "Runoff",
    "Scoring",
    "SingleTransferableVote",
    "Veto",
]

RULES: dict[str, type[Rule]] = {
    kind.name: kind
    for kind in (Plurality, Borda, Veto, Scoring, Condorcet, Maximin, Runoff, SingleTransferableVote)
}
