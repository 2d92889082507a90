"""What result.json says of assignments: of tasks, the tree and the protocol; of workers, how many there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from jobs.assign.library import Library
from jobs.assign.protocols import SECURITY, Choice
from jobs.assign.spec import AssignSpec
from udfs.retrieval import Retrieval


def assignment_document(
    spec: AssignSpec,
    library: Library,
    choice: Choice,
    retrieval: Retrieval,
    counts: Sequence[int],
    seconds: float,
) -> dict[str, Any]:
    """Return the result.

    Parameters
    ----------
    spec : AssignSpec
    library : Library
    choice : Choice
    retrieval : Retrieval
        Of the protocol that was taken.
    counts : sequence of int
        Workers, gets that were decoded, and gets that were not.
    seconds : float
        Of one core, that the platform took for all answers.
    """
    workers, received, undecoded = counts
    cost, gets = choice.taken.cost, spec.retrieval.gets
    computed = choice.taken.protocol != "download" and received + undecoded > 0 and seconds > 0
    return {
        "dimensions": list(spec.grown.dimensions),
        "domain": list(spec.grown.domain),
        "tree": {"sha256": spec.grown.sha256, "epsilon": spec.grown.epsilon},
        "leaves": leaf_documents(spec, library),
        "precision": list(library.packing.precision),
        "item_bytes": library.item_bytes,
        "gets": gets,
        "library_bytes": len(library) * library.item_bytes,
        "bytes_up": gets * cost.upload_bytes,
        "bytes_down": gets * cost.download_bytes + cost.hint_bytes,
        "hint_bytes": cost.hint_bytes,
        "server_bytes_per_second": len(library) * library.item_bytes * (received + undecoded) / seconds
        if computed
        else None,
        "server_seconds": seconds if computed else None,
        "workers": workers,
        "received": received,
        "undecoded": undecoded,
        "tasks": {
            "number": len(library.tasks),
            "payload_bytes": int(library.tasks.payload_bytes.sum()),
            "nowhere": library.nowhere,
        },
        "packing": packing_document(spec, library),
        "retrieval": {
            "protocol": choice.taken.protocol,
            "asked": spec.retrieval.protocol,
            "version": retrieval.version,
            "layout": str(choice.taken.shape),
            "security": SECURITY[choice.taken.protocol],
            "failure_log2": log2(retrieval.failure),
            "server_seconds": choice.limit,
        },
        "costs": cost_documents(choice),
    }


def leaf_documents(spec: AssignSpec, library: Library) -> list[dict[str, Any]]:
    """Return the leaves, and what is for them."""
    tasks, useful, packing = library.tasks_by_leaf, library.payload_by_leaf, library.packing
    return [
        {
            "id": leaf.id,
            "box": {name: list(leaf.box[name]) for name in spec.grown.dimensions},
            "count": leaf.consistent_count,
            "tasks": int(tasks[place]),
            "payload_bytes": int(useful[place]),
            "in_item": len(packing.leaf_tasks[place]),
            "needed": packing.needed[place],
            "coverage": packing.coverage[place],
        }
        for place, leaf in enumerate(spec.grown.leaves)
    ]


def packing_document(spec: AssignSpec, library: Library) -> dict[str, Any]:
    """Return how tasks were packed, and how good that is."""
    packing = library.packing
    return {
        "how": spec.tasks.packing,
        "largest": packing.largest,
        "lower_bound": packing.lower_bound,
        "bound": packing.bound,
    }


def cost_documents(choice: Choice) -> list[dict[str, Any]]:
    """Return what each protocol costs."""
    return [
        {
            "protocol": one.protocol,
            "hint_bytes": one.cost.hint_bytes,
            "upload_bytes": one.cost.upload_bytes,
            "download_bytes": one.cost.download_bytes,
            "bytes_per_worker": one.bytes_per_worker,
            "server_seconds": one.server_seconds,
            "affordable": choice.affordable(one),
            "chosen": one is choice.taken,
        }
        for one in choice.options
    ]


def log2(failure: Fraction) -> float | None:
    """Return the binary logarithm of a probability; None where it is 0."""
    return math.log2(failure.numerator) - math.log2(failure.denominator) if failure else None
