from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.errors import ProtocolError
from udfs.hexadecimal import number_from_hex


@given(st.integers(0, 1 << 4096))
def test_a_number_is_the_same_after_hexadecimal_digits(number):
    assert number_from_hex(f"{number:x}", "here") == number


@pytest.mark.parametrize("text", ["", "0x1", "1_0", "-1", "+1", " 1", "1\n", "G", "A", "١", 1, None, ["1"]])
def test_what_is_no_hexadecimal_number_is_refused(text):
    with pytest.raises(ProtocolError, match=r"^here: must have its numbers in hexadecimal digits; got "):
        number_from_hex(text, "here")
