"""Random bytes that a test writes down."""

from __future__ import annotations

from collections.abc import Sequence


class ScriptedBytes:
    """A source of random bytes that is given as words of 64 bits: a list for each call, in order.

    Parameters
    ----------
    calls : sequences of int
        A call that asks for another number of words is an error.
    """

    def __init__(self, *calls: Sequence[int]) -> None:
        self._calls = list(calls)

    def __call__(self, size: int) -> bytes:
        words = self._calls.pop(0)
        assert size == 8 * len(words)
        return b"".join(word.to_bytes(8, "little") for word in words)

    @property
    def is_used_up(self) -> bool:
        return not self._calls
