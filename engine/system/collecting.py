"""A pause of Python's garbage collector, which may be asked for in several threads at once."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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
