"""The tree that a skills job drew: its leaves, and which of them a worker is in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, TypeAlias

import fsspec
import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from udfs.errors import SpecError
from udfs.skills import SkillsQuestion
from udfs.tree_cells import TreeCells

Ends: TypeAlias = tuple[float, float]

MOST_LEAVES = 1 << 20


class Node(BaseModel):
    """A node of the tree, as result.json has it."""

    model_config = ConfigDict(frozen=True)

    id: int
    children: tuple[int, int] | None
    dimension: str | None
    split: FiniteFloat | None
    box: dict[str, tuple[FiniteFloat, FiniteFloat]]
    consistent_count: FiniteFloat


class _Result(BaseModel):
    dimensions: Annotated[tuple[str, ...], Field(min_length=1)]
    domain: tuple[FiniteFloat, FiniteFloat]
    nodes: Annotated[tuple[Node, ...], Field(min_length=1)]


class _Privacy(BaseModel):
    epsilon: float | None = None


class _Document(BaseModel):
    result: _Result
    privacy: _Privacy = _Privacy()


@dataclass(frozen=True)
class Tree:
    """A k-d tree with noisy counts: public, as all that a skills job publishes is.

    Attributes
    ----------
    dimensions : tuple of str
        Columns of skills.
    domain : tuple of float
    nodes : tuple of Node
        Parents before their children.
    epsilon : float or None
        What the tree was charged.
    sha256 : str
        Of the file.
    """

    dimensions: tuple[str, ...]
    domain: tuple[float, float]
    nodes: tuple[Node, ...]
    epsilon: float | None
    sha256: str

    @cached_property
    def leaves(self) -> tuple[Node, ...]:
        """The nodes that are not cut."""
        return tuple(node for node in self.nodes if node.children is None)

    @property
    def question(self) -> SkillsQuestion:
        """What every worker is asked: the skills that the tree cuts."""
        return SkillsQuestion(self.dimensions, self.domain)

    @property
    def boxes(self) -> npt.NDArray[np.float64]:
        """The ends of the leaves' boxes: float64, shape (leaves, dimensions, 2)."""
        return np.array([[leaf.box[name] for name in self.dimensions] for leaf in self.leaves])

    @cached_property
    def cells(self) -> TreeCells:
        """Which leaf a worker is in: the first cell is the leaf's place."""
        cuts = [node for node in self.nodes if node.children is not None]
        place = {node.id: at for at, node in enumerate(cuts)}
        place |= {leaf.id: -1 - at for at, leaf in enumerate(self.leaves)}
        return TreeCells(
            cut_columns=tuple(self.dimensions.index(str(node.dimension)) for node in cuts),
            cut_splits=tuple(float(node.split or 0.0) for node in cuts),
            cut_children=tuple(_pair(place, node.children or (0, 0)) for node in cuts),
            nodes=len(self.leaves),
            column=None,
            edges=(),
        )


def _pair(place: dict[int, int], children: tuple[int, int]) -> tuple[int, int]:
    left, right = children
    return place[left], place[right]


def read_tree(path: str) -> Tree:
    """Read the tree in a skills job's result.json.

    Parameters
    ----------
    path : str
        A path or any fsspec URL.

    Raises
    ------
    SpecError
        Where there is none, or what is there is no tree.
    """
    try:
        with fsspec.open(path, "rb") as file:
            data: bytes = file.read()
    except (OSError, ValueError, ImportError) as error:
        remedy = "run the skills job first: it draws the tree"
        raise SpecError(
            "tree.path", "must be a result.json that can be read", f"{path}: {type(error).__name__}", remedy
        ) from None
    return _checked(_parsed(data, path), hashlib.sha256(data).hexdigest(), path)


def _parsed(data: bytes, path: str) -> _Document:
    """Return the document of a tree that was drawn: studies and other jobs draw none."""
    try:
        found = json.loads(data)
        if not isinstance(found, dict):
            got = "another document"
        elif found.get("job") != "skills":
            got = f"a result of {found.get('job')!r}"
        elif "study" in found.get("result", {}):
            got = "a study"
        else:
            return _Document.model_validate(found)
    except (ValidationError, ValueError, TypeError, RecursionError) as error:
        got = type(error).__name__
    raise _no_tree(path, got[:80])


def _checked(document: _Document, sha256: str, path: str) -> Tree:
    """Return a tree whose nodes hang together."""
    result = document.result
    if not _is_tree(result.nodes, result.dimensions, result.domain):
        raise _no_tree(path, "nodes that make none")
    tree = Tree(result.dimensions, result.domain, result.nodes, document.privacy.epsilon, sha256)
    if len(tree.leaves) > MOST_LEAVES:
        raise SpecError("tree.path", f"must have at most {MOST_LEAVES:,} leaves", f"{len(tree.leaves):,}")
    try:
        _ = tree.question, tree.cells
    except SpecError as error:
        raise _no_tree(path, f"one where {error.where} {error.must}") from None
    return tree


def _is_tree(nodes: Sequence[Node], dimensions: Sequence[str], domain: Ends) -> bool:
    """Tell whether every node but the first is the child of one before it, and boxes are what the cuts make of the domain.

    Workers go by the cuts and tasks by the boxes: where these disagree, workers would be sent the tasks of others.
    """
    parts = {nodes[0].id: dict.fromkeys(dimensions, domain)}
    for node in nodes:
        if parts.pop(node.id, None) != node.box:
            return False
        if node.children is not None:
            halves = _halves(node, domain[1])
            if halves is None or len({*node.children} - parts.keys()) != 2:
                return False
            parts |= zip(node.children, halves, strict=True)
    return not parts and len({node.id for node in nodes}) == len(nodes)


def _halves(node: Node, top: float) -> tuple[dict[str, Ends], dict[str, Ends]] | None:
    """Return the boxes below a node's cut and from it up; None where it cuts nothing, or at the domain's upper end."""
    name, split = node.dimension, node.split
    if name is None or split is None or name not in node.box:
        return None
    low, high = node.box[name]
    # A box that ends where the domain does is closed there: cut at that end, it would be two such boxes.
    if not low <= split <= high or split == top:
        return None
    return node.box | {name: (low, split)}, node.box | {name: (split, high)}


def _no_tree(path: str, got: Any) -> SpecError:
    return SpecError(
        "tree.path",
        "must be the result of a skills job",
        f"{path}: {got}",
        "name the result.json that it published",
    )
