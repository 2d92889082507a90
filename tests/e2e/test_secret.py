"""The job's secret is in its own file while the job can be resumed, and nowhere else at any time."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

from tests.e2e.command import Canvass, end, files_below, kill_group, wait_until
from tests.e2e.remote import remote_scheduler
from tests.e2e.test_draws_once import QUESTIONS
from tests.e2e.wire import tapped


def guises(secret: bytes) -> list[bytes]:
    """Return what a secret may look like."""
    text = base64.b64encode(secret)
    return [
        secret, secret.hex().encode(), secret.hex().upper().encode(), repr(secret).encode()[2:-1],
        text[:-2], base64.urlsafe_b64encode(secret)[:-2], str(list(secret)).encode()[1:-1],
    ]  # fmt: skip


def where(secret: bytes, canvass: Canvass) -> set[Path]:
    """Return the files of state and output that hold a secret."""
    own = files_below(canvass.state, canvass.out)
    return {path for path, data in own if any(guise in data for guise in guises(secret))}


def secrets(canvass: Canvass) -> list[Path]:
    """Return the files where secrets lie."""
    return list(canvass.state.rglob("*.secret"))


def test_the_secret_passes_no_wire_and_stays_in_no_file(tmp_path: Path, multitude: str) -> None:
    with remote_scheduler(tmp_path / "remote") as remote, tapped(remote.address) as wire:
        for _ in range(2):
            remote.start_worker(address=wire.address)
        canvass = Canvass(tmp_path / "run", "--scheduler", wire.address)
        canvass.ask(multitude, QUESTIONS, id="name")
        run = canvass.start()
        wait_until(canvass.staged, run)
        (file,) = secrets(canvass)
        secret = file.read_bytes()
        assert len(secret) == 32
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert where(secret, canvass) == {file}
        assert run.poll() is None, "the job was to be looked at while it runs"

        ended = end(run)
        assert ended.returncode == 0, ended.stderr
        assert where(secret, canvass) == set()
        assert not secrets(canvass)
        said = (ended.stdout + ended.stderr + remote.logs()).encode()
        assert wire.saw(str(file).encode()), "the task graph passed here"
        for guise in guises(secret):
            assert guise not in said
            assert not wire.saw(guise)


def test_a_secret_outlives_a_killed_driver_and_not_a_refusal(sent: Canvass, multitude: str) -> None:
    sent.ask(multitude, QUESTIONS)
    run = sent.start()
    wait_until(sent.staged, run)
    kill_group(run)
    (file,) = secrets(sent)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    secret = file.read_bytes()
    ended = sent.run("--quiet")
    assert ended.returncode == 0, ended.stderr
    assert not secrets(sent)
    assert where(secret, sent) == set()

    sent.ask(multitude, {"income": {"categories": [0, 1, 2, 3], "epsilon": 1}})
    assert sent.run("--quiet").returncode == 2
    assert not secrets(sent)
