"""Elections in rounds that are cut off anywhere, and the runs after them: no round that was answered is asked again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cluster.backend import Backend
from cluster.dataset import Dataset
from cluster.storage import Store
from tests.jobs.election.booths import NAMES, Booth
from tests.jobs.election.interrupted import (
    FEW,
    FILES,
    Counting,
    Meddling,
    booth_of,
    charges,
    check_resumed,
    cut_off,
    kept,
    undisturbed,
)
from tests.jobs.test_lifecycle_resume import once
from udfs.errors import SchemaError
from udfs.streams import Secret

pytestmark = pytest.mark.usefixtures("small_parts", "blank_page")

IN_ROUNDS: list[tuple[str, dict[str, Any]]] = [
    ("stv", {}),
    ("stv", {"randomizer": "ball"}),
    ("stv", {"rounds": "share-budget"}),
    ("runoff", {}),
    ("condorcet", {}),
]
in_rounds = pytest.mark.parametrize(("rule", "privacy"), IN_ROUNDS)


@in_rounds
@pytest.mark.parametrize("when", ["before", "within", "unheard"])
def test_an_election_that_was_cut_off_goes_on_with_the_round_that_was_not_answered(
    tmp_path: Path, secret: Secret, rule: str, privacy: dict[str, Any], when: str
) -> None:
    _, expected = undisturbed(tmp_path, rule, "interactive", privacy, secret)
    rounds = [f"round {number + 1}" for number in range(len(expected["result"]["rounds"]))]
    for place, stage in enumerate(rounds):
        booth = booth_of(tmp_path / stage, rule, "interactive", privacy)
        asked = cut_off(booth, stage, when, secret)
        assert list(asked) == rounds[: place + (when != "before")]
        assert len(kept(booth)) == place
        assert check_resumed(booth, expected) == dict.fromkeys(rounds[place:], FILES)


@in_rounds
@pytest.mark.parametrize("name", ["result.json", "manifest.json"])
def test_after_the_last_round_nothing_is_asked_again(
    tmp_path: Path,
    secret: Secret,
    monkeypatch: pytest.MonkeyPatch,
    rule: str,
    privacy: dict[str, Any],
    name: str,
) -> None:
    _, expected = undisturbed(tmp_path, rule, "interactive", privacy, secret)
    booth = booth_of(tmp_path / "run", rule, "interactive", privacy)
    once(monkeypatch, Store, "replacing", fails_for=name)
    with pytest.raises(KeyboardInterrupt):
        booth.run(secret=secret)
    assert len(kept(booth)) == len(expected["result"]["rounds"])
    assert check_resumed(booth, expected) == {}


def test_an_election_that_is_cut_off_in_every_round_ends_as_one_that_is_not(
    tmp_path: Path, secret: Secret
) -> None:
    _, expected = undisturbed(tmp_path, "stv", "interactive", {}, secret)
    booth = booth_of(tmp_path / "run", "stv", "interactive", {})
    unheard: list[str] = []
    for stage in ("round 1", "round 2", "round 3"):
        assert list(cut_off(booth, stage, "within", secret)) == [*unheard, stage]
        assert list(cut_off(booth, stage, "unheard", secret)) == [stage]
        unheard = [stage]
    assert check_resumed(booth, expected) == {"round 3": FILES}


def test_what_is_kept_of_a_round_is_its_sum_where_its_owner_alone_reads(
    tmp_path: Path, secret: Secret
) -> None:
    booth = booth_of(tmp_path, "stv", "interactive", {})
    cut_off(booth, "round 2", "before", secret)
    (one,) = kept(booth)
    assert one.parent.stat().st_mode & 0o777 == 0o700
    found = json.loads(one.read_text("utf-8"))
    assert set(found) == {"round", "sums"}
    ((sums,),) = [found["sums"]]
    assert sums["shape"] == [len(NAMES) + 1]  # a count for each candidate, and of those who were asked
    for path in booth.home.rglob("*"):
        if path.is_file() and path.suffix not in (".secret", ".db"):
            assert secret.reveal() not in path.read_bytes()
            assert secret.reveal().hex().encode() not in path.read_bytes()


def test_a_draw_that_starts_anew_asks_every_round_again(
    tmp_path: Path, secret: Secret, monkeypatch: pytest.MonkeyPatch
) -> None:
    booth = booth_of(tmp_path, "stv", "interactive", {})
    cut_off(booth, "round 3", "before", secret)
    monkeypatch.setattr(Backend, "code", lambda self: "other code")
    engine = Counting()
    booth.run(engine)
    assert engine.rounds == {"round 1": FILES, "round 2": FILES, "round 3": FILES}
    assert charges(booth) == ["charged", "charged"]


def test_a_draw_whose_secret_is_lost_asks_every_round_again(tmp_path: Path, secret: Secret) -> None:
    booth = booth_of(tmp_path, "stv", "interactive", {})
    cut_off(booth, "round 3", "before", secret)
    (lost,) = booth.secrets()
    lost.unlink()
    engine = Counting()
    booth.run(engine)
    assert engine.rounds == {"round 1": FILES, "round 2": FILES, "round 3": FILES}
    assert charges(booth) == ["charged", "charged"]


def other_ballots(booth: Booth) -> None:
    """Cast other ballots, as many."""
    booth.vote([(("Di",), sum(count for _, count in FEW))])


def test_other_ballots_are_another_job_whose_rounds_are_its_own(tmp_path: Path, secret: Secret) -> None:
    booth = booth_of(tmp_path, "stv", "interactive", {})
    cut_off(booth, "round 2", "before", secret)
    other_ballots(booth)
    engine = Counting()
    document, stored = booth.run(engine)
    assert not stored
    assert engine.rounds == {"round 1": FILES, "round 2": FILES, "round 3": FILES}
    assert document["result"]["ballots"] == sum(count for _, count in FEW)
    assert charges(booth) == ["charged", "charged"]
    assert not kept(booth)


def test_ballots_that_changed_unseen_are_refused_when_the_job_goes_on(
    tmp_path: Path, secret: Secret, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files may change and keep their size and time: digests of the ballots tell."""
    booth = booth_of(tmp_path, "stv", "interactive", {})
    monkeypatch.setattr(Dataset, "snapshot", property(lambda self: "0" * 64))
    cut_off(booth, "round 2", "before", secret)
    other_ballots(booth)
    engine = Counting()
    with pytest.raises(
        SchemaError, match="must hold the rows that the interrupted run looked through"
    ) as told:
        booth.run(engine)
    assert engine.rounds == {}
    assert not any(name in str(told.value) for name in NAMES)
    assert not kept(booth)
    assert not booth.secrets()
    booth.run()
    assert charges(booth) == ["charged", "charged"]


def test_ballots_that_change_between_rounds_are_refused(tmp_path: Path) -> None:
    booth = booth_of(tmp_path, "stv", "interactive", {})
    engine = Meddling("round 2", lambda: os.utime(booth.people / "1.parquet"))
    with pytest.raises(SchemaError, match=r"1\.parquet: must stay as it was when the job started"):
        booth.run(engine)
    assert charges(booth) == ["charged"]
    assert not booth.out.exists()
    assert not kept(booth)


def test_ballots_that_change_unseen_between_rounds_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    booth = booth_of(tmp_path, "stv", "interactive", {})
    monkeypatch.setattr("cluster.scrutiny.check_unchanged", lambda file: None)
    engine = Meddling("round 2", lambda: other_ballots(booth))
    with pytest.raises(SchemaError, match="must hold the rows that were looked through"):
        booth.run(engine)
    assert not kept(booth)
    assert not booth.secrets()
