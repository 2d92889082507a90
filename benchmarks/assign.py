"""Assignments: retrieval by lattices against bare products, against Paillier encryption, and by whole jobs."""

from __future__ import annotations

from typing import Any

from benchmarks.assign_job import DEPTH, written
from benchmarks.measure import goal, run_json
from udfs.lattice_shape import choose_shape

_MEGA, _GIGA, _KIB, _MIB, _GIB = 1e6, 1e9, 1 << 10, 1 << 20, 1 << 30
PAPER = {"hint": 121 * _MIB, "get": 242 * _KIB, "rate": 10e9}
"""SimplePIR's published figures for 1 GiB: a hint, a query with its answer, bytes a second and core.

Henzinger, Hong, Corrigan-Gibbs, Meiklejohn, Vaikuntanathan: One server for the price of two (2023), abstract, for 2**33
entries of one bit. Its units are powers of two: a square matrix with 9 bits in each of 30,894**2 entries has a hint
of 120.7 MiB, and a query and its answer of 120.7 KiB each.
"""
AMORTIZED = 500
"""Over so many gets the shape for 1 GiB is chosen: the published one balances a query with its answer."""
LIBRARY, LARGER = (1024, 5_000), (4096, 50_000)
"""Items and their bytes: of the library that both protocols are measured with, and of a larger one."""
TOGETHER = "64"
"""How many workers ask at once, where it is not one."""


def assign_tables(items: int, item_bytes: int, rows: int) -> list[str]:
    """Return all of it: a large library's platform, workers, both protocols, and jobs of so many workers."""
    platform = run_json("benchmarks.assign_lattice", "server", str(items), str(item_bytes))
    asked = {
        size: run_json("benchmarks.assign_lattice", "workers", *map(str, size)) for size in (LIBRARY, LARGER)
    }
    return [
        *_platform(platform),
        "",
        *_published(platform),
        "",
        *_workers(asked),
        "",
        *_loop(),
        "",
        *_protocols(asked[LIBRARY]),
        "",
        *_jobs(rows),
    ]


def _platform(found: dict[str, Any]) -> list[str]:
    """Return seconds of a query, against bare products of the same numbers and one pass over them."""
    size, entries = found["library_bytes"], found["rows"] * found["columns"]
    queries = {int(count): seconds for count, seconds in found["queries"].items()}
    product = min(found["matmul"], found["einsum"], found["float"])
    most = max(queries)
    lines = [
        f"## The lattice protocol's platform: one core, a library of {size / _MEGA:,.0f} MB",
        "",
        f"The library is a matrix of {found['rows']:,} x {found['columns']:,} small numbers. Bare products are numpy's of the"
        " same matrix, as it is fastest to have it: in uint32 without BLAS, and in float64 with it, with one vector but for"
        f" the last. Reading is one sum over {4 * entries / _GIGA:.2f} GB.",
        "",
        "| what | ms a query | GB of the library a second | x the fastest bare product |",
        "|---|---:|---:|---:|",
    ]
    rows = {
        "reading the matrix in uint32": found["read"],
        "bare product, uint32, `@`": found["matmul"],
        "bare product, uint32, `einsum`": found["einsum"],
        "bare product, float64, BLAS": found["float"],
        f"bare product, float64, BLAS, {most} vectors": found["floats"],
    }
    rows |= {f"{count} quer{'ies' if count > 1 else 'y'} at once": taken for count, taken in queries.items()}
    lines += [
        f"| {name} | {1e3 * taken:,.1f} | {size / taken / _GIGA:.2f} | {product / taken:.2f} |"
        for name, taken in rows.items()
    ]
    one = queries[1] / product
    goals = [goal("one query at a time: within 2x of the fastest bare product", one, one <= 2)]
    for count in (count for count in queries if count >= 16):
        ratio = product / queries[count]
        text = f"{count} queries at once: at least 5x beyond the fastest bare product, a query"
        goals.append(goal(text, ratio, ratio >= 5))
    return [*lines, "", *goals]


def _published(found: dict[str, Any]) -> list[str]:
    """Return what a worker sends and receives of 1 GiB, beside the published figures."""
    lines = [
        "### 1 GiB, beside what is published of SimplePIR",
        "",
        "Published for 2**33 entries of one bit (Henzinger et al. 2023). Here the shape is the one with the fewest bytes"
        f" over {AMORTIZED} gets of a worker.",
        "",
        "| library | hint, MiB | query, KiB | answer, KiB | both, KiB |",
        "|---|---:|---:|---:|---:|",
        f"| published | {PAPER['hint'] / _MIB:.0f} | {PAPER['get'] / 2 / _KIB:.0f} | {PAPER['get'] / 2 / _KIB:.0f} |"
        f" {PAPER['get'] / _KIB:.0f} |",
    ]
    goals = []
    for items, item_bytes in ((1 << 30, 1), (1 << 20, 1 << 10)):
        cost = choose_shape(items, item_bytes, gets=AMORTIZED).cost
        get = cost.upload_bytes + cost.download_bytes
        what = f"{items:,} items of {item_bytes:,} byte{'s' if item_bytes > 1 else ''}"
        sizes = " | ".join(f"{size / _KIB:.0f}" for size in (cost.upload_bytes, cost.download_bytes, get))
        lines.append(f"| {what} | {cost.hint_bytes / _MIB:.0f} | {sizes} |")
        for name, size in (("hint", cost.hint_bytes), ("get", get)):
            ratio = size / PAPER[name]
            goals.append(goal(f"{what}: {name} at most the published one", ratio, ratio <= 1))
    queries = found["queries"]
    one, best = (found["library_bytes"] / taken / _GIGA for taken in (queries["1"], min(queries.values())))
    return [
        *lines,
        "",
        *goals,
        "",
        f"The published platform goes over {PAPER['rate'] / _GIGA:.0f} GB a second and core, one query at a time, in C and"
        f" on another machine; here it is {one:.1f} GB one at a time, and {best:.1f} GB a query in batches.",
    ]


def _workers(asked: dict[tuple[int, int], dict[str, Any]]) -> list[str]:
    """Return what a core does for workers: for one alone, who makes the public matrix for itself, and for many."""
    lines = [
        "### Workers: one core",
        "",
        f"One worker alone, and {TOGETHER} that are simulated together: they make the public matrix once.",
        "",
        "| items | bytes of each | hint, MB | a get, KB | hint computed, s | workers | queries/s | answers/s | decodes/s |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (items, item_bytes), found in asked.items():
        sizes = f"{found['hint_bytes'] / _MEGA:.1f} | {found['get_bytes'] / 1e3:,.0f} | {found['hint_s']:.1f}"
        for count in ("1", TOGETHER):
            rates = " | ".join(f"{1 / seconds:,.0f}" for seconds in found[count])
            lines.append(f"| {items:,} | {item_bytes:,} | {sizes} | {count} | {rates} |")
    return lines


def _loop() -> list[str]:
    """Return the Paillier protocol's platform against a loop over powers."""
    lines = [
        "## The Paillier protocol's platform: one core, 2048 bits",
        "",
        "The loop takes each power by itself, with gmpy2, and multiplies; both give the same ciphertexts.",
        "",
        "| items | bytes of each | platform, s | loop, s | ratio | Mbit/s | a get, KB |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    goals = []
    for item_bytes in (255, 1_000, 4_000):
        found = run_json("benchmarks.assign_paillier", "64", str(item_bytes))
        ratio, rate = found["naive_s"] / found["answer_s"], 64 * item_bytes / found["answer_s"]
        lines.append(
            f"| 64 | {item_bytes:,} | {found['answer_s']:.2f} | {found['naive_s']:.2f} | {ratio:.1f} | {8 * rate / _MEGA:.2f} |"
            f" {found['get_bytes'] / 1e3:,.0f} |"
        )
        goals.append(goal(f"items of {item_bytes:,} bytes: at least 3x the loop", ratio, ratio >= 3))
    return [*lines, "", *goals]


def _protocols(asked: dict[str, Any]) -> list[str]:
    """Return both protocols' platforms for one library."""
    items, item_bytes = LIBRARY
    found = run_json("benchmarks.assign_paillier", str(items), str(item_bytes), "--alone")
    paillier = found["answer_s"]
    lines = [
        f"## Both protocols, laid out and asked as a job does: one core, {items:,} items of {item_bytes:,} bytes",
        "",
        "| protocol | queries at once | platform, ms a query | MB of the library a second | x Paillier | a get, KB | hint, KB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    rows = [("paillier", "1", paillier, found["get_bytes"], 0)]
    rows += [
        ("lattice", count, asked[count][1], asked["get_bytes"], asked["hint_bytes"])
        for count in ("1", TOGETHER)
    ]
    lines += [
        f"| {name} | {count} | {1e3 * taken:,.1f} | {items * item_bytes / taken / _MEGA:,.2f} | {paillier / taken:,.0f} |"
        f" {get / 1e3:,.0f} | {hint / 1e3:,.0f} |"
        for name, count, taken, get, hint in rows
    ]
    goals = []
    for name, count in (("one query at a time", "1"), (f"{TOGETHER} queries at once", TOGETHER)):
        ratio = paillier / asked[count][1]
        goals.append(goal(f"lattices against Paillier, {name}: at least 1,000x", ratio, ratio >= 1000))
    return [*lines, "", *goals]


def _jobs(rows: int) -> list[str]:
    few = rows // 10
    lines = [
        f"## The whole job: two processes, {1 << DEPTH:,} leaves",
        "",
        "| workers | protocol | to the result, s | sent, KB | received, KB | peak of a process, GiB | of the driver |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]
    peaks = {}
    for workers, protocol in ((few, "lattice"), (rows, "lattice"), (rows, "download")):
        written(workers)  # here, so that making it counts in no process that is measured
        found = run_json("benchmarks.assign_job", str(workers), protocol)
        if found["received"] != workers or found["undecoded"]:
            raise SystemExit("some workers received nothing")
        sizes = f"{found['bytes_up'] / 1e3:,.0f} | {found['bytes_down'] / 1e3:,.0f}"
        peak, driver = found["worker_peak_bytes"] / _GIB, found["driver_peak_bytes"] / _GIB
        lines.append(
            f"| {workers:,} | {protocol} | {found['estimated']:.1f} | {sizes} | {peak:.2f} | {driver:.2f} |"
        )
        peaks[workers, protocol] = found["worker_peak_bytes"]
    growth = peaks[rows, "lattice"] / peaks[few, "lattice"]
    return [
        *lines,
        "",
        goal(f"peak at {rows:,} workers against {few:,}, at most 1.5x", growth, growth <= 1.5),
    ]
