from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.errors import SpecError
from udfs.field_designs import (
    DESIGNS,
    MOST_REPETITIONS,
    FieldDesign,
    crosswise,
    forced_response,
    kuk,
    mangat,
    matrix,
    triangular,
    unrelated_question,
    warner,
)

F = Fraction
SOME_OF_EACH = [
    warner(".7"),
    warner(1),
    forced_response("2/3", "1/6", "1/6"),
    forced_response(".7", ".3", 0),
    unrelated_question(".5", "1/12"),
    unrelated_question(".5", 1),
    crosswise(".25"),
    kuk(".8", ".2"),
    kuk(".8", ".3", repetitions=4),
    triangular(".25"),
    mangat(".6"),
    matrix([["1/2", "1/8", "1/6"], ["1/4", "3/4", "1/6"], ["1/4", "1/8", "2/3"]]),
    matrix([["1/2", "1/8"], ["1/4", "1/8"], ["1/4", "3/4"]]),
]
by_label = pytest.mark.parametrize("design", SOME_OF_EACH, ids=lambda design: design.label)
probabilities = st.fractions(0, 1, max_denominator=60)


@pytest.mark.parametrize(
    ("design", "epsilon"),
    [
        (warner(".7"), math.log(7 / 3)),
        (forced_response("2/3", "1/6", "1/6"), math.log(5)),
        (crosswise(".25"), math.log(3)),
        (kuk(".8", ".2"), math.log(4)),
        (kuk(".8", ".2", repetitions=3), 3 * math.log(4)),
        (unrelated_question(".5", ".25"), math.log(5)),
        (matrix([["1/2", "1/4"], ["1/2", "3/4"]]), math.log(2)),
    ],
    ids=lambda value: value.label if isinstance(value, FieldDesign) else "",
)
def test_the_epsilon_of_a_design_is_its_largest_log_ratio(design, epsilon):
    assert float(design.epsilon) == pytest.approx(epsilon, rel=1e-11)


@pytest.mark.parametrize(
    "design",
    [triangular(".25"), mangat(".6"), warner(0), forced_response(".7", ".3", 0), unrelated_question(".5", 0)],
    ids=lambda design: design.label,
)
def test_a_report_that_rules_an_answer_out_has_no_privacy(design):
    assert design.epsilon == Decimal("Infinity")


def test_the_epsilon_of_a_ratio_beyond_all_floats_is_told_too():
    many = kuk(1 - F(1, 10**9), F(1, 10**9), repetitions=MOST_REPETITIONS)
    assert float(many.epsilon) == pytest.approx(MOST_REPETITIONS * math.log(10**9 - 1), rel=1e-11)


def test_the_second_report_is_that_of_the_sensitive_answer_in_the_words_of_each_design():
    p, alpha = F(1, 3), F(1, 5)
    expected = {
        warner(p): (1 - p, p),
        forced_response("1/2", "1/3", "1/6"): (F(1, 3), F(5, 6)),
        unrelated_question(p, alpha): ((1 - p) * alpha, p + (1 - p) * alpha),
        crosswise(p): (1 - p, p),
        kuk(p, alpha): (alpha, p),
        triangular(p): (p, F(1)),
        mangat(p): (1 - p, F(1)),
    }
    for design, second in expected.items():
        assert design.law[1] == second, design.label
        assert design.law[0] == tuple(1 - entry for entry in second)
    assert {design.name for design in expected} == set(DESIGNS) - {"matrix"}


def test_repeated_draws_from_kuks_decks_are_binomial():
    p, q = F(4, 5), F(3, 10)
    law = kuk(p, q, repetitions=3).law
    assert [row[1] for row in law] == [(1 - p) ** 3, 3 * p * (1 - p) ** 2, 3 * p**2 * (1 - p), p**3]
    assert [row[0] for row in law] == [(1 - q) ** 3, 3 * q * (1 - q) ** 2, 3 * q**2 * (1 - q), q**3]


@by_label
def test_a_single_reports_own_estimate_is_unbiased(design):
    estimates = np.array([design.estimate(one, 1).shares for one in np.eye(design.features, dtype=np.int64)])
    expected = np.array(design.law, dtype=np.float64).T @ estimates
    assert expected == pytest.approx(np.eye(design.cells), abs=1e-12)


@given(probabilities, probabilities)
def test_every_yes_no_design_that_is_not_refused_is_unbiased(p, alpha):
    for make, parameters in [
        (warner, (p,)),
        (unrelated_question, (p, alpha)),
        (kuk, (p, alpha)),
        (mangat, (p,)),
    ]:
        try:
            design = make(*parameters)
        except SpecError:
            continue
        scores = design.inverse[1]
        for answer in (0, 1):
            chances = [float(row[answer]) for row in design.law]
            assert chances @ scores == pytest.approx(answer, abs=1e-9)


@by_label
def test_the_label_tells_name_and_parameters_and_a_design_pickles(design):
    assert design.label.startswith(f"{design.name} ")
    assert design.label.isprintable()
    again = pickle.loads(pickle.dumps(design))
    assert (again, again.label, again.law, again.cells) == (
        design,
        design.label,
        design.law,
        len(design.law[0]),
    )


def test_labels_differ_wherever_laws_do():
    laws = {design.label: design.law for design in SOME_OF_EACH}
    assert len(laws) == len(SOME_OF_EACH)
    assert crosswise(".25").label == crosswise("1/4").label == "crosswise p=1/4"
    assert kuk(".8", ".2", repetitions=2).label == "kuk p_sensitive=4/5 p_other=1/5 repetitions=2"
    assert matrix([["1/2", ".25"], [0.5, Decimal("0.75")]]).label == "matrix 1/2 1/4 ; 1/2 3/4"


SINGULAR: list[tuple[str, dict[str, Any], str]] = [
    ("warner", {"p": ".5"}, "p"),
    ("crosswise", {"p": "1/2"}, "p"),
    ("forced-response", {"p": 0, "forced_yes": ".5", "forced_no": ".5"}, "p"),
    ("unrelated-question", {"p": 0, "alpha": ".5"}, "p"),
    ("kuk", {"p_sensitive": ".3", "p_other": ".3"}, "p_sensitive"),
    ("kuk", {"p_sensitive": ".3", "p_other": ".3", "repetitions": 3}, "p_sensitive"),
    ("triangular", {"p": 1}, "p"),
    ("mangat", {"p": 0}, "p"),
    ("matrix", {"rows": [["1/2", "1/2"], ["1/2", "1/2"]]}, "rows"),
    ("matrix", {"rows": [[1, 1]]}, "rows"),
]


@pytest.mark.parametrize(("name", "parameters", "option"), SINGULAR)
def test_a_design_whose_reports_do_not_depend_on_the_answer_is_refused_by_option(name, parameters, option):
    with pytest.raises(SpecError, match="must be invertible") as caught:
        DESIGNS[name](**parameters, where="collected")
    assert caught.value.where == f"collected.{option}"


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("warner", {"p": ".7"}),
        ("forced-response", {"p": "2/3", "forced_yes": "1/6", "forced_no": "1/6"}),
        ("unrelated-question", {"p": ".5", "alpha": "1/12"}),
        ("crosswise", {"p": ".25"}),
        ("kuk", {"p_sensitive": ".8", "p_other": ".2"}),
        ("triangular", {"p": ".25"}),
        ("mangat", {"p": ".6"}),
    ],
)
def test_every_option_of_every_design_is_named_where_it_is_wrong(name, good):
    assert DESIGNS[name](**good).name == name
    for option in good:
        with pytest.raises(SpecError) as caught:
            DESIGNS[name](**{**good, option: "1.5"}, where="survey.design")
        assert caught.value.where == f"survey.design.{option}"


def test_decimals_that_do_not_quite_sum_to_one_are_refused_with_the_remedy():
    with pytest.raises(SpecError, match='Write fractions such as "1/3"') as caught:
        forced_response(0.667, 0.167, 0.167)
    assert (caught.value.where, caught.value.got) == ("collected.p", "a sum of 1001/1000")
    with pytest.raises(SpecError, match='Write fractions such as "1/3"') as caught:
        matrix([[0.9, 0.333], [0.1, 0.666]])
    assert (caught.value.where, caught.value.got) == ("collected.rows", "a sum of 999/1000 in column 1")


@pytest.mark.parametrize("rows", [[], [[]], [[1], [0]], [["1/2", "1/2"], ["1/2"]]])
def test_a_matrix_of_another_shape_is_refused(rows):
    with pytest.raises(SpecError, match="rows must be of one length"):
        matrix(rows)


def test_an_entry_of_a_matrix_is_named_by_row_and_column():
    with pytest.raises(SpecError) as caught:
        matrix([[1, 0], [0, "x"]])
    assert caught.value.where == "collected.rows[1][1]"


def test_a_report_that_nobody_gives_is_refused():
    with pytest.raises(SpecError, match="every report must be possible"):
        matrix([[1, 0], [0, 1], [0, 0]])
    with pytest.raises(SpecError, match="every report must be possible"):
        kuk(1, 0, repetitions=2)


@pytest.mark.parametrize("repetitions", [0, -1, MOST_REPETITIONS + 1, True, 2.0, "2"])
def test_a_number_of_draws_that_is_none_is_refused(repetitions):
    with pytest.raises(SpecError, match="whole number") as caught:
        kuk(".8", ".2", repetitions=repetitions)
    assert caught.value.where == "collected.repetitions"


def test_a_law_given_directly_is_checked_too():
    with pytest.raises(SpecError, match="must sum to one"):
        FieldDesign("odd", "", ((F(1, 2), F(0)), (F(1, 3), F(1))), "law")
    with pytest.raises(SpecError, match="must be a probability"):
        FieldDesign("odd", "", ((F(3, 2), F(0)), (F(-1, 2), F(1))), "law")
