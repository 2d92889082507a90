"""Random electorates: how rankings are drawn. Public draws, for studies alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jobs.election.profiles.instance import places_of
from udfs.contests import Places


def plackett_luce(generator: np.random.Generator, ballots: int, strengths: npt.ArrayLike) -> Places:
    """Draw rankings place by place, each next candidate in proportion to their strength.

    Equal strengths are the impartial culture: all rankings alike.

    Parameters
    ----------
    generator : numpy.random.Generator
    ballots : int
    strengths : array_like of float, shape (candidates,)
        Above 0.

    Returns
    -------
    ndarray of uint8, shape (ballots, candidates)

    References
    ----------
    Yellott: The relationship between Luce's choice axiom, Thurstone's theory of comparative judgment, and the
    double exponential distribution (1977): strengths over exponential draws, sorted.
    """
    strengths = np.asarray(strengths, dtype=np.float64)
    arrivals = generator.standard_exponential((ballots, strengths.size)) / strengths
    return places_of(np.argsort(arrivals, axis=1))


def mallows(generator: np.random.Generator, ballots: int, centre: npt.ArrayLike, dispersion: float) -> Places:
    """Draw rankings with probability in proportion to `dispersion` to the number of pairs turned round.

    Candidates are put in one by one in the order of the centre, each above j of those already there with
    probability in proportion to dispersion**j.

    Parameters
    ----------
    generator : numpy.random.Generator
    ballots : int
    centre : array_like of int, shape (candidates,)
        The likeliest ranking: candidates, best first.
    dispersion : float
        Above 0; 1 is the impartial culture.

    Returns
    -------
    ndarray of uint8, shape (ballots, candidates)

    References
    ----------
    Doignon, Pekeč, Regenwetter: The repeated insertion model for rankings (2004).
    """
    centre = np.asarray(centre)
    places = np.zeros((ballots, centre.size), dtype=np.uint8, order="F")
    for before, candidate in enumerate(centre):
        weights = dispersion ** np.arange(before + 1)
        bounds = np.cumsum(weights[:-1]) / weights.sum()
        place = before - np.searchsorted(bounds, generator.random(ballots), side="right").astype(np.uint8)
        for above in centre[:before]:
            places[:, above] += places[:, above] >= place
        places[:, candidate] = place
    return places


def mixed(generator: np.random.Generator, ballots: int, candidates: int) -> Places:
    """Draw an electorate of four parts: undecided, agreed on who is strong, and two camps.

    The parts, too, are drawn: their shares are uniform among all shares. The undecided vote by the impartial
    culture; strengths are log-normal, and make a Plackett-Luce model; each camp is a Mallows model about a
    ranking, both drawn uniformly, the dispersion from .3 to 1. Ballots stand in random order.

    Returns
    -------
    ndarray of uint8, shape (ballots, candidates)
    """
    undecided, agreed, *camps = generator.multinomial(ballots, generator.dirichlet(np.ones(4)))
    parts = [
        plackett_luce(generator, undecided, np.ones(candidates)),
        plackett_luce(generator, agreed, generator.lognormal(size=candidates)),
        *(
            mallows(generator, camp, generator.permutation(candidates), generator.uniform(0.3, 1.0))
            for camp in camps
        ),
    ]
    shuffled: Places = generator.permutation(np.concatenate(parts))
    return shuffled


def truncated(generator: np.random.Generator, places: Places, share: float) -> Places:
    """Return ballots of which about a share is cut after one candidate or more, uniformly.

    Parameters
    ----------
    generator : numpy.random.Generator
    places : ndarray of uint8, shape (ballots, candidates)
    share : float
        From 0 to 1.
    """
    ballots, candidates = places.shape
    length = np.where(
        generator.random(ballots) < share,
        generator.integers(1, max(candidates - 1, 2), size=ballots),
        candidates,
    )
    cut: Places = np.minimum(places, length[:, None].astype(np.uint8))
    return cut
