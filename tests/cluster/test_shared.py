from __future__ import annotations

import contextlib
import pickle
from pathlib import Path

import numpy as np
import pytest

from cluster.shared import SharedArray, share
from cluster.storage import Store
from udfs.errors import ClusterError

ARRAYS = [np.arange(12, dtype=np.uint16).reshape(3, 4), np.zeros((0, 5)), np.array([["é", "ab"]])]


@pytest.mark.parametrize("array", ARRAYS)
def test_an_array_is_read_wherever_its_address_goes(tmp_path: Path, array: np.ndarray) -> None:
    with share(Store(str(tmp_path / "shared")), array) as shared:
        travelled: SharedArray = pickle.loads(pickle.dumps(shared))
        assert travelled().tolist() == array.tolist()
        assert travelled().dtype == array.dtype
        with pytest.raises(ValueError, match="read-only"):
            travelled()[...] = array


def test_an_array_lies_there_for_as_long_as_it_is_needed_and_for_its_owner(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    with contextlib.suppress(RuntimeError), share(Store(str(folder)), ARRAYS[0]):
        assert folder.stat().st_mode & 0o777 == 0o700
        assert len(list(folder.iterdir())) == 1
        raise RuntimeError
    assert list(folder.iterdir()) == []
    with pytest.raises(ClusterError, match="every worker can read"):
        SharedArray(Store(str(folder)), "another.npy")()


def test_two_arrays_never_have_one_address(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with share(store, ARRAYS[0]) as first, share(store, ARRAYS[0] + 1) as second:
        assert (first() + 1).tolist() == second().tolist()


def test_an_array_is_read_from_any_store(store: Store) -> None:
    with share(store, ARRAYS[0]) as shared:
        assert shared().tolist() == ARRAYS[0].tolist()
        with pytest.raises(ValueError, match="read-only"):
            shared()[0] = 1
    assert store.names() == []


def test_objects_are_not_shared(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="allow_pickle"), share(Store(str(tmp_path)), np.array([object()])):
        pass
    assert list(tmp_path.iterdir()) == []
