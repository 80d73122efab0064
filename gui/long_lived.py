"""What stays as long as the program, libraries above all, is not looked through again and again for what could go.

Python's collector stops every thread while it looks through all there is: 80 ms once the libraries are loaded, a third
of that when it need not look through them.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QCoreApplication, QTimer

__all__ = ["figure_gone", "look_again", "look_again_soon", "set_aside"]

LATER = 1_000
"""Milliseconds after a window was closed."""
MANY = 100_000
"""Objects beside the libraries above which most are values of a campaign: without cycles, and there to stay."""
MOST = 300_000
"""Objects that are looked through once more when a window has gone; the rows of a large table are not."""


def set_aside() -> None:
    """What there is now is taken for what stays."""
    gc.freeze()


def look_again_soon() -> None:
    """A window goes while others stay: it was taken for what stays, and is looked for once it is gone."""
    application = QCoreApplication.instance()
    if application is not None and gc.get_freeze_count():
        QTimer.singleShot(LATER, application, look_again)


def look_again() -> None:
    """What was set aside and is not needed any more goes, the rest is set aside again."""
    if 0 < gc.get_freeze_count() <= MOST:
        gc.unfreeze()
        gc.collect()
        gc.freeze()


def figure_gone() -> None:
    """A figure has become a picture, and some ten thousand objects of it are thrown away.

    Left alone they would wait until there are many, and then stop the window for a tenth of a second. To be called on
    the window's thread: parts of closed windows may go with them.
    """
    if gc.get_freeze_count():
        gc.collect()
        if len(gc.get_objects()) > MANY:
            set_aside()
