"""What result.json says of a tree of skills, and its leaves as a table."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.skills.consistency import consistent
from jobs.skills.keys import Keyring
from jobs.skills.levels import Crowd
from jobs.skills.rounds import Round
from jobs.skills.spec import SkillsSpec
from jobs.skills.tree import Node, Tree
from udfs.ciphertexts import ciphertext_type
from udfs.noise_shares import NoiseShare


def tree_documents(spec: SkillsSpec, crowd: Crowd, tree: Tree) -> dict[str, Any]:
    """Return the nodes with their counts, raw and consistent, and the leaves among them.

    Standard errors are of the noise alone, about the true count of the box as it was cut.
    """
    by_level = {one.level: crowd.variance(one.counts) for one in spec.budget}
    raw = [by_level[node.level] for node in tree.nodes]
    counts, variances = consistent(tree.parents, [node.count for node in tree.nodes], raw)
    nodes = [
        _node(spec, node, math.sqrt(variance), float(count), math.sqrt(max(0.0, spread)))
        for node, variance, count, spread in zip(tree.nodes, raw, counts, variances, strict=True)
    ]
    return {"nodes": nodes, "leaves": [node for node in nodes if node["children"] is None]}


def _node(
    spec: SkillsSpec, node: Node, error: float, consistent_count: float, consistent_error: float
) -> dict[str, Any]:
    return {
        "id": node.id,
        "level": node.level,
        "parent": node.id // 2 or None,
        "children": None if node.split is None else [2 * node.id, 2 * node.id + 1],
        "dimension": node.dimension,
        "split": node.split,
        "box": {name: list(ends) for name, ends in zip(spec.skills.dimensions, node.box, strict=True)},
        "count": node.count,
        "standard_error": error,
        "consistent_count": consistent_count,
        "consistent_standard_error": consistent_error,
        "histogram": None if node.bins is None else list(node.bins),
    }


def settings_document(spec: SkillsSpec, crowd: Crowd) -> dict[str, Any]:
    """Return what was asked, of how many, and with what budget."""
    table, privacy = spec.skills, spec.privacy
    return {
        "dimensions": list(table.dimensions),
        "domain": list(table.domain),
        "bins": table.bins,
        "depth": table.depth,
        "min_count": table.min_count,
        "allocation": table.allocation,
        "counts_share": table.counts_share,
        "budget": [{"level": one.level, "counts": one.counts, "median": one.median} for one in spec.budget],
        "participant": privacy.participant,
        "participants": crowd.participants,
        "workers": crowd.workers,
        "collusion": privacy.collusion,
        "dropout": privacy.dropout,
        "beta": float(crowd.beta),
        "delta": delta(spec, crowd),
    }


def delta(spec: SkillsSpec, crowd: Crowd) -> float:
    """Return how far the law of all that is opened may lie from the ideal one, in total variation.

    Noise shares are drawn by integer tables: each differs from its ideal law by a little, and the differences add up over
    all participants and counters. Of two neighbouring populations both differ, so twice e^epsilon + 1 bounds delta.
    """
    depth, bins = spec.skills.depth, spec.skills.bins
    total = sum(
        crowd.participants
        * 2 ** (depth - one.level)
        * (
            NoiseShare(one.counts, crowd.parts).total_variation
            + (0 if one.median is None else bins * NoiseShare(one.median, crowd.parts).total_variation)
        )
        for one in spec.budget
    )
    return min(1.0, float(total) * (1 + math.exp(min(float(spec.charge), 500.0))))


def leaves_table(document: dict[str, Any]) -> bytes:
    """Return the leaves as Parquet: id, level, each dimension's ends, and the counts with their standard errors."""
    result = document["result"]
    leaves, dimensions = result["leaves"], result["dimensions"]
    numbers = ("count", "standard_error", "consistent_count", "consistent_standard_error")
    columns: dict[str, pa.Array] = {
        "id": pa.array([leaf["id"] for leaf in leaves], pa.int64()),
        "level": pa.array([leaf["level"] for leaf in leaves], pa.int32()),
    }
    for name in dimensions:
        for place, end in enumerate(("low", "high")):
            ends = [leaf["box"][name][place] for leaf in leaves]
            columns[f"{name}_{end}"] = pa.array(ends, pa.float64())
    for name in numbers:
        kind = pa.int64() if name == "count" else pa.float64()
        columns[name] = pa.array([leaf[name] for leaf in leaves], kind)
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def opening_document(ring: Keyring, rounds: Sequence[Round]) -> dict[str, Any]:
    """Return how many contributed, who opened the sums, and what each participant sent."""
    key, slots = ring.key, [one.slots for one in rounds]
    ciphertexts = [one.ciphertexts for one in slots]
    opened = [one.opened for one in rounds]
    return {
        "contributions": min(one.contributions for one in rounds),
        "holders": {
            "number": key.holders,
            "threshold": key.threshold,
            "answered": sorted({holder for one in opened for holder in one.holders}),
            "declined": sorted({holder for one in opened for holder in one.declined}),
            "wrong": sorted({holder for one in opened for holder in one.wrong}),
            "where": ring.where,
        },
        "keys": {"key_id": key.key_id, "bits": key.bits},
        "ciphertexts": {
            "per_participant": sum(ciphertexts),
            "bytes_per_participant": sum(ciphertexts) * ciphertext_type(key.n).byte_width,
            "by_level": ciphertexts,
            "slots": [one.per_ciphertext for one in slots],
            "width": [one.width for one in slots],
        },
    }
