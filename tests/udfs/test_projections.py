from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from tests.udfs.balls import THREE, vectors, weak_orders
from udfs.ball import Ball
from udfs.contests import EveryFirstChoice
from udfs.directions import Directions, row_names
from udfs.draws import Numbered, PublicDraws
from udfs.projections import project, project_first_choices


@pytest.mark.parametrize("candidates", [2, 3, 4])
def test_first_choices_in_every_set_are_projected_as_if_laid_out(candidates):
    contest, places = EveryFirstChoice(candidates), weak_orders(candidates)
    directions = Directions(bytes(32), row_names(PublicDraws(Numbered(0, len(places))), bytes(32)))
    laid_out = project(contest.encode(places), directions)
    np.testing.assert_array_equal(project_first_choices(contest, places, directions), laid_out)


def test_so_are_those_of_many_candidates():
    contest, chance = EveryFirstChoice(9), np.random.default_rng()
    levels = chance.integers(0, 9, (50, 9))
    places = (levels[:, None, :] < levels[:, :, None]).sum(axis=2).astype(np.uint8)
    directions = Directions(bytes(32), row_names(PublicDraws(Numbered(0, 50)), bytes(32)))
    laid_out = project(contest.encode(places), directions)
    np.testing.assert_array_equal(project_first_choices(contest, places, directions), laid_out)


@pytest.mark.parametrize("name", THREE)
def test_projections_are_exact(name):
    contest, transform = THREE[name]
    ball = Ball(contest, Decimal(1), bytes(32), transform=transform)
    places = weak_orders(3)
    directions = Directions(ball.seed, row_names(PublicDraws(Numbered(0, len(places))), ball.seed))
    coordinates = directions.coordinates(range(contest.dimension)).tolist()
    squares, along = ball._project(places, directions)
    for row, x in enumerate(vectors(ball, places).tolist()):
        assert squares[row] == sum(entry * entry for entry in x)
        assert along[row] == sum(v * entry for v, entry in zip(coordinates[row], x, strict=True))
    assert squares.max() == ball.squared_norm
