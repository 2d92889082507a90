"""Kill what you like: with text ids, too, the reports stay the same to the byte, and one charge stands."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from tests.e2e.command import Canvass, end, kill_group, wait_until, workers_of
from tests.e2e.conftest import TASKS
from udfs.streams import Secret

QUESTIONS = {
    "smokes": {"categories": [0, 1], "epsilon": 1, "mechanism": "randomized-response"},
    "income": {"categories": [0, 1, 2, 3, 4], "epsilon": 1, "mechanism": "subset-selection"},
}


def test_a_job_survives_dead_workers_and_dead_drivers(tmp_path: Path, multitude: str) -> None:
    secret = tmp_path / "secret"
    secret.touch(0o600)
    secret.write_bytes(Secret.new().reveal())

    def canvass(name: str, workers: int) -> Canvass:
        one = Canvass(tmp_path / name, "--secret-file", str(secret), "--workers", str(workers))
        one.ask(multitude, QUESTIONS, id="name")
        return one

    undisturbed = canvass("undisturbed", 1)
    result = undisturbed.document()["result"]
    assert len(undisturbed.reports()) == TASKS

    bereft = canvass("bereft", 2)
    run = bereft.start()
    wait_until(bereft.staged, run)
    before = workers_of(run)
    before[0].kill()
    assert len(before) == 2
    assert len(bereft.staged()) < TASKS
    assert end(run).returncode == 0
    assert bereft.reports() == undisturbed.reports()

    resumed = canvass("resumed", 2)
    run = resumed.start()
    wait_until(resumed.staged, run)
    kill_group(run)
    assert 0 < len(resumed.staged()) < TASKS
    assert not (resumed.out / "result.json").exists()
    assert resumed.document()["result"] == result
    assert resumed.reports() == undisturbed.reports()

    for one in (bereft, resumed):
        assert [(charge.question, charge.epsilon, charge.status) for charge in one.charges()] == [
            ("smokes", Decimal(1), "charged"),
            ("income", Decimal(1), "charged"),
        ]
        assert not list(one.state.rglob("*.secret"))
        assert sorted(path.name for path in one.out.iterdir()) == ["manifest.json", "reports", "result.json"]
