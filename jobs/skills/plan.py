"""What a tree of skills would cost and how good it would be, before a row is read."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import gmpy2

from jobs.population import Data
from jobs.skills.document import delta
from jobs.skills.holders import quorum_warning
from jobs.skills.levels import Crowd, level_slots, most_counters
from jobs.skills.spec import SkillsSpec
from udfs.paillier import products_per_ciphertext

Level = dict[str, Any]

_WEAK = 1e-9
_MEASURED_PRODUCTS = 400
_POWERS_A_HOLDER = 9
"""Powers by exponents as long as n^2: a partial decryption and its proof take four, their verification five."""


def plan_tree(spec: SkillsSpec, data: Data) -> dict[str, Any]:
    """Return the plan of a tree.

    Returns
    -------
    dict
        `stages`, `bytes`, `epsilon`, `predicted` and `reasons`, as `canvass plan --json` prints them. Predicted is of a
        full tree: the standard errors of its noise, and the seconds that a core of this machine would take.
    """
    if spec.keys is None:
        raise TypeError("a tree needs keys")
    crowd = Crowd.of(spec, data.rows, data.blocks)
    bits = spec.keys.modulus_bits if spec.key is None else spec.key.bits
    threshold = (spec.keys.threshold or 1) if spec.key is None else spec.key.threshold
    levels = [_level(spec, crowd, place, bits) for place in range(spec.skills.depth + 1)]
    columns = [*([spec.population.id] if spec.population.id else []), *spec.skills.dimensions]
    read = {name: data.column_bytes.get(name, 0) for name in columns}
    ciphertexts, width = sum(one["ciphertexts"] for one in levels), 2 * bits // 8
    leaf, consistent_leaf = _leaf_errors([one["count_standard_error"] ** 2 for one in levels])
    return {
        "job": spec.job,
        "rows": crowd.workers,
        "stages": [
            {"name": f"level {one['level']}", "tasks": data.tasks(), "reads": columns, "writes": None}
            for one in levels
        ],
        "bytes": {"read": sum(read.values()) * (len(levels) + 1), "read_by_column": read, "written": 0},
        "epsilon": {"total": spec.charge, "charged": spec.charge},
        "predicted": {
            "participants": crowd.participants,
            "ciphertexts_per_participant": ciphertexts,
            "ciphertexts": ciphertexts * crowd.participants,
            "bytes_per_participant": ciphertexts * width,
            "bytes_up": ciphertexts * width * crowd.participants,
            "counters": most_counters(spec),
            "seconds": _seconds(ciphertexts, crowd.participants, bits, threshold),
            "tasks": data.tasks(),
            "levels": levels,
            "leaf_standard_error": leaf,
            "leaf_consistent_standard_error": consistent_leaf,
            "workers_per_leaf": crowd.workers / 2**spec.skills.depth,
            "beta": float(crowd.beta),
            "where": spec.keys.where,
        },
        "reasons": _reasons(spec, crowd, levels),
    }


def _level(spec: SkillsSpec, crowd: Crowd, place: int, bits: int) -> Level:
    """Return what one level of a full tree asks, and how good its answers would be; the root's place is 0."""
    table, budget = spec.skills, spec.budget[place]
    nodes = 2**place
    counters = nodes * (1 + (table.bins if budget.median is not None else 0))
    slots = level_slots(spec, crowd, budget.level, counters, bits)
    bin_error = None if budget.median is None else math.sqrt(crowd.variance(budget.median))
    workers = crowd.workers / nodes
    return {
        "level": budget.level,
        "nodes": nodes,
        "counters": counters,
        "ciphertexts": slots.ciphertexts,
        "slots": slots.per_ciphertext,
        "width": slots.width,
        "reach": -slots.lowest,
        "counts_epsilon": budget.counts,
        "median_epsilon": budget.median,
        "count_standard_error": math.sqrt(crowd.variance(budget.counts)),
        "bin_standard_error": bin_error,
        # Half of all bins less those below: each bin's noise counts by half, up or down.
        "median_rank_error": None
        if bin_error is None
        else min(0.5, bin_error * math.sqrt(table.bins) / 2 / workers),
    }


def _leaf_errors(variances: Sequence[float]) -> tuple[float, float]:
    """Return a leaf's standard error, raw and consistent, from the variances of a full tree's counts, root first.

    All nodes of a level have one variance, so the two passes of `jobs.skills.consistency` are one number a level.
    """
    up = [variances[-1]]
    for variance in reversed(variances[:-1]):
        up.append(1 / (1 / variance + 1 / (2 * up[-1])))
    below = up[-1]
    for own in reversed(up[:-1]):
        below = own / 2 + below / 4
    return math.sqrt(variances[-1]), math.sqrt(below)


def _seconds(ciphertexts: int, participants: int, bits: int, threshold: int) -> dict[str, float]:
    """Return how long one core of this machine would take, from a few products that are measured now."""
    modulus = gmpy2.mpz(2) ** (2 * bits) - 1
    value = modulus // 3
    started = time.perf_counter()
    for _ in range(_MEASURED_PRODUCTS):
        value = value * value % modulus + 2
    product = (time.perf_counter() - started) / _MEASURED_PRODUCTS
    encryptions = ciphertexts * participants
    return {
        "encrypt": encryptions * products_per_ciphertext(bits) * product,
        "add": encryptions * product,
        "open": ciphertexts * threshold * _POWERS_A_HOLDER * 2 * bits * product,
    }


def _reasons(spec: SkillsSpec, crowd: Crowd, levels: Sequence[Level]) -> list[str]:
    """Return why it would go as it would."""
    table, privacy = spec.keys, spec.privacy
    reasons = []
    if privacy.neighbours == "add-or-remove":
        reasons.append(
            f"epsilon {privacy.epsilon} is for one worker more or less; how many there are is public, so a worker is"
            f" replaced, and {spec.charge} is charged"
        )
    else:
        reasons.append(f"epsilon {privacy.epsilon} is for a worker replaced: the tree has half of it")
    reasons.append(
        f"{privacy.collusion} may collude and {privacy.dropout} be missing of {crowd.participants} participants: noise"
        f" has {float(crowd.beta):.3g} times the variance that is due"
    )
    if table is not None and table.where != "mailbox":
        reasons.append("key-holders are embedded in the job: whoever runs it could open anything; for trials")
    if table is not None and table.where == "mailbox" and spec.key and (warning := quorum_warning(spec.key)):
        reasons.append(warning)
    if (unlikely := delta(spec, crowd)) > _WEAK:
        reasons.append(f"delta is {unlikely:.1g}: at so large an epsilon the guarantee is weak")
    lost = [one["level"] for one in levels if (one["median_rank_error"] or 0) >= 0.25]
    if lost:
        named = ", ".join(map(str, lost))
        reasons.append(f"level {named}: splits would be no better than a guess; cut less deep, or spend more")
    return reasons
