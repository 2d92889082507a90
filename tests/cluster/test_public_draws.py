"""Public draws of a population: the same whoever asks again, in another order, of other files, on other processes."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC

from cluster.dataset import open_dataset
from cluster.population import ClusterPopulation
from cluster.reduce import Engine
from tests.cluster.populations import DRINKS, people, populate, write
from udfs.categories import CategoryQuestion
from udfs.draws import Draws
from udfs.randomizer import Codes, Counts
from udfs.streams import derive_key

SEED = bytes(range(32))
ROWS = 700
IDS = {"rows": None, "integer ids": "id", "text ids": "name"}
every_id = pytest.mark.parametrize("column", IDS.values(), ids=IDS)


@dataclass(frozen=True)
class Shown:
    """A mechanism that shows the rows' public words."""

    draws: bool
    label: ClassVar[str] = "shown"

    def randomize(self, answers: Codes, draws: Draws) -> npt.NDArray[np.generic]:
        return draws.public(SEED).words(1)

    def zeros(self) -> Counts:
        return np.zeros(1, dtype=np.int64)

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        return np.array([len(reports)])


class Gathered:
    """A tally of all words as they are."""

    def zeros(self) -> list[int]:
        return []

    def tally(self, reports: Sequence[npt.NDArray[np.generic]]) -> list[int]:
        words: list[int] = reports[0].tolist()
        return words


def voters(rows: int = ROWS) -> pa.Table:
    """Return people with a text id too, some of it accented."""
    table = people(rows)
    return table.append_column(
        "name", pa.array([f"{number}-\u00c9va"[:: -1 if number % 2 else 1] for number in range(rows)])
    )


def words(population: ClusterPopulation, draws: bool = True) -> list[int]:
    """Return all rows' public words, in the order of their parts."""
    ask: Any = (CategoryQuestion("drinks", DRINKS), Shown(draws))
    counts, gathered = population.ask([ask], "show", [Gathered()])
    assert counts.tolist() == [len(gathered)]
    found: list[int] = gathered
    return found


def expected(table: pa.Table, column: str | None) -> list[int]:
    """Return the rows' words by another implementation."""
    encryptor = Cipher(algorithms.AES(derive_key(SEED, "public draws")), modes.ECB()).encryptor()

    def block(number: int, one: Any) -> bytes:
        if not isinstance(one, str):
            return struct.pack("<2Q", number if one is None else one, 0)
        code = CMAC(algorithms.AES(derive_key(SEED, "standing")))
        code.update(one.encode())
        return code.finalize()

    ids = table[column].to_pylist() if column else [None] * len(table)
    return [struct.unpack("<2Q", encryptor.update(block(*one)))[1] for one in enumerate(ids)]


@every_id
@pytest.mark.parametrize("draws", [True, False], ids=["asked", "only read"])
def test_a_rows_public_words_are_aes_of_its_id_or_its_number(
    tmp_path: Path, column: str | None, draws: bool
) -> None:
    table = voters()
    path = write(tmp_path / "data", [table.slice(0, 100), table.slice(100)], row_group_size=90)
    assert words(populate(tmp_path, path, column), draws) == expected(table, column)


@every_id
@pytest.mark.parametrize(
    ("cuts", "options", "rows_per_part"),
    [([ROWS], {}, 1 << 20), ([1, 2, ROWS - 3], {}, 1), ([300, 0, 400], {"row_group_size": 7}, 50)],
)
def test_they_depend_neither_on_files_nor_on_row_groups_nor_on_parts(
    tmp_path: Path, column: str | None, cuts: list[int], options: dict[str, Any], rows_per_part: int
) -> None:
    table, starts = voters(), np.cumsum([0, *cuts])
    parts = [table.slice(start, length) for start, length in zip(starts, cuts, strict=False)]
    path = write(tmp_path / "data", parts, **options)
    assert words(populate(tmp_path, path, column, rows_per_part=rows_per_part)) == expected(table, column)


def test_they_do_not_depend_on_the_blocks_that_rows_are_read_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cluster.blocks.BLOCK_ROWS", 64)
    path = write(tmp_path / "data", [voters()])
    assert words(populate(tmp_path, path)) == expected(voters(), None)


@pytest.mark.parametrize("column", ["id", "name"])
def test_with_ids_rows_may_stand_in_any_order(tmp_path: Path, column: str) -> None:
    table = voters()
    shuffled = table.take(pa.array(np.random.default_rng().permutation(ROWS)))
    path = write(tmp_path / "data", [shuffled.slice(0, 13), shuffled.slice(13)])
    found = dict(zip(shuffled[column].to_pylist(), words(populate(tmp_path, path, column)), strict=True))
    assert found == dict(zip(table[column].to_pylist(), expected(table, column), strict=True))


@every_id
def test_two_processes_find_the_same_words(tmp_path: Path, engine: Engine, column: str | None) -> None:
    table = voters()
    path = write(tmp_path / "data", [table.slice(start, 100) for start in range(0, ROWS, 100)])
    population = populate(tmp_path, path, column, engine, rows_per_part=1)
    assert sorted(words(population)) == sorted(expected(table, column))


def test_every_unit_knows_the_number_of_its_first_row(tmp_path: Path) -> None:
    table = voters()
    path = write(
        tmp_path / "data", [table.slice(0, 250), table.slice(0, 0), table.slice(250)], row_group_size=100
    )
    data = open_dataset(path, task_rows=150)
    assert [(unit.file, unit.first_row, unit.rows) for unit in data.units] == [
        (0, 0, 100), (0, 100, 100), (0, 200, 50), (2, 250, 100), (2, 350, 100), (2, 450, 100), (2, 550, 100), (2, 650, 50),
    ]  # fmt: skip
    assert [part.first_row for part in data.parts()] == [0, 200, 350, 550]


@pytest.mark.parametrize("claimed", [-1, 1 << 63, 1.5, "7", None, [3]])
def test_a_footer_whose_first_row_is_no_number_of_a_row_is_passed_over(tmp_path: Path, claimed: Any) -> None:
    entry = {"canvass": json.dumps({"first_row": claimed})}
    tables = [voters(5), voters(5).replace_schema_metadata(entry)]
    first_rows = [unit.first_row for unit in open_dataset(write(tmp_path / "data", tables)).units]
    assert first_rows == [0, 5]
