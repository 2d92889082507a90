"""Libraries for the tests of lattice retrieval, and queries seen with their secrets."""

from __future__ import annotations

import os

import numpy as np

from udfs.draws import fresh_draws
from udfs.lattice_law import scale
from udfs.lattice_retrieval import LatticeRetrieval
from udfs.lattice_shape import Shape, bases, choose_shape
from udfs.retrieval import Hint

NINES, EIGHTS = bases()[-1], next(base for base in bases() if base.modulus == 257)


def lattice_of(shape, items):
    return LatticeRetrieval(shape, LatticeRetrieval.version_of(shape, items))


def random_items(count, size):
    """Return items of which some end in zeros, and one is all zeros."""
    items = [os.urandom(size) for _ in range(count)]
    items[0] = bytes(size)
    items[-1] = items[-1][: size // 2] + bytes(size - size // 2)
    return items


def fetched(lattice, items, places, cuts=(), draws=None):
    """Fetch these places, the library cut into blocks of rows."""
    library = lattice.library(items)
    blocks = np.split(library, cuts)
    firsts = [0, *cuts]
    query = lattice.query(places, draws or fresh_draws(len(places)))
    hint = np.concatenate([lattice.hint(block, first) for block, first in zip(blocks, firsts, strict=True)])
    answers = [lattice.answer(block, first, query.sent) for block, first in zip(blocks, firsts, strict=True)]
    found = lattice.decode(query.kept, lattice.combine(answers), Hint(lattice.version, hint))
    return [bytes(one) for one in found], hint, lattice.combine(answers)


SHAPES = [
    Shape(1, 1, 1, 1, NINES),
    Shape(1, 100, 1, 20, NINES, spread=7),
    Shape(20, 33, 1, 20, NINES, spread=4),
    Shape(20, 33, 1, 20, EIGHTS, spread=33),
    Shape(20, 33, 1, 20, NINES),
    Shape(20, 33, 1, 20, NINES, stack=3),
    Shape(20, 33, 1, 20, EIGHTS, stack=20),
    choose_shape(20, 33, workers=20),
    choose_shape(5000, 2, workers=5000),
    Shape(5000, 2, 1, 5000, NINES),
]


LAID = Shape(60, 40, 1, 10**6, NINES, spread=2)
ITEMS = random_items(60, 40)
LATTICE = lattice_of(LAID, ITEMS)


def matrix_of(lattice):
    """Return the public matrix, whole."""
    return np.concatenate([rows for _, rows in lattice._matrix()])


def masks_of(lattice, kept):
    """Return A s of each query, by integer products alone."""
    return kept.secrets.astype(np.uint32) @ matrix_of(lattice).T


def errors_of(lattice, query):
    """Return what is left of queries without the mask and without what is asked."""
    shape = lattice.shape
    left = query.sent - masks_of(lattice, query.kept)
    for worker, place in enumerate(query.kept.places):
        first = place // shape.stack * shape.spread
        for way in range(shape.spread):
            left[worker, way, [first + way]] -= np.uint32(scale(shape.base.modulus))
    return left.view(np.int32)
