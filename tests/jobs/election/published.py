"""Published ballots of real elections, where they are at hand: data brought beside the project, not part of it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from udfs.profile import Profile

BALLOTS = Path(__file__).parents[3] / "../shared/data/ballots"

needs_published = pytest.mark.skipif(not BALLOTS.is_dir(), reason=f"no published ballots in {BALLOTS}")


def published(name: str) -> tuple[tuple[str, ...], Profile]:
    """Return the candidates in the file's order, which is the tie order, and the ballots."""
    text = (BALLOTS / name).read_text(encoding="utf-8")
    return preflib(text) if text.startswith("#") else rankings(text)


def preflib(text: str) -> tuple[tuple[str, ...], Profile]:
    """Read PrefLib's soi and toi: `count: 3,1,{2,4}`. A ballot is cut at the first rank that several share."""
    names = re.findall(r"^# ALTERNATIVE NAME \d+: (.*)$", text, re.M)
    lines = [line.split(":") for line in text.splitlines() if line and not line.startswith("#")]
    ballots = [
        ([int(number) - 1 for number in re.findall(r"\d+", ranking.split("{")[0])], int(count))
        for count, ranking in lines
    ]
    return tuple(names), profile(ballots, len(names))


def rankings(text: str) -> tuple[tuple[str, ...], Profile]:
    """Read a line of the candidates' numbers, one of parties, a rule, then `(3,1) : count`."""
    first, _, _, *lines = text.splitlines()
    names = re.findall(r"\d+", first)
    parts = [line.split(":") for line in lines if line.strip()]
    ballots = [
        ([names.index(number) for number in re.findall(r"\d+", ranking)], int(count))
        for ranking, count in parts
    ]
    return tuple(names), profile(ballots, len(names))


def profile(ballots: list[tuple[list[int], int]], candidates: int) -> Profile:
    """Return the profile of rankings and their numbers; whoever is not ranked stands last."""
    places = np.zeros((len(ballots), candidates), dtype=np.uint8)
    for row, (ranking, _) in zip(places, ballots, strict=True):
        row[:] = len(ranking)
        row[ranking] = np.arange(len(ranking))
    return Profile.of(places, np.array([count for _, count in ballots], dtype=np.int64))
