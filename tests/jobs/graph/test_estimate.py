"""Estimates of graphs and their variances: over all reports there can be, exactly, and in simulation."""

import itertools
import math
import os
from fractions import Fraction

import numpy as np
import pytest

from jobs.graph.accuracy import mean_degree_error
from jobs.graph.estimate import degree_sequence, edge_total, triangle_moments, triangle_sequence
from udfs.errors import SpecError
from udfs.link_sums import link_sums
from udfs.randomized_response import RandomizedResponse

FLIPS = (Fraction(2, 7), RandomizedResponse(2, 3.0).support_if_false)

BEYOND = 6.2
"""A normal variable is farther from its mean than so many standard deviations with probability 1e-9."""


def sums_of(matrix):
    bits = np.packbits(matrix.astype(np.uint8), axis=1)
    return link_sums(lambda band: bits[band.start : band.stop], len(matrix))


def matrix_of(nodes, pairs):
    """The symmetric matrix whose upper triangle has these zeros and ones, row after row."""
    matrix = np.zeros((nodes, nodes), dtype=np.int64)
    matrix[np.triu_indices(nodes, 1)] = pairs
    return matrix + matrix.T


def complete(nodes):
    return 1 - np.eye(nodes, dtype=np.int64)


def all_pairs(nodes):
    return list(itertools.product((0, 1), repeat=math.comb(nodes, 2)))


def true_triangles(matrix):
    return np.diag(matrix @ matrix @ matrix) // 2


def probabilities(nodes, pairs, flip):
    """The probability of each report of all pairs, in the order of `all_pairs`."""
    flipped = [sum(y != a for y, a in zip(report, pairs, strict=True)) for report in all_pairs(nodes)]
    return np.array([flip**some * (1 - flip) ** (len(pairs) - some) for some in flipped])


def some_graphs(nodes):
    """All graphs of up to four nodes; of five, some with triangles that have links in common, and some without."""
    graphs = all_pairs(nodes)
    return graphs if nodes < 5 else [graphs[place] for place in (0, 37, 200, 341, 511, 730, 990, 1023)]


@pytest.mark.parametrize("flip", FLIPS)
@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_triangles_and_their_variances_are_unbiased_exactly(nodes, flip):
    moments = [triangle_moments(sums_of(matrix_of(nodes, report)), flip) for report in all_pairs(nodes)]
    sequences, variances = np.array([(one.sequence, one.variances) for one in moments]).transpose(1, 0, 2)
    totals, total_variances = np.array([(one.total, one.total_variance) for one in moments]).T
    for pairs in some_graphs(nodes):
        law, truth = probabilities(nodes, pairs, flip), true_triangles(matrix_of(nodes, pairs))
        total = Fraction(int(truth.sum()), 3)
        assert (law @ sequences).tolist() == truth.tolist()
        assert (law @ (sequences - truth) ** 2).tolist() == (law @ variances).tolist()
        assert law @ totals == total
        assert law @ (totals - total) ** 2 == law @ total_variances


@pytest.mark.parametrize("flip", FLIPS)
def test_edges_and_degrees_are_unbiased_with_the_standard_errors_that_are_said(flip):
    ones = [matrix_of(4, report).sum(axis=1) for report in all_pairs(4)]
    edges, sequences = ([estimate(one, flip) for one in ones] for estimate in (edge_total, degree_sequence))
    for pairs in all_pairs(4):
        law = probabilities(4, pairs, flip).astype(np.float64)
        for estimated, truth in ((edges, sum(pairs)), (sequences, matrix_of(4, pairs).sum(axis=1))):
            estimates = np.array([one.estimates for one in estimated])
            np.testing.assert_allclose(law @ estimates, truth, atol=1e-12)
            spread = (law @ (estimates - truth) ** 2) ** 0.5
            for one in estimated:
                np.testing.assert_allclose(one.standard_errors, spread, rtol=1e-12)


@pytest.mark.parametrize("flip", [*FLIPS, Fraction(0)])
def test_degrees_are_off_by_what_their_law_says_on_average(flip):
    """Against all reports that there can be, of all graphs of four nodes."""
    found = np.array([degree_sequence(matrix_of(4, one).sum(axis=1), flip).estimates for one in all_pairs(4)])
    for pairs in all_pairs(4):
        truth = matrix_of(4, pairs).sum(axis=1)
        off = probabilities(4, pairs, flip).astype(np.float64) @ np.abs(found - truth)
        assert mean_degree_error(truth, flip) == pytest.approx(off.mean(), rel=1e-12)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5])
@pytest.mark.parametrize("flip", [Fraction(1, 1000), Fraction(3, 10), Fraction(4995, 10000)])
def test_floating_point_is_as_precise_as_it_says(share, flip):
    nodes = 200
    reports = np.random.default_rng(3).random(math.comb(nodes, 2)) < share
    sums = sums_of(matrix_of(nodes, reports))
    exact, found = triangle_moments(sums, flip), triangle_moments(sums, float(flip))
    v, rounding = float(flip * (1 - flip) / (1 - 2 * flip) ** 2), nodes * 2.0**-48
    for name, spread, empty in (
        ("sequence", "variances", math.comb(nodes - 1, 2) * v**3),
        ("total", "total_variance", math.comb(nodes, 3) * v**3),
    ):
        variance = np.asarray(getattr(exact, spread), dtype=np.float64)
        limit = rounding * (np.abs(variance) + empty)
        assert (np.abs(getattr(found, spread) - variance) <= limit).all(), spread
        number = np.asarray(getattr(exact, name), dtype=np.float64)
        assert (
            np.abs(getattr(found, name) - number) <= rounding * np.sqrt(np.maximum(variance, empty))
        ).all(), name


def moments_of_total(matrix, flip, assumed):
    """The mean and the variance of the estimated number of triangles, where another flip may be assumed than happens.

    By the sums over all three and over all two nodes that the variance is defined by.
    """
    slope, nodes = 1 - 2 * assumed, len(matrix)
    mean = (matrix * (1 - 2 * flip) + flip - assumed) / slope
    spread = flip * (1 - flip) / slope**2
    np.fill_diagonal(mean, 0)
    i, j, k = np.array(list(itertools.combinations(range(nodes), 3))).T
    factors = mean[i, j], mean[j, k], mean[i, k]
    own = math.prod(one**2 + spread for one in factors) - math.prod(one**2 for one in factors)
    shared = ((mean @ mean) ** 2 - mean**2 @ mean**2)[np.triu_indices(nodes, 1)]
    return math.prod(factors).sum(), own.sum() + spread * shared.sum()


def simulated(matrix, flip, runs, generator):
    """Yield the sums of so many reports of a graph."""
    nodes = len(matrix)
    truth = matrix[np.triu_indices(nodes, 1)]
    for _ in range(runs):
        yield sums_of(matrix_of(nodes, truth ^ (generator.random(len(truth)) < flip)))


def assert_total(matrix, flip, assumed, runs, seed):
    """Fail unless the mean of estimated totals is what it must be."""
    reports = simulated(matrix, flip, runs, np.random.default_rng(seed))
    totals = [triangle_sequence(sums, assumed)[1].estimates for sums in reports]
    mean, variance = moments_of_total(matrix, float(flip), float(flip))
    distance = (np.mean(totals) - mean) / math.sqrt(variance / runs)
    assert abs(distance) <= BEYOND, f"{distance} standard errors from the law; the seed was {seed}"


def test_totals_of_simulated_reports_follow_their_law():
    flip, mutant = Fraction(1, 5), Fraction(1, 4)
    matrix = np.zeros((40, 40), dtype=np.int64)
    matrix[:14, :14] = complete(14)
    mean, variance = moments_of_total(matrix, float(flip), float(flip))
    assert mean == pytest.approx(true_triangles(matrix).sum() / 3)
    other, spread = moments_of_total(matrix, float(flip), float(mutant))
    runs = math.ceil((BEYOND * (variance**0.5 + spread**0.5) / (other - mean)) ** 2)
    seed = int.from_bytes(os.urandom(8), "big")
    assert_total(matrix, flip, flip, runs, seed)
    with pytest.raises(AssertionError, match="standard errors from the law"):
        assert_total(matrix, flip, mutant, runs, seed)


def test_variances_of_simulated_reports_are_those_of_the_truth_on_average():
    flip, runs = 0.2, 1000
    matrix = matrix_of(30, [(i + 2 * j) % 3 == 0 for i, j in itertools.combinations(range(30), 2)])
    seed = int.from_bytes(os.urandom(8), "big")
    reports = simulated(matrix, flip, runs, np.random.default_rng(seed))
    found = np.array([triangle_moments(sums, flip).total_variance for sums in reports])
    law = moments_of_total(matrix, flip, flip)[1]
    limit = BEYOND * found.std() / math.sqrt(runs)
    assert abs(found.mean() - law) <= limit, f"{found.mean()} in place of {law}; the seed was {seed}"
    assert limit < 0.2 * law  # so that variances which are a fifth too small would be found out


@pytest.mark.parametrize("nodes", [3, 12])
def test_no_standard_error_is_below_that_of_an_empty_graph(nodes):
    flip = Fraction(1, 20)
    v = float(flip * (1 - flip) / (1 - 2 * flip) ** 2)
    empty, total_of_empty = math.comb(nodes - 1, 2) * v**3, math.comb(nodes, 3) * v**3
    matrix = np.zeros((nodes, nodes), dtype=np.int64)
    matrix[0, 1] = matrix[1, 0] = nodes == 3
    sums = sums_of(matrix)
    raw = triangle_moments(sums, float(flip))
    assert raw.variances.min() < empty
    assert raw.total_variance < total_of_empty
    sequence, total = triangle_sequence(sums, flip)
    np.testing.assert_allclose(sequence.standard_errors**2, np.maximum(raw.variances, empty), rtol=1e-12)
    assert total.standard_errors**2 == pytest.approx(total_of_empty, rel=1e-12)


def test_variances_above_an_empty_graphs_are_left_as_they_are():
    sums = sums_of(complete(12))
    raw = triangle_moments(sums, 0.1)
    sequence, total = triangle_sequence(sums, Fraction(1, 10))
    np.testing.assert_allclose(sequence.standard_errors**2, raw.variances, rtol=1e-12)
    assert total.standard_errors**2 == pytest.approx(raw.total_variance, rel=1e-12)


def test_reports_that_are_never_flipped_are_the_graph():
    matrix = matrix_of(7, [(3 * i + j) % 2 for i, j in itertools.combinations(range(7), 2)])
    sums, never = sums_of(matrix), Fraction(0)
    sequence, total = triangle_sequence(sums, never)
    edges, degrees = edge_total(sums.degrees, never), degree_sequence(sums.degrees, never)
    assert sequence.estimates.tolist() == true_triangles(matrix).tolist()
    assert total.estimates == true_triangles(matrix).sum() / 3
    assert edges.estimates == matrix.sum() / 2
    assert degrees.estimates.tolist() == matrix.sum(axis=1).tolist()
    assert not any(one.standard_errors.any() for one in (sequence, total, edges, degrees))


@pytest.mark.parametrize("flip", [Fraction(1, 4), *FLIPS, RandomizedResponse(2, 1e-6).support_if_false])
@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_fewer_than_three_nodes_have_no_triangles_and_no_error_of_them(nodes, flip):
    """Exactly: what floats round, of a small epsilon, would be billions."""
    sequence, total = triangle_sequence(sums_of(complete(nodes)), flip)
    for numbers in (sequence.estimates, sequence.standard_errors):
        assert numbers.tolist() == [0.0] * nodes
    for number in (total.estimates, total.standard_errors):
        assert number.shape == ()
        assert number == 0


@pytest.mark.parametrize(("nodes", "edges"), [(0, 0), (1, 0), (2, 1.5)])
def test_few_nodes_have_the_links_that_they_report(nodes, edges):
    ones = complete(nodes).sum(axis=1)
    total, sequence = edge_total(ones, Fraction(1, 4)), degree_sequence(ones, Fraction(1, 4))
    assert total.estimates.shape == total.standard_errors.shape == ()
    assert total.estimates == edges
    assert sequence.estimates.tolist() == [edges] * nodes


@pytest.mark.parametrize("flip", [Fraction(1, 2), Fraction(2, 3), Fraction(-1, 10)])
def test_flips_that_no_mechanism_has_are_refused(flip):
    sums = sums_of(matrix_of(3, [1, 0, 1]))
    for estimate, reports in (
        (edge_total, sums.degrees),
        (degree_sequence, sums.degrees),
        (mean_degree_error, sums.degrees),
        (triangle_sequence, sums),
        (triangle_moments, sums),
    ):
        with pytest.raises(SpecError, match="flip: must be at least 0 and below 1/2"):
            estimate(reports, flip)
