"""How many threads linear algebra uses."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_PREFIXES = ("scipy_openblas", "openblas")
_SUFFIXES = ("64_", "")

_lock = threading.Lock()
_inside = 0
_before: list[int] = []


def one_thread_for_algebra() -> None:
    """Ask for one thread in numpy's linear algebra, unless the user asked for a number; call it before numpy loads.

    Our matrices are small: on a busy machine the threads' waiting costs up to 27 times the work they share.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


@contextmanager
def algebra_on_one_thread() -> Iterator[None]:
    """Inside, the linear algebra that comes with numpy and scipy uses one thread; then as many as before.

    For a library call in a program whose threads were set by others, such as a notebook. Several at once are counted,
    and the last to leave restores. Does nothing where that linear algebra is not OpenBLAS.
    """
    global _inside
    with _lock:
        if _inside == 0:
            _before[:] = [get() for get, _ in _libraries()]
            for _, put in _libraries():
                put(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                for count, (_, put) in zip(_before, _libraries(), strict=True):
                    put(count)


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
