from __future__ import annotations

import copy
import hashlib
import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from jobs.assign.tree import read_tree
from jobs.skills.tree import LevelQuestion, Shape, conduct, grow
from jobs.skills.tree import Node as GrownNode
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


def _renamed(node: int, other: int) -> Callable[[Document], None]:
    """Give a node, wherever it stands, the name of one that is there already."""

    def rename(document: Document) -> None:
        for one in document["result"]["nodes"]:
            one["children"] = one["children"] and [other if own == node else own for own in one["children"]]
            one["id"] = other if one["id"] == node else one["id"]

    return rename


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
        _of_result(domain=[0.0, 2.0]),
        _of_node(0, split=0.6),
        _of_node(1, split=0.2),
        _of_node(2, dimension="sawing"),
        _of_node(3, box={"sawing": [0.0, 0.5], "sewing": [0.0, 0.3]}),
        _of_node(4, box={"sawing": [0.0, 0.6], "sewing": [0.25, 1.0]}),
        lambda document: document.update(grown(SPLITS | {4: ("sewing", 0.3)})),
        lambda document: document.update(grown(SPLITS | {7: ("sewing", 1.0)})),
        lambda document: document.update(grown({1: ("sawing", -0.25)})),
        lambda document: document["result"]["nodes"].append(document["result"]["nodes"][-1] | {"id": 99}),
        _renamed(4, 1),
    ],
)
def test_what_is_no_tree_is_refused(tmp_path: Path, spoil: Callable[[Document], Any]) -> None:
    document = copy.deepcopy(grown())
    spoil(document)
    with pytest.raises(SpecError, match=r"^tree\.path: must be the result of a skills job"):
        read_tree(written(tmp_path, document))


def test_two_cuts_have_no_child_in_common(tmp_path: Path) -> None:
    """Not even where its box would be the same: in a hollow branch, where nobody is."""
    document = grown(dict.fromkeys((1, 2, 4, 5), ("sawing", 0.0)))
    read_tree(written(tmp_path, document))
    nodes = document["result"]["nodes"]
    assert [node["id"] for node in nodes] == [1, 2, 3, 4, 5, 8, 9, 10, 11]
    nodes[4]["children"] = [8, 11]
    nodes.pop(7)
    with pytest.raises(SpecError, match="nodes that make none"):
        read_tree(written(tmp_path, document))


@pytest.mark.parametrize("domain", [(0.0, 1.0), (-1e-7, 3e5)])
def test_every_tree_that_a_skills_job_grows_is_one(tmp_path: Path, domain: tuple[float, float]) -> None:
    """Whatever the noise: counts are drawn that no workers have."""
    seed = secrets.randbits(64)
    print("seed", seed)
    generator = np.random.Generator(np.random.PCG64(seed))
    for _ in range(40):
        shape = Shape(SKILLS, domain, bins=int(generator.integers(1, 7)), depth=int(generator.integers(0, 6)))

        def noise(question: LevelQuestion) -> npt.NDArray[np.int64]:
            return np.rint(3 * generator.normal(size=question.cells.counters)).astype(np.int64)

        nodes = conduct(grow(shape), noise).nodes
        document = {"dimensions": SKILLS, "domain": domain, "nodes": [_published(node) for node in nodes]}
        tree = read_tree(written(tmp_path, {"job": "skills", "result": document}))
        assert [node.id for node in tree.nodes] == [node.id for node in nodes]


def _published(node: GrownNode) -> Document:
    cut = node.split is not None
    return {
        "id": node.id,
        "children": [2 * node.id, 2 * node.id + 1] if cut else None,
        "dimension": node.dimension,
        "split": node.split,
        "box": dict(zip(SKILLS, node.box, strict=True)),
        "consistent_count": float(node.count),
    }


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '"skills"', "[" * 100_000, json.dumps(grown()).replace("0.25", "NaN"), "\x00"],
)
def test_what_is_no_document_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SpecError, match=r"^tree\.path: must be the result of a skills job"):
        read_tree(written(tmp_path, text))


@pytest.mark.parametrize(
    ("spoil", "got"),
    [
        (lambda document: document.update(job="survey"), "a result of 'survey'"),
        (lambda document: document["result"].update(study={}), "a study"),
        (lambda document: document["result"]["nodes"].pop(), "nodes that make none"),
        (lambda document: document.update(result=3), "TypeError"),
        (lambda document: document.update(grown(SPLITS | {1: ("sawing", 1.0)})), "nodes that make none"),
        (_of_result(nodes=[{"id": 1}]), "ValidationError"),
    ],
)
def test_what_was_found_instead_is_said(tmp_path: Path, spoil: Callable[[Document], Any], got: str) -> None:
    document = copy.deepcopy(grown())
    spoil(document)
    path = written(tmp_path, document)
    with pytest.raises(SpecError) as caught:
        read_tree(path)
    assert caught.value.got == f"{path}: {got}"


def test_a_tree_of_too_many_leaves_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.assign.tree.MOST_LEAVES", 4)
    with pytest.raises(SpecError, match=r"must have at most 4 leaves; got 5"):
        read_tree(written(tmp_path, grown()))


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
