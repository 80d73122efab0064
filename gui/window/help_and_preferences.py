"""Help, About and the preferences, as the menus open them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from assaypilot.engine.campaign.file.chain import user

from ..help.help_window import close_help, show_help, topic_at
from ..resources.theme import Choice, theme
from ..runtime.gc_policy import look_again_soon
from ..runtime.settings import Settings
from ..widgets.inputs import Form, Segments, combo_box
from ..widgets.layout import STRETCH, column_of, put, row_of, show_dialog
from ..widgets.text import button, label, polish
from .opening import main_windows

if TYPE_CHECKING:
    from .main_window import MainWindow


SIZES = (100, 110, 125, 150, 175, 200)
"""Text sizes to choose from, in per cent."""
COLOURS: tuple[tuple[Choice, str], ...] = (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))
LINES = 37
"""Width, in heights of a line."""


class PreferencesDialog(QDialog):
    """Settings that are made once."""

    theme_chosen = Signal(str)
    size_chosen = Signal(int)
    structures_chosen = Signal(bool)
    layout_forgotten = Signal()

    def __init__(self, settings: Settings, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.setWindowTitle("Preferences")
        column = column_of(label("Preferences", "title"), holder=self, margins=(22, 20, 22, 16), spacing=12)
        form = Form()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(10)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._look(form)
        self._work(form)
        put(column, form, STRETCH)
        row = row_of()
        self.forget = button(
            "&Forget the layout",
            tip="Sizes of windows and panels, and columns, as they were at first",
            then=self._forget,
        )
        self.close_button = button("Close", "go")
        self.close_button.setDefault(True)
        self.close_button.clicked.connect(self.accept)
        put(row, self.forget, STRETCH, self.close_button)
        column.addLayout(row)
        self.done_ = label("", "muted", wrap=True)
        column.addWidget(self.done_)
        self.done_.hide()
        theme().changed.connect(self._fit)
        self._fit()

    # ------------------------------------------------------------------ parts

    def _look(self, form: QFormLayout) -> None:
        self.colours = Segments(COLOURS, "Colours")
        self.colours.choose(self._settings.theme)
        self.colours.chosen.connect(self.theme_chosen)
        self.text_size = combo_box("Text size")
        for percent in SIZES:
            self.text_size.addItem(f"{percent} %", percent)
        nearest = min(range(len(SIZES)), key=lambda place: abs(SIZES[place] - self._settings.text_size))
        self.text_size.setCurrentIndex(nearest)
        self.text_size.activated.connect(lambda _: self.size_chosen.emit(self.text_size.currentData()))
        self.structures = QCheckBox("&Draw structures (otherwise: SMILES)")
        self.structures.setChecked(self._settings.structures)
        self.structures.toggled.connect(self.structures_chosen)
        form.addRow(label("Colours"), self.colours)
        form.addRow(_caption("Te&xt size", self.text_size), _in_row(self.text_size))
        form.addRow(label("Structures"), self.structures)

    def _work(self, form: QFormLayout) -> None:
        self.folder = QLineEdit("" if self._settings.campaigns is None else str(self._settings.campaigns))
        self.folder.setAccessibleName("Folder for new campaigns")
        self.folder.setPlaceholderText("the folder of their table")
        self.folder.setClearButtonEnabled(True)
        self.folder.textChanged.connect(lambda _: self._keep_folder())
        self.browse = button("&Choose…", then=self._browse)
        self.folder_problem = label("", "problem", wrap=True)
        self.folder_problem.hide()
        self.author = QLineEdit(self._settings.author)
        self.author.setAccessibleName("Name in the log")
        self.author.setPlaceholderText(user())
        self.author.setMaxLength(120)
        self.author.setClearButtonEnabled(True)
        self.author.editingFinished.connect(self._keep_author)
        form.addRow(
            _caption("&New campaigns in", self.folder), _in_row(self.folder, self.browse, under=self.folder_problem)
        )
        note = label("Counts for campaigns opened or made from now on.", "muted", wrap=True)
        form.addRow(_caption("Name in the &log", self.author), _in_row(self.author, under=note))

    # ------------------------------------------------------------------ keeping

    def _keep_folder(self) -> None:
        text = self.folder.text().strip()
        there = not text or Path(text).is_dir()
        self.folder_problem.setText("" if there else "There is no such folder; the last one stays.")
        self.folder_problem.setVisible(not there)
        polish(self.folder, wrong="false" if there else "true")
        if there:
            self._settings.campaigns = Path(text) if text else None

    def _browse(self) -> None:
        before = self.folder.text() or str(self._settings.folder)
        name = QFileDialog.getExistingDirectory(self, "Folder for new campaigns", before)
        if name:
            self.folder.setText(name)

    def _keep_author(self) -> None:
        self._settings.author = " ".join(self.author.text().split())

    def _fit(self) -> None:
        """As large as the text needs: the height of wrapped lines depends on a width."""
        arranged = self.layout()
        if arranged is None:
            return
        arranged.activate()
        wide = max(LINES * self.fontMetrics().lineSpacing(), arranged.totalMinimumSize().width())
        self.setMinimumSize(wide, arranged.totalHeightForWidth(wide))
        self.resize(self.minimumSize())

    def _forget(self) -> None:
        self.layout_forgotten.emit()
        self.done_.setText("The layout is as it was at first.")
        self.done_.show()
        self._fit()

    def done(self, result: int) -> None:
        """Take the latest text, however the dialog is closed."""
        self._keep_author()
        super().done(result)


def _caption(text: str, for_: QWidget) -> QLabel:
    made = label(text)
    made.setBuddy(for_)
    return made


def _in_row(first: QWidget, *others: QPushButton, under: QWidget | None = None) -> QWidget:
    """Widgets in a row, with a line of words under them."""
    holder = QWidget()
    column = column_of(holder=holder, spacing=3)
    row = row_of((first, 1 if isinstance(first, QLineEdit) else 0))
    for other in others:
        row.addWidget(other)
    if not isinstance(first, QLineEdit):
        row.addStretch(1)
    column.addLayout(row)
    if under is not None:
        column.addWidget(under)
    return holder


NARROWEST, AROUND = 122, 46
"""Pixels of the navigation at least, and in addition to its longest name."""
FIRST_SIZE, FIRST_PARTS = (1280, 800), (230, 360)
"""Initial pixels of a window, and of the picture and the table of the Candidates page."""


class HelpAndPreferences(QObject):
    """The Help menu of a window, and its preferences."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.preferences: PreferencesDialog | None = None
        """The preferences while they are open."""

    def follow(self) -> None:
        """Apply the preferences to the window, now and when they change."""
        self._window.structures.switch(self._window.settings.structures)
        theme().changed.connect(self._fit)
        self._fit()

    def closing(self) -> None:
        """Close the help with the last window."""
        if any(one.isVisible() for one in main_windows() if one is not self._window):
            look_again_soon()
        else:
            close_help()

    def help(self) -> None:
        """Open the help at the page shown or the panel where the keyboard is."""
        window = self._window
        focus = window.focusWidget()
        page = window.stack.currentWidget()
        around = (page, window.tour.card)
        inside = focus is not None and any(one is not None and one.isAncestorOf(focus) for one in around)
        show_help(topic_at(focus if inside else page))

    def topic(self, key: str) -> None:
        """Open the help at a topic."""
        show_help(key)

    def about(self) -> None:
        """Name, versions, licence."""
        from ..help.about import AboutDialog

        show_dialog(AboutDialog(self._window))

    def ask_preferences(self) -> None:
        """Open the preferences."""
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
        show_dialog(dialog)

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
        """Make the navigation as wide as its longest name, however large the text is."""
        names = self._window.navigation.findChildren(QPushButton)
        bold = QFont(self._window.font())
        bold.setBold(True)  # as that of the page that is shown
        widest = max(map(QFontMetrics(bold).horizontalAdvance, (made.text() for made in names)))
        self._window.navigation.setFixedWidth(max(NARROWEST, widest + AROUND))

    def _closed(self) -> None:
        self.preferences = None
