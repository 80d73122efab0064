"""A rest of Python's collector while Qt goes through its lists of widgets."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["nothing_goes"]


@contextmanager
def nothing_goes() -> Iterator[None]:
    """A context in which no widget is collected that Python alone knows of.

    Where Qt goes through a list of widgets and Python objects are made meanwhile, what Python threw away then, a part
    of a window closed long ago, would still be in that list: the program would end.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
