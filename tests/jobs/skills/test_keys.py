"""Keys of a spec, which are looked at before anything is charged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.jobs.house import Unusable
from tests.jobs.skills.guild import Guild
from tests.jobs.skills.test_plan import plan
from udfs.errors import JobError, ProtocolError, SpecError


@pytest.fixture
def guild(tmp_path: Path) -> Guild:
    guild = Guild(tmp_path)
    guild.deal()
    guild.embed(1, 2)
    return guild


def refused(guild: Guild, kind: type[JobError], **keys: Any) -> str:
    """Run under these keys in an engine that must not be used; return what is said."""
    guild.given["keys"] = {name: value for name, value in (guild.given["keys"] | keys).items() if value}
    with pytest.raises(kind) as caught:
        guild.run(Unusable())
    assert type(caught.value) is kind
    assert not guild.charges()
    return str(caught.value)


def test_a_mailbox_that_cannot_be_made_is_refused_before_anything_is_charged(guild: Guild) -> None:
    (guild.root / "file").write_text("")
    told = {
        str(guild.root / "file"): "must be a folder; got a file",
        "s3://bucket/box": "must be a folder of this machine, or one that is mounted; got a URL",
    }
    for path, message in told.items():
        assert refused(guild, SpecError, mailbox=path, shares=None) == f"keys.mailbox {path}: {message}"
    below = str(guild.root / "file" / "box")
    assert refused(guild, SpecError, mailbox=below) == (
        f"keys.mailbox {below}: must be a folder that can be made and written to; got Not a directory"
    )


def test_a_mailbox_whose_requests_cannot_be_written_is_refused(guild: Guild) -> None:
    (guild.root / "box").mkdir()
    (guild.root / "box" / "requests").write_text("")
    told = refused(guild, SpecError, mailbox=str(guild.root / "box"), shares=None)
    requests = guild.root / "box" / "requests"
    assert told.startswith(f"keys.mailbox {requests}: must be a folder that can be made and written to; got ")


def test_a_mailbox_is_empty_when_it_has_been_looked_at(guild: Guild) -> None:
    box = guild.root / "box"
    guild.given["keys"] |= {"mailbox": str(box)}
    del guild.given["keys"]["shares"]
    plan(guild)
    assert [path.relative_to(box) for path in box.rglob("*")] == [Path("requests")]


def test_a_log_that_cannot_be_written_is_refused_before_anything_is_charged(guild: Guild) -> None:
    plan(guild)
    (log,) = (guild.root / "keys").glob("holder-2-of-*.opened.jsonl")
    assert log.read_bytes() == b""
    log.write_text("x\n")
    assert refused(guild, ProtocolError).startswith(f"{log}, line 1: must be whole")
    log.unlink()
    log.mkdir()
    assert refused(guild, ProtocolError).startswith(f"{log}: must be a log that can be written")


def test_files_that_are_not_there_or_change_places_are_named_with_their_keys(guild: Guild) -> None:
    public, share = str(guild.root / "keys" / "public.json"), str(guild.root / "keys" / "share-1.json")
    gone, url = str(guild.root / "gone.json"), "s3://bucket/public.json"
    assert refused(guild, SpecError, public=share) == (
        f"keys.public {share}: must be a public key file; got a share"
    )
    assert refused(guild, SpecError, public=gone).startswith(f"keys.public {gone}: must be a key file that")
    assert refused(guild, SpecError, public=url).startswith(f"keys.public {url}: must be a file of this")
    assert refused(guild, SpecError, public=public, shares=[share, public]) == (
        f"keys.shares {public}: must be a share; got a public key file"
    )
    assert refused(guild, SpecError, shares=[share, gone]).startswith(f"keys.shares {gone}: must be a key")
    assert refused(guild, SpecError, shares=[share, url]).startswith(f"keys.shares {url}: must be a file")


def test_too_few_shares_are_told_of_in_the_right_number(guild: Guild) -> None:
    told = refused(guild, ProtocolError, shares=guild.given["keys"]["shares"][:1])
    assert told == "keys.shares: must be of 2 holders or more; got 1 of 2. Name more share files."


def test_the_plan_warns_of_keys_that_two_groups_can_use_apart(guild: Guild) -> None:
    guild.deal(4, 2, folder="four")
    four = {"public": str(guild.root / "four" / "public.json"), "mailbox": str(guild.root / "box")}
    guild.given["keys"] = four
    assert any("2 of 4 holders open a sum" in reason for reason in plan(guild)["reasons"])
    guild.given["keys"] = four | {"public": str(guild.root / "keys" / "public.json")}
    assert not any("holders open a sum" in reason for reason in plan(guild)["reasons"])
