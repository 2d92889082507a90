"""Private selection of an outcome: the larger the margin of victory, the less likely any but the true one.

Privacy: central, one ballot replaced by any other. Runs on the driver and sees the outcome and the margin,
which are raw data: what it returns is all that may leave.

References
----------
papers/private-voting, theorem 3.1 (McSherry and Talwar's exponential mechanism); Canonne, Kamath, Steinke:
The discrete Gaussian for differential privacy (2020), algorithm 1.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from udfs.draws import Draws

SELECTIONS: dict[str, Fraction] = {"margin": Fraction(1), "exponential": Fraction(1, 2)}
"""By kind of selection, the c of its weights: 1 for the true outcome, e**(-c epsilon margin) for any other.

A kind is exactly c epsilon-private: see `select`. The exponential mechanism, whose weights are the paper's,
is charged epsilon all the same, and needs twice the margin."""

_WORD_BITS = 64


class Bits:
    """Exactly uniform whole numbers from a stream of words.

    Parameters
    ----------
    draws : Draws
        Of one row, such as `RowDraws(secret.key("selection"), 1)`: a key of one job over one snapshot of its
        ballots, so that a job that runs again draws again what it drew. Words 0, 1, 2, ... are read.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> 0 <= Bits(fresh_draws(1)).below(10**30) < 10**30
    True
    """

    def __init__(self, draws: Draws) -> None:
        self._draws, self._read = draws, 0

    def below(self, bound: int) -> int:
        """Return a uniform whole number below a positive one, by rejection.

        No word is read where there is but one such number.
        """
        bits = (bound - 1).bit_length()
        words = -(-bits // _WORD_BITS)
        while True:
            number = 0
            for _ in range(words):
                number = number << _WORD_BITS | self._next()
            number >>= words * _WORD_BITS - bits
            if number < bound:
                return number

    def _next(self) -> int:
        """Return the next word."""
        self._read += 1
        return int(self._draws.words(self._read - 1)[0])


def select(
    outcome: int, outcomes: int, margin: int | Fraction, epsilon: Decimal, kind: str, source: Bits
) -> int:
    """Draw an outcome, with no rounding anywhere.

    A uniform outcome is drawn until one is accepted: the true one always, others with probability
    e**(-c epsilon margin).

    Parameters
    ----------
    outcome : int
        The true one.
    outcomes : int
        How many there are, whatever the ballots: where nobody may win, nobody is the last number.
    margin : int or Fraction
        The margin of victory, or a score of `jobs.election.surrogates`; not negative.
    epsilon : Decimal
        Positive.
    kind : str
        In `SELECTIONS`.
    source : Bits

    Returns
    -------
    int
        The true outcome with probability `1 / (1 + (outcomes - 1) e**(-c epsilon margin))`, and every other
        with the same.

    Notes
    -----
    Privacy: exactly c epsilon, if the margins k and l of two neighbouring profiles differ by at most 1, and,
    where the outcomes differ, are both 1 or add up to at most 1. With t = e**(-c epsilon) and K outcomes, the
    ratio of probabilities under the two profiles is

        t**k (1 + (K - 1) t**l) / (t**l (1 + (K - 1) t**k)) <= t**-abs(k - l)  for neither's outcome;
        (1 + (K - 1) t**l) / (1 + (K - 1) t**k) <= t**-abs(k - l)              for both's;
        (1 + (K - 1) t**l) / (t**l (1 + (K - 1) t**k)) <= 1 / t                for the first one's alone.

    Cost: K draws at most on average, and fewer the smaller the margin: the time it takes tells of the margin,
    and must no more leave than the margin does.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> select(2, 5, 10**6, Decimal(1), "margin", Bits(fresh_draws(1)))
    2
    """
    exponent = SELECTIONS[kind] * Fraction(epsilon) * margin
    while True:
        drawn = source.below(outcomes)
        if drawn == outcome or bernoulli_exp(exponent, source):
            return drawn


def bernoulli_exp(exponent: Fraction, source: Bits) -> bool:
    """Return True with probability e**-exponent, exactly, for a rational exponent that is not negative.

    Notes
    -----
    That is e**-1 for each whole one of the exponent, times e**-r for the rest. Draw events of probabilities
    r, r / 2, r / 3, ... until one does not happen: that this is the k-th has probability
    r**(k - 1) / (k - 1)! - r**k / k!, and over odd k these add up to e**-r (algorithm 1).
    """
    whole, rest = divmod(exponent, 1)
    return all(_fails_odd(Fraction(1), source) for _ in range(whole)) and _fails_odd(rest, source)


def _fails_odd(rate: Fraction, source: Bits) -> bool:
    """Tell whether, of events of probabilities rate, rate / 2, ..., the first to fail has an odd number."""
    number = 1
    while source.below(rate.denominator * number) < rate.numerator:
        number += 1
    return number % 2 == 1
