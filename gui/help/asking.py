"""F1: the help opens at the topic of what is shown, in the window and in every dialog."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from ..keys import keys
from .topics import HOME, topic_of
from .window import HelpWindow

__all__ = ["close_help", "help_window", "listen", "show_help", "topic_at"]

_window: HelpWindow | None = None
_listening = False


def topic_at(widget: QWidget | None) -> str:
    """The topic of the nearest page, panel or dialog around a widget; that of the whole journey when there is none."""
    while widget is not None:
        key = topic_of(widget)
        if key is not None:
            return key
        widget = widget.parentWidget()
    return HOME


def show_help(topic: str = HOME) -> HelpWindow:
    """The help window, in front, at a topic."""
    global _window
    if _window is None:
        _window = HelpWindow()
    _window.show_topic(topic)
    _window.show()
    _window.raise_()
    _window.activateWindow()
    return _window


def help_window() -> HelpWindow | None:
    """The help window, if it was ever opened."""
    return _window


def close_help() -> None:
    """The last campaign window goes: so does the help."""
    global _window
    if _window is not None:
        _window.close()
        _window.deleteLater()
        _window = None


def listen(application: QApplication) -> None:
    """From now on F1 works in dialogs, too: a menu's key does not reach one that has the keyboard."""
    global _listening
    if not _listening:
        _listening = True
        application.focusChanged.connect(_focus_moved)


def _focus_moved(_: QWidget | None, now: QWidget | None) -> None:
    dialog = None if now is None else now.window()
    if not isinstance(dialog, QDialog) or dialog.findChild(QShortcut, "help") is not None:
        return
    key = QShortcut(QKeySequence.StandardKey.HelpContents, dialog)
    key.setKeys(keys(QKeySequence.StandardKey.HelpContents, "F1"))  # on a Mac the first is Cmd+?
    key.setObjectName("help")

    def asked() -> None:
        focus = QApplication.focusWidget()
        inside = focus is not None and dialog.isAncestorOf(focus)
        show_help(topic_at(focus if inside else dialog))

    key.activated.connect(asked)
