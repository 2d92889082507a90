"""Assignments: retrieval by lattices against bare products, against Paillier encryption, and by whole jobs."""

from __future__ import annotations

from benchmarks.assign_job import DEPTH, written
from benchmarks.measure import goal, run_json
from udfs.lattice_shape import choose_shape

_MEGA, _GIGA, _GIB = 1e6, 1e9, 1 << 30
PAPER = {"hint": 121e6, "get": 242e3, "rate": 10e9}
"""SimplePIR's published figures for a library of 1 GB: the hint, a query with its answer, bytes a second and core."""
AMORTIZED = 500
"""Over so many gets the shape for 1 GB is chosen: the published one balances a query with its answer."""
LIBRARY = (1024, 5_000)
"""Items and their bytes, of the library that workers and both protocols are measured with."""


def assign_tables(items: int, item_bytes: int, rows: int) -> list[str]:
    """Return all of it: a large library's server, both protocols on a smaller one, and jobs of so many workers."""
    server = run_json("benchmarks.assign_lattice", "server", str(items), str(item_bytes))
    return [*_server(server), "", *_published(server), "", *_workers(), "", *_protocols(), "", *_jobs(rows)]


def _server(found: dict[str, object]) -> list[str]:
    size, product = float(found["library_bytes"]), float(found["product"])
    queries = {int(count): seconds for count, seconds in dict(found["queries"]).items()}
    entries = int(found["rows"]) * int(found["columns"])
    lines = [
        f"## The lattice protocol's platform: one core, a library of {size / _MEGA:,.0f} MB",
        "",
        f"The library is a matrix of {int(found['rows']):,} x {int(found['columns']):,} small numbers. The bare product is"
        " numpy's of the same matrix in uint32 with one vector; reading is the sum of that matrix, once.",
        "",
        "| what | ms a query | GB of the library a second | x the bare product |",
        "|---|---:|---:|---:|",
    ]
    rows = {"bare uint32 product": product, f"reading {4 * entries / _GIGA:.2f} GB": float(found["read"])}
    rows |= {
        f"{count} quer{'ies' if count > 1 else 'y'} at once": seconds for count, seconds in queries.items()
    }
    lines += [
        f"| {name} | {1e3 * seconds:,.1f} | {size / seconds / _GIGA:.2f} | {product / seconds:.2f} |"
        for name, seconds in rows.items()
    ]
    one, best = queries[1] / product, product / min(queries.values())
    return [
        *lines,
        "",
        goal("one query at a time: within 2x of the bare product", one, one <= 2),
        goal("in batches: at least 5x beyond the bare product, a query", best, best >= 5),
    ]


def _published(found: dict[str, object]) -> list[str]:
    lines = [
        "### 1 GB, beside what is published of SimplePIR",
        "",
        f"Here the shape is the one with the fewest bytes over {AMORTIZED} gets of a worker.",
        "",
        "| library | hint, MB | query and answer, KB |",
        "|---|---:|---:|",
        f"| published | {PAPER['hint'] / _MEGA:.0f} | {PAPER['get'] / 1e3:.0f} |",
    ]
    for items, item_bytes in ((1 << 30, 1), (1 << 20, 1 << 10)):
        cost = choose_shape(items, item_bytes, gets=AMORTIZED).cost
        get = (cost.upload_bytes + cost.download_bytes) / 1e3
        lines.append(
            f"| {items:,} items of {item_bytes:,} bytes | {cost.hint_bytes / _MEGA:.0f} | {get:.0f} |"
        )
    rate = float(found["library_bytes"]) / min(dict(found["queries"]).values())
    return [
        *lines,
        "",
        f"The published platform goes over {PAPER['rate'] / _GIGA:.0f} GB a second and core, one query at a time; here it is"
        f" {rate / _GIGA:.1f} GB a second and query in batches.",
    ]


def _workers() -> list[str]:
    lines = [
        "### Workers: one core",
        "",
        "| items | bytes of each | hint, MB | a get, KB | hint computed, s | query, ms | platform, ms | decoding, ms |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for items, item_bytes in (LIBRARY, (4096, 20_000)):
        found = run_json("benchmarks.assign_lattice", "workers", str(items), str(item_bytes))
        times = " | ".join(f"{1e3 * found[key]:.1f}" for key in ("query_s", "answer_s", "decode_s"))
        sizes = f"{found['hint_bytes'] / _MEGA:.1f} | {found['get_bytes'] / 1e3:,.0f} | {found['hint_s']:.1f}"
        lines.append(f"| {items:,} | {item_bytes:,} | {sizes} | {times} |")
    return lines


def _protocols() -> list[str]:
    lines = [
        "## The Paillier protocol: one core, 2048 bits",
        "",
        "The loop takes each power by itself, with gmpy2, and multiplies; both give the same ciphertexts.",
        "",
        "| items | bytes of each | platform, s | loop, s | ratio | Mbit/s | a get, KB |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    goals, rate = [], 0.0
    for item_bytes in (255, 1_000, 4_000, 16_000):
        found = run_json("benchmarks.assign_paillier", "64", str(item_bytes))
        ratio, rate = found["naive_s"] / found["answer_s"], 64 * item_bytes / found["answer_s"]
        lines.append(
            f"| 64 | {item_bytes:,} | {found['answer_s']:.2f} | {found['naive_s']:.2f} | {ratio:.1f} | {8 * rate / _MEGA:.2f} |"
            f" {found['get_bytes'] / 1e3:,.0f} |"
        )
        goals.append(goal(f"items of {item_bytes:,} bytes: at least 3x the loop", ratio, ratio >= 3))
    items, item_bytes = LIBRARY
    found = run_json("benchmarks.assign_lattice", "workers", str(items), str(item_bytes))
    fastest = items * item_bytes / found["answer_s"]
    return [
        *lines,
        "",
        *goals,
        goal(
            "lattices, laid out and asked as a job does, against Paillier: bytes of the library a second, at least 1,000x",
            fastest / rate,
            fastest >= 1000 * rate,
        ),
    ]


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
