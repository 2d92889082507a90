"""What margins are checked by: all changes one by one, and the paper's certificate."""

from __future__ import annotations

from itertools import product

import numpy as np

from jobs.election.count import conduct, exact_answers
from jobs.election.rules.rule import Rule
from udfs.contests import FirstChoice
from udfs.profile import Profile


def outcome(rule: Rule, profile: Profile) -> int | None:
    """Return who wins by the exact tally."""
    return conduct(rule.count(), exact_answers(profile))[0]


def every_ballot(candidates: int) -> np.ndarray:
    """Return all ballots there are, blank, truncated and with shared places, as rows."""
    levels = np.array(list(product(range(candidates), repeat=candidates)))
    return np.unique((levels[:, None, :] < levels[:, :, None]).sum(axis=2).astype(np.uint8), axis=0)


def withstands(rule: Rule, profile: Profile, changes: int) -> bool:
    """Return whether no other outcome comes of replacing so many ballots or fewer: by trying all."""
    kinds = every_ballot(profile.candidates)
    row = {kind.tobytes(): number for number, kind in enumerate(kinds)}
    counts = [0] * len(kinds)
    for places, count in zip(profile.places, profile.counts, strict=True):
        counts[row[places.tobytes()]] = int(count)
    before, seen, edge = outcome(rule, profile), {tuple(counts)}, {tuple(counts)}
    for _ in range(changes):
        fewer = {(*one[:gone], one[gone] - 1, *one[gone + 1 :]) for one in edge for gone in kept(one)}
        edge = {
            (*one[:come], one[come] + 1, *one[come + 1 :]) for one in fewer for come in range(len(kinds))
        } - seen
        seen |= edge
        if any(outcome(rule, Profile.of(kinds, np.array(one))) != before for one in edge):
            return False
    return True


def kept(counts: tuple[int, ...]) -> list[int]:
    """Return which ballots there are."""
    return [kind for kind, count in enumerate(counts) if count]


def certified(profile: Profile, winner: int, changes: int) -> bool:
    """Return whether lemma F.2 shows that the STV winner stays after so many changes, ties either way.

    From every set, whoever is within twice the changes of the fewest votes may go; the winner never does.
    """
    sets, seen = [tuple(range(profile.candidates))], set()
    while sets:
        active = sets.pop()
        if active in seen or active == (winner,):
            continue
        seen.add(active)
        scores = profile.score(FirstChoice(active))
        for candidate, score in zip(active, scores, strict=True):
            if score - scores.min() <= 2 * changes:
                if candidate == winner:
                    return False
                sets.append(tuple(other for other in active if other != candidate))
    return True


def apart(one: Profile, other: Profile) -> int:
    """Return how many ballots must be replaced to make one profile the other."""
    counts = {places.tobytes(): int(count) for places, count in zip(one.places, one.counts, strict=True)}
    for places, count in zip(other.places, other.counts, strict=True):
        counts[places.tobytes()] = counts.get(places.tobytes(), 0) - int(count)
    assert sum(counts.values()) == 0
    return sum(count for count in counts.values() if count > 0)
