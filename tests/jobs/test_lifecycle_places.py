"""Where results, secrets and stages are, and what is left of them."""

from __future__ import annotations

import shutil
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from cluster.reduce import SerialEngine
from tests.jobs.house import House
from udfs.errors import BudgetError, ClusterError, SchemaError, SpecError


class CutOff(SerialEngine):
    """An engine that fails once rows were looked through: after the charge."""

    def reduce(self, *how: Any) -> Any:
        if how[-1] == "check":
            return super().reduce(*how)
        raise ClusterError("cluster", "must stay up")


@pytest.mark.parametrize("place", ["", "/out", "/deep/er"])
def test_results_are_not_put_among_the_people(house: House, place: str) -> None:
    house.fill()
    house.given["output"]["path"] = f"{house.people}{place}"
    with pytest.raises(SpecError, match=r"output\.path"):
        house.run()
    assert house.charges() == []


def test_people_are_not_read_from_where_results_go(house: House) -> None:
    house.fill()
    house.given["output"]["path"] = str(house.people.parent)
    with pytest.raises(SpecError, match=r"output\.path"):
        house.run()


def test_a_glob_beside_the_results_is_no_conflict(house: House) -> None:
    house.fill()
    house.given["population"]["path"] = f"{house.people}/*.parquet"
    house.given["output"]["path"] = f"{house.people}/results"
    assert not house.run()[1]
    assert house.run()[1]


def test_an_output_that_is_a_file_is_refused(house: House) -> None:
    house.fill()
    house.out.write_text("mine")
    with pytest.raises(SpecError, match="folder"):
        house.run()
    assert house.out.read_text() == "mine"
    assert (house.charges(), house.secrets()) == ([], [])


def test_a_copy_answers_when_the_first_output_is_gone(house: House) -> None:
    house.fill()
    first = house.out
    document, _ = house.run()
    house.out = first.with_name("copy")
    house.given["output"]["path"] = str(house.out)
    assert house.run() == (document, True)
    shutil.rmtree(first)
    assert house.run() == (document, True)
    assert house.charges() == ["charged"]


def test_a_job_whose_data_are_gone_leaves_no_secret_and_no_stage(house: House) -> None:
    house.fill(rows=60)
    with pytest.raises(ClusterError):
        house.run(CutOff())
    assert len(house.secrets()) == 1
    house.fill(rows=61)
    assert not house.run()[1]
    assert house.secrets() == []
    assert [path.name for path in house.out.iterdir() if path.name.startswith(".")] == []
    assert house.charges() == ["charged", "charged"]


def test_a_job_of_another_spec_is_left_to_be_resumed(house: House) -> None:
    house.fill()
    with pytest.raises(ClusterError):
        house.run(CutOff())
    house.smokes["epsilon"] = 2
    house.given["output"]["path"] = f"{house.out}-2"
    house.run()
    assert len(house.secrets()) == 1


def test_a_refusal_of_a_resumed_job_does_not_give_its_charge_back(house: House) -> None:
    house.fill()
    with pytest.raises(ClusterError):
        house.run(CutOff())
    (digests,) = house.home.rglob("digests.json")
    digests.write_text('{"0/0": "of other answers"}')
    with pytest.raises(SchemaError, match="looked through"):
        house.run()
    assert house.charges() == ["charged"]
    assert (house.secrets(), house.out.exists()) == ([], False)


def test_a_record_that_cannot_be_read_is_named(house: House) -> None:
    house.fill()
    house.run()
    (record,) = house.home.rglob("record.json")
    record.write_text("{")
    with pytest.raises(ClusterError, match="record"):
        house.run()


def test_a_limit_is_kept_beyond_the_digits_of_a_decimal(house: House) -> None:
    house.fill()
    house.ledger.set_limit("people", Decimal(1))
    house.ledger.reserve("people", "earlier", "earlier", [("drinks", Decimal(1))])
    house.smokes["epsilon"] = Decimal("1e-10")
    house.ledger.set_limit("people", Decimal("1.0000000001"))
    house.ledger.reserve("people", "tiny", "tiny", [("drinks", Decimal("1e-30"))])
    with pytest.raises(BudgetError):
        house.run()


def test_a_result_of_nobody_is_stored_too(house: House) -> None:
    house.write({"id": pa.array([], pa.int64()), "smokes": pa.array([], pa.string())})
    document, _ = house.run()
    assert document["population"]["rows"] == 0
    assert house.run() == (document, True)


def test_reports_that_were_not_wanted_are_not_there_later(house: House) -> None:
    house.fill()
    house.given["output"]["reports"] = False
    house.run()
    house.given["output"]["reports"] = True
    with pytest.raises(SpecError, match="without reports"):
        house.run()
    assert house.charges() == ["charged"]
