"""When Python's collector may look through the objects of the window."""

from __future__ import annotations

import gc
import time
from contextlib import AbstractContextManager

from PySide6.QtCore import QCoreApplication, QTimer

from assaypilot.engine.system.resources import without_collecting


def nothing_goes() -> AbstractContextManager[None]:
    """Return a context in which no widget is collected that only Python refers to.

    While Qt goes through a list of widgets, Python must not collect any of them. One that it collected, a part
    of a window closed long ago, would still be in that list, and the program would crash. A pause that ends in
    another thread, after reading a table, must not end this one.
    """
    return without_collecting()


LATER = 1_000
"""Milliseconds after a window was closed."""
LONG = 0.01
"""Seconds of a collection above which most objects are values of a campaign: without cycles, and there to stay."""
MOST = 300_000
"""Objects that are looked through once more when a window has gone; the rows of a large table are not."""


_aside = False
"""Whether anything was frozen; the collector's own answer counts all objects, which takes noticeable time."""


def set_aside() -> None:
    """Treat all current objects as permanent."""
    global _aside
    _aside = True
    gc.freeze()


def look_again_soon() -> None:
    """Collect a closed window while others stay open: it was treated as permanent."""
    application = QCoreApplication.instance()
    if application is not None and _aside:
        QTimer.singleShot(LATER, application, look_again)


def look_again() -> None:
    """Collect what was set aside and is not needed any more; set the rest aside again."""
    if 0 < gc.get_freeze_count() <= MOST:
        gc.unfreeze()
        gc.collect()
        gc.freeze()


def figure_gone() -> None:
    """Collect the ten thousand objects of a figure that has become a picture.

    Left alone they would wait until there are many, and then stop the window for a tenth of a second. To be called on
    the window's thread: parts of closed windows may go with them.
    """
    if _aside:
        begun = time.perf_counter()
        gc.collect()
        # Not by their number: listing the objects breaks a tuple that another thread is just filling.
        if time.perf_counter() - begun > LONG:
            set_aside()
