from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.jobs.house import Canvass, House

SPEC = """
job = "survey"
[population]
path = "people"
id = "id"
[output]
path = "out"
[attributes.smokes]
categories = ["no", "yes"]
epsilon = 1
"""


@pytest.fixture(autouse=True)
def at_home(house: House, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Work in the house's folder, with its state."""
    house.fill()
    (tmp_path / "spec.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_help_names_every_command(canvass: Canvass) -> None:
    code, out, _ = canvass("--help")
    assert code == 0
    assert all(f"  {command} " in out for command in ("run", "plan", "ledger", "schema"))


def test_a_plan_is_json_where_that_is_wanted(canvass: Canvass) -> None:
    code, out, err = canvass("plan", "spec.toml", "--json", "--set", "attributes.smokes.epsilon=0.5")
    assert (code, err) == (0, "")
    assert json.loads(out)["epsilon"] == {"total": 0.5, "charged": 0.5, "attributes": {"smokes": 0.5}}
    assert not Path("out").exists()


def test_a_plan_is_a_table_elsewhere(canvass: Canvass) -> None:
    code, out, _ = canvass("plan", "spec.toml")
    assert code == 0
    assert "smokes" in out
    assert "epsilon 1 a respondent, 1 of it charged" in out


def test_a_limit_that_is_set_is_shown_and_holds(canvass: Canvass) -> None:
    assert canvass("ledger", "limit", "people", "0.5")[0] == 0
    assert "people: 0 spent, limit 0.5" in canvass("ledger", "show")[1]
    code, out, err = canvass("run", "spec.toml", "--quiet")
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert err.startswith("canvass: account 'people': its limit of 0.5 must not be passed")
    assert not Path("out").exists()


def test_a_ledger_elsewhere_is_named_by_its_url(canvass: Canvass) -> None:
    url = f"sqlite:///{Path.cwd()}/other.db"
    assert canvass("ledger", "limit", "people", "2", "--url", url)[0] == 0
    assert "people: 0 spent, limit 2" in canvass("ledger", "show", "--url", url)[1]
    assert canvass("ledger", "show")[1] == ""


def test_the_schema_knows_every_table(canvass: Canvass) -> None:
    schema = json.loads(canvass("schema")[1])
    own = {
        "survey": "attributes",
        "election": "election",
        "skills": "skills",
        "assign": "tasks",
        "graph": "release",
    }
    for kind in schema["oneOf"]:
        job = kind["properties"]["job"]["const"]
        assert {"job", "population", "output", "cluster", "ledger", own.pop(job)} <= set(kind["properties"])
    assert not own


def test_what_the_schema_refers_to_is_there(canvass: Canvass) -> None:
    schema = json.loads(canvass("schema")[1])
    referred = re.findall(r'"\$ref": "#/([^"]*)"', json.dumps(schema))
    assert len(set(referred)) > 10
    for path in referred:
        found = schema
        for step in path.split("/"):
            found = found[int(step)] if isinstance(found, list) else found[step]
        assert isinstance(found, dict)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run", "absent.toml"], 2, "canvass: absent.toml: must be a spec that can be read"),
        (["run", "spec.toml", "--set", "attributes.smokes.epsilon=0"], 2, "attributes.smokes.epsilon"),
        (["plan", "spec.toml", "--set", "population.path=absent"], 2, "population.path"),
        (["plan", "spec.toml", "--set", "attributes.drinks={categories=[1,2],epsilon=1}"], 2, "'drinks'"),
        (["run", "spec.toml", "--set", "output=1", "--out", "x"], 2, "output: must be a table"),
        (["run", "spec.toml", "--scheduler", "a", "--scheduler-file", "b"], 2, "cluster.scheduler_file"),
        (["run", "spec.toml", "--set", "ledger.url=nonsense"], 2, "ledger.url"),
        (["run", "spec.toml", "--set", "ledger.url='sqlite:////absent/x.db'"], 5, "ledger: its database"),
        (
            ["run", "spec.toml", "--secret-file", "absent"],
            2,
            "--secret-file absent: the job's secret must be readable",
        ),
        (["ledger", "limit", "people", "--", "-1"], 2, "EPSILON: a limit must be a number"),
    ],
)
def test_a_failure_is_one_line_and_an_exit_code(
    canvass: Canvass, words: list[str], code: int, said: str
) -> None:
    found, out, err = canvass(*words)
    assert (found, out, err.count("\n")) == (code, "", 1)
    assert said in err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "words", [["rum"], ["run"], ["run", "spec.toml", "--workers", "0"], ["plan", "a", "b"]]
)
def test_a_command_that_is_none_is_an_error_of_use(canvass: Canvass, words: list[str]) -> None:
    code, _, err = canvass(*words)
    assert code == 2
    assert "Usage: " in err
    assert "Error: " in err


def test_below_dask_a_failure_is_one_line_too(tmp_path: Path) -> None:
    dask = Path(sys.executable).with_name("dask")
    ended = subprocess.run(
        [dask, "canvass", "run", str(tmp_path / "none.toml")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
