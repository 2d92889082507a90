from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jobs.survey.two_sample import Sample, TwoSampleEstimate, cheater_detection, stochastic_lie_detector
from udfs.errors import SpecError
from udfs.field_designs import mangat, triangular

F = Fraction
Model = Callable[[Sample, Sample], TwoSampleEstimate]
MODELS = [cheater_detection, stochastic_lie_detector]
both = pytest.mark.parametrize("model", MODELS)
chances = st.fractions(0, 1, max_denominator=12)
PUBLISHED = Sample(F(2, 12), 373, 564), Sample(F(10, 12), 398, 692)


def exact(p: Fraction, share: Fraction) -> Sample:
    """Return a sample in which exactly this share says yes."""
    times = math.ceil(F(2, share.denominator))
    return Sample(p, share.numerator * times, share.denominator * times)


def test_a_published_survey_comes_out_to_the_last_digit():
    found = stochastic_lie_detector(*PUBLISHED)
    assert found.names == ("carriers", "truthful", "cheaters")
    assert found.values[:2] == pytest.approx([0.870695, 0.635806], abs=5e-7)
    assert found.standard_errors[:2] == pytest.approx([0.041118, 0.017344], abs=5e-7)
    assert found.values[2] == pytest.approx(found.values[0] * (1 - found.values[1]), rel=1e-12)
    assert (found.reports, found.outside) == (564 + 692, ())


@both
def test_the_order_of_the_samples_does_not_matter(model: Model):
    one, other = model(*PUBLISHED), model(*reversed(PUBLISHED))
    assert one.values.tolist() == other.values.tolist()
    assert one.covariance == pytest.approx(other.covariance, rel=1e-12)


@given(chances, chances, chances, chances)
def test_expected_shares_give_the_truth_back(p, q, carriers, truthful):
    assume(p != q and carriers > 0)
    samples = [exact(c, carriers * truthful + (1 - carriers) * (1 - c)) for c in (p, q)]
    found = stochastic_lie_detector(*samples)
    assert found.values == pytest.approx([float(x) for x in (carriers, truthful, carriers * (1 - truthful))])
    assert found.outside == ()


@given(chances, chances, chances, chances)
def test_expected_shares_give_honest_and_cheaters_back(p, q, honest, split):
    assume(p != q)
    carriers, others = honest * split, honest * (1 - split)
    found = cheater_detection(*(exact(c, carriers + others * c) for c in (p, q)))
    assert found.values == pytest.approx([float(x) for x in (carriers, others, 1 - honest)])
    assert found.values.sum() == pytest.approx(1)
    assert found.outside == ()


@both
def test_the_covariance_is_that_of_finite_differences(model: Model):
    step = F(1, 10**6)
    samples = [(F(1, 4), F(11, 20), 200), (F(2, 3), F(9, 20), 300)]

    def values(first: Fraction, second: Fraction) -> np.ndarray:
        return model(exact(samples[0][0], first), exact(samples[1][0], second)).values

    u, v = samples[0][1], samples[1][1]
    gradient = np.stack(
        [values(u + step, v) - values(u - step, v), values(u, v + step) - values(u, v - step)], axis=1
    ) / float(2 * step)
    variances = [float(share * (1 - share)) / (n - 1) for _, share, n in samples]
    found = model(*(Sample(p, int(share * n), n) for p, share, n in samples))
    assert found.covariance == pytest.approx(gradient * variances @ gradient.T, rel=1e-6)
    assert np.linalg.matrix_rank(found.covariance, tol=1e-12) == 2


@both
def test_the_variances_are_unbiased_for_what_is_linear(model: Model):
    """Of every sample of three and of two: the mean of the estimated variances is the variance."""
    p, q = F(1, 4), F(3, 4)
    shares = F(3, 5), F(1, 2)
    total, squares, estimated = np.zeros(3), np.zeros(3), np.zeros(3)
    for yes in range(4):
        for also in range(3):
            weight = math.prod(
                math.comb(n, k) * float(share**k * (1 - share) ** (n - k))
                for share, k, n in zip(shares, (yes, also), (3, 2), strict=True)
            )
            found = model(Sample(p, yes, 3), Sample(q, also, 2))
            total += weight * found.values
            squares += weight * found.values**2
            estimated += weight * np.diagonal(found.covariance)
    linear = [0, 2]
    assert estimated[linear] == pytest.approx((squares - total**2)[linear], rel=1e-12)


def test_both_models_are_one_with_the_chances_turned_round():
    lies = stochastic_lie_detector(*PUBLISHED)
    cheats = cheater_detection(*(Sample(1 - one.p, one.yes, one.reports) for one in PUBLISHED))
    assert lies.values[2] == cheats.values[2]
    assert lies.cheating.z == pytest.approx(cheats.cheating.z, rel=1e-12)
    assert lies.values[0] == pytest.approx(cheats.values[0] + cheats.values[2])


def test_cheating_is_told_from_none_by_its_share_over_its_error():
    found = stochastic_lie_detector(*PUBLISHED)
    assert found.cheating.z == pytest.approx(found.values[2] / found.standard_errors[2])
    assert found.cheating.p_value == pytest.approx(3.8e-36, rel=0.02)  # a tail far below a float's last digit
    honest = cheater_detection(Sample(F(1, 4), 475, 1000), Sample(F(3, 4), 825, 1000))
    assert honest.values == pytest.approx([0.3, 0.7, 0.0], abs=1e-12)
    assert (honest.cheating.z, honest.cheating.p_value) == pytest.approx((0, 0.5))
    assert cheater_detection(Sample(F(1, 4), 500, 1000), Sample(F(3, 4), 840, 1000)).cheating.p_value > 0.5


def test_estimates_that_are_no_shares_stay_as_they_are_and_are_named():
    found = cheater_detection(Sample(F(1, 4), 60, 100), Sample(F(3, 4), 30, 100))
    assert found.values == pytest.approx([0.75, -0.6, 0.85])
    assert found.outside == ("honest others",)
    found = stochastic_lie_detector(Sample(F(1, 4), 90, 100), Sample(F(3, 4), 90, 100))
    assert found.values == pytest.approx([1, 0.9, 0.1])
    assert found.outside == ()
    found = stochastic_lie_detector(Sample(F(1, 4), 95, 100), Sample(F(3, 4), 85, 100))
    assert found.values == pytest.approx([0.8, 1.0, 0.0])
    found = stochastic_lie_detector(Sample(F(1, 4), 98, 100), Sample(F(3, 4), 83, 100))
    assert found.outside == ("truthful", "cheaters")


def test_the_truth_of_no_carriers_is_nothing():
    found = stochastic_lie_detector(Sample(F(1, 4), 75, 100), Sample(F(3, 4), 25, 100))
    assert found.values == pytest.approx([0, math.nan, 0], nan_ok=True)
    assert np.isnan(found.standard_errors).tolist() == [False, True, False]
    assert found.outside == ()


@both
def test_samples_without_spread_are_no_test(model: Model):
    found = model(Sample(F(1, 4), 10, 10), Sample(F(3, 4), 10, 10))
    assert math.isnan(found.cheating.z)
    assert math.isnan(found.cheating.p_value)


@both
@given(p=chances, q=chances)
def test_no_choice_of_chances_makes_a_two_sample_model_private(model: Model, p, q):
    assume(p != q)
    assert model(Sample(p, 5, 10), Sample(q, 5, 10)).epsilon == Decimal("Infinity")


def test_whoever_follows_the_instructions_reports_by_a_design_of_one_sample():
    """The expected shares without cheaters are those of the triangular model and of Mangat's design."""
    carriers = F(1, 5)
    for model, design in [(cheater_detection, triangular), (stochastic_lie_detector, mangat)]:
        samples = []
        for p in (F(1, 4), F(2, 3)):
            if_not, if_carrier = design(p).law[1]
            samples.append(exact(p, (1 - carriers) * if_not + carriers * if_carrier))
        found = model(*samples)
        assert found.values[0] == pytest.approx(0.2)
        assert found.values[2] == 0


@both
def test_one_chance_for_both_samples_is_refused(model: Model):
    with pytest.raises(SpecError, match="must have different chances") as caught:
        model(Sample(F(1, 4), 5, 10), Sample(F(2, 8), 6, 10))
    assert (caught.value.where, caught.value.got) == ("collected.p", "1/4 in both")


@pytest.mark.parametrize("reports", [0, 1])
def test_a_sample_without_two_reports_is_refused(reports):
    with pytest.raises(SpecError, match="at least two reports"):
        Sample(F(1, 4), 0, reports)


@pytest.mark.parametrize("yes", [-1, 11])
def test_more_yes_than_reports_is_refused_without_a_count(yes):
    with pytest.raises(SpecError, match="some of all reports") as caught:
        Sample(F(1, 4), yes, 10, "collected.second")
    assert caught.value.where == "collected.second"
    assert str(yes) not in str(caught.value)


@pytest.mark.parametrize("p", [F(-1, 4), F(5, 4)])
def test_a_chance_that_is_none_is_refused(p):
    with pytest.raises(SpecError, match="must be a probability") as caught:
        Sample(p, 5, 10)
    assert caught.value.where == "collected.p"
