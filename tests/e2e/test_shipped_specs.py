"""Every spec that is shipped runs as it is, on real processes, and finds the truth that was planted."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sample_data
from tests.e2e.command import COMMAND

FOLDER = Path(next(iter(sample_data.__path__)))
SPECS = sorted(FOLDER.glob("*.toml"))
TRUTH = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))
Z = 6.8
"""A normal deviate is beyond it once in 1e11 times: one of a hundred is, once in a billion."""


def run(spec: Path, out: Path, *options: str) -> dict[str, Any]:
    """Run a spec of the samples and return its result."""
    finished = subprocess.run(
        [COMMAND, "run", str(spec), "--out", str(out), "--quiet", *options],
        cwd=FOLDER.parent,
        env=os.environ | {"XDG_STATE_HOME": str(out.parent / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    found: dict[str, Any] = json.loads((out / "result.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(("spec", "data"), [("survey", "responses"), ("biomarkers", "biomarkers")])
def test_the_planted_truth_is_found(tmp_path: Path, spec: str, data: str) -> None:
    result = run(FOLDER / f"{spec}.toml", tmp_path / "out")["result"]
    for name, planted in TRUTH[data]["attributes"].items():
        found, counts = result["attributes"][name], np.array(planted["counts"])
        deviations = (np.array(found["proportions"]) - counts / counts.sum()) / found["standard_errors"]
        assert np.abs(deviations).max() < Z, (name, deviations)
    (test,) = (one for one in result["statistics"] if one["kind"] == "independence-test")
    assert 0 <= test["p_value"] <= 1


def test_the_shipped_study_runs_and_is_seen(tmp_path: Path) -> None:
    document = run(FOLDER / "survey-study.toml", tmp_path / "out", "--set", "study.replications=3")
    study = document["result"]["study"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "result.json",
        "study.json",
        "report.html",
        "manifest.json",
    }
    ldl = np.array(TRUTH["biomarkers"]["attributes"]["ldl"]["counts"])
    np.testing.assert_allclose(study["truth"][:6], ldl / ldl.sum())
    assert study["truth"][-2:] == pytest.approx([2.04018, 252.0861], abs=5e-5)
    assert len(study["points"]) == 20


def test_the_shipped_election_study_runs_and_is_seen(tmp_path: Path) -> None:
    small = {
        "ballots": "[200]",
        "candidates": "[3]",
        "epsilons": "[1]",
        "replications": "4",
        "rules": '["plurality", "stv"]',
        "mechanisms": '["central", "interactive"]',
    }
    options = [word for key, value in small.items() for word in ("--set", f"study.{key}={value}")]
    document = run(FOLDER / "election-study.toml", tmp_path / "out", *options)
    assert document["result"]["study"]["points"]
    assert document["privacy"]["epsilon"] is None
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "result.json",
        "study.json",
        "report.html",
        "manifest.json",
    }


def test_the_planted_ballots_are_found_in_every_round(tmp_path: Path) -> None:
    """Ballots without a first choice among those who are left give each an equal part."""
    result = run(FOLDER / "election.toml", tmp_path / "out")["result"]
    planted = TRUTH["ballots"]
    assert len(result["rounds"]) == len(planted["candidates"]) - 1
    assert sum(one["asked"] for one in result["rounds"]) == planted["rows"] == result["ballots"]
    for one in result["rounds"]:
        active = [planted["candidates"].index(name) for name in one["active"]]
        first = dict.fromkeys(active, 0.0)
        for ballot in planted["ballots"]:
            left = [candidate for candidate in ballot["ranking"] if candidate in first]
            for candidate in left[:1] or active:
                first[candidate] += ballot["count"] / (1 if left else len(active))
        deviations = (np.array(one["scores"]) - list(first.values())) / one["standard_errors"]
        assert np.abs(deviations).max() < Z, (one["question"], deviations)
    assert result["outcome"] not in [one["eliminated"] for one in result["rounds"]]


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workers' tree, drawn under keys that are quicker."""
    out = tmp_path_factory.mktemp("skills") / "out"
    run(FOLDER / "skills.toml", out, "--set", "keys.bits=1024")
    return out / "result.json"


def inside(box: dict[str, tuple[float, float]], skills: pa.Table) -> np.ndarray[Any, Any]:
    """Return which workers are in a box: half-open, but closed at the domain's upper end."""
    held = np.ones(len(skills), dtype=bool)
    for dimension, (low, high) in box.items():
        values = skills[dimension].to_numpy()
        held &= (values >= low) & ((values < high) | (high == 1))
    return held


def test_the_planted_workers_are_counted_in_every_node(mapped: Path) -> None:
    """Each count is off by less than its noise ever is; the leaves hold everybody, and hardly more than their part."""
    document = json.loads(mapped.read_text(encoding="utf-8"))
    result, planted = document["result"], TRUTH["workers"]
    assert document["population"]["rows"] == result["contributions"] == planted["rows"]
    assert result["holders"]["answered"] == [1, 2]
    epsilons = {one["level"]: float(one["counts"]) for one in result["budget"]}
    skills = pq.read_table(FOLDER / "workers")
    leaves = []
    for node in result["nodes"]:
        held = inside(node["box"], skills)
        off = abs(node["count"] - held.sum())
        assert off <= furthest(epsilons[node["level"]], result["beta"], 1e-9 / 127), (node["id"], off)
        if node["children"] is None:
            leaves.append(held)
    assert len(leaves) == len(result["leaves"]) == len(planted["tree"]["leaves"])
    assert (np.sum(leaves, axis=0) == 1).all()
    consistent = [leaf["consistent_count"] for leaf in result["leaves"]]
    assert sum(consistent) == pytest.approx(result["nodes"][0]["consistent_count"])


def test_every_worker_receives_the_tasks_of_its_leaf(mapped: Path, tmp_path: Path) -> None:
    """Tasks of a leaf are those whose box shares a point with its own; who received what is for the owner alone."""
    options = (f"tree.path={mapped}", "output.assignments=true")
    words = [word for option in options for word in ("--set", option)]
    document = run(FOLDER / "assign.toml", tmp_path / "out", *words)
    result, skills = document["result"], pq.read_table(FOLDER / "workers")
    assert (result["workers"], result["received"], result["undecoded"]) == (len(skills), len(skills), 0)
    assert document["privacy"]["spent_after"] == 0
    tasks = pq.read_table(FOLDER / "tasks").to_pandas()
    written = pq.read_table(tmp_path / "out" / "reports").to_pandas().set_index("worker")["tasks"]
    received = written.loc[skills["worker"].to_numpy()]
    assert all(not path.stat().st_mode & 0o077 for path in (tmp_path / "out" / "reports").iterdir())
    for leaf in result["leaves"]:
        meets = np.ones(len(tasks), dtype=bool)
        for dimension, (low, high) in leaf["box"].items():
            meets &= (tasks[f"{dimension}_low"].fillna(0) < high) | (high == 1)
            meets &= tasks[f"{dimension}_high"].fillna(1) >= low
        wanted = set(tasks["task"][meets])
        assert leaf["tasks"] == len(wanted)
        assert all(set(own) == wanted for own in received[inside(leaf["box"], skills)])


def test_the_shipped_skills_study_runs_and_is_seen(tmp_path: Path) -> None:
    small = {"workers": "[200]", "depths": "[2]", "bins": "[4]", "epsilons": "[1]", "replications": "2"}
    options = [word for key, value in small.items() for word in ("--set", f"study.{key}={value}")]
    document = run(FOLDER / "skills-study.toml", tmp_path / "out", *options)
    assert document["result"]["study"]["points"]
    assert document["privacy"]["epsilon"] is None
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "result.json",
        "study.json",
        "report.html",
        "manifest.json",
    }


def test_the_planted_links_are_found(tmp_path: Path) -> None:
    result, planted = run(FOLDER / "graph.toml", tmp_path / "out")["result"], TRUTH["links"]
    assert result["nodes"] == planted["nodes"]
    for kind, truth in (("degrees", planted["degrees"]), ("triangles", planted["triangles_at"])):
        deviations = (np.array(result[kind]["estimates"]) - truth) / result[kind]["standard_errors"]
        assert np.abs(deviations).max() < 12, kind  # of triangles at a node, whose law has long tails
        assert np.sqrt((deviations**2).mean()) == pytest.approx(1, abs=0.35)
    for estimate, truth in (
        (result["edges"], planted["edges"]),
        (result["triangles"]["total"], planted["triangles"]),
    ):
        assert abs(estimate["estimates"] - truth) < Z * estimate["standard_errors"]
    released = pq.read_table(tmp_path / "out" / result["graph"])
    assert released.num_rows == result["released"]["links"] == round(result["edges"]["estimates"])
    assert set(released["source"].to_pylist()) <= set(result["ids"])


@pytest.mark.parametrize(("spec", "graph"), [("graph-study", "links"), ("karate-study", "karate")])
def test_the_shipped_studies_of_graphs_run_and_are_seen(tmp_path: Path, spec: str, graph: str) -> None:
    words = ["--set", "study.replications=4", "--set", "study.epsilons=[2, 5]"]
    document = run(FOLDER / f"{spec}.toml", tmp_path / "out", *words)
    study, planted = document["result"]["study"], TRUTH[graph]
    assert (study["nodes"], study["links"], study["triangles"]) == (
        planted["nodes"],
        planted["edges"],
        planted["triangles"],
    )
    assert document["privacy"]["epsilon"] is None
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "result.json",
        "study.json",
        "report.html",
        "manifest.json",
    }


def furthest(epsilon: float, beta: float, failure: float) -> float:
    """Return what the difference of two NB(beta, 1 - exp(-epsilon)) passes with a lower chance than `failure`.

    Chernoff: P[|X| >= t] <= 2 exp(-s t) ((1 - a)^2 / ((1 - a e^s)(1 - a e^-s)))^beta, for each s below epsilon.
    """
    s, alpha = epsilon * np.linspace(0.01, 0.99, 99), np.exp(-epsilon)
    moments = beta * np.log((1 - alpha) ** 2 / ((1 - alpha * np.exp(s)) * (1 - alpha * np.exp(-s))))
    return float(((np.log(2 / failure) + moments) / s).min())


def test_no_spec_is_shipped_that_is_not_run_here() -> None:
    assert {path.stem for path in SPECS} == {
        "survey",
        "biomarkers",
        "survey-study",
        "election",
        "election-study",
        "skills",
        "skills-study",
        "assign",
        "graph",
        "graph-study",
        "karate-study",
    }
