"""result.json: numbers as JSON has them, and nothing that JSON has not."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import numpy as np


def encode(document: Any) -> bytes:
    r"""Return a document as JSON; a number that is not finite becomes null, a decimal a number.

    Examples
    --------
    >>> encode({"limit": Decimal("0.3"), "share": float("nan")})
    b'{\n "limit": 0.3,\n "share": null\n}\n'
    """
    return (json.dumps(plain(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def plain(value: Any) -> Any:
    """Return a value made of dicts, lists, text, truth values, finite numbers and None."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Decimal | np.floating):
        value = float(value)
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
