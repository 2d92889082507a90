"""Trees of skills by the real command: whatever dies the tree is the same, and holders elsewhere open it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.e2e.command import COMMAND, Canvass, end, files_below, kill_group, wait_until, workers_of
from udfs.streams import Secret

DIMENSIONS = ["sawing", "sewing"]
FILES, WORKERS_A_FILE = 6, 1500


@pytest.fixture(scope="module")
def guild(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Some thousand workers, in files that are a task each."""
    folder = tmp_path_factory.mktemp("guild")
    generator = np.random.default_rng(3)
    for file in range(FILES):
        own = np.arange(file * WORKERS_A_FILE, (file + 1) * WORKERS_A_FILE)
        skills = {name: np.round(generator.random(len(own)), 2) for name in DIMENSIONS}
        pq.write_table(pa.table({"worker": own} | skills), folder / f"{file}.parquet")
    return str(folder)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key of three holders, any two of whom open."""
    folder = tmp_path_factory.mktemp("keys") / "keys"
    deal(folder)
    return folder


def command(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, check=False, **options)


def deal(folder: Path, bits: int = 512) -> None:
    dealt = command("keys", "new", "--out", folder, "--holders", "3", "--threshold", "2", "--bits", str(bits))
    assert dealt.returncode == 0, dealt.stderr


def tree(root: Path, guild: str, *options: str, **keys: Any) -> Canvass:
    """Return the command over the guild."""
    one = Canvass(root, *options)
    one.tables = {
        "job": "skills",
        "population": {"path": guild, "id": "worker", "name": "guild"},
        "output": {"path": "out"},
        "cluster": {"workers": 2},
        "skills": {"dimensions": DIMENSIONS, "bins": 4, "depth": 2},
        "privacy": {"epsilon": 2, "collusion": 10, "dropout": 10},
        "keys": keys or {"holders": 3, "threshold": 2, "bits": 1024},
    }
    return one


def nodes(one: Canvass) -> Any:
    return json.loads((one.out / "result.json").read_text("utf-8"))["result"]["nodes"]


def charged(one: Canvass) -> list[tuple[str, str, str]]:
    return [(charge.question, str(charge.epsilon), charge.status) for charge in one.charges()]


class Undisturbed:
    """The tree of a run that nothing disturbs, and the same job elsewhere."""

    def __init__(self, root: Path, guild: str) -> None:
        self._guild, self._secret = guild, root / "secret"
        self._secret.touch(0o600)
        self._secret.write_bytes(Secret.new().reveal())
        first = self.again(root / "undisturbed")
        assert first.run().returncode == 0
        self.nodes = nodes(first)

    def again(self, root: Path) -> Canvass:
        return tree(root, self._guild, "--secret-file", str(self._secret))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, guild: str) -> Undisturbed:
    return Undisturbed(tmp_path_factory.mktemp("undisturbed"), guild)


def rounds(one: Canvass) -> list[Path]:
    return [*one.state.glob("canvass/jobs/*/rounds/*.json")]


def test_a_process_that_is_killed_within_a_level_changes_nothing(
    tmp_path: Path, undisturbed: Undisturbed
) -> None:
    one = undisturbed.again(tmp_path / "run")
    run = one.start()
    wait_until(lambda: rounds(one), run)
    victims = workers_of(run)
    victims[0].kill()
    assert len(victims) == 2
    assert len(rounds(one)) < 3
    assert end(run).returncode == 0
    assert nodes(one) == undisturbed.nodes
    assert charged(one) == [("worker", "2", "charged")]


def test_a_tree_whose_processes_are_all_killed_grows_on(tmp_path: Path, undisturbed: Undisturbed) -> None:
    one = undisturbed.again(tmp_path / "run")
    run = one.start()
    wait_until(lambda: rounds(one), run)
    kill_group(run)
    kept = {path.name: path.read_bytes() for path in rounds(one)}
    assert 0 < len(kept) < 3
    ended = one.run()
    assert ended.returncode == 0
    assert "level 2: 6 tasks" not in ended.stderr
    assert nodes(one) == undisturbed.nodes
    assert charged(one) == [("worker", "2", "charged")]
    assert not list(one.state.rglob("*.secret"))
    assert not rounds(one)


def watch(share: Path, mailbox: Path, *options: str) -> subprocess.Popen[str]:
    """Start a holder who answers for as long as a test takes."""
    return subprocess.Popen(
        [
            COMMAND,
            "keys",
            "open",
            "--share",
            str(share),
            "--mailbox",
            str(mailbox),
            "--watch",
            "200",
            *options,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_holders_elsewhere_open_the_tree_and_a_forger_is_named(
    tmp_path: Path, guild: str, keys: Path
) -> None:
    """Holder 2 answers first, with numbers that are none of its doing; the others suffice."""
    mailbox = tmp_path / "mailbox"
    mailbox.mkdir()
    one = tree(tmp_path / "run", guild, public=str(keys / "public.json"), mailbox=str(mailbox), wait_s=200)
    run = one.start()
    request = wait_until(lambda: [*(mailbox / "requests").glob("*.json")], run)[0]
    forged = mailbox / "answers" / request.stem / "holder-2.json"
    forged.parent.mkdir(parents=True, exist_ok=True)
    forged.write_text('{"version": 1, "kind": "answer", "holder": 2}', encoding="utf-8")
    holders = [watch(keys / f"share-{holder}.json", mailbox, "--at-least", "8990") for holder in (1, 3)]
    try:
        ended = end(run)
    finally:
        for holder in holders:
            kill_group(holder)
    assert ended.returncode == 0, ended.stderr
    document = json.loads((one.out / "result.json").read_text("utf-8"))
    assert document["roles"] == "embedded, key-holders apart"
    assert document["result"]["holders"]["answered"] == [1, 3]
    assert document["result"]["holders"]["refused"] == [2]
    secrets = [json.loads((keys / f"share-{holder}.json").read_text("utf-8"))["secret"] for holder in (1, 3)]
    for path, data in files_below(one.out, one.state, mailbox):
        assert not [secret for secret in secrets if secret.encode() in data], path


def test_a_job_that_waits_in_vain_says_for_whom_and_goes_on_later(
    tmp_path: Path, guild: str, keys: Path
) -> None:
    mailbox = tmp_path / "mailbox"
    mailbox.mkdir()
    one = tree(tmp_path / "run", guild, public=str(keys / "public.json"), mailbox=str(mailbox), wait_s=1)
    one.tables["skills"]["depth"] = 0
    ended = one.run("--quiet")
    assert ended.returncode == 4
    assert "0 of 2" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert charged(one) == [("worker", "2", "charged")]
    for holder in (2, 3):
        opened = command("keys", "open", "--share", keys / f"share-{holder}.json", "--mailbox", mailbox)
        assert opened.returncode == 0, opened.stderr
    again = one.run()
    assert again.returncode == 0, again.stderr
    assert "level 0: 6 tasks" not in again.stderr
    assert charged(one) == [("worker", "2", "charged")]


def test_a_holder_opens_nothing_of_fewer_than_it_wants(tmp_path: Path, guild: str, keys: Path) -> None:
    mailbox = tmp_path / "mailbox"
    mailbox.mkdir()
    one = tree(tmp_path / "run", guild, public=str(keys / "public.json"), mailbox=str(mailbox), wait_s=1)
    one.tables["skills"]["depth"] = 0
    assert one.run().returncode == 4
    opened = command(
        "keys", "open", "--share", keys / "share-1.json", "--mailbox", mailbox, "--at-least", "10000"
    )
    assert opened.returncode == 4
    assert "10000" in opened.stdout + opened.stderr or "10,000" in opened.stdout + opened.stderr
    assert not [*mailbox.glob("answers/*/holder-1.json")]


def test_keys_are_their_owners_alone_and_never_overwritten(keys: Path) -> None:
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in keys.iterdir() if path.suffix == ".json"
    }
    assert modes == {"public.json": 0o644} | {f"share-{holder}.json": 0o600 for holder in (1, 2, 3)}
    before = (keys / "public.json").read_bytes()
    again = command("keys", "new", "--out", keys, "--holders", "3", "--threshold", "2", "--bits", "512")
    assert again.returncode in (2, 4)
    assert (keys / "public.json").read_bytes() == before
    assert command("keys", "new", "--out", keys / "x", "--holders", "2", "--threshold", "3").returncode == 2


def test_a_share_that_others_can_read_is_refused(tmp_path: Path, keys: Path) -> None:
    share = tmp_path / "share-1.json"
    share.write_bytes((keys / "share-1.json").read_bytes())
    os.chmod(share, 0o644)
    refused = command("keys", "open", "--share", share, "--mailbox", tmp_path)
    assert refused.returncode == 4
    assert "share-1.json" in refused.stderr
