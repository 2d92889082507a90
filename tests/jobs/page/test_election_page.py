from __future__ import annotations

import copy
import itertools
import re
from typing import Any

import pytest

from jobs.page.election_figures import flows
from jobs.page.page import render_election
from tests.jobs.page.documents import HOSTILE
from tests.jobs.page.elections import (
    ELECTIONS,
    NAMES,
    alone,
    asked,
    borda,
    central,
    condorcet,
    duels,
    election,
    hostile_election,
    hostile_transfers,
    knockout,
    many,
    nobody,
    plurality,
    runoff,
    transfers,
    unvoted,
)
from tests.jobs.page.reading import Element, card_of, marks, read, resolution, rows, ticks, value
from tests.jobs.page.test_missing_parts import _assert_clean, _paths, _without

SPACE = "\N{NO-BREAK SPACE}"


def _header(made: dict[str, Any]) -> list[str]:
    """Return the paragraphs above the first heading below the name."""
    (header,) = read(render_election(made)).all("header")
    return [one.text for one in header.all("p")]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            transfers(),
            f"Pat McCarthy wins by single transferable vote, in the interactive model at ε{SPACE}1.",
        ),
        (plurality(), f"Wright wins by plurality, in the local model at ε{SPACE}1."),
        (central(), f"Pat McCarthy wins by single transferable vote, in the central model at ε{SPACE}1."),
        (
            nobody(),
            f"Nobody wins by the Condorcet rule, in the local model at ε{SPACE}1: no candidate beats all others.",
        ),
        (alone(), f"Ada is the only candidate, and wins by plurality, in the local model at ε{SPACE}1."),
        (
            unvoted(),
            f"No ballot was cast: by the tie order alone Ada wins by plurality, in the local model at ε{SPACE}1.",
        ),
    ],
)
def test_the_first_thing_said_is_the_outcome_with_its_rule_model_and_epsilon(
    made: dict[str, Any], expected: str
) -> None:
    assert _header(made)[1] == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            transfers(),
            f"The race was decided by an estimated 2,027 of 312,771 ballots; with 95{SPACE}% probability the answer"
            " is right wherever that is at least 1,850. By this estimate the race was decisive.",
        ),
        (
            plurality(),
            f"The race was decided by an estimated 183 of 8,980 ballots; with 95{SPACE}% probability the answer is"
            " right wherever that is at least 1,850. By this estimate the race was too close to be sure of the answer.",
        ),
        (
            borda(),
            f"The race was decided by an estimated 8 of 1,000 ballots; with 95{SPACE}% probability the answer is"
            " right wherever that is at least 1,850. So few ballots cannot decide any race for sure at this ε: take"
            " the answer for a guess.",
        ),
        (
            plurality(estimated_margin=None),
            f"With 95{SPACE}% probability the answer is right wherever at least 1,850 of the 8,980 ballots decided"
            " the race. The margin of this race was not estimated.",
        ),
        (
            central(),
            f"With 95{SPACE}% probability the answer is right wherever at least 5 of the 312,771 ballots decided the"
            " race. How many did is not told: the outcome is all that leaves.",
        ),
        (
            plurality(decisive_margin={"value": None, "failure_probability": 0.01}),
            f"No margin is known from which on the answer is right with 99{SPACE}% probability.",
        ),
        (alone(), "There was only one possible outcome, and the answer is right."),
    ],
)
def test_then_how_decisive_the_race_was(made: dict[str, Any], expected: str) -> None:
    assert _header(made)[2] == expected


def test_the_margins_are_where_they_belong_on_their_bar() -> None:
    made = transfers()
    made["result"] |= {"estimated_margin": 1000}
    made["result"]["decisive_margin"]["value"] = 2000
    bar = next(one for one in read(render_election(made)).all("svg") if "margin" in str(one.attributes))
    estimate, _, least = bar.all("rect")
    widths = [float(one.rstrip("%")) for one in (estimate.attributes["width"], least.attributes["x"])]
    assert widths[1] == pytest.approx(2 * widths[0], abs=2e-3)


@pytest.mark.parametrize(
    ("model", "basis", "expected"),
    [
        (
            "local",
            "",
            "Whatever one voter’s ballot, their report is at most e1 ≈ 2.719 times as likely as with",
        ),
        (
            "interactive",
            "",
            "Whatever one voter’s ballot, all that is sent in all rounds is at most e1 ≈ 2.719",
        ),
        ("central", "", "Whatever one voter’s ballot, the outcome is at most e1 ≈ 2.719 times as likely as"),
        (
            "local",
            "collected: as the footers say",
            "If reports were made as they say, then whatever one voter’s",
        ),
    ],
)
def test_the_guarantee_is_one_sentence_of_what_leaves(model: str, basis: str, expected: str) -> None:
    made = plurality()
    made["result"]["model"] = model
    made["privacy"] |= {"model": model, "basis": basis}
    shown = read(render_election(made)).text
    assert expected in shown
    assert ("Nothing is charged" in shown) == bool(basis)
    made["privacy"]["epsilon"] = None
    assert "This election gives no guarantee of differential privacy." in read(render_election(made)).text


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


def test_ties_say_whether_the_tie_order_decided() -> None:
    assert "In round 2 Will Baker and Shawn Bunney were level: the tie order decided." in _text(transfers())
    assert "Here Ada and Bo were level: the tie order decided." in _text(unvoted())
    assert "In round 3 Ada and Eve were level: the tie order decided." in _text(knockout())
    made = knockout()
    made["result"]["rounds"][3]["tied"] = ["Ada", "Eve"]
    assert "In round 4 Ada and Eve were level in a duel." in _text(made)


def _text(made: dict[str, Any]) -> str:
    return read(render_election(made)).text


def test_estimates_below_zero_are_explained() -> None:
    assert "That is no mistake" in _text(plurality())
    assert "That is no mistake" not in _text(transfers())


def test_what_was_asked_of_whom_says_how_many_voters_each_round_had_and_what_they_sent() -> None:
    text = _text(transfers())
    table = next(one for one in read(render_election(transfers())).all("table") if "voters" in one.text)
    assert rows(table)[2] == ["3", "first choices", "3 candidates", "subset selection", "83,406", "26.7"]
    assert "First choices: whom do you place first among these candidates?" in text
    assert (
        "A random set of candidates, which holds their own choice more often than any other; or one bit:"
        in text
    )
    assert "Each voter is asked in one round alone, and spends all of ε there" in text
    assert "A ballot is cut where it first breaks the rules." in text
    two = plurality(asked={"randomizer": ["ball", "ellipsoid"]})
    assert "2 reports, with an equal part of ε each: one bit: on which side" in _text(two)
    assert "Nothing was asked." in _text(alone())


def test_of_the_central_model_nothing_is_shown_but_the_outcome_and_the_margin_it_needs() -> None:
    made = central()
    leak = asked("first choices", ["LEAKED"], [7654321.0], 1.0, tied=["LEAKED"], eliminated="LEAKED")
    made["result"] |= {
        "rounds": [leak, leak],
        "estimated_margin": 7654321,
        "estimated_margin_is": "LEAKED",
        "asked": {"randomizer": ["LEAKED"], "reason": "LEAKED"},
    }
    made["seconds"] = {"LEAKED": 7654321.0}
    shown = render_election(made).decode()
    assert "LEAKED" not in shown
    assert "7654321" not in shown.replace(",", "")
    assert not read(shown.encode()).all("figure", "table")
    assert "By chance: any other outcome has e^(−ε × margin) times the chance of the true one." in shown


@pytest.mark.parametrize("made", [hostile_election(), hostile_transfers()])
def test_every_name_is_shown_as_it_is_and_does_nothing(made: dict[str, Any]) -> None:
    shown = render_election(made)
    page = read(shown)
    names = [row[0] for row in rows(page.all("table")[0])]
    written = [text.encode("utf-8", "replace").decode().strip() or "(blank)" for text in HOSTILE]
    if "stv" not in str(made["result"]["rule"]):
        assert set(written) <= set(names)
    assert not page.all("script", "image", "iframe", "object", "form", "foreignobject")
    everything = _everything(page)
    assert not [one for one in everything if any(name.startswith("on") for name in one.attributes)]
    ids = [one.attributes["id"] for one in everything if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    links = [one.attributes[key] for one in everything for key in ("href", "src") if key in one.attributes]
    links += re.findall(r"url\(([^)]*)\)", shown.decode())
    assert {link for link in links if link.removeprefix("#") not in ids} == {"data:,"}
    assert b"http:" not in shown
    assert b"https:" not in shown


def _everything(element: Element) -> list[Element]:
    inside = [one for one in element.inside if isinstance(one, Element)]
    return inside + [inner for one in inside for inner in _everything(one)]


@pytest.mark.parametrize("name", ELECTIONS)
def test_headings_are_in_order_figures_have_names_and_the_document_stays(name: str) -> None:
    made = ELECTIONS[name]()
    before = copy.deepcopy(made)
    shown = render_election(made)
    assert made == before
    assert render_election(before) == shown
    _assert_clean(shown, (name,))
    page = read(shown)
    levels = [int(one.tag[1]) for one in page.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    for one in page.all("svg"):
        assert one.attributes.get("aria-hidden") == "true" or (
            one.attributes["role"] == "img" and one.attributes["aria-label"]
        )


@pytest.mark.parametrize("make", [transfers, condorcet, knockout, borda, central])
def test_whatever_is_null_or_not_there_the_page_is_made(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Figures are the slow part, and take what is missing in a test of their own.
    for figure in ("draw_scores", "draw_transfers", "draw_duels"):
        monkeypatch.setattr(f"jobs.page.election_rounds.{figure}", lambda *_, **__: "")
    for path in _paths(make()):
        for replace in (True, False):
            _assert_clean(render_election(_without(make(), path, replace)), path)


@pytest.mark.parametrize("name", ["transfers", "condorcet", "condorcet-30", "knockout", "borda"])
def test_rounds_of_nothing_but_nulls_can_be_drawn(name: str) -> None:
    made = ELECTIONS[name]()
    for one in made["result"]["rounds"]:
        for key in ("scores", "standard_errors", "intervals"):
            one[key] = [None for _ in one[key]]
    _assert_clean(render_election(made), (name,))
    made["result"]["rounds"] = [{}, {"question": None}, {"question": "duels", "pairs": [[], ["Ada"], None]}]
    _assert_clean(render_election(made), (name,))


@pytest.mark.parametrize("made", [{}, {"result": None}, {"result": {"rounds": [None]}}])
def test_an_empty_document_is_an_empty_page(made: dict[str, Any]) -> None:
    read(render_election(made))


def test_a_name_that_is_a_number_is_a_name() -> None:
    made = election("plurality", [1, 2], 10, 2, [asked("first choices", [1, 2], [3.0, 7.0], 1.0)])
    assert _header(made)[1].startswith("2 wins by plurality")
    assert [
        row[0] for row in rows(card_of(read(render_election(made)), "First choices").all("table")[0])
    ] == [
        "2",
        "1",
    ]
