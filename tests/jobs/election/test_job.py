"""The same rule in every model of privacy: who wins, what leaves, and what is asked of whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.jobs.election.booths import KINDS, NAMES, OUTCOMES, Booth
from udfs.errors import SchemaError, SpecError
from udfs.streams import Secret

MODELS = ("central", "local", "interactive")
VOTERS = sum(count for _, count in KINDS)


@pytest.fixture
def booth(tmp_path: Path) -> Booth:
    return Booth(tmp_path)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rule", OUTCOMES)
def test_where_noise_is_nothing_every_model_names_the_classical_winner(
    tmp_path: Path, rule: str, model: str
) -> None:
    assert Booth(tmp_path, rule, model).result()["outcome"] == OUTCOMES[rule]


@pytest.mark.parametrize("model", MODELS)
def test_a_scoring_rule_has_weights_of_its_own(tmp_path: Path, model: str) -> None:
    booth = Booth(tmp_path, "scoring", model).set("election", weights=[3, "5/2", 0, 0])
    assert booth.result()["outcome"] == "Cy"


@pytest.mark.parametrize(
    ("rule", "randomizer"),
    [
        ("plurality", "ball"),
        ("plurality", "subset-selection"),
        ("condorcet", "ball"),
        ("condorcet", "sampled"),
        ("condorcet", "ellipsoid"),
        ("maximin", "ellipsoid"),
        ("runoff", "ball"),
        ("runoff", "ellipsoid"),
        ("runoff", "sampled"),
        ("stv", "ball"),
        ("stv", "sampled"),
        ("borda", "ball"),
        ("veto", "subset-selection"),
    ],
)
def test_each_randomizer_estimates_what_was_cast_within_its_standard_errors(
    tmp_path: Path, rule: str, randomizer: str
) -> None:
    booth = Booth(tmp_path, rule).set("privacy", randomizer=randomizer)
    exact = Booth(tmp_path / "exact", rule).set("privacy", randomizer="auto")
    exact.given["privacy"]["model"] = "central"
    truth = _exact_rounds(exact)
    for found, (question, scores) in zip(booth.result()["rounds"][:1], truth, strict=False):
        assert found["question"] == question
        for score, error, right in zip(found["scores"], found["standard_errors"], scores, strict=True):
            assert abs(score - right) <= 7 * error + 60  # blank ballots may add their part to first choices


def _exact_rounds(booth: Booth) -> list[tuple[str, list[float]]]:
    from jobs.election.count import QUESTIONS, conduct, exact_answers
    from tests.jobs.election.profiles_of import profile_of

    spec: Any = booth.spec()
    _, rounds = conduct(spec.rule.count(), exact_answers(profile_of(booth)))
    return [
        (QUESTIONS[type(one.contest)], [float(x) / one.contest.scale for x in one.scores]) for one in rounds
    ]


def test_what_leaves_the_central_model_is_the_outcome_and_what_depends_on_no_ballot(tmp_path: Path) -> None:
    ours, theirs = Booth(tmp_path / "ours", "stv", "central"), Booth(tmp_path / "theirs", "stv", "central")
    theirs.vote([(("Bo", "Ada"), VOTERS)])
    documents = [booth.run()[0] for booth in (ours, theirs)]
    assert documents[0]["result"] == documents[1]["result"]  # Bo wins both
    for document in documents:
        assert "seconds" not in document
        assert set(document["result"]) == {
            "outcome", "rule", "model", "ballots", "candidates", "tie_order", "invalid", "shared",
            "skipped", "unranked",
            "decisive_margin", "selection", "score",
        }  # fmt: skip
        assert document["privacy"]["epsilon"] == 1000
    assert sorted(one.name for one in ours.out.iterdir()) == ["manifest.json", "report.html", "result.json"]
    assert not any((ours.home / "jobs").rglob("rounds/*"))


def test_a_ballot_that_breaks_the_rules_is_cut_is_blank_or_is_refused(tmp_path: Path) -> None:
    kinds = [(("Bo", "Bo", "Ada"), 30), (("Ada",), 20)]

    def winner(place: str, **election: Any) -> str:
        booth = Booth(tmp_path / place, "plurality", "central").set("election", **election)
        booth.vote(kinds)
        return str(booth.result()["outcome"])

    assert winner("cut") == "Bo"
    assert winner("blank", invalid="blank") == "Ada"
    with pytest.raises(SchemaError, match="ballots that repeat a candidate in column") as told:
        winner("refused", invalid="refuse")
    assert "Bo" not in str(told.value)


def test_reports_are_published_with_all_that_a_reader_needs(booth: Booth) -> None:
    booth.result()
    assert booth.reports().column_names == ["voter", "question", "answer"]
    entry = booth.footer()["ballots"]
    assert entry["candidates"] == list(NAMES)
    assert (entry["invalid"], entry["shared"]) == ("truncate", "overvote")
    assert entry["columns"]["answer"]["contests"] == "every"


def test_a_ball_is_published_as_one_bit_and_a_seed(booth: Booth) -> None:
    booth.set("privacy", randomizer="ball").result()
    assert [str(one) for one in booth.reports().schema.types] == ["int64", "bool"]
    assert len(bytes.fromhex(booth.footer()["ballots"]["columns"]["bit"]["seed"])) == 32


@pytest.mark.parametrize("id_column", ["voter", None])
@pytest.mark.parametrize("randomizer", ["sampled", "ball"])
def test_reports_are_tallied_again_under_any_rule_that_they_answer(
    booth: Booth, tmp_path: Path, randomizer: str, id_column: str | None
) -> None:
    booth.set("privacy", randomizer=randomizer).set("population", id=id_column)
    booth.vote([(ranking, 2 * count) for ranking, count in KINDS])  # 11 sets share the voters
    first = booth.result()
    for rule in ("stv", "plurality", "runoff", "condorcet", "maximin"):
        later = Booth(tmp_path / rule, rule)
        later.given["population"] = {"path": str(booth.out / "reports"), "id": id_column, "name": "reports"}
        later.given["collected"] = {"design": "ballots"}
        document, _ = later.run()
        assert document["privacy"]["spent_after"] == 0
        if rule == "stv":
            assert document["result"]["rounds"] == first["rounds"]
            assert document["result"]["outcome"] == first["outcome"]
        if randomizer == "sampled" and rule == "plurality":  # too close to be told from a sample
            (asked,) = document["result"]["rounds"]
            errors = np.subtract(
                asked["scores"], [7625, 6825, 4025, 1525]
            )  # a quarter of 100 blank ones each
            assert (np.abs(errors) < 6.2 * np.array(asked["standard_errors"])).all()
        elif randomizer == "sampled":
            assert document["result"]["outcome"] == OUTCOMES[rule]


def test_reports_cannot_answer_another_question(booth: Booth, tmp_path: Path) -> None:
    booth.given["election"]["rule"] = "plurality"
    booth.result()
    later = Booth(tmp_path / "later", "stv")
    later.given["population"] = {"path": str(booth.out / "reports"), "id": "voter", "name": "reports"}
    later.given["collected"] = {"design": "ballots"}
    with pytest.raises(SpecError, match="must ask what the reports can answer"):
        later.run()
    later.set("election", rule="plurality", candidates=["Bo", "Ada", "Cy", "Di"])
    with pytest.raises(SchemaError, match="must be those of the reports"):
        later.run()
    later.set("election", candidates=list(NAMES)).set("privacy", epsilon=3)
    with pytest.raises(SchemaError, match=r"privacy\.epsilon: must be that of the reports"):
        later.run()


def test_ballots_are_no_reports_and_reports_no_ballots(booth: Booth, tmp_path: Path) -> None:
    booth.result()
    later = Booth(tmp_path / "later")
    later.set("population", path=str(booth.out / "reports"), ranking="answer")
    with pytest.raises(SchemaError, match="must hold ballots; got reports on ballots"):
        later.run()
    booth.given["collected"] = {"design": "ballots"}
    del booth.given["population"]["ranking"]
    with pytest.raises(SchemaError, match="needs reports whose footers say"):
        booth.run()


@pytest.mark.parametrize("rounds", ["share-voters", "share-budget"])
def test_in_rounds_each_voter_is_asked_once_or_with_a_part_of_epsilon(tmp_path: Path, rounds: str) -> None:
    booth = Booth(tmp_path, "stv", "interactive").set("privacy", rounds=rounds)
    found = booth.result()
    asked = [one["asked"] for one in found["rounds"]]
    assert len(asked) == 3
    if rounds == "share-voters":
        assert sum(asked) == VOTERS
        assert asked == sorted(asked)
    else:
        assert asked == [VOTERS] * 3


def test_rounds_say_who_goes_and_what_the_tie_order_decided(tmp_path: Path) -> None:
    booth = Booth(tmp_path, "stv", "interactive").set("privacy", rounds="share-budget")
    booth.vote([(("Ada",), 50), (("Bo",), 50), (("Cy", "Ada"), 25), (("Cy", "Bo"), 25)])
    rounds = booth.result()["rounds"]
    assert [one["eliminated"] for one in rounds] == ["Di", "Cy", "Bo"]
    assert rounds[0]["tied"] == []
    assert rounds[1]["tied"] == ["Ada", "Bo", "Cy"]


def test_nobody_wins_a_circle_of_duels(tmp_path: Path) -> None:
    circle = [
        (("Ada", "Bo", "Cy", "Di"), 100),
        (("Bo", "Cy", "Ada", "Di"), 100),
        (("Cy", "Ada", "Bo", "Di"), 100),
    ]
    for model in MODELS:
        booth = Booth(tmp_path / model, "condorcet", model)
        booth.vote(circle)
        document, _ = booth.run()
        assert document["result"]["outcome"] is None
        assert "report.html" in [one.name for one in booth.out.iterdir()]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rule", OUTCOMES)
def test_one_candidate_wins_unasked_and_uncharged(tmp_path: Path, rule: str, model: str) -> None:
    booth = Booth(tmp_path, rule, model).set("election", candidates=["Bo"])
    document, _ = booth.run()
    assert document["result"]["outcome"] == "Bo"
    assert document["privacy"]["spent_after"] == 0


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rule", OUTCOMES)
def test_two_candidates_no_ballots_and_blank_ones_are_an_election_too(
    tmp_path: Path, rule: str, model: str
) -> None:
    two = Booth(tmp_path / "two", rule, model).set("election", candidates=["Bo", "Di"])
    assert two.result()["outcome"] == "Bo"
    for place, kinds in (("none", []), ("blank", [((), 9)])):
        empty = Booth(tmp_path / place, rule, model).set("privacy", epsilon=1)
        empty.vote(kinds, files=1)
        document, _ = empty.run()
        assert document["result"]["outcome"] in (*NAMES, None)
        assert document["population"]["rows"] == sum(count for _, count in kinds)
        if not kinds:
            first = None if rule == "condorcet" else "Ada"
            assert document["result"]["outcome"] == first
            assert document["result"]["decisive_margin"]["value"] == 0


def test_accents_in_two_encodings_are_one_name(tmp_path: Path) -> None:
    composed, decomposed = "\u00c9va", "E\u0301va"
    for model in MODELS:
        booth = Booth(tmp_path / model, "plurality", model).set("election", candidates=["Bo", composed])
        booth.vote([((decomposed,), 70), (("Bo",), 60)])
        assert booth.result()["outcome"] == composed


@pytest.mark.parametrize("rule", ["runoff", "stv", "condorcet", "plurality"])
def test_the_same_secret_gives_the_same_answers_however_rows_are_cut(
    tmp_path: Path, rule: str, secret: Secret
) -> None:
    results = []
    for place, options in {"one": {"files": 1}, "many": {"files": 5, "row_group_size": 50}}.items():
        booth = Booth(tmp_path / place, rule, "interactive").set("privacy", epsilon=1)
        booth.vote(KINDS, **options)  # type: ignore[arg-type]
        results.append(booth.result(secret=secret))
    assert results[0] == results[1]


def test_no_ballot_stands_in_any_output(tmp_path: Path) -> None:
    marked = [(("Bo", "\u1e9e-mark"), 30), (("Ada",), 20)]
    for model in MODELS:
        booth = Booth(tmp_path / model, "stv", model)
        booth.vote(marked)
        booth.run()
        assert "\u1e9e" not in booth.published()
        assert json.loads((booth.out / "result.json").read_text())["result"]["ballots"] == 50
