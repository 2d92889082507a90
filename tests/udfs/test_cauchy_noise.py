from __future__ import annotations

import math
import pickle
from decimal import Decimal
from functools import cache
from itertools import pairwise

import gmpy2
import numpy as np
import pytest

from tests.statistics import UnlikelyError, assert_law
from tests.udfs import graphs
from tests.udfs.scripted_bytes import ScriptedBytes
from udfs.cauchy_noise import LARGEST, CauchyNoise, rounded_cauchy
from udfs.errors import SpecError
from udfs.smooth_sensitivity import SEQUENCE, TriangleSensitivity
from udfs.streams import byte_stream

WIDE = np.tan(np.linspace(-math.pi / 2, math.pi / 2, 200_001)[1:-1])


def distance(shift, scale, other_scale):
    """Return the distance of two Cauchy laws in the half-plane, whose places differ by `shift`."""
    return np.arccosh(1 + (shift**2 + (scale - other_scale) ** 2) / (2 * scale * other_scale))


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.0, 7.0])
@pytest.mark.parametrize("stretch", [0.2, 0.9, 1.0, 1.5, 40.0])
def test_one_number_loses_the_distance_of_two_laws(shift, stretch):
    """Against the log-ratio of their densities, all over the line."""
    ratio = (1 + WIDE**2) * stretch / (stretch**2 + (WIDE - shift) ** 2)
    assert max(ratio.max(), 1 / ratio.min()) == pytest.approx(math.exp(distance(shift, 1, stretch)), rel=1e-6)


def test_a_shift_and_a_stretch_cost_no_more_than_is_said():
    sizes = np.geomspace(1e-3, 1e3, 200)
    assert distance(sizes, 1, 1) == pytest.approx(2 * np.arcsinh(sizes / 2))
    assert (distance(sizes, 1, 1) <= sizes).all()
    assert distance(0, 1, np.exp(sizes[:100])) == pytest.approx(sizes[:100])
    stretched = distance(sizes[:, None], 1, np.exp(sizes[:100]))
    assert (stretched <= distance(sizes, 1, 1)[:, None] + sizes[:100] + 1e-9).all()


EPSILONS = [Decimal(text) for text in ("0.001", "0.1", "0.5", "1", "1.4", "3", "8", "20", "32", "1000")]


def worst(alpha, beta):
    """Return the most that one output loses: a shift by the smaller bound, any stretch, either law first."""
    stretches = np.linspace(0, beta, 2001)
    return distance(alpha, 1.0, np.exp(stretches)).max()


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_output_loses_epsilon_and_with_a_little_less_noise_it_would_lose_more(epsilon):
    noise = CauchyNoise(epsilon, 1)
    aim = min(float(epsilon), 32)
    assert aim * (1 - 2**-18) < worst(noise.alpha, noise.beta) < aim * (1 - 2**-21)
    assert worst(noise.alpha * 1.01, noise.beta) > aim
    assert noise.beta == pytest.approx(aim / 2, rel=1e-5)


@pytest.mark.parametrize("outputs", [2, 5, 185, 10_000])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_many_outputs_lose_epsilon_at_most_and_nearly_that(epsilon, outputs):
    noise = CauchyNoise(epsilon, outputs)
    aim = min(float(epsilon), 32)
    assert aim * (1 - 2**-19) < noise.alpha + outputs * noise.beta < aim * (1 - 2**-21)
    shares = np.full(outputs, noise.alpha / outputs)
    spread = distance(shares, 1.0, math.exp(noise.beta)).sum()
    assert spread <= aim
    if outputs >= 185 and aim >= 1:
        assert spread > aim / 2


def test_published_constants_would_take_three_times_the_noise():
    for outputs in (2, 185):
        noise = CauchyNoise(Decimal(1), outputs)
        assert noise.alpha == pytest.approx(3 * (1 / 6), rel=1e-5)
        assert noise.beta == pytest.approx(3 * (1 / (6 * outputs)), rel=1e-5)


@cache
def sensitivities(nodes):
    """Return how sensitive all graphs are."""
    every = range(1 << len(graphs.pairs_of(nodes)))
    return [TriangleSensitivity.of(graphs.links_of(graph, nodes), nodes) for graph in every]


def bounds(nodes, beta):
    """Return the smooth bounds on the number of triangles of all graphs."""
    return np.array([sensitivity.smooth(beta) for sensitivity in sensitivities(nodes)])


def largest_loss(nodes, alpha, beta, sequence):
    """Return the most that any two graphs which one link tells apart lose."""
    counts, scales = graphs.triangles(nodes), bounds(nodes, beta) / alpha
    if sequence:
        scales = SEQUENCE * scales
    else:
        counts = counts.sum(axis=1, keepdims=True) // 3
    others = graphs.neighbours(nodes)
    lost = distance(counts[others] - counts, scales[others][:, :, None], scales[:, None])
    return float(lost.sum(axis=2).max())


@pytest.mark.parametrize("epsilon", [Decimal("0.1"), Decimal(1), Decimal(3), Decimal(8)])
@pytest.mark.parametrize("sequence", [False, True])
@pytest.mark.parametrize("nodes", [3, 4, 5])
def test_triangles_of_all_neighbouring_graphs_are_private(nodes, sequence, epsilon):
    noise = CauchyNoise(epsilon, nodes if sequence else 1)
    assert largest_loss(nodes, noise.alpha, noise.beta, sequence) <= epsilon


def test_a_beta_for_each_number_on_its_own_is_not_private():
    one = CauchyNoise(Decimal(1), 1)
    assert largest_loss(5, one.alpha, one.beta, sequence=True) > 2
    assert largest_loss(5, 1 / 6, 1 / 6, sequence=False) <= 1
    assert largest_loss(5, 1 / 6, 1 / 2, sequence=True) > 2


def test_the_bound_of_the_total_is_not_enough_for_the_numbers_at_each_node():
    noise = CauchyNoise(Decimal(1), 5)
    assert largest_loss(5, noise.alpha * SEQUENCE, noise.beta, sequence=True) > 1


MOST = 1 << 62


def rounded_by_hand(scale, digits, bits):
    """Return scale cot(pi u) rounded and cut, for u = digits / 2**bits, in 1000 bits."""
    with gmpy2.context(precision=1000):
        angle = gmpy2.const_pi() * gmpy2.mpfr(digits) / (gmpy2.mpz(1) << bits)
        return int(min(gmpy2.mpfr(MOST), gmpy2.floor(scale * gmpy2.cot(angle) + gmpy2.mpfr(0.5))))


def border(scale, noise):
    """Return three digits of the u whose scale cot(pi u) lies half way from `noise` to the next number."""
    with gmpy2.context(precision=1000):
        u = gmpy2.atan(gmpy2.mpfr(scale) / (noise + gmpy2.mpfr(0.5))) / gmpy2.const_pi()
        number = int(gmpy2.floor(u * (gmpy2.mpz(1) << 192)))
    return [number >> shift & 2**64 - 1 for shift in (128, 64, 0)]


SIGN = 1 << 63
EDGES = [*(1 << place for place in range(1, 63)), *(SIGN - (1 << place) for place in range(63))]


@pytest.mark.parametrize("scale", [1e-3, 0.7, 1.0, 474.1, 1e9])
def test_noise_is_a_cotangent_rounded(scale):
    digits = [*EDGES, *(np.frombuffer(byte_stream(b"w" * 32)(4000), dtype="<u8") % SIGN).tolist()]
    ends = [(rounded_by_hand(scale, digit, 64), rounded_by_hand(scale, digit + 1, 64)) for digit in digits]
    certain = [(digit, one) for digit, (one, other) in zip(digits, ends, strict=True) if one == other]
    assert len(certain) > 500
    words = [digit for digit, _ in certain] + [digit | SIGN for digit, _ in certain]
    extra = byte_stream(b"m" * 32)
    first = ScriptedBytes(words)
    noise = rounded_cauchy(scale, len(words), lambda size: extra(size) if first.is_used_up else first(size))
    assert noise.tolist() == [one for _, one in certain] + [-one for _, one in certain]


@pytest.mark.parametrize(
    ("scale", "noise"), [(1.0, 0), (474.1, 3), (474.1, 10**6), (1e9, 10**12), (1e-3, 0), (0.7, 2**40)]
)
def test_noise_at_the_border_of_two_numbers_is_told_by_more_digits(scale, noise):
    first, second, third = border(scale, noise)
    for more, expected in [
        ([[second - 1]], noise + 1),
        ([[second + 1]], noise),
        ([[second], [third - 1]], noise + 1),
        ([[second], [third + 1]], noise),
    ]:
        stream = ScriptedBytes([first, 1 << 62, first | SIGN], *more, *more)
        middle = rounded_by_hand(scale, 1 << 62, 64)
        assert rounded_cauchy(scale, 3, stream).tolist() == [expected, middle, -expected]
        assert stream.is_used_up


def test_noise_beyond_all_bounds_is_cut():
    assert rounded_cauchy(2.0, 2, ScriptedBytes([0, SIGN])).tolist() == [MOST, -MOST]
    stream = ScriptedBytes([0, SIGN], [0], [0])
    assert rounded_cauchy(1e-3, 2, stream).tolist() == [MOST, -MOST]
    assert stream.is_used_up


def law_of(scale, cuts):
    """Return the probabilities of rounded noise below the first cut, between two of them, and so on."""
    below = [0.5 + math.atan((cut - 0.5) / scale) / math.pi for cut in cuts]
    return [after - before for before, after in pairwise([0.0, *below, 1.0])]


def sampler(scale, cuts, change=lambda noise: noise):
    def sample(secret, numbers):
        noise = rounded_cauchy(scale, numbers, byte_stream(secret.key("noise")))
        return np.bincount(np.searchsorted(cuts, change(noise), side="right"), minlength=len(cuts) + 1)

    return sample


CUTS = (-2000, -500, -50, 0, 1, 51, 501, 2001)


@pytest.mark.parametrize(("scale", "cuts"), [(1.0, (-20, -2, 0, 1, 3, 21)), (57.3, CUTS), (474.1, CUTS)])
def test_noise_follows_its_law_and_that_of_a_mutant_does_not(scale, cuts):
    law = law_of(scale, cuts)
    for mutant in (scale * 1.1, scale / 1.1):
        assert_law(sampler(scale, cuts), law, law_of(mutant, cuts))
        with pytest.raises(UnlikelyError):
            assert_law(sampler(mutant, cuts), law, law_of(mutant, cuts))


def test_noise_that_is_one_off_is_caught():
    cuts = (-2, 0, 1, 3)
    with pytest.raises(UnlikelyError):
        assert_law(
            sampler(1.0, cuts, lambda noise: noise + 1), law_of(1.0, cuts), law_of(1.0, [c - 1 for c in cuts])
        )


def test_outputs_get_noise_of_the_scale_of_their_bound():
    noise, smooth, truth = CauchyNoise(Decimal(1), 185), 237.0, np.arange(185)
    assert noise.scale(smooth) == pytest.approx(474, rel=1e-5)
    one, other = (noise.perturb(truth, smooth, byte_stream(key * 32)) for key in (b"a", b"b"))
    added = rounded_cauchy(noise.scale(smooth), 185, byte_stream(b"a" * 32))
    assert one.dtype == np.int64
    assert one.tolist() == (truth + added).tolist()
    assert one.tolist() != other.tolist()


def test_a_cut_does_not_tell_what_noise_was_added_to():
    noise = CauchyNoise(Decimal(1), 2)
    for truth in (0, 5, LARGEST, -LARGEST):
        published = noise.perturb(np.array([truth, truth]), 3.0, ScriptedBytes([0, SIGN]))
        assert published.tolist() == [LARGEST, -LARGEST]


def test_what_never_changes_has_no_noise():
    truth = np.array([7, 0])
    published = CauchyNoise(Decimal(1), 2).perturb(truth, 0.0, byte_stream(bytes(32)))
    assert published.tolist() == [7, 0]
    assert published.dtype == np.int64


@pytest.mark.parametrize("epsilon", [0, -1, Decimal("NaN"), True, "1"])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    with pytest.raises(SpecError, match="epsilon must be a positive finite number"):
        CauchyNoise(epsilon, 1)


@pytest.mark.parametrize("outputs", [0, -1, True, 2.0])
def test_a_number_of_outputs_that_is_none_is_refused(outputs):
    with pytest.raises(SpecError, match="outputs: must be a whole number, one or more"):
        CauchyNoise(Decimal(1), outputs)


def test_an_epsilon_too_small_for_floats_is_refused():
    CauchyNoise(Decimal("0.0000001"), 1)
    for epsilon, outputs in ((Decimal("0.0000001"), 2), (Decimal("1e-900"), 1)):
        with pytest.raises(SpecError, match=r"at least 2\*\*-24 for each number.*Give a larger epsilon"):
            CauchyNoise(epsilon, outputs)


def test_the_label_tells_laws_apart_and_equal_ones_not():
    assert len({CauchyNoise(epsilon, outputs).label for epsilon in (1, 2) for outputs in (1, 2)}) == 4
    noise = CauchyNoise(Decimal("1.00"), 2)
    assert noise.label == CauchyNoise(1, 2).label
    assert pickle.loads(pickle.dumps(noise)) == noise
