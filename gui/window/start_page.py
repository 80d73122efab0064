"""The page while no campaign is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QScrollArea, QWidget

from ..tables.rows import plain_tip
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import button, label, mnemonic_free

STEPS = (
    ("Open a table", "structures, or R1, R2, …"),
    ("Set the goal", "within 0.5 log of the best, say"),
    ("Measure round by round", ""),
    ("Export the shortlist", ""),
)
LETTERS = 60
"""Width of the column, in average letters."""
NARROWEST = 400
"""Pixels of it in a small window with large text."""


class StartPage(QWidget):
    """Open a table, a campaign, the practice campaign, or the guided tour through it."""

    new = Signal()
    open = Signal()
    practice = Signal()
    tour = Signal()
    recent = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = column_of(margins=(9, 9, 9, 9), spacing=12)
        column.addStretch(2)
        column.addWidget(label("Start or continue a campaign", "big", wrap=True))
        column.addSpacing(6)
        column.addLayout(self._ways())
        column.addSpacing(14)
        for number, (heading, text) in enumerate(STEPS, start=1):
            line = row_of(spacing=12)
            line.addWidget(label(f"{number}", "muted"), 0, Qt.AlignmentFlag.AlignTop)
            line.addWidget(label(heading, "heading"))
            line.addWidget(label(text, "muted", wrap=True), 1)
            column.addLayout(line)
        column.addSpacing(14)
        self.card = QFrame()
        self.card.setObjectName("card")
        self._files = column_of(
            label("Recent campaigns", "muted"), holder=self.card, margins=(14, 10, 14, 10), spacing=2
        )
        put(column, self.card, label("Or drop a table or a campaign here.", "muted"))
        column.addStretch(3)
        self._holder = QWidget()
        self._holder.setLayout(column)
        inner = QWidget()
        inner.setObjectName("page")
        middle = QHBoxLayout(inner)
        put(middle, STRETCH, self._holder, STRETCH)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(inner)
        column_of(scroll, holder=self)
        self._links: list[QPushButton] = []
        self._fit()
        self.show_recent([])

    def _ways(self) -> QGridLayout:
        """Return the ways in, two side by side, so that large text has its room."""
        self.new_button = button("Open &table…", "primary", "Start a new campaign from a table of compounds")
        self.open_button = button("Open &campaign…", tip="A campaign file that exists")
        self.tour_button = button("Take the &guided tour", tip="Five steps through the practice campaign")
        self.practice_button = button("Try the &practice campaign", tip="960 synthetic compounds, a simulated assay")
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(10)
        ways = (
            (self.new_button, self.new),
            (self.open_button, self.open),
            (self.tour_button, self.tour),
            (self.practice_button, self.practice),
        )
        for place, (made, signal) in enumerate(ways):
            made.clicked.connect(signal)
            made.setMinimumHeight(36)
            grid.addWidget(made, place // 2, place % 2)
        grid.setColumnStretch(2, 1)
        return grid

    def show_recent(self, paths: Sequence[Path]) -> None:
        """List campaigns opened before."""
        for made in self._links:
            made.hide()
            made.deleteLater()
        self._links = []
        for path in paths[:5]:
            made = button(
                mnemonic_free(path.stem),
                "link",
                plain_tip(str(path)),
                then=lambda _=False, text=str(path): self.recent.emit(text),
            )
            self._files.addWidget(made, 0, Qt.AlignmentFlag.AlignLeft)
            self._links.append(made)
        self.card.setVisible(bool(self._links))

    def changeEvent(self, event: QEvent) -> None:
        """Make the column as wide as its text is large."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        wide = LETTERS * self.fontMetrics().averageCharWidth()
        self._holder.setMaximumWidth(wide)
        self._holder.setMinimumWidth(min(wide, NARROWEST))
