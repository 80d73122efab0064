"""Memory that is free goes back to the system, instead of staying with each thread that once used it."""

from __future__ import annotations

import ctypes
import os
import sys

_SETTINGS = (
    ("MALLOC_ARENA_MAX", -8, 2),
    ("MALLOC_MMAP_THRESHOLD_", -3, 16 << 20),
    ("MALLOC_TRIM_THRESHOLD_", -1, 32 << 20),
)
"""Of glibc's allocator: the variable that sets it in a new process, its number for mallopt, and what is wanted.

Arrays of up to 16 MB are kept for the next one: asking the system for each anew doubles the time of the series model.
"""


def give_memory_back() -> bool:
    """Whether it was set, here and for processes started from now on; only glibc has such settings.

    Its allocator keeps pools of its own for up to eight threads a core, and does not hand back what their threads left
    unused: about a seventh of the memory of a window that works in several threads. What somebody set already stays.
    """
    if not sys.platform.startswith("linux"):
        return False
    for name, _, value in _SETTINGS:
        os.environ.setdefault(name, str(value))
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another C library
        return False
    return all(mallopt(number, int(os.environ[name])) == 1 for name, number, _ in _SETTINGS)
