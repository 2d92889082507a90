"""The tree of the sample's workers, from exact counts: that which an independent program found."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import sample_data
from jobs.skills.tree import Shape, Tree, grow
from udfs.skills import SkillsQuestion

FOLDER = Path(next(iter(sample_data.__path__)))
PLANTED: dict[str, Any] = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))["workers"]["tree"]


def exactly_grown(shape: Shape, answers: np.ndarray) -> Tree:
    """Answer every level of a tree with the counts as they are."""
    growing, counters = grow(shape), None
    while True:
        try:
            asked = growing.send(counters)
        except StopIteration as ended:
            return ended.value
        counters = asked.cells.count(answers)


def test_exact_counts_grow_the_planted_tree() -> None:
    table = tomllib.loads((FOLDER / "skills.toml").read_text(encoding="utf-8"))["skills"]
    shape = Shape(tuple(table["dimensions"]), tuple(table["domain"]), table["bins"], table["depth"])
    question = SkillsQuestion(shape.dimensions, shape.domain)
    workers = pq.read_table(FOLDER / "workers", columns=list(shape.dimensions)).combine_chunks()
    (block,) = workers.to_batches()
    tree = exactly_grown(shape, question.read(block).codes)

    inner = [node for node in tree.nodes if node.split is not None]
    assert [node.id for node in inner] == [node["id"] for node in PLANTED["splits"]]
    assert [node.count for node in inner] == [node["count"] for node in PLANTED["splits"]]
    assert [node.dimension for node in inner] == [node["dimension"] for node in PLANTED["splits"]]
    assert [node.split for node in inner] == pytest.approx(
        [node["split"] for node in PLANTED["splits"]], rel=1e-12
    )
    assert [(leaf.id, leaf.count) for leaf in tree.leaves] == [
        (leaf["id"], leaf["count"]) for leaf in PLANTED["leaves"]
    ]
