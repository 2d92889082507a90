from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from jobs.catalogue import load
from jobs.spec import Spec, read_spec_file
from udfs.errors import SpecError

TEXT = """
job = "survey"
[population]
path = "people"
id = "id"
[output]
path = "out"
[attributes.smokes]
categories = ["no", "yes"]
epsilon = 0.1
"""


def load_text(folder: Path, text: str, *overrides: str) -> Spec:
    path = folder / "spec.toml"
    path.write_text(text, "utf-8")
    return load(read_spec_file(str(path), overrides))[1]


def refusal(folder: Path, text: str, *overrides: str) -> SpecError:
    with pytest.raises(SpecError) as refused:
        load_text(folder, text, *overrides)
    return refused.value


def test_a_spec_is_read_whole_with_its_defaults(tmp_path: Path) -> None:
    spec: Any = load_text(tmp_path, TEXT)
    assert (spec.population.account, spec.population.ids, spec.population.public) == (
        "people",
        "checked",
        False,
    )
    assert (spec.output.reports, spec.cluster.threads, spec.cluster.timeout_s) == (True, 1, 600.0)
    assert spec.attributes["smokes"].missing == "none"


def test_the_account_is_the_name_where_there_is_one(tmp_path: Path) -> None:
    assert load_text(tmp_path, TEXT, "population.name=adults").population.account == "adults"


def test_a_spec_never_changes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_text(tmp_path, TEXT).output.path = "elsewhere"


@pytest.mark.parametrize(
    ("override", "where", "known"),
    [
        ("popluation.path=x", "popluation", '"population"'),
        ("colected.design=x", "colected", '"collected"'),
        ("population.pat=x", "population.pat", '"path"'),
        ("population.idz=x", "population.idz", '"id'),
        ("output.report=true", "output.report", '"reports"'),
        ("cluster.worker=2", "cluster.worker", '"workers"'),
        ("ledger.uri=x", "ledger.uri", '"url"'),
        ("attributes.smokes.epsilom=1", "attributes.smokes.epsilom", '"epsilon"'),
        ("attributes.smokes.catgories=1", "attributes.smokes.catgories", '"categories"'),
        ("output.zzz=1", "output.zzz", "known are path, reports"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_right_one(
    tmp_path: Path, override: str, where: str, known: str
) -> None:
    error = refusal(tmp_path, TEXT, override)
    assert (error.where, error.must) == (where, "is not a key of this table")
    assert known in error.remedy


@pytest.mark.parametrize(
    ("override", "where"),
    [
        ("population=1", "population"),
        ("population.path=1", "population.path"),
        ("population.path=''", "population.path"),
        ("population.id=1", "population.id"),
        ("population.ids=check", "population.ids"),
        ("population.public=1", "population.public"),
        ("population.public=yes", "population.public"),
        ("output.path=[]", "output.path"),
        ("output.reports='true'", "output.reports"),
        ("cluster.workers='2'", "cluster.workers"),
        ("cluster.workers=2.0", "cluster.workers"),
        ("cluster.workers=true", "cluster.workers"),
        ("cluster.workers=0", "cluster.workers"),
        ("cluster.timeout_s=0", "cluster.timeout_s"),
        ("cluster.timeout_s=nan", "cluster.timeout_s"),
        ("attributes=1", "attributes"),
        ("attributes.smokes=1", "attributes.smokes"),
        ("attributes.smokes.mechanism=warner", "attributes.smokes.mechanism"),
        ("attributes.smokes.missing=false", "attributes.smokes.missing"),
        ("attributes.smokes.undeclared=1", "attributes.smokes.undeclared"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_by_name(tmp_path: Path, override: str, where: str) -> None:
    assert refusal(tmp_path, TEXT, override).where == where


def test_an_unknown_key_in_a_list_of_tables_is_refused_by_name(tmp_path: Path) -> None:
    """An epsilon, too, though a wrong one in a list of them has no name of its own."""
    override = 'statistics=[{kind = "entropy", of = ["smokes"], epsilon = 1}]'
    assert refusal(tmp_path, TEXT, override).where == "statistics.0.epsilon"


@pytest.mark.parametrize("table", ["population", "output", "attributes"])
def test_a_table_that_is_left_out_is_required(tmp_path: Path, table: str) -> None:
    given = tomllib.loads(TEXT)
    del given[table]
    with pytest.raises(SpecError) as refused:
        load(given)
    assert (refused.value.where, refused.value.must, refused.value.got) == (table, "is required", "nothing")


def test_a_job_has_one_scheduler(tmp_path: Path) -> None:
    error = refusal(tmp_path, TEXT, "cluster.scheduler=tcp://host:1", "cluster.scheduler_file=file.json")
    assert error.where == "cluster.scheduler_file"


def test_decimals_are_exactly_as_written(tmp_path: Path) -> None:
    spec: Any = load_text(tmp_path, TEXT, "attributes.drinks={categories = [0, 1], epsilon = 0.2}")
    assert sum(table.epsilon for table in spec.attributes.values()) == Decimal("0.3")
    assert spec.canonical()["attributes"]["smokes"]["epsilon"] == "0.1"
    fine = "0.12345678901234567890123456789"
    exact: Any = load_text(tmp_path, TEXT.replace("0.1", fine))
    assert exact.attributes["smokes"].epsilon == Decimal(fine)


@pytest.mark.parametrize(
    ("override", "keys", "value"),
    [
        ("population.path=data/people", ("population", "path"), "data/people"),
        ("population.path='007'", ("population", "path"), "007"),
        ("population.path=a=b", ("population", "path"), "a=b"),
        ("population.public=true", ("population", "public"), True),
        ("cluster.workers = 3", ("cluster", "workers"), 3),
        ("cluster.timeout_s=1.5", ("cluster", "timeout_s"), Decimal("1.5")),
        ("attributes.smokes.categories=[1, 2]", ("attributes", "smokes", "categories"), [1, 2]),
        ("attributes.drinks.epsilon=2", ("attributes", "drinks", "epsilon"), 2),
    ],
)
def test_an_override_is_toml_or_else_text(
    tmp_path: Path, override: str, keys: tuple[str, ...], value: object
) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(TEXT)
    found: Any = read_spec_file(str(path), [override])
    for key in keys:
        found = found[key]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("override", ["", "population.path", "=1", "population.=1", ".path=1", "job.name=1"])
def test_an_override_that_does_not_fit_in_is_refused(tmp_path: Path, override: str) -> None:
    assert refusal(tmp_path, TEXT, override).where == "--set"


def test_the_last_override_holds(tmp_path: Path) -> None:
    assert load_text(tmp_path, TEXT, "output.path=a", "output.path=b").output.path == "b"


def test_a_spec_that_cannot_be_read_is_refused_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes('job = "sùrvey"'.encode("latin-1"))
    for path in (tmp_path / "absent.toml", tmp_path, tmp_path / "latin.toml"):
        with pytest.raises(SpecError, match="must be a spec that can be read") as refused:
            read_spec_file(str(path))
        assert refused.value.where == str(path)


def test_a_spec_that_is_no_toml_is_refused_with_the_place(tmp_path: Path) -> None:
    error = refusal(tmp_path, "job = survey")
    assert error.where == str(tmp_path / "spec.toml")
    assert "line 1" in error.got


@pytest.mark.parametrize(
    "override",
    [
        "output.path=elsewhere",
        "output.reports=false",
        "cluster.workers=7",
        "cluster.scheduler=tcp://host:1",
        "ledger.url=sqlite:///other.db",
        "population.public=false",  # the default, said aloud
    ],
)
def test_the_id_leaves_out_where_a_job_runs_and_where_results_go(tmp_path: Path, override: str) -> None:
    assert load_text(tmp_path, TEXT, override).job_id("s") == load_text(tmp_path, TEXT).job_id("s")


def test_the_id_does_not_depend_on_the_order_of_keys(tmp_path: Path) -> None:
    text = TEXT + "[attributes.drinks]\ncategories = [0, 1]\nepsilon = 0.2"
    turned = turn(tomllib.loads(text, parse_float=Decimal))
    assert list(turned["attributes"]) == ["drinks", "smokes"]
    assert load(turned)[1].job_id("s") == load_text(tmp_path, text).job_id("s")


def turn(table: Any) -> Any:
    """Return a table with its keys, and those of the tables in it, in the opposite order."""
    if not isinstance(table, dict):
        return table
    return {key: turn(value) for key, value in reversed(table.items())}


@pytest.mark.parametrize(
    "override",
    [
        "population.path=others",
        "population.id=number",
        "population.ids=trusted",
        "population.name=adults",
        "population.public=true",
        "attributes.smokes.epsilon=0.2",
        "attributes.smokes.categories=['yes', 'no']",
        "attributes.smokes.mechanism=subset-selection",
        "attributes.smokes.missing=category",
        "attributes.drinks={categories = [0, 1], epsilon = 1}",
        "collected.design=randomized-response",
    ],
)
def test_the_id_changes_with_anything_else(tmp_path: Path, override: str) -> None:
    assert load_text(tmp_path, TEXT, override).job_id("s") != load_text(tmp_path, TEXT).job_id("s")


def test_the_id_changes_with_the_snapshot(tmp_path: Path) -> None:
    spec = load_text(tmp_path, TEXT)
    assert spec.job_id("one") != spec.job_id("other")
    assert len(spec.job_id("one")) == 64
