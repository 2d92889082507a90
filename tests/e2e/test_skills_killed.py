"""Trees of skills by the real command: whatever dies, the tree is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import Canvass, end, kill_group, wait_until, workers_of
from tests.e2e.skills_guild import Paced, charged, shares, tree, with_holders
from udfs.streams import Secret


def nodes(one: Canvass) -> Any:
    return json.loads((one.out / "result.json").read_text("utf-8"))["result"]["nodes"]


class Undisturbed:
    """The tree of a run that nothing disturbs, and the same job elsewhere: with the same secret and key."""

    def __init__(self, root: Path, guild: str, keys: Path) -> None:
        self._guild, self._keys, self._secret = guild, keys, root / "secret"
        self._secret.touch(0o600)
        self._secret.write_bytes(Secret.new().reveal())
        first = self.again(root / "undisturbed", shares=[str(path) for path in shares(keys, 1, 3)])
        assert first.run().returncode == 0
        self.nodes = nodes(first)

    def again(self, root: Path, **keys: Any) -> Canvass:
        public = str(self._keys / "public.json")
        return tree(root, self._guild, "--secret-file", str(self._secret), public=public, **keys)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, guild: str, keys: Path) -> Undisturbed:
    return Undisturbed(tmp_path_factory.mktemp("undisturbed"), guild, keys)


def rounds(one: Canvass) -> list[Path]:
    return [*one.state.glob("canvass/jobs/*/rounds/*.json")]


def test_a_process_that_is_killed_within_a_level_changes_nothing(
    tmp_path: Path, undisturbed: Undisturbed, keys: Path, mailbox: Path
) -> None:
    """It is stopped before the level begins, so that it has not done its part when it is killed."""
    one = undisturbed.again(tmp_path / "run", mailbox=str(mailbox), wait_s=200)
    paced = Paced(one, keys, mailbox)
    first = paced.next_request()
    victims = workers_of(paced.run)
    assert len(victims) == 2
    victims[0].suspend()
    paced.answer(first)
    paced.wait_for("level 1: 6 tasks")
    assert len(rounds(one)) == 1
    victims[0].kill()
    for _ in range(2):
        paced.answer(paced.next_request())
    assert end(paced.run).returncode == 0
    assert nodes(one) == undisturbed.nodes
    assert charged(one) == [("worker", "2", "charged")]


def test_a_tree_whose_processes_are_all_killed_grows_on(
    tmp_path: Path, undisturbed: Undisturbed, keys: Path, mailbox: Path
) -> None:
    one = undisturbed.again(tmp_path / "run", mailbox=str(mailbox), wait_s=200)
    paced = Paced(one, keys, mailbox)
    paced.answer(paced.next_request())
    paced.wait_for("level 1: 6 tasks")
    kill_group(paced.run)
    assert len(rounds(one)) in (1, 2)
    ended = with_holders(one.start(), shares(keys, 1, 3), mailbox)
    assert ended.returncode == 0, ended.stderr
    assert "level 2: 6 tasks" not in ended.stderr
    assert nodes(one) == undisturbed.nodes
    assert charged(one) == [("worker", "2", "charged")]
    assert not list(one.state.rglob("*.secret"))
    assert not rounds(one)


def test_a_killed_job_that_deals_its_own_keys_has_them_again(tmp_path: Path, guild: str) -> None:
    one = tree(tmp_path / "run", guild)
    run = one.start()
    wait_until(lambda: rounds(one), run)
    kill_group(run)
    ended = one.run()
    assert ended.returncode == 0, ended.stderr
    assert "level 2: 6 tasks" not in ended.stderr
    document = json.loads((one.out / "result.json").read_text("utf-8"))
    assert document["result"]["holders"]["where"] == "trial"
    assert charged(one) == [("worker", "2", "charged")]
