"""A data set outside of jobs is put in place whole, or not at all, and is read in turn."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster import blocks
from cluster.dataset import open_dataset
from cluster.partitioned import check_free, write_partitioned
from cluster.storage import Store
from udfs.errors import SpecError

SCHEMA = pa.schema([("x", pa.int64())], {"canvass": '{"version": 1}'})


def tables(*rows: list[int]) -> Iterator[pa.Table]:
    return (pa.table({"x": own}, SCHEMA) for own in rows)


def test_what_is_written_can_be_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    new = store.folder("new")
    assert write_partitioned(new.url, SCHEMA, [tables([1, 2], [3]), tables(), tables([4, 5, 6])]) == 3
    assert new.names() == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]
    assert [name for name in store.names() if not name.startswith("new/")] == []
    data = open_dataset(new.url)
    assert list(data.metadata) == [{"version": 1}] * 3
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 2)
    found = [(url.rpartition("/")[2], block["x"].to_pylist()) for url, block in data.read(["x"])]
    first, last = "part-00000.parquet", "part-00002.parquet"
    assert found == [(first, [1, 2]), (first, [3]), (last, [4, 5]), (last, [6])]


def test_a_folder_that_holds_something_is_refused(store: Store) -> None:
    store.write("a", b"one")
    for folder in (store, Store(f"{store.url}/a")):
        with pytest.raises(SpecError, match="must be a folder that is empty or not there"):
            write_partitioned(folder.url, SCHEMA, [tables([1])])
        with pytest.raises(SpecError, match="must be a folder that is empty or not there"):
            check_free(folder.url)
    assert store.names() == ["a"]
    check_free(f"{store.url}/b")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_nothing(store: Store, error: type[BaseException]) -> None:
    def fail() -> Iterator[pa.Table]:
        yield from tables([1])
        raise error

    with pytest.raises(error):
        write_partitioned(store.folder("new").url, SCHEMA, [tables([1, 2]), fail()])
    assert store.names() == []
    assert not store.exists("new")


def test_a_folder_that_is_filled_meanwhile_keeps_what_it_holds(store: Store) -> None:
    if not store.local:
        pytest.skip("an object store has no folders: its files are put in place one by one")

    def fill() -> Iterator[pa.Table]:
        store.folder("new").make()
        store.write("new/a", b"one")
        yield from tables([1])

    with pytest.raises(SpecError, match="must be a folder that is empty or not there"):
        write_partitioned(store.folder("new").url, SCHEMA, [fill()])
    assert store.names() == ["new/a"]


def test_an_empty_folder_is_taken(store: Store) -> None:
    new = store.folder("new")
    new.make()
    write_partitioned(new.url, SCHEMA, [tables([1])])
    assert pq.read_table(new.open("part-00000.parquet"))["x"].to_pylist() == [1]
