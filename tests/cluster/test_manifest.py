"""Work units become tasks by the data alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cluster.manifest import DataFile, Unit, group_units

FILES = tuple(DataFile(f"{number}.parquet", 1, "1", "") for number in range(3))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), max_size=30), st.integers(1, 40))
def test_parts_take_all_units_in_order_and_none_is_larger_than_it_must_be(
    cuts: list[tuple[int, int]], least: int
) -> None:
    units = tuple(Unit(file, number, rows) for number, (file, rows) in enumerate(cuts))
    parts = group_units(units, FILES, least)
    assert [unit for part in parts for unit in part.units] == list(units)
    assert [part.index for part in parts] == list(range(len(parts)))
    assert all(part.rows >= least for part in parts[:-1])
    assert all(sum(unit.rows for unit in part.units[:-1]) < least for part in parts)
    assert all(part.files == {unit.file: FILES[unit.file] for unit in part.units} for part in parts)


def test_units_and_parts_have_names_of_their_own() -> None:
    units = [Unit(file, group, 5) for file in range(3) for group in range(2)]
    assert [unit.name for unit in units] == ["0/0", "0/1", "1/0", "1/1", "2/0", "2/1"]
    assert [part.name for part in group_units(units, FILES, 10)] == [
        f"part-0000{n}.parquet" for n in range(3)
    ]
