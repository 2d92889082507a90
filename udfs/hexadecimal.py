"""Whole numbers as hexadecimal digits, as keys, ciphertexts and proofs stand in JSON."""

from __future__ import annotations

import re

from udfs.errors import ProtocolError


def number_from_hex(text: object, where: str) -> int:
    """Return the number that a text of hexadecimal digits stands for; lower case, as f"{number:x}" writes it.

    Raises
    ------
    ProtocolError
        Naming `where`, for anything else.

    Examples
    --------
    >>> number_from_hex("1f", "keys/public.json")
    31
    """
    if not isinstance(text, str) or not re.fullmatch("[0-9a-f]+", text):
        raise ProtocolError(where, "must have its numbers in hexadecimal digits", type(text).__name__)
    return int(text, 16)
