from __future__ import annotations

import numpy as np
import pytest

from udfs.errors import ProtocolError, SchemaError, SpecError
from udfs.retrieval import Cost, Hint, Query, check_items, checked_places, library_version


@pytest.mark.parametrize("place", [-1, 5, 6, 2**62, 2.0, True, None, "2", float("nan")])
def test_a_place_outside_of_the_library_or_no_integer_is_refused_and_not_shown(place):
    with pytest.raises(SpecError, match="from 0 to 4") as refusal:
        checked_places(np.array([place]), items=5)
    assert repr(place) not in refusal.value.got.split(" ")[0] or place in (True, 2.0)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_places_of_any_integer_type_are_taken(kind):
    assert checked_places(np.array([0, 4], dtype=kind), items=5).tolist() == [0, 4]


def test_places_are_one_a_worker():
    with pytest.raises(SpecError, match="one a worker"):
        checked_places(np.array([[0, 1]]), items=5)
    assert checked_places(np.array([], dtype=np.int64), items=5).shape == (0,)


def test_items_of_different_lengths_empty_ones_and_missing_ones_are_refused():
    check_items([b"ab", b"c\0"], 2, 2)
    for items in ([b"ab", b"c"], [b"ab", b""], [b"ab"], [b"ab", b"cd", b"ef"]):
        with pytest.raises(SchemaError, match="2 items of 2 bytes"):
            check_items(items, 2, 2)


def test_a_version_tells_layouts_items_and_their_order_apart():
    versions = {
        library_version(layout, items)
        for layout in ("a", "b")
        for items in (
            [b"ab", b"c"],
            [b"a", b"bc"],
            [b"c", b"ab"],
            [b"ab", b"c\0"],
            [b"abc"],
            [b"ab", b"c", b""],
        )
    }
    assert len(versions) == 12
    assert all(len(bytes.fromhex(version)) == 32 for version in versions)


def test_a_hint_of_another_library_is_refused():
    Hint("a" * 64, np.zeros(1)).check("a" * 64)
    with pytest.raises(ProtocolError, match="Download the hint again"):
        Hint("b" * 64, np.zeros(1)).check("a" * 64)


def test_a_query_does_not_print_what_workers_keep():
    assert "hush" not in repr(Query(np.zeros(1), "hush"))


def test_the_hint_is_paid_once_and_all_else_with_every_get():
    assert Cost(1000, 20, 3, 0).bytes_per_worker(10) == 1230
