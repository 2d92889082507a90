from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.errors import ProtocolError, SpecError
from udfs.slots import Slots

SLOTS = Slots.fit(counters=7, largest_sum=50, reach=20, modulus_bits=30)  # 7 bits, 3 a plaintext


def entries(*triples):
    """Return (row, counter, value) as three arrays."""
    return tuple(np.array(column, dtype=np.int64) for column in zip(*triples, strict=True))


def packed_total(slots, rows, row, counter, value):
    """Return the sums of all rows' plaintexts, as a product of ciphertexts would have them."""
    return [sum(slots.pack(rows, row, counter, value, number)) for number in range(slots.ciphertexts)]


def plaintexts_of(slots, sums):
    """Return the plaintexts with these sums in their slots, whatever these are."""
    per = slots.per_ciphertext
    return [
        sum(int(x) << slots.width * j for j, x in enumerate(sums[first : first + per]))
        for first in range(0, slots.counters, per)
    ]


@st.composite
def crowds(draw):
    """Return slots, and entries whose sums fit them."""
    counters, rows = draw(st.integers(1, 40)), draw(st.integers(0, 8))
    triple = st.tuples(st.integers(0, max(rows, 1) - 1), st.integers(-1, counters - 1), st.integers(-30, 30))
    chosen = draw(st.lists(triple, max_size=60 if rows else 0))
    row, counter, value = entries(*chosen) if chosen else entries((0, -1, 0))
    sums = np.zeros(counters, dtype=np.int64)
    np.add.at(sums, counter[counter >= 0], value[counter >= 0])
    largest, reach = draw(st.integers(0, 40)), draw(st.integers(0, 40))
    largest, reach = max(largest, int(sums.max(initial=0))), max(reach, -int(sums.min(initial=0)))
    bits = (largest + 2 * reach + 1).bit_length()
    slots = Slots.fit(counters, largest, reach, draw(st.integers(bits + 10, 20 * bits + 10)))
    return slots, rows, row, counter, value, sums


@given(crowds())
def test_what_rows_pack_adds_up_to_what_is_unpacked(crowd):
    slots, *what, sums = crowd
    unpacked = slots.unpack(packed_total(slots, *what))
    assert unpacked.dtype == np.int64
    assert unpacked.tolist() == sums.tolist()


@given(crowds())
def test_a_rows_plaintext_is_the_sum_of_its_entries_shifted(crowd):
    slots, rows, row, counter, value, _ = crowd
    for number in range(slots.ciphertexts):
        expected = [0] * rows
        for r, c, v in zip(row.tolist(), counter.tolist(), value.tolist(), strict=True):
            if c >= 0 and c // slots.per_ciphertext == number:
                expected[r] += v * 2 ** (slots.width * (c % slots.per_ciphertext))
        assert slots.pack(rows, row, counter, value, number) == expected


@given(crowds(), st.randoms(use_true_random=False))
def test_the_order_of_entries_does_not_matter(crowd, random):
    slots, rows, row, counter, value, _ = crowd
    order = list(range(len(row)))
    random.shuffle(order)
    shuffled = packed_total(slots, rows, row[order], counter[order], value[order])
    assert shuffled == packed_total(slots, rows, row, counter, value)


@given(st.data())
def test_every_sum_in_range_is_unpacked_and_none_beyond(data):
    sums = data.draw(st.lists(st.integers(-20, 70), min_size=7, max_size=7))
    assert SLOTS.unpack(plaintexts_of(SLOTS, sums)).tolist() == sums
    place, beyond = data.draw(st.integers(0, 6)), data.draw(st.sampled_from([-21, 71, -22, 72]))
    sums[place] = beyond
    with pytest.raises(ProtocolError, match=f"plaintext {place // 3}: every sum must lie between -20 and 70"):
        SLOTS.unpack(plaintexts_of(SLOTS, sums))


@pytest.mark.parametrize("end", [-20, 70])
def test_all_sums_may_lie_at_an_end(end):
    assert SLOTS.unpack(plaintexts_of(SLOTS, [end] * 7)).tolist() == [end] * 7


def test_sums_may_leave_their_slots_on_the_way():
    row, counter, value = entries((0, 1, 9_000), (1, 1, -8_990), (2, 0, -500), (0, 0, 480))
    assert SLOTS.unpack(packed_total(SLOTS, 3, row, counter, value)).tolist() == [-20, 10, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("extra", [1 << 21, -(1 << 21), 1 << 26, -(1 << 100), 1 << 3000])
def test_anything_above_the_last_slot_is_refused(extra):
    good = plaintexts_of(SLOTS, [3] * 7)
    with pytest.raises(ProtocolError, match="plaintext 0: every sum"):
        SLOTS.unpack([good[0] + extra, *good[1:]])


def test_a_digit_above_the_last_counter_of_a_partly_filled_plaintext_is_refused():
    good = plaintexts_of(SLOTS, [3] * 7)
    for extra in (1 << 7, -(1 << 7), 1 << 14, 30 << 7):
        with pytest.raises(ProtocolError, match="plaintext 2: every sum"):
            SLOTS.unpack([*good[:2], good[2] + extra])


def test_a_refusal_tells_nothing_of_the_sums():
    told = set()
    for sums in ([71, 0, 0, 0, 0, 0, 0], [33, -21, 0, 0, 0, 0, 0]):
        with pytest.raises(ProtocolError) as caught:
            SLOTS.unpack(plaintexts_of(SLOTS, sums))
        told.add(str(caught.value))
    assert len(told) == 1


@pytest.mark.parametrize("plaintexts", [[], [0, 0], [0] * 4])
def test_another_number_of_plaintexts_is_refused(plaintexts):
    with pytest.raises(ProtocolError, match=f"3 plaintexts hold 7 counters; got {len(plaintexts)}"):
        SLOTS.unpack(plaintexts)


@pytest.mark.parametrize("other", [1.0, 0.9**40, "3", None])
def test_a_plaintext_that_is_no_integer_is_refused(other):
    with pytest.raises(ProtocolError, match="must be an integer"):
        SLOTS.unpack([0, other, 0])


@pytest.mark.parametrize("place", [0, 1, 2])
def test_entries_that_are_no_integers_are_refused(place):
    arrays = list(entries((0, 1, 1)))
    arrays[place] = arrays[place].astype(np.float64)
    with pytest.raises(ProtocolError, match="must be integers"):
        SLOTS.pack(1, *arrays, 0)


@pytest.mark.parametrize("value", [1 << 7, -(1 << 7), 1 << 40])
def test_a_plaintext_beyond_its_slots_is_refused_before_it_wraps(value):
    with pytest.raises(ProtocolError, match="must fit a plaintext; got more"):
        SLOTS.pack(1, *entries((0, 2, value)), 0)
    assert SLOTS.pack(1, *entries((0, 2, value), (0, 2, 5 - value)), 0) == [5 << 14]


def test_a_counter_there_is_not_is_refused():
    for counter in (7, 9, 1000):
        with pytest.raises(ProtocolError, match="there are 7 counters"):
            SLOTS.pack(1, *entries((0, counter, 1)), 0)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint8, np.uint64])
def test_integers_of_any_type_are_packed(dtype):
    row, counter, value = (one.astype(dtype) for one in entries((0, 1, 3), (1, 5, 2)))
    assert packed_total(SLOTS, 2, row, counter, value) == [3 << 7, 2 << 14, 0]


def test_nobody_and_those_who_add_nothing_have_plaintexts_of_zero():
    none = entries((0, 1, 1))
    none = tuple(one[:0] for one in none)
    assert SLOTS.pack(0, *none, 0) == []
    assert SLOTS.pack(3, *none, 0) == [0, 0, 0]


def test_counts_beyond_two_to_the_53_are_exact():
    slots = Slots.fit(3, 2**54 + 2, 10, 2048)
    row, counter, value = entries((0, 1, 2**53 + 1), (1, 1, 2**53 + 1))
    assert slots.unpack(packed_total(slots, 2, row, counter, value)).tolist() == [0, 18014398509481986, 0]


@given(st.integers(0, 10**7), st.integers(0, 10**6), st.integers(64, 4096), st.integers(1, 500))
def test_slots_are_as_narrow_as_sums_and_noise_allow_and_fill_the_modulus(largest, reach, bits, counters):
    slots = Slots.fit(counters, largest, reach, bits)
    assert slots.width == math.ceil(math.log2(largest + 2 * reach + 2))
    assert slots.per_ciphertext == (bits - 3) // slots.width
    assert (slots.lowest, slots.highest) == (-reach, largest + reach)
    assert (
        (slots.ciphertexts - 1) * slots.per_ciphertext < counters <= slots.ciphertexts * slots.per_ciphertext
    )
    full = 1 << slots.width * slots.per_ciphertext
    assert full <= 1 << (bits - 3) < (1 << (bits - 1)) // 2


def test_a_key_of_2048_bits_holds_136_slots_of_15_bits():
    slots = Slots.fit(12277, 10_000, 6_000, 2048)
    assert (slots.width, slots.per_ciphertext, slots.ciphertexts) == (15, 136, 91)


def test_a_modulus_too_small_for_one_sum_is_refused():
    with pytest.raises(SpecError, match="must have 18 bits at least, to hold one sum; got 17"):
        Slots.fit(3, 10_000, 6_000, 17)
    assert Slots.fit(3, 10_000, 6_000, 18).per_ciphertext == 1


def test_sums_beyond_62_bits_are_refused():
    assert Slots.fit(3, 2**62 - 2, 0, 2048).width == 62
    with pytest.raises(SpecError, match="in 62 bits at most; got 63 bits"):
        Slots.fit(3, 2**62 - 1, 0, 2048)


@pytest.mark.parametrize(
    "wrong", [(0, 7, 3, -20, 70), (7, 7, 0, -20, 70), (7, 7, 3, 1, 70), (7, 7, 3, -20, -1)]
)
def test_slots_that_hold_nothing_are_refused(wrong):
    with pytest.raises(SpecError, match="a counter, a slot, and a range that holds 0"):
        Slots(*wrong)


@pytest.mark.parametrize("wrong", [(7, 6, 3, -20, 70), (7, 7, 3, -20, 107), (7, 63, 3, -20, 70)])
def test_slots_too_narrow_or_too_wide_for_their_sums_are_refused(wrong):
    with pytest.raises(SpecError, match="a slot must hold every sum"):
        Slots(*wrong)
