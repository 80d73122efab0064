"""A pause of the garbage collector while a table's millions of cells are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_collecting"]


@contextmanager
def without_collecting() -> Iterator[None]:
    """Nothing; cells hold no cycles, and looking for some among millions takes a third of the time of reading them."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
