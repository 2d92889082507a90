from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from jobs import cache
from jobs.cache import Cache


def made(value: int, size: int = 4) -> np.ndarray:
    return np.full(size, value, dtype=np.int64)


def never() -> np.ndarray:
    raise AssertionError("it was there")


def test_an_array_is_made_once(tmp_path: Path) -> None:
    kept = Cache(tmp_path / "cache")
    assert kept.array("one", lambda: made(1)).tolist() == [1] * 4
    assert Cache(tmp_path / "cache").array("one", never).tolist() == [1] * 4
    assert kept.array("two", lambda: made(2)).tolist() == [2] * 4
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


def test_one_that_is_torn_is_made_again(tmp_path: Path) -> None:
    kept = Cache(tmp_path)
    kept.array("one", lambda: made(1))
    (file,) = tmp_path.iterdir()
    for size in (0, 5, 70, file.stat().st_size - 1):
        file.write_bytes(file.read_bytes()[:size])
        assert kept.array("one", lambda: made(3)).tolist() == [3] * 4
    assert kept.array("one", never).tolist() == [3] * 4


def test_one_with_a_bit_turned_is_made_again(tmp_path: Path) -> None:
    kept = Cache(tmp_path)
    kept.array("one", lambda: made(1))
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for place in (len(whole) - 40, len(whole) - 1):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        assert kept.array("one", lambda: made(3)).tolist() == [3] * 4
    assert kept.array("none", lambda: np.zeros((0, 3))).shape == kept.array("none", never).shape == (0, 3)


def test_what_could_run_code_is_not_read(tmp_path: Path) -> None:
    kept = Cache(tmp_path)
    kept.array("one", lambda: made(1))
    (file,) = tmp_path.iterdir()
    np.save(file, np.array([print], dtype=object), allow_pickle=True)
    assert kept.array("one", lambda: made(2)).tolist() == [2] * 4


def test_what_was_not_used_for_longest_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_BYTES", 1000)
    kept = Cache(tmp_path)
    for number, name in enumerate(("old", "used", "new")):
        kept.array(name, lambda number=number: made(number, 30))  # type: ignore[misc]
        for path in tmp_path.iterdir():
            status = path.stat()
            os.utime(path, (status.st_atime - 100, status.st_mtime - 100))
    kept.array("used", never)
    kept.array("more", lambda: made(3, 30))
    assert kept.array("used", never)[0] == 1
    assert kept.array("old", lambda: made(9))[0] == 9
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1000


def test_one_that_is_too_large_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_BYTES", 10)
    assert Cache(tmp_path).array("one", lambda: made(1)).tolist() == [1] * 4
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_of_one_that_could_not_be_made(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        Cache(tmp_path / "cache").array("one", never)
    assert not (tmp_path / "cache").exists()
