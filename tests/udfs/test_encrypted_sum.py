"""Private sums: what is opened is the counters' total plus noise of the stated law, and nothing else is there."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import phe
import pyarrow as pa
import pytest
from scipy.stats import nbinom

from tests.statistics import UnlikelyError, assert_law
from udfs.ciphertexts import CiphertextSum, from_arrow
from udfs.draws import Draws, Numbered, RowDraws
from udfs.encrypted_sum import EncryptedSum
from udfs.noise_shares import NoiseShare
from udfs.safe_primes import safe_prime
from udfs.slots import Slots
from udfs.streams import Secret, byte_stream
from udfs.threshold import KeyShare, ThresholdKey, combine, partially_decrypt
from udfs.threshold_keys import deal_with_factors

SILENT = Decimal(60)
"""So large an epsilon that a share is 0 but once in 10**26 draws."""


@dataclass(frozen=True)
class Given:
    """Rows say themselves which counters they add to; -1 is none."""

    counters: int
    label: str = "given"

    def cells(self, answers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        return answers


@cache
def factors() -> tuple[int, int]:
    words = byte_stream(bytes(range(32)))
    return safe_prime(128, words), safe_prime(128, words)


@cache
def keys() -> tuple[ThresholdKey, tuple[KeyShare, ...]]:
    return deal_with_factors(*factors(), 3, 2, byte_stream(bytes(32)))


@cache
def owner() -> phe.PaillierPrivateKey:
    """Return the key of whoever has the factors: it opens the same, and faster."""
    return phe.PaillierPrivateKey(keys()[0].public_key, *factors())


def private_sum(counters: int, epsilon: Decimal = SILENT, parts: int = 1, **changed: Any) -> EncryptedSum:
    key = keys()[0]
    slots = Slots.fit(counters, 1000, 200, key.bits)
    return EncryptedSum(
        Given(counters), key.key_id, key.n, slots, ((counters, NoiseShare(epsilon, parts)),), **changed
    )


def opened(mechanism: EncryptedSum, total: CiphertextSum) -> npt.NDArray[np.int64]:
    key, shares = keys()
    partials = [partially_decrypt(share, total.values, byte_stream(bytes(32))) for share in shares[:2]]
    return mechanism.slots.unpack(combine(key, total.values, partials).plaintexts)


def signed(plaintext: int) -> int:
    """Return the number that a plaintext stands for."""
    return plaintext if 2 * plaintext < keys()[0].n else plaintext - keys()[0].n


def drawn(rows: int, secret: Secret | None = None) -> Draws:
    return RowDraws((secret or Secret.new()).key("test"), rows, Numbered(0, rows))


def tally(
    mechanism: EncryptedSum, answers: npt.NDArray[np.int64], draws: Draws | None = None
) -> CiphertextSum:
    return mechanism.tally(mechanism.randomize(answers, draws or drawn(len(answers))))


ANSWERS = np.array([[0, 39], [0, -1], [-1, -1], [7, 40], [7, 7]])
TOTALS = np.bincount(ANSWERS[ANSWERS >= 0], minlength=50)


@pytest.mark.parametrize("participant", ["worker", "block"])
def test_what_is_opened_is_the_total(participant: str) -> None:
    mechanism = private_sum(50, participant=participant)
    total = tally(mechanism, ANSWERS)
    assert len(total.values) == mechanism.slots.ciphertexts > 1
    assert total.contributions == (5 if participant == "worker" else 1)
    np.testing.assert_array_equal(opened(mechanism, total), TOTALS)


def test_blocks_add_up_to_the_whole() -> None:
    mechanism = private_sum(50)
    parts = [tally(mechanism, ANSWERS[:2]), tally(mechanism, ANSWERS[2:2]), tally(mechanism, ANSWERS[2:])]
    total = parts[0] + parts[1] + parts[2] + mechanism.zeros()
    assert total.contributions == 5
    np.testing.assert_array_equal(opened(mechanism, total), TOTALS)


def test_everybody_contributes_to_every_counter_wherever_they_are() -> None:
    """A worker who is in no node sends as much as any other, and nothing in it is the number of nobody."""
    mechanism = private_sum(50)
    contributions = [*mechanism.randomize(ANSWERS, drawn(5))]
    assert [len(one) for one in contributions] == [5] * mechanism.slots.ciphertexts
    distinct = {int(value) for one in contributions for value in one}
    assert len(distinct) == 5 * mechanism.slots.ciphertexts
    assert 1 not in distinct


def test_a_second_run_of_a_block_gives_the_same_bytes_and_other_coins_give_others() -> None:
    mechanism, secret = private_sum(50), Secret.new()
    first, again = (tally(mechanism, ANSWERS, drawn(5, secret)) for _ in range(2))
    assert first == again
    assert not set(first.values) & set(tally(mechanism, ANSWERS).values)


@pytest.mark.parametrize("participant", ["worker", "block"])
def test_contributions_travel_as_fixed_size_binary(participant: str) -> None:
    mechanism = private_sum(50, participant=participant)
    reports = mechanism.randomize(ANSWERS, drawn(5))
    column = mechanism.to_arrow(reports, ())
    assert column.type == mechanism.report_type(())
    width = column.type.byte_width // mechanism.slots.ciphertexts
    for number, values in enumerate(reports):
        cut = [one.as_py()[number * width : (number + 1) * width] for one in column]
        assert from_arrow(pa.array(cut, pa.binary(width)), mechanism.n, "here") == values


def test_a_mechanism_travels_and_its_label_tells_all_that_bears_on_the_sum() -> None:
    one = private_sum(50)
    assert pickle.loads(pickle.dumps(one)) == one
    others = [
        private_sum(49),
        private_sum(50, Decimal(59)),
        private_sum(50, parts=2),
        private_sum(50, participant="block"),
        replace(one, key_id="0" * 64),
        replace(one, cells=Given(50, "others")),
        replace(one, slots=Slots.fit(50, 100_000, 200, keys()[0].bits)),
    ]
    assert len({other.label for other in others} | {one.label}) == 1 + len(others)


def noise(parts: int, epsilon: str, contributing: int) -> Any:
    """Return a sample of counters of nothing but noise: how often 0, more than 0, and beyond 1 either side is opened."""

    def sample(secret: Secret, counters: int) -> Sequence[int]:
        mechanism = private_sum(counters, Decimal(epsilon), parts)
        nobody = np.full((contributing, 1), -1)
        total = tally(mechanism, nobody, drawn(contributing, secret))
        found = mechanism.slots.unpack([signed(owner().raw_decrypt(value)) for value in total.values])
        return [int((found == 0).sum()), int((found > 0).sum()), int((abs(found) > 1).sum())]

    return sample


def law(epsilon: float, beta: float) -> list[float]:
    """Return the law of the difference of two NB(beta, 1 - alpha): of 0, of more, and of more than 1 either side."""
    # The tail behind 400 is beyond 1e-100 for the epsilons here.
    one = nbinom.pmf(np.arange(400), beta, 1 - np.exp(-epsilon))
    at = [float((one[: 400 - lag] * one[lag:]).sum()) for lag in (0, 1)]
    return [at[0], (1 - at[0]) / 2, 1 - at[0] - 2 * at[1]]


@pytest.mark.parametrize(("contributing", "beta"), [(3, 1.5), (2, 1.0)])
def test_the_noise_of_what_is_opened_has_the_stated_law_also_when_shares_are_missing(
    contributing: int, beta: float
) -> None:
    """Three planned for one to collude or be missing: all three give more than the two-sided geometric, two exactly it."""
    two_sided = [np.tanh(0.5), np.exp(-1) / (1 + np.exp(-1))]
    if beta == 1:
        assert law(1, beta)[:2] == pytest.approx(two_sided, rel=1e-12)
    for mutant in (1.1, 1 / 1.1):
        assert_law(noise(2, "1", contributing), law(1, beta), law(mutant, beta))


@pytest.mark.parametrize(
    ("parts", "epsilon", "contributing"), [(2, "1.1", 2), (2, "1", 3), (3, "1", 2), (1, "60", 2)]
)
def test_noise_of_another_law_is_found_out(parts: int, epsilon: str, contributing: int) -> None:
    with pytest.raises(UnlikelyError):
        assert_law(noise(parts, epsilon, contributing), law(1, 1), law(1.1, 1))
