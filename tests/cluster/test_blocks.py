"""Rows come in exact blocks, from files that are as they were."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cluster.blocks
from cluster.blocks import check_unchanged, read_blocks
from cluster.dataset import open_dataset
from cluster.storage import filesystem
from tests.cluster.populations import people, write
from udfs.errors import SchemaError

BLOCK = 64
COLUMNS = {
    "number": pa.array([row * 7 % 100 for row in range(400)], pa.int16()),
    "text": pa.array([f"answer {row % 37}" if row % 5 else None for row in range(400)]),
    "ids": pa.array([f"person {row}" for row in range(400)], pa.large_string()),
    "words": pa.array([f"word {row % 90}" for row in range(400)]).dictionary_encode(),
    "share": pa.array([row / 8 for row in range(400)]),
}


@settings(deadline=None, max_examples=80)
@given(
    rows=st.integers(1, 400),
    group=st.integers(10, 200),
    options=st.fixed_dictionaries(
        {
            "data_page_size": st.sampled_from([1, 64, 1 << 20]),
            "write_batch_size": st.sampled_from([1, 7, 100, 1024]),
            "dictionary_pagesize_limit": st.sampled_from([64, 1 << 20]),
            "use_dictionary": st.booleans(),
            "data_page_version": st.sampled_from(["1.0", "2.0"]),
            "compression": st.sampled_from(["none", "snappy", "zstd"]),
        }
    ),
)
def test_blocks_are_exact_whatever_the_row_groups_and_pages(
    tmp_path_factory: pytest.TempPathFactory, rows: int, group: int, options: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("cuts")
    table = pa.table(COLUMNS)[:rows]
    data = open_dataset(write(folder, [table], row_group_size=group, **options))
    start = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster.blocks, "BLOCK_ROWS", BLOCK)
        for unit in data.units:
            blocks = list(read_blocks(data.files[0], unit, table.column_names))
            assert [block.num_rows for block in blocks[:-1]] == [BLOCK] * (len(blocks) - 1)
            assert 0 < blocks[-1].num_rows <= BLOCK
            for block in blocks:
                expected = table[start : start + block.num_rows]
                assert block.to_pydict() == expected.to_pydict()
                start += block.num_rows
    assert start == rows
    shutil.rmtree(folder)


def test_text_comes_as_dictionaries_and_only_the_columns_asked_for(tmp_path: Path) -> None:
    data = open_dataset(write(tmp_path, [pa.table(COLUMNS)]))
    (block,) = read_blocks(data.files[0], data.units[0], ["text", "number"])
    assert pa.types.is_dictionary(block.schema.field("text").type)
    assert sorted(block.schema.names) == ["number", "text"]


@pytest.mark.parametrize("change", ["touched", "longer", "gone"])
def test_a_file_that_changed_since_the_start_is_refused(tmp_path: Path, change: str) -> None:
    data = open_dataset(write(tmp_path, [people(3)]))
    (file,), path = data.files, tmp_path / "000.parquet"
    check_unchanged(file)
    if change == "touched":
        os.utime(path, ns=(1, 1))
    elif change == "longer":
        path.write_bytes(path.read_bytes() + b"x")
    else:
        path.unlink()
    with pytest.raises(SchemaError, match=r"000\.parquet: must stay as it was when the job started"):
        check_unchanged(file)


def test_an_object_that_was_written_anew_is_refused(bucket: str, tmp_path: Path) -> None:
    store = filesystem(f"{bucket}/changed")[0]
    store.put(write(tmp_path, [people(3), people(4)]), "population/changed", recursive=True)
    data = open_dataset(f"{bucket}/changed")
    assert [file.url for file in data.files] == [f"{bucket}/changed/00{n}.parquet" for n in (0, 1)]
    check_unchanged(data.files[1])
    store.put(f"{tmp_path}/000.parquet", "population/changed/001.parquet")
    with pytest.raises(SchemaError, match=r"001\.parquet: must stay as it was"):
        check_unchanged(data.files[1])
