"""The secret is a file of its owner's alone; what travels is where it lies."""

from __future__ import annotations

import os
import pickle
import stat
from pathlib import Path

import pytest

from cluster.secret_file import SecretFile, destroy_secret, keep_secret, read_secret
from udfs.errors import ClusterError
from udfs.streams import Secret

GIVEN = Secret(bytes(range(32)))


def test_a_new_secret_is_random_and_its_owner_s_alone(tmp_path: Path) -> None:
    one, two = (keep_secret(str(tmp_path / "jobs" / name)) for name in ("one", "two"))
    path = tmp_path / "jobs" / "one"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_bytes()) == 32
    assert one.load().reveal() != two.load().reveal()
    assert sorted(os.listdir(tmp_path / "jobs")) == ["one", "two"]
    assert stat.S_IMODE((tmp_path / "jobs").stat().st_mode) == 0o700


def test_a_generous_umask_opens_nothing(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        keep_secret(str(tmp_path / "s"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600


def test_a_secret_that_is_there_stays(tmp_path: Path) -> None:
    first = keep_secret(str(tmp_path / "s"), GIVEN)
    assert keep_secret(str(tmp_path / "s")) == keep_secret(str(tmp_path / "s"), Secret.new()) == first
    assert first.load().reveal() == GIVEN.reveal()


def test_what_travels_holds_no_secret(tmp_path: Path) -> None:
    file = keep_secret(str(tmp_path / "s"), GIVEN)
    for said in (pickle.dumps(file), repr(file).encode(), str(vars(file)).encode()):
        assert GIVEN.reveal() not in said
        assert GIVEN.reveal().hex().encode() not in said
    with pytest.raises(TypeError, match="a secret does not travel"):
        pickle.dumps(file.load())


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_a_secret_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    keep_secret(str(tmp_path / "s"), GIVEN)
    (tmp_path / "s").chmod(mode)
    with pytest.raises(ClusterError, match=f"must be its owner's alone; got mode {mode:o} of user"):
        read_secret(str(tmp_path / "s"))


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_secret_of_another_length_is_refused_and_not_shown(tmp_path: Path, size: int) -> None:
    (tmp_path / "s").touch(0o600)
    (tmp_path / "s").write_bytes(b"S" * size)
    with pytest.raises(ClusterError, match="a secret is 32 bytes; got") as caught:
        read_secret(str(tmp_path / "s"))
    assert "SSS" not in str(caught.value)


def test_a_secret_that_is_not_there_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        ClusterError, match=r"must be readable; got FileNotFoundError. Set cluster\.secrets_dir"
    ):
        SecretFile(str(tmp_path / "s"), "").load()


def test_a_worker_with_another_secret_is_refused(tmp_path: Path) -> None:
    file = keep_secret(str(tmp_path / "s"), GIVEN)
    (tmp_path / "s").write_bytes(bytes(32))
    with pytest.raises(ClusterError, match="must hold this job's secret; got another"):
        SecretFile(file.path, file.check).load()


def test_a_destroyed_secret_is_overwritten_and_gone(tmp_path: Path) -> None:
    keep_secret(str(tmp_path / "s"), GIVEN)
    os.link(tmp_path / "s", tmp_path / "same bytes on the disk")
    destroy_secret(str(tmp_path / "s"))
    destroy_secret(str(tmp_path / "s"))
    assert not (tmp_path / "s").exists()
    assert (tmp_path / "same bytes on the disk").read_bytes() == bytes(32)
