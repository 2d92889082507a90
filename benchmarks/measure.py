"""How times are taken: the best of several, on one core where the benchmark says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"


def best_seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """Return the least wall time of several runs: noise only ever adds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def in_turns(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the least processor seconds of each of several works, which take turns: others' load meets all alike."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            started = time.process_time()
            work()
            times[name].append(time.process_time() - started)
    return {name: min(taken) for name, taken in times.items()}


def pin_to_one_core() -> None:
    """Keep this process on one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def goal(text: str, value: float, held: bool) -> str:
    """Return a line that says whether a goal was held, and the figure."""
    return f"- {'held' if held else 'MISSED'}: {text}: **{value:.2f}**"


def run_json(
    module: str, *arguments: str, python: Path | str = sys.executable, timeout_s: float | None = None
) -> Any:
    """Run a benchmark's module in a process of its own and return what it prints, as JSON."""
    command = [str(python), "-m", module, *arguments]
    if str(python) != sys.executable:
        command = [str(python), str(ROOT / (module.replace(".", "/") + ".py")), *arguments]
    finished = subprocess.run(
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, timeout=timeout_s
    )
    return json.loads(finished.stdout.strip().splitlines()[-1])
