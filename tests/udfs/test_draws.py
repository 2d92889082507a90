"""Draws that are not a row's own secret ones.

Public draws: whoever knows the seed and where rows stand can repeat them, and they tell nothing else. A
block's draws as one respondent: they hang on its secret, and share nothing with its rows'.
"""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics import UnlikelyError, assert_law
from udfs.choice_answers import Remembered
from udfs.draws import IdDraws, Lane, Numbered, PublicDraws, RowDraws, Some, fresh_draws
from udfs.identity import IdStanding, id_blocks

SEED, OTHER_SEED = bytes(range(32)), bytes(range(1, 33))
IDS = [5, -1, 0, 2**63 - 1, -(2**63), 7]
TEXTS = ["Ada", "", "\u00c9va", "E\u0301va", "x" * 40, "Bo"]

STANDINGS = {
    "numbered": Numbered(3, 6),
    "integer ids": IdStanding(pa.array(IDS, pa.int64())),
    "unsigned ids": IdStanding(pa.array([one % 2**64 for one in IDS], pa.uint64())),
    "text ids": IdStanding(pa.array(TEXTS)),
}
every_standing = pytest.mark.parametrize("standing", STANDINGS.values(), ids=STANDINGS)


def derived(seed, label):
    """Return a key by another implementation: HKDF of the label with its length before it."""
    info = b"dask-canvass/1" + struct.pack(">I", len(label)) + label.encode()
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(seed)


def words_of(block, seed, index):
    """Return a row's word by another implementation: AES-256 of what tells it apart, with a counter."""
    one, two = struct.unpack("<2Q", block)
    encryptor = Cipher(algorithms.AES(derived(seed, "public draws")), modes.ECB()).encryptor()
    return struct.unpack("<2Q", encryptor.update(struct.pack("<2Q", one, two ^ index // 2)))[index % 2]


def text_block(text, seed):
    """Return what tells a text id apart: its CMAC under a key of the seed."""
    code = CMAC(algorithms.AES(derived(seed, "standing")))
    code.update(text.encode())
    return code.finalize()


BLOCKS = {
    "numbered": lambda seed: [struct.pack("<2Q", number, 0) for number in range(3, 9)],
    "integer ids": lambda seed: [struct.pack("<2Q", one % 2**64, 0) for one in IDS],
    "unsigned ids": lambda seed: [struct.pack("<2Q", one % 2**64, 0) for one in IDS],
    "text ids": lambda seed: [text_block(one, seed) for one in TEXTS],
}


def sources(standing):
    """Return draws of every kind whose rows stand there: of other secrets, and of other answers."""
    rows = len(standing)
    ids = np.arange(2 * rows, dtype=np.uint64).reshape(-1, 2)
    answers = np.arange(rows, dtype=np.uint8)
    places = np.arange(3 * rows, dtype=np.uint8).reshape(-1, 3)
    return [
        PublicDraws(standing),
        RowDraws(bytes(32), rows, standing),
        fresh_draws(rows, standing),
        IdDraws(bytes(32), ids, answers, standing),
        IdDraws(SEED, ids[::-1], answers[::-1], standing),
        IdDraws(SEED, ids, places, standing),
        Lane(fresh_draws(rows, standing), 1, 2),
        Some(fresh_draws(rows, standing), np.arange(rows)),
    ]


@pytest.mark.parametrize("kind", STANDINGS)
@pytest.mark.parametrize("seed", [SEED, OTHER_SEED])
def test_public_words_are_aes_of_where_a_row_stands_and_of_a_counter(kind, seed):
    public = PublicDraws(STANDINGS[kind]).public(seed)
    for index in (0, 1, 2, 7, 1):
        expected = [words_of(block, seed, index) for block in BLOCKS[kind](seed)]
        assert public.words(index).tolist() == expected


@every_standing
def test_public_words_depend_on_no_secret_and_on_no_answer(standing):
    for index in range(4):
        found = {source.public(SEED).words(index).tobytes() for source in sources(standing)}
        assert len(found) == 1


@every_standing
def test_other_seeds_and_other_words_share_nothing(standing):
    words = [
        PublicDraws(standing).public(seed).words(index) for seed in (SEED, OTHER_SEED) for index in range(4)
    ]
    assert len(np.unique(words)) == 8 * len(standing)


def test_a_signed_id_and_the_same_bits_unsigned_stand_in_the_same_place():
    signed, unsigned = STANDINGS["integer ids"], STANDINGS["unsigned ids"]
    assert (signed.blocks(SEED) == unsigned.blocks(SEED)).all()
    assert (signed.blocks(SEED) == signed.blocks(OTHER_SEED)).all()


def test_text_ids_are_hashed_under_the_seed_so_that_nobody_steers_their_draws():
    standing = STANDINGS["text ids"]
    assert standing.blocks(SEED).tolist() == id_blocks(pa.array(TEXTS), SEED).tolist()
    assert not np.isin(standing.blocks(SEED), standing.blocks(OTHER_SEED)).any()
    assert len(np.unique(standing.blocks(SEED), axis=0)) == len(TEXTS)  # encodings of accents are other ids


@given(first=st.integers(0, 2**63), rows=st.integers(0, 50), data=st.data())
def test_numbered_rows_draw_the_same_however_they_are_cut(first, rows, data):
    cut = data.draw(st.integers(0, rows))
    whole = PublicDraws(Numbered(first, rows)).public(SEED).words(3)
    parts = [Numbered(first, cut), Numbered(first + cut, rows - cut)]
    assert (
        np.concatenate([PublicDraws(part).public(SEED).words(3) for part in parts]).tolist() == whole.tolist()
    )
    assert [len(part) for part in parts] == [cut, rows - cut]


@given(order=st.permutations(range(len(TEXTS))), data=st.data())
@pytest.mark.parametrize("kind", ["integer ids", "text ids"])
def test_rows_with_ids_draw_the_same_in_any_order_and_however_they_are_cut(kind, order, data):
    cut = data.draw(st.integers(0, len(order)))
    ids = STANDINGS[kind].ids
    shuffled = ids.take(pa.array(order, pa.int64()))
    whole = PublicDraws(IdStanding(ids)).public(SEED).words(2)[list(order)]
    parts = [IdStanding(shuffled.slice(0, cut)), IdStanding(shuffled.slice(cut))]
    assert (
        np.concatenate([PublicDraws(part).public(SEED).words(2) for part in parts]).tolist() == whole.tolist()
    )


@every_standing
def test_some_rows_have_the_public_words_of_these_rows(standing):
    rows = np.array([4, 1])
    whole = PublicDraws(standing).public(SEED).words(1)
    some = Some(fresh_draws(len(standing), standing), rows)
    assert len(some.public(SEED)) == 2
    assert some.public(SEED).words(1).tolist() == whole[rows].tolist()
    assert Lane(some, 1, 2).public(SEED).words(1).tolist() == whole[rows].tolist()


def test_some_rows_of_a_source_have_its_words():
    source = fresh_draws(6)
    assert Some(source, np.array([5, 0, 0])).words(3).tolist() == source.words(3)[[5, 0, 0]].tolist()


@pytest.mark.parametrize("index", [0, 1, 7])
def test_rows_without_a_secret_draw_nothing_that_could_protect_an_answer(index):
    with pytest.raises(TypeError, match="public draws alone"):
        PublicDraws(Numbered(0, 3)).words(index)
    with pytest.raises(TypeError, match="public draws alone"):
        Lane(PublicDraws(Numbered(0, 3)), 0, 2).words(index)
    with pytest.raises(TypeError, match="public draws alone"):
        Some(PublicDraws(Numbered(0, 3)), np.array([1])).words(index)


def test_rows_that_stand_nowhere_have_no_public_draws():
    ids = np.zeros((2, 2), dtype=np.uint64)
    for source in (
        RowDraws(bytes(32), 2),
        IdDraws(bytes(32), ids, np.zeros(2, dtype=np.uint8)),
        fresh_draws(2),
    ):
        with pytest.raises(TypeError, match="rows that stand somewhere"):
            source.public(SEED)


def test_public_words_are_independent_of_the_secret_ones():
    law, mutant = [1 / 16] * 16, (np.eye(4) / 4).ravel().tolist()

    def sample(of_public):
        def count(secret, rows):
            own = RowDraws(secret.key("own"), rows, Numbered(0, rows))
            first = own.public(secret.key("seed")).words(0) >> np.uint64(62)
            second = first if of_public else own.words(0) >> np.uint64(62)
            return np.bincount((first * np.uint64(4) + second).astype(int), minlength=16)

        return count

    assert_law(sample(of_public=False), law, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(sample(of_public=True), law, mutant)


def blocks_of(secret, rows=6):
    """Return secret draws of every kind of a block of rows, under one secret."""
    ids, answers = Numbered(0, rows).blocks(b""), np.arange(2.0 * rows).reshape(rows, 2)
    return {
        "rows": RowDraws(secret, rows),
        "ids": IdDraws(derived(secret, "ids"), ids, answers, None, secret),
        "remembered": Remembered(RowDraws(secret, rows)),
    }


@pytest.mark.parametrize("rows", [0, 1, 6])
@pytest.mark.parametrize("kind", blocks_of(SEED))
def test_a_block_draws_one_row_of_words_under_a_key_derived_from_its_secret(kind, rows):
    whole = blocks_of(SEED, rows)[kind].whole()
    stream = Cipher(algorithms.ChaCha20(derived(SEED, "whole"), bytes(4) + struct.pack("<QI", 7, 0)), None)
    assert len(whole) == 1
    assert whole.words(7).tolist() == list(struct.unpack("<Q", stream.encryptor().update(bytes(8))))


def test_words_of_a_block_are_no_words_of_its_rows_and_of_no_other_block():
    words = []
    for secret in (SEED, OTHER_SEED):
        rows, ids = (blocks_of(secret)[kind] for kind in ("rows", "ids"))
        words += [draws.words(index) for draws in (rows, ids, rows.whole()) for index in range(4)]
    assert len(np.unique(np.concatenate(words))) == 2 * 4 * (6 + 6 + 1)


def test_lanes_of_a_block_share_no_words():
    source = RowDraws(SEED, 6)
    lanes = [Lane(source, lane, 3).whole() for lane in range(3)]
    found = [lanes[index % 3].words(index // 3).tolist() for index in range(9)]
    assert found == [source.whole().words(index).tolist() for index in range(9)]
    assert len(np.unique(found)) == 9


def test_only_a_whole_block_with_a_secret_draws_as_one_respondent():
    ids = np.zeros((2, 2), dtype=np.uint64)
    for source, why in (
        (IdDraws(SEED, ids, np.zeros(2, dtype=np.uint8)), "a secret of its own"),
        (PublicDraws(Numbered(0, 2)), "public draws alone"),
        (PublicDraws(Numbered(0, 2)).public(SEED), "a secret of its own"),
        (Some(RowDraws(SEED, 2), np.array([1])), "no block"),
        (Lane(PublicDraws(Numbered(0, 2)), 0, 2), "public draws alone"),
    ):
        with pytest.raises(TypeError, match=why):
            source.whole()


@pytest.mark.parametrize("kind", ["rows", "ids"])
def test_words_of_a_block_are_independent_of_its_rows(kind):
    law, mutant = [1 / 16] * 16, (np.eye(4) / 4).ravel().tolist()

    def sample(of_whole):
        def count(secret, blocks):
            counts = np.zeros(16, dtype=np.int64)
            for block in range(blocks):
                draws = blocks_of(secret.key(str(block)), 1)[kind]
                pair = draws.words(0), (draws.whole() if of_whole else draws).words(0)
                first, second = (int(words[0] >> np.uint64(62)) for words in pair)
                counts[4 * first + second] += 1
            return counts

        return count

    assert_law(sample(of_whole=True), law, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(sample(of_whole=False), law, mutant)
