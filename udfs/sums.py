"""Sums of reports as JSON, so that what was added up can be kept and need not be asked for again."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from udfs.ciphertexts import CiphertextSum
from udfs.tables import SparseCounts


def sum_to_json(counts: Any) -> dict[str, Any]:
    """Return a sum of reports as JSON values: int64 numbers, the runs of a sparse table, or ciphertexts.

    Examples
    --------
    >>> sum_to_json(np.array([1, 2]))
    {'shape': (2,), 'int64': 'AQAAAAAAAAACAAAAAAAAAA=='}
    """
    if isinstance(counts, SparseCounts):
        whole = counts.merged()
        return {"size": whole.size, "runs": [sum_to_json(array) for run in whole.runs for array in run]}
    if isinstance(counts, CiphertextSum):
        return {"ciphertexts": counts.to_json()}
    data = base64.b64encode(np.ascontiguousarray(counts, dtype="<i8").tobytes()).decode()
    return {"shape": counts.shape, "int64": data}


def sum_from_json(found: dict[str, Any]) -> Any:
    """Return the sum that was kept.

    Raises
    ------
    ValueError, KeyError or TypeError
        Where it is none.
    """
    if "ciphertexts" in found:
        return CiphertextSum.from_json(found["ciphertexts"])
    if "size" in found:
        arrays = [sum_from_json(one) for one in found["runs"]]
        return SparseCounts(tuple(zip(arrays[::2], arrays[1::2], strict=True)), found["size"])
    flat = np.frombuffer(base64.b64decode(found["int64"], validate=True), dtype="<i8")
    return flat.reshape(found["shape"]).astype(np.int64)
