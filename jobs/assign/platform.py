"""The platform: it has the library, and answers what it is asked without learning what that is.

Its work is a map over blocks of the library's rows and a reduction in their order. It sees letters, and nothing else of
workers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from jobs.population import Population
from udfs.fetching import Letters
from udfs.loads import Load
from udfs.retrieval import Retrieval, Rows

Block = tuple[int, int]
"""The first row of a block, and the one after its last."""

_BLOCK_BYTES = 1 << 26
_FEWEST_BLOCKS = 4
"""As many processes as that can work on one batch, also where the library is small."""


@dataclass(frozen=True)
class Answers:
    """What blocks of the library answer.

    Attributes
    ----------
    rows : ndarray, shape (queries, ...)
    seconds : float
        Of one core.
    """

    rows: Rows
    seconds: float


@dataclass(frozen=True)
class AnswerBlock:
    """Answers a batch of queries by one block of the library, touching every row of it.

    Parameters
    ----------
    retrieval : Retrieval
    library : Load
        Of its whole matrix.
    sent : tuple of Load
        Of the queries, some workers' at a time: shape (workers, gets, ...).
    """

    retrieval: Retrieval
    library: Load
    sent: tuple[Load, ...]

    def __call__(self, block: Block) -> Answers:
        """Return the block's answers: one a query."""
        first, stop = block
        rows = np.asarray(self.library()[first:stop])
        answers, seconds = [], 0.0
        for load in self.sent:
            sent = np.asarray(load())
            started = time.perf_counter()
            queries = sent.reshape(sent.shape[0] * sent.shape[1], *sent.shape[2:])
            answers.append(self.retrieval.answer(rows, first, queries))
            seconds += time.perf_counter() - started
        return Answers(np.concatenate(answers), seconds)

    def combine(self, parts: Iterable[Answers]) -> Answers:
        """Put the answers of adjoining blocks together."""
        found = list(parts)
        return Answers(self.retrieval.combine([one.rows for one in found]), sum(one.seconds for one in found))


@dataclass(frozen=True)
class HintBlock:
    """Computes the hint of one block of the library."""

    retrieval: Retrieval
    library: Load

    def __call__(self, block: Block) -> Rows:
        """Return the block's hint."""
        first, stop = block
        return self.retrieval.hint(np.asarray(self.library()[first:stop]), first)

    @staticmethod
    def combine(parts: Iterable[Rows]) -> Rows:
        """Put the hints of adjoining blocks together."""
        return np.concatenate(list(parts))


@dataclass(frozen=True)
class Platform:
    """A library that tasks can read, in blocks.

    Attributes
    ----------
    population : Population
        Whose cluster does the work.
    retrieval : Retrieval
    library : Load
    blocks : tuple of Block
    """

    population: Population
    retrieval: Retrieval
    library: Load
    blocks: tuple[Block, ...]

    @classmethod
    @contextmanager
    def opened(
        cls, population: Population, retrieval: Retrieval, items: Sequence[bytes]
    ) -> Iterator[Platform]:
        """Lay the library out where tasks can read it, for as long as it is needed."""
        matrix = retrieval.library(items)
        number = min(len(matrix), max(_FEWEST_BLOCKS, -(-matrix.nbytes // _BLOCK_BYTES)))
        edges = [len(matrix) * place // number for place in range(number + 1)]
        with population.room() as put:
            yield cls(population, retrieval, put(matrix), tuple(pairwise(edges)))

    def hint(self) -> Rows:
        """Return what every worker downloads once: kept by the library's version."""
        chunk = HintBlock(self.retrieval, self.library)
        return self.population.cached(
            f"hint of {self.retrieval.name} {self.retrieval.version}",
            lambda: self.population.reduce(self.blocks, chunk, chunk.combine, "hint"),
        )

    def answer(self, letters: Letters) -> tuple[Rows, float]:
        """Return the answers to a batch of letters, shape (workers, gets, ...), and the seconds of one core they took."""
        chunk = AnswerBlock(self.retrieval, self.library, letters.sent)
        found = self.population.reduce(self.blocks, chunk, chunk.combine, "answer")
        workers = sum(map(len, letters.addresses))
        queries = len(found.rows) // workers
        return found.rows.reshape(workers, queries, *found.rows.shape[1:]), found.seconds
