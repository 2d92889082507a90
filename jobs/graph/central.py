"""Statistics of a graph for a trusted holder of all links: each with noise for its global sensitivity.

One link more or less changes the number of links by 1, degrees by 1 at both of its ends, and triangles at its ends by
at most n - 2 each, and by 1 at each common neighbour: 3 (n - 2) in all. Noise is discrete Laplace, exactly.

References
----------
Dwork, McSherry, Nissim, Smith: Calibrating noise to sensitivity (2006). papers/randomized-response, section 6.3:
LM-global.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.graph.document import statistic_document
from jobs.graph.estimate import Estimated
from jobs.graph.spec import GraphSpec, Kind
from jobs.population import Population
from udfs.discrete_laplace import DiscreteLaplace
from udfs.draws import Draws
from udfs.link_question import LinkQuestion
from udfs.streams import block_key, byte_stream
from udfs.triangles import degrees_of, triangles


@dataclass(frozen=True)
class GatherLinks:
    """All links as they are, in the order in which they lie: a `udfs.asking.Mechanism` for a trusted holder."""

    label: ClassVar[str] = "all links"
    draws: ClassVar[bool] = False

    def randomize(self, answers: npt.NDArray[np.int64], draws: Draws) -> npt.NDArray[np.int64]:
        """Return the links."""
        return answers

    def zeros(self) -> _Links:
        """Return no links."""
        return _Links()

    def tally(self, reports: npt.NDArray[np.int64]) -> _Links:
        """Return a block's links, each once."""
        return _Links((np.unique(reports, axis=0),))

    def thresholds(self) -> dict[str, int]:
        """Return nothing: there is no law."""
        return {}

    def report_type(self, labels: Sequence[Any]) -> pa.DataType:
        """Refuse: links are not written."""
        raise TypeError("links of a trusted holder are not written")

    def to_arrow(self, reports: Any, labels: Sequence[Any]) -> pa.Array:
        """Refuse: links are not written."""
        raise TypeError("links of a trusted holder are not written")


@dataclass(frozen=True)
class _Links:
    parts: tuple[npt.NDArray[np.int64], ...] = ()

    def __add__(self, other: _Links) -> _Links:
        return _Links(self.parts + other.parts)

    def whole(self) -> npt.NDArray[np.int64]:
        """Return every link once, and none of a node with itself: int64, shape (links, 2)."""
        links = np.unique(np.concatenate([np.empty((0, 2), dtype=np.int64), *self.parts]), axis=0)
        kept: npt.NDArray[np.int64] = links[links[:, 0] < links[:, 1]]
        return kept


_EXACT: dict[Kind, Callable[[npt.NDArray[np.int64], int], npt.NDArray[np.int64]]] = {
    "edges": lambda links, nodes: np.array([len(links)]),
    "degrees": degrees_of,
    "triangles": triangles,
}


def sensitivity(kind: Kind, nodes: int) -> int:
    """Return by how much one link changes a statistic at most, all its numbers together."""
    return {"edges": 1, "degrees": 2, "triangles": max(1, 3 * (nodes - 2))}[kind]


def noise_of(kind: Kind, nodes: int, share: Decimal) -> DiscreteLaplace:
    """Return the noise of each number of a statistic."""
    return DiscreteLaplace(share, sensitivity(kind, nodes))


def central_statistics(
    spec: GraphSpec, population: Population, links: Population, question: LinkQuestion, ids: pa.Array
) -> dict[str, Any]:
    """Add noise to what the links come to, and return the `result` of result.json.

    A statistic's noise is drawn under a key that belongs to its law and to all links, so that one set of coins never meets
    two laws or two sets of links, whatever secret a job has.
    """
    nodes = len(ids)
    gathered = links.ask([(question, GatherLinks())], "gather links")[0].whole()
    found: dict[str, Any] = {
        "nodes": nodes,
        "ids": ids.to_pylist(),
        "pairs": nodes * (nodes - 1) // 2,
        "reports": "none: a trusted holder has all links; those noted twice or the other way round are merged",
        "mechanism": spec.privacy.mechanism,
        "self_loops": spec.population.self_loops,
        "graph": None,
    }
    for kind in spec.kinds:
        noise, truth = noise_of(kind, nodes, spec.share), _EXACT[kind](gathered, nodes)
        key = population.driver_key("central", kind, question.label, noise.label)
        drawn = noise.draw(len(truth), byte_stream(block_key(key, (nodes,), gathered)))
        values, error = (truth + drawn).astype(np.float64), noise.variance**0.5
        if kind == "edges":
            own = Estimated(values[0], np.array(error))
        else:
            own = Estimated(values, np.full(len(values), error))
        total = Estimated(values.sum() / 3, np.array(nodes**0.5 * error / 3)) if kind == "triangles" else None
        found[kind] = statistic_document(own, total)
    return found
