"""Elections: tallies against peers, private ones against the tally, memory, and margins."""

from __future__ import annotations

import subprocess

from benchmarks.electorate import electorate
from benchmarks.measure import PEERS_PYTHON, goal, run_json

_GIB = 1 << 30
_MILLION = 1_000_000
_PATIENCE_S = 120
RULES = ("plurality", "condorcet", "maximin", "stv")


def election_tables(rows: int, many: int, rounds: int = 2) -> list[str]:
    """Return all of it, for so many ballots of ten candidates, and for many."""
    tallies = [run_json("benchmarks.election_tally", str(rows), *RULES) for _ in range(rounds)]
    ours = {rule: min(one[rule]["seconds"] for one in tallies) for rule in RULES}
    return [
        *_peers(rows, ours),
        "",
        *_private(rows, ours, rounds),
        "",
        *_many(rows, many),
        "",
        *_margins(),
    ]


def _peers(rows: int, ours: dict[str, float]) -> list[str]:
    lines = [
        f"## Elections without privacy: {rows:,} complete ballots of 10 candidates",
        "",
        "From Parquet (a list column of names) to the winner, in one process: seconds. Peers read with pandas and"
        f" count equal rankings before they make their profile. Longer than {_PATIENCE_S} s was not waited for.",
        "",
        "| rule | here | pref_voting | VoteKit |",
        "|---|---:|---:|---:|",
    ]
    goals = []
    for rule in RULES:
        peers = {peer: _peer(rows, peer, rule) for peer in ("pref_voting", "VoteKit")}
        shown = " | ".join("-" if one is None else f"{one:,.0f}" for one in peers.values())
        lines.append(f"| {rule} | {ours[rule]:.2f} | {shown} |")
        fastest = min((one for one in peers.values() if one is not None), default=float("nan"))
        ratio = fastest / ours[rule]
        goals.append(goal(f"{rule} against the faster peer, at least 10x", ratio, ratio >= 10))
    return [*lines, "", *goals]


def _peer(rows: int, peer: str, rule: str) -> float | None:
    """Return a peer's seconds; None where it has no such rule, is not there, or takes too long."""
    if not PEERS_PYTHON.exists() or (peer, rule) == ("VoteKit", "maximin"):
        return None
    try:
        found = run_json(
            "benchmarks.peers_votes",
            str(electorate(rows)),
            peer,
            rule,
            python=PEERS_PYTHON,
            timeout_s=_PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        return None
    return float(found["seconds"])


def _private(rows: int, ours: dict[str, float], rounds: int) -> list[str]:
    lines = [
        f"## Private elections: {rows:,} ballots of 10 candidates, epsilon 1, two processes",
        "",
        "From the first task to the winner: every ballot looked through, then asked; in one round also its report"
        " written. Against the tally without privacy, which reads once, in one process.",
        "",
        "| rule | model | randomizer | to the winner, s | with page, publication and cluster, s | x the tally |",
        "|---|---|---|---:|---:|---:|",
    ]
    goals = []
    for rule, model, randomizer in (
        ("plurality", "local", "auto"),
        ("condorcet", "local", "sampled"),
        ("condorcet", "local", "ball"),
        ("condorcet", "local", "ellipsoid"),
        ("condorcet", "interactive", "auto"),
        ("stv", "local", "auto"),
        ("stv", "interactive", "auto"),
        ("stv", "central", "auto"),
    ):
        jobs = [
            run_json("benchmarks.election_job", str(rows), rule, model, randomizer) for _ in range(rounds)
        ]
        seconds = min(one["estimated"] for one in jobs)
        whole = min(one["seconds_with_start"] for one in jobs)
        ratio = seconds / ours[rule]
        lines.append(f"| {rule} | {model} | {randomizer} | {seconds:.2f} | {whole:.2f} | {ratio:.1f} |")
        if model == "local" and rule in ("stv", "condorcet") and randomizer != "ellipsoid":
            text = f"{rule} in one round ({randomizer}) within 10x the tally"
            goals.append(goal(text, ratio, ratio <= 10))
    return [*lines, "", *goals]


def _many(few: int, many: int) -> list[str]:
    lines = [
        f"### Peak memory of a process, GiB: {few:,} and {many:,} ballots",
        "",
        "| rule | model | ballots | worker | driver | to the winner, s |",
        "|---|---|---:|---:|---:|---:|",
    ]
    goals = []
    electorate(many)  # here, so that making it counts in no process that is measured
    for rule, model in (("plurality", "local"), ("stv", "interactive")):
        found = {
            rows: run_json("benchmarks.election_job", str(rows), rule, model, "auto") for rows in (few, many)
        }
        for rows, job in found.items():
            worker, driver = job["worker_peak_bytes"] / _GIB, job["driver_peak_bytes"] / _GIB
            lines.append(
                f"| {rule} | {model} | {rows:,} | {worker:.2f} | {driver:.2f} | {job['estimated']:.1f} |"
            )
        keys = ("worker_peak_bytes", "driver_peak_bytes")
        growth = max(found[many][key] / found[few][key] for key in keys)
        text = f"{rule}, {model}: peak at {many:,} ballots against {few:,}, at most 1.5x"
        goals.append(goal(text, growth, growth <= 1.5))
    return [*lines, "", *goals]


def _margins() -> list[str]:
    found = run_json("benchmarks.election_margins")
    if not found:
        return []
    total = sum(found.values())
    lines = [
        "### Exact margins of published elections, five rules each",
        "",
        "| election | s |",
        "|---|---:|",
    ]
    lines += [f"| {name} | {seconds:.2f} |" for name, seconds in found.items()]
    return [*lines, "", goal("all of them in under 60 s", total, total < 60)]
