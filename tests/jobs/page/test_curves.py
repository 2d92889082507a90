from __future__ import annotations

import math

import pytest
from markupsafe import Markup

from jobs.page import figures
from jobs.page.curves import STROKES, Curve, draw_curves, stroke_legend
from jobs.page.scales import Series, cut_off
from jobs.page.sheet import settings
from tests.jobs.page.reading import Element, marks, read, value

GRID = [0.5, 1.0, 2.0, 4.0]


def _drawn(*curves: Curve, grid: list[float] = GRID, **options: object) -> Markup:
    with settings():
        return draw_curves("two", "Errors", grid, curves, across="epsilon", up="error", **options)  # type: ignore[arg-type]


def _bare(*values: float | None, look: int = 0, stroke: str = "solid") -> Curve:
    return Curve(Series("", values, [(None, None)] * len(values)), look, stroke)


def _scales(chart: Element) -> tuple[dict[float, float], dict[float, float]]:
    """Return where the numbers of both axes are written: across at one height, upright at one x."""
    numbers = []
    for one in chart.all("text"):
        try:
            at = float(one.attributes["x"]), float(one.attributes["y"])
            numbers.append((value(one.text) or 0.0, *at))
        except ValueError:
            continue
    lowest = max(y for *_, y in numbers)
    across = {number: x for number, x, y in numbers if y == lowest}
    return across, {number: y for number, _, y in numbers if y != lowest}


def test_points_lie_where_their_numbers_are() -> None:
    chart = read(_drawn(_bare(3.0, 2.0, None, 1.0)).encode())
    across, up = _scales(chart)
    (x1, y1), (x2, y2), (x3, y3) = marks(chart)
    assert [x2, x3] == pytest.approx([across[1.0], across[4.0]], abs=1e-3)
    assert x1 == pytest.approx(across[1.0] - (across[4.0] - across[1.0]) / 6, abs=1e-3)
    assert y2 - y1 == pytest.approx(up[2.0] - up[3.0], abs=1e-3)
    assert y3 - y2 == pytest.approx(up[1.0] - up[2.0], abs=1e-3)
    assert {"epsilon", "error"} <= {one.text for one in chart.all("text")}


def test_a_logarithmic_axis_shows_ratios_and_leaves_out_what_is_not_positive() -> None:
    chart = read(_drawn(_bare(100.0, 10.0, 0.0, 1.0), log=True).encode())
    (_, first), (_, second), (_, last) = marks(chart)
    assert second - first == pytest.approx(last - second, abs=1e-3)


def test_a_grid_over_decades_is_drawn_by_ratios() -> None:
    chart = read(_drawn(_bare(1.0, 2.0, 3.0), grid=[0.1, 1.0, 10.0]).encode())
    first, second, last = (x for x, _ in marks(chart))
    assert second - first == pytest.approx(last - second, abs=1e-3)


def test_what_goes_on_beyond_the_limits_ends_with_an_arrowhead() -> None:
    chart = read(_drawn(_bare(1.0, 50.0, 2.0, -90.0), limits=(0.0, 4.0)).encode())
    heights = dict(marks(chart))
    _, up = _scales(chart)
    assert len(heights) == 4
    spread = up[0.0] - up[4.0]
    ordered = [heights[x] for x in sorted(heights)]
    assert ordered[3] - ordered[1] == pytest.approx(spread, abs=1e-3)
    assert ordered[0] - ordered[2] == pytest.approx(spread / 4, abs=1e-3)


def test_bars_of_one_epsilon_stand_side_by_side() -> None:
    ends = [(1.0, 2.0)] * 4
    curves = [Curve(Series("", [1.5] * 4, ends), look) for look in range(3)]
    xs = [x for x, _ in marks(read(_drawn(*curves).encode()))]
    assert len({round(x, 3) for x in xs}) == 12


@pytest.mark.parametrize("many", [1, 4])
def test_nothing_at_all_and_a_single_epsilon_can_be_drawn(many: int) -> None:
    assert marks(read(_drawn(_bare(*[None] * many), grid=GRID[:many]).encode())) == []
    assert len(marks(read(_drawn(_bare(*[2.0] * many), grid=GRID[:many], log=True).encode()))) == many


def test_each_kind_of_stroke_looks_different_and_has_its_key() -> None:
    curves = [_bare(1.0, 2.0, 3.0, 4.0, stroke=stroke) for stroke in STROKES]
    assert len({_drawn(one) for one in curves}) == len(STROKES)
    keys = dict(stroke_legend({stroke: f"a {stroke} line" for stroke in STROKES}))
    assert list(keys) == [f"a {stroke} line" for stroke in STROKES]
    assert len(set(keys.values())) == len(STROKES)


def test_dots_are_cut_off_at_their_limits_and_stand_on_the_truth() -> None:
    series = Series("", [0.2, 0.3, 7.0], [(0.1, 0.3), (-9.0, 9.0), (6.0, 8.0)])
    with settings():
        chart = read(
            figures.dots(
                "one", "A figure", ["a", "b", "c"], [series], truths=[0.2, None, 0.5], limits=(-0.5, 1.5)
            ).encode()
        )
    # Two dots, an arrowhead at either end of the second bar, and one for the third dot with its bar.
    assert len(marks(chart)) == 5
    strokes = [one for one in chart.all("path") if "var(--ink)" in one.attributes.get("style", "")]
    assert len(strokes) == 2
    xs = [x for x, _ in marks(chart)]
    assert max(xs) - min(xs) <= 352


@pytest.mark.parametrize(
    ("value", "ends", "shown", "bar", "arrows"),
    [
        (1.0, (0.5, 1.5), 1.0, (0.5, 1.5), []),
        (1.0, (-3.0, 1.5), 1.0, (0.0, 1.5), [False]),
        (5.0, (4.0, 6.0), None, (None, None), [True]),
        (5.0, (1.0, 9.0), None, (1.0, 2.0), [True]),
        (None, (None, None), None, (None, None), []),
        (-math.inf, (None, None), None, (None, None), [False]),
    ],
)
def test_a_series_is_cut_off_at_its_limits(
    value: float | None,
    ends: tuple[float | None, float | None],
    shown: float | None,
    bar: tuple[float | None, float | None],
    arrows: list[bool],
) -> None:
    within, heads = cut_off([7.0], Series("", [value], [ends]), (0.0, 2.0))
    assert (within.estimates, within.intervals) == ([shown], [bar])
    assert heads == [((7.0, 2.0 if up else 0.0), up) for up in arrows]
