from __future__ import annotations

import numpy as np
import pytest

from udfs.download_retrieval import DownloadRetrieval, DownloadShape
from udfs.draws import fresh_draws
from udfs.errors import ProtocolError, SchemaError, SpecError
from udfs.retrieval import Hint

ITEMS = [b"dig\0", b"sow ", b"\0\0\0\0"]


def opened(items: list[bytes] = ITEMS) -> tuple[DownloadRetrieval, Hint]:
    shape = DownloadShape(len(items), len(items[0]))
    retrieval = DownloadRetrieval(shape, DownloadRetrieval.version_of(shape, items))
    library = retrieval.library(items)
    cuts = [retrieval.hint(library[row : row + 1], row) for row in range(len(library))]
    return retrieval, Hint(retrieval.version, np.concatenate(cuts))


@pytest.mark.parametrize("items", [ITEMS, [b"x"], [b"a", b"b"] * 30])
def test_every_item_is_its_own_bytes(items: list[bytes]) -> None:
    retrieval, hint = opened(items)
    query = retrieval.query(np.arange(len(items)), fresh_draws(len(items)))
    answers = retrieval.combine([retrieval.answer(hint.rows, 0, query.sent)])
    assert [row.tobytes() for row in retrieval.decode(query.kept, answers, hint)] == items
    assert retrieval.failure == 0


def test_nothing_is_sent_whatever_is_fetched() -> None:
    retrieval, hint = opened()
    sent = [retrieval.query(np.array([place] * 2), fresh_draws(2)).sent for place in range(3)]
    assert {one.tobytes() for one in sent} == {b""}
    assert {one.shape for one in sent} == {(2, 0)}
    assert retrieval.answer(hint.rows, 0, sent[0]).size == 0
    assert (retrieval.cost.hint_bytes, retrieval.cost.upload_bytes, retrieval.cost.download_bytes) == (
        12,
        0,
        0,
    )


@pytest.mark.parametrize("place", [3, -1])
def test_places_outside_of_the_library_are_refused(place: int) -> None:
    retrieval, _ = opened()
    with pytest.raises(SpecError, match="1 of 1 outside"):
        retrieval.query(np.array([place]), fresh_draws(1))


def test_another_library_s_hint_and_half_a_library_are_refused() -> None:
    retrieval, hint = opened()
    query = retrieval.query(np.array([1]), fresh_draws(1))
    answers = retrieval.answer(hint.rows, 0, query.sent)
    _, other = opened([b"DIG\0", *ITEMS[1:]])
    with pytest.raises(ProtocolError, match="Download the hint again"):
        retrieval.decode(query.kept, answers, other)
    with pytest.raises(ProtocolError, match="must be 3 items of 4 bytes"):
        retrieval.decode(query.kept, answers, Hint(retrieval.version, hint.rows[:2]))
    with pytest.raises(ProtocolError, match="an answer for each of 1"):
        retrieval.decode(query.kept, np.zeros((2, 0), np.uint8), hint)


def test_items_of_other_lengths_and_a_library_of_nothing_are_refused() -> None:
    retrieval, _ = opened()
    with pytest.raises(SchemaError, match="1 of them of another length"):
        retrieval.library([*ITEMS[:2], b"five5"])
    for items, item_bytes in ((0, 1), (1, 0)):
        with pytest.raises(SpecError):
            DownloadShape(items, item_bytes)
