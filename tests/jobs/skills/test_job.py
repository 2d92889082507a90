"""The skills job, from Parquet to a tree, in this process."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from cluster.reduce import SerialEngine
from jobs.skills.holders import Holder
from jobs.skills.requests import Request
from tests.jobs.house import Unusable
from tests.jobs.skills.guild import SKILLS, Guild, in_box
from udfs.ciphertexts import CiphertextSum
from udfs.errors import ProtocolError, SchemaError, SpecError


@pytest.fixture
def guild(tmp_path: Path) -> Guild:
    return Guild(tmp_path)


def check_tree(guild: Guild, result: dict[str, Any]) -> None:
    """Check that counts are those of the boxes, and that each worker is in exactly one leaf."""
    nodes = {node["id"]: node for node in result["nodes"]}
    for node in nodes.values():
        assert node["count"] == in_box(guild, node["box"])
        assert node["consistent_count"] == pytest.approx(node["count"])
        if node["histogram"] is not None:
            assert sum(node["histogram"]) == node["count"]
        if node["children"]:
            left, right = (nodes[child] for child in node["children"])
            assert left["box"][node["dimension"]][1] == node["split"] == right["box"][node["dimension"]][0]
            assert left["level"] == right["level"] == node["level"] - 1
    assert result["leaves"] == [node for node in nodes.values() if node["children"] is None]
    assert sum(leaf["count"] for leaf in result["leaves"]) == len(guild.skills)


def test_without_noise_to_speak_of_every_count_is_its_box_s(guild: Guild) -> None:
    document, stored = guild.run()
    result = document["result"]
    assert not stored
    check_tree(guild, result)
    assert [node["level"] for node in result["nodes"]] == [3] + [2] * 2 + [1] * 4 + [0] * 8
    assert [node["dimension"] for node in result["nodes"][:7]] == [
        SKILLS[0],
        *[SKILLS[1]] * 2,
        *[SKILLS[2]] * 4,
    ]
    assert result["contributions"] == result["participants"] == result["workers"] == 240
    assert result["holders"] == {
        "number": 3,
        "threshold": 2,
        "answered": [1, 2],
        "declined": [],
        "wrong": [],
        "where": "trial",
    }
    assert document["roles"] == "embedded"
    assert document["privacy"]["epsilon"] == document["privacy"]["spent_after"] == 2000
    assert result["delta"] > 0
    assert set(guild.files()) == {"result.json", "leaves.parquet", "report.html", "manifest.json"}
    assert not guild.secrets()


def test_leaves_are_also_a_table(guild: Guild) -> None:
    leaves = guild.run()[0]["result"]["leaves"]
    table = pq.read_table(guild.out / "leaves.parquet").to_pylist()
    assert [row["id"] for row in table] == [leaf["id"] for leaf in leaves]
    for row, leaf in zip(table, leaves, strict=True):
        assert {name: [row[f"{name}_low"], row[f"{name}_high"]] for name in SKILLS} == leaf["box"]
        assert {name: row[name] for name in ("level", "count", "consistent_count")} == {
            name: leaf[name] for name in ("level", "count", "consistent_count")
        }


def test_stewards_give_the_same_tree_with_a_contribution_each(guild: Guild) -> None:
    guild.given["privacy"] |= {"participant": "block", "collusion": 1}
    result = guild.run()[0]["result"]
    check_tree(guild, result)
    assert (result["contributions"], result["workers"], result["beta"]) == (3, 240, 1.5)


@pytest.mark.parametrize("files", [1, 7])
def test_the_cut_into_files_changes_no_count(guild: Guild, files: int) -> None:
    first = guild.run()[0]["result"]["nodes"]
    guild.settle(files)
    assert guild.run()[0]["result"]["nodes"] == first


def test_skills_that_are_all_equal_end_at_the_depth(guild: Guild) -> None:
    guild.skills = np.full((8, 3), 0.5)
    guild.settle()
    result = guild.run()[0]["result"]
    check_tree(guild, result)
    assert all(0 <= node["split"] <= 1 for node in result["nodes"] if node["children"])


def test_a_low_count_ends_a_branch(guild: Guild) -> None:
    guild.skills[:, 0] = np.where(np.arange(240) < 200, 0.1, 0.9)
    guild.settle()
    guild.given["skills"]["min_count"] = 60
    result = guild.run()[0]["result"]
    check_tree(guild, result)
    assert {leaf["level"] for leaf in result["leaves"]} > {0}
    assert all(leaf["count"] < 60 for leaf in result["leaves"] if leaf["level"])


def test_consistent_counts_of_children_add_up_to_their_parent_s(guild: Guild) -> None:
    guild.given["privacy"]["epsilon"] = 2
    result = guild.run()[0]["result"]
    counts = {node["id"]: node["consistent_count"] for node in result["nodes"]}
    for node in result["nodes"]:
        if node["children"]:
            assert sum(counts[child] for child in node["children"]) == pytest.approx(
                counts[node["id"]], abs=1e-9
            )


def test_a_worker_replaced_is_a_worker_less_and_one_more(guild: Guild) -> None:
    guild.given["privacy"] = {"epsilon": 3, "neighbours": "add-or-remove"}
    document = guild.run()[0]
    assert document["privacy"]["neighbours"] == "add-or-remove"
    assert document["privacy"]["epsilon"] == 3
    assert [charge.epsilon for charge in guild.ledger.charges("guild")] == [Decimal(6)]
    spent = sum(one["counts"] + (one["median"] or 0) for one in document["result"]["budget"])
    assert spent == pytest.approx(3)


def test_the_result_is_stored_and_costs_nothing_again(guild: Guild) -> None:
    first = guild.run()[0]
    assert guild.run(Unusable()) == (first, True)
    assert guild.charges() == ["charged"]


@pytest.mark.parametrize("holders", [(1, 2), (3, 1), (2, 3), (1, 2, 3)])
def test_any_two_of_three_embedded_holders_open_the_tree(guild: Guild, holders: tuple[int, ...]) -> None:
    guild.deal()
    guild.embed(*holders)
    result = guild.run()[0]["result"]
    check_tree(guild, result)
    assert result["holders"]["answered"] == sorted(holders[:2])
    assert result["holders"]["where"] == "embedded"


def test_one_of_three_is_refused_before_anything_is_charged(guild: Guild) -> None:
    guild.deal()
    guild.embed(2)
    with pytest.raises(ProtocolError, match="1 of 2") as refused:
        guild.run(Unusable())
    assert refused.value.exit_code == 4
    assert not guild.charges()


def test_a_share_of_another_key_is_refused_by_its_file(guild: Guild) -> None:
    guild.deal()
    guild.deal(seed=2, folder="others")
    guild.embed(1, 2)
    guild.given["keys"]["shares"][1] = str(guild.root / "others" / "share-2.json")
    with pytest.raises(ProtocolError, match=r"others/share-2\.json"):
        guild.run(Unusable())


@pytest.mark.parametrize(
    ("skill", "what"),
    [
        (None, "missing"),
        (float("nan"), "not numbers"),
        (1.0000001, "outside"),
        (float("inf"), "outside|not numbers"),
    ],
)
def test_skills_that_are_none_are_refused_by_column_and_count(
    guild: Guild, skill: float | None, what: str
) -> None:
    table = guild.table(range(5))
    table["sewing"] = [0.5, skill, 0.25, skill, 0.0]
    guild.write(table)
    with pytest.raises(SchemaError, match=rf"2 .*({what}).*'sewing'") as refused:
        guild.run()
    assert "0000001" not in str(refused.value)
    assert guild.charges() == []
    assert not guild.out.exists()


@pytest.mark.parametrize(
    ("table", "key", "value", "named"),
    [
        ("privacy", "collusion", 240, "collusion"),
        ("privacy", "dropout", 239, "missing"),
        ("privacy", "epsilon", Decimal("0.0001"), "epsilon"),
        ("skills", "dimensions", ["sawing", "sawing"], "dimensions"),
        ("skills", "dimensions", ["worker"], "ids"),
        ("skills", "dimensions", ["sawing", "swimming"], "swimming"),
        ("skills", "domain", [1.0, 0.0], "domain"),
        ("skills", "domain", [0.0, float("inf")], "domain"),
        ("skills", "bins", 1, "bins"),
        ("skills", "depth", -1, "depth"),
        ("skills", "counts_share", 1.0, "counts_share"),
        ("keys", "threshold", 4, "threshold"),
        ("keys", "public", "keys/public.json", "keys"),
        ("keys", "mailbox", "mailbox", "keys"),
    ],
)
def test_what_cannot_be_is_refused_before_work_begins(
    guild: Guild, table: str, key: str, value: Any, named: str
) -> None:
    guild.given[table][key] = value
    with pytest.raises((SpecError, SchemaError), match=named):
        guild.run(Unusable())
    assert not guild.charges()


class Watching(SerialEngine):
    """An engine that notes every sum that is made in it."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[CiphertextSum] = []

    def reduce(self, units: Any, chunk: Any, combine: Any, stage: str) -> Any:
        def noting(unit: Any) -> Any:
            partial = chunk(unit)
            self.made.extend(one for one in getattr(partial, "counts", ()) if isinstance(one, CiphertextSum))
            return partial

        return super().reduce(units, noting, combine, stage)


def test_no_holder_is_handed_a_worker_s_ciphertext_or_the_sum_of_a_part(
    guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one worker a file, all that is made of a part is one worker's own."""
    guild.skills = guild.skills[:6]
    guild.settle(files=6)
    handed: list[Request] = []
    open_ = Holder.open

    def noting(self: Holder, request: Request) -> Any:
        handed.append(request)
        return open_(self, request)

    monkeypatch.setattr(Holder, "open", noting)
    monkeypatch.setattr("jobs.skills.spec.WORKERS_A_TASK", 1)
    engine = Watching()
    guild.run(engine)
    own = {value for one in engine.made for value in one.values}
    assert len(engine.made) == 6 * 4
    assert {one.contributions for one in engine.made} == {1}
    assert handed
    assert all(request.contributions == 6 for request in handed)
    assert not own & {value for request in handed for value in request.ciphertexts}


class Stopping(SerialEngine):
    """An engine that fails at a stage, once."""

    def __init__(self, stage: str) -> None:
        super().__init__()
        self._stage = stage

    def reduce(self, units: Any, chunk: Any, combine: Any, stage: str) -> Any:
        if stage == self._stage:
            raise KeyboardInterrupt
        return super().reduce(units, chunk, combine, stage)


class Counting(SerialEngine):
    """An engine that notes its stages."""

    def __init__(self) -> None:
        super().__init__()
        self.stages: list[str] = []

    def reduce(self, units: Any, chunk: Any, combine: Any, stage: str) -> Any:
        self.stages.append(stage)
        return super().reduce(units, chunk, combine, stage)


def test_a_job_that_was_stopped_goes_on_with_the_level_it_was_at(guild: Guild) -> None:
    guild.deal()
    guild.embed(1, 3)
    guild.given["privacy"]["epsilon"] = 2
    with pytest.raises(KeyboardInterrupt):
        guild.run(Stopping("level 1"))
    assert guild.charges() == ["charged"]
    engine = Counting()
    guild.run(engine)
    assert [stage for stage in engine.stages if stage.startswith("level")] == ["level 1", "level 0"]
    assert guild.charges() == ["charged"]
    log = next((guild.root / "keys").glob("holder-1-of-*.opened.jsonl")).read_text("utf-8").splitlines()
    rounds = [json.loads(line)["level"] for line in log]
    assert rounds == [3, 2, 1, 0]


def test_other_keys_are_another_job(guild: Guild) -> None:
    """Were a job to go on under other keys, its first levels would be opened twice and paid for once."""
    guild.deal()
    guild.embed(1, 2)
    with pytest.raises(KeyboardInterrupt):
        guild.run(Stopping("level 1"))
    for path in (guild.root / "keys").iterdir():
        path.unlink()
    guild.deal(seed=2)
    engine = Counting()
    guild.run(engine)
    assert [stage for stage in engine.stages if stage.startswith("level")] == [
        f"level {n}" for n in (3, 2, 1, 0)
    ]
    assert guild.charges() == ["charged", "charged"]
