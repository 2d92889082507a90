"""What somebody who can write near a job must not be able to make it do."""

from __future__ import annotations

import json
import os
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.backend import Backend
from cluster.reduce import SerialEngine
from jobs.ledger import parse_limit
from tests.jobs.house import House
from udfs.errors import ClusterError, SchemaError, SpecError


class Stages(SerialEngine):
    """Remembers which stages were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def reduce(self, *how: Any) -> Any:
        self.seen.append(how[-1])
        return super().reduce(*how)


@pytest.mark.parametrize(
    "people",
    [
        {"id": [1, 2, 3], "smokes": ["no", "yes", "rarely"]},
        {"id": [1, 2, 1], "smokes": ["no", "yes", "no"]},
        {"id": [1, 2, 3], "smokes": pa.array(["no", None, "no"]).dictionary_encode()},
    ],
    ids=["undeclared", "repeated", "missing"],
)
def test_no_coin_is_drawn_before_every_row_is_in_order(house: House, people: dict[str, Any]) -> None:
    house.write(people, write_statistics=False)
    stages = Stages()
    with pytest.raises(SchemaError):
        house.run(stages)
    assert "randomize" not in stages.seen
    assert (house.charges(), house.secrets(), house.out.exists()) == ([], [], False)


@pytest.mark.parametrize(
    "name", ["../victim/reports/part-00001.parquet", "reports/../../victim", "/etc/victim", "\0"]
)
def test_a_planted_manifest_removes_nothing(house: House, name: str) -> None:
    house.fill()
    victim = house.out.parent / "victim" / "reports" / "part-00001.parquet"
    victim.parent.mkdir(parents=True)
    victim.write_text("precious")
    house.out.mkdir()
    (house.out / "manifest.json").write_text(json.dumps({"files": {name: {}}, "draw": "x"}))
    house.run()
    assert victim.read_text() == "precious"
    assert house.run()[1]


@pytest.mark.parametrize("manifest", ["[" * 5000, '{"files": 3}', "[]", "\0"])
def test_a_manifest_that_is_none_is_passed_over(house: House, manifest: str) -> None:
    house.fill()
    house.out.mkdir()
    (house.out / "manifest.json").write_text(manifest)
    assert not house.run()[1]
    assert house.run()[1]


def test_links_do_not_hide_that_results_would_fall_among_the_people(house: House) -> None:
    house.fill()
    link = house.out.with_name("link")
    link.symlink_to(house.people)
    for place in (link, link / "deeper"):
        house.given["output"]["path"] = str(place)
        with pytest.raises(SpecError, match=r"output\.path"):
            house.run()
    house.given["output"]["path"] = str(house.out)
    house.given["population"]["path"] = str(link)
    assert not house.run()[1]


def test_a_copy_takes_the_place_of_another_jobs_output(house: House) -> None:
    house.fill(files=4)
    document, _ = house.run()
    first, house.out = house.out, house.out.with_name("other")
    house.given["output"]["path"] = str(house.out)
    house.smokes["epsilon"] = 2
    house.run()
    house.smokes["epsilon"] = 1
    shutil.rmtree(first / "ignored", ignore_errors=True)
    assert house.run() == (document, True)
    assert house.files() == {
        str(path.relative_to(first)): path.read_bytes() for path in first.rglob("*") if path.is_file()
    }


def test_a_job_of_the_same_words_elsewhere_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    houses = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        house = House(folder)
        house.fill()
        house.given["population"]["path"], house.given["output"]["path"] = "people", "out"
        house.home = tmp_path / "state"
        houses.append(house)
    monkeypatch.chdir(tmp_path / "one")
    with pytest.raises(ClusterError):
        houses[0].run(FailsWhenAsked())
    monkeypatch.chdir(tmp_path / "two")
    houses[1].run()
    assert len(houses[0].secrets()) == 1


class FailsWhenAsked(SerialEngine):
    """Fails after the charge."""

    def reduce(self, *how: Any) -> Any:
        if how[-1] == "check":
            return super().reduce(*how)
        raise ClusterError("cluster", "must stay up")


def test_other_code_does_not_go_on_with_a_job(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.fill()
    with pytest.raises(ClusterError):
        house.run(FailsWhenAsked())
    (secret,) = house.secrets()
    monkeypatch.setattr(Backend, "code", lambda self: "another release")
    assert not house.run()[1]
    assert not secret.exists()
    assert house.charges() == ["charged", "charged"]


def test_reports_are_not_taken_for_answers(house: House) -> None:
    house.fill()
    house.run()
    house.given["population"] = {"path": str(house.out / "reports"), "name": "reports"}
    house.given["output"]["path"] = f"{house.out}-2"
    with pytest.raises(SchemaError, match="must hold answers; got reports"):
        house.run()


@pytest.mark.parametrize("epsilon", ["sNaN", "much", None, [1], "1" * 5000])
def test_a_footer_cannot_say_nonsense_of_epsilon(house: House, epsilon: object) -> None:
    design = {"attributes": {"smokes": {"epsilon": epsilon, "mechanism": "x" * 5000}}}
    schema = pa.schema([("smokes", pa.string())], metadata={"canvass": json.dumps(design)})
    house.people.mkdir()
    pq.write_table(pa.table({"smokes": ["no"]}, schema=schema), house.people / "0.parquet")
    house.given["population"] = {"path": str(house.people)}
    house.given["collected"] = {"design": "randomized-response"}
    with pytest.raises(SchemaError) as refused:
        house.run()
    assert len(str(refused.value)) < 700


def test_a_footer_that_is_nested_too_deep_is_passed_over(house: House) -> None:
    schema = pa.schema([("smokes", pa.string())], metadata={"canvass": "[" * 100_000})
    house.people.mkdir()
    pq.write_table(pa.table({"smokes": ["no", "yes"]}, schema=schema), house.people / "0.parquet")
    house.given["population"] = {"path": str(house.people)}
    assert house.run()[0]["population"]["rows"] == 2


def test_an_account_has_one_name_however_its_path_is_written(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.fill()
    monkeypatch.chdir(house.people.parent)
    house.ledger.set_limit("people", Decimal(0))
    for path in ("people", "./people", "people/", "./people//"):
        house.given["population"] = {"path": path}
        assert house.spec().population.account == "people"


@pytest.mark.parametrize("text", ["a\nb", "a\x1b[31mb", "a\0b"])
def test_control_characters_stand_in_no_name_and_no_message(house: House, text: str) -> None:
    for change in ({"path": text}, {"path": "x", "name": text}, {"path": "x", text: 1}):
        house.given["population"] = change
        with pytest.raises(SpecError) as refused:
            house.spec()
        assert str(refused.value).isprintable()


@pytest.mark.parametrize("limit", ["1e99999999999", "-1", "NaN", "inf", "", "x"])
def test_a_limit_is_a_number_that_can_be_added_up(limit: str) -> None:
    with pytest.raises(SpecError):
        parse_limit(limit)


def test_a_secret_is_read_from_no_link_and_no_stranger(house: House, tmp_path: Path) -> None:
    house.fill()
    with pytest.raises(ClusterError):
        house.run(FailsWhenAsked())
    (secret,) = house.secrets()
    target = tmp_path / "known"
    target.write_bytes(bytes(32))
    target.chmod(0o600)
    secret.unlink()
    secret.symlink_to(target)
    with pytest.raises(ClusterError, match="secret"):
        house.run()
    if os.geteuid() == 0:
        secret.unlink()
        secret.write_bytes(bytes(32))
        secret.chmod(0o600)
        os.chown(secret, 65534, 65534)
        with pytest.raises(ClusterError, match="its owner's alone"):
            house.run()
