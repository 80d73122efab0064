"""What a window offers beside the campaign: help, about, preferences, and what those change at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QDialog, QPushButton

from ..help.asking import close_help, show_help, topic_at
from ..long_lived import look_again_soon
from ..theme import theme
from .windows import main_windows

if TYPE_CHECKING:
    from ..dialogs.preferences import PreferencesDialog
    from .main_window import MainWindow

__all__ = ["Manners"]

NARROWEST, AROUND = 122, 46
"""Pixels of the navigation at least, and beside its longest name."""
FIRST_SIZE, FIRST_PARTS = (1280, 800), (230, 360)
"""Pixels of a window, and of the picture and the table of the Candidates page, before anybody moved them."""


class Manners(QObject):
    """The Help menu of a window, and its preferences."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.preferences: PreferencesDialog | None = None
        """The preferences while they are open."""

    def follow(self) -> None:
        """The window is as the preferences say, now and when they change."""
        self._window.structures.switch(self._window.settings.structures)
        theme().changed.connect(self._fit)
        self._fit()

    def closing(self) -> None:
        """The window goes: the help goes with the last one."""
        if any(one.isVisible() for one in main_windows() if one is not self._window):
            look_again_soon()
        else:
            close_help()

    def help(self) -> None:
        """The help, at the page that is shown or the panel where the keyboard is."""
        window = self._window
        focus = window.focusWidget()
        page = window.stack.currentWidget()
        around = (page, window.tour.card)
        inside = focus is not None and any(one is not None and one.isAncestorOf(focus) for one in around)
        show_help(topic_at(focus if inside else page))

    def topic(self, key: str) -> None:
        """The help, at a topic."""
        show_help(key)

    def about(self) -> None:
        """Name, versions, licence."""
        from ..dialogs.about import AboutDialog

        self._open(AboutDialog(self._window))

    def ask_preferences(self) -> None:
        """Open the preferences."""
        from ..dialogs.preferences import PreferencesDialog

        if self.preferences is not None:
            return
        window = self._window
        dialog = PreferencesDialog(window.settings, window)
        dialog.theme_chosen.connect(window.choose_theme)
        dialog.size_chosen.connect(self.enlarge)
        dialog.structures_chosen.connect(self.draw_structures)
        dialog.layout_forgotten.connect(self.forget_layout)
        dialog.finished.connect(self._closed)
        self.preferences = dialog
        self._open(dialog)

    def enlarge(self, percent: int) -> None:
        """All text in this size, at once and from now on."""
        self._window.settings.text_size = percent
        theme().enlarge(percent)

    def draw_structures(self, drawn: bool) -> None:
        """Structures are drawn in all windows, or nowhere."""
        self._window.settings.structures = drawn
        for window in main_windows():
            window.structures.switch(drawn)

    def forget_layout(self) -> None:
        """Windows, panels and columns as they were at first."""
        self._window.settings.forget_layouts()
        for window in main_windows():
            window.resize(*FIRST_SIZE)
            window.candidates.split.setSizes(list(FIRST_PARTS))
            window.tables.forget()

    def _fit(self) -> None:
        """The navigation holds its longest name, however large the text is."""
        names = self._window.navigation.findChildren(QPushButton)
        bold = QFont(self._window.font())
        bold.setBold(True)  # as that of the page that is shown
        widest = max(map(QFontMetrics(bold).horizontalAdvance, (made.text() for made in names)))
        self._window.navigation.setFixedWidth(max(NARROWEST, widest + AROUND))

    def _open(self, dialog: QDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _closed(self) -> None:
        self.preferences = None
