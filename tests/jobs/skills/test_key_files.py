from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from jobs.skills.key_files import read_public, read_share, write_keys
from jobs.skills.sealed import sealed
from tests.udfs.keys import fresh_words
from udfs.errors import ProtocolError, SpecError
from udfs.threshold import deal

KEY, SHARES = deal(3, 2, 256, fresh_words())
OTHER, OTHER_SHARES = deal(3, 2, 256, fresh_words())


@pytest.fixture
def folder(tmp_path):
    write_keys(tmp_path / "a" / "keys", KEY, SHARES)
    return tmp_path / "a" / "keys"


def _fields(path):
    fields = json.loads(path.read_text())
    return {name: value for name, value in fields.items() if name not in ("kind", "version", "sha256")}


def _rewrite(path, **changes):
    """Write a file again with other fields, and with the checksum that belongs to them."""
    kind = json.loads(path.read_text())["kind"]
    path.write_text(sealed(kind, _fields(path) | changes))


def test_keys_are_read_as_they_were_written(folder):
    assert read_public(folder / "public.json") == KEY
    assert [read_share(str(folder / f"share-{i}.json")) for i in (1, 2, 3)] == list(SHARES)
    assert sorted(path.name for path in folder.iterdir()) == [
        "public.json",
        "share-1.json",
        "share-2.json",
        "share-3.json",
    ]


def test_files_have_the_fields_of_the_contract(folder):
    public, share = (json.loads((folder / name).read_text()) for name in ("public.json", "share-2.json"))
    assert (
        {"version", "kind", "key_id", "n", "holders", "threshold", "sha256"} <= public.keys() <= share.keys()
    )
    assert (public["kind"], share["kind"], share["holder"]) == ("public", "share", 2)
    assert share.keys() - public.keys() == {"holder", "secret"}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_share_is_its_owners_alone_and_the_public_key_everybodys(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_keys(tmp_path, KEY, SHARES)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"public.json": 0o644} | {f"share-{i}.json": 0o600 for i in (1, 2, 3)}


@pytest.mark.parametrize("name", ["public.json", "share-3.json"])
def test_keys_are_never_overwritten(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(SpecError) as caught:
        write_keys(tmp_path, KEY, SHARES)
    assert caught.value.where == str(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_keys_that_somebody_else_writes_meanwhile_are_not_overwritten_either(tmp_path, monkeypatch):
    (tmp_path / "share-2.json").write_text("mine")
    monkeypatch.setattr(Path, "exists", lambda path: False)
    with pytest.raises(SpecError, match="got FileExistsError"):
        write_keys(tmp_path, KEY, SHARES)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("share-2.json", "mine")]


@pytest.mark.parametrize("below", [(), ("keys",)])
def test_a_folder_that_is_none_is_refused(tmp_path, below):
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match="must be a folder that can be written to"):
        write_keys(tmp_path.joinpath("file", *below), KEY, SHARES)


@pytest.mark.parametrize("files", range(4))
def test_keys_that_cannot_all_be_written_are_not_there(tmp_path, monkeypatch, files):
    calls = iter(range(4))

    def full(descriptor):
        if next(calls) == files:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SpecError, match="must be a folder that can be written to; got OSError"):
        write_keys(tmp_path, KEY, SHARES)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_share_that_others_can_get_at_is_refused(folder, mode):
    path = folder / "share-1.json"
    path.chmod(mode)
    with pytest.raises(ProtocolError, match=f"must be its owner's alone; got mode {mode:04o}") as caught:
        read_share(path)
    assert caught.value.where == str(path)
    assert str(caught.value).endswith(f"If nobody read it, run: chmod 600 {path}.")


def test_every_byte_of_a_file_is_under_its_checksum(folder):
    for name, read in (("public.json", read_public), ("share-1.json", read_share)):
        text = (folder / name).read_text()
        for place in range(0, len(text) - 1, 7):
            damaged = text[:place] + ("0" if text[place] != "0" else "1") + text[place + 1 :]
            (folder / name).write_text(damaged)
            with pytest.raises(ProtocolError) as caught:
                read(folder / name)
            assert caught.value.where == str(folder / name)


@pytest.mark.parametrize("length", [0, 1, 100, -3])
def test_a_torn_file_is_refused(folder, length):
    path = folder / "public.json"
    path.write_text(path.read_text()[:length])
    with pytest.raises(
        ProtocolError, match=r"must be whole and fit its checksum.*\. Restore it from its copy\."
    ):
        read_public(path)


def test_one_kind_of_file_does_not_stand_for_the_other(folder):
    public, share = folder / "public.json", folder / "share-1.json"
    with pytest.raises(SpecError) as caught:
        read_share(public)
    assert str(caught.value) == f"keys.shares {public}: must be a share; got a public key file"
    with pytest.raises(SpecError) as caught:
        read_share(public, "--share")
    assert str(caught.value) == f"--share {public}: must be a share; got a public key file"
    with pytest.raises(SpecError) as caught:
        read_public(share)
    assert str(caught.value) == f"keys.public {share}: must be a public key file; got a share"
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[]", b"null", b"{}", b"{" * 100_000, b""])
def test_a_file_of_something_else_is_refused(folder, content):
    (folder / "public.json").write_bytes(content)
    with pytest.raises(ProtocolError) as caught:
        read_public(folder / "public.json")
    assert caught.value.where == str(folder / "public.json")


@pytest.mark.parametrize(("read", "option"), [(read_public, "keys.public"), (read_share, "keys.shares")])
def test_a_path_that_leads_to_no_file_is_a_fault_of_the_spec(tmp_path, read, option):
    paths = {
        tmp_path / "gone.json": "must be a key file that can be read; got No such file or directory",
        tmp_path: "must be a key file that can be read; got Is a directory",
        "s3://bucket/key.json": "must be a file of this machine, or in a folder that is mounted; got a URL",
    }
    for path, told in paths.items():
        with pytest.raises(SpecError) as caught:
            read(path)
        assert str(caught.value) == f"{option} {path}: {told}"
        with pytest.raises(SpecError, match=f"^--share {path}: "):
            read(path, "--share")


WRONG_FIELDS = {
    "another version of a number": {"n": KEY.n},
    "a text for a number": {"holders": "3"},
    "a truth value": {"threshold": True},
    "no list": {"verification": "12"},
    "no hexadecimal digits": {"v": "0x5"},
    "no digits in a list": {"verification": [1, 2, 3]},
    "one more field": {"more": 1},
    "a lower threshold": {"threshold": 1},
    "a verification key too few": {"verification": ["1", "4"]},
    "another n": {"n": f"{OTHER.n:x}"},
}


@pytest.mark.parametrize("name", WRONG_FIELDS)
@pytest.mark.parametrize(("file", "read"), [("public.json", read_public), ("share-1.json", read_share)])
def test_fields_that_make_no_key_are_refused_whatever_the_checksum(folder, name, file, read):
    _rewrite(folder / file, **WRONG_FIELDS[name])
    with pytest.raises(ProtocolError) as caught:
        read(folder / file)
    assert caught.value.where == str(folder / file)


def test_k05_a_key_with_the_fingerprint_of_another_is_refused(folder):
    for name, read in (("public.json", read_public), ("share-1.json", read_share)):
        _rewrite(folder / name, key_id=OTHER.key_id)
        with pytest.raises(ProtocolError, match=f"{OTHER.key_id[:12]} for key {KEY.key_id[:12]}") as caught:
            read(folder / name)
        assert caught.value.where == str(folder / name)


@pytest.mark.parametrize(
    "change",
    [
        {"holder": 2},
        {"holder": 0},
        {"holder": 4},
        {"secret": "0"},
        {"secret": f"{SHARES[1].secret:x}"},
        {"secret": f"{OTHER_SHARES[0].secret:x}"},
    ],
    ids=str,
)
def test_a_share_that_does_not_fit_its_key_is_refused_without_a_word_of_it(folder, change):
    path = folder / "share-1.json"
    _rewrite(path, **change)
    with pytest.raises(ProtocolError, match="must fit its verification key") as caught:
        read_share(path)
    assert caught.value.where == str(path)
    for share in (*SHARES, *OTHER_SHARES):
        assert f"{share.secret:x}" not in str(caught.value)
        assert str(share.secret) not in str(caught.value)


def test_a_share_of_another_key_under_this_keys_numbers_is_refused(folder):
    write_keys(folder / "other", OTHER, [replace(OTHER_SHARES[0], holder=1)])
    path = folder / "other" / "share-1.json"
    assert read_share(path) == OTHER_SHARES[0]
    _rewrite(path, **_fields(folder / "public.json"))
    with pytest.raises(ProtocolError, match="must fit its verification key"):
        read_share(path)


def test_paths_are_text_or_paths(tmp_path):
    write_keys(str(tmp_path), KEY, SHARES)
    assert read_public(str(tmp_path / "public.json")) == read_public(Path(tmp_path, "public.json"))
