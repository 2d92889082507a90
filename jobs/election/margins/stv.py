"""Single transferable vote: the cheapest order of elimination that ends with somebody else."""

from __future__ import annotations

import heapq

from jobs.election.margins.elimination import Ending, Tallies, set_of
from jobs.election.margins.margin import Replacement, raising
from jobs.election.rules.stv import SingleTransferableVote
from udfs.profile import Profile


def fewest_for_stv(rule: SingleTransferableVote, profile: Profile, winner: int) -> Replacement:
    """Return the fewest replacements that unseat the winner, by branch and bound over endings of orders.

    The search starts from orders near the true one: the winner goes in some round, and the rest as they then
    would. Tallies alone tell which candidates may be left at fewer replacements than the best of these takes; all
    other endings are never looked at. Of endings, that of the least bound comes first: its bound is improved by
    linear programming, then it branches into those with one more candidate before. Orders of all candidates are
    integer programs.

    References
    ----------
    Magrino, Rivest, Shen, Wagner 2011; Blom, Teague, Stuckey, Tidhar 2016. NP-hard (Xia 2012).
    """
    tallies = Tallies(profile)
    true_order = tallies.order(set_of(rule.everybody))
    best = Replacement.by(
        profile, profile.counts, [(raising(true_order[-2], winner, rule.candidates), profile.ballots)]
    )

    def improved(order: tuple[int, ...]) -> Replacement:
        ending = Ending(tallies, order)
        found = ending.replacement() if ending.bound < best.ballots else None
        return found if found and found.ballots < best.ballots else best

    for gone in range(rule.candidates - 1):
        rest = tallies.order(set_of(true_order[gone:-1]))
        best = improved((*true_order[:gone], winner, *rest))
    reachable = tallies.reachable(best.ballots)
    endings: list[tuple[int, int, tuple[int, ...], bool]]
    endings = [(reachable[1 << one], -1, (one,), True) for one in true_order[:-1] if 1 << one in reachable]
    heapq.heapify(endings)
    while endings and endings[0][0] < best.ballots:
        bound, _, order, is_tight = heapq.heappop(endings)
        if len(order) == rule.candidates:
            best = improved(order)
        elif not is_tight:
            heapq.heappush(endings, (max(bound, Ending(tallies, order).bound), -len(order), order, True))
        else:
            for one in set(rule.everybody).difference(order):
                active = set_of(order) | 1 << one
                if active in reachable:
                    least = max(bound, reachable[active], tallies.bound(active, one))
                    heapq.heappush(endings, (least, -len(order) - 1, (one, *order), False))
    return best
