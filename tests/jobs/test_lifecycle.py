from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cluster.dataset import open_dataset
from cluster.reduce import SerialEngine
from jobs.ledger import Balance
from jobs.state import JobState, keyed_id
from tests.jobs.house import House, Unusable, spoil_rows
from udfs.errors import BudgetError, ClusterError, SchemaError, SpecError
from udfs.streams import Secret


def test_a_job_runs_and_leaves_a_result_reports_and_a_manifest(house: House) -> None:
    house.fill(files=2, rows=60)
    document, stored = house.run()
    files = house.files()
    assert not stored
    assert set(files) == {"result.json", "report.html", "reports/part-00000.parquet", "manifest.json"}
    assert json.loads(files["result.json"]) == document
    assert pq.read_table(house.out / "reports").column_names == ["id", "smokes"]
    assert {key: document["population"][key] for key in ("name", "rows")} == {"name": "people", "rows": 120}
    assert len(document["population"]["fingerprint"]) == 64
    assert (document["job"], document["roles"]) == ("survey", "embedded")
    assert document["spec"] == house.spec().canonical()


def test_the_budget_is_charged_and_told(house: House) -> None:
    house.fill()
    house.ledger.set_limit("people", Decimal("2.5"))
    house.ledger.reserve("people", "earlier", "earlier", [("drinks", Decimal("0.1"))])
    house.smokes["epsilon"] = Decimal("0.2")
    privacy = house.run()[0]["privacy"]
    assert privacy == {
        "model": "local",
        "neighbours": "one respondent replaced",
        "basis": "drawn by this job",
        "covers": "all that respondents report",
        "epsilon": 0.2,
        "spent_before": 0.1,
        "spent_after": 0.3,
        "limit": 2.5,
    }
    assert house.charges() == ["reserved", "charged"]


def test_a_second_run_answers_with_the_stored_result_for_nothing(house: House) -> None:
    house.fill()
    document, _ = house.run()
    files = house.files()
    assert house.run(Unusable()) == (document, True)
    assert house.files() == files
    assert house.charges() == ["charged"]


def test_another_output_of_the_same_spec_is_a_copy_for_nothing(house: House, tmp_path: Path) -> None:
    house.fill()
    document, _ = house.run()
    files = house.files()
    house.out = tmp_path / "copy"
    house.given["output"]["path"] = str(house.out)
    assert house.run(Unusable()) == (document, True)
    assert house.files() == files
    assert house.charges() == ["charged"]


@pytest.mark.usefixtures("small_parts")
def test_a_new_result_leaves_no_report_of_the_one_before(house: House) -> None:
    for files in (4, 2):
        house.fill(files)
        house.run()
        assert len(house.reports()) == files
    assert house.run(Unusable())[1]


def remove_all(house: House) -> None:
    shutil.rmtree(house.out)


def remove_the_manifest(house: House) -> None:
    (house.out / "manifest.json").unlink()


def remove_a_report(house: House) -> None:
    next((house.out / "reports").iterdir()).unlink()


def tamper_with_the_result(house: House) -> None:
    (house.out / "result.json").write_bytes(house.files()["result.json"].replace(b"smokes", b"drinks"))


def tamper_with_a_report(house: House) -> None:
    (name, data), *_ = house.reports().items()
    (house.out / name).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def tamper_with_the_manifest(house: House) -> None:
    (house.out / "manifest.json").write_bytes(house.files()["manifest.json"] + b"\n")


@pytest.mark.parametrize(
    "lose",
    [
        remove_all,
        remove_the_manifest,
        remove_a_report,
        tamper_with_the_result,
        tamper_with_a_report,
        tamper_with_the_manifest,
    ],
)
def test_a_result_that_is_not_what_it_was_is_drawn_and_charged_anew(house: House, lose: Any) -> None:
    house.fill()
    house.run()
    before = house.reports()
    lose(house)
    document, stored = house.run()
    assert not stored
    assert house.charges() == ["charged", "charged"]
    assert document["privacy"]["spent_before"] == 1
    assert house.reports() != before
    assert house.run(Unusable()) == (document, True)


def test_over_the_limit_nothing_is_read_written_or_charged(house: House) -> None:
    house.fill()
    spoil_rows(house.people)
    house.ledger.set_limit("people", Decimal("0.999"))
    with pytest.raises(BudgetError):
        house.run(Unusable())
    assert not house.out.exists()
    assert not any((house.home / "jobs").iterdir())
    assert house.ledger.balances() == [Balance("people", Decimal("0.999"), Decimal(0))]


def test_at_the_limit_a_job_runs(house: House) -> None:
    house.fill()
    house.ledger.set_limit("people", Decimal(1))
    house.run()
    assert house.ledger.balances() == [Balance("people", Decimal(1), Decimal(1))]


REFUSED: dict[str, tuple[list[dict[str, Any]], str]] = {
    "missing answers": ([{"id": [1, 2], "smokes": ["no", None]}], "1 missing answers in column 'smokes'"),
    "undeclared answers": (
        [{"id": [1, 2], "smokes": ["no", "rarely"]}],
        "1 answers outside the categories in column 'smokes'",
    ),
    "missing ids": ([{"id": [1, None], "smokes": ["no", "no"]}], "1 missing ids in column 'id'"),
    "repeated ids in a file": (
        [{"id": [7, 1, 7], "smokes": ["no", "no", "yes"]}],
        "2 rows whose id repeats in column 'id'",
    ),
    "repeated ids in two files": (
        [{"id": [1, 7], "smokes": ["no", "no"]}, {"id": [9, 7], "smokes": ["yes", "no"]}],
        "1 rows whose id repeats in column 'id'",
    ),
    "a fault in the last file": (
        [{"id": [1, 2], "smokes": ["no", "no"]}, {"id": [3, 4], "smokes": ["yes", "rarely"]}],
        "1.parquet",
    ),
}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("case", REFUSED)
def test_rows_that_cannot_be_asked_are_refused_and_leave_nothing(
    house: House, tmp_path: Path, case: str, statistics: bool
) -> None:
    parts, told = REFUSED[case]
    house.write(*parts, write_statistics=statistics)
    with pytest.raises(SchemaError) as refused:
        house.run(secrets_dir=str(tmp_path / "shared"))
    assert told in str(refused.value)
    assert "rarely" not in str(refused.value)
    assert not house.out.exists()
    assert not any(tmp_path.rglob("*.secret"))
    assert not any(house.home.glob("jobs/*"))
    assert house.charges() == []


def test_a_refusal_leaves_what_else_is_in_the_output_folder(house: House) -> None:
    house.write({"id": [1], "smokes": ["rarely"]})
    house.out.mkdir()
    (house.out / "notes.txt").write_text("mine")
    with pytest.raises(SchemaError):
        house.run()
    assert house.files() == {"notes.txt": b"mine"}


def test_a_population_that_was_mended_runs(house: House) -> None:
    house.write({"id": [1], "smokes": ["rarely"]})
    with pytest.raises(SchemaError):
        house.run()
    house.fill()
    assert not house.run()[1]
    assert house.charges() == ["charged"]


def test_ids_are_text_or_integers(house: House) -> None:
    house.write({"id": [0.5], "smokes": ["no"]})
    with pytest.raises(SchemaError, match="column 'id': ids must be text or integers; got double"):
        house.run()


def test_a_population_without_a_file_is_refused(house: House) -> None:
    for path in (house.people, house.people / "*.parquet"):
        house.given["population"]["path"] = str(path)
        with pytest.raises(SpecError, match=r"population\.path: must name a Parquet file"):
            house.run()
        house.people.mkdir(exist_ok=True)
    assert not house.out.exists()


def test_a_population_of_nobody_has_a_result_without_numbers(house: House) -> None:
    house.write({"id": [], "smokes": []})
    document, _ = house.run()
    assert document["population"]["rows"] == 0
    assert document["result"]["attributes"]["smokes"]["proportions"] == [None, None]


def test_one_run_at_a_time_has_a_spec_and_its_data(house: House) -> None:
    house.fill()
    job_id = keyed_id(house.home, house.spec().job_id(open_dataset(str(house.people), "id").snapshot))
    with JobState(house.home, job_id).locked(), pytest.raises(ClusterError, match="one run at a time"):
        house.run(Unusable())
    house.run()
    assert house.charges() == ["charged"]


def test_an_engine_that_does_not_start_costs_nothing(house: House) -> None:
    @contextlib.contextmanager
    def no_cluster() -> Iterator[SerialEngine]:
        raise ClusterError("cluster", "must start")
        yield

    house.fill()
    with pytest.raises(ClusterError):
        house.run(open_engine=no_cluster)
    assert house.charges() == []
    assert not house.out.exists()
    house.run()
    assert house.charges() == ["charged"]


def test_the_secret_is_in_no_file_and_in_no_word_once_the_job_is_done(
    house: House, tmp_path: Path, secret: Secret
) -> None:
    house.fill()
    document, _ = house.run(secret=secret)
    assert not house.secrets()
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 5
    for data in [*written, json.dumps(document).encode()]:
        assert secret.reveal() not in data
        assert secret.reveal().hex().encode() not in data.lower()


def test_a_page_that_cannot_be_drawn_loses_no_result(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.fill()
    monkeypatch.setattr("jobs.page.page.render_survey", lambda document: 1 / 0)
    with pytest.warns(RuntimeWarning, match="report.html could not be drawn: ZeroDivisionError"):
        document, stored = house.run()
    assert not stored
    assert "report.html" not in house.files()
    assert house.run() == (document, True)
