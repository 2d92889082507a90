"""Memory is bounded by the block: more row groups, or longer ones, take no more of it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.session import ClusterOptions, open_engine
from tests.cluster.populations import populate
from tests.e2e.society import Society
from tests.jobs.graph.circle import Circle
from udfs.asking import Ask
from udfs.categories import CategoryQuestion
from udfs.randomized_response import RandomizedResponse

GROUP_ROWS = 250_000
ROOM_KB = 64 << 10
ASK: list[Ask] = [(CategoryQuestion("answer", (0, 1, 2)), RandomizedResponse(3, 1))]


def peak_kb(unit: int) -> int:
    """Return the most memory that this process ever held."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])


def write(path: Path, groups: int, group_rows: int) -> str:
    """Write people whose ids, decoded, take eight bytes a row, and their answers as many."""
    schema = pa.schema({"id": pa.int64(), "answer": pa.int64()})
    options: Any = {"use_dictionary": ["answer"], "column_encoding": {"id": "DELTA_BINARY_PACKED"}}
    with pq.ParquetWriter(path, schema, **options) as writer:
        for group in range(groups):
            ids = np.arange(group * group_rows, (group + 1) * group_rows)
            writer.write_table(pa.table([ids, ids % 3], schema=schema), row_group_size=group_rows)
    return str(path)


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says of a process")
def test_more_row_groups_and_longer_ones_take_no_more_memory(tmp_path: Path) -> None:
    few = write(tmp_path / "few.parquet", 8, GROUP_ROWS)
    many = write(tmp_path / "many.parquet", 40, GROUP_ROWS)
    huge = write(tmp_path / "huge.parquet", 1, 40 * GROUP_ROWS)
    peaks = {}
    with open_engine(ClusterOptions(workers=1)) as engine:
        for name, path in {"few": few, "many": many, "huge": huge}.items():
            population = populate(tmp_path / name, path, "id", engine, checked=False)
            assert len(population.parts) == {"few": 1, "many": 5, "huge": 1}[name]
            population.collect(ASK, "randomize")
            peaks[name] = engine.reduce([0], peak_kb, max, "memory")
    assert pq.read_metadata(huge).row_group(0).column(0).total_uncompressed_size < 40 * GROUP_ROWS * 8
    assert peaks["many"] - peaks["few"] < ROOM_KB
    assert peaks["huge"] - peaks["few"] < ROOM_KB < 40 * GROUP_ROWS * 8 >> 10


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says of a process")
def test_no_process_holds_the_matrix_of_all_pairs(tmp_path: Path) -> None:
    few, many = 3000, 9000
    peaks = {}
    with open_engine(ClusterOptions(workers=1)) as engine:
        for nodes in (few, many):
            circle, society = Circle(tmp_path / str(nodes)), Society(tmp_path / "society", nodes)
            circle.names, circle.links = society.names, society.links
            circle.settle()
            circle.given |= {"privacy": {"epsilon": 5}, "release": {"graph": True}}
            assert len(circle.run(engine)[0]["result"]["triangles"]["estimates"]) == nodes
            peaks[nodes] = engine.reduce([0], peak_kb, max, "memory")
    assert peaks[many] - peaks[few] < ROOM_KB < many**2 >> 10  # at one byte a pair
