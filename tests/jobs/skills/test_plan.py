"""What a plan says before a row is read is what the job does and how exact it is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from jobs.catalogue import load
from jobs.lifecycle import open_data
from tests.jobs.house import spoil_rows
from tests.jobs.skills.guild import Guild


@pytest.fixture
def guild(tmp_path: Path) -> Guild:
    one = Guild(tmp_path)
    one.given["privacy"] = {"epsilon": 4, "collusion": 20, "dropout": 4}
    return one


def plan(guild: Guild) -> dict[str, Any]:
    from cluster.backend import Backend

    job, spec = load(guild.given)
    data, _ = open_data(spec, Backend(lambda: pytest.fail("no cluster is needed for a plan")))
    job.check(spec, data)
    return job.plan(spec, data)


def test_no_row_is_read(guild: Guild) -> None:
    before = plan(guild)
    spoil_rows(guild.people)
    after = plan(guild)
    for one in (before, after):
        one["predicted"].pop("seconds")
    assert before == after
    assert not guild.charges()


def test_predicted_are_the_ciphertexts_and_errors_of_the_run(guild: Guild) -> None:
    planned = plan(guild)["predicted"]
    result = guild.run()[0]["result"]
    assert planned["ciphertexts_per_participant"] == result["ciphertexts"]["per_participant"]
    assert planned["bytes_per_participant"] == result["ciphertexts"]["bytes_per_participant"]
    assert [one["ciphertexts"] for one in planned["levels"]] == result["ciphertexts"]["by_level"]
    assert planned["beta"] == result["beta"] == 240 / 216
    for leaf in result["leaves"]:
        assert planned["leaf_standard_error"] == pytest.approx(leaf["standard_error"])
        assert planned["leaf_consistent_standard_error"] == pytest.approx(leaf["consistent_standard_error"])
    errors = {one["level"]: one["count_standard_error"] for one in planned["levels"]}
    assert all(errors[node["level"]] == pytest.approx(node["standard_error"]) for node in result["nodes"])


def test_the_levels_ask_as_many_counters_as_is_known(guild: Guild) -> None:
    """Of 10 bins and depth 10 it is 12,277."""
    guild.given["skills"] |= {"bins": 10, "depth": 10}
    predicted = plan(guild)["predicted"]
    assert predicted["counters"] == sum(one["counters"] for one in predicted["levels"]) == 12_277


def test_the_tree_has_half_of_what_is_for_a_worker_replaced(guild: Guild) -> None:
    replaced = plan(guild)
    guild.given["privacy"] |= {"neighbours": "add-or-remove", "epsilon": 2}
    added = plan(guild)
    for one in (replaced, added):
        assert float(one["epsilon"]["charged"]) == 4
        spent = sum(
            float(level["counts_epsilon"]) + float(level["median_epsilon"] or 0)
            for level in one["predicted"]["levels"]
        )
        assert spent == pytest.approx(2)
    leaf = replaced["predicted"]["levels"][-1]
    variance = 240 / 216 / (2 * math.sinh(float(leaf["counts_epsilon"]) / 2) ** 2)
    assert leaf["count_standard_error"] == pytest.approx(math.sqrt(variance))


def test_it_says_where_splits_would_be_guesses_and_who_could_open_anything(guild: Guild) -> None:
    guild.given["privacy"]["epsilon"] = 0.05
    said = " ".join(plan(guild)["reasons"])
    assert "no better than a guess" in said
    assert "embedded" in said
    guild.given["keys"] = {"public": str(guild.deal() / "public.json"), "mailbox": str(guild.root)}
    guild.given["privacy"]["epsilon"] = 2000
    said = " ".join(plan(guild)["reasons"])
    assert "guess" not in said
    assert "embedded" not in said
