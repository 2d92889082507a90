"""The noise of what is opened, by whole runs of the job: its law, and what the result says of it."""

from __future__ import annotations

import copy
import math
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import nbinom

from tests.jobs.skills.guild import Guild, in_box
from tests.statistics import UnlikelyError, assert_law
from udfs.noise_shares import NoiseShare, two_sided_variance
from udfs.streams import Secret
from udfs.tree_cells import bin_edges


@pytest.fixture
def guild(tmp_path: Path) -> Guild:
    return Guild(tmp_path)


class Noise:
    """What is opened of a tree of 512 leaves, less the truth: of its leaves' counts, and of its last histograms."""

    def __init__(self, guild: Guild) -> None:
        guild.skills = guild.skills[:12]
        guild.settle(files=1)
        guild.given["skills"] |= {"depth": 9, "bins": 2}
        guild.given["privacy"] = {"epsilon": 12, "collusion": 3}
        self.secret = Secret.new()
        self.result = guild.run(secret=self.secret)[0]["result"]
        leaf, above = self.result["budget"][-1], self.result["budget"][-2]
        self.epsilons = {"counts": float(leaf["counts"]), "bins": float(above["median"])}
        counts = [node["count"] - in_box(guild, node["box"]) for node in self.result["leaves"]]
        bins = []
        for node in self.result["nodes"]:
            if node["level"] == 1:
                box, name = node["box"], node["dimension"]
                edges = bin_edges(*box[name], 2)
                halves = [in_box(guild, box | {name: list(ends)}) for ends in pairwise(edges)]
                bins += [noisy - true for noisy, true in zip(node["histogram"], halves, strict=True)]
        self.drawn = {"counts": np.array(counts), "bins": np.array(bins)}

    def assert_as_said(self) -> None:
        """Fail unless the noise has the stated law, by samples that tell it from half and twice as wide a one."""
        for kind, epsilon in self.epsilons.items():
            reach = math.floor(math.sqrt(two_sided_variance(epsilon, self.result["beta"])))

            def sample(_: Secret, counters: int, kind: str = kind, reach: int = reach) -> list[int]:
                drawn = self.drawn[kind][:counters]
                assert len(drawn) == counters
                return [int((abs(drawn) <= reach).sum()), int((drawn > 0).sum())]

            law, *mutants = (noise_law(times * epsilon, self.result["beta"], reach) for times in (1, 2, 0.5))
            for mutant in mutants:
                assert_law(sample, law, mutant, self.secret)


def noise_law(epsilon: float, beta: float, reach: int) -> list[float]:
    """Return P(|Z| <= reach) and P(Z > 0), where Z is the difference of two NB(beta, 1 - alpha)."""
    one = nbinom.pmf(np.arange(math.ceil(60 / epsilon)), beta, -math.expm1(-epsilon))
    law = np.convolve(one, one[::-1])
    none = len(one) - 1
    return [float(law[none - reach : none + reach + 1].sum()), float(law[none + 1 :].sum())]


def test_noise_is_of_the_size_that_is_said(guild: Guild) -> None:
    noise = Noise(guild)
    noise.assert_as_said()
    variance = two_sided_variance(noise.epsilons["counts"], noise.result["beta"])
    assert {leaf["standard_error"] for leaf in noise.result["leaves"]} == {math.sqrt(variance)}


@pytest.mark.parametrize("times", ["0.5", "2"])
def test_noise_of_another_size_is_found_out(
    guild: Guild, monkeypatch: pytest.MonkeyPatch, times: str
) -> None:
    def wrong(epsilon: Decimal, parts: int) -> NoiseShare:
        return NoiseShare(Decimal(times) * epsilon, parts)

    monkeypatch.setattr("jobs.skills.levels.NoiseShare", wrong)
    noise = Noise(guild)
    for kind in noise.epsilons:
        noise_of_kind = copy.copy(noise)
        noise_of_kind.epsilons = {kind: noise.epsilons[kind]}
        with pytest.raises(UnlikelyError):
            noise_of_kind.assert_as_said()
