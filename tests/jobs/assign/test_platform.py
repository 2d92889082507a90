"""The platform's work: any cut of the library gives the same hint and answers, and all rows are touched."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cluster.reduce import SerialEngine
from cluster.shared import open_room
from cluster.storage import Store
from jobs.assign import platform
from jobs.assign.platform import AnswerBlock, HintBlock, Platform
from udfs.download_retrieval import DownloadRetrieval, DownloadShape
from udfs.draws import fresh_draws
from udfs.fetching import Letters
from udfs.lattice_retrieval import LatticeRetrieval
from udfs.lattice_shape import choose_shape
from udfs.paillier_retrieval import PaillierRetrieval
from udfs.paillier_shape import PaillierShape
from udfs.retrieval import Hint, Retrieval

ITEMS = [bytes([number, 0]) * 20 for number in range(7)]
PROTOCOLS: dict[str, Callable[[], Retrieval]] = {
    "lattice": lambda: LatticeRetrieval.of(choose_shape(7, 40), ITEMS),
    "paillier": lambda: PaillierRetrieval.of(PaillierShape(7, 40, 128), ITEMS),
    "download": lambda: DownloadRetrieval.of(DownloadShape(7, 40), ITEMS),
}
GETS = np.array([[0, 6], [3, 3], [5, 1]])


class Site:
    """What the platform needs of a population: an engine, a room, and memory."""

    def __init__(self) -> None:
        self.engine, self.lying, self.names = SerialEngine(), list[Any](), list[str]()

    @contextlib.contextmanager
    def room(self) -> Iterator[Callable[[Any], Callable[[], Any]]]:
        def put(array: Any) -> Callable[[], Any]:
            self.lying.append(array)
            return lambda: array

        yield put
        self.lying.clear()

    def reduce(self, units: Any, chunk: Any, combine: Any, stage: str) -> Any:
        return self.engine.reduce(units, chunk, combine, stage)

    def cached(self, name: str, make: Callable[[], Any]) -> Any:
        self.names.append(name)
        return make()


def asked(retrieval: Retrieval) -> tuple[Any, list[Any]]:
    """Return what three workers send in two gets each, and what they keep."""
    queries = [retrieval.query(GETS[:, get], fresh_draws(3)) for get in range(2)]
    return np.stack([query.sent for query in queries], axis=1), [query.kept for query in queries]


def letters_of(sent: Any, *cuts: int) -> Letters:
    edges = list(pairwise([0, *cuts, len(sent)]))
    return Letters(
        tuple(np.zeros((stop - first, 2), np.uint64) for first, stop in edges),
        tuple(lambda first=first, stop=stop: sent[first:stop] for first, stop in edges),  # type: ignore[misc]
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_blocks_and_letters_of_any_size_give_the_same(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    retrieval = PROTOCOLS[protocol]()
    sent, kept = asked(retrieval)
    found = []
    for blocks, cuts in ((1, ()), (2, (1,)), (3, (1, 2)), (10**6, (2,))):
        monkeypatch.setattr(platform, "_FEWEST_BLOCKS", blocks)
        site: Any = Site()
        with Platform.opened(site, retrieval, ITEMS) as one:
            (matrix,) = site.lying
            edges = list(one.blocks)
            assert len(edges) == min(blocks, len(matrix))
            assert [edge for block in edges for edge in range(*block)] == list(range(len(matrix)))
            hint = one.hint()
            answers, seconds = one.answer(letters_of(sent, *cuts))
        assert not site.lying
        assert site.names == [f"hint of {protocol} {retrieval.version}"]
        assert answers.shape[:2] == (3, 2)
        assert seconds >= 0
        found.append((hint.tobytes(), answers.tobytes(), hint.dtype, answers.dtype))
        for get in range(2):
            items = retrieval.decode(kept[get], answers[:, get], Hint(retrieval.version, hint))
            assert [item.tobytes() for item in items] == [ITEMS[place] for place in GETS[:, get]]
    assert len(set(found)) == 1


@pytest.mark.parametrize("size", [1, 10**9])
def test_large_libraries_are_cut_by_their_bytes(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "_FEWEST_BLOCKS", 1)
    monkeypatch.setattr(platform, "_BLOCK_BYTES", size)
    with Platform.opened(Site(), PROTOCOLS["download"](), ITEMS) as one:  # type: ignore[arg-type]
        assert len(one.blocks) == (7 if size == 1 else 1)


class Watched:
    """A protocol that notes which rows it is given, and where they begin."""

    def __init__(self, retrieval: Retrieval) -> None:
        self.retrieval, self.touched = retrieval, list[tuple[bytes, int]]()

    def hint(self, rows: Any, first: int) -> Any:
        self.touched.append((rows.tobytes(), first))
        return self.retrieval.hint(rows, first)

    def answer(self, rows: Any, first: int, sent: Any) -> Any:
        self.touched.append((rows.tobytes(), first))
        return self.retrieval.answer(rows, first, sent)


def test_a_block_is_read_whole_whatever_is_asked() -> None:
    """What a task reads and does tells nothing of places."""
    watched: Any = Watched(PROTOCOLS["lattice"]())
    matrix = watched.retrieval.library(ITEMS)
    HintBlock(watched, lambda: matrix)((1, 3))
    for place in range(7):
        sent = watched.retrieval.query(np.array([place]), fresh_draws(1)).sent[:, None]
        AnswerBlock(watched, lambda: matrix, (lambda sent=sent: sent,))((1, 3))  # type: ignore[misc]
    assert len(matrix) >= 3
    assert watched.touched == [(matrix[1:3].tobytes(), 1)] * 8


def test_the_folder_of_arrays_is_cleared_when_work_fails(tmp_path: Path) -> None:
    site: Any = Site()
    site.room = lambda: open_room(Store(str(tmp_path)))
    with (
        contextlib.suppress(RuntimeError),
        Platform.opened(site, PROTOCOLS["lattice"](), ITEMS) as one,
    ):
        assert one.library().tolist() == PROTOCOLS["lattice"]().library(ITEMS).tolist()
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
