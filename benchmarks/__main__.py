"""All benchmarks, side by side in one run: `make bench`, or `python -m benchmarks --quick`."""

from __future__ import annotations

import argparse
import os
import platform
import re
import time
from importlib.metadata import version
from pathlib import Path

from benchmarks.assign import assign_tables
from benchmarks.data import many_attributes
from benchmarks.elections import election_tables
from benchmarks.graphs import graph_tables
from benchmarks.measure import PEERS_PYTHON, goal, run_json
from benchmarks.skills import skills_tables

RESULTS = Path(__file__).parent / "RESULTS.md"
_MILLION = 1_000_000
_GIB = 1 << 30
ROUNDS = 2
_ELECTIONS = {False: (_MILLION, 50 * _MILLION), True: (10_000, 50_000)}
"""Ballots, and many ballots; in a quick run few."""
_SKILLS = {False: (2_048, 100_000, (5, 20, 100)), True: (256, 2_000, (5, 20))}
"""Workers of one core and of a whole tree, and key-holders; in a quick run few."""
_ASSIGN = {False: (4096, 65_536, 10_000), True: (256, 4_096, 500)}
"""Items of a large library and their bytes, and workers; in a quick run few."""
_GRAPHS = {False: (20_000, (4_096, 8_192, 20_000), 2_000), True: (4_000, (1_024, 2_048), 500)}
"""Nodes of a network, of products, and of a dense network; in a quick run few."""
_TITLES = {
    "surveys": "# Results",
    "elections": "# Elections",
    "skills": "# Skills",
    "assign": "# Assignments",
    "graphs": "# Graphs",
}
_FURTHER = {"skills": ["gmpy2", "phe"], "graphs": ["scipy"]}
"""Packages that a part's figures depend on besides those of all parts."""


def client_table() -> list[str]:
    """Return the client's reports a second, against the peers' and the bare keystream."""
    ours = run_json("benchmarks.client")
    peers = run_json("benchmarks.peers_client", python=PEERS_PYTHON) if PEERS_PYTHON.exists() else {}
    fastest = max(peers.values(), default=float("nan"))
    stream = ours["bare keystream, 8 bytes a report"]
    lines = [
        "## The client: one core, k = 6, epsilon 2",
        "",
        "| what | million reports/s | x the faster peer | bare keystream / this |",
        "|---|---:|---:|---:|",
    ]
    lines += [
        f"| {name} | {rate / _MILLION:,.1f} | {rate / fastest:.1f} | {stream / rate:.1f} |"
        for name, rate in {**ours, **peers}.items()
    ]
    row, by_id = ours["randomized response by row"], ours["randomized response by integer id"]
    return [
        *lines,
        "",
        goal("by row against the faster peer, at least 40x", row / fastest, row / fastest >= 40),
        goal("by id against the faster peer, at least 15x", by_id / fastest, by_id / fastest >= 15),
        goal("by row against the bare keystream, within 4x", stream / row, stream / row <= 4),
    ]


def best_job(rows: int, column: str, ids: str, workers: int = 2, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the fastest of some runs of the job, with the highest peaks of all."""
    arguments = [str(rows), column, "--workers", str(workers), *(["--id", ids] if ids else [])]
    return _best([run_json("benchmarks.survey_job", *arguments) for _ in range(rounds)])


def job_and_reads(rows: int, column: str, ids: str) -> tuple[dict[str, float], float, float]:
    """Return the job's best run and the plain reads' best seconds, taken in turns."""
    jobs, threads, ones = [], [], []
    for _ in range(ROUNDS):
        jobs.append(best_job(rows, column, ids, rounds=1))
        threads.append(run_json("benchmarks.plain_read", str(rows), column, "threads")["seconds"])
        ones.append(run_json("benchmarks.plain_read", str(rows), column, "one")["seconds"])
    return _best(jobs), min(threads), min(ones)


def _best(jobs: list[dict[str, float]]) -> dict[str, float]:
    peaks = ("worker_peak_bytes", "driver_peak_bytes")
    return {key: (max if key in peaks else min)(job[key] for job in jobs) for key in jobs[0]}


def job_tables(sizes: list[int]) -> list[str]:
    """Return the whole job's seconds and peaks, against one process that reads and counts the column."""
    lines = [
        "## The whole job: two processes, k = 6, epsilon 2, reports written",
        "",
        "Seconds beyond cluster start, from the first task to the committed manifest, files in the page cache. The"
        " plain read is `pyarrow.parquet.read_table` of the one column and `value_counts`, in one process: with"
        " pyarrow's threads on both cores, and on one. The best of two runs each, taken in turns.",
        "",
        "| million rows | column | ids | job, s | plain read (threads), s | ratio | plain read (one thread), s | ratio |",
        "|---:|---|---|---:|---:|---:|---:|---:|",
    ]
    jobs: dict[tuple[int, str, str], dict[str, float]] = {}
    goals = []
    for rows in sizes:
        for column, ids in (
            ("code", ""),
            ("level", ""),
            ("code", "number"),
            ("level", "number"),
            ("code", "shuffled"),
        ):
            found, threads, one = job_and_reads(rows, column, ids)
            jobs[rows, column, ids] = found
            seconds = found["seconds"]
            label = {
                "": "none",
                "number": "integers in order, checked",
                "shuffled": "integers shuffled, checked",
            }[ids]
            kind = {"code": "int8", "level": "text"}[column]
            lines.append(
                f"| {rows // _MILLION} | {kind} | {label} | {seconds:.2f} | {threads:.2f} | {seconds / threads:.2f}"
                f" | {one:.2f} | {seconds / one:.2f} |"
            )
            allowed = 3.0 if ids else 1.0
            goals.append(
                goal(
                    f"{rows // _MILLION} million rows, {kind}, ids {label}: at most {allowed:g}x the plain read",
                    seconds / threads,
                    seconds / threads <= allowed,
                )
            )
    return [*lines, "", *goals, "", *_scaling(sizes, jobs), "", *_memory(sizes, jobs)]


def _scaling(sizes: list[int], jobs: dict[tuple[int, str, str], dict[str, float]]) -> list[str]:
    """Return how the job's time goes with processes and with rows."""
    lines = ["### One process and two, and from few rows to many", ""]
    for column, ids in (("code", ""), ("code", "number")):
        rows = sizes[-1]
        alone = best_job(rows, column, ids, workers=1)
        gain = alone["seconds"] / jobs[rows, column, ids]["seconds"]
        what = "by id" if ids else "by row"
        lines.append(
            goal(
                f"{what}, {rows // _MILLION} million rows: two processes against one, at least 1.5x",
                gain,
                gain >= 1.5,
            )
        )
        first, last = (
            jobs[sizes[0], column, ids]["seconds"] / sizes[0],
            jobs[rows, column, ids]["seconds"] / rows,
        )
        lines.append(
            goal(
                f"{what}: seconds a row at {rows // _MILLION} million against {sizes[0] // _MILLION} million, at most 1.1x",
                last / first,
                last / first <= 1.1,
            )
        )
    return lines


def _memory(sizes: list[int], jobs: dict[tuple[int, str, str], dict[str, float]]) -> list[str]:
    """Return the peak of every process, which the block bounds and not the data."""
    lines = [
        "### Peak memory of a process, GiB",
        "",
        "| million rows | ids | worker | driver |",
        "|---:|---|---:|---:|",
    ]
    for rows in sizes:
        for ids in ("", "number", "shuffled"):
            found = jobs[rows, "code", ids]
            worker, driver = found["worker_peak_bytes"] / _GIB, found["driver_peak_bytes"] / _GIB
            lines.append(f"| {rows // _MILLION} | {ids or 'none'} | {worker:.2f} | {driver:.2f} |")
    goals = []
    for ids in ("", "number", "shuffled"):
        few, many = jobs[sizes[0], "code", ids], jobs[sizes[-1], "code", ids]
        growth = max(many[key] / few[key] for key in ("worker_peak_bytes", "driver_peak_bytes"))
        text = f"ids {ids or 'none'}: peak at {sizes[-1] // _MILLION} million against {sizes[0] // _MILLION} million, at most 1.1x"
        goals.append(goal(text, growth, growth <= 1.1))
    return [*lines, "", *goals]


def many_tables(rows: int, fits: int) -> list[str]:
    """Return many attributes: the whole job against the peer, and a reconstruction against the dense one."""
    path = many_attributes(rows, 10)
    jobs = {
        scheme: _best([run_json("benchmarks.many_job", str(rows), scheme) for _ in range(ROUNDS)])
        for scheme in ("split", "sample")
    }
    peers = (
        run_json("benchmarks.peers_many", f"{path}.npy", python=PEERS_PYTHON) if PEERS_PYTHON.exists() else {}
    )
    lines = [
        f"## Many attributes: {rows:,} respondents, 10 attributes of 6 categories, epsilon 2 in all",
        "",
        "From a file to estimates. The job looks every row through first, then draws, writes the reports and"
        " estimates; after that it publishes them with a page. It has two processes, and here one task. The peer"
        " runs its client for every respondent and its server, in one process, from an array.",
        "",
        "| what | to the estimates, s | to the published output and page, s | with cluster start, s |",
        "|---|---:|---:|---:|",
    ]
    lines += [
        f"| the job, {scheme} | {job['estimated']:.2f} | {job['seconds']:.2f} | {job['seconds_with_start']:.2f} |"
        for scheme, job in jobs.items()
    ]
    lines += [f"| multi-freq-ldpy {name} (GRR) | {seconds:.1f} | | |" for name, seconds in peers.items()]
    lines.append("")
    for name, scheme in (("SPL", "split"), ("SMP", "sample"), ("RS+FD", "sample")):
        for what, key in (("estimates", "estimated"), ("published output", "seconds")):
            ratio = peers.get(name, float("nan")) / jobs[scheme][key]
            lines.append(goal(f"{scheme} to the {what} against {name}, at least 10x", ratio, ratio >= 10))
    found = run_json("benchmarks.kronecker", str(fits))
    ratio = found["dense"] / found["ours"]
    lines += [
        "",
        "## A table of 12 attributes of 4 levels, with the standard errors of all one-way and two-way margins",
        "",
        "The dense way forms the Kronecker product of the inverses and the dispersion matrix. Both ways give the"
        " same numbers.",
        "",
        "| attributes | cells | axis by axis, s | dense, s |",
        "|---:|---:|---:|---:|",
        f"| {fits} | {4**fits:,} | {found['ours']:.4f} | {found['dense']:.2f} |",
        f"| 12 | {4**12:,} | {found['ours_12']:.2f} | its matrix would take {16**12 * 8 / (1 << 50):,.0f} PiB |",
        "",
        goal(f"{fits} attributes, at least 100x the dense product", ratio, ratio >= 100),
    ]
    return lines


def survey_tables(quick: bool) -> list[str]:
    """Return all of surveys."""
    sizes = [2 * _MILLION, 4 * _MILLION] if quick else [10 * _MILLION, 20 * _MILLION, 100 * _MILLION]
    return [
        *client_table(),
        "",
        *job_tables(sizes),
        "",
        *many_tables(100_000 if quick else _MILLION, 5 if quick else 6),
    ]


def main() -> None:
    """Run everything, or one part, and write RESULTS.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rows, and print instead of writing")
    parser.add_argument("--only", choices=_TITLES, help="this part alone; the others stay as they were")
    arguments = parser.parse_args()
    quick = arguments.quick
    tables = {
        "surveys": lambda: survey_tables(quick),
        "elections": lambda: election_tables(*_ELECTIONS[quick]),
        "skills": lambda: skills_tables(*_SKILLS[quick]),
        "assign": lambda: assign_tables(*_ASSIGN[quick]),
        "graphs": lambda: graph_tables(*_GRAPHS[quick]),
    }
    measured = {
        part: "\n".join([_heading(part), "", *tables[part]()])
        for part in ([arguments.only] if arguments.only else _TITLES)
    }
    print("\n\n".join(measured.values()))
    if not quick:
        parts = _measured_before() | measured
        text = "\n\n".join(parts[part] for part in _TITLES if part in parts)
        RESULTS.write_text(f"{text}\n", encoding="utf-8")


def _measured_before() -> dict[str, str]:
    """Return the parts that RESULTS.md holds."""
    found = re.split("^(?=# )", RESULTS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    titles = {title: part for part, title in _TITLES.items()}
    return {titles[one.partition("\n")[0]]: one.rstrip() for one in found if one}


def _heading(part: str) -> str:
    """Return the heading of one run, with what it was made by."""
    packages = ["dask", "pyarrow", "numpy", "cryptography", *_FURTHER.get(part, [])]
    releases = ", ".join(f"{name} {version(name)}" for name in packages)
    command = "make bench" if part == "surveys" else f"python -m benchmarks --only {part}"
    return (
        f"{_TITLES[part]}\n\n`{command}`, {time.strftime('%Y-%m-%d')}: Python {platform.python_version()}, {releases};"
        f" {os.cpu_count()} cores. Every ratio is of two figures of this one run."
    )


if __name__ == "__main__":
    main()
