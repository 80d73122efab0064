"""A rest of Python's collector while Qt goes through its lists of widgets."""

from __future__ import annotations

from contextlib import AbstractContextManager

from assaypilot.engine.system.collecting import without_collecting

__all__ = ["nothing_goes"]


def nothing_goes() -> AbstractContextManager[None]:
    """A context in which no widget is collected that Python alone knows of.

    Where Qt goes through a list of widgets and Python objects are made meanwhile, what Python threw away then, a part
    of a window closed long ago, would still be in that list: the program would end. That a table was read meanwhile in
    another thread, and its own pause ends, must not end this one.
    """
    return without_collecting()
