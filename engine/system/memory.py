"""Memory: what is free goes back to the system, and the garbage collector can be paused."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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


_lock = threading.Lock()
_pauses = 0
_before = True
"""Whether it was collecting before the first of the pauses that last."""


@contextmanager
def without_collecting() -> Iterator[None]:
    """Yield a context in which nothing is collected.

    The collector goes on when the last of all threads has left its own.

    Cells of tables hold no cycles, and looking for some among millions takes a third of the time of reading them.
    """
    global _pauses, _before
    with _lock:
        if not _pauses:
            _before = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if not _pauses and _before:
                gc.enable()
