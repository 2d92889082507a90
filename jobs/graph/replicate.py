"""One replication of a study: a graph's degrees and triangles by one mechanism, and how far off they are.

Public data alone: what is measured is the distance to the truth. All noise is drawn by the code that draws it for secret
links.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from jobs.graph.central import noise_of
from jobs.graph.estimate import degree_sequence, triangle_sequence
from jobs.graph.rebuild import RebuiltSize
from jobs.graph.spec import Kind
from jobs.graph.study_spec import StudiedMechanism
from udfs.cauchy_noise import CauchyNoise
from udfs.link_release import LinkRelease
from udfs.link_response import LinkResponse
from udfs.link_sums import band_bits, degrees, tile_sums
from udfs.links import Tile
from udfs.smooth_sensitivity import SEQUENCE, TriangleSensitivity
from udfs.streams import byte_stream, derive_key
from udfs.triangles import degrees_of, triangles

Counts = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]

STATISTICS: tuple[Kind, ...] = ("degrees", "triangles")
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
    truth : tuple of ndarray of int64, shape (nodes,)
        Links and triangles at each node.
    sensitivity : TriangleSensitivity
        Of the graph.
    seed : int
    """

    points: tuple[Point, ...]
    links: Counts
    truth: tuple[Counts, Counts]
    sensitivity: TriangleSensitivity
    seed: int

    @classmethod
    def of(cls, points: tuple[Point, ...], links: Counts, nodes: int, seed: int) -> Replicate:
        """Return the replications of a graph, after a look at it."""
        truth = degrees_of(links, nodes), triangles(links, nodes)
        return cls(points, links, truth, TriangleSensitivity.of(links, nodes), seed)

    @property
    def nodes(self) -> int:
        """How many there are."""
        return len(self.truth[0])

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
                    off = np.abs(answer - self.truth[statistic])
                    errors[0, row, way, statistic] = off.mean()
                    errors[1, row, way, statistic] = np.median(off)
        return [Found(place, errors[0], errors[1])]

    def _answers(self, point: Point, key: bytes) -> Iterator[tuple[Numbers | None, Numbers | None]]:
        """Yield degrees and triangles, by each way that the mechanism has; None for what it does not answer."""
        if point.mechanism == "zero":
            yield np.zeros(self.nodes), np.zeros(self.nodes)
        elif point.mechanism == "global-sensitivity":
            noisy = [
                truth
                + noise_of(kind, self.nodes, point.epsilon).draw(
                    self.nodes, byte_stream(derive_key(key, kind))
                )
                for kind, truth in zip(STATISTICS, self.truth, strict=True)
            ]
            yield noisy[0], noisy[1]
        elif point.mechanism == "smooth-sensitivity":
            noise = CauchyNoise(point.epsilon, self.nodes)
            smooth = SEQUENCE * self.sensitivity.smooth(noise.beta)
            yield None, noise.perturb(self.truth[1], smooth, byte_stream(key))
        else:
            yield from self._from_reports(LinkResponse.of(point.mechanism, point.epsilon), key)

    def _from_reports(self, response: LinkResponse, key: bytes) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield what pairs' reports come to: estimated without bias, and counted in a rebuilt graph."""
        tile, lie = Tile(range(self.nodes), range(self.nodes)), response.support_if_false
        bits = response.report(tile.select(self.links), tile, derive_key(key, "reports"))
        rows = band_bits(tile.rows, [(tile, bits)], self.nodes)
        ones = degrees(rows)
        at, _ = triangle_sequence(tile_sums(tile, rows, rows, ones), lie)
        yield degree_sequence(ones, lie).estimates, at.estimates
        size = RebuiltSize(tile.pairs, int(ones.sum()) // 2, response.support_if_true)
        links = LinkRelease(size.kept, size.added).draw(tile, bits, derive_key(key, "release"))
        yield degrees_of(links, self.nodes), triangles(links, self.nodes)


def join(parts: Iterable[list[Found]]) -> list[Found]:
    """Put the errors of replications together, in order."""
    return [found for part in parts for found in part]
