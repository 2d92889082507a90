"""Which coins the graph job tosses: the same where it goes on, others where anything else is asked."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.jobs.graph.circle import LINKS, NODES, Circle, Counting
from tests.jobs.house import Unusable
from udfs.errors import ClusterError, SchemaError
from udfs.streams import Secret


@pytest.fixture
def circle(tmp_path: Path) -> Circle:
    return Circle(tmp_path)


def test_a_result_that_is_in_place_is_not_drawn_again(circle: Circle) -> None:
    circle.given |= {"privacy": {"epsilon": 1}, "release": {"graph": True}}
    document, _ = circle.run()
    before = circle.files()
    assert circle.run(Unusable()) == (document, True)
    assert circle.files() == before
    assert circle.charges() == ["charged"]


def test_reports_do_not_depend_on_how_rows_are_cut_ordered_or_repeated(tmp_path: Path) -> None:
    """Under one secret: the nodes and their links are all that counts."""
    secret, found = Secret.new(), []
    for place, (files, order, repeats) in enumerate(((1, 1, 1), (4, -1, 1), (2, 1, 3))):
        circle = Circle(tmp_path / str(place))
        circle.given["privacy"]["epsilon"] = 2
        circle.given["release"] = {"graph": True}
        circle.settle(files, np.tile(circle.links[::order], (repeats, 1)))
        circle.know(circle.names[:: -order or 1])
        document, _ = circle.run(secret=secret)
        found.append((document["result"], circle.released()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("mechanism", ["randomized-response", "discrete-laplace"])
@pytest.mark.parametrize(("links", "epsilon"), [(LINKS - 1, 1), (LINKS, 1.01)])
def test_one_link_more_or_another_epsilon_draws_other_coins(
    tmp_path: Path, mechanism: str, links: int, epsilon: float
) -> None:
    """Under one secret the difference of two reports would otherwise be the link, or a second look at it."""
    secret, found = Secret.new(), []
    for place, (noted, spent) in enumerate(((LINKS, 1), (links, epsilon))):
        circle = Circle(tmp_path / str(place))
        circle.given["privacy"] = {"epsilon": spent, "mechanism": mechanism}
        circle.settle(noted=circle.links[:noted])
        degrees = circle.run(secret=secret)[0]["result"]["degrees"]
        found.append(np.array(degrees["estimates"]) / degrees["standard_errors"])
    assert np.count_nonzero(np.abs(found[0] - found[1]) > 0.05) > NODES / 2


@pytest.mark.parametrize("mechanism", ["randomized-response", "discrete-laplace"])
def test_nodes_of_other_ids_draw_other_coins_though_their_numbers_are_the_same(
    tmp_path: Path, mechanism: str
) -> None:
    secret, found = Secret.new(), []
    for letter in ("n", "m"):
        circle = Circle(tmp_path / letter)
        circle.names = np.char.replace(circle.names, "n", letter)
        circle.given["privacy"] = {"epsilon": 1, "mechanism": mechanism}
        circle.settle()
        found.append(np.array(circle.run(secret=secret)[0]["result"]["degrees"]["estimates"]))
    assert np.count_nonzero(np.abs(found[0] - found[1]) > 1e-9) > NODES / 2


@pytest.mark.parametrize("stage", ["links", "common neighbours", "release"])
def test_a_run_that_was_cut_off_draws_the_same_reports_again(tmp_path: Path, stage: str) -> None:
    secret = Secret.new()
    results = []
    for place, cut in enumerate((None, stage)):
        circle = Circle(tmp_path / str(place))
        circle.given |= {"privacy": {"epsilon": 1}, "release": {"graph": True}}
        if cut is not None:
            with pytest.raises(ClusterError, match="it is gone"):
                circle.run(Counting(cut), secret=secret)
        results.append((circle.run(secret=secret)[0]["result"], circle.released()))
        assert circle.charges() == ["charged"]
        assert not list(circle.out.glob(".canvass-*"))
    assert results[0] == results[1]


def test_links_that_change_under_an_interrupted_run_are_refused(circle: Circle) -> None:
    circle.given["privacy"]["epsilon"] = 1
    sizes = {path: path.stat() for path in circle.people.iterdir()}
    with pytest.raises(ClusterError):
        circle.run(Counting("common neighbours"))
    path = next(iter(sizes))
    data = path.read_bytes()
    at = data.index(b"n0")
    path.write_bytes(data[: at + 2] + bytes([data[at + 2] ^ 1]) + data[at + 3 :])
    os.utime(path, ns=(sizes[path].st_atime_ns, sizes[path].st_mtime_ns))
    with pytest.raises((SchemaError, ClusterError)):
        circle.run()


def test_other_links_or_other_nodes_are_drawn_and_charged_anew(circle: Circle) -> None:
    """Of either table alone: a stored result is of both."""
    first = circle.run()[0]["result"]
    assert circle.run()[1]
    circle.write({"a": circle.names[:2], "b": circle.names[2:4]})
    second, stored = circle.run()
    assert not stored
    assert second["result"]["edges"] != first["edges"]
    circle.know(np.append(circle.names, "n99"))
    third, stored = circle.run()
    assert not stored
    assert third["result"]["nodes"] == NODES + 1
    assert circle.charges() == ["charged"] * 3
