"""A study of a graph's statistics: what it measures, against laws and by hand."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, ttest_1samp

from cluster.dataset import open_dataset
from jobs.catalogue import load
from jobs.graph import replicate
from jobs.graph.replicate import STATISTICS, WAYS, Point, Replicate, join
from jobs.graph.study import grid, units_of
from jobs.graph.study_spec import GraphStudyTable
from tests.jobs.graph.circle import NODES, Circle
from tests.jobs.house import Unusable
from udfs.errors import SpecError
from udfs.link_release import LinkRelease
from udfs.link_response import LinkResponse

MECHANISMS = ("randomized-response", "laplace", "global-sensitivity", "smooth-sensitivity", "zero")


@pytest.fixture
def circle(tmp_path: Path) -> Circle:
    circle = Circle(tmp_path)
    circle.given["population"]["public"] = True
    circle.given["study"] = {"epsilons": [1, 3], "replications": 30, "seed": 4}
    return circle


def point_of(
    study: dict[str, Any], statistic: str, mechanism: str, way: str, epsilon: float | None
) -> dict[str, Any]:
    (found,) = (
        one
        for one in study["points"]
        if (one["statistic"], one["mechanism"], one["way"], one["epsilon"])
        == (statistic, mechanism, way, epsilon)
    )
    return found


@pytest.mark.parametrize("seed", [-1, 1 << 256])
def test_a_seed_is_of_32_bytes(circle: Circle, seed: int) -> None:
    circle.given["study"] |= {
        "seed": (1 << 256) - 1,
        "mechanisms": ["randomized-response"],
        "replications": 2,
    }
    assert circle.run()[0]["result"]["study"]["seed"] == (1 << 256) - 1
    circle.given["study"]["seed"] = seed
    with pytest.raises(SpecError, match=r"study\.seed"):
        circle.run(Unusable())


def test_every_mechanism_is_measured_at_every_epsilon_and_nothing_is_charged(circle: Circle) -> None:
    document, _ = circle.run()
    study = document["result"]["study"]
    assert document["privacy"] == {
        "model": "none",
        "basis": "a study on public data: nothing is protected",
        "epsilon": None,
        "spent_before": 0.0,
        "spent_after": 0.0,
        "limit": None,
    }
    keys = {(one["statistic"], one["mechanism"], one["way"], one["epsilon"]) for one in study["points"]}
    expected = {
        (statistic, mechanism, way, epsilon)
        for mechanism in MECHANISMS[:-1]
        for way in WAYS[mechanism]
        for epsilon in (1.0, 3.0)
        for statistic in STATISTICS
        if (statistic, mechanism) != ("degrees", "smooth-sensitivity")
    } | {(statistic, "zero", "output", None) for statistic in STATISTICS}
    assert keys == expected
    assert set(circle.files()) == {"result.json", "study.json", "report.html", "manifest.json"}
    assert json.loads((circle.out / "study.json").read_text()) == study
    matrix = circle.matrix
    at = np.diag(matrix @ matrix @ matrix) // 2
    assert (study["nodes"], study["links"], study["triangles"]) == (NODES, len(circle.links), at.sum() // 3)
    assert point_of(study, "triangles", "zero", "output", None)["mean_error"]["value"] == pytest.approx(
        at.mean()
    )
    assert point_of(study, "degrees", "zero", "output", None)["median_error"]["value"] == np.median(
        matrix.sum(axis=0)
    )
    assert circle.run()[1]


def test_errors_are_those_that_the_law_gives(circle: Circle) -> None:
    """Means over thirty replications of forty nodes: within a sixth."""
    study = circle.run()[0]["result"]["study"]
    compared = [one for one in study["points"] if one["predicted"] is not None]
    assert {(one["mechanism"], one["statistic"]) for one in compared} == {
        ("randomized-response", "degrees"),
        ("laplace", "degrees"),
        ("global-sensitivity", "degrees"),
        ("global-sensitivity", "triangles"),
    }
    for one in compared:
        assert one["mean_error"]["value"] == pytest.approx(one["predicted"], rel=1 / 6)
    alpha = math.exp(-3 / (3 * (NODES - 2)))
    law = point_of(study, "triangles", "global-sensitivity", "output", 3.0)["predicted"]
    assert law == pytest.approx(2 * alpha / (1 - alpha**2))


@pytest.mark.parametrize("epsilon", [1, 6])
def test_the_law_of_degrees_is_that_of_each_node_s_own_links(circle: Circle, epsilon: int) -> None:
    """Of few flips, which are far from normal: sqrt(2 / pi) standard errors would be two thirds too much."""
    circle.given["study"] = {"epsilons": [epsilon], "replications": 2, "mechanisms": ["randomized-response"]}
    point = point_of(
        circle.run()[0]["result"]["study"], "degrees", "randomized-response", "unbiased", epsilon
    )
    lie, off = 1 / (1 + math.exp(epsilon)), []
    for links in circle.matrix.sum(axis=0).tolist():
        law = [binom.pmf(range(pairs + 1), pairs, lie) for pairs in (links, NODES - 1 - links)]
        mean = (NODES - 1 - 2 * links) * lie
        off.append(
            sum(
                one * other * abs(made - lost - mean)
                for lost, one in enumerate(law[0])
                for made, other in enumerate(law[1])
            )
        )
    assert point["predicted"] == pytest.approx(np.mean(off) / (1 - 2 * lie), rel=1e-9)
    normal = math.sqrt(2 / math.pi * (NODES - 1) * lie * (1 - lie)) / (1 - 2 * lie)
    assert normal / point["predicted"] == pytest.approx(1 if epsilon == 1 else 1.64, rel=0.03)


def test_rounded_laplace_noise_gives_away_less_than_its_parameter(circle: Circle) -> None:
    study = circle.run()[0]["result"]["study"]
    spent = [
        point_of(study, "degrees", mechanism, "unbiased", 3.0)["true_epsilon"]
        for mechanism in ("randomized-response", "laplace")
    ]
    assert spent == [3.0, pytest.approx(math.log(2 * math.exp(1.5) - 1))]
    assert point_of(study, "degrees", "zero", "output", None)["true_epsilon"] is None


def test_intervals_are_student_s_over_replications(circle: Circle) -> None:
    study = circle.run()[0]["result"]["study"]
    table = GraphStudyTable(epsilons=(Decimal(1), Decimal(3)), replications=30, seed=4)
    points = grid(table)
    place = points.index(Point("laplace", Decimal(3)))
    (found,) = Replicate.of(points, circle.links, NODES, seed=4)((place, 0, 30))
    for statistic, kind in enumerate(STATISTICS):
        one = point_of(study, kind, "laplace", "unbiased", 3.0)
        for name, errors in (("mean_error", found.means), ("median_error", found.medians)):
            interval = ttest_1samp(errors[:, 0, statistic], 0).confidence_interval(0.95)
            assert one[name]["interval"] == pytest.approx(list(interval))


def test_without_lies_and_noise_to_speak_of_nothing_is_off(circle: Circle) -> None:
    mechanisms = ["randomized-response", "laplace", "global-sensitivity"]
    circle.given["study"] = {"epsilons": [60_000], "replications": 2, "mechanisms": mechanisms}
    study = circle.run()[0]["result"]["study"]
    assert len(study["points"]) == 2 * (2 + 2 + 1)
    for one in study["points"]:
        assert one["mean_error"]["value"] == pytest.approx(0, abs=1e-12)
        assert one["median_error"]["value"] == pytest.approx(0, abs=1e-12)


def test_a_study_s_rebuilt_graphs_keep_and_add_as_many_links_as_a_released_one(
    circle: Circle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 200 reported links 73 are kept, and 16 other pairs are added."""
    pairs, drawn = np.stack(np.triu_indices(NODES, 1), axis=1)[:200], []
    monkeypatch.setattr(LinkResponse, "report", lambda _, links, tile, key: tile.to_bits(tile.select(pairs)))

    def release(kept: int, added: int) -> LinkRelease:
        drawn.append((kept, added))
        return LinkRelease(kept, added)

    monkeypatch.setattr(replicate, "LinkRelease", release)
    Replicate.of((Point("laplace", Decimal(2)),), circle.links, NODES, seed=1)((0, 0, 2))
    lie = LinkResponse.of("laplace", Decimal(2)).support_if_false
    links = round((200 - lie * 780) / (1 - 2 * lie))
    kept = round(200 * (1 - lie) * links / ((1 - lie) * links + lie * (780 - links)))
    assert drawn == [(kept, links - kept)] * 2 == [(73, 16)] * 2


def test_cauchy_noise_has_a_median_and_no_mean(circle: Circle) -> None:
    study = circle.run()[0]["result"]["study"]
    one = point_of(study, "triangles", "smooth-sensitivity", "output", 3.0)
    assert one["mean_error"] is None
    (smooth,) = (one["value"] for one in study["sensitivity"]["smooth"] if one["epsilon"] == 3.0)
    assert one["median_error"]["value"] == pytest.approx(2 / 3 * smooth, rel=1 / 3)
    assert study["sensitivity"]["local"] <= smooth <= study["sensitivity"]["global"] == 3 * (NODES - 2)


def test_sensitivities_are_three_times_those_of_the_published_formula(circle: Circle) -> None:
    study = circle.run()[0]["result"]["study"]
    matrix = circle.matrix
    both, degrees = matrix @ matrix, matrix.sum(axis=0)
    one = degrees[:, None] + degrees - 2 * both - 2 * matrix
    off = ~np.eye(NODES, dtype=bool)
    steps = range(2 * NODES)
    local = [int(np.minimum(both + (s + np.minimum(s, one)) // 2, NODES - 2)[off].max()) for s in steps]
    assert study["sensitivity"]["local"] == 3 * local[0]
    assert study["sensitivity"]["global"] == 3 * (NODES - 2) == 3 * local[-1]
    for found in study["sensitivity"]["smooth"]:
        beta = float(found["epsilon"]) / (2 * NODES)
        smooth = 3 * max(math.exp(-beta * s) * most for s, most in zip(steps, local, strict=True))
        assert found["value"] == pytest.approx(smooth, rel=1e-5)
    assert study["most_links_of_a_node"] == degrees.max()
    assert study["most_triangles_at_a_node"] == circle.triangles.max()


def test_replications_are_the_same_however_they_are_dealt_out(circle: Circle) -> None:
    points = grid(GraphStudyTable(epsilons=(Decimal(2),), replications=4))
    replicate = Replicate.of(points, circle.links, NODES, seed=1)
    for place, point in enumerate(points):
        (whole,) = replicate((place, 0, 4))
        parts = join([replicate((place, 0, 1)), replicate((place, 1, 4))])
        assert [part.point for part in parts] == [place, place]
        np.testing.assert_array_equal(np.concatenate([part.means for part in parts]), whole.means)
        np.testing.assert_array_equal(np.concatenate([part.medians for part in parts]), whole.medians)
        if point.mechanism != "zero":
            assert len(np.unique(whole.means[:, 0, -1])) == 4
    other = Replicate.of(points, circle.links, NODES, seed=2)
    assert other((0, 0, 4))[0].means.tolist() != replicate((0, 0, 4))[0].means.tolist()


def test_the_answer_zero_is_given_once() -> None:
    study = GraphStudyTable(epsilons=(Decimal(1), Decimal(2)), replications=25)
    points = grid(study)
    assert points.count(Point("zero", Decimal(1))) == 1
    assert len(points) == 9
    runs = [
        stop - first for place, first, stop in units_of(study, points) if points[place].mechanism == "laplace"
    ]
    assert runs == [10, 10, 5] * 2


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"epsilons": [2, 1]}, "must rise"),
        ({"epsilons": []}, "epsilons"),
        ({"mechanisms": ["zero", "zero"]}, "must differ"),
        ({"mechanisms": ["magic"]}, "mechanisms"),
        ({"replications": 1}, "replications"),
    ],
)
def test_a_study_that_cannot_be_is_refused(circle: Circle, values: dict[str, Any], match: str) -> None:
    circle.given["study"] |= values
    with pytest.raises(SpecError, match=match):
        circle.spec()


def test_a_graph_without_a_triangle_s_nodes_is_not_studied(circle: Circle) -> None:
    circle.names, circle.links = circle.names[:2], circle.links[:0]
    circle.settle(files=1)
    with pytest.raises(SpecError, match="is of graphs of 3 to 4,096 nodes"):
        circle.run(Unusable())


@pytest.mark.parametrize("mechanism", MECHANISMS[:-1])
def test_an_epsilon_too_small_for_a_mechanism_is_refused_before_a_row_is_read(
    circle: Circle, mechanism: str
) -> None:
    circle.given["study"] |= {"epsilons": [1e-12, 1], "mechanisms": [mechanism]}
    with pytest.raises(SpecError, match=r"must be (invertible|at least 2\*\*)"):
        circle.run(Unusable())


def test_the_plan_of_a_study_says_what_the_law_gives(circle: Circle) -> None:
    job, spec = load(circle.given)
    planned = job.plan(spec, open_dataset(str(circle.nodes)))
    assert planned["epsilon"] == {"total": 0, "charged": 0}
    assert len(planned["predicted"]["errors"]) == 2 * (2 * 2 + 2 * 2 + 2 + 2 + 1)
