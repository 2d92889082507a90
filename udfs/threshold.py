"""Threshold Paillier: any T of N key-holders open a ciphertext together, and T - 1 of them learn nothing.

Where it runs: a dealer makes a key once and forgets its factors; each holder raises the ciphertexts to its share
(`partially_decrypt`); anybody puts T of these together (`combine`) and sees the plaintexts and nothing else. The
public key is Paillier's, so `phe` encrypts for it, and decrypts with p and q to the same numbers.

Method (Fouque, Poupard and Stern). n = pq with safe primes p = 2p' + 1, q = 2q' + 1, m = p'q'. The secret d is 0
modulo m and 1 modulo n; it is shared by a polynomial f of degree T - 1 with f(0) = d, uniform coefficients modulo
nm and s_i = f(i). With Delta = N!, a holder gives c_i = c^(2 Delta s_i). For a set S of T holders, D_S the common
denominator of their Lagrange coefficients lambda_i at 0, prod c_i^(2 D_S lambda_i) = c^(4 Delta D_S d)
= 1 + 4 Delta D_S M n modulo n^2. (D_S for the usual Delta: combining takes short exponents, and it is public work
on public numbers.) M above n/2 stands for M - n.

Security
--------
What holds: T - 1 holders, together with everybody who holds no share, learn nothing but the plaintexts that T
holders open, if deciding composite residuosity is hard, hashes are random oracles, and who is corrupted is fixed
beforehand (Fouque, Poupard and Stern 2000; Damgard and Jurik 2001). What it takes:

- A dealer that all trust, and that forgets: who knows p and q decrypts alone. As p' and q' exceed N, holders'
  numbers and their differences are units modulo nm, so that any T - 1 shares are uniform whatever d is.
- Holders that judge what they open. Paillier encryption is malleable, and a holder that answers any request opens
  any respondent's ciphertext: it must open sums alone, each once. This module does not judge: see its callers.
- A public key from the dealer. `ThresholdKey.check` shows that all shares are of one polynomial, so that any T of
  them open the same; it cannot show that nobody knows the factors.
- v generates the squares modulo n^2 (the dealer makes sure), so that v_i fixes s_i: see `udfs.decryption_proofs`.
- `powmod_sec` for powers with a share in the exponent: gmpy2's other arithmetic is not constant-time, and no
  number is ever wiped from memory. A holder's machine is its own.

References
----------
Paillier (1999), Public-key cryptosystems based on composite degree residuosity classes.
Fouque, Poupard, Stern (2000), Sharing decryption in the context of voting or lotteries.
Shoup (2000), Practical threshold signatures (Delta, and proofs where the order is secret).
Damgard, Jurik (2001), A generalisation, a simplification and some applications of Paillier's system.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import gmpy2
from gmpy2 import mpz

from udfs.decryption_proofs import Statement, prove, proves
from udfs.errors import ProtocolError
from udfs.hexadecimal import number_from_hex
from udfs.paillier import check_ciphertext
from udfs.safe_primes import RandomBytes
from udfs.threshold_keys import (
    KeyShare,
    ThresholdKey,
    deal,
    lagrange_at_zero,
    product_of_powers,
)

__all__ = [
    "KeyShare",
    "Opened",
    "PartialDecryption",
    "ThresholdKey",
    "combine",
    "deal",
    "partially_decrypt",
    "put_together",
    "verify",
]


@dataclass(frozen=True)
class PartialDecryption:
    """What one holder gives for a list of ciphertexts: no secret.

    Parameters
    ----------
    key_id : str
    holder : int
    values : tuple of int
        c_i = c^(2 Delta s_i) modulo n^2 of each ciphertext.
    proofs : tuple of (int, int)
        (e, z) of each: see `udfs.decryption_proofs`.
    """

    key_id: str
    holder: int
    values: tuple[int, ...]
    proofs: tuple[tuple[int, int], ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, numbers in hexadecimal."""
        return {
            "key_id": self.key_id,
            "holder": self.holder,
            "values": [f"{value:x}" for value in self.values],
            "proofs": [[f"{e:x}", f"{z:x}"] for e, z in self.proofs],
        }

    @classmethod
    def from_json(cls, found: Any, where: str = "partial decryption") -> PartialDecryption:
        """Return what `to_json` wrote; whether it is right is for `verify` to say.

        Raises
        ------
        ProtocolError
            Where it is none.
        """
        match found:
            case {
                "key_id": str(key_id),
                "holder": int(holder),
                "values": list(values),
                "proofs": list(proofs),
            } if (
                re.fullmatch("[0-9a-f]{64}", key_id)
                and holder is not True
                and all(isinstance(proof, list) and len(proof) == 2 for proof in proofs)
            ):
                return cls(
                    key_id,
                    holder,
                    tuple(number_from_hex(value, where) for value in values),
                    tuple((number_from_hex(e, where), number_from_hex(z, where)) for e, z in proofs),
                )
        raise ProtocolError(
            where, "must be a holder's partial decryptions", f"another {type(found).__name__}"
        )


@dataclass(frozen=True)
class Opened:
    """Plaintexts, and who opened them.

    Parameters
    ----------
    plaintexts : tuple of int
        Signed, below n/2 in absolute value.
    holders : tuple of int
        The T holders whose partial decryptions were put together, in the order they came.
    wrong : tuple of int
        Holders in whose name something else came than partial decryptions of these ciphertexts under this key.
    declined : tuple of int
        Holders that would not open them: known to whoever asks holders, and filled in there.
    """

    plaintexts: tuple[int, ...]
    holders: tuple[int, ...]
    wrong: tuple[int, ...]
    declined: tuple[int, ...] = ()


def partially_decrypt(
    share: KeyShare, ciphertexts: Sequence[int], random_bytes: RandomBytes
) -> PartialDecryption:
    """Raise ciphertexts to a holder's share, with proofs: c^(2 Delta s_i) modulo n^2.

    Parameters
    ----------
    share : KeyShare
    ciphertexts : sequence of int
        Whatever this is called with can be opened: what may be is for the holder to judge, beforehand.
    random_bytes : callable
        The source of randomness for the proofs. The values do not depend on it.

    Returns
    -------
    PartialDecryption

    Raises
    ------
    ProtocolError
        For a number that is no ciphertext: one that shares a factor with n would give the share away.

    Notes
    -----
    Cost: three exponentiations with secrets modulo n^2 a ciphertext.
    """
    key = share.key
    _check_ciphertexts(key, ciphertexts)
    exponent = int(key.delta * mpz(share.secret))
    values = [int(gmpy2.powmod_sec(mpz(c), 2 * exponent, key.n_squared)) for c in ciphertexts]
    proofs = [
        prove(_statement(key, share.holder, c, value), exponent, random_bytes)
        for c, value in zip(ciphertexts, values, strict=True)
    ]
    return PartialDecryption(key.key_id, share.holder, tuple(values), tuple(proofs))


def verify(key: ThresholdKey, ciphertexts: Sequence[int], partial: PartialDecryption) -> None:
    """Refuse whatever is not one holder's partial decryptions of these ciphertexts under this key.

    Raises
    ------
    ProtocolError
        Naming the holder.
    """
    _check_ciphertexts(key, ciphertexts)
    where = f"holder {partial.holder}"
    if partial.key_id != key.key_id:
        raise ProtocolError(
            where, f"must answer under key {key.key_id[:12]}", f"one under key {partial.key_id[:12]}"
        )
    if not 1 <= partial.holder <= key.holders:
        raise ProtocolError(where, f"must be one of {key.holders} holders", "a number that is none of theirs")
    if not len(ciphertexts) == len(partial.values) == len(partial.proofs):
        raise ProtocolError(
            where,
            f"must give a value and a proof for each of {len(ciphertexts)} ciphertexts",
            f"{len(partial.values)} values and {len(partial.proofs)} proofs",
        )
    for number, (c, value, proof) in enumerate(
        zip(ciphertexts, partial.values, partial.proofs, strict=True), start=1
    ):
        check_ciphertext(value, key.n, where)
        if not proves(proof, _statement(key, partial.holder, c, value)):
            raise ProtocolError(where, "must prove what it gives", f"a wrong proof of ciphertext {number}")


def combine(key: ThresholdKey, ciphertexts: Sequence[int], partials: Sequence[PartialDecryption]) -> Opened:
    """Open ciphertexts with the partial decryptions of T holders.

    Parameters
    ----------
    key : ThresholdKey
    ciphertexts : sequence of int
    partials : sequence of PartialDecryption
        Of distinct holders. All are verified; the first T that are right are used.

    Returns
    -------
    Opened

    Raises
    ------
    ProtocolError
        Where fewer than T are right (it names those that are not), where a holder comes twice, and where a
        ciphertext is none.

    Notes
    -----
    Cost: four exponentiations with public numbers a partial decryption; then T with short exponents a ciphertext.
    """
    _check_ciphertexts(key, ciphertexts)
    holders = sorted(partial.holder for partial in partials)
    if len(set(holders)) < len(holders):
        raise ProtocolError(
            "opening", "must be by distinct holders", f"holders {', '.join(map(str, holders))}"
        )
    right: list[PartialDecryption] = []
    faults: dict[int, ProtocolError] = {}
    for partial in partials:
        try:
            verify(key, ciphertexts, partial)
            right.append(partial)
        except ProtocolError as fault:
            faults[partial.holder] = fault
    if len(right) < key.threshold:
        raise ProtocolError(
            "opening",
            f"takes the partial decryptions of {key.threshold} of {key.holders} holders",
            f"{len(right)} of {key.threshold}"
            + "".join(f"; holder {holder} gave {fault.got}" for holder, fault in faults.items()),
            "ask other holders",
        )
    return replace(put_together(key, right[: key.threshold]), wrong=tuple(faults))


def put_together(key: ThresholdKey, verified: Sequence[PartialDecryption]) -> Opened:
    """Open ciphertexts with partial decryptions of theirs that were verified, of T distinct holders.

    Raises
    ------
    ProtocolError
        Where these give no plaintexts.
    """
    denominator, coefficients = lagrange_at_zero([partial.holder for partial in verified])
    exponents = [2 * coefficient for coefficient in coefficients]
    scale = gmpy2.invert(4 * key.delta * denominator, key.n)
    plaintexts = []
    for values in zip(*(partial.values for partial in verified), strict=True):
        quotient, rest = divmod(product_of_powers(values, exponents, key.n_squared) - 1, key.n)
        if rest:
            raise ProtocolError("opening", "must give plaintexts", "a power that is not 1 modulo n")
        plaintext = int(quotient * scale % key.n)
        plaintexts.append(plaintext - key.n if 2 * plaintext > key.n else plaintext)
    return Opened(tuple(plaintexts), tuple(partial.holder for partial in verified), ())


def _check_ciphertexts(key: ThresholdKey, ciphertexts: Sequence[int]) -> None:
    """Refuse numbers that are no ciphertexts of a key."""
    for number, c in enumerate(ciphertexts, start=1):
        check_ciphertext(c, key.n, f"ciphertext {number}")


def _statement(key: ThresholdKey, holder: int, ciphertext: int, partial: int) -> Statement:
    """Return what a holder proves of one ciphertext: with the public key's numbers."""
    exponent_bits = key.n_squared.bit_length() + key.delta.bit_length()
    return Statement(
        key.key_id,
        key.n_squared,
        key.v,
        key.verification[holder - 1],
        holder,
        exponent_bits,
        int(ciphertext),
        int(partial),
    )
