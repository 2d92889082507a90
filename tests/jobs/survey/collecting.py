"""A house whose people are reports that were collected elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from tests.jobs.house import House
from udfs.errors import JobError


def collect(house: House, *parts: dict[str, Any], **tables: Any) -> dict[str, Any]:
    """Write one file of reports of trait a part, estimate from them, and return the document.

    The reports are "no" and "yes" unless `attributes` says otherwise; other tables go into the spec.
    """
    collected(house, *parts, **tables)
    document, _ = house.run()
    assert house.charges() == []
    assert document["privacy"]["spent_after"] == 0
    return document


def collected(house: House, *parts: dict[str, Any], **tables: Any) -> None:
    """Write reports, and a spec that reads them."""
    house.write(*parts)
    house.given["population"]["id"] = "id" if "id" in parts[0] else None
    attributes = {"attributes": {"trait": {"categories": ["no", "yes"]}}}
    house.given = {key: house.given[key] for key in ("job", "population", "output")} | attributes | tables


def said(yes: int, reports: int) -> dict[str, Any]:
    """Return the column of so many reports of yes."""
    return {"trait": ["yes"] * yes + ["no"] * (reports - yes)}


def refused(house: House) -> JobError:
    """Run a house that must be refused; see that nothing was left or charged."""
    with pytest.raises(JobError) as error:
        house.run()
    assert house.charges() == []
    assert not house.out.exists()
    assert house.secrets() == []
    return error.value
