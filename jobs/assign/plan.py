"""What fetching would cost, before a worker's row is read."""

from __future__ import annotations

from typing import Any

from jobs.assign.document import cost_documents, log2, packing_document
from jobs.assign.library import Library
from jobs.assign.protocols import Choice, choose
from jobs.assign.spec import AssignSpec
from jobs.population import Data
from udfs.lattice_shape import Shape


def plan_assignments(spec: AssignSpec, data: Data) -> dict[str, Any]:
    """Return the plan. Tasks are read: they are the platform's own, and decide how large items are.

    Returns
    -------
    dict
        `stages`, `bytes`, `epsilon`, `predicted` and `reasons`, as `canvass plan --json` prints them.
    """
    library = Library.read(spec, data.beside(spec.tasks.path, "tasks.path"))
    choice = choose(spec.retrieval, library, data.rows)
    cost, gets, workers = choice.taken.cost, spec.retrieval.gets, data.rows
    columns = [*([spec.population.id] if spec.population.id else []), *spec.grown.dimensions]
    read = {name: data.column_bytes.get(name, 0) for name in columns}
    shape = choice.taken.shape
    return {
        "job": spec.job,
        "rows": workers,
        "stages": [
            {"name": "fetch", "tasks": data.tasks(), "reads": columns, "writes": None},
            {
                "name": "receive",
                "tasks": data.tasks(),
                "reads": columns,
                "writes": "assignments" if spec.output.assignments else None,
            },
        ],
        "bytes": {
            "read": 3 * sum(read.values()),
            "read_by_column": read,
            "written": 0,
            "up": workers * gets * cost.upload_bytes,
            "down": workers * (gets * cost.download_bytes + cost.hint_bytes),
        },
        "epsilon": {"total": 0, "charged": 0},
        "predicted": {
            "workers": workers,
            "gets": gets,
            "leaves": len(library),
            "item_bytes": library.item_bytes,
            "library_bytes": len(library) * library.item_bytes,
            "packing": packing_document(spec, library),
            "precision": mean_precision(spec, library),
            "costs": cost_documents(choice),
            "protocol": choice.taken.protocol,
            "failure_log2": log2(shape.failure) if isinstance(shape, Shape) else None,
            "server_seconds": workers * gets * choice.taken.server_seconds,
            "bytes_up": gets * cost.upload_bytes,
            "bytes_down": gets * cost.download_bytes + cost.hint_bytes,
            "hint_bytes": cost.hint_bytes,
        },
        "reasons": _reasons(spec, library, choice),
    }


def mean_precision(spec: AssignSpec, library: Library) -> float:
    """Return the mean of leaves' precisions, weighted by the tree's counts of workers."""
    weights = [max(0.0, leaf.consistent_count) for leaf in spec.grown.leaves]
    precision = library.packing.precision
    if not sum(weights):
        return sum(precision) / len(precision)
    return sum(a * b for a, b in zip(weights, precision, strict=True)) / sum(weights)


def _reasons(spec: AssignSpec, library: Library, choice: Choice) -> list[str]:
    """Return why it would go as it would."""
    taken, table, packing = choice.taken, spec.retrieval, library.packing
    reasons = []
    if table.protocol == "auto":
        costly = [one.protocol for one in choice.options if not choice.affordable(one)]
        without = (
            f"; {' and '.join(costly)} would cost the platform more than {choice.limit:g} s a get"
            if costly
            else ""
        )
        reasons.append(
            f"{taken.protocol} takes the fewest bytes a worker of what the platform can afford{without}"
        )
    best = min(choice.options, key=lambda one: one.bytes_per_worker)
    if table.protocol != "auto" and best is not taken:
        reasons.append(
            f"{best.protocol} would take {best.bytes_per_worker:,} bytes a worker, not {taken.bytes_per_worker:,}"
        )
    if (short := sum(one > table.gets for one in packing.needed)) > 0:
        reasons.append(
            f"workers of {short} of {len(library)} leaves would not see all tasks for them: {max(packing.needed)} gets would do"
        )
    if table.gets > max(packing.needed):
        reasons.append(f"{max(packing.needed)} gets would bring everything: the others bring nothing new")
    if library.nowhere:
        reasons.append(f"{library.nowhere} tasks are for no leaf, and in no item")
    reasons.append(
        "the cluster stands in for workers' devices and for the platform: for trials, or as a rehearsal"
    )
    return reasons
