"""The formats that ballots come in: one line each."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from jobs.election.formats.blt import read_blt
from jobs.election.formats.cvr import read_cvr
from jobs.election.formats.irv import read_irv
from jobs.election.formats.listed import OVERVOTES, ListedBallots, SettledBallots
from jobs.election.formats.preflib import read_preflib
from jobs.election.formats.source import Source
from udfs.errors import SpecError

FORMATS: dict[str, Callable[[Source], ListedBallots]] = {
    "preflib": read_preflib,
    "blt": read_blt,
    "cvr": read_cvr,
    "irv": read_irv,
}

SHARING = ("blt",)
"""Formats in which a rank of several is meant, and kept unless another wish is told; elsewhere it is an overvote."""


def read_ballots(
    format_name: str, file: str, overvotes: str | None = None
) -> tuple[SettledBallots, dict[str, Any]]:
    """Read a file of ballots.

    Parameters
    ----------
    format_name : str
        One of `FORMATS`.
    file : str
    overvotes : {"truncate", "skip", "void", "keep"}, optional
        What becomes of ranks of several; see `jobs.election.formats.listed.ListedBallots.settle`.

    Returns
    -------
    SettledBallots
    dict
        What a footer tells of them: their format, source and how overvotes were taken.

    Raises
    ------
    SpecError
        Where a format or wish is none of those, or the file cannot be read.
    SchemaError
        Where the file is malformed: names it and the line.
    """
    _check("FORMAT", format_name, FORMATS)
    wish = overvotes or ("keep" if format_name in SHARING else "truncate")
    _check("--overvotes", wish, OVERVOTES)
    listed = FORMATS[format_name](Source.read(file))
    told = {
        "withdrawn": listed.withdrawn,
        "format": format_name,
        "overvotes": wish,
        "source_title": listed.title,
    }
    return listed.settle(wish), told


def _check(where: str, name: str, known: Iterable[str]) -> None:
    """Refuse a name that is none of those known."""
    known = list(known)
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        remedy = f'did you mean "{near[0]}"?' if near else "known are " + ", ".join(known)
        raise SpecError(where, "must be one that is known", repr(name), remedy)
