"""Graphs: whole jobs, triangles estimated from reports, true triangles, and reports themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import PEERS_PYTHON, goal, run_json
from benchmarks.network import dense, shipped, skewed, written

_MEGA, _GIB = 1e6, 1 << 30
LINKS_A_NODE = 5
EPSILONS = ("2", "6")
"""Dense reports, and such as make sparse products the faster ones."""
ROUNDS, LARGE = 3, 16_384
"""How often products take turns; once, for so many nodes or more."""


def graph_tables(nodes: int, products: Sequence[int], dense_nodes: int) -> list[str]:
    """Return all of it: jobs of so many nodes and of a quarter, products of these sizes, and networks' triangles."""
    return [
        *_jobs(nodes),
        "",
        *_products(products),
        "",
        *_triangles(nodes, dense_nodes),
        "",
        *_reports(nodes),
    ]


def _jobs(nodes: int) -> list[str]:
    lines = [
        "## The whole job: two processes, randomized response at epsilon 2, every statistic and a rebuilt graph",
        "",
        f"{LINKS_A_NODE} links a node. Seconds from the first task to the result; beside them those of its stages, and what"
        " the workers' processors were busy, which others' load moves less.",
        "",
        "| nodes | million pairs | to the result, s | reports | sums over pairs | rebuilt graph | with page, publication and"
        " cluster, s | processors, s | reports, MB | peak of a worker, GiB | of the driver |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    few, found = nodes // 4, {}
    for size in (few, nodes):
        written(size, LINKS_A_NODE * size)  # here, so that making it counts in no process that is measured
        one = found[size] = run_json("benchmarks.graph_job", str(size), str(LINKS_A_NODE * size))
        stages = " | ".join(f"{one[stage]:.1f}" for stage in ("estimated", "reports", "sums", "release"))
        worker, driver = one["worker_peak_bytes"] / _GIB, one["driver_peak_bytes"] / _GIB
        lines.append(
            f"| {size:,} | {size * (size - 1) / 2 / _MEGA:.1f} | {stages} | {one['seconds_with_start']:.1f} |"
            f" {one['worker_cpu_seconds']:.1f} | {one['report_bytes'] / _MEGA:.1f} | {worker:.2f} | {driver:.2f} |"
        )
    growth = max(found[nodes][key] / found[few][key] for key in ("worker_peak_bytes", "driver_peak_bytes"))
    text = f"peak at {nodes:,} nodes against {few:,}, 16 times as many pairs: at most 1.5x"
    return [*lines, "", goal(text, growth, growth <= 1.5)]


def _products(sizes: Sequence[int]) -> list[str]:
    lines = [
        "## Triangles estimated from reports: one core, one thread of BLAS",
        "",
        "From packed reports to estimates with standard errors: everything unpacked, multiplied tile by tile, summed up and"
        " estimated. Against the bare float32 product `Y @ Y` of the unpacked matrix, 1,024 rows at a time. Processor"
        " seconds, the least of several that take turns. Estimates take each pair of rows once, the bare product twice;"
        " at the larger epsilon ones are few, and products are sparse.",
        "",
        "| nodes | epsilon | estimates, s | bare product, s | ratio |",
        "|---:|---:|---:|---:|---:|",
    ]
    goals = []
    for nodes in sizes:
        rounds = 1 if nodes >= LARGE else ROUNDS
        found = run_json("benchmarks.graph_sums", str(nodes), str(rounds), *EPSILONS)
        bare = found["bare"]
        for epsilon in EPSILONS:
            ratio = found[epsilon] / bare
            lines.append(f"| {nodes:,} | {epsilon} | {found[epsilon]:.2f} | {bare:.2f} | {ratio:.2f} |")
            text = f"{nodes:,} nodes, epsilon {epsilon}: estimates within 3x of the bare product"
            goals.append(goal(text, ratio, ratio <= 3))
    return [*lines, "", *goals]


def _triangles(nodes: int, dense_nodes: int) -> list[str]:
    lines = [
        "## True triangles at each node: one core",
        "",
        "Against `networkx.triangles` of a graph that it has made already; here from an array of links. Both count the same."
        " Degrees are skewed by a power law with exponent 2.5; half of all pairs are linked in the dense network. Processor"
        " milliseconds, the least of several. The smooth bound on the local sensitivity has no peer.",
        "",
        "| network | nodes | links | triangles | here, ms | networkx, ms | x networkx | smooth bound, ms |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    friends, people = shipped()
    networks = {
        "skewed": (skewed(nodes, LINKS_A_NODE * nodes), nodes),
        "skewed, more links": (skewed(nodes, 4 * LINKS_A_NODE * nodes), nodes),
        "dense": (dense(dense_nodes), dense_nodes),
        "shipped": (friends, people),
    }
    goals = []
    for name, (links, size) in networks.items():
        ours, theirs = _counted(links, size)
        ratio = theirs / ours["triangles"]
        lines.append(
            f"| {name} | {size:,} | {len(links):,} | {ours['total']:,} | {1e3 * ours['triangles']:,.1f} | {1e3 * theirs:,.1f} |"
            f" {ratio:,.0f} | {1e3 * ours['smooth']:,.1f} |"
        )
        goals.append(goal(f"{name}, {len(links):,} links: at least 100x networkx", ratio, ratio >= 100))
    return [*lines, "", *goals]


def _counted(links: np.ndarray, nodes: int) -> tuple[dict[str, Any], float]:
    """Return what is found here of a network, and networkx's seconds, if it is there."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "links.npy"
        np.save(path, links)
        ours = run_json("benchmarks.graph_triangles", str(path), str(nodes))
        if not PEERS_PYTHON.exists():
            return ours, float("nan")
        peer = run_json("benchmarks.peers_triangles", str(path), str(nodes), python=PEERS_PYTHON)
    if peer["counts"] != ours["counts"]:
        raise SystemExit("networkx counts other triangles")
    return ours, float(peer["triangles"])


def _reports(nodes: int) -> list[str]:
    found = run_json("benchmarks.graph_reports", str(nodes))
    stream = found["keystream"]
    lines = [
        "## Reports of pairs: one core",
        "",
        f"All pairs of {nodes:,} nodes, tile by tile. The bare keystream has a byte a pair, which is what the dense sampler"
        " draws; the rare one draws eight for each flip, and in every 2,048 pairs.",
        "",
        "| what | million pairs/s | this / bare keystream |",
        "|---|---:|---:|",
    ]
    names = {
        "keystream": "bare keystream, a byte a pair",
        "dense": "dense sampler, epsilon 2",
        "rare": "rare sampler, epsilon 8",
    }
    lines += [
        f"| {text} | {1 / found[name] / _MEGA:,.0f} | {found[name] / stream:.1f} |"
        for name, text in names.items()
    ]
    return lines
