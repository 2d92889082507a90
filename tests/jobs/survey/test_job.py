from __future__ import annotations

import json
import math
import shutil
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from tests.jobs.house import House
from udfs.errors import SchemaError

MECHANISMS = ["randomized-response", "subset-selection"]
FALSE_ALARMS = 1e-9


def design(house: House, attribute: str) -> Any:
    """Return the design of an attribute's reports."""
    return house.spec().layout.axis_of(attribute).design


def refusal(house: House) -> str:
    with pytest.raises(SchemaError) as refused:
        house.run()
    assert house.charges() == []
    assert not house.out.exists()
    return str(refused.value)


def test_a_column_that_is_not_there_is_refused_by_file_and_name(house: House) -> None:
    house.write({"id": [1], "smokes": ["no"]}, {"id": [2], "smoks": ["no"]})
    said = refusal(house)
    assert f"{house.people}/1.parquet: must have one column 'smokes'; got columns id, smoks" in said


@pytest.mark.parametrize("answers", [pa.array([b"no"]), pa.array([1]), pa.array([0.5]), pa.array([["no"]])])
def test_a_column_that_cannot_hold_the_categories_is_refused_by_type(house: House, answers: pa.Array) -> None:
    house.write({"id": [1], "smokes": answers})
    said, kind = refusal(house), str(answers.type).split("<")[0]
    assert f"0.parquet, column 'smokes': must hold categories such as 'no'; got type {kind}" in said


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_is_noiseless_comes_back_as_it_is(house: House, mechanism: str) -> None:
    house.smokes.update(epsilon=1000, mechanism=mechanism, missing="category")
    house.write({"id": list(range(10)), "smokes": ["no"] * 5 + ["yes"] * 3 + [None] * 2})
    attribute = house.run()[0]["result"]["attributes"]["smokes"]
    assert attribute["reports"] == [5, 3, 2]
    assert attribute["proportions"] == pytest.approx([0.625, 0.375])
    assert attribute["raw"] == pytest.approx([0.5, 0.3, 0.2])
    assert attribute["missing"]["share"] == pytest.approx(0.2)
    assert attribute["missing"]["handling"] == "category"


def test_an_attribute_says_all_that_its_estimate_needs(house: House) -> None:
    house.fill()
    result = house.run()[0]["result"]
    assert (result["respondents"], result["confidence"]) == (240, 0.95)
    attribute = result["attributes"]["smokes"]
    assert attribute["categories"] == ["no", "yes"]
    assert (attribute["mechanism"], attribute["epsilon"]) == ("randomized-response", 1.0)
    assert attribute["projection"] == "nearest point of the simplex"
    assert attribute["missing"] == {"handling": "none", "share": None, "standard_error": None, "note": None}
    assert (result["statistics"], result["joint"]) == ([], [])
    assert int(attribute["thresholds"]["truth"]) / 2**64 == pytest.approx(0.7310585786)
    assert sum(attribute["reports"]) == 240
    for key in ("proportions", "standard_errors", "intervals", "projected", "raw", "raw_standard_errors"):
        assert len(attribute[key]) == 2


def test_missing_answers_become_uniform_ones_where_that_is_asked_for(house: House) -> None:
    answered, missing = 1000, 4000
    house.smokes.update(epsilon=1000, missing="random")
    house.write({"id": list(range(answered + missing)), "smokes": ["no"] * answered + [None] * missing})
    attribute = house.run()[0]["result"]["attributes"]["smokes"]
    low, high = stats.binom.ppf([FALSE_ALARMS / 2, 1 - FALSE_ALARMS / 2], missing, 0.5)
    assert low <= attribute["reports"][1] <= high
    assert sum(attribute["reports"]) == answered + missing
    assert "leans towards 1/2" in attribute["missing"]["note"]


def test_reports_are_written_only_where_they_are_wanted(house: House) -> None:
    house.fill()
    house.given["output"]["reports"] = False
    house.run()
    assert set(house.files()) == {"result.json", "report.html", "manifest.json"}


def test_a_survey_without_ids_runs_on_rows(house: House) -> None:
    house.fill()
    house.given["population"]["id"] = None
    house.run()
    assert pq.read_table(house.out / "reports").column_names == ["smokes"]


@pytest.fixture
def collector(house: House, twin: House) -> House:
    """A house whose people are the reports that another house wrote."""
    house.write({"id": list(range(300)), "smokes": (["no"] * 7 + ["yes"] * 2 + [None]) * 30})
    house.smokes["missing"] = "category"
    house.run()
    shutil.copytree(house.out / "reports", twin.people)
    twin.given["attributes"] = {"smokes": dict(house.smokes)}
    twin.given["collected"] = {"design": "randomized-response"}
    return twin


def test_reports_of_one_run_are_estimated_alike_by_another_for_nothing(
    house: House, collector: House
) -> None:
    document, _ = collector.run()
    assert document["result"] == json.loads(house.files()["result.json"])["result"]
    assert collector.charges() == []
    assert (document["privacy"]["epsilon"], document["privacy"]["spent_after"]) == (1, 0)
    assert set(collector.files()) == {"result.json", "report.html", "manifest.json"}


@pytest.mark.parametrize("id_column", ["id", None])
def test_sets_of_one_run_are_estimated_alike_by_another(
    house: House, twin: House, id_column: str | None
) -> None:
    house.write({"id": list(range(300)), "smokes": [f"{number % 9}" for number in range(300)]})
    house.smokes.update(categories=[f"{number}" for number in range(9)], mechanism="subset-selection")
    first, _ = house.run()
    twin.given["population"] = {"path": str(house.out / "reports"), "id": id_column}
    twin.given["attributes"] = {"smokes": dict(house.smokes)}
    twin.given["collected"] = {"design": "randomized-response"}
    assert twin.run()[0]["result"] == first["result"]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("epsilon", 2, "epsilon 1 in a footer"),
        ("categories", ["yes", "no"], "categories ['no', 'yes'] in a footer"),
        ("categories", ["no", "yes", "rarely"], "categories ['no', 'yes'] in a footer"),
        ("missing", "random", "missing category in a footer"),
        ("mechanism", "subset-selection", "column 'smokes'"),
    ],
)
def test_reports_that_were_made_otherwise_are_refused(
    collector: House, key: str, value: Any, said: str
) -> None:
    collector.smokes[key] = value
    assert said in refusal(collector)


def test_reports_from_elsewhere_need_no_footer(house: House) -> None:
    house.write({"id": list(range(100)), "smokes": ["no"] * 60 + ["yes"] * 40})
    house.given["collected"] = {"design": "randomized-response"}
    attribute = house.run()[0]["result"]["attributes"]["smokes"]
    keep = design(house, "smokes").support_if_true
    assert attribute["reports"] == [60, 40]
    assert attribute["proportions"][1] == pytest.approx((0.4 - (1 - keep)) / (2 * keep - 1))


@pytest.mark.parametrize("answers", [["no", None], ["no", "rarely"]])
def test_a_report_that_is_none_is_refused(house: House, answers: list[str | None]) -> None:
    house.write({"id": [1, 2], "smokes": answers})
    house.given["collected"] = {"design": "randomized-response"}
    said = refusal(house)
    assert "column 'smokes'" in said
    assert "rarely" not in said


@pytest.mark.parametrize("design", ["1", "{}", '{"epsilon": "much"}', '{"epsilon": "1"}'])
def test_a_footer_that_leaves_the_design_open_is_refused(house: House, design: str) -> None:
    write_footer(house, f'{{"attributes": {{"smokes": {design}}}}}')
    assert "attributes.smokes: must say how its reports were made" in refusal(house)


@pytest.mark.parametrize(
    "entry", ["no json", "[]", "{}", '{"attributes": []}', '{"attributes": {"drinks": 1}}']
)
def test_a_footer_that_says_nothing_of_the_attribute_is_passed_over(house: House, entry: str) -> None:
    write_footer(house, entry)
    assert house.run()[0]["result"]["attributes"]["smokes"]["reports"] == [1, 1]


def write_footer(house: House, entry: str) -> None:
    """Write two reports whose footer says something else."""
    house.given["collected"] = {"design": "randomized-response"}
    house.people.mkdir()
    table = pa.table({"id": [1, 2], "smokes": ["no", "yes"]})
    pq.write_table(table.replace_schema_metadata({"canvass": entry}), house.people / "0.parquet")


def test_an_epsilon_is_the_same_however_it_is_written(collector: House) -> None:
    collector.smokes["epsilon"] = Decimal("1.00")
    assert collector.run()[0]["population"]["rows"] == 300


SAMPLE_DATA = Path(__file__).parents[3] / "sample_data"


def farthest(variance: float, cells: int) -> float:
    """Return how far a sum of independent reports may lie from its mean, by Bernstein's inequality."""
    log = math.log(2 * cells / FALSE_ALARMS)
    return log / 3 + math.sqrt(log**2 / 9 + 2 * variance * log)


@pytest.mark.parametrize("name", ["survey", "biomarkers"])
def test_the_planted_truth_is_found(house: House, name: str) -> None:
    with (SAMPLE_DATA / f"{name}.toml").open("rb") as file:
        given = tomllib.load(file)
    people = Path(given["population"]["path"]).name
    given["population"]["path"] = str(SAMPLE_DATA / people)
    house.given = given | {"output": house.given["output"]}
    found = house.run()[0]["result"]["attributes"]
    truth = json.loads((SAMPLE_DATA / "truth.json").read_text())[people]["attributes"]
    assert list(found) == list(truth)
    for attribute, planted in truth.items():
        randomizer = design(house, attribute)
        p, q = float(randomizer.support_if_true), float(randomizer.support_if_false)
        answers = [*planted["counts"], planted["missing"]][: randomizer.cells]
        others = sum(answers) - np.array(answers)
        for reports, own, rest in zip(found[attribute]["reports"], answers, others, strict=True):
            variance = own * p * (1 - p) + rest * q * (1 - q)
            assert abs(reports - own * p - rest * q) < farthest(variance, len(answers))
