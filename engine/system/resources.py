"""Memory and processors: what is free goes back, the collector can be paused, and algebra keeps to one thread."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path

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


class _Setting:
    """A setting of the whole process that several threads may change at once: the last to leave restores it."""

    def __init__(self, change: Callable[[], Callable[[], object]]) -> None:
        """``change`` changes the setting, and returns what restores it."""
        self._change = change
        self._lock = threading.Lock()
        self._inside = 0
        self._restore: Callable[[], object] = bool

    @contextmanager
    def changed(self) -> Iterator[None]:
        """Yield a context in which the setting is changed."""
        with self._lock:
            if not self._inside:
                self._restore = self._change()
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._restore()


def _stop_collecting() -> Callable[[], object]:
    before = gc.isenabled()
    gc.disable()
    return gc.enable if before else bool


_COLLECTING = _Setting(_stop_collecting)


def without_collecting() -> AbstractContextManager[None]:
    """Return a context in which nothing is collected.

    Cells of tables hold no cycles, and looking for some among millions takes a third of the time of reading them.
    """
    return _COLLECTING.changed()


_PREFIXES = ("scipy_openblas", "openblas")
_SUFFIXES = ("64_", "")


def one_thread_for_algebra() -> None:
    """Ask for one thread in numpy's linear algebra, unless the user asked for a number; call it before numpy loads.

    Our matrices are small: on a busy machine the threads' waiting costs up to 27 times the work they share.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def algebra_on_one_thread() -> AbstractContextManager[None]:
    """Return a context in which the linear algebra of numpy and scipy uses one thread; then as many as before.

    For a library call in a program whose threads were set by others, such as a notebook. Does nothing where that linear
    algebra is not OpenBLAS.
    """
    return _ALGEBRA.changed()


def _take_one_thread() -> Callable[[], object]:
    before = [(put, get()) for get, put in _libraries()]
    for put, _ in before:
        put(1)
    return lambda: [put(count) for put, count in before]


_ALGEBRA = _Setting(_take_one_thread)


@cache
def _libraries() -> tuple[tuple[Callable[[], int], Callable[[int], None]], ...]:
    """Return what reads and what sets the number of threads of each OpenBLAS that numpy and scipy brought with them."""
    import numpy
    import scipy

    found = []
    for module in (numpy, scipy):
        package = Path(module.__path__[0])
        for folder in (package.with_name(f"{package.name}.libs"), package / ".dylibs"):
            for path in sorted(folder.glob("*openblas*")):
                functions = _functions(path)
                if functions is not None:
                    found.append(functions)
    return tuple(found)


def _functions(path: Path) -> tuple[Callable[[], int], Callable[[int], None]] | None:
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    for prefix in _PREFIXES:
        for suffix in _SUFFIXES:
            get = getattr(library, f"{prefix}_get_num_threads{suffix}", None)
            put = getattr(library, f"{prefix}_set_num_threads{suffix}", None)
            if get is not None and put is not None:
                get.restype, get.argtypes = ctypes.c_int, []
                put.restype, put.argtypes = None, [ctypes.c_int]
                return get, put
    return None
