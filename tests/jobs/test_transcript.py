"""What a conversation in rounds remembers: rounds that draw, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.cache import Cache
from jobs.state import JobState
from jobs.transcript import Transcript
from udfs.tables import SparseCounts


@dataclass(frozen=True)
class Asked:
    """A question, or a mechanism, of which a transcript sees the label."""

    label: str
    draws: bool = True


@dataclass(frozen=True)
class Summed:
    """A tally that prints as what it sums."""

    what: str


@dataclass
class Answering:
    """A population that notes what it is asked."""

    sums: list[Any] = field(default_factory=lambda: [np.array([1, 2]), np.array([[3]])])
    heard: list[tuple[str, str]] = field(default_factory=list)
    rows: int = 7
    digests: dict[str, Any] = field(default_factory=lambda: {"q": {"0/0": "d"}})
    files: dict[str, Any] = field(default_factory=lambda: {"part": "file"})
    metadata: tuple[Any, ...] = ({"version": 1},)
    public_seed: bytes = bytes(32)

    def ask(self, asks: Sequence[Any], round_name: str, tallies: Sequence[Any] = ()) -> list[Any]:
        self.heard.append(("ask", round_name))
        return self.sums

    def collect(
        self, asks: Sequence[Any], round_name: str, tallies: Sequence[Any] = (), private: bool = False
    ) -> list[Any]:
        self.heard.append(("collect in private" if private else "collect", round_name))
        return self.sums

    def collected(self) -> str:
        return "reports"

    def check(self, questions: Sequence[Any]) -> dict[str, dict[str, str]]:
        self.heard.append(("check", ""))
        return self.digests

    def driver_key(self, *labels: str) -> bytes:
        return "/".join(labels).encode()

    def levels(self, column: str) -> tuple[str, ...]:
        return (column,)

    def reduce(self, units: Sequence[Any], chunk: Any, combine: Any, stage: str) -> Any:
        return combine(map(chunk, units))


BALLOT = Asked("ballot")
ASKS: list[Any] = [(BALLOT, Asked("one")), (BALLOT, Asked("two"))]
ONLY_READ: list[Any] = [(BALLOT, Asked("one")), (BALLOT, Asked("two", draws=False))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "rounds"


def transcript_of(population: Any, folder: Path) -> Transcript:
    return Transcript(population, folder, Cache(folder.parent / "cache"))


def cut_off(*_: Any) -> None:
    raise KeyboardInterrupt


def same(one: list[Any], other: list[Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_round_that_is_kept_is_not_asked_again(folder: Path) -> None:
    first, second = Answering(), Answering(sums=[])
    told = transcript_of(first, folder).ask(ASKS, "round 1")
    again = transcript_of(second, folder).ask(ASKS, "round 1")
    assert (first.heard, second.heard) == ([("ask", "round 1")], [])
    assert same(told, first.sums)
    assert same(again, first.sums)
    assert [one.dtype for one in again] == [np.int64, np.int64]


def test_it_is_kept_within_a_run_too(folder: Path) -> None:
    population = Answering()
    transcript = transcript_of(population, folder)
    for _ in range(3):
        transcript.ask(ASKS, "round 1")
    assert population.heard == [("ask", "round 1")]


@pytest.mark.parametrize(
    ("asks", "round_name", "tallies"),
    [
        (ASKS, "round 2", ()),
        (ASKS[:1], "round 1", ()),
        (ASKS[::-1], "round 1", ()),
        ([(Asked("other ballot"), Asked("one")), ASKS[1]], "round 1", ()),
        ([(BALLOT, Asked("one, epsilon 2")), ASKS[1]], "round 1", ()),
        (ASKS, "round 1", (Summed("pairs"),)),
    ],
)
def test_any_other_round_is_asked(
    folder: Path, asks: list[Any], round_name: str, tallies: tuple[Any, ...]
) -> None:
    population = Answering()
    transcript = transcript_of(population, folder)
    transcript.ask(ASKS, "round 1")
    transcript.ask(asks, round_name, tallies)
    assert population.heard == [("ask", "round 1"), ("ask", round_name)]
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("asks", [ONLY_READ, ONLY_READ[1:]])
def test_a_round_that_only_reads_is_not_kept(folder: Path, asks: list[Any]) -> None:
    """What is read there may be raw data, as the tally of the central model is."""
    population = Answering(sums=[object()])
    transcript = transcript_of(population, folder)
    for _ in range(2):
        assert transcript.ask(asks, "count ballots") is population.sums
    assert population.heard == 2 * [("ask", "count ballots")]
    assert not folder.exists()


def test_reports_that_are_written_are_kept_where_they_are_staged(folder: Path) -> None:
    population = Answering()
    transcript = transcript_of(population, folder)
    for _ in range(2):
        transcript.collect(ASKS, "randomize")
        transcript.collect(ASKS, "assign", private=True)
    assert population.heard == 2 * [("collect", "randomize"), ("collect in private", "assign")]
    assert not folder.exists()


def test_a_round_that_fails_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    population = Answering()
    with monkeypatch.context() as patch:
        patch.setattr(population, "ask", cut_off)
        with pytest.raises(KeyboardInterrupt):
            transcript_of(population, folder).ask(ASKS, "round 1")
    assert not folder.exists()
    transcript_of(population, folder).ask(ASKS, "round 1")
    assert population.heard == [("ask", "round 1")]


def test_a_round_that_was_half_written_is_not_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", cut_off)
        with pytest.raises(KeyboardInterrupt):
            transcript_of(Answering(), folder).ask(ASKS, "round 1")
    population = Answering()
    transcript_of(population, folder).ask(ASKS, "round 1")
    assert population.heard == [("ask", "round 1")]


def test_what_is_kept_is_for_its_owner_and_holds_names_of_rounds_and_sums_alone(folder: Path) -> None:
    transcript_of(Answering(), folder).ask(ASKS, "round 1")
    assert folder.stat().st_mode & 0o777 == 0o700
    (kept,) = folder.iterdir()
    found = json.loads(kept.read_text())
    assert set(found) == {"round", "sums"}
    assert found["round"] == "round 1"
    assert all(set(one) == {"shape", "int64"} for one in found["sums"])
    assert "one" not in kept.name


def test_sparse_tables_are_kept_too(folder: Path) -> None:
    table = SparseCounts.of(np.array([3, 3, 9]), 10)
    asks = ASKS[:1]
    transcript_of(Answering(sums=[np.array([3]), table]), folder).ask(asks, "round 1", (Summed("pairs"),))
    (_, found) = transcript_of(Answering(), folder).ask(asks, "round 1", (Summed("pairs"),))
    assert found.dense().tolist() == table.dense().tolist()


def test_all_else_is_the_populations_own(folder: Path) -> None:
    population = Answering()
    transcript = transcript_of(population, folder)
    for name in ("rows", "digests", "files", "metadata", "public_seed"):
        assert getattr(transcript, name) is getattr(population, name)
    assert transcript.driver_key("a", "b") == b"a/b"
    assert transcript.check([]) == population.digests
    assert transcript.collected() == "reports"
    assert transcript.levels("sex") == ("sex",)
    assert transcript.reduce([1, 2], lambda one: one, sum, "add up") == 3


@pytest.fixture
def state(tmp_path: Path) -> JobState:
    return JobState(tmp_path, "job")


def keep_a_round(state: JobState) -> None:
    transcript_of(Answering(), state.rounds).ask(ASKS, "round 1")
    assert len(list(state.rounds.iterdir())) == 1


def test_a_new_draw_forgets_the_rounds_of_the_one_before(state: JobState) -> None:
    with state.locked():
        state.begin("out", "spec", "secret", "code")
        keep_a_round(state)
        state.begin("out", "spec", "secret", "code")
        assert not state.rounds.exists()


def test_a_result_that_is_in_place_needs_no_rounds(state: JobState) -> None:
    with state.locked():
        record = state.begin("out", "spec", "secret", "code")
        keep_a_round(state)
        state.commit(record, "digest")
        assert not state.rounds.exists()
        assert state.record() == replace(record, manifest="digest")


def test_a_job_that_goes_on_has_its_rounds(state: JobState) -> None:
    with state.locked():
        record = state.begin("out", "spec", "secret", "code")
        keep_a_round(state)
    later = JobState(state.folder.parent.parent, "job")
    with later.locked():
        assert later.record() == record
        population = Answering()
        transcript_of(population, later.rounds).ask(ASKS, "round 1")
    assert population.heard == []


def test_a_job_that_is_forgotten_has_no_rounds(state: JobState) -> None:
    with state.locked():
        state.begin("out", "spec", "secret", "code")
        keep_a_round(state)
        state.forget()
        assert not state.rounds.exists()


def test_what_is_made_once_is_not_made_again_by_a_run_that_goes_on(folder: Path) -> None:
    made = {"counts": [3, 2, 1], "seconds": 0.5}
    assert transcript_of(Answering(), folder).once("batch 1", lambda: made) == made
    assert transcript_of(Answering(), folder).once("batch 1", cut_off) == made
    assert transcript_of(Answering(), folder).once("batch 2", lambda: None) is None
    assert transcript_of(Answering(), folder).once("batch 2", cut_off) is None
    assert {path.stat().st_mode & 0o077 for path in (folder, *folder.iterdir())} <= {0, 0o044}


def test_what_could_not_be_made_is_made_by_the_next_run(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        transcript_of(Answering(), folder).once("batch 1", cut_off)
    assert not folder.exists()
    assert transcript_of(Answering(), folder).once("batch 1", lambda: 4) == 4


def test_an_array_is_made_once_for_all_jobs(folder: Path, tmp_path: Path) -> None:
    assert transcript_of(Answering(), folder).cached("hint", lambda: np.array([1, 2])).tolist() == [1, 2]
    other = transcript_of(Answering(), tmp_path / "rounds of another job")
    assert other.cached("hint", lambda: np.array([3])).tolist() == [1, 2]
