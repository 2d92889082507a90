"""One core, six categories, epsilon 2: how many reports a second the randomizer makes."""

from __future__ import annotations

import json

import numpy as np

from benchmarks.measure import best_seconds, pin_to_one_core
from cluster.allocator import keep_freed_memory
from cluster.manifest import BLOCK_ROWS
from udfs.draws import IdDraws, RowDraws
from udfs.identity import id_blocks
from udfs.randomized_response import RandomizedResponse
from udfs.streams import Secret, block_key
from udfs.subset_selection import SubsetSelection

CELLS, EPSILON = 6, 2.0
_BLOCKS = 32
_ROWS = _BLOCKS * BLOCK_ROWS


def main() -> None:
    """Print reports a second as JSON."""
    import pyarrow as pa

    pin_to_one_core()
    keep_freed_memory()
    key = Secret.new().key("benchmark")
    answers = (np.arange(_ROWS) % CELLS).astype(np.uint8).reshape(_BLOCKS, BLOCK_ROWS)
    ids = pa.array(np.random.default_rng(0).permutation(_ROWS))
    texts = ids.cast(pa.string())
    design, sets = RandomizedResponse(CELLS, EPSILON), SubsetSelection(CELLS, EPSILON)

    def keystream() -> None:
        for _ in range(_BLOCKS):
            RowDraws(key, BLOCK_ROWS).words(0)

    def by_row() -> None:
        for place, block in enumerate(answers):
            design.randomize(block, RowDraws(block_key(key, (0, 0, place), block), BLOCK_ROWS))

    def by_id(column: pa.Array) -> None:
        for place, block in enumerate(answers):
            blocks = id_blocks(column.slice(place * BLOCK_ROWS, BLOCK_ROWS), key)
            design.randomize(block, IdDraws(key, blocks, block))

    def subsets() -> None:
        for place, block in enumerate(answers):
            sets.randomize(block, RowDraws(block_key(key, (0, 0, place), block), BLOCK_ROWS))

    seconds = {
        "bare keystream, 8 bytes a report": best_seconds(keystream),
        "randomized response by row": best_seconds(by_row),
        "randomized response by integer id": best_seconds(lambda: by_id(ids)),
        "randomized response by text id": best_seconds(lambda: by_id(texts), 3),
        "subset selection by row": best_seconds(subsets, 3),
    }
    print(json.dumps({name: _ROWS / time for name, time in seconds.items()}))


if __name__ == "__main__":
    main()
