"""Row groups that are cut, where rows take long: nothing is asked twice, drawn alike, or passed over."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cluster.populations import ASKS, EXACT, people, populate, reports_by_id, write
from udfs.categories import CategoryQuestion
from udfs.errors import SchemaError
from udfs.randomized_response import RandomizedResponse


@pytest.mark.parametrize("id_column", [None, "id"])
def test_the_sum_of_answers_is_that_of_whole_row_groups(tmp_path: Path, id_column: str | None) -> None:
    path = write(tmp_path / "data", [people(500), people(123, 500)], row_group_size=300)
    sums = [
        populate(tmp_path / f"{unit_rows}", path, id_column, unit_rows=unit_rows, rows_per_part=1).ask(
            EXACT, "q"
        )[0]
        for unit_rows in (None, 37, 300, 1000)
    ]
    for one in sums[1:]:
        np.testing.assert_array_equal(one, sums[0])


def test_with_ids_reports_do_not_depend_on_the_cut(tmp_path: Path) -> None:
    path = write(tmp_path / "data", [people(200)])
    found = []
    for unit_rows in (None, 64):
        population = populate(tmp_path / f"{unit_rows}", path, "id", unit_rows=unit_rows, rows_per_part=1)
        population.collect(ASKS, "q")
        found.append(reports_by_id(population))
    assert found[0] == found[1]


def test_pieces_of_a_row_group_with_equal_answers_draw_other_coins(tmp_path: Path) -> None:
    path = write(tmp_path / "data", [{"smokes": pa.array(["no"] * 256)}])
    population = populate(tmp_path, path, unit_rows=64, rows_per_part=1)
    population.collect([(CategoryQuestion("smokes", ("no", "yes")), RandomizedResponse(2, 1))], "q")
    folder = population.staging.folder("reports")
    pieces = [pq.read_table(folder.path(name))["smokes"].to_pylist() for name in sorted(population.files)]
    assert [len(piece) for piece in pieces] == [64] * 4
    assert len(set(map(tuple, pieces))) == 4


@pytest.mark.parametrize(("first", "second"), [(3, 7), (3, 199), (60, 70)])
def test_an_id_that_stands_twice_is_found_across_pieces(tmp_path: Path, first: int, second: int) -> None:
    ids = list(range(200))
    ids[second] = first
    path = write(tmp_path / "data", [{"id": ids, "drinks": ["never"] * 200}])
    population = populate(tmp_path, path, "id", unit_rows=64, rows_per_part=1)
    with pytest.raises(SchemaError, match="2 rows whose id repeats"):
        population.check([EXACT[0][0]])
