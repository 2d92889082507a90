"""The two rounds of fetching: what leaves a worker, and what comes of the answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from udfs.download_retrieval import DownloadRetrieval, DownloadShape
from udfs.draws import IdDraws, Numbered, RowDraws
from udfs.errors import ProtocolError, SpecError
from udfs.fetching import Fetch, Fetching, Letters, Receiving
from udfs.items import pack_item, pad
from udfs.lattice_retrieval import LatticeRetrieval
from udfs.lattice_shape import choose_shape
from udfs.paillier_retrieval import PaillierRetrieval
from udfs.paillier_shape import PaillierShape
from udfs.retrieval import Hint
from udfs.streams import Secret
from udfs.tree_cells import TreeCells

TASKS: list[list[tuple[str | int, bytes]]] = [[(1, b"dig"), (2, b"sow\0")], [], [(3, b""), (1, b"dig")]]
HALVES = TreeCells((0, 0), (0.5, 0.75), ((-1, 1), (-2, -3)), nodes=3, column=None, edges=())
SKILLS = np.array([[0.1], [0.9], [0.6], [0.5], [0.75], [1.0], [0.0]])
PLACES = [0, 2, 1, 1, 2, 2, 0]
ITEMS = [bytes([number]) * 9 for number in range(6)]
KINDS: dict[str, tuple[Any, Any]] = {
    "lattice": (LatticeRetrieval, choose_shape(6, 9)),
    "paillier": (PaillierRetrieval, PaillierShape(6, 9, 256)),
    "download": (DownloadRetrieval, DownloadShape(6, 9)),
}


@dataclass
class House:
    """A platform and workers, both in this process."""

    fetched: tuple[tuple[int, ...], ...] = ((0,), (1,), (2,))
    secret: bytes = field(default_factory=lambda: Secret.new().reveal())
    tasks: list[list[tuple[str | int, bytes]]] = field(default_factory=lambda: TASKS)

    def __post_init__(self) -> None:
        size, items = pad([pack_item(own) for own in self.tasks])
        shape = choose_shape(len(items), size, gets=len(self.fetched[0]), workers=7)
        self.retrieval = LatticeRetrieval(shape, LatticeRetrieval.version_of(shape, items))
        self.library = self.retrieval.library(items)
        self.hint = self.retrieval.hint(self.library, 0)
        self.fetching = Fetching(self.retrieval, HALVES, self.fetched, bytes(32), lambda array: lambda: array)
        print("secret", self.secret.hex())

    def draws(self, rows: slice = slice(None)) -> IdDraws:
        ids = np.stack([np.arange(7, dtype=np.uint64), np.zeros(7, dtype=np.uint64)], axis=1)[rows]
        numbers = np.arange(7)[rows]
        return IdDraws(self.secret, ids, SKILLS[rows], Numbered(int(numbers[0]), len(numbers)))

    def letters(self, rows: slice = slice(None)) -> Letters:
        return self.fetching.tally(self.fetching.randomize(SKILLS[rows], self.draws(rows)))

    def answer(self, letters: Letters) -> tuple[Any, Any]:
        sent = sent_of(letters)
        flat = self.retrieval.answer(self.library, 0, sent.reshape(-1, *sent.shape[2:]))
        return flat.reshape(*sent.shape[:2], *flat.shape[1:]), np.concatenate(letters.addresses)

    def receiving(self, answers: Any, addresses: Any, hint: Any = None) -> Receiving:
        hint = self.hint if hint is None else hint
        return Receiving(self.fetching, lambda: answers, lambda: addresses, lambda: hint, pa.int64())

    def receive(self, receiving: Receiving, rows: slice = slice(None)) -> tuple[list[int], list[Any]]:
        receipts = receiving.randomize(SKILLS[rows], self.draws(rows))
        return receiving.tally(receipts).tolist(), receiving.to_arrow(receipts, ()).to_pylist()


def sent_of(letters: Letters) -> Any:
    return np.concatenate([load() for load in letters.sent])


def ids_of(places: list[int]) -> list[list[str | int]]:
    return [[name for name, _ in TASKS[place]] for place in places]


def test_everybody_receives_what_its_leaf_fetches() -> None:
    house = House()
    receiving = house.receiving(*house.answer(house.letters()))
    counts, received = house.receive(receiving)
    assert counts == [7, 7, 0]
    assert received == [{"tasks": ids, "decoded": True} for ids in ids_of(PLACES)]
    assert receiving.to_arrow(receiving.randomize(SKILLS, house.draws()), ()).type == receiving.report_type(
        ()
    )


def test_answers_are_found_by_address_however_workers_are_cut_and_ordered() -> None:
    house = House()
    letters = house.letters(slice(3, 7)) + house.letters(slice(0, 3))
    answers, addresses = house.answer(letters)
    received = [
        one["tasks"]
        for rows in (slice(0, 2), slice(2, 3), slice(3, 7))
        for one in house.receive(house.receiving(answers, addresses), rows)[1]
    ]
    assert received == ids_of(PLACES)
    assert sent_of(house.letters(slice(2, 5))).tobytes() == sent_of(letters)[[6, 0, 1]].tobytes()


def test_several_gets_bring_the_tasks_of_all_items_once() -> None:
    house = House(fetched=((0, 2), (1, 1), (2, 0)))
    counts, received = house.receive(house.receiving(*house.answer(house.letters())))
    assert counts == [7, 14, 0]
    assert [one["tasks"] for one in received] == [
        {0: [1, 2, 3], 1: [], 2: [3, 1, 2]}[leaf] for leaf in PLACES
    ]


def test_letters_have_one_form_whatever_is_fetched_and_share_no_number() -> None:
    """Also two gets of one worker for one item: errors used twice would give away their difference."""
    house = House(fetched=((0, 0), (1, 1), (2, 2)))
    sent = sent_of(house.letters())
    assert sent.shape[:2] == (7, 2)
    assert sent.dtype == np.uint32
    assert len(np.unique(sent)) > 0.99 * sent.size
    again = House(fetched=house.fetched, secret=house.secret)
    assert sent_of(again.letters()).tobytes() == sent.tobytes()


def test_addresses_are_public_and_different() -> None:
    house, other = House(), House()
    addresses = house.letters().addresses[0]
    assert len(np.unique(addresses)) == 14  # of 128 bits
    assert addresses.tolist() == other.letters().addresses[0].tolist()


def test_a_row_without_an_id_is_addressed_by_its_number() -> None:
    house = House()
    draws = RowDraws(house.secret, 7, Numbered(0, 7))
    fetch = house.fetching.randomize(SKILLS, draws)
    assert fetch.addresses.tolist() == house.letters().addresses[0].tolist()


def test_both_rounds_have_one_label_and_other_fetches_another() -> None:
    house = House()
    labels = {house.fetching.label, house.receiving(None, None).label}
    assert len(labels) == 1
    others = [
        replace(house.fetching, fetched=((0,), (1,), (1,))),
        replace(house.fetching, cells=replace(HALVES, cut_splits=(0.5, 0.8))),
        House(tasks=[*TASKS[:2], []]).fetching,
    ]
    assert len(labels | {one.label for one in others}) == 4


def test_a_letter_that_was_not_answered_is_refused() -> None:
    house = House()
    answers, addresses = house.answer(house.letters())
    for known in (slice(1, 7), slice(0, 0)):
        with pytest.raises(ProtocolError, match=r"none to (1|7)\b"):
            house.receive(house.receiving(answers[known], addresses[known]))


def test_what_is_spoilt_is_counted_and_nothing_else() -> None:
    house = House(fetched=((0, 1), (1, 2), (2, 0)))
    answers, addresses = house.answer(house.letters())
    answers = answers.copy()
    answers[1, 0] ^= np.uint16(0x4000)
    counts, received = house.receive(house.receiving(answers, addresses))
    assert counts == [7, 13, 1]
    assert [one["decoded"] for one in received] == [True, False, True, True, True, True, True]
    assert received[1]["tasks"] == [1, 2]  # of the get that was decoded


def test_a_hint_of_another_shape_is_refused_and_one_of_another_library_found_out() -> None:
    house = House()
    answers, addresses = house.answer(house.letters())
    with pytest.raises(ProtocolError, match="hint and answers must have shapes"):
        house.receive(house.receiving(answers, addresses, house.hint[:-1]))
    other = House(tasks=[[(9, b"dug"), (2, b"sow\0")], *TASKS[1:]])
    assert house.receive(house.receiving(answers, addresses, other.hint))[0] == [7, 0, 7]
    with pytest.raises(ProtocolError, match="Download the hint again"):
        Hint(other.retrieval.version, other.hint).check(house.retrieval.version)


def test_a_block_is_decoded_a_few_workers_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    receiving = house.receiving(*house.answer(house.letters()))
    whole = house.receive(receiving)
    monkeypatch.setattr("udfs.fetching._SLICE_BYTES", 1)
    assert house.receive(receiving) == whole


@pytest.mark.parametrize("protocol", KINDS)
def test_what_a_query_keeps_can_be_drawn_again_without_the_query(protocol: str) -> None:
    """A device that asked needs to remember nothing but its words."""
    kind, shape = KINDS[protocol]
    retrieval = kind.of(shape, ITEMS)
    house, places = House(), np.array([5, 0, 3, 3, 1, 2, 4])
    query = retrieval.query(places, house.draws())
    library = retrieval.library(ITEMS)
    hint = Hint(retrieval.version, retrieval.hint(library, 0))
    answers = retrieval.combine([retrieval.answer(library, 0, query.sent)])
    for kept in (query.kept, retrieval.keep(places, house.draws())):
        decoded = retrieval.decode(kept, answers, hint)
        assert [row.tobytes() for row in decoded] == [ITEMS[place] for place in places]
    for wrong in (np.array([6] * 7), np.array([-1] * 7)):
        with pytest.raises(SpecError, match="7 of 7 outside"):
            retrieval.keep(wrong, house.draws())


class Noted:
    """Draws that note which words were read."""

    def __init__(self, draws: Any, read: list[int]) -> None:
        self._draws, self._read = draws, read

    def __len__(self) -> int:
        return len(self._draws)

    def words(self, index: int) -> Any:
        self._read.append(index)
        return self._draws.words(index)


@pytest.mark.parametrize("protocol", KINDS)
def test_two_gets_of_a_worker_share_no_word(protocol: str) -> None:
    """Nor are words read for decoding that no query was made of."""
    kind, shape = KINDS[protocol]
    retrieval, read = kind.of(shape, ITEMS), list[int]()
    house, library = House(), retrieval.library(ITEMS)
    places = np.array([[place % 6] * 3 for place in range(7)])
    fetch = Fetch(retrieval, places, Noted(house.draws(), read), house.letters().addresses[0])  # type: ignore[arg-type]
    sent = fetch.sent()
    asked = list(read)
    assert len(set(asked)) == len(asked)
    assert len(asked) % 3 == 0
    assert bool(asked) == (protocol != "download")
    flat = retrieval.answer(library, 0, sent.reshape(21, *sent.shape[2:]))
    hint = Hint(retrieval.version, retrieval.hint(library, 0))
    for items in fetch.decode(flat.reshape(7, 3, *flat.shape[1:]), hint):
        assert [item.tobytes() for item in items] == [ITEMS[place % 6] for place in range(7)]
    assert set(read) == set(asked)


@pytest.mark.parametrize("protocol", KINDS)
def test_letters_have_one_length_whatever_leaf_they_come_from(protocol: str) -> None:
    retrieval = KINDS[protocol][0].of(KINDS[protocol][1], ITEMS)
    house, forms = House(), set()
    for fetched in (((0, 0), (0, 0), (0, 0)), ((5, 1), (2, 3), (4, 0))):
        fetching = Fetching(retrieval, HALVES, fetched, bytes(32), lambda array: lambda: array)
        fetch = fetching.randomize(SKILLS, house.draws())
        (sent,) = (load() for load in fetching.tally(fetch).sent)
        lengths = {len(one) for one in fetching.to_arrow(fetch, ()).to_pylist()}
        forms.add((sent.shape, sent.dtype, *lengths))
        assert len(sent) == 7
    (form,) = forms
    assert form[0][:2] == (7, 2)
    assert form[2:] == (2 * retrieval.cost.upload_bytes,)


def test_what_was_asked_with_other_words_is_not_decoded() -> None:
    """Such as those of a round of another name; addresses are public, so that answers are found."""
    house, other = House(), House()
    answers, addresses = house.answer(house.letters())
    receipts = house.receiving(answers, addresses).randomize(SKILLS, other.draws())
    assert house.receiving(answers, addresses).tally(receipts).tolist() == [7, 0, 7]
