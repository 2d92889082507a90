"""Plans: made from footers alone, and what they say is what runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cluster.dataset import open_dataset
from cluster.reduce import SerialEngine
from jobs.catalogue import load
from jobs.results import encode
from tests.jobs.election.booths import KINDS, OUTCOMES, Booth
from tests.jobs.house import spoil_rows

pytestmark = pytest.mark.usefixtures("blank_page")

MODELS = ("central", "local", "interactive")
VOTERS = sum(count for _, count in KINDS)


class Counting(SerialEngine):
    """Notes what it was asked to do."""

    def __init__(self) -> None:
        super().__init__()
        self.stages: list[str] = []

    def reduce(self, units: Sequence[Any], chunk: Any, combine: Any, stage: str) -> Any:
        self.stages.append(stage)
        return super().reduce(units, chunk, combine, stage)


def plan(booth: Booth) -> dict[str, Any]:
    """Return the plan of a booth's election, as `canvass plan --json` prints it."""
    job, spec = load(booth.given)
    data = open_dataset(spec.population.path, spec.population.id)
    job.check(spec, data)
    found: dict[str, Any] = json.loads(encode(job.plan(spec, data)))
    return found


def charges(booth: Booth) -> list[str]:
    """Return the status of everything that stands against the voters."""
    return [charge.status for charge in booth.ledger.charges("town")]


def run(booth: Booth) -> tuple[dict[str, Any], list[str]]:
    """Return the result, and the stages in which something was asked or read."""
    engine = Counting()
    document, _ = booth.run(engine)
    return document["result"], [one for one in engine.stages if one not in ("check", "repeated ids")]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rule", OUTCOMES)
def test_a_plan_reads_no_row(tmp_path: Path, rule: str, model: str) -> None:
    booth = Booth(tmp_path, rule, model).set("privacy", epsilon=1)
    before = plan(booth)
    spoil_rows(booth.people)
    assert plan(booth) == before
    assert not booth.out.exists()
    assert not (booth.home / "jobs").exists()
    assert charges(booth) == []


@pytest.mark.parametrize(
    ("rule", "model", "privacy"),
    [
        *((rule, model, {}) for rule in OUTCOMES for model in MODELS),
        ("stv", "local", {"randomizer": "ball"}),
        ("runoff", "local", {"randomizer": "ellipsoid"}),
        ("condorcet", "local", {"randomizer": "ellipsoid"}),
        ("stv", "interactive", {"rounds": "share-budget"}),
        ("stv", "interactive", {"shares": [1, 1, 2]}),
        ("condorcet", "interactive", {"randomizer": "ball", "rounds": "share-budget"}),
    ],
)  # fmt: skip
def test_what_is_planned_is_what_runs(tmp_path: Path, rule: str, model: str, privacy: dict[str, Any]) -> None:
    booth = Booth(tmp_path, rule, model).set("privacy", epsilon=1, **privacy)
    planned = plan(booth)
    result, stages = run(booth)
    assert [one["name"] for one in planned["stages"]] == stages
    assert planned["rows"] == VOTERS
    assert planned["epsilon"] == {"total": 1, "charged": 1}
    rounds = result.get("rounds", [])
    assert [one["question"] for one in planned["predicted"]["rounds"]] == [one["question"] for one in rounds]
    for told, held in zip(planned["predicted"]["rounds"], rounds, strict=True):
        assert told["of"] == len(held["scores"])
        if model == "interactive":
            assert abs(told["voters"] - held["asked"]) <= 6.2 * VOTERS**0.5 / 2
        # The worst case over ballots, where as many are asked as can be expected: so little are these fewer.
        assert max(held["standard_errors"]) <= 1.25 * told["standard_error"]
    if model == "central":
        assert planned["predicted"]["decisive_margin"] == result["decisive_margin"]


@pytest.mark.parametrize("rule", OUTCOMES)
def test_what_a_plan_reads_are_the_columns_of_ids_and_ballots(tmp_path: Path, rule: str) -> None:
    booth = Booth(tmp_path, rule)
    sizes = [pq.read_metadata(file).row_group(0) for file in booth.people.iterdir()]
    stored = {
        name: sum(group.column(place).total_compressed_size for group in sizes)
        for place, name in enumerate(("voter", "ranking"))
    }
    planned = plan(booth)
    assert planned["bytes"]["read_by_column"] == stored
    assert planned["bytes"]["read"] == sum(stored.values())
    assert planned["stages"][0]["reads"] == ["voter", "ranking"]
    assert planned["stages"][0]["tasks"] == 1


@pytest.mark.parametrize(
    ("rule", "randomizer"),
    [("plurality", "sampled"), ("stv", "sampled"), ("stv", "ball"), ("condorcet", "sampled"), ("runoff", "ball"), ("runoff", "sampled"), ("veto", "subset-selection")],
)  # fmt: skip
def test_reports_take_about_the_bytes_that_were_planned(tmp_path: Path, rule: str, randomizer: str) -> None:
    booth = Booth(tmp_path, rule).set("privacy", epsilon=1, randomizer=randomizer).set("population", id=None)
    planned = plan(booth)["bytes"]["written"]
    booth.run()
    groups = [pq.read_metadata(file).row_group(0) for file in (booth.out / "reports").iterdir()]
    written = sum(
        group.column(place).total_compressed_size for group in groups for place in range(group.num_columns)
    )
    assert 0.8 * planned <= written <= 1.2 * planned + 200


def test_nothing_is_written_where_reports_are_not_wished(tmp_path: Path) -> None:
    booth = Booth(tmp_path, "plurality").set("output", reports=False)
    planned = plan(booth)
    assert planned["bytes"]["written"] == 0
    assert planned["stages"][0]["writes"] is None
    booth.run()
    assert not (booth.out / "reports").exists()


def test_reports_that_are_here_are_counted_and_charge_nothing(tmp_path: Path) -> None:
    for randomizer, stages in (
        ("sampled", ["count reports"]),
        ("ball", ["count reports", *(f"question {n}" for n in (1, 2, 3))]),
    ):
        booth = Booth(tmp_path / randomizer).set("privacy", randomizer=randomizer, epsilon=1)
        booth.run()
        later = Booth(tmp_path / f"later {randomizer}").set("privacy", epsilon=1)
        later.given["population"] = {"path": str(booth.out / "reports"), "id": "voter", "name": "reports"}
        later.given["collected"] = {"design": "ballots"}
        planned = plan(later)
        spoiled_before = json.dumps(planned)
        assert planned["epsilon"] == {"total": 1, "charged": 0}
        assert planned["bytes"]["written"] == 0
        assert set(planned["bytes"]["read_by_column"]) == set(planned["stages"][0]["reads"])
        assert [one["name"] for one in planned["stages"]] == stages == run(later)[1]
        assert json.dumps(plan(later)) == spoiled_before


@pytest.mark.parametrize("model", MODELS)
def test_one_candidate_is_planned_without_a_question_or_a_charge(tmp_path: Path, model: str) -> None:
    booth = Booth(tmp_path, "stv", model).set("election", candidates=["Bo"])
    planned = plan(booth)
    assert (planned["stages"], planned["predicted"]["rounds"]) == ([], [])
    assert planned["epsilon"]["charged"] == 0
    assert planned["predicted"]["decisive_margin"]["value"] == 0
    assert run(booth)[1] == []


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rule", OUTCOMES)
def test_no_voters_can_be_planned_for(tmp_path: Path, rule: str, model: str) -> None:
    booth = Booth(tmp_path, rule, model).set("privacy", epsilon=1)
    booth.vote([], files=1)
    planned = plan(booth)
    assert planned["rows"] == 0
    assert all(one["standard_error"] is None for one in planned["predicted"]["rounds"])


def test_a_smaller_epsilon_needs_a_larger_margin_and_tells_of_larger_errors(tmp_path: Path) -> None:
    for rule in OUTCOMES:
        for model in MODELS:
            margins, errors = [], []
            for epsilon in (Decimal(2), Decimal(1), Decimal("0.5")):
                booth = Booth(tmp_path / f"{rule} {model} {epsilon}", rule, model).set(
                    "privacy", epsilon=epsilon
                )
                predicted = plan(booth)["predicted"]
                margins.append(predicted["decisive_margin"]["value"])
                errors.append([one["standard_error"] for one in predicted["rounds"]])
            assert margins == sorted(margins), (rule, model)
            assert all(list(one) == sorted(one) for one in zip(*errors, strict=True)), (rule, model)
