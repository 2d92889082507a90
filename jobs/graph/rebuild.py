"""The rebuilt graph: how many links it has, and how many of them each tile of pairs draws.

From reports in which every pair of nodes may be flipped, a graph is drawn that has the estimated number of
links. The driver sees how many links each tile reports, and decides how many reported ones the tile keeps and
how many of its other pairs it adds; `udfs.link_release` draws which.

Privacy: post-processing of reports. The graph has the guarantee that they have, and may be released and
analysed at will.

References
----------
papers/randomized-response, section 6: one instance of the network is generated from the randomized links.
Kachitvichyanukul, Schmeiser: Computer generation of hypergeometric random variates (1985), section 2:
inversion from the mode, here in integers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from udfs.errors import SpecError
from udfs.link_release import LinkRelease
from udfs.safe_primes import RandomBytes
from udfs.threshold_keys import uniform_below

_UNIT = 1 << 192
"""The weight of the likeliest count, to which all others are rounded down."""


@dataclass(frozen=True)
class RebuiltSize:
    """How many links a rebuilt graph has, all of it exact.

    Parameters
    ----------
    pairs : int
        The pairs of nodes, N.
    reported : int
        How many of them are reported as links, n1.
    truth : Fraction
        The probability p that a pair's report is the truth: above 1/2.

    Notes
    -----
    With q = 1 - p, m the number of links, pi = m / N, and k the number of those kept:

        edges = (n1 - q N) / (p - q)
        m = edges, cut to 0 and N, and rounded
        k = n1 p pi / (p pi + q (1 - pi)), rounded

    A reported link is a true one with probability p pi / (p pi + q (1 - pi)), so that k is how many are to be
    expected, and m - k how many true links are reported as none. There are always enough of either to draw
    from: m is within 1/2 of the estimate or cut, so that k lies within p - 1/2 of p m, and the N - m pairs
    that do not become links leave room in the same way.

    Examples
    --------
    >>> size = RebuiltSize(pairs=100, reported=40, truth=Fraction(3, 4))
    >>> size.edges, size.links, size.kept, size.added
    (Fraction(30, 1), 30, 22, 8)
    """

    pairs: int
    reported: int
    truth: Fraction

    def __post_init__(self) -> None:
        """Check that the numbers can be those of reports.

        Raises
        ------
        SpecError
        """
        if not Fraction(1, 2) < self.truth <= 1:
            raise SpecError("truth", "must be above 1/2, and a probability", f"{float(self.truth)}")
        if not 0 <= self.reported <= self.pairs:
            raise SpecError(
                "reported", "must lie between none and all pairs", f"{self.reported} of {self.pairs}"
            )

    @property
    def edges(self) -> Fraction:
        """The unbiased estimate of the number of links, which may lie outside of 0 to `pairs`."""
        lie = 1 - self.truth
        return (self.reported - lie * self.pairs) / (self.truth - lie)

    @property
    def cut(self) -> bool:
        """Whether the estimate is no number that a graph can have, so that `links` is biased."""
        return not 0 <= self.edges <= self.pairs

    @property
    def links(self) -> int:
        """The links of the rebuilt graph."""
        return round(min(max(self.edges, Fraction(0)), Fraction(self.pairs)))

    @property
    def kept(self) -> int:
        """How many of them are reported ones."""
        true_links = self.truth * self.links
        lies = (1 - self.truth) * (self.pairs - self.links)
        return round(self.reported * true_links / (true_links + lies)) if self.links else 0

    @property
    def added(self) -> int:
        """How many of them are other pairs."""
        return self.links - self.kept

    def tiles(
        self, pairs: Sequence[int], reported: Sequence[int], random_bytes: RandomBytes
    ) -> tuple[LinkRelease, ...]:
        """Draw how many links each tile keeps and adds, as if all were drawn from the whole graph at once.

        Parameters
        ----------
        pairs, reported : sequences of int
            Each tile's pairs, and how many of them it reports as links: together the graph's.
        random_bytes : callable
            A source of uniform random bytes which serve nothing else, such as `byte_stream` of a key.

        Returns
        -------
        tuple of LinkRelease
            One a tile: the same for the same random bytes.

        Raises
        ------
        SpecError
            Where the tiles' numbers do not add up to the graph's.
        """
        together = sum(pairs), sum(reported)
        if together != (self.pairs, self.reported):
            raise SpecError(
                "tiles",
                f"must have {self.pairs} pairs together and report {self.reported} links",
                f"{together[0]} and {together[1]}",
            )
        others = [size - ones for size, ones in zip(pairs, reported, strict=True)]
        kept, added = (
            allot(drawn, room, random_bytes) for drawn, room in ((self.kept, reported), (self.added, others))
        )
        return tuple(map(LinkRelease, kept, added))


def allot(drawn: int, room: Sequence[int], random_bytes: RandomBytes) -> list[int]:
    """Draw how many of some draws without replacement fall in each of several boxes.

    Parameters
    ----------
    drawn : int
        From 0 to all that the boxes hold.
    room : sequence of int
        What each box holds.
    random_bytes : callable
        A source of uniform random bytes.

    Returns
    -------
    list of int
        One a box: multivariate hypergeometric, within the total variation that `hypergeometric` states, once a
        box.

    Raises
    ------
    SpecError

    Examples
    --------
    >>> from udfs.streams import byte_stream
    >>> sum(allot(10, [5, 0, 40], byte_stream(bytes(32))))
    10
    """
    left, counts = sum(room), []
    if not 0 <= drawn <= left:
        raise SpecError("drawn", "must lie between none and what the boxes hold", f"{drawn} of {left}")
    for size in room:
        counts.append(hypergeometric(left, size, drawn, random_bytes))
        left, drawn = left - size, drawn - counts[-1]
    return counts


def hypergeometric(population: int, marked: int, drawn: int, random_bytes: RandomBytes) -> int:
    """Draw how many of `drawn` draws without replacement from a population are marked.

    Returns
    -------
    int
        Of a law within s (s + 1) / 2**193 of the hypergeometric one in total variation, s = min(marked,
        drawn): nothing is rounded but the integer weights of `hypergeometric_weights`.

    Notes
    -----
    Cost: about 32 standard deviations of the count, in products of integers of four words.
    """
    least, weights = hypergeometric_weights(population, marked, drawn)
    ends = list(accumulate(weights))
    return least + bisect_right(ends, uniform_below(ends[-1], random_bytes))


def hypergeometric_weights(population: int, marked: int, drawn: int) -> tuple[int, list[int]]:
    """Return the least count that has a weight, and the weights of the counts from it on.

    Parameters
    ----------
    population, marked, drawn : int
        The other two at most the population.

    Returns
    -------
    tuple of int and list of int
        The likeliest count weighs 2**192. From there on outward, each weight is the last one times the exact
        ratio of probabilities, rounded down: the ratio is at most 1, so that a weight falls short by less than
        one for each step from the likeliest count. What weighs nothing is left out.

    Examples
    --------
    >>> least, weights = hypergeometric_weights(population=4, marked=2, drawn=2)
    >>> least, [weight * 4 >> 192 for weight in weights]  # 1, 4 and 1 of 6 ways
    (0, [1, 4, 1])
    """
    likeliest = (drawn + 1) * (marked + 1) // (population + 2)
    apart = population - marked - drawn
    """The unmarked that are not drawn, less the marked that are."""
    above: list[int] = []
    count, weight = likeliest, _UNIT
    while weight:
        above.append(weight)
        weight = weight * ((marked - count) * (drawn - count)) // ((count + 1) * (apart + count + 1))
        count += 1
    below: list[int] = []
    count, weight = likeliest, _UNIT
    while weight:
        below.append(weight)
        weight = weight * (count * (apart + count)) // ((marked - count + 1) * (drawn - count + 1))
        count -= 1
    return count + 1, below[:0:-1] + above
