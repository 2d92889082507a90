"""Keep freed memory between blocks.

glibc gives every freed array of more than 128 KiB back to the kernel and faults it in anew for the next
block: on block-sized temporaries that costs more than the arithmetic does.
"""

from __future__ import annotations

import ctypes
import functools
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's malloc.h
_KEPT_BYTES = 64 << 20


@functools.cache
def keep_freed_memory() -> bool:
    """Let this process keep up to 64 MiB of freed memory; once, and only where glibc allocates.

    Returns
    -------
    bool
        Whether it could be set.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _KEPT_BYTES // 2) and mallopt(_TRIM_THRESHOLD, _KEPT_BYTES))
