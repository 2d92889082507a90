"""Private sums: counters that every participant adds noise to and encrypts, so that only their total can be opened.

A participant is one worker, or a steward who answers for a whole block of rows. Each has a value for every counter,
most of them 0, adds a noise share to all, packs them into few plaintexts and encrypts these. Sums are products of
ciphertexts. A histogram is the private sum of its bins.

References
----------
papers/private-skills, section "privacy-preserving sum": steps 1 (perturbation and encryption) and 2 (encrypted sum).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.ciphertexts import CiphertextSum, ciphertext_type, product, to_arrow
from udfs.draws import Draws, Lane
from udfs.noise_shares import NoiseShare
from udfs.paillier import encryptor
from udfs.slots import Slots
from udfs.streams import WORD_TYPE, Words

if TYPE_CHECKING:
    from gmpy2 import mpz

Participant: TypeAlias = Literal["worker", "block"]

_NOISE, _EXPONENTS, _LANES = 0, 1, 2
"""Which words decide noise shares, and which are the ciphertexts' exponents."""


class Cells(Protocol):
    """Which counters a row adds one to."""

    @property
    def counters(self) -> int:
        """How many counters there are."""
        ...

    @property
    def label(self) -> str:
        """All that bears on which counters a row adds to."""
        ...

    def cells(self, answers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the counters of each row: int64, shape (rows, most); -1 is none."""
        ...


@dataclass(frozen=True)
class Entries:
    """What some participants add to counters: those that are not 0, in any order; several may meet.

    Attributes
    ----------
    participant, counter, value : ndarray of int64, shape (entries,)
    """

    participant: npt.NDArray[np.int64]
    counter: npt.NDArray[np.int64]
    value: npt.NDArray[np.int64]


class Contributions:
    """One encrypted contribution of each participant, a ciphertext of all at a time.

    They are encrypted when they are asked for, so that memory holds one ciphertext of each participant, and the same
    each time.

    Attributes
    ----------
    participants : int
    """

    def __init__(
        self, mechanism: EncryptedSum, participants: int, entries: Entries, exponents: Draws
    ) -> None:
        self.participants = participants
        self._mechanism, self._entries, self._exponents = mechanism, entries, exponents

    def __iter__(self) -> Iterator[list[mpz]]:
        """Yield every participant's first ciphertexts, then their second, and so on."""
        slots, entries, cipher = self._mechanism.slots, self._entries, encryptor(self._mechanism.n)
        for number in range(slots.ciphertexts):
            plaintexts = slots.pack(
                self.participants, entries.participant, entries.counter, entries.value, number
            )
            exponents: Words = np.empty((self.participants, cipher.exponent_words), dtype=WORD_TYPE)
            for word in range(cipher.exponent_words):
                exponents[:, word] = self._exponents.words(number * cipher.exponent_words + word)
            yield cipher.encrypt(plaintexts, exponents)


@dataclass(frozen=True)
class EncryptedSum:
    """A private sum of counters: a `udfs.asking.Mechanism` whose sums are ciphertexts.

    Runs where the answers are. It sees answers; it gives back ciphertexts.

    Privacy: of all that is opened, as the shares' epsilons say, if enough participants add theirs and the total alone
    is opened; of ciphertexts, as `udfs.paillier` says. Cost: a ciphertext takes some 100 modular products; one word a
    counter and noise draw.

    Parameters
    ----------
    cells : Cells
        Which counters a row adds one to.
    key_id : str
        Whose key it is.
    n : int
        The public modulus.
    slots : Slots
        How counters are packed.
    noise : tuple of (int, NoiseShare)
        How many counters in turn have which noise.
    participant : {"worker", "block"}
        Whether every row answers for itself, or one steward for all rows of a block.
    """

    cells: Cells
    key_id: str
    n: int
    slots: Slots
    noise: tuple[tuple[int, NoiseShare], ...]
    participant: Participant = "worker"
    draws: ClassVar[bool] = True

    @cached_property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        noise = " ".join(f"{counters}x({share.label})" for counters, share in self.noise)
        slots = f"{self.slots.counters}/{self.slots.per_ciphertext} of {self.slots.width} bits"
        return (
            f"encrypted-sum {self.cells.label} key={self.key_id} slots={slots} noise={noise}"
            f" participant={self.participant}"
        )

    def randomize(self, answers: npt.NDArray[Any], draws: Draws) -> Contributions:
        """Turn a block of truthful answers into encrypted contributions.

        Parameters
        ----------
        answers : ndarray, shape (rows, ...)
            As the cells read them.
        draws : Draws
            One source for the block.
        """
        cells = self.cells.cells(answers)
        if self.participant == "block":
            draws = draws.whole()
            values = np.bincount(cells[cells >= 0], minlength=self.cells.counters)
            counter = np.flatnonzero(values)
            truth = Entries(np.zeros(len(counter), dtype=np.int64), counter, values[counter])
        else:
            row, column = np.nonzero(cells >= 0)
            truth = Entries(row, cells[row, column], np.ones(len(row), dtype=np.int64))
        entries = _together([truth, *self._draw_noise(Lane(draws, _NOISE, _LANES))])
        return Contributions(self, len(draws), entries, Lane(draws, _EXPONENTS, _LANES))

    def _draw_noise(self, draws: Draws) -> Iterator[Entries]:
        """Yield every participant's noise shares for each counter, where they are not 0."""
        counter, counters = 0, self.cells.counters
        for run, share in self.noise:
            for place in range(counter, counter + run):
                drawn = share.draw(Lane(draws, place, counters))
                hit = np.flatnonzero(drawn)
                if hit.size:
                    yield Entries(hit, np.full(len(hit), place, dtype=np.int64), drawn[hit])
            counter += run

    def zeros(self) -> CiphertextSum:
        """Return the sum of no contributions."""
        return CiphertextSum.none(self.key_id, self.n, self.slots.ciphertexts)

    def tally(self, reports: Contributions) -> CiphertextSum:
        """Add a block's contributions up: the product of their ciphertexts."""
        values = tuple(int(product(one, self.n)) for one in reports)
        return CiphertextSum(self.key_id, self.n, values, reports.participants)

    def thresholds(self) -> dict[str, int]:
        """Return the integers that fix the law: none that a footer could hold; see `NoiseShare`."""
        return {}

    def report_type(self, labels: Sequence[Any]) -> pa.DataType:
        """Return the type of a column of contributions: a participant's ciphertexts, one after the other.

        Such a column is what participants' own devices would send in. Where a job stands in for them it multiplies
        contributions within the block (`tally`), and none are written.
        """
        return pa.binary(ciphertext_type(self.n).byte_width * self.slots.ciphertexts)

    def to_arrow(self, reports: Contributions, labels: Sequence[Any]) -> pa.Array:
        """Return a block's contributions as a column of fixed-size binary: see `report_type`."""
        columns = [to_arrow(one, self.n) for one in reports]
        width = ciphertext_type(self.n).byte_width
        rows = [np.frombuffer(one.buffers()[1], dtype=np.uint8).reshape(-1, width) for one in columns]
        data = np.concatenate(rows, axis=1) if rows else np.empty((0, 0), dtype=np.uint8)
        return pa.FixedSizeBinaryArray.from_buffers(
            self.report_type(labels), reports.participants, [None, pa.py_buffer(data.tobytes())]
        )


def _together(many: Sequence[Entries]) -> Entries:
    """Return all entries of many."""
    return Entries(
        np.concatenate([one.participant for one in many]),
        np.concatenate([one.counter for one in many]),
        np.concatenate([one.value for one in many]),
    )
