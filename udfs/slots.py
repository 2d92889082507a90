"""Slots: many small signed counters in one plaintext, so that one ciphertext adds them all up.

A plaintext is the sum of x_j 2**(width j) over its slots j, as one signed integer. Sums of plaintexts are plaintexts of
sums, whatever carries from slot to slot on the way: only the final sums must fit their slots.

References
----------
Ge, Zdonik: Answering aggregation queries in a secure system model (2007), for packing under additively homomorphic
encryption.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from udfs.errors import ProtocolError, SpecError

_WIDEST = 62
"""Bits of a slot: sums and their distances are int64."""


@dataclass(frozen=True)
class Slots:
    """How counters lie in plaintexts: counter c in slot c mod `per_ciphertext` of number c div `per_ciphertext`.

    Parameters
    ----------
    counters : int
    width : int
        Bits a slot: `highest - lowest + 2` numbers must differ, so that a sum too far by one is seen.
    per_ciphertext : int
        Slots of a plaintext.
    lowest, highest : int
        What a counter's final sum may be; `lowest` is not above 0.

    Examples
    --------
    >>> slots = Slots.fit(counters=5, largest_sum=100, reach=20, modulus_bits=27)
    >>> slots.width, slots.per_ciphertext, slots.ciphertexts
    (8, 3, 2)
    >>> row, counter, value = np.array([0, 0, 1]), np.array([0, 4, 1]), np.array([1, -3, 1])
    >>> slots.pack(2, row, counter, value, 0), slots.pack(2, row, counter, value, 1)
    ([1, 256], [-768, 0])
    >>> slots.unpack([257, -768])
    array([ 1,  1,  0,  0, -3])
    """

    counters: int
    width: int
    per_ciphertext: int
    lowest: int
    highest: int

    def __post_init__(self) -> None:
        """Refuse slots that do not hold what they are for."""
        if not (self.counters >= 1 and self.per_ciphertext >= 1 and self.lowest <= 0 <= self.highest):
            raise SpecError("slots", "there must be a counter, a slot, and a range that holds 0", f"{self}")
        if not self.highest - self.lowest + 2 <= 1 << self.width <= 1 << _WIDEST:
            raise SpecError(
                "slots",
                f"a slot must hold every sum from {self.lowest} to {self.highest}, in {_WIDEST} bits at most",
                f"{self.width} bits",
                "ask fewer, or give a larger epsilon",
            )

    @classmethod
    def fit(cls, counters: int, largest_sum: int, reach: int, modulus_bits: int) -> Slots:
        """Return the narrowest slots for sums between 0 and `largest_sum`, with noise between -reach and reach.

        Parameters
        ----------
        counters : int
        largest_sum : int
            What all participants add up to in one counter at most, noise aside.
        reach : int
            See `udfs.noise_shares.noise_reach`.
        modulus_bits : int
            Of the public modulus n: plaintexts stay below n / 4 in absolute value.

        Raises
        ------
        SpecError
            Where the modulus is too small for one slot, or sums are beyond 62 bits.
        """
        width = (largest_sum + 2 * reach + 1).bit_length()
        per_ciphertext = (modulus_bits - 3) // width
        if per_ciphertext < 1:
            raise SpecError(
                "slots",
                f"the public modulus must have {width + 3} bits at least, to hold one sum",
                f"{modulus_bits}",
                "use a larger key",
            )
        return cls(counters, width, per_ciphertext, -reach, largest_sum + reach)

    @property
    def ciphertexts(self) -> int:
        """How many plaintexts hold all counters."""
        return -(-self.counters // self.per_ciphertext)

    def pack(
        self,
        rows: int,
        row: npt.NDArray[np.integer],
        counter: npt.NDArray[np.integer],
        value: npt.NDArray[np.integer],
        number: int,
    ) -> list[int]:
        """Return every row's signed plaintext of a number, from what rows add to counters.

        Parameters
        ----------
        rows : int
        row, counter, value : ndarrays of integers, shape (entries,)
            In any order; entries that meet are added up. Those of other plaintexts, and of counter -1, are passed over.
        number : int
            Which plaintext: below `ciphertexts`.

        Returns
        -------
        list of int
            One a row, 0 where it has no entries.

        Raises
        ------
        ProtocolError
            For numbers that are not integers, a counter there is not, or a plaintext beyond its slots.

        Notes
        -----
        Runs where the answers are. Cost: one pass over all entries, and a big integer's addition for each of the
        plaintext's.
        """
        kinds = {numbers.dtype.kind for numbers in (row, counter, value)}
        if not kinds <= {"i", "u"}:
            raise ProtocolError(
                "slots", "rows, counters and what is added to them must be integers", "others"
            )
        if counter.size and counter.max() >= self.counters:
            raise ProtocolError("slots", f"there are {self.counters} counters", "one beyond")
        slot = counter.astype(np.int64, copy=False) - number * self.per_ciphertext
        here = np.flatnonzero((slot >= 0) & (slot < self.per_ciphertext))
        plaintexts = [0] * rows
        shifts = (slot[here] * self.width).tolist()
        terms = map(operator.lshift, value[here].tolist(), shifts)
        for place, term in zip(row[here].tolist(), terms, strict=True):
            plaintexts[place] += term
        bound = 1 << self.width * self.per_ciphertext
        if rows and not -bound < min(plaintexts) <= max(plaintexts) < bound:
            raise ProtocolError("slots", "what one participant adds must fit a plaintext", "more")
        return plaintexts

    def unpack(self, plaintexts: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the counters' sums from the sums of all plaintexts.

        Parameters
        ----------
        plaintexts : sequence of int
            Signed, one a ciphertext, as decryption gives them.

        Returns
        -------
        ndarray of int64, shape (counters,)

        Raises
        ------
        ProtocolError
            Where anything but integers is given, a sum lies outside of [lowest, highest], or there is more in a
            plaintext than its counters. It tells nothing of the sums.
        """
        if len(plaintexts) != self.ciphertexts:
            raise ProtocolError(
                "slots", f"{self.ciphertexts} plaintexts hold {self.counters} counters", f"{len(plaintexts)}"
            )
        return np.concatenate([self._digits(number, one) for number, one in enumerate(plaintexts)])

    def _digits(self, number: int, plaintext: int) -> npt.NDArray[np.int64]:
        """Return the sums in one plaintext: int64, one a counter in it."""
        used = min(self.per_ciphertext, self.counters - number * self.per_ciphertext)
        bits = used * self.width
        ones = ((1 << bits) - 1) // ((1 << self.width) - 1)
        try:
            raised = operator.index(plaintext) - self.lowest * ones
        except TypeError:
            raise ProtocolError("slots", "a plaintext must be an integer", type(plaintext).__name__) from None
        if 0 <= raised < 1 << bits:
            data = np.frombuffer(raised.to_bytes(-(-bits // 8), "little"), dtype=np.uint8)
            digits = np.unpackbits(data, count=bits, bitorder="little").reshape(used, self.width)
            sums = digits @ (1 << np.arange(self.width)) + self.lowest
            if sums.max() <= self.highest:
                return sums
        raise ProtocolError(
            f"plaintext {number}",
            f"every sum must lie between {self.lowest} and {self.highest}, and nothing beyond the last",
            "another",
            "ask the participants again",
        )
