from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from tests.jobs.house import House
from tests.jobs.survey.collecting import refused
from tests.jobs.survey.surveys import BIOMARKERS, LDL, TC, people
from udfs.mechanisms import MECHANISMS
from udfs.streams import Secret

MARKERS: dict[str, Any] = {"ldl": {"categories": LDL}, "tc": {"categories": TC}}
NOISELESS = 1000
PUBLISHED = {
    "entropy": (["ldl"], 2.04018),
    "mutual-information": (["ldl", "tc"], 0.57772),
    "chi-square": (["ldl", "tc"], 252.0861),
    "g-squared": (["ldl", "tc"], 198.6207),
    "pearson": (["ldl", "tc"], 0.73553),
}
STATISTICS = [{"kind": kind, "of": of} for kind, (of, _) in PUBLISHED.items()]


def ask(house: House, attributes: dict[str, Any], columns: dict[str, Any], **tables: Any) -> dict[str, Any]:
    house.write(columns)
    house.given = {key: house.given[key] for key in ("job", "population", "output")}
    house.given |= {"attributes": attributes} | tables
    document, _ = house.run()
    return document["result"]


def markers() -> dict[str, Any]:
    return people(BIOMARKERS, {"ldl": LDL, "tc": TC})


def with_epsilon(epsilon: Any, **more: Any) -> dict[str, Any]:
    return {name: table | {"epsilon": epsilon} | more for name, table in MARKERS.items()}


WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    mechanism: (with_epsilon(NOISELESS, mechanism=mechanism), {})
    for mechanism in MECHANISMS
    if mechanism not in ("laplace", "optimized-unary")
}
WAYS |= {
    "laplace": (with_epsilon(5 * NOISELESS, mechanism="laplace"), {}),
    "joint": (MARKERS, {"joint": [{"of": ["ldl", "tc"], "epsilon": NOISELESS}]}),
    "joint the other way round": (MARKERS, {"joint": [{"of": ["tc", "ldl"], "epsilon": NOISELESS}]}),
    "joint budget": (MARKERS, {"budget": {"epsilon": NOISELESS, "scheme": "joint"}}),
    "split budget": (MARKERS, {"budget": {"epsilon": 2 * NOISELESS, "scheme": "split"}}),
}


@pytest.mark.parametrize("way", WAYS)
def test_without_noise_the_published_statistics_come_out(house: House, way: str) -> None:
    attributes, tables = WAYS[way]
    proportions = {"kind": "proportions", "of": ["tc", "ldl"]}
    result = ask(house, attributes, markers(), statistics=[*STATISTICS, proportions], **tables)
    for found, (kind, (of, value)) in zip(result["statistics"], PUBLISHED.items(), strict=False):
        assert (found["kind"], found["of"]) == (kind, of)
        digits = 5e-5 if value > 100 else 5e-6
        assert found["estimate"] == pytest.approx(value, abs=digits)
        assert found["standard_error"] > 0
    shares = BIOMARKERS / 248
    assert np.array(result["statistics"][-1]["estimate"]) == pytest.approx(shares.T, abs=1e-12)
    assert result["attributes"]["ldl"]["proportions"] == pytest.approx(shares.sum(axis=1), abs=1e-12)
    assert result["attributes"]["tc"]["proportions"] == pytest.approx(shares.sum(axis=0), abs=1e-12)
    for joint in result["joint"]:
        wanted = shares if joint["of"] == ["ldl", "tc"] else shares.T
        assert np.array(joint["proportions"]) == pytest.approx(wanted, abs=1e-12)
        assert joint["shape"] == list(wanted.shape)
    assert len(result["joint"]) == ("joint" in way)


def test_a_joint_report_says_with_whom_it_is_shared(house: House) -> None:
    result = ask(house, MARKERS, markers(), budget={"epsilon": NOISELESS, "scheme": "joint"})
    ldl, tc = result["attributes"].values()
    assert (ldl["shared_with"], tc["shared_with"]) == (["tc"], ["ldl"])
    assert (ldl["epsilon"], ldl["mechanism"]) == (NOISELESS, "randomized-response")
    assert house.files()["report.html"]
    assert [charge.status for charge in house.ledger.charges("people")] == ["charged"]
    assert [charge.epsilon for charge in house.ledger.charges("people")] == [NOISELESS]


def test_where_one_attribute_is_sampled_each_is_estimated_from_its_own_reports(house: House) -> None:
    """Everybody answers alike, so that the shares are exact however the reports fall."""
    columns = {"id": list(range(400)), "ldl": [LDL[2]] * 400, "tc": [TC[1]] * 400}
    result = ask(house, MARKERS, columns, budget={"epsilon": NOISELESS, "scheme": "sample"})
    ldl, tc = result["attributes"].values()
    assert ldl["proportions"] == pytest.approx([0, 0, 1, 0, 0, 0], abs=1e-12)
    assert tc["proportions"] == pytest.approx([0, 1, 0], abs=1e-12)
    assert sum(ldl["reports"]) + sum(tc["reports"]) == 400
    assert sum(ldl["reports"]) > 0 < sum(tc["reports"])
    assert (ldl["shared_with"], ldl["mechanism"]) == (["tc"], "sampled-response")
    assert [charge.epsilon for charge in house.ledger.charges("people")] == [NOISELESS]


def missing_cells() -> tuple[dict[str, Any], np.ndarray]:
    """Return two answers of which either may be missing, and how many answered both."""
    counts = np.array([[20, 30, 5], [10, 15, 5], [8, 7, 0]])
    labels = {"a": ["x", "y", None], "b": ["u", "v", None]}
    return people(counts, labels), counts


@pytest.mark.parametrize("scheme", ["split", "joint"])
def test_missing_answers_are_cells_and_statistics_are_of_those_who_answered(
    house: House, scheme: str
) -> None:
    columns, counts = missing_cells()
    attributes = {
        "a": {"categories": ["x", "y"], "missing": "category"},
        "b": {"categories": ["u", "v"], "missing": "category"},
    }
    budget = {"epsilon": NOISELESS, "scheme": scheme}
    tables = [{"kind": "proportions", "of": ["a", "b"]}, {"kind": "chi-square", "of": ["b", "a"]}]
    result = ask(house, attributes, columns, budget=budget, statistics=tables)
    answered = counts[:2, :2]
    table, chi_square = result["statistics"]
    assert np.array(table["estimate"]) == pytest.approx(answered / answered.sum(), abs=1e-12)
    expected = np.outer(answered.sum(axis=1), answered.sum(axis=0)) / answered.sum()
    assert chi_square["estimate"] == pytest.approx(((answered - expected) ** 2 / expected).sum(), rel=1e-9)
    assert result["attributes"]["a"]["raw"] == pytest.approx(counts.sum(axis=1) / 100, abs=1e-12)
    assert result["attributes"]["a"]["missing"]["share"] == pytest.approx(0.15, abs=1e-12)


def test_numbers_are_their_own_scores(house: House) -> None:
    """Categories that are numbers count as these, unless the spec gives others."""
    doses, years = [0, 1, 10], [1.5, 2.0]
    counts = np.array([[9, 1], [6, 4], [2, 8]])
    columns = people(counts, {"dose": doses, "years": years})
    attributes = {
        "dose": {"categories": doses, "epsilon": NOISELESS},
        "years": {"categories": years, "epsilon": NOISELESS},
    }
    own = {"kind": "pearson", "of": ["dose", "years"]}
    other = own | {"scores": [[0, 1, 2], [5, 9]]}
    found = ask(house, attributes, columns, statistics=[own, other])["statistics"]
    direct = np.corrcoef(columns["dose"], columns["years"])[0, 1]
    ranks = np.corrcoef([doses.index(one) for one in columns["dose"]], columns["years"])[0, 1]
    assert [one["estimate"] for one in found] == pytest.approx([direct, ranks], rel=1e-9)


def schemes() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for mechanism, missing in itertools.product([*MECHANISMS, "auto"], ["none", "category", "random"]):
        yield with_epsilon(Decimal("1.25"), mechanism=mechanism, missing=missing), {}
    for scheme, missing in itertools.product(["split", "sample", "joint"], ["none", "category"]):
        attributes = {name: table | {"missing": missing} for name, table in MARKERS.items()}
        yield attributes, {"budget": {"epsilon": 3, "scheme": scheme}}


@pytest.mark.parametrize(("attributes", "tables"), list(schemes()))
def test_reports_that_are_collected_again_give_the_same_to_the_last_bit(
    house: House, twin: House, attributes: dict[str, Any], tables: dict[str, Any]
) -> None:
    columns = markers()
    if attributes["ldl"].get("missing", "none") != "none":
        columns["ldl"] = [None if place % 9 == 0 else one for place, one in enumerate(columns["ldl"])]
    if tables.get("budget", {}).get("scheme") != "sample":
        tables = tables | {"statistics": [{"kind": "pearson", "of": ["ldl", "tc"]}]}
    first = ask(house, attributes, columns, **tables)
    shutil.copytree(house.out / "reports", twin.people)
    twin.given = house.given | {
        "population": twin.given["population"],
        "output": twin.given["output"],
        "collected": {"design": "randomized-response"},
    }
    again, _ = twin.run()
    assert again["result"] == first == json.loads(house.files()["result.json"])["result"]
    assert twin.charges() == []
    assert again["privacy"]["epsilon"] == json.loads(house.files()["result.json"])["privacy"]["epsilon"]


@pytest.mark.parametrize("scheme", ["sample", "joint"])
@pytest.mark.parametrize("change", ["epsilon", "categories", "scheme", "order"])
def test_reports_that_were_made_otherwise_are_refused(
    house: House, twin: House, scheme: str, change: str
) -> None:
    ask(house, MARKERS, markers(), budget={"epsilon": 3, "scheme": scheme})
    shutil.copytree(house.out / "reports", twin.people)
    twin.given = house.given | {key: twin.given[key] for key in ("population", "output")}
    twin.given["collected"] = {"design": "randomized-response"}
    if change == "epsilon":
        twin.given["budget"] = {"epsilon": 2, "scheme": scheme}
    if change == "categories":
        twin.given["attributes"] = MARKERS | {"tc": {"categories": TC[::-1]}}
    if change == "scheme":
        twin.given["budget"] = {"epsilon": 3, "scheme": "split"}
    if change == "order":
        twin.given["attributes"] = dict(reversed(MARKERS.items()))
    refused(twin)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("scheme", ["split", "sample", "joint"])
def test_how_people_lie_in_files_makes_no_difference(
    house: House, twin: House, secret: Secret, scheme: str
) -> None:
    """With ids and one secret, everybody draws the same coins wherever they are."""
    columns = {name: np.array(one) for name, one in markers().items()}
    parts = np.split(np.random.default_rng(3).permutation(248), [1, 100, 101, 200])
    house.write(columns)
    twin.write(*({name: one[rows] for name, one in columns.items()} for rows in parts))
    results = []
    for home in (house, twin):
        home.given = {key: home.given[key] for key in ("job", "population", "output")}
        home.given |= {"attributes": MARKERS, "budget": {"epsilon": 2, "scheme": scheme}}
        results.append(home.run(secret=secret)[0]["result"])
    assert results[0] == results[1]
