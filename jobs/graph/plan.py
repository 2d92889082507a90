"""What a graph's statistics would cost and how good they would be, before a row is read."""

from __future__ import annotations

from typing import Any

from jobs.graph.central import noise_of
from jobs.graph.estimate import least_errors
from jobs.graph.local import BAND
from jobs.graph.spec import GraphSpec
from jobs.population import Data
from udfs.link_response import LinkResponse
from udfs.links import pair_tasks, tiles


def plan_graph(spec: GraphSpec, data: Data) -> dict[str, Any]:
    """Return the plan: `stages`, `bytes`, `epsilon`, `predicted` and `reasons`."""
    nodes, links = data.rows, data.beside(spec.population.path, "population.path")
    pairs = nodes * (nodes - 1) // 2
    columns = [spec.population.source, spec.population.target]
    read = {name: links.column_bytes.get(name, 0) for name in columns}
    local = spec.privacy.model == "local"
    cut = tiles(nodes, BAND) if local else ()
    number = len(cut)
    asking = len(pair_tasks(cut)) if local else links.tasks()
    # Links are looked through at first; then each task of pairs reads them all.
    readings = 1 + (asking if local else 1)
    stages = [
        {"name": "links" if local else "gather links", "tasks": asking, "reads": columns, "writes": None}
    ]
    if local and "triangles" in spec.kinds:
        stages.append({"name": "common neighbours", "tasks": number, "reads": [], "writes": None})
    written = None if spec.release.graph else 0  # as much as there are links, which nobody knows yet
    if spec.release.graph:
        stages.append({"name": "release", "tasks": number, "reads": [], "writes": "links"})
    return {
        "job": spec.job,
        "rows": nodes,
        "stages": stages,
        "bytes": {"read": readings * sum(read.values()), "read_by_column": read, "written": written},
        "epsilon": {"total": spec.spent, "charged": spec.spent},
        "predicted": {"nodes": nodes, "pairs": pairs, **_errors(spec, nodes)},
        "reasons": _reasons(spec),
    }


def _errors(spec: GraphSpec, nodes: int) -> dict[str, Any]:
    """Return the standard errors that are known beforehand: of triangles, in a graph without links."""
    if spec.privacy.model == "central":
        errors = {kind: noise_of(kind, nodes, spec.share).variance ** 0.5 for kind in spec.kinds}
        return {"standard_errors": errors}
    lie = LinkResponse.of(spec.privacy.mechanism, spec.privacy.epsilon).support_if_false
    known = least_errors(nodes, lie)
    return {"lie": float(lie), "standard_errors": {kind: known[kind] for kind in spec.kinds}}


def _reasons(spec: GraphSpec) -> list[str]:
    """Return why it would go as it would."""
    if spec.privacy.model == "central":
        return [f"epsilon {spec.privacy.epsilon} is shared by {len(spec.kinds)} statistics in equal parts"]
    reasons = ["each unordered pair reports once: links noted twice or the other way round are merged"]
    if spec.privacy.mechanism == "laplace":
        reasons += [
            f"rounded noise of parameter {spec.privacy.epsilon} gives away epsilon {spec.spent:.4g}, which is charged",
            "randomized-response flips less often at the same parameter, and as often at the same epsilon",
        ]
    return reasons
