"""Files stand under their names when they are whole, here and on an object store."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from cluster.storage import Store, filesystem
from udfs.errors import SpecError


def test_a_file_that_is_written_can_be_read(store: Store) -> None:
    store.write("a", b"one")
    assert store.read("a") == b"one"
    with store.open("a") as file:
        assert file.read(2) == b"on"
    assert store.names() == ["a"]
    assert store.exists("a")
    assert not store.exists("b")


def test_a_file_takes_its_name_only_when_it_is_whole(store: Store) -> None:
    store.write("a", b"one")
    with store.replacing("a") as file:
        file.write(b"two")
        assert store.read("a") == b"one"
    assert store.read("a") == b"two"
    assert store.names() == ["a"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file_and_nothing_else(store: Store, error: type[BaseException]) -> None:
    store.write("a", b"one")

    def fail(name: str) -> None:
        with store.replacing(name) as file:
            file.write(b"x" * 100_000)
            raise error

    for name in ("a", "b"):
        with pytest.raises(error):
            fail(name)
    assert store.names() == ["a"]
    assert store.read("a") == b"one"


def test_a_folder_that_is_not_there_takes_no_file_and_has_none(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError):
        store.write("a", b"one")
    assert store.names() == []
    assert not store.exists()


def test_a_file_can_be_taken_from_another_folder(store: Store) -> None:
    other = store.folder("other")
    other.make()
    other.write("a", b"new")
    store.write("b", b"old")
    store.take(other, "a", "b")
    assert store.read("b") == b"new"
    assert other.names() == []


def test_removing_and_clearing_need_nothing_there(store: Store) -> None:
    store.folder("x/y").make()
    store.folder("x/y").write("a", b"one")
    store.remove("none")
    store.remove("x/y/a")
    store.remove("x/y/a")
    store.write("b", b"two")
    store.clear()
    store.clear()
    assert store.names() == []


def test_names_are_of_all_files_below_in_order(store: Store) -> None:
    for name in ("c", "a", "b/d"):
        store.folder("b").make()
        store.write(name, b"")
    assert store.names() == ["a", "b/d", "c"]


def test_what_others_do_is_seen_at_once(store: Store) -> None:
    other = Store(store.url)
    assert not store.exists("a")
    other.write("a", b"one")
    assert store.exists("a")
    assert store.names() == ["a"]
    other.remove("a")
    assert not store.exists("a")


def test_a_store_travels_as_its_url(store: Store) -> None:
    assert store.root
    sent = pickle.dumps(store)
    assert b"testing" not in sent
    assert pickle.loads(sent) == store


def test_a_local_path_is_absolute_wherever_it_travels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store("out")
    assert (store.url, store.root, store.local) == (str(tmp_path / "out"), str(tmp_path / "out"), True)
    assert store.folder("a").path("b") == str(tmp_path / "out" / "a" / "b")


def test_a_private_folder_is_its_owner_s_alone(tmp_path: Path) -> None:
    Store(str(tmp_path / "p")).make(private=True)
    assert (tmp_path / "p").stat().st_mode & 0o777 == 0o700


def test_an_unknown_protocol_is_refused_with_what_to_do() -> None:
    with pytest.raises(
        SpecError, match=r"output: must be a path or a URL .* got nowhere://x\. Install its driver"
    ):
        filesystem("nowhere://x", "output")
