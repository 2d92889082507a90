"""Libraries for tests of retrieval over Paillier encryption, and both sides of it, under short keys."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from udfs.draws import RowDraws, fresh_draws
from udfs.paillier_messages import unpack
from udfs.paillier_retrieval import PaillierRetrieval
from udfs.paillier_shape import PaillierShape
from udfs.retrieval import Hint
from udfs.streams import Secret

BITS = 128
"""Chunks of 15 bytes."""
FLAT, SQUARE = (3, 40), (11, 33)
"""Items and their bytes, of three chunks: in one column, and in three rows of four, one place left empty."""


def new_secret():
    """Return a fresh secret; a failing test shows it."""
    secret = Secret.new()
    print("secret", secret.reveal().hex())
    return secret


def some_items(items, item_bytes, secret):
    data = np.zeros((items, 8 * -(-item_bytes // 8)), dtype=np.uint8)
    data[:] = RowDraws(secret.key("items"), data.size // 8).words(0).view(np.uint8).reshape(data.shape)
    return [row[:item_bytes].tobytes() for row in data]


class Platform:
    """A library with its protocol, and the workers' side of it."""

    def __init__(self, items, bits=BITS):
        shape = PaillierShape(len(items), len(items[0]), bits)
        self.retrieval = PaillierRetrieval(shape, PaillierRetrieval.version_of(shape, items))
        self.library = self.retrieval.library(items)
        self.hint = Hint(self.retrieval.version, self.retrieval.hint(self.library, 0))

    def answer(self, sent, cuts=()):
        edges = [0, *cuts, len(self.library)]
        parts = [self.retrieval.answer(self.library[low:high], low, sent) for low, high in pairwise(edges)]
        return self.retrieval.combine(parts)

    def decode(self, kept, answers):
        return [row.tobytes() for row in self.retrieval.decode(kept, answers, self.hint)]

    def get(self, places, draws):
        query = self.retrieval.query(np.array(places), draws)
        return self.decode(query.kept, self.answer(query.sent))


def selectors_of(platform, sent):
    shape = platform.retrieval.shape
    return [unpack(message, shape.selectors, shape.bits, "here") for message in sent]


def asked(size=SQUARE, workers=2):
    platform = Platform(some_items(*size, new_secret()))
    query = platform.retrieval.query(np.arange(workers), fresh_draws(workers))
    return platform, query
