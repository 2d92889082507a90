"""Surveys of nobody, of one, of two: nothing breaks, and what is not known is null."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa
import pytest

from tests.jobs.house import House
from udfs.mechanisms import MECHANISMS

KINDS = ["proportions", "mutual-information", "chi-square", "g-squared", "pearson", "independence-test"]
BOTH = [{"kind": kind, "of": ["a", "b"]} for kind in KINDS]
ALONE = [{"kind": "entropy", "of": ["a"]}, {"kind": "proportions", "of": ["b"]}]


def ask(
    house: House, rows: list[tuple[str | None, str | None]], missing: str, **tables: Any
) -> dict[str, Any]:
    columns = zip(*rows, strict=True) if rows else ((), ())
    house.write(
        {"id": range(len(rows))}
        | {name: pa.array(column, pa.string()) for name, column in zip("ab", columns, strict=True)}
    )
    own = tables.pop("own", {})
    house.given = {key: house.given[key] for key in ("job", "population", "output")} | tables
    house.given["attributes"] = {
        "a": {"categories": ["x", "y", "z"], "missing": missing} | own,
        "b": {"categories": ["u", "v"], "missing": missing} | own,
    }
    return house.run()[0]["result"]


FEW: list[list[tuple[str | None, str | None]]] = [[], [("x", "u")], [("x", "u"), ("z", "u")]]
WAYS: dict[str, dict[str, Any]] = {
    mechanism: {"own": {"epsilon": 1, "mechanism": mechanism}, "statistics": ALONE + BOTH}
    for mechanism in MECHANISMS
} | {
    "joint": {"joint": [{"of": ["b", "a"], "epsilon": 1}], "statistics": ALONE + BOTH},
    "sample": {"budget": {"epsilon": 1, "scheme": "sample"}, "statistics": ALONE},
}
every_way = pytest.mark.parametrize(("way", "missing"), list(itertools.product(WAYS, ["none", "category"])))


@every_way
def test_of_nobody_nothing_is_known(house: House, way: str, missing: str) -> None:
    result = ask(house, [], missing, **WAYS[way])
    assert result["respondents"] == 0
    for attribute in result["attributes"].values():
        unknown = [*attribute["proportions"], *attribute["standard_errors"], *attribute["raw"]]
        assert set(unknown) == {None}
        assert {bound for interval in attribute["intervals"] for bound in interval} == {None}
        assert set(attribute["post_processed"].values()) == {None}
    for statistic in result["statistics"]:
        assert statistic["kind"] == "proportions" or statistic["estimate"] is None
        assert statistic["kind"] == "proportions" or statistic["standard_error"] is None
    assert house.files()["report.html"]


@every_way
@pytest.mark.parametrize("rows", FEW[1:], ids=len)
def test_of_one_or_two_what_is_not_known_is_null(
    house: House, way: str, missing: str, rows: list[tuple[str | None, str | None]]
) -> None:
    result = ask(house, rows, missing, **WAYS[way])
    assert result["respondents"] == len(rows)
    for name, attribute in result["attributes"].items():
        asked = sum(attribute["reports"]) if way != "optimized-unary" else len(rows)
        if missing == "none" and asked:
            assert None not in attribute["proportions"]
            if way != "optimized-unary":
                assert sum(attribute["proportions"]) == pytest.approx(1), name
            for low, high in attribute["intervals"]:
                assert 0 <= low <= high <= 1
        if len(rows) == 1:
            assert set(attribute["standard_errors"]) == {None}
    for statistic in result["statistics"]:
        assert statistic["kind"] in {"proportions", "entropy"} | set(KINDS)
    assert house.files()["report.html"]


@pytest.mark.parametrize("missing", ["category", "random"])
def test_people_none_of_whom_answer_break_nothing(house: House, missing: str) -> None:
    statistics = [one for one in BOTH if missing == "category" or one["kind"] != "independence-test"]
    rows: list[tuple[str | None, str | None]] = [(None, None)] * 300
    result = ask(house, rows, missing, own={"epsilon": 8}, statistics=statistics)
    for attribute in result["attributes"].values():
        if missing == "category":
            assert attribute["missing"]["share"] > 0.5
        else:
            assert attribute["missing"]["share"] is None
            assert "leans towards" in attribute["missing"]["note"]
