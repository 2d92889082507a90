"""Trees of skills by the real command: holders elsewhere open them, and none opens what it should not."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from jobs.skills.key_files import read_share
from jobs.skills.mailbox_files import MailboxFiles
from tests.e2e.command import files_below
from tests.e2e.skills_guild import Paced, charged, command, shares, tree, with_holders
from udfs.threshold import KeyShare, partially_decrypt


def with_another_secret(share: KeyShare) -> KeyShare:
    return replace(share, secret=share.secret + 1)


def test_holders_elsewhere_open_the_tree_and_a_wrong_answer_is_named(
    tmp_path: Path, guild: str, keys: Path, mailbox: Path
) -> None:
    """Before anybody else there is an answer in holder 2's name, whole in form and wrong in its proof."""
    one = tree(tmp_path / "run", guild, public=str(keys / "public.json"), mailbox=str(mailbox), wait_s=200)
    paced = Paced(one, keys, mailbox)
    request = paced.next_request()
    wrong = with_another_secret(read_share(keys / "share-2.json"))
    MailboxFiles(mailbox).put_answer(
        request.digest, partially_decrypt(wrong, request.ciphertexts, os.urandom)
    )
    ended = with_holders(paced.run, shares(keys, 1, 3), mailbox, "--at-least", "8990")
    assert ended.returncode == 0, ended.stderr
    document = json.loads((one.out / "result.json").read_text("utf-8"))
    assert document["roles"] == "embedded, key-holders apart"
    assert document["result"]["holders"] == {
        "number": 3,
        "threshold": 2,
        "answered": [1, 3],
        "declined": [],
        "wrong": [2],
        "where": "mailbox",
    }
    secrets = [json.loads(path.read_text("utf-8"))["secret"] for path in shares(keys, 1, 3)]
    for path, data in files_below(one.out, one.state, mailbox):
        assert not [secret for secret in secrets if secret.encode() in data], path


def test_a_job_that_waits_in_vain_says_for_whom_and_goes_on_later(
    tmp_path: Path, guild: str, keys: Path, mailbox: Path
) -> None:
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


def test_a_holder_opens_nothing_of_fewer_than_it_wants(
    tmp_path: Path, guild: str, keys: Path, mailbox: Path
) -> None:
    one = tree(tmp_path / "run", guild, public=str(keys / "public.json"), mailbox=str(mailbox), wait_s=1)
    one.tables["skills"]["depth"] = 0
    assert one.run().returncode == 4
    opened = command(
        "keys", "open", "--share", keys / "share-1.json", "--mailbox", mailbox, "--at-least", "10000"
    )
    assert opened.returncode == 4
    assert "opens sums of 10000 contributions or more; got 9000" in opened.stdout
    assert not [*mailbox.glob("answers/*/holder-1.json")]


def test_keys_are_their_owners_alone_and_never_overwritten(keys: Path) -> None:
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in keys.iterdir() if path.suffix == ".json"
    }
    assert modes == {"public.json": 0o644} | {f"share-{holder}.json": 0o600 for holder in (1, 2, 3)}
    before = (keys / "public.json").read_bytes()
    again = command("keys", "new", "--out", keys, "--holders", "3", "--threshold", "2", "--bits", "512")
    assert (again.returncode, again.stdout) == (2, "")
    assert "never overwritten" in again.stderr
    assert (keys / "public.json").read_bytes() == before
    assert command("keys", "new", "--out", keys / "x", "--holders", "2", "--threshold", "3").returncode == 2


def test_a_share_that_others_can_read_is_refused(tmp_path: Path, keys: Path, mailbox: Path) -> None:
    share = tmp_path / "share-1.json"
    share.write_bytes((keys / "share-1.json").read_bytes())
    for mode in (0o640, 0o644, 0o604):
        os.chmod(share, mode)
        refused = command("keys", "open", "--share", share, "--mailbox", mailbox)
        assert refused.returncode == 4
        assert "share-1.json" in refused.stderr
        assert "chmod 600" in refused.stderr


@pytest.mark.parametrize("name", ["share-4.json", "public.json"])
def test_a_share_that_is_not_there_and_a_file_that_is_none_are_mistakes_of_the_command(
    keys: Path, mailbox: Path, name: str
) -> None:
    refused = command("keys", "open", "--share", keys / name, "--mailbox", mailbox)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"--share {keys / name}" in refused.stderr
