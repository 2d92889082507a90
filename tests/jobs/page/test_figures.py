from __future__ import annotations

import math
import re

import pytest
from markupsafe import Markup

from jobs.page import figures, words
from jobs.page.scales import Series
from jobs.page.sheet import SERIES, settings
from tests.jobs.page.reading import marks, read, ticks


def _drawn(*series: Series, labels: list[str], **options: object) -> Markup:
    with settings():
        return figures.dots("one", "A figure", labels, series, **options)  # type: ignore[arg-type]


def test_what_is_missing_is_not_drawn() -> None:
    chart = read(
        _drawn(
            Series("", [None, 0.2, 0.3], [(None, None), (0.1, None), (0.2, 0.4)]),
            labels=["a", "b", "c"],
            unit="%",
        ).encode()
    )
    assert len(marks(chart)) == 2
    assert [one.text for one in chart.all("text")][-3:] == ["a", "b", "c"]


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 1e-12, 1e12])
def test_a_single_estimate_without_an_interval_can_be_drawn(value: float) -> None:
    assert len(marks(read(_drawn(Series("", [value], [(None, None)]), labels=["a"]).encode()))) == 1
    assert _drawn(Series("", [value], [(value, value)]), labels=[""], reference=None)


def test_nothing_at_all_can_be_drawn() -> None:
    assert marks(read(_drawn(Series("", [None], [(None, None)]), labels=["a"]).encode())) == []


def test_an_odds_ratio_and_its_inverse_are_as_far_from_one() -> None:
    series = Series("", [0.5, 2.0, 0.0], [(0.25, 1.0), (1.0, 4.0), (0.0, 1.0)])
    chart = read(_drawn(series, labels=["a", "b", "c"], reference=1.0, log=True).encode())
    (half, _), (twice, _) = marks(chart)
    at = ticks(chart, unit="")
    assert at[1.0] - half == pytest.approx(twice - at[1.0], abs=1e-3)
    assert at[2.0] == pytest.approx(twice, abs=1e-3)


def test_each_series_has_a_colour_and_a_mark_of_its_own() -> None:
    series = [Series(f"s{k}", [0.1 * k], [(0.0, 0.1)]) for k in range(SERIES)]
    chart = _drawn(*series, labels=["a"])
    assert len(set(re.findall(r"var\(--series-\d\)", chart))) == SERIES
    assert len(set(re.findall(r'<use href="#(one-\w+)"', chart))) == SERIES
    assert len({mark for _, mark in figures.legend([one.name for one in series])}) == SERIES


def test_a_label_is_cut_to_its_room_and_whole_to_those_who_point_at_it() -> None:
    chart = read(_drawn(Series("", [0.1], [(0.0, 0.2)]), labels=["m" * 300]).encode())
    (label,) = (one for one in chart.all("text") if "m" in one.text)
    assert label.all("title")[0].text == "m" * 300
    assert words.ems(str(label.inside[0])) <= 12


def test_colours_and_fonts_are_the_pages() -> None:
    chart = _drawn(Series("", [0.1, -0.1], [(0.0, 0.2), (0.0, 0.1)]), labels=["#000001", "b"])
    assert re.findall(r"#[0-9a-f]{6}", re.sub(r">[^<]*<", "><", chart).replace("#one-", "")) == []
    assert "font-family" not in chart
    assert "#000001" in chart


@pytest.mark.parametrize("epsilon", [0.0, 0.001, 0.5, 1.0, 2.0, 6.0, 7.3, 20.0])
def test_a_bound_is_never_rounded_down(epsilon: float) -> None:
    shown = words.times(epsilon).replace(",", "")
    assert "×" in shown or math.exp(epsilon) * (1 - 1e-12) <= float(shown) <= math.exp(epsilon) * 1.001
