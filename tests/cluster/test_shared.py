from __future__ import annotations

import contextlib
import pickle
from pathlib import Path

import numpy as np
import pytest

from cluster.shared import SharedArray, open_room
from cluster.storage import Store
from udfs.errors import ClusterError

ARRAYS = [np.arange(12, dtype=np.uint16).reshape(3, 4), np.zeros((0, 5)), np.array([["é", "ab"]])]


@pytest.mark.parametrize("array", ARRAYS)
def test_an_array_is_read_wherever_its_address_goes(tmp_path: Path, array: np.ndarray) -> None:
    with open_room(Store(str(tmp_path))) as room:
        put = pickle.loads(pickle.dumps(room))
        travelled: SharedArray = pickle.loads(pickle.dumps(put(array)))
        assert travelled().tolist() == array.tolist()
        assert travelled().dtype == array.dtype
        with pytest.raises(ValueError, match="read-only"):
            travelled()[...] = array


def test_arrays_lie_there_for_as_long_as_the_room_is_open_and_for_their_owner(tmp_path: Path) -> None:
    with contextlib.suppress(RuntimeError), open_room(Store(str(tmp_path))) as room:
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        address = room(ARRAYS[0])
        assert len(list(folder.iterdir())) == 1
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ClusterError, match="every worker can read"):
        address()


@pytest.mark.parametrize("torn", [b"", b"\x93NUMPY", b"no array"])
def test_an_array_that_is_torn_is_none(tmp_path: Path, torn: bytes) -> None:
    with open_room(Store(str(tmp_path))) as room:
        address = room(ARRAYS[0])
        Path(address.store.path(address.name)).write_bytes(torn)
        with pytest.raises(ClusterError, match="every worker can read"):
            address()


def test_two_arrays_never_have_one_address(tmp_path: Path) -> None:
    with open_room(Store(str(tmp_path))) as room, open_room(Store(str(tmp_path))) as other:
        first, second, third = room(ARRAYS[0]), room(ARRAYS[0] + 1), other(ARRAYS[0] + 2)
        assert (first() + 2).tolist() == (second() + 1).tolist() == third().tolist()


def test_an_array_is_read_from_any_store(store: Store) -> None:
    with open_room(store) as room:
        shared = room(ARRAYS[0])
        assert shared().tolist() == ARRAYS[0].tolist()
        with pytest.raises(ValueError, match="read-only"):
            shared()[0] = 1
    assert store.names() == []


def test_objects_are_not_shared(tmp_path: Path) -> None:
    with open_room(Store(str(tmp_path))) as room, pytest.raises(ValueError, match="allow_pickle"):
        room(np.array([object()]))
    assert list(tmp_path.iterdir()) == []
