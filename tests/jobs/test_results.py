from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from jobs.results import encode, plain


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf")])
def test_a_number_that_is_not_finite_is_null(number: float) -> None:
    assert encode(number) == b"null\n"


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e309"])
def test_a_decimal_that_json_cannot_hold_is_null(text: str) -> None:
    assert encode(Decimal(text)) == b"null\n"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Decimal("0.1") + Decimal("0.2"), 0.3),
        (Decimal(2), 2.0),
        (np.float32(0.5), 0.5),
        (np.float64(0.1), 0.1),
        (np.int64(-3), -3),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.array([[1.0, np.nan], [np.inf, 0.25]]), [[1.0, None], [None, 0.25]]),
        (np.array([1, 2], dtype=np.uint8), [1, 2]),
        (np.array([True, False]), [True, False]),
        (np.bool_(True), True),
        ((1, (2.5, None)), [1, [2.5, None]]),
        ({1: "a", None: True}, {"1": "a", "None": True}),
        (True, True),
        ('é\n"<70"', 'é\n"<70"'),
    ],
)
def test_a_value_is_encoded_as_json_has_it(value: Any, expected: Any) -> None:
    decoded = json.loads(encode(value))
    assert (decoded, type(decoded)) == (expected, type(expected))


def test_what_is_nested_is_plain_to_its_depths() -> None:
    nested = plain({"a": [{"b": (np.float64("nan"), Decimal("0.5"), np.arange(2))}]})
    assert nested == {"a": [{"b": [None, 0.5, [0, 1]]}]}


def test_a_document_is_one_utf8_text_that_ends_its_last_line() -> None:
    assert encode({"café": 1}) == '{\n "café": 1\n}\n'.encode()


def test_what_json_has_no_room_for_is_an_error() -> None:
    with pytest.raises(TypeError):
        encode({"secret": object()})
