"""Elections that are cut off at a chosen moment, and what the runs after them ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cluster.reduce import SerialEngine
from tests.jobs.election.booths import KINDS, Booth
from tests.jobs.house import Unusable
from udfs.streams import Secret

FILES = 3
FEW = [(ranking, count // 20) for ranking, count in KINDS]


class Counting(SerialEngine):
    """Counts the work units of each stage."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[str, int] = {}

    def reduce(self, units: Sequence[Any], chunk: Any, combine: Any, stage: str) -> Any:
        self.asked[stage] = self.asked.get(stage, 0) + len(units)
        return super().reduce(units, chunk, combine, stage)

    @property
    def rounds(self) -> dict[str, int]:
        """What was asked, without what only looks ballots and ids through."""
        return {stage: units for stage, units in self.asked.items() if stage not in ("check", "repeated ids")}


class CutOff(Counting):
    """Fails before a stage, when one part has answered, or when all have and nobody was told."""

    def __init__(self, stage: str, when: str) -> None:
        super().__init__()
        self._stage, self._when = stage, when

    def reduce(self, units: Sequence[Any], *how: Any) -> Any:
        if how[-1] != self._stage:
            return super().reduce(units, *how)
        if self._when != "before":
            super().reduce(units[:1] if self._when == "within" else units, *how)
        raise KeyboardInterrupt


class Meddling(Counting):
    """Lets something happen before a stage."""

    def __init__(self, stage: str, happens: Callable[[], object]) -> None:
        super().__init__()
        self._stage, self._happens = stage, happens

    def reduce(self, units: Sequence[Any], *how: Any) -> Any:
        if how[-1] == self._stage:
            self._happens()
        return super().reduce(units, *how)


def booth_of(root: Path, rule: str, model: str, privacy: dict[str, Any]) -> Booth:
    booth = Booth(root, rule, model).set("privacy", **({"epsilon": 1} | privacy))
    booth.vote(FEW)
    return booth


def charges(booth: Booth) -> list[str]:
    """Return the status of everything that stands against the voters."""
    return [charge.status for charge in booth.ledger.charges("town")]


def undisturbed(
    root: Path, rule: str, model: str, privacy: dict[str, Any], secret: Secret
) -> tuple[Booth, Any]:
    """Return an election with the same coins that nothing disturbs, and its document."""
    booth = booth_of(root / "undisturbed", rule, model, privacy)
    return booth, booth.run(secret=secret)[0]


def cut_off(booth: Booth, stage: str, when: str, secret: Secret) -> dict[str, int]:
    """Run an election that is cut off; return what was asked."""
    engine = CutOff(stage, when)
    with pytest.raises(KeyboardInterrupt):
        booth.run(engine, secret=secret)
    assert charges(booth) == ["charged"]
    assert len(booth.secrets()) == 1
    assert not (booth.out / "manifest.json").exists()
    return engine.rounds


def kept(booth: Booth) -> list[Path]:
    """Return the files of rounds that are kept."""
    return sorted(booth.home.glob("jobs/*/rounds/*"))


def check_resumed(booth: Booth, expected: Any) -> dict[str, int]:
    """Resume; check that the result and the charge are those of a run that nothing disturbed; return what was asked."""
    engine = Counting()
    document, stored = booth.run(engine)
    assert not stored
    assert document["result"] == expected["result"]
    assert document["privacy"] == expected["privacy"]
    assert charges(booth) == ["charged"]
    assert not booth.secrets()
    assert not kept(booth)
    assert not list(booth.out.glob(".canvass-*"))
    assert booth.run(Unusable()) == (document, True)
    return engine.rounds
