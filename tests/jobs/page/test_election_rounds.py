"""The rounds on the page of an election: scores, duels and transfers, in figures and in numbers."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from jobs.page.election_figures import flows
from jobs.page.page import render_election
from tests.jobs.page.elections import (
    NAMES,
    borda,
    condorcet,
    duels,
    many,
    nobody,
    plurality,
    runoff,
    transfers,
)
from tests.jobs.page.reading import Element, card_of, marks, read, resolution, rows, ticks, value

SPACE = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize("made", [plurality(), borda(), runoff()])
def test_every_score_is_that_of_the_document_and_every_dot_lies_there(made: dict[str, Any]) -> None:
    page, result = read(render_election(made)), made["result"]
    card, one = page.all("article")[0], result["rounds"][0]
    order = sorted(range(len(one["scores"])), key=lambda k: -one["scores"][k])
    for k, shown in zip(order, rows(card.all("table")[0]), strict=True):
        name, score, error, interval, share = shown
        assert name == one["active"][k]
        assert value(score) == pytest.approx(one["scores"][k], abs=1.0001 * resolution(score))
        per_ballot = one["scores"][k] / result["ballots"]
        assert value(share) == pytest.approx(
            per_ballot if one["question"] == "points" else 100 * per_ballot, abs=1.0001 * resolution(share)
        )
        if one["standard_errors"][k] is None:
            assert (error, interval) == ("not estimated", "not estimated")
            continue
        assert value(error) == pytest.approx(one["standard_errors"][k], abs=1.0001 * resolution(error))
        for text, end in zip(interval.split(" to "), one["intervals"][k], strict=True):
            assert value(text) == pytest.approx(end, abs=1.0001 * resolution(text))
    unit = "" if one["question"] == "points" else "%"
    (chart,) = card.all("figure")
    seen = _read_dots(chart, unit)
    scale = (1 if unit == "" else 100) / result["ballots"]
    assert seen == pytest.approx([scale * one["scores"][k] for k in order], abs=2e-3 * max(seen))


def _read_dots(chart: Element, unit: str) -> list[float]:
    """Return where the dots of a figure lie on its axis, from above."""
    at = ticks(chart, unit)
    (low, x1), (high, x2) = min(at.items()), max(at.items())
    by_row = [x for x, _ in sorted(marks(chart), key=lambda mark: mark[1])]
    return [low + (x - x1) * (high - low) / (x2 - x1) for x in by_row]


def test_a_duel_names_whoever_is_ahead_first() -> None:
    card = card_of(read(render_election(runoff())), "Round 2: a duel")
    assert rows(card.all("table")[0]) == [["Kiss over Wright", "253", "61", "133 to 372", "2.8"]]


def test_all_duels_are_a_table_with_the_winner_first_and_marked() -> None:
    made = condorcet()
    shown = rows(card_of(read(render_election(made)), "Duels").all("table")[0])
    assert shown[0][1:] == ["Montroll", "Kiss", "Wright", "Smith", "Simpson", "write-in"]
    assert shown[1][0] == "Montrollwins"
    assert [row[k] for k, row in enumerate(shown[1:], 1)] == ["·"] * 6
    (one,) = made["result"]["rounds"]
    margins = dict(zip(map(tuple, one["pairs"]), one["scores"], strict=True))
    for a, b in itertools.permutations(range(6), 2):
        pair = shown[0][a + 1], shown[0][b + 1]
        margin = margins[pair] if pair in margins else -margins[pair[::-1]]
        text, error = shown[a + 1][b + 1].split("± ")
        assert (value(text), error) == (round(margin), "312")


def test_the_worst_duel_of_each_is_shown_the_best_of_them_first() -> None:
    shown = rows(card_of(read(render_election(nobody())), "Duels").all("table")[1])
    assert [row[:2] for row in shown] == [
        ["Ada over Cy", "−98"],
        ["Bo over Ada", "−120"],
        ["Cy over Bo", "−143"],
        ["Dee over Bo", "−310"],
    ]


def test_duels_whose_error_is_not_known_say_so() -> None:
    made = condorcet()
    made["result"]["rounds"] = [duels(["Montroll", "Kiss", "Wright"], [3.0, 2.0, 1.0], None)]
    card = card_of(read(render_election(made)), "Duels")
    assert {
        cell.split("not")[1] for row in rows(card.all("table")[0])[1:] for cell in row[1:] if cell != "·"
    } == {" estimated"}
    assert [row[2:4] for row in rows(card.all("table")[1])] == [["not estimated"] * 2] * 3


@pytest.mark.parametrize("size", [11, 30])
def test_duels_of_many_are_shades_that_a_table_lists(size: int) -> None:
    card = card_of(read(render_election(condorcet(size))), "Duels")
    chart = card.all("figure")[0]
    squares = [one for one in chart.all("path") if "fill: var(--" in one.attributes.get("style", "")]
    assert sum(one.attributes["d"].count("M") for one in squares) == size * (size - 1)
    assert len(rows(card.all("details")[0].all("table")[0])) == size * (size - 1) // 2


@pytest.mark.parametrize("made", [condorcet(90), many(90)])
def test_what_is_too_long_is_left_to_the_result(made: dict[str, Any]) -> None:
    shown = render_election(made)
    assert "rows of numbers: they are in result.json" in read(shown).text
    assert not read(shown).all("details")
    assert len(shown) < 400_000


def test_every_round_is_on_the_same_scale_and_says_who_is_out() -> None:
    card = card_of(read(render_election(transfers())), "Round by round")
    figures, made = card.all("figure"), transfers()["result"]
    assert len({tuple(ticks(one).items()) for one in figures}) == 1
    for one, figure in zip(made["rounds"], figures, strict=True):
        assert figure.all("figcaption")[0].text.endswith(f": {one['eliminated']} is out")
        expected = [100 * score / made["ballots"] for score in sorted(one["scores"], reverse=True)]
        assert sorted(_read_dots(figure, "%"), reverse=True) == pytest.approx(expected, abs=0.01)
        last = max(figure.all("use"), key=lambda use: float(use.attributes["y"]))
        assert "var(--below)" in last.attributes["style"]


def test_the_count_sheet_has_each_candidate_until_they_are_out() -> None:
    shown = rows(card_of(read(render_election(transfers())), "Where votes went").all("table")[0])
    assert [row[0] for row in shown] == NAMES
    assert shown[0][1:] == ["78,021± 2,837", "86,313± 2,006", "100,812± 1,419", "137,904± 1,003"]
    assert shown[2] == ["Shawn Bunney", "64,892± 2,837", "76,111± 2,006", "89,420± 1,419, out", ""]
    assert shown[4] == ["Calvin Goings", "41,377± 2,837, out", "", "", ""]


def test_bars_of_the_transfers_are_as_tall_as_estimates() -> None:
    chart = card_of(read(render_election(transfers())), "Where votes went").all("figure")[0]
    made = transfers()["result"]["rounds"]
    for k, name in enumerate(NAMES):
        solid = f"fill: var(--series-{k + 1})"
        bars = [one for one in chart.all("path") if one.attributes.get("style") == solid]
        heights = [max(y) - min(y) for y in (_ordinates(one.attributes["d"]) for one in bars)]
        votes = [dict(zip(one["active"], one["scores"], strict=True)).get(name) for one in made]
        known = [score for score in votes if score is not None]
        assert [height / heights[0] for height in heights] == pytest.approx(
            [score / known[0] for score in known], rel=1e-4
        )
    assert "These are differences of estimates" in read(render_election(transfers())).text


def _ordinates(path: str) -> list[float]:
    return [float(y) for _, y in re.findall(r"[ML] (\S+) (\S+)", path)]


def test_what_is_kept_and_gained_makes_a_round_and_no_more_leaves_than_there_was() -> None:
    for *now, one, other in itertools.product(
        [0.0, 1.0, 3.0], [0.0, 2.0], [0.0, 1.0, 2.0], *[[0.0, 2.0, 4.0]] * 2
    ):
        kept, gained, given = flows(now, [one, other, 0.0], [True, True, False], 2)
        assert [a + b for a, b in zip(kept, gained, strict=True)] == [one, other, 0.0]
        assert all(a <= b for a, b in zip(kept, now, strict=True))
        assert all(0 <= a <= b for a, b in zip(given, gained, strict=True))
        assert sum(given) == pytest.approx(min(sum(gained), now[2]))


def test_of_many_rounds_the_first_and_the_last_are_drawn_and_all_are_in_the_table() -> None:
    page = read(render_election(many()))
    card = card_of(page, "Round by round")
    captions = [one.text.partition(":")[0] for one in card.all("figcaption")]
    assert captions == ["Round 1", *(f"Round {number}" for number in range(25, 30))]
    assert len(rows(card.all("details")[0].all("table")[0])) == sum(range(2, 31))
    assert "Rounds before round 20 are not drawn." in card_of(page, "Where votes went").text


def test_who_is_out_is_found_where_the_document_does_not_say() -> None:
    made = transfers()
    for one in made["result"]["rounds"]:
        del one["eliminated"]
    assert render_election(made) == render_election(transfers())
