"""Whether data fit an election's spec, by their footers."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any

from jobs.election.count import preview
from jobs.election.interactive import split
from jobs.election.local import Release, answering
from jobs.election.models import release_for, rounds_for
from jobs.election.spec import ElectionSpec
from jobs.population import Data
from udfs.errors import SchemaError
from udfs.identity import id_kind

_INTEGERS = ("integer", "unsigned")
"""Ids of these kinds tell rows apart alike."""


def check_data(spec: ElectionSpec, data: Data) -> None:
    """Refuse data that do not fit, and randomizers that cannot answer the rule; no row is read.

    Raises
    ------
    SchemaError
    SpecError
    """
    if spec.collected is None:
        if any(map(_tells_of_reports, data.metadata)):
            raise SchemaError(
                "population", "must hold ballots", "reports on ballots", 'set collected.design = "ballots"'
            )
        for part in spec.question.parts:
            for file, arrow_type in data.columns(part.column):
                part.check_type(arrow_type, file)
    if spec.privacy.model == "interactive":
        rounds = rounds_for(spec, data.rows, bytes(32))
        for place, contest in enumerate(preview(spec.rule.rounds())):
            rounds.mechanism(place, contest)
    elif spec.privacy.model == "local":
        release = release_for(spec, data.rows, bytes(32), data.metadata)
        for contest in preview(spec.rule.count()):
            answering(release.mechanisms, contest)
        if spec.collected is not None:
            _check_reports(spec, data, release)


def _tells_of_reports(entry: dict[str, Any]) -> bool:
    """Tell whether a footer's `canvass` entry is one of reports on ballots."""
    ballots = entry.get("ballots")
    return isinstance(ballots, dict) and "columns" in ballots


def _check_reports(spec: ElectionSpec, data: Data, release: Release) -> None:
    """Refuse columns that hold no reports, and an epsilon that is not theirs."""
    spent = sum((one.epsilon for one in release.mechanisms.values()), Decimal(0))
    parts = {split(spec.privacy.epsilon, len(release.mechanisms))} if len(release.mechanisms) > 1 else set()
    if spec.privacy.epsilon != spent and parts != {one.epsilon for one in release.mechanisms.values()}:
        raise SchemaError(
            "privacy.epsilon", "must be that of the reports", f"{spec.privacy.epsilon}", f"set {spent}"
        )
    for question, _ in release.collected():
        for part in question.parts:
            for file, arrow_type in data.columns(part.column):
                part.check_type(arrow_type, file)
    _check_standing(spec, data)


def _check_standing(spec: ElectionSpec, data: Data) -> None:
    """Refuse reports whose public draws cannot be found again: they go by ids, or else by rows' numbers.

    By other ids, or by rows in another order, a ball's estimates would be noise, and look like any others.
    """
    column = spec.population.id
    now = id_kind(arrow_type for _, arrow_type in data.columns(column)) if column else None
    for entry in data.metadata:
        was = entry.get("ids", "unknown")
        if was != now and not (was in _INTEGERS and now in _INTEGERS):
            raise SchemaError(
                "population.id",
                "must tell reports apart as when they were made: public draws go by it",
                f"{now or 'no ids'} for {was or 'no ids'}",
                "name the column of ids that the reports were made with, or none if they had none",
            )
    if column is None:
        _check_row_numbers(data)


def _check_row_numbers(data: Data) -> None:
    """Refuse files that are not those that were written: their rows may have other numbers."""
    spans = [(entry.get("first_row"), entry.get("rows")) for entry in data.metadata]
    known = sorted((first, rows) for first, rows in spans if isinstance(first, int) and isinstance(rows, int))
    apart = all(first + rows <= later for (first, rows), (later, _) in pairwise(known))
    if len(known) < len(spans) or not apart or sum(rows for _, rows in known) != data.rows:
        raise SchemaError(
            "population",
            "must be whole files of reports: without ids, public draws go by the numbers of rows",
            "files that were cut or put together",
            "take them as they were written",
        )
