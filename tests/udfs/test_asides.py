from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from udfs.asides import Aside, NumberQuestion
from udfs.asking import respond
from udfs.categories import CategoryQuestion
from udfs.draws import fresh_draws
from udfs.errors import SchemaError
from udfs.tables import WEIGHT_RANGE, WEIGHT_UNIT, CrossTable

INFINITE, WEIGHTS = (
    "numbers that are not finite, or beyond 1e100",
    "weights below 0, or beyond what can be added up exactly",
)
LEAST, MOST = 1 / WEIGHT_RANGE, WEIGHT_RANGE
TYPES = [
    *(getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)),
    pa.float16(),
    pa.float32(),
    pa.float64(),
    pa.decimal128(10, 2),
    pa.decimal256(50, 2),
]
OTHER_TYPES = [
    pa.bool_(),
    pa.string(),
    pa.large_string(),
    pa.null(),
    pa.date32(),
    pa.timestamp("s"),
    pa.binary(8),
    pa.list_(pa.int64()),
    pa.dictionary(pa.int8(), pa.int64()),
]


def never(answers):
    raise AssertionError("nothing may be drawn for what is no secret")


def block_of(values, kind=None):
    """Return numbers as a block."""
    return pa.record_batch({"w": pa.array(values, kind or pa.float64())})


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_numbers_of_any_type_are_read_as_float64(kind):
    values = [Decimal(one) for one in (3, 0, 125)] if pa.types.is_decimal(kind) else [3, 0, 125]
    if pa.types.is_float16(kind):
        values = [np.float16(value) for value in values]
    question = NumberQuestion("w", weights=True)
    question.check_type(kind, "part-0")
    reading = question.read(block_of(values, kind))
    assert (reading.codes.dtype, reading.codes.tolist(), reading.faults) == (
        np.float64,
        [3.0, 0.0, 125.0],
        {},
    )
    missing = question.read(block_of([*values, None], kind).slice(1))
    assert missing.faults == {("w", "missing answers"): 1}


@pytest.mark.parametrize("kind", OTHER_TYPES, ids=str)
def test_a_column_that_holds_no_numbers_is_refused_by_place_name_and_type(kind):
    with pytest.raises(SchemaError, match="must hold numbers") as caught:
        NumberQuestion("w").check_type(kind, "part-0")
    assert (caught.value.where, caught.value.got) == ("part-0, column 'w'", f"type {kind}")


NUMBERS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    LEAST,
    np.nextafter(LEAST, 0),
    MOST,
    np.nextafter(MOST, math.inf),
    5e-324,
    1e308,
]
NUMBERS += [math.nan, math.inf, -math.inf, None]


@given(values=st.lists(st.sampled_from(NUMBERS) | st.floats(), max_size=30), weights=st.booleans())
@example(values=NUMBERS, weights=True)
@example(values=[0.0, LEAST, MOST], weights=True)
def test_what_cannot_be_used_is_counted_by_what_is_wrong_with_it(values, weights):
    found = NumberQuestion("w", weights).read(block_of(values))
    numbers = [value for value in values if value is not None]
    finite = [value for value in numbers if abs(value) <= 1e100]
    faults = {
        ("w", "missing answers"): len(values) - len(numbers),
        ("w", INFINITE): len(numbers) - len(finite),
        ("w", WEIGHTS): sum(weights and value != 0 and not LEAST <= value <= MOST for value in finite),
    }
    assert found.faults == {what: rows for what, rows in faults.items() if rows}
    if not found.faults:
        assert found.codes.tolist() == values


def test_faults_of_other_columns_are_not_looked_at():
    block = pa.record_batch({"v": [None, math.nan], "w": [1.0, 2.0]})
    assert NumberQuestion("w", weights=True).read(block).faults == {}


def test_no_number_and_no_answer_behind_an_aside_is_ever_drawn_for():
    asides = [(NumberQuestion("w", weights=True), Aside()), (CategoryQuestion("s", ("a", "b")), Aside())]
    block = pa.record_batch({"w": [0.5, 2.0], "s": ["b", "a"]})
    read = [respond(ask, block, never) for ask in asides]
    assert [one.reports.tolist() for one in read] == [[0.5, 2.0], [1, 0]]
    assert all(one.faults == {} for one in read)
    faulty = respond(asides[0], pa.record_batch({"w": [-1.0, 2.0]}), never)
    assert (faulty.reports, faulty.faults) == (None, {("w", WEIGHTS): 1})
    assert not Aside.draws
    assert not NumberQuestion("w").imputes
    numbers = np.array([1.0])
    assert NumberQuestion("w").impute(numbers, fresh_draws(1)) is numbers
    assert Aside().randomize(numbers, fresh_draws(1)) is numbers


@given(values=st.lists(st.just(0.0) | st.floats(LEAST, MOST), max_size=20))
def test_any_weights_that_are_read_can_be_added_up(values):
    """The least of them is far above the unit of sums, and so is its square."""
    weights = NumberQuestion("w", weights=True).read(block_of(values))
    assert weights.faults == {}
    table = CrossTable((0,), (1,), weight=1)
    counts = table.tally([np.zeros(len(values), dtype=np.uint8), weights.codes])[:, 0]
    assert counts[0] == np.count_nonzero(values)
    assert (counts[1] > 0) == (counts[2] > 0) == any(values)
    exact = sum(map(Fraction, values)) * WEIGHT_UNIT
    assert exact - len(values) <= counts[1] <= exact


def test_an_aside_is_added_up_by_tallies_alone_and_never_written():
    aside = Aside()
    values = np.array([0.5, 2.0])
    assert aside.tally(values).tolist() == aside.zeros().tolist() == []
    assert (aside.zeros() + aside.tally(values)).dtype == np.int64
    assert aside.thresholds() == {}
    for write in (lambda: aside.report_type(()), lambda: aside.to_arrow(values, ())):
        with pytest.raises(NotImplementedError, match="not written"):
            write()


def test_the_label_tells_numbers_and_weights_apart():
    questions = [NumberQuestion("w"), NumberQuestion("v"), NumberQuestion("w", weights=True)]
    assert len({question.label for question in questions}) == 3
    assert (questions[0].name, questions[0].parts, questions[0].labels) == ("w", (questions[0],), ())
