"""The real command, but for one thing: where a stage begins it waits until it may go on.

So what dies then dies in that stage, however fast it is. Run as a script: `halting.py STAGE GATE WORDS...`, of which the
words are the command's own. Beside the gate stand `GATE.reached` once the stage is to begin, and, when there is a gate and
a process has been given some of the stage's work, `GATE.begun`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_POLL_S = 0.01


def halt(stage: str, gate: Path) -> None:
    """Let the engine of this process wait at a gate."""
    from cluster.session import DaskEngine

    reduce = DaskEngine.reduce

    def halting(engine: DaskEngine, units: Any, chunk: Any, combine: Any, name: str) -> Any:
        if name == stage and not gate.exists():
            beside(gate, "reached").touch()
            until(gate.exists)
            threading.Thread(target=watch, args=(engine, stage, gate), daemon=True).start()
        return reduce(engine, units, chunk, combine, name)

    DaskEngine.reduce = halting  # type: ignore[method-assign]


def watch(engine: Any, stage: str, gate: Path) -> None:
    """Say when the embedded scheduler has given a task of the stage away."""
    tasks = engine._client.cluster.scheduler.tasks
    until(lambda: any(stage in str(key) and tasks[key].state == "processing" for key in [*tasks]))
    beside(gate, "begun").touch()


def beside(gate: Path, word: str) -> Path:
    """Return where a gate's word stands."""
    return gate.with_name(f"{gate.name}.{word}")


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    while not holds():
        time.sleep(_POLL_S)


if __name__ == "__main__":
    from jobs.__main__ import main

    halt(sys.argv[1], Path(sys.argv[2]))
    sys.argv[1:3] = []
    main()
