from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.survey import inquiry
from tests.jobs.house import House
from tests.jobs.survey.collecting import collect, collected, refused, said
from udfs.mechanisms import MECHANISMS

WARNER = {"design": "warner", "p": "0.7"}
Floats = npt.NDArray[np.float64]


def own(reports: list[str]) -> Floats:
    """Return every respondent's own unbiased estimate of the trait, from a card of p = .7."""
    return (np.array([one == "yes" for one in reports], dtype=np.float64) - 0.3) / 0.4


def trait(document: dict[str, Any]) -> tuple[float, float]:
    """Return the estimated share of the trait and its standard error."""
    found = document["result"]["attributes"]["trait"]
    return found["proportions"][1], found["standard_errors"][1]


def some(rows: int, seed: int) -> tuple[list[str], npt.NDArray[np.intp], Floats]:
    rng = np.random.default_rng(seed)
    reports = np.where(rng.random(rows) < 0.4, "yes", "no").tolist()
    return reports, rng.integers(0, 3, rows), np.round(rng.uniform(0.2, 5, rows), 3)


def test_weights_give_hajeks_mean_and_its_linearised_error(house: House) -> None:
    reports, _, weights = some(80, 1)
    found = trait(collect(house, {"trait": reports, "w": weights}, collected=WARNER | {"weight": "w"}))
    share = np.average(own(reports), weights=weights)
    error = math.sqrt(((weights * (own(reports) - share)) ** 2).sum()) / weights.sum()
    assert found == pytest.approx((share, error), rel=1e-12)


LEVELS = [["north", "south", "west"], [3, 1, 2], [0.5, 1.5, 2.5]]


@pytest.mark.parametrize("levels", LEVELS, ids=["text", "integers", "floats"])
def test_strata_are_estimated_within_and_combined_by_their_respondents(
    house: House, levels: list[Any]
) -> None:
    reports, codes, _ = some(90, 2)
    columns = {"trait": reports, "s": [levels[code] for code in codes]}
    document = collect(house, columns, collected=WARNER | {"strata": "s"})
    variance = sum((part := own(reports)[codes == code]).var(ddof=1) * len(part) / 90**2 for code in range(3))
    assert trait(document) == pytest.approx((own(reports).mean(), math.sqrt(variance)), rel=1e-12)
    listed = document["result"]["strata"]
    assert [one["stratum"] for one in listed] == sorted(levels)
    assert [one["respondents"] for one in listed] == [
        int((codes == levels.index(level)).sum()) for level in sorted(levels)
    ]
    assert sum(one["share"] for one in listed) == pytest.approx(1)


@pytest.mark.parametrize("denominator", ["n", "n-1"])
def test_strata_are_combined_by_their_sizes_where_these_are_known(house: House, denominator: str) -> None:
    reports, codes, _ = some(60, 3)
    sizes = {"0": 100, "1": 50, "2": 850}
    design = WARNER | {"strata": "s", "denominator": denominator}
    document = collect(house, {"trait": reports, "s": codes}, collected=design, sampling={"strata": sizes})
    share = variance = 0.0
    for code, size in enumerate(sizes.values()):
        part, whole = own(reports)[codes == code], size / 1000
        mean, n = part.mean(), len(part)
        spread = part.var(ddof=1 if denominator == "n-1" else 0)
        share += whole * mean
        variance += whole**2 * ((1 - n / size) * spread / n + (np.mean(part**2) - mean) / size)
    assert trait(document) == pytest.approx((share, math.sqrt(variance)), rel=1e-11)
    assert [one["share"] for one in document["result"]["strata"]] == pytest.approx([0.1, 0.05, 0.85])


def test_weighted_strata_are_combined_by_their_weights(house: House) -> None:
    reports, codes, weights = some(70, 4)
    columns = {"trait": reports, "s": codes, "w": weights}
    found = trait(collect(house, columns, collected=WARNER | {"strata": "s", "weight": "w"}))
    share = np.average(own(reports), weights=weights)
    off = weights * (own(reports) - share) / weights.sum()
    variance = sum(len(part) * part.var(ddof=1) for part in (off[codes == code] for code in range(3)))
    assert found == pytest.approx((share, math.sqrt(variance)), rel=1e-11)


def test_groups_are_estimated_each_by_itself(house: House) -> None:
    reports, codes, weights = some(70, 5)
    columns = {"trait": reports, "g": codes, "w": weights}
    document = collect(house, columns, collected=WARNER | {"groups": "g", "weight": "w"})
    for code, group in enumerate(document["result"]["groups"]):
        part, w = own(reports)[codes == code], weights[codes == code]
        mean = np.average(part, weights=w)
        error = math.sqrt(((w * (part - mean)) ** 2).sum()) / w.sum()
        found = group["attributes"]["trait"]
        assert (group["group"], group["respondents"]) == (code, len(part))
        assert found["proportions"][1] == pytest.approx(mean, rel=1e-11)
        assert found["standard_errors"][1] == pytest.approx(error, rel=1e-11)
        assert len(found["intervals"]) == 2
    assert trait(document)[0] == pytest.approx(np.average(own(reports), weights=weights), rel=1e-12)


def test_a_group_that_a_stratum_has_none_of_is_estimated_from_the_others(house: House) -> None:
    reports = ["yes", "no", "no", "no", "yes", "no", "yes", "no", "no"]
    strata, groups = ["a"] * 3 + ["b"] * 6, ["x"] * 3 + ["x", "y"] * 3
    columns = {"trait": reports, "s": strata, "g": groups}
    document = collect(house, columns, collected=WARNER | {"strata": "s", "groups": "g"})
    x, y = (one["attributes"]["trait"] for one in document["result"]["groups"])
    mine = {name: [r for r, g in zip(reports, groups, strict=True) if g == name] for name in "xy"}
    assert x["proportions"][1] == pytest.approx(own(mine["x"]).mean())
    assert y["proportions"][1] == pytest.approx(own(mine["y"]).mean())
    # Of stratum b's six, y are three: their number is part of chance.
    off = (own(reports[3:]) - own(mine["y"]).mean()) * (np.array(groups[3:]) == "y") / 3
    assert y["standard_errors"][1] == pytest.approx(math.sqrt(6 * off.var(ddof=1)))


def test_groups_within_strata_of_known_sizes_count_by_these(house: House) -> None:
    """Half of the many and none of the few, in two groups that cut each stratum in half."""
    reports = ["yes"] * 50 + ["no"] * 50 + ["no"] * 100
    columns = {"trait": reports, "s": ["many"] * 100 + ["few"] * 100, "g": ["x", "y"] * 100}
    design = WARNER | {"strata": "s", "groups": "g"}
    sizes = {"strata": {"many": 100_000, "few": 100}}
    document = collect(house, columns, collected=design, sampling=sizes)
    whole, _ = trait(document)
    for group in document["result"]["groups"]:
        assert group["attributes"]["trait"]["proportions"][1] == pytest.approx(whole, rel=1e-12)


def test_a_single_weight_tells_no_standard_error(house: House) -> None:
    columns = said(2, 4) | {"w": [3.0, 0.0, 0.0, 0.0]}
    assert trait(collect(house, columns, collected=WARNER | {"weight": "w"}))[1] is None


@pytest.mark.parametrize("level", ["only", 7, 1.5, True, False])
@pytest.mark.parametrize("column", ["strata", "groups"])
def test_a_column_of_one_value_changes_nothing(house: House, twin: House, level: Any, column: str) -> None:
    plain = collect(twin, said(30, 70), collected=WARNER)
    columns = said(30, 70) | {"s": [level] * 70}
    document = collect(house, columns, collected=WARNER | {column: "s"})
    assert trait(document) == pytest.approx(trait(plain), rel=1e-12)
    for group in document["result"]["groups"]:
        assert group["group"] == level
        assert group["attributes"]["trait"]["proportions"][1] == pytest.approx(trait(plain)[0])


def test_a_stratum_without_weight_spoils_nothing(house: House) -> None:
    columns = said(10, 30) | {"s": ["a"] * 20 + ["b"] * 10, "w": [2.0] * 20 + [0.0] * 10}
    document = collect(house, columns, collected=WARNER | {"strata": "s", "weight": "w"})
    part = own((["yes"] * 10 + ["no"] * 20)[:20])
    assert trait(document) == pytest.approx((part.mean(), part.std(ddof=1) / math.sqrt(20)), rel=1e-12)
    assert [one["share"] for one in document["result"]["strata"]] == [1.0, 0.0]


@pytest.mark.parametrize(("strata", "groups"), [("s", None), (None, "s")])
def test_nobody_at_all_has_no_shares(house: House, strata: str | None, groups: str | None) -> None:
    columns = {"trait": pa.array([], pa.string()), "s": pa.array([], pa.string())}
    asides = {"strata": strata, "groups": groups}
    design = WARNER | {key: value for key, value in asides.items() if value}
    document = collect(house, columns, collected=design)
    assert trait(document) == (None, None)
    assert document["result"]["groups"] == []


def test_one_respondent_a_stratum_has_no_standard_error(house: House) -> None:
    document = collect(
        house, {"trait": ["yes", "no", "no"], "s": ["a", "b", "b"]}, collected=WARNER | {"strata": "s"}
    )
    share, error = trait(document)
    assert share == pytest.approx(own(["yes", "no", "no"]).mean())
    assert error is None


def test_many_strata_of_a_large_table_are_counted_sparsely(house: House) -> None:
    """Their product has more cells than are kept dense."""
    labels = [f"{code}" for code in range(24)]
    rng = np.random.default_rng(6)
    codes, others, strata = rng.integers(0, 24, 900), rng.integers(0, 24, 900), rng.integers(0, 150, 900)
    law = [[0.8 if u == v else "1/115" for v in range(24)] for u in range(24)]
    document = collect(
        house,
        {"a": [labels[code] for code in codes], "b": [labels[code] for code in others], "s": strata},
        attributes={name: {"categories": labels} for name in "ab"},
        collected={"design": "matrix", "rows": law, "strata": "s"},
        statistics=[{"kind": "proportions", "of": ["a", "b"]}],
    )
    observed = np.zeros((24, 24))
    np.add.at(observed, (codes, others), 1 / 900)
    inverse = np.linalg.inv(np.full((24, 24), 1 / 115) + np.eye(24) * (0.8 - 1 / 115))
    (table,) = document["result"]["statistics"]
    assert np.array(table["estimate"]) == pytest.approx(inverse @ observed @ inverse.T, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_tables_that_strata_make_too_large_are_refused(
    house: House, monkeypatch: pytest.MonkeyPatch, weighted: bool
) -> None:
    monkeypatch.setattr(inquiry, "LARGEST_WEIGHTED" if weighted else "LARGEST_TABLE", 5)
    columns = said(2, 6) | {"s": ["a", "b", "c"] * 2, "w": [1.0] * 6}
    collected(house, columns, collected=WARNER | {"strata": "s"} | ({"weight": "w"} if weighted else {}))
    error = refused(house)
    assert (error.where, "6, by strata and groups") == ("collected", error.got)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_reports_of_own_mechanisms_can_have_weights_strata_and_groups(
    house: House, twin: House, mechanism: str
) -> None:
    """Weights that are alike, and groups that are one, change no share; the error divides by n."""
    house.given["attributes"] = {
        "trait": {"categories": ["x", "y", "z"], "epsilon": 2, "mechanism": mechanism}
    }
    house.write({"id": list(range(120)), "trait": ["x", "y", "z", "x"] * 30})
    first = house.run()[0]["result"]["attributes"]["trait"]
    (path,) = (house.out / "reports").glob("*.parquet")
    reports = pq.read_table(path)
    columns = {"trait": reports["trait"], "w": [2.0] * 120, "g": ["all"] * 120}
    document = collect(
        twin,
        columns,
        attributes=house.given["attributes"],
        collected={"design": "randomized-response", "weight": "w", "groups": "g"},
    )
    found = document["result"]["attributes"]["trait"]
    (group,) = document["result"]["groups"]
    for one in (found, group["attributes"]["trait"]):
        assert one["proportions"] == pytest.approx(first["proportions"], rel=1e-9, abs=1e-12)
        errors = np.array(first["standard_errors"]) * math.sqrt(119 / 120)
        assert one["standard_errors"] == pytest.approx(errors, rel=1e-9)


@pytest.mark.usefixtures("small_parts")
def test_how_rows_lie_in_files_makes_no_difference(house: House, twin: House) -> None:
    """To the last bit, weights and all: equal sums of integers give equal floats."""
    reports, codes, weights = some(97, 7)
    columns = {
        "id": np.arange(97),
        "trait": np.array(reports),
        "s": codes,
        "g": (codes + weights > 3).astype(int),
        "w": weights,
    }
    design = WARNER | {"strata": "s", "groups": "g", "weight": "w"}
    whole = collect(house, columns, collected=design)
    order = np.random.default_rng(8).permutation(97)
    cuts = np.split(order, [1, 40, 41, 80])
    cut = collect(
        twin, *({name: one[rows] for name, one in columns.items()} for rows in cuts), collected=design
    )
    assert cut["result"] == whole["result"]


ROWS = said(10, 30) | {"s": ["a"] * 10 + ["b"] * 20, "w": [1.0] * 30, "d": pa.array([1] * 30, pa.date32())}


@pytest.mark.parametrize(
    ("collected_too", "sampling", "where"),
    [
        ({}, {"size": 29}, "sampling"),
        ({"weight": "w"}, {"size": 100}, "sampling"),
        ({"strata": "s"}, {"size": 100}, "sampling"),
        ({}, {"strata": {"a": 50, "b": 50}}, "sampling"),
        ({"strata": "s"}, {"strata": {"a": 50}}, "sampling.strata"),
        ({"strata": "s"}, {"strata": {"a": 50, "b": 50, "c": 5}}, "sampling.strata"),
        ({"strata": "s"}, {"strata": {"a": 9, "b": 500}}, "sampling.strata"),
        ({"strata": "trait"}, None, "collected.strata"),
        ({"groups": "trait"}, None, "collected.groups"),
        ({"weight": "trait"}, None, "collected.weight"),
        ({"strata": "nowhere"}, None, "0.parquet"),
        ({"weight": "nowhere"}, None, "0.parquet"),
        ({"weight": "s"}, None, "0.parquet, column 's'"),
        ({"strata": "d"}, None, "0.parquet, column 'd'"),
        ({"groups": "d"}, None, "0.parquet, column 'd'"),
    ],
)
def test_what_does_not_fit_together_is_refused_without_a_trace(
    house: House, collected_too: dict[str, Any], sampling: dict[str, Any] | None, where: str
) -> None:
    tables = {"collected": WARNER | collected_too} | ({"sampling": sampling} if sampling else {})
    collected(house, ROWS, **tables)
    assert refused(house).where.endswith(where)


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf, 1e30, None])
def test_a_weight_that_is_none_is_refused(house: House, weight: float | None) -> None:
    collected(house, said(10, 30) | {"w": [1.0] * 29 + [weight]}, collected=WARNER | {"weight": "w"})
    assert "'w'" in str(refused(house))


def test_a_missing_stratum_is_refused(house: House) -> None:
    collected(house, said(10, 30) | {"s": ["a"] * 29 + [None]}, collected=WARNER | {"strata": "s"})
    assert "'s'" in str(refused(house))
