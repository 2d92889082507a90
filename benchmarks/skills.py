"""Skills: encryption against phe, additions against bare products, openings, and whole trees."""

from __future__ import annotations

from typing import Any

from benchmarks.measure import goal, run_json
from benchmarks.workforce import BINS, DEPTH, SKILLS, workforce

_GIB = 1 << 30
BITS = 2048


def skills_tables(workers: int, many: int, holders: tuple[int, ...]) -> list[str]:
    """Return all of it: encryption by so many workers, openings, and trees of many and of a tenth of them."""
    sums = {bits: run_json("benchmarks.skills_sums", str(bits), str(workers)) for bits in (BITS, 3072)}
    return [
        *_encryption(sums),
        "",
        *_additions(sums),
        "",
        *_openings(holders),
        "",
        *_trees(many, sums[BITS]),
    ]


def _encryption(sums: dict[int, dict[str, Any]]) -> list[str]:
    lines = [
        "## Encrypted counters: one core",
        "",
        f"The largest level of a tree of depth {DEPTH} with {BINS} bins. Each worker has noise in every counter, packs them and"
        " encrypts. phe encrypts the same key's numbers, one counter a ciphertext as it is meant to be used, and as"
        " many as are packed here.",
        "",
        "| bits | counters | ciphertexts | slots of bits | what | counters/s | x phe |",
        "|---:|---:|---:|---|---|---:|---:|",
    ]
    goals = []
    for bits, found in sums.items():
        rates = found["rates"]
        phe, whole = next(iter(rates.values())), list(rates.values())[-1]
        sizes = f"{found['counters']} | {found['ciphertexts']} | {found['slots']} of {found['width']}"
        lines += [
            f"| {bits} | {sizes} | {name} | {rate:,.0f} | {rate / phe:,.0f} |" for name, rate in rates.items()
        ]
        if bits == BITS:
            text = f"{bits} bits: everything against phe's counter a ciphertext, at least 1,000x"
            goals.append(goal(text, whole / phe, whole >= 1000 * phe))
    lines.append("")
    tables = ", ".join(f"{found['table_seconds']:.2f} s at {bits} bits" for bits, found in sums.items())
    return [*lines, f"A process makes its table of powers once a key: {tables}.", "", *goals]


def _additions(sums: dict[int, dict[str, Any]]) -> list[str]:
    lines = [
        "### Adding ciphertexts: one core",
        "",
        "From a column of fixed-size binary to the product modulo n^2, against the products alone of numbers that gmpy2 holds"
        " already.",
        "",
        "| bits | microseconds a ciphertext | bare products | ratio |",
        "|---:|---:|---:|---:|",
    ]
    goals = []
    for bits, found in sums.items():
        added, bare = found["added"] * 1e6, found["bare"] * 1e6
        lines.append(f"| {bits} | {added:.2f} | {bare:.2f} | {added / bare:.2f} |")
        goals.append(
            goal(f"{bits} bits: additions within 1.3x of bare products", added / bare, added <= 1.3 * bare)
        )
    return [*lines, "", *goals]


def _openings(holders: tuple[int, ...]) -> list[str]:
    found = run_json("benchmarks.skills_holders", str(BITS), *map(str, holders))
    lines = [
        f"### Opening a ciphertext: one core, {BITS} bits",
        "",
        "Milliseconds. Holders work at once, each on its own; verification is once for each who is needed, and so is the"
        " combination for all. The bare power is the holder's `powmod_sec` and nothing else.",
        "",
        "| holders | needed | bare power | part with proof | verification | combination | all verified and combined | keys dealt, s |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for number, one in found.items():
        steps = " | ".join(f"{one[key] * 1e3:,.1f}" for key in ("power", "part", "verify", "combine", "open"))
        lines.append(f"| {number} | {one['threshold']} | {steps} | {one['deal']:.1f} |")
    return lines


def _trees(many: int, sums: dict[str, Any]) -> list[str]:
    few = many // 10
    for rows in (few, many):
        workforce(rows)  # here, so that making it counts in no process that is measured
    found = {rows: run_json("benchmarks.skills_job", str(rows)) for rows in (few, many)}
    lines = [
        f"## The whole tree: two processes, {len(SKILLS)} skills, depth {DEPTH}, {BINS} bins, {BITS} bits",
        "",
        "Three holders of whom two are needed are embedded. Seconds of a level are from its question to the next one, with its opening.",
        "",
        "| workers | level | counters | ciphertexts | s | counters encrypted/s |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for rows, one in found.items():
        for level in one["levels"]:
            rate = rows * level["counters"] / level["seconds"]
            lines.append(
                f"| {rows:,} | {level['level']} | {level['counters']} | {level['ciphertexts']} | {level['seconds']:.1f} | {rate:,.0f} |"
            )
    lines += [
        "",
        "| workers | to the tree, s | with page, publication and cluster, s | peak of a worker, GiB | of the driver |",
        "|---:|---:|---:|---:|---:|",
    ]
    for rows, one in found.items():
        worker, driver = one["worker_peak_bytes"] / _GIB, one["driver_peak_bytes"] / _GIB
        lines.append(
            f"| {rows:,} | {one['estimated']:.1f} | {one['seconds_with_start']:.1f} | {worker:.2f} | {driver:.2f} |"
        )
    keys = ("worker_peak_bytes", "driver_peak_bytes")
    growth = max(found[many][key] / found[few][key] for key in keys)
    largest = max(found[many]["levels"], key=lambda level: level["counters"])
    core = list(sums["rates"].values())[-1]
    gain = many * largest["counters"] / largest["seconds"] / core
    return [
        *lines,
        "",
        goal(f"peak at {many:,} workers against {few:,}, at most 1.5x", growth, growth <= 1.5),
        goal("largest level: two processes against one core's encryption, at least 1.5x", gain, gain >= 1.5),
    ]
