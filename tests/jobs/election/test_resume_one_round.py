"""Elections of one round, or of none, that are cut off anywhere: the same reports, and the same outcome, come of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.jobs.election.interrupted import FILES, booth_of, check_resumed, cut_off, kept, undisturbed
from udfs.streams import Secret

pytestmark = pytest.mark.usefixtures("small_parts", "blank_page")


@pytest.mark.parametrize("id_column", ["voter", None])
@pytest.mark.parametrize(
    ("stage", "when"),
    [("randomize", "within"), ("randomize", "unheard"), *((f"question {n}", "within") for n in (1, 2, 3))],
)
def test_an_election_in_one_round_goes_on_with_the_reports_that_were_made(
    tmp_path: Path, secret: Secret, id_column: str | None, stage: str, when: str
) -> None:
    """STV by the ball passes over reports again: for every question anew, and never over ballots."""
    privacy = {"randomizer": "ball"}
    whole = booth_of(tmp_path / "whole", "stv", "local", privacy).set("population", id=id_column)
    expected = whole.run(secret=secret)[0]
    booth = booth_of(tmp_path / "run", "stv", "local", privacy).set("population", id=id_column)
    cut_off(booth, stage, when, secret)
    staged = {path.name: path.stat().st_ino for path in booth.out.glob(".canvass-*/reports/*.parquet")}
    assert len(staged) == (1 if (stage, when) == ("randomize", "within") else FILES)
    asked = check_resumed(booth, expected)
    assert list(asked) == ["randomize", "question 1", "question 2", "question 3"]
    assert {name: (booth.out / "reports" / name).stat().st_ino for name in staged} == staged
    assert booth.reports().equals(whole.reports())


def test_reports_that_are_passed_over_but_not_wished_are_gone_in_the_end(
    tmp_path: Path, secret: Secret
) -> None:
    booth = booth_of(tmp_path, "stv", "local", {"randomizer": "ball"}).set("output", reports=False)
    cut_off(booth, "question 2", "within", secret)
    assert list(booth.out.glob(".canvass-*/reports/*.parquet"))
    booth.run()
    assert sorted(path.name for path in booth.out.iterdir()) == [
        "manifest.json",
        "report.html",
        "result.json",
    ]


@pytest.mark.parametrize("rule", ["plurality", "stv", "runoff"])
def test_a_release_whose_reports_are_not_wished_is_kept_as_a_round(
    tmp_path: Path, secret: Secret, rule: str
) -> None:
    booths = [booth_of(tmp_path / one, rule, "local", {"randomizer": "sampled"}) for one in ("whole", "run")]
    for one in booths:
        one.set("output", reports=False)
    expected = booths[0].run(secret=secret)[0]
    cut_off(booths[1], "randomize", "within", secret)
    assert check_resumed(booths[1], expected) == {"randomize": FILES}


@pytest.mark.parametrize("when", ["before", "within", "unheard"])
def test_the_central_model_draws_the_same_outcome_again_and_keeps_no_tally(tmp_path: Path, when: str) -> None:
    """At so small an epsilon all outcomes are about as likely: the same one is drawn as the coins are the same."""
    outcomes = set()
    for number in range(6):
        secret, privacy = Secret(bytes([number]) * 32), {"epsilon": 0.001}
        _, expected = undisturbed(tmp_path / f"{number}", "stv", "central", privacy, secret)
        outcomes.add(expected["result"]["outcome"])
        booth = booth_of(tmp_path / f"{number} again", "stv", "central", privacy)
        cut_off(booth, "count ballots", when, secret)
        assert not kept(booth)
        assert not list(booth.out.rglob("reports/*"))
        assert check_resumed(booth, expected) == {"count ballots": FILES}
    assert len(outcomes) > 1
