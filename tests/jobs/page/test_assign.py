from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from jobs.page.assign_figures import CostBar, decades
from jobs.page.assign_rows import precision_of
from jobs.page.page import render_assign
from tests.jobs.page.reading import Element, read, rows, value
from tests.jobs.page.test_assign_documents import (
    DISPATCHES,
    assignments,
    empty,
    short_of_gets,
    single,
)


def everything(element: Element) -> list[Element]:
    inside = [one for one in element.inside if isinstance(one, Element)]
    return inside + [inner for one in inside for inner in everything(one)]


def named(page: Element, name: str) -> list[Element]:
    return [one for one in everything(page) if one.attributes.get("id") == name]


def section_of(page: Element, name: str) -> Element:
    (found,) = [one for one in page.all("section") if one.attributes["aria-labelledby"] == name]
    return found


def terms_of(page: Element) -> dict[str, str]:
    pairs = zip(page.all("dt"), page.all("dd"), strict=True)
    return {term.text: one.text.replace("\N{NO-BREAK SPACE}", " ") for term, one in pairs}


def text_of(made: dict[str, Any]) -> str:
    return " ".join(read(render_assign(made)).text.replace("\N{NO-BREAK SPACE}", " ").split())


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            assignments(),
            "20,000 workers fetched the tasks of their leaves, 6 in all, by lattices (SimplePIR), and did not say"
            " which. Each sent 81.9 KB and received 1.72 MB, 1.29 MB of it the hint, for 1 item of 321 KB.",
        ),
        (
            assignments(protocol="paillier", gets=3),
            "by Paillier encryption, and did not say which."
            " Each sent 50.7 KB and received 3.89 MB, for 3 items of 321 KB.",
        ),
        (
            assignments(protocol="download"),
            "by the whole download, and did not say which."
            " Each received the whole library, 1.93 MB, and sent nothing.",
        ),
        (single(), "20,000 workers fetched the tasks of their leaf, by the whole download. Each received"),
        (assignments(workers=1), "1 worker fetched the tasks of"),
        (empty(), "No task has anything in it: what was fetched is empty."),
    ],
)
def test_what_was_done_is_said_first(made: dict[str, Any], said: str) -> None:
    lede = read(render_assign(made)).all("header")[0].all("p")[1].text
    assert said in " ".join(lede.replace("\N{NO-BREAK SPACE}", " ").split())


def test_each_protocol_is_a_row_and_a_bar_as_long_as_the_logarithm_of_all_its_bytes() -> None:
    made = assignments(gets=2)
    section = section_of(read(render_assign(made)), "costs")
    (chart,) = named(section, "costs-chart")
    bars: dict[float, list[tuple[str, float, float]]] = {}
    for one in chart.all("rect"):
        own = one.attributes
        bars.setdefault(float(own["y"]), []).append((own["class"], float(own["x"]), float(own["width"])))
    lines = [one.attributes["d"] for one in chart.all("path")]
    places = [float(found[1]) for line in lines if (found := re.match(r"M([\d.]+) ", line))]
    labels = [one.text for one in chart.all("text") if one.text.endswith(" MB") or one.text.endswith(" KB")]
    # The taken protocol's note ends otherwise, so all of these are ticks.
    exponents = [{"KB": 3, "MB": 6}[label[-2:]] + round(math.log10(float(label[:-3]))) for label in labels]
    slope, start = np.polyfit(exponents, places, 1)
    assert places == pytest.approx(np.array(exponents) * slope + start, abs=0.02)
    costs = made["result"]["costs"]
    assert len(bars) == len(costs)
    for (_, own), cost in zip(sorted(bars.items()), costs, strict=True):
        parts = {
            "once": cost["hint_bytes"],
            "up": 2 * cost["upload_bytes"],
            "down": 2 * cost["download_bytes"],
        }
        whole = sum(parts.values())
        assert whole == cost["bytes_per_worker"]
        length = math.log10(whole) * slope + start
        assert [look for look, _, _ in own] == [look for look, size in parts.items() if size]
        for look, _, width in own:
            assert width == pytest.approx(length * parts[look] / whole, abs=0.03)
        assert own[0][1] == 0
        assert own[-1][1] + own[-1][2] == pytest.approx(length, abs=0.03)
    (table,) = section.all("table")
    shown = [[cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row] for row in rows(table)]
    assert shown == [
        ["lattices (SimplePIR), taken", "1.29 MB", "164 KB", "860 KB", "2.31 MB", "0.0037"],
        ["Paillier encryption", "0 bytes", "33.8 KB", "2.6 MB", "2.63 MB", "41, too long"],
        ["the whole download", "1.93 MB", "0 bytes", "0 bytes", "1.93 MB", "0"],
    ]
    assert "cost the platform no more than 0.01 s of one core a get." in section.text


def test_an_axis_of_costs_begins_below_the_shortest_bar() -> None:
    def bar(size: float) -> CostBar:
        return CostBar("", "", (size, 0.0, 0.0))

    assert decades([bar(1000.0)]) == (2, 3)
    assert decades([bar(1001.0), bar(1e9)]) == (3, 9)
    assert decades([bar(0.0), bar(5.0)]) == (0, 1)
    assert decades([bar(0.0)]) == (0, 1)


def test_precision_is_drawn_for_each_leaf_the_highest_first_with_the_mean_of_a_worker() -> None:
    made = assignments()
    result = made["result"]
    page = read(render_assign(made))
    (chart,) = named(page, "precision-chart")
    (bars,) = [one for one in chart.all("path") if one.attributes["class"] == "bars"]
    (mean,) = [one for one in chart.all("path") if one.attributes["class"] == "mean"]
    (floor,) = {float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)V", bars.attributes["d"])}
    tops = [floor - float(y) for y in re.findall(r"M[\d.]+ [\d.]+V([\d.]+)h", bars.attributes["d"])]
    shares = sorted(result["precision"], reverse=True)
    scale = tops[0] / shares[0]
    assert tops == pytest.approx([share * scale for share in shares], abs=0.02)
    expected = np.average(result["precision"], weights=[leaf["count"] for leaf in result["leaves"]])
    found = re.match(r"M[\d.]+ ([\d.]+)h", mean.attributes["d"])
    assert found
    assert floor - float(found[1]) == pytest.approx(expected * scale, abs=0.02)
    assert f"{100 * expected:.1f} % for a worker on average, as the tree counts them" in page.text


def test_many_leaves_are_drawn_as_steps_at_the_heights_of_their_bars() -> None:
    made = DISPATCHES["large"]()
    made["result"]["precision"][7] = made["result"]["precision"][8]  # alike, so that they are one step
    (chart,) = named(read(render_assign(made)), "precision-chart")
    (bars,) = [one for one in chart.all("path") if one.attributes["class"] == "bars"]
    found = re.match(r"M([\d.]+) ([\d.]+)", bars.attributes["d"])
    assert found
    left, floor = map(float, found.groups())
    steps = [(float(y), float(x)) for y, x in re.findall(r"V([\d.]+)H([\d.]+)", bars.attributes["d"])]
    shares = np.array(sorted(made["result"]["precision"], reverse=True))
    centres = left + (np.arange(len(shares)) + 0.5) * (steps[-1][1] - left) / len(shares)
    heights = floor - np.array([y for y, _ in steps])[np.searchsorted([x for _, x in steps], centres)]
    assert heights == pytest.approx(shares * heights[0] / shares[0], abs=0.02)


@pytest.mark.parametrize("counts", [[0.0, -3.0, 0.0], [None, None, None]])
def test_where_the_tree_counts_nobody_leaves_count_alike(counts: list[Any]) -> None:
    leaves = [{"count": count} for count in counts]
    precision = precision_of({"leaves": leaves, "precision": [0.5, 0.25, 0.0]})
    assert precision.mean == pytest.approx(0.25)
    assert not precision.weighted


def test_noise_below_zero_counts_as_nobody() -> None:
    leaves = [{"count": 3.0}, {"count": -50.0}, {"count": 1.0}]
    precision = precision_of({"leaves": leaves, "precision": [0.5, 1.0, 0.1]})
    assert precision.mean == pytest.approx(0.4)
    assert precision.weighted


def test_items_are_told_beside_the_least_that_they_could_be() -> None:
    terms = terms_of(read(render_assign(short_of_gets())))
    assert terms["Tasks"] == "1,000, with payloads of 8.12 MB in all."
    assert terms["For no leaf"] == "3, and in no item."
    assert terms["Packed"] == "Each task in the item of one leaf that it meets."
    assert terms["Largest item"] == "321 KB, at most 7.1 % above the smallest possible."  # 7.04, rounded up
    assert terms["No packing has a smaller one than"].startswith("300 KB: even tasks that could be cut up")
    assert terms["Every item, padded"] == "321 KB"
    assert terms["A worker’s items together"] == "642 KB"
    most = 2 * 321_129 * max(short_of_gets()["result"]["precision"])
    assert f"to {most / 1000:.0f} KB, " in terms["Of use to the worker in that"]
    assert terms["Library"] == "2.57 MB"
    every = assignments()
    terms = terms_of(read(render_assign(every)))
    assert terms["Largest item"] == "321 KB, the smallest possible."
    assert "For no leaf" not in terms
    useful = [leaf["payload_bytes"] for leaf in every["result"]["leaves"]]
    low, high = (f"{size / 1000:.{0 if size > 99950 else 1}f} KB" for size in (min(useful), max(useful)))
    assert terms["Of use to the worker in that"].startswith(f"From {low} to {high}, ")


def test_the_table_of_leaves_holds_what_the_document_does_the_most_workers_first() -> None:
    made = assignments()
    result = made["result"]
    (table,) = section_of(read(render_assign(made)), "leaves").all("table")
    leaves = sorted(zip(result["leaves"], result["precision"], strict=True), key=lambda one: -one[0]["count"])
    shown = rows(table)
    assert [row[0] for row in shown] == [str(leaf["id"]) for leaf, _ in leaves]
    for row, (leaf, share) in zip(shown, leaves, strict=True):
        low, high = leaf["box"]["python"]
        assert ("≤ python" in row[1] or "python ≥" in row[1]) == (low > 0)
        assert ("< " in row[1]) == (high < 1)
        assert "welding" not in row[1]
        assert value(row[2]) == pytest.approx(leaf["count"], abs=0.5)
        assert [value(row[k]) for k in (3, 5, 7, 8)] == [leaf["tasks"], leaf["in_item"], 100, 1]
        assert row[4].endswith("\N{NO-BREAK SPACE}KB")
        assert value(row[6]) == pytest.approx(100 * share, abs=0.051)


def test_a_leaf_of_everybody_is_called_that_and_bars_of_one_leaf_are_one() -> None:
    page = read(render_assign(single()))
    (table,) = section_of(page, "leaves").all("table")
    assert rows(table)[0][1] == "everybody"
    (chart,) = named(page, "precision-chart")
    (bars,) = [one for one in chart.all("path") if one.attributes["class"] == "bars"]
    assert bars.attributes["d"].count("M") == 1
    assert "By leaf, from" not in page.text


def test_long_tables_are_cut_and_say_so() -> None:
    page = read(render_assign(DISPATCHES["large"]()))
    section = section_of(page, "leaves")
    assert "256 of 4,096 are in this table: all are in result.json." in section.text
    assert len(rows(section.all("table")[0])) == 256
    assert not [one for one in section.all("details") if "open" in one.attributes]


def test_without_tasks_there_is_no_figure_of_precision_but_a_sentence() -> None:
    page = read(render_assign(empty()))
    assert not named(page, "precision-chart")
    assert "Nothing of it is: no worker received a payload." in page.text
    assert terms_of(page)["Largest item"] == "28 bytes, the smallest possible."
