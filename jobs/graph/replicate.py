"""One replication of a study: a graph's degrees and triangles by one mechanism, and how far off they are.

Public data alone: what is measured is the distance to the truth. Pairs' reports are drawn by the code that draws them for
a job; a trusted holder's Cauchy noise is of floating point, and so would not do for links that are secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
import numpy.typing as npt

from jobs.graph.central import noise_of
from jobs.graph.estimate import LinkSums, Noise, degree_estimates, edge_estimate, triangle_estimates
from jobs.graph.study_spec import StudiedMechanism
from udfs.draws import RowDraws
from udfs.link_release import places_of_ranks, rebuilding, uniform_subset
from udfs.link_response import LinkResponse
from udfs.links import Bits, Tile
from udfs.smooth_sensitivity import PairProfile, smooth_noise
from udfs.streams import derive_key
from udfs.triangles import degrees_of, triangles_of

Counts = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

STATISTICS = ("degrees", "triangles")
WAYS: dict[str, tuple[str, ...]] = {
    "randomized-response": ("unbiased", "rebuilt"),
    "laplace": ("unbiased", "rebuilt"),
    "global-sensitivity": ("output",),
    "smooth-sensitivity": ("output",),
    "zero": ("output",),
}
"""How a mechanism's answer is made: estimated without bias, counted in a rebuilt graph, or the truth with noise."""


@dataclass(frozen=True)
class Point:
    """A mechanism at an epsilon."""

    mechanism: StudiedMechanism
    epsilon: Decimal


@dataclass(frozen=True)
class Found:
    """Errors of replications: adds up in order.

    Attributes
    ----------
    means, medians : ndarray of float64, shape (replications, ways, statistics)
        The mean and the median over nodes of the absolute errors.
    """

    point: int
    means: Numbers
    medians: Numbers


@dataclass(frozen=True)
class Replicate:
    """Runs some replications of a point of the grid.

    Parameters
    ----------
    points : tuple of Point
    links : ndarray of int64, shape (links, 2)
        Of different nodes, each once, the lower first.
    profile : PairProfile
    nodes, seed : int
    """

    points: tuple[Point, ...]
    links: Counts
    profile: PairProfile
    nodes: int
    seed: int

    def __call__(self, unit: tuple[int, int, int]) -> list[Found]:
        """Return the errors of a point's replications from one number up to another."""
        place, first, stop = unit
        point = self.points[place]
        ways = WAYS[point.mechanism]
        errors = np.zeros((2, stop - first, len(ways), len(STATISTICS)))
        for row, number in enumerate(range(first, stop)):
            key = derive_key(
                self.seed.to_bytes(32, "big"), "graph study", point.mechanism, str(point.epsilon), str(number)
            )
            for way, answers in enumerate(self._answers(point, key)):
                for statistic, answer in enumerate(answers):
                    if answer is None:
                        errors[:, row, way, statistic] = np.nan
                        continue
                    off = np.abs(answer - self._truth[statistic])
                    errors[0, row, way, statistic] = off.mean()
                    errors[1, row, way, statistic] = np.median(off)
        return [Found(place, errors[0], errors[1])]

    @cached_property
    def _truth(self) -> tuple[Counts, Counts]:
        return degrees_of(self.links, self.nodes), triangles_of(self.links, self.nodes)

    def _answers(self, point: Point, key: bytes) -> Iterator[tuple[Numbers | None, Numbers | None]]:
        """Yield degrees and triangles, by each way that the mechanism has; None for what it does not answer."""
        degrees, triangles = self._truth
        if point.mechanism == "zero":
            yield np.zeros(self.nodes), np.zeros(self.nodes)
        elif point.mechanism == "global-sensitivity":
            noises = [
                noise_of("degrees", self.nodes, point.epsilon),
                noise_of("triangles", self.nodes, point.epsilon),
            ]
            drawn = [
                noise.draw(RowDraws(derive_key(key, name), self.nodes))
                for name, noise in zip(STATISTICS, noises, strict=True)
            ]
            yield (degrees + drawn[0]).astype(np.float64), (triangles + drawn[1]).astype(np.float64)
        elif point.mechanism == "smooth-sensitivity":
            noise = smooth_noise(float(point.epsilon), self.nodes)
            sensitivity = 3 * self.profile.smooth_sensitivity(noise.beta)
            words = RowDraws(key, self.nodes).words(0)
            cauchy = np.tan(np.pi * ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2**53 - np.pi / 2)
            yield None, triangles + noise.scale * sensitivity * cauchy
        else:
            yield from self._from_reports(LinkResponse(point.mechanism, point.epsilon), key)

    def _from_reports(self, response: LinkResponse, key: bytes) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield what pairs' reports come to: estimated without bias, and counted in a rebuilt graph."""
        tile = Tile(range(self.nodes), range(self.nodes))
        bits = response.report(tile.select(self.links), tile, derive_key(key, "reports"))
        noise, sums = Noise(response.lie), sums_of(bits, self.nodes)
        yield degree_estimates(noise, sums.degrees).values, triangle_estimates(noise, sums).at.values
        reported = int(sums.degrees.sum()) // 2
        edges, _ = edge_estimate(noise, self.nodes, reported)
        plan = rebuilding(tile.pairs, reported, response.lie, edges)
        ones = uniform_subset(plan.kept, reported, derive_key(key, "ones"))
        zeros = uniform_subset(plan.links - plan.kept, tile.pairs - reported, derive_key(key, "zeros"))
        links = places_of_ranks(tile, bits, ones, zeros)
        yield (
            degrees_of(links, self.nodes).astype(np.float64),
            triangles_of(links, self.nodes).astype(np.float64),
        )


def sums_of(bits: Bits, nodes: int) -> LinkSums:
    """Return the sums of a matrix that is held whole: one tile's bits."""
    upper = np.unpackbits(bits, axis=1, count=nodes)
    matrix = (upper | upper.T).astype(np.float32)
    common = (matrix @ matrix).astype(np.float64)
    np.fill_diagonal(common, 0)
    degrees = matrix.sum(axis=1, dtype=np.float64)
    wide = matrix.astype(np.float64)
    over = wide @ degrees
    found = (degrees, over, wide @ over, (common * wide).sum(axis=1), (common * common).sum(axis=1))
    return LinkSums(*(one.astype(np.int64) for one in found))


def join(parts: Iterable[list[Found]]) -> list[Found]:
    """Put the errors of replications together, in order."""
    return [found for part in parts for found in part]
