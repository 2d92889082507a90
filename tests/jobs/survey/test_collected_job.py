from __future__ import annotations

import json
import math
import shutil
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.jobs.house import House
from tests.jobs.survey.collecting import collect, collected, refused, said

WARNER = {"design": "warner", "p": "0.7"}
CROSSWISE = {"design": "crosswise", "p": "1/4"}
FORCED = {"design": "forced-response", "p": "2/3", "forced_yes": "1/6", "forced_no": "1/6"}
KUK = {"design": "kuk", "p_sensitive": 0.8, "p_other": 0.2}
SIXTH = {"design": "crosswise", "p": "2/12", "denominator": "n"}


def trait(document: dict[str, Any]) -> dict[str, Any]:
    return document["result"]["attributes"]["trait"]


@pytest.mark.parametrize(
    ("design", "yes", "reports", "share", "error"),
    [
        (SIXTH, 201, 523, 0.673518164, 0.03190544),
        (SIXTH, 307, 523, 0.369502868, 0.03229496),
        (CROSSWISE, 198, 310, 0.222581, 0.054655),
        (CROSSWISE, 230, 310, 0.016129, 0.049785),
        (FORCED, 831, 2435, 0.261910, 0.014416),
    ],
)
def test_published_surveys_come_out(
    house: House, design: dict[str, Any], yes: int, reports: int, share: float, error: float
) -> None:
    """Crosswise: the report "yes" is "both the same"."""
    found = trait(collect(house, said(yes, reports), collected=design))
    digits = 5e-10 if design is SIXTH else 5e-7
    assert found["proportions"] == pytest.approx([1 - share, share], abs=2 * digits)
    assert found["standard_errors"] == pytest.approx([error] * 2, abs=max(digits, 5e-9))
    assert found["reports"] == [reports - yes, yes]
    assert found["mechanism"] == design["design"]


@pytest.mark.parametrize(
    ("yes", "alpha", "share", "variance"),
    [(328, "1/12", 0.8406103, 0.001389716), (280, "2/3", 0.1220657, 0.001337415)],
)
def test_an_unrelated_question_to_a_part_of_a_finite_population(
    house: House, yes: int, alpha: str, share: float, variance: float
) -> None:
    design = {"design": "unrelated-question", "p": 0.5, "alpha": alpha}
    document = collect(house, said(yes, 710), collected=design, sampling={"size": 10777})
    assert trait(document)["proportions"][1] == pytest.approx(share, abs=5e-8)
    assert trait(document)["standard_errors"][1] ** 2 == pytest.approx(variance, abs=5e-10)
    assert "of a population of 10777" in document["result"]["sampling"]


def test_kuks_cards_are_counted_by_colour(house: House) -> None:
    found = trait(collect(house, said(140, 400), collected=KUK))
    assert found["proportions"][1] == pytest.approx((0.35 - 0.2) / 0.6)
    assert found["standard_errors"][1] == pytest.approx(math.sqrt(0.35 * 0.65 / 399) / 0.6)


def test_a_matrix_has_reports_of_its_own(house: House) -> None:
    """Three answers, three reports with other labels."""
    law = [["2/3", "1/6", "1/6"], ["1/6", "2/3", "1/6"], ["1/6", "1/6", "2/3"]]
    design = {"design": "matrix", "rows": law, "reports": ["red", "green", "blue"]}
    attributes = {"card": {"categories": ["never", "once", "often"]}}
    cards = {"card": ["red"] * 50 + ["green"] * 30 + ["blue"] * 20}
    found = collect(house, cards, attributes=attributes, collected=design)["result"]["attributes"]["card"]
    assert found["categories"] == ["never", "once", "often"]
    assert found["reports"] == [50, 30, 20]
    assert found["proportions"] == pytest.approx((np.array([0.5, 0.3, 0.2]) - 1 / 6) * 2)


PUBLISHED = {"trait": ["yes"] * 373 + ["no"] * 191 + ["yes"] * 398 + ["no"] * 294}
GROUP = ["low"] * 564 + ["high"] * 692


def test_a_published_lie_detector_comes_out(house: House) -> None:
    design = {"design": "stochastic-lie-detector", "sample": "group", "p": {"low": "2/12", "high": "10/12"}}
    document = collect(house, PUBLISHED | {"group": GROUP}, collected=design)
    (found,) = document["result"]["cheating"]
    assert found["attribute"] == "trait"
    expected = {"carriers": (0.870695, 0.041118), "truthful": (0.635806, 0.017344)}
    for name, (value, error) in expected.items():
        assert found["estimates"][name]["estimate"] == pytest.approx(value, abs=5e-7)
        assert found["estimates"][name]["standard_error"] == pytest.approx(error, abs=5e-7)
    assert found["estimates"]["cheaters"]["estimate"] == pytest.approx(0.870695 * (1 - 0.635806), abs=1e-6)
    assert found["p_value"] < 1e-9
    assert document["privacy"]["epsilon"] is None
    trait = document["result"]["attributes"]["trait"]
    assert trait["proportions"] == pytest.approx([1 - 0.870695, 0.870695], abs=5e-7)
    assert trait["standard_errors"] == pytest.approx([0.041118, 0.041118], abs=5e-7)
    assert trait["mechanism"] == "stochastic-lie-detector"


@pytest.mark.parametrize("samples", [["a", "b"], ["1", "2"], ["0", "1"]])
@pytest.mark.parametrize("kind", [str, int])
def test_cheaters_are_told_by_two_forced_samples(house: House, samples: list[str], kind: type) -> None:
    if kind is int and not samples[0].isdigit():
        samples = ["7", "9"]
    design = {
        "design": "cheater-detection",
        "sample": "group",
        "p": dict(zip(samples, ("1/4", "3/4"), strict=True)),
    }
    answers = ["yes"] * 400 + ["no"] * 600 + ["yes"] * 600 + ["no"] * 400
    groups = [kind(samples[0])] * 1000 + [kind(samples[1])] * 1000
    (found,) = collect(house, {"trait": answers, "group": groups}, collected=design)["result"]["cheating"]
    estimates = {name: one["estimate"] for name, one in found["estimates"].items()}
    assert estimates == pytest.approx({"honest carriers": 0.3, "honest others": 0.4, "cheaters": 0.3})


@pytest.mark.parametrize(
    ("design", "epsilon"),
    [
        (WARNER, 0.847297860388),
        (CROSSWISE, 1.09861228867),
        (FORCED, 1.60943791244),
        (KUK, 1.38629436112),
        ({"design": "triangular", "p": 0.3}, None),
        ({"design": "mangat", "p": 0.6}, None),
    ],
)
def test_the_privacy_is_that_of_the_design(
    house: House, design: dict[str, Any], epsilon: float | None
) -> None:
    document = collect(house, said(30, 50), collected=design)
    assert document["privacy"]["epsilon"] == trait(document)["epsilon"] == epsilon
    assert document["privacy"]["basis"] == "collected: as the spec says"
    stored = json.loads(house.files()["result.json"])
    assert stored["privacy"]["epsilon"] == epsilon


def test_two_attributes_of_one_design_give_away_the_sum(house: House) -> None:
    attributes = {name: {"categories": ["no", "yes"]} for name in ("trait", "other")}
    columns = said(20, 50) | {"other": ["no", "yes"] * 25}
    document = collect(house, columns, attributes=attributes, collected=CROSSWISE)
    assert document["privacy"]["epsilon"] == pytest.approx(2 * math.log(3))


def test_who_gave_no_report_is_plain_to_see(house: House) -> None:
    """Missing reports are a category that is reported as it is: no epsilon bounds that."""
    attributes = {"trait": {"categories": ["no", "yes"], "missing": "category"}}
    columns = {"trait": ["yes"] * 30 + ["no"] * 50 + [None] * 20}
    document = collect(house, columns, attributes=attributes, collected=WARNER)
    assert document["privacy"]["epsilon"] is None
    assert trait(document)["missing"]["share"] == pytest.approx(0.2)
    assert trait(document)["proportions"][1] == pytest.approx((30 / 80 - 0.3) / 0.4)
    assert trait(document)["reports"] == [50, 30, 20]


@pytest.mark.parametrize(
    ("yes", "no"), [(["yes"], ["no"]), ([True], [False]), ([1], [0]), ([1.0], [0.0])], ids=str
)
def test_reports_may_be_of_any_kind(house: House, yes: list[Any], no: list[Any]) -> None:
    attributes = {"trait": {"categories": [*no, *yes]}}
    columns = {"trait": pa.array(yes * 30 + no * 70)}
    found = trait(collect(house, columns, attributes=attributes, collected=KUK))
    assert found["reports"] == [70, 30]


def test_reports_of_an_own_mechanism_are_no_design_of_the_field(house: House, twin: House) -> None:
    house.fill()
    house.run()
    shutil.copytree(house.out / "reports", twin.people)
    twin.smokes.pop("epsilon")
    twin.given["collected"] = WARNER
    error = refused(twin)
    assert error.where == "collected.design"
    twin.given.pop("collected")
    twin.smokes["epsilon"] = 1
    assert refused(twin).where == "attributes.smokes"


@pytest.mark.parametrize("null", [True, False])
def test_a_report_that_cannot_be_is_refused(house: House, null: bool) -> None:
    collected(house, {"trait": ["yes", "no", None if null else "perhaps"]}, collected=WARNER)
    error = refused(house)
    assert "trait" in str(error)
    assert "perhaps" not in str(error)


def test_the_page_of_collected_reports_is_whole(house: House) -> None:
    collect(house, said(30, 50), collected=WARNER)
    assert set(house.files()) == {"result.json", "report.html", "manifest.json"}
    assert b"warner" in house.files()["report.html"]
