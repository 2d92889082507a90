"""Published cases of retrieval that came out wrong elsewhere: both protocols give the right bytes, or refuse clearly.

The items are those that tasks are packed in, so that what holds of a protocol's bytes holds of tasks.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.vectors import load
from udfs.draws import fresh_draws
from udfs.errors import ProtocolError, SchemaError, SpecError
from udfs.items import pack_item, pad, unpack_item
from udfs.lattice_retrieval import LatticeRetrieval
from udfs.lattice_shape import choose_shape
from udfs.paillier_retrieval import PaillierRetrieval
from udfs.paillier_shape import PaillierShape
from udfs.retrieval import Hint

CASES = {case["id"]: case for case in load("assign_field_cases")}
P01 = CASES["P01"]


def lattice(items):
    """Return the protocol of lattices, for a library of items all of the length of the first."""
    shape = choose_shape(len(items), len(items[0]))
    return LatticeRetrieval(shape, LatticeRetrieval.version_of(shape, items))


def paillier(items):
    """Return the protocol over Paillier encryption, with short keys: chunks are shorter than items."""
    shape = PaillierShape(len(items), len(items[0]), bits=128)
    return PaillierRetrieval(shape, PaillierRetrieval.version_of(shape, items))


protocols = pytest.mark.parametrize("protocol", [lattice, paillier])


def hint_of(retrieval, library):
    return Hint(retrieval.version, retrieval.hint(library, 0))


def get(retrieval, items, place):
    """Return one worker's item."""
    library = retrieval.library(items)
    query = retrieval.query(np.array([place]), fresh_draws(1))
    answers = retrieval.answer(library, 0, query.sent)
    return retrieval.decode(query.kept, answers, hint_of(retrieval, library))[0].tobytes()


class Untouched:
    """One worker's draws, of which none may be made."""

    def __len__(self):
        return 1

    def words(self, index):
        raise AssertionError("drawn")


@protocols
@pytest.mark.parametrize(
    ("place", "right"), list(zip(P01["input"]["index"], P01["expect"]["result"], strict=True)), ids=repr
)
def test_p01_an_index_outside_is_refused_before_anything_is_encrypted(protocol, place, right):
    items = [name.encode() for name in P01["input"]["items"]]
    retrieval = protocol(items)
    if right != "refuse":
        assert get(retrieval, items, place) == right.encode()
        return
    with pytest.raises(SpecError, match="places must be integers from 0 to 4"):
        retrieval.query(np.array([place]), Untouched())


@protocols
def test_zeros_at_a_payloads_end_and_items_without_tasks_come_back(protocol):
    tasks = [[("T-1", b"saw\0"), (2, b"\0\0")], [], [("T-3", b"\0" * 40)]]
    items = pad([pack_item(some) for some in tasks])[1]
    retrieval = protocol(items)
    assert [unpack_item(get(retrieval, items, place), "a leaf") for place in range(3)] == tasks


@protocols
def test_a_library_of_one_item_without_tasks_is_served(protocol):
    items = [pack_item([])]
    assert unpack_item(get(protocol(items), items, 0), "a leaf") == []


@protocols
def test_items_of_different_length_are_refused(protocol):
    items = [pack_item([("T-1", b"saw")]), pack_item([])]
    with pytest.raises(SchemaError, match="Pad all items to the longest"):
        protocol(items).library(items)


@protocols
def test_a_hint_of_another_library_is_refused_and_not_decoded_to_wrong_bytes(protocol):
    items = pad([pack_item([("T-1", b"saw")]), pack_item([("T-2", b"sew")])])[1]
    retrieval, other = protocol(items), protocol(items[::-1])
    library = retrieval.library(items)
    query = retrieval.query(np.array([1]), fresh_draws(1))
    answers = retrieval.answer(library, 0, query.sent)
    with pytest.raises(ProtocolError, match="must belong to version"):
        retrieval.decode(query.kept, answers, hint_of(other, other.library(items[::-1])))
