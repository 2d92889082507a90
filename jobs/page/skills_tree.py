"""The tree that a result document of skills holds, as values: nodes in heap order, boxes as arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobs.page import words
from jobs.page.values import mapping, mappings, sequence

MOST_DEPTH = 60
"""No tree is deeper: whatever has a larger number in heap order has no place in it."""
_LARGEST = 1e100
"""What is larger is no count, and no skill: figures could not be scaled to it."""


def known(value: Any) -> float | None:
    """Return a number that can be drawn; None for anything else.

    Examples
    --------
    >>> known(3), known(None), known(1e300)
    (3.0, None, None)
    """
    found = words.finite(value)
    return found if found is not None and abs(found) <= _LARGEST else None


@dataclass(frozen=True)
class Node:
    """A node as the document has it: None for all that it does not say.

    Attributes
    ----------
    id : int or None
        In heap order: the root is 1, and the children of v are 2 v and 2 v + 1.
    level : float or None
        The root's is the tree's depth.
    dimension : str or None
        What it is cut by, as it is shown; None for a leaf.
    split : float or None
    box : tuple of tuple of float
        The ends of each of the tree's dimensions.
    count, error : float or None
        The noisy count and its standard error.
    estimate, estimate_error : float or None
        The count once it agrees with all others, and its standard error.
    """

    id: int | None
    level: float | None
    dimension: str | None
    split: float | None
    box: tuple[tuple[float, float], ...]
    count: float | None
    error: float | None
    estimate: float | None
    estimate_error: float | None

    @property
    def best(self) -> float | None:
        """The consistent count, or the noisy one where that is all there is."""
        return self.count if self.estimate is None else self.estimate

    @property
    def place(self) -> tuple[int, int] | None:
        """How far below the root the node is, and how far from the left among all of its level."""
        if self.id is None:
            return None
        below = self.id.bit_length() - 1
        return below, self.id - (1 << below)


@dataclass(frozen=True)
class Tree:
    """A tree, and its leaves from left to right.

    Attributes
    ----------
    dimensions : tuple of str
        As they are shown, in the order in which levels cut them.
    domain : tuple of float
        The ends of every dimension.
    nodes, leaves : tuple of Node
    """

    dimensions: tuple[str, ...]
    domain: tuple[float, float]
    nodes: tuple[Node, ...]
    leaves: tuple[Node, ...]

    @cached_property
    def boxes(self) -> NDArray[np.float64]:
        """The leaves' boxes, as shares of the domain: of shape (leaves, dimensions, 2)."""
        low, high = self.domain
        ends = np.array([leaf.box for leaf in self.leaves], dtype=np.float64)
        return np.clip(
            (ends.reshape(len(self.leaves), len(self.dimensions), 2) - low) / (high - low), 0.0, 1.0
        )

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """The leaves' counts, 0 where they are not known."""
        return np.array([leaf.best or 0.0 for leaf in self.leaves])

    @cached_property
    def cut(self) -> tuple[int, ...]:
        """The dimensions in which some leaf is smaller than the domain, as places."""
        inside = (self.boxes[:, :, 0] > 0) | (self.boxes[:, :, 1] < 1)
        return tuple(int(k) for k in np.flatnonzero(inside.any(axis=0)))

    @cached_property
    def depth(self) -> int:
        """How far below the root the lowest node is."""
        return max((one.place[0] for one in self.nodes if one.place), default=0)


def read_tree(result: dict[str, Any]) -> Tree:
    """Return the tree of a result, whatever of it is missing."""
    listed, ending = mappings(result.get("nodes")), mappings(result.get("leaves"))
    names = [name for name in sequence(result.get("dimensions")) if name is not None]
    if not names:
        names = list(dict.fromkeys(name for one in (*listed, *ending) for name in mapping(one.get("box"))))
    domain = _ends(result.get("domain")) or _reach([*listed, *ending])
    nodes = [_node(one, names, domain) for one in listed or ending]
    inner = {one.id // 2 for one in nodes if one.id is not None}
    leaves = [_node(one, names, domain) for one in ending] or [
        node
        for node, one in zip(nodes, listed, strict=True)
        if not one.get("children") and node.id not in inner
    ]
    return Tree(
        tuple(words.label(name) for name in names),
        domain,
        tuple(nodes),
        tuple(sorted(leaves, key=_from_left)),
    )


def _node(one: dict[str, Any], names: Sequence[Any], domain: tuple[float, float]) -> Node:
    number, box = one.get("id"), mapping(one.get("box"))
    placed = isinstance(number, int) and not isinstance(number, bool) and 0 < number < 1 << MOST_DEPTH
    return Node(
        number if placed else None,
        known(one.get("level")),
        None if one.get("dimension") is None else words.label(one["dimension"]),
        known(one.get("split")),
        tuple(_ends(box.get(str(name)), equal=True) or domain for name in names),
        *(
            known(one.get(key))
            for key in ("count", "standard_error", "consistent_count", "consistent_standard_error")
        ),
    )


def _ends(value: Any, equal: bool = False) -> tuple[float, float] | None:
    """Return two numbers that rise, or that may be equal; None for anything else."""
    ends = [known(one) for one in sequence(value)]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        return None
    rises = ends[0] < ends[1] or (equal and ends[0] == ends[1])
    return (ends[0], ends[1]) if rises and math.isfinite(ends[1] - ends[0]) else None


def _reach(nodes: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return the smallest domain that holds all boxes."""
    found = [
        ends for one in nodes for box in mapping(one.get("box")).values() if (ends := _ends(box, equal=True))
    ]
    low, high = min((ends[0] for ends in found), default=0.0), max((ends[1] for ends in found), default=1.0)
    return (low, high) if low < high and math.isfinite(high - low) else (0.0, 1.0)


def _from_left(leaf: Node) -> float:
    """Return where a leaf begins among all, as a share; those without a place come last."""
    return 2.0 if leaf.place is None else leaf.place[1] / (1 << leaf.place[0])
