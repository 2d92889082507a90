"""A guild of workers, the command that grows a tree of them, and holders of its key in processes of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.skills.key_files import read_share
from jobs.skills.mailbox_files import MailboxFiles
from jobs.skills.requests import Request
from tests.e2e.command import COMMAND, Canvass, end, kill_group, wait_until
from udfs.threshold import partially_decrypt

DIMENSIONS = ["sawing", "sewing"]
FILES, WORKERS_A_FILE = 6, 1500


def settle(folder: Path) -> str:
    """Write some thousand workers, in files that are a task each, and return where they are."""
    generator = np.random.default_rng(3)
    for file in range(FILES):
        own = np.arange(file * WORKERS_A_FILE, (file + 1) * WORKERS_A_FILE)
        skills = {name: np.round(generator.random(len(own)), 2) for name in DIMENSIONS}
        pq.write_table(pa.table({"worker": own} | skills), folder / f"{file}.parquet")
    return str(folder)


def command(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, check=False, **options)


def deal(folder: Path) -> None:
    dealt = command("keys", "new", "--out", folder, "--holders", "3", "--threshold", "2", "--bits", "512")
    assert dealt.returncode == 0, dealt.stderr


def tree(root: Path, guild: str, *options: str, **keys: Any) -> Canvass:
    """Return the command over the guild; without keys, the job deals its own."""
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


def shares(keys: Path, *holders: int) -> list[Path]:
    return [keys / f"share-{holder}.json" for holder in holders]


def charged(one: Canvass) -> list[tuple[str, str, str]]:
    return [(charge.question, str(charge.epsilon), charge.status) for charge in one.charges()]


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


def with_holders(
    run: subprocess.Popen[str], paths: Sequence[Path], mailbox: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    """Wait for the end of a run that holders in processes of their own answer."""
    holders = [watch(path, mailbox, *options) for path in paths]
    try:
        return end(run)
    finally:
        for holder in holders:
            kill_group(holder)


class Paced:
    """A tree whose levels wait for this process: it is at a level until its request is answered here."""

    def __init__(self, one: Canvass, keys: Path, mailbox: Path) -> None:
        self.run, self._files = one.start(), MailboxFiles(mailbox)
        self._shares = [read_share(path) for path in shares(keys, 1, 3)]
        self._seen: set[str] = set()
        self._heard = bytearray()

    def next_request(self) -> Request:
        """Wait until the next level's sum is there."""
        (digest,) = wait_until(lambda: {*self._files.requests()} - self._seen, self.run)
        self._seen.add(digest)
        request = self._files.read_request(digest)
        assert request is not None
        return request

    def answer(self, request: Request) -> None:
        """Open it, so that the next level begins."""
        for share in self._shares:
            self._files.put_answer(request.digest, partially_decrypt(share, request.ciphertexts, os.urandom))

    def wait_for(self, words: str) -> None:
        """Wait until the run says something."""
        assert self.run.stderr is not None
        pipe = self.run.stderr.fileno()
        os.set_blocking(pipe, False)

        def is_said() -> bool:
            with suppress(BlockingIOError):
                self._heard.extend(os.read(pipe, 1 << 16))
            return words.encode() in self._heard

        wait_until(is_said, self.run)
        os.set_blocking(pipe, True)
