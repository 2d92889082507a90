"""Golden vectors: values from standards and from published cases, each with its source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def load(name: str) -> Any:
    """Return the vectors of one file."""
    return json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
