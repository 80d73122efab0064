"""Memory and processors: what is free goes back, the collector can be paused, and algebra keeps to one thread."""

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

Arrays of up to 16 MB are kept for the next one: asking the system for each one doubles the time of the series model.
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


_LOCK = threading.Lock()
_INSIDE: list[bool] = []
"""Of each context below that is open, whether the collector was on when it began."""


@contextmanager
def without_collecting() -> Iterator[None]:
    """Yield a context in which nothing is collected, in no thread, until the last one leaves such a context.

    Cells of tables hold no cycles, and looking for some among millions takes a third of the time of reading them.
    """
    with _LOCK:
        _INSIDE.append(gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _LOCK:
            was = _INSIDE[0]
            _INSIDE.pop()
            if was and not _INSIDE:
                gc.enable()


def one_thread_for_algebra() -> None:
    """Ask for one thread in numpy's linear algebra, unless the user asked for a number; call it before numpy loads.

    Our matrices are small: on a busy machine the threads' waiting costs up to 27 times the work they share.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
