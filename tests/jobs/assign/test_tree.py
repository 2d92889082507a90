from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.assign.tree import read_tree
from tests.jobs.assign.dispatch import SKILLS, SPLITS, grown
from udfs.errors import SpecError

Document = dict[str, Any]


def written(tmp_path: Path, document: Any) -> str:
    path = tmp_path / "result.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return str(path)


def test_leaves_are_the_nodes_that_are_not_cut(tmp_path: Path) -> None:
    path = written(tmp_path, grown())
    tree = read_tree(path)
    assert [leaf.id for leaf in tree.leaves] == [4, 5, 7, 12, 13]
    assert tree.boxes.shape == (5, 2, 2)
    assert tree.boxes[-1].tolist() == [[0.75, 1.0], [0.0, 0.6]]
    assert (tree.dimensions, tree.domain, tree.epsilon) == (SKILLS, (0.0, 1.0), 1.5)
    assert tree.sha256 == hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_every_point_is_in_the_leaf_whose_box_holds_it(tmp_path: Path) -> None:
    tree = read_tree(written(tmp_path, grown()))
    ends = np.array([0.0, 0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.8, 1.0])
    points = np.array([[a, b] for a in ends for b in ends])
    low, high = tree.boxes[:, :, 0], tree.boxes[:, :, 1]
    inside = (points[:, None] >= low) & ((points[:, None] < high) | (high == 1.0))
    held = inside.all(axis=2)
    assert (held.sum(axis=1) == 1).all()
    assert tree.cells.cells(points)[:, 0].tolist() == held.argmax(axis=1).tolist()


def test_a_tree_of_one_leaf_holds_everybody(tmp_path: Path) -> None:
    tree = read_tree(written(tmp_path, grown({})))
    assert tree.cells.cells(np.array([[0.0, 1.0], [0.5, 0.5]]))[:, 0].tolist() == [0, 0]


def test_an_epsilon_that_is_infinite_or_untold_is_none(tmp_path: Path) -> None:
    document = grown()
    document["privacy"] = {"epsilon": None}
    assert read_tree(written(tmp_path, document)).epsilon is None
    document.pop("privacy")
    assert read_tree(written(tmp_path, document)).epsilon is None


def _of_node(place: int, **values: Any) -> Callable[[Document], None]:
    return lambda document: document["result"]["nodes"][place].update(values)


def _of_result(**values: Any) -> Callable[[Document], None]:
    return lambda document: document["result"].update(values)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document.update(job="survey"),
        lambda document: document.update(job=["skills"]),
        lambda document: document["result"].update(study={}),
        lambda document: document.pop("result"),
        lambda document: document["result"]["nodes"].pop(),
        lambda document: document["result"]["nodes"].append(document["result"]["nodes"][-1]),
        lambda document: document["result"]["nodes"].reverse(),
        _of_result(nodes=[]),
        _of_result(dimensions=[]),
        _of_result(dimensions=["sawing", "sawing"]),
        _of_result(dimensions=["sawing"]),
        _of_result(domain=[1.0, 0.0]),
        _of_result(domain=[0.0]),
        _of_node(0, split=None),
        _of_node(0, split="half"),
        _of_node(0, dimension="singing"),
        _of_node(0, children=[2, 2]),
        _of_node(0, children=[2]),
        _of_node(0, children=[1, 3]),
        _of_node(0, box={}),
        _of_node(0, consistent_count=None),
    ],
)
def test_what_is_no_tree_is_refused(tmp_path: Path, spoil: Callable[[Document], Any]) -> None:
    document = copy.deepcopy(grown())
    spoil(document)
    with pytest.raises(SpecError, match=r"^tree\.path: must be the result of a skills job"):
        read_tree(written(tmp_path, document))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '"skills"', "[" * 100_000, json.dumps(grown()).replace("0.25", "NaN"), "\x00"],
)
def test_what_is_no_document_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SpecError, match=r"^tree\.path: must be the result of a skills job"):
        read_tree(written(tmp_path, text))


@pytest.mark.parametrize("path", ["nowhere.json", "", "no-such-scheme://tree"])
def test_a_tree_that_cannot_be_read_is_asked_for(tmp_path: Path, path: str) -> None:
    with pytest.raises(
        SpecError, match=r"^tree\.path: must be a result\.json that can be read.*skills job first"
    ):
        read_tree(path if "://" in path else str(tmp_path / path))


def test_the_hand_written_tree_has_the_cuts_it_was_given() -> None:
    nodes = {node["id"]: node for node in grown()["result"]["nodes"]}
    assert {
        node: (one["dimension"], one["split"]) for node, one in nodes.items() if one["children"]
    } == SPLITS
