from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from jobs.survey.large_tables import LARGEST_SHOWN, move_large_tables
from tests.jobs.house import House
from tests.jobs.survey.surveys import people

NOISELESS = 1000
SIDES = 101, 100  # 10,100 cells: a hundred more than are shown


def labels(cells: int, letter: str) -> list[str]:
    return [f"{letter}{place}" for place in range(cells)]


@pytest.fixture
def counts() -> np.ndarray:
    """How many of 3,000 people are in each cell."""
    counts = np.zeros(SIDES, dtype=np.int64)
    np.add.at(counts, tuple(np.random.default_rng(1).integers(0, side, 3000) for side in SIDES), 1)
    return counts


def given(house: House, counts: np.ndarray, **tables: Any) -> None:
    """Ask people in these cells without noise for the table of both attributes."""
    names = {"a": labels(counts.shape[0], "a"), "b": labels(counts.shape[1], "b")}
    house.write(people(counts, names))
    house.given = {key: house.given[key] for key in ("job", "population", "output")} | tables
    alone = {} if tables else {"epsilon": NOISELESS}
    house.given["attributes"] = {name: {"categories": own} | alone for name, own in names.items()}
    house.given["statistics"] = [{"kind": "proportions", "of": ["b", "a"]}]


def test_a_large_table_is_a_file_with_a_row_a_cell(house: House, counts: np.ndarray) -> None:
    given(house, counts)
    document, _ = house.run()
    (table,) = document["result"]["statistics"]
    assert (table["table"], table["cells"]) == ("tables/0.parquet", counts.size)
    assert (table["estimate"], table["standard_error"], table["categories"]) == (None, None, None)
    assert (table["kind"], table["of"], table["unit"]) == ("proportions", ["b", "a"], "share")
    rows = pq.read_table(io.BytesIO(house.files()["tables/0.parquet"]))
    assert rows.column_names == ["b", "a", "proportion", "standard_error"]
    assert rows.num_rows == counts.size
    shares = rows["proportion"].to_numpy()
    assert shares.sum() == pytest.approx(1, abs=1e-9)
    assert shares == pytest.approx(counts.T.ravel() / 3000, abs=1e-12)
    first, last = rows.slice(0, 1).to_pylist()[0], rows.slice(rows.num_rows - 1).to_pylist()[0]
    assert (first["b"], first["a"], last["b"], last["a"]) == ("b0", "a0", "b99", "a100")
    expected = counts.T.ravel() / 3000
    assert rows["standard_error"].to_numpy() == pytest.approx(
        np.sqrt(expected * (1 - expected) / 2999), abs=1e-9
    )
    assert "tables/0.parquet" in json.loads(house.files()["manifest.json"])["files"]


def test_a_joint_table_that_is_large_is_a_file_too(house: House, counts: np.ndarray) -> None:
    given(house, counts, joint=[{"of": ["a", "b"], "epsilon": NOISELESS}])
    document, _ = house.run()
    (statistic,), (joint,) = document["result"]["statistics"], document["result"]["joint"]
    assert (statistic["table"], joint["table"]) == ("tables/0.parquet", "tables/1.parquet")
    assert (joint["proportions"], joint["standard_errors"]) == (None, None)
    assert joint["shape"] == list(SIDES)
    files = house.files()
    shares = [
        pq.read_table(io.BytesIO(files[one["table"]]))["proportion"].to_numpy() for one in (statistic, joint)
    ]
    assert pytest.approx(shares[1].reshape(SIDES), abs=1e-12) == shares[0].reshape(SIDES[::-1]).T


def test_a_result_with_large_tables_is_answered_again_whole(house: House, counts: np.ndarray) -> None:
    given(house, counts)
    first, files = house.run()[0], house.files()
    again, stored = house.run()
    assert stored
    assert again == first
    assert house.files() == files


@pytest.mark.parametrize("cells", [LARGEST_SHOWN - 1, LARGEST_SHOWN, LARGEST_SHOWN + 1])
def test_a_table_is_moved_beyond_the_most_that_are_shown(cells: int) -> None:
    table = {
        "of": ["a"],
        "categories": [list(range(cells))],
        "estimate": np.full(cells, 1 / cells),
        "standard_error": np.full(cells, 0.5),
    }
    number = {"kind": "entropy", "of": ["a"], "estimate": 1.5, "standard_error": 0.1}
    whole = {"statistics": [number, table], "joint": [], "respondents": 7}
    moved, files = move_large_tables(whole)
    assert moved["respondents"] == 7
    assert moved["statistics"][0] is number
    if cells <= LARGEST_SHOWN:
        assert moved["statistics"][1] is table
        assert files == {}
    else:
        assert list(files) == ["tables/0.parquet"]
        assert moved["statistics"][1]["cells"] == cells
        rows = pq.read_table(io.BytesIO(files["tables/0.parquet"]))
        assert rows["a"].to_pylist() == list(range(cells))
        assert whole["statistics"][1]["estimate"] is not None
