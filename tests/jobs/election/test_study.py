"""The study of decisive margins: what it asks, what it finds, and what it refuses."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cluster.dataset import open_dataset
from cluster.reduce import SerialEngine
from jobs.catalogue import load
from jobs.election import study as studying
from jobs.election.bounds import central_lower_bound, local_lower_rate, paper_bound
from jobs.election.decisive import decisive_margin
from jobs.election.ladder import crossing
from jobs.election.rules import RULES
from jobs.election.study import election_at, points
from jobs.election.study_claims import CLAIMS, Case, Claim
from tests.jobs.election.booths import Booth
from tests.jobs.election.studies import STUDY, study_booth
from udfs.errors import SchemaError, SpecError


class Recorder(SerialEngine):
    """An engine that notes the units of each stage."""

    def __init__(self) -> None:
        super().__init__()
        self.units: dict[str, list[Any]] = {}

    def reduce(self, units: Sequence[Any], chunk: Any, combine: Any, stage: str) -> Any:
        self.units[stage] = list(units)
        return super().reduce(units, chunk, combine, stage)


class Studied:
    """A study that was run."""

    def __init__(self, root: Path) -> None:
        self.booth, self.engine = study_booth(root), Recorder()
        self.document, _ = self.booth.run(self.engine)
        self.study: dict[str, Any] = self.document["result"]["study"]


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Studied:
    return Studied(tmp_path_factory.mktemp("studied"))


def test_a_study_is_written_by_itself_charges_nothing_and_protects_nothing(studied: Studied) -> None:
    out = studied.booth.out
    names = ["manifest.json", "report.html", "result.json", "study.json"]
    assert sorted(one.name for one in out.iterdir()) == names
    assert json.loads((out / "study.json").read_text()) == studied.study
    assert studied.document["privacy"]["model"] == "none"
    assert studied.document["privacy"]["basis"] == "a study on public data: nothing is protected"
    assert studied.document["privacy"]["spent_after"] == 0
    assert studied.booth.ledger.balances() == []


def test_each_size_is_varied_by_itself_in_every_model_that_differs(studied: Studied) -> None:
    sizes = {(100, 2, 1.0), (200, 2, 1.0), (100, 3, 1.0), (100, 2, 4.0)}
    found: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for one in studied.study["points"]:
        key = one["rule"], one["model"]
        found.setdefault(key, []).append((one["ballots"], one["candidates"], one["epsilon"]))
    assert {key: set(one) for key, one in found.items()} == {
        ("plurality", "central"): sizes,
        ("plurality", "local"): sizes,  # it asks but once, and so in rounds too
        ("runoff", "central"): sizes,
        ("runoff", "local"): sizes,
        ("runoff", "interactive"): {(100, 3, 1.0)},  # of two candidates a runoff asks but once
    }
    assert all(len(one) == len(set(one)) for one in found.values())
    assert studied.study["base"] == {"ballots": 100, "candidates": 2, "epsilon": 1.0}


def test_beside_what_was_measured_stands_what_is_proved(studied: Studied) -> None:
    spec: Any = studied.booth.spec()
    for one in studied.study["points"]:
        made = one["rule"], one["candidates"]
        at = election_at(spec, one["model"], Decimal(str(one["epsilon"])), made)
        decisive = decisive_margin(at, one["ballots"])
        rule, epsilon = RULES[one["rule"]](one["candidates"]), Decimal(str(one["epsilon"]))
        assert one["bound"] == pytest.approx(decisive["value"])
        assert one["paper"] == pytest.approx(paper_bound(rule, one["model"], one["ballots"], epsilon, 0.05))
        if one["model"] == "central":
            assert one["lower"] == central_lower_bound(rule, epsilon, 0.05)
            assert one["lower_is"] == "a bound"
        else:
            assert one["lower"] == pytest.approx(local_lower_rate(one["ballots"], epsilon))
            assert one["lower_is"] == "a rate, but for a constant"


def test_what_is_measured_is_where_right_outcomes_become_frequent_enough(studied: Studied) -> None:
    for one in studied.study["points"]:
        for kind in one["families"]:
            assert kind["tried"] == [8] * len(kind["margins"])
            assert kind["margins"] == sorted(set(kind["margins"]))
            assert kind["margins"][-1] == kind["largest_tried"]
            pairs = zip(kind["right"], kind["tried"], strict=True)
            found = crossing(dict(zip(kind["margins"], pairs, strict=True)), 0.95)
            assert (kind["margin"], kind["low"], kind["high"]) == (found.margin, found.low, found.high)
        needed = [
            kind["largest_tried"] if kind["margin"] is None else kind["margin"] for kind in one["families"]
        ]
        worst = one["families"][int(np.argmax(needed))]
        assert (one["measured"], one["family"]) == (worst["margin"], worst["family"])
        assert one["reached"] == (worst["margin"] is not None)


def test_the_first_margin_is_proved_to_be_enough_or_the_largest_there_is(studied: Studied) -> None:
    for one in studied.study["points"]:
        first = one["families"][0]
        beyond = 2 if one["model"] == "central" else 1
        assert first["largest_tried"] == min(math.ceil(one["bound"]) * beyond, one["ballots"] // 2)


def test_every_replication_of_every_margin_is_made_once(studied: Studied) -> None:
    made: dict[tuple[int, int], list[int]] = {}
    for stage, units in studied.engine.units.items():
        if stage.startswith("replicate"):
            for place, margin, replications in units:
                made.setdefault((place, margin), []).extend(replications)
    assert all(sorted(one) == list(range(8)) for one in made.values())
    rungs = sum(len(kind["margins"]) for one in studied.study["points"] for kind in one["families"])
    assert len(made) == rungs + len(studied.study["own"]["points"])


def test_growth_is_the_slope_of_margins_over_sizes(studied: Studied) -> None:
    growth = {(one["rule"], one["model"]): one for one in studied.study["growth"]}
    for (rule, model), one in growth.items():
        ours = [p for p in studied.study["points"] if (p["rule"], p["model"]) == (rule, model)]
        if model == "interactive":
            assert one["ballots"]["bound"] is None  # there is one point alone
            continue
        by_ballots = {p["ballots"]: p["bound"] for p in ours if (p["candidates"], p["epsilon"]) == (2, 1.0)}
        slope = math.log(by_ballots[200] / by_ballots[100]) / math.log(2)
        assert one["ballots"]["bound"] == pytest.approx(slope, abs=1e-9)
    assert growth["plurality", "central"]["ballots"]["paper"] == pytest.approx(0, abs=1e-9)
    assert 0.4 < growth["plurality", "local"]["ballots"]["paper"] < 0.5


def test_the_own_election_is_named_right_where_noise_is_nothing(tmp_path: Path) -> None:
    booth = study_booth(tmp_path, epsilons=[1000], rules=["plurality"], ballots=[100], candidates=[2])
    booth.vote()
    own = booth.run()[0]["result"]["study"]["own"]
    assert (own["rule"], own["outcome"], own["ballots"], own["candidates"]) == ("stv", "Bo", 10000, 4)
    assert own["margin"] > 0
    assert [one["model"] for one in own["points"]] == STUDY["mechanisms"]
    assert all((one["right"], one["tried"], one["share"]) == (8, 8, 1.0) for one in own["points"])


def test_a_study_depends_on_its_spec_alone_and_its_coins_on_the_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studying, "CLAIMS", CLAIMS[:1])

    def study(place: str, **changed: Any) -> Any:
        few = {"rules": ["plurality"], "ballots": [100], "candidates": [2], "epsilons": [1]}
        booth = study_booth(tmp_path / place, **(few | {"mechanisms": ["local"]} | changed))
        return booth.run()[0]["result"]["study"]["points"]

    assert study("one") == study("same")
    assert study("one more", replications=20) != study("other", replications=20, seed=8)


def test_all_statements_on_the_lower_bounds_profiles_were_checked(studied: Studied) -> None:
    claims = studied.study["claims"]
    assert [one["source"] for one in claims] == [one.source for one in CLAIMS]
    assert {one["source"] for one in claims} == {"E.3", "F.3", "3.6", "3.8", "B.1", "A.7"}
    for one in claims:
        assert one["holds"] == (one["holding"] == one["profiles"])
        assert one["holds"] == (one["found_margin"] >= one["claimed_margin"])
        assert one["holds"]


@pytest.mark.parametrize(
    ("cases", "holding"),
    [([Case(2, 2), Case(2, 5)], 2), ([Case(2, 2), Case(3, 2)], 1), ([Case(2, 2), Case(2, 9, False)], 1)],
)
def test_a_statement_that_does_not_hold_is_told_as_it_is(cases: list[Case], holding: int) -> None:
    told = Claim("0.0", "anything", "stv", "small", lambda rule: iter(cases), 3).checked()
    assert (told["profiles"], told["holding"], told["holds"]) == (2, holding, holding == 2)


def test_a_plan_says_what_a_study_does_and_that_nothing_is_charged(tmp_path: Path) -> None:
    booth = study_booth(tmp_path)
    job, spec = load(booth.given)
    data = open_dataset(spec.population.path, None)
    job.check(spec, data)
    planned = job.plan(spec, data)
    assert [one["name"] for one in planned["stages"]] == ["count ballots", "check profiles", "replicate"]
    assert planned["epsilon"] == {"total": 0, "charged": 0}
    assert planned["stages"][1]["tasks"] == len(CLAIMS)
    assert planned["reasons"][0].startswith("a study of 17 points: 8 replications")


@pytest.mark.parametrize(
    ("table", "values", "message"),
    [
        ("population", {"public": False}, "its population must be public"),
        ("privacy", {"randomizer": "ellipsoid"}, "needs a randomizer for every rule"),
        (
            "privacy",
            {"model": "interactive", "shares": [1, 2, 4]},
            "sets voters' shares and scores by itself",
        ),
        ("study", {"ballots": [200, 100]}, r"study\.ballots: must rise"),
        ("study", {"ballots": [10]}, r"study\.ballots: must be from 100 to 10000000"),
        ("study", {"epsilons": [1, 1]}, r"study\.epsilons: must rise"),
        ("study", {"epsilons": []}, r"study\.epsilons"),
        ("study", {"candidates": [1, 2]}, r"study\.candidates: must be from 2 to 16"),
        ("study", {"rules": ["stv"], "candidates": [8]}, r"study\.candidates: must be from 2 to 7"),
        ("study", {"rules": ["stv", "stv"]}, r"study\.rules: must differ"),
        ("study", {"rules": ["borda"]}, r"study\.rules"),
        ("study", {"mechanisms": ["local", "shuffled"]}, r"study\.mechanisms"),
        ("study", {"electorates": 9}, r"study\.electorates: share 8 replications; got 9 electorates"),
        ("study", {"replications": 1}, r"study\.replications"),
        ("study", {"margins": 3}, r"study\.margins: is not a key"),
    ],
)
def test_what_cannot_be_studied_is_refused(
    tmp_path: Path, table: str, values: dict[str, Any], message: str
) -> None:
    booth = study_booth(tmp_path)
    booth.given[table] = booth.given[table] | values
    with pytest.raises(SpecError, match=message):
        booth.spec()


def test_reports_are_not_studied_and_neither_is_nobody(tmp_path: Path) -> None:
    booth = study_booth(tmp_path / "reports")
    booth.given["collected"] = {"design": "ballots"}
    del booth.given["population"]["ranking"]
    with pytest.raises(SpecError, match="a study draws reports of its own"):
        booth.spec()
    empty = study_booth(tmp_path / "empty")
    empty.vote([], files=1)
    with pytest.raises(SchemaError, match="must have ballots"):
        empty.run()


def test_a_large_election_by_transfers_is_studied_without_one_round_alone(tmp_path: Path) -> None:
    names = [f"candidate {number}" for number in range(20)]
    booth = study_booth(tmp_path, mechanisms=["interactive"]).set("election", candidates=names)
    booth.given["privacy"]["model"] = "local"
    spec: Any = booth.spec()
    assert {one.model for one in points(spec, spec.study)} == {"interactive"}
    booth.given["study"] = booth.given["study"] | {"mechanisms": ["local"]}
    with pytest.raises(SpecError, match="can be asked about in every set at once"):
        booth.spec()


def test_an_election_of_the_grid_is_no_study(tmp_path: Path) -> None:
    booth: Booth = study_booth(tmp_path)
    spec: Any = booth.spec()
    own, made = (election_at(spec, "central", Decimal(2), made) for made in (None, ("maximin", 3)))
    assert own.study is made.study is None
    assert (own.rule.name, own.order, own.privacy.model) == ("stv", spec.order, "central")
    assert (made.rule.name, made.order, made.privacy.epsilon) == ("maximin", ("c1", "c2", "c3"), 2)
