"""Words for what was fetched: the page and the terminal say the same."""

from __future__ import annotations

import math
from typing import Any

PROTOCOLS = {
    "lattice": "lattices (SimplePIR)",
    "paillier": "Paillier encryption",
    "download": "the whole download",
}
PACKINGS = {
    "every": "each task in the items of all leaves that it meets",
    "once": "each task in the item of one leaf that it meets",
}
BOUNDS = {
    "no choice": "every task has its places, so that nothing could be smaller",
    "largest task": "no item can be smaller than the largest task",
    "linear programme": "even tasks that could be cut up would need as much",
    "heaviest leaves": "tasks that fit into some leaves alone need as much",
}


def size(count: Any) -> str:
    """Return a number of bytes with three digits and a unit.

    Examples
    --------
    >>> size(999), size(20_552_256), size(None)
    ('999 bytes', '20.6 MB', 'an unknown number of bytes')
    """
    if not isinstance(count, int | float) or isinstance(count, bool):
        return "an unknown number of bytes"
    number, unit = float(count), "bytes"
    for larger in ("KB", "MB", "GB", "TB", "PB"):
        if abs(number) < 999.5:
            break
        number, unit = number / 1000, larger
    shown = f"{number:.0f}" if unit == "bytes" or abs(number) >= 99.95 else f"{number:.3g}"
    return f"{shown} {unit}".replace("1 bytes", "1 byte") if shown == "1" else f"{shown} {unit}"


def guarantee_of(result: dict[str, Any]) -> str:
    """Return what the platform learns of a worker's leaf."""
    protocol = (result.get("retrieval") or {}).get("protocol")
    if protocol == "download":
        return "Everybody downloads everything, so the platform learns nothing of who is in which leaf, whatever it can compute."
    basis = {"lattice": "learning with errors", "paillier": "composite residuosity"}.get(
        str(protocol), "its protocol"
    )
    return f"What a worker sends cannot be told from what it would send from any other leaf, unless {basis} is broken."


def undecoded_of(result: dict[str, Any]) -> str | None:
    """Return what there is to say where gets were not decoded."""
    lost = result.get("undecoded")
    if not lost:
        return None
    gets = "get was" if lost == 1 else "gets were"
    return (
        f"{lost:,} {gets} not decoded: the checksum was wrong. Nobody fetched again, as that would tell the platform who."
        " Such a thing happens by chance in fewer than one job in 2^40; look for what spoilt the library, the hint or answers."
    )


def coverage_of(result: dict[str, Any]) -> str | None:
    """Return what there is to say where some workers did not see all tasks for them."""
    leaves = [one for one in result.get("leaves") or () if isinstance(one, dict)]
    short = [one for one in leaves if isinstance(one.get("coverage"), int | float) and one["coverage"] < 1]
    if not short:
        return None
    needed = max((one["needed"] for one in leaves if isinstance(one.get("needed"), int)), default=None)
    least = min(one["coverage"] for one in short)
    enough = "" if needed is None else f" {needed:,} gets would bring everything."
    return (
        f"Workers of {len(short):,} of {len(leaves):,} leaves did not get all tasks for them, but at least"
        f" {min(99, math.floor(100 * least + 1e-9))} % of their bytes.{enough}"
    )


def failure_of(result: dict[str, Any]) -> str | None:
    """Return how likely it was that anything would be decoded wrongly."""
    retrieval = result.get("retrieval") or {}
    exponent = retrieval.get("failure_log2")
    if not isinstance(exponent, int | float):
        return "nothing fails by chance" if retrieval.get("protocol") in ("paillier", "download") else None
    return f"below 2^{math.ceil(exponent)} in the whole job"
