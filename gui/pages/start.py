"""What is seen while no campaign is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from assaypilot.gui.models.base import plain_tip
from assaypilot.gui.widgets.text import button, label, mnemonic_free

__all__ = ["StartPage"]

STEPS = (
    ("Bring a table", "Compounds with R1, R2, … as csv or pasted from a spreadsheet; values you have are history."),
    ("Say what is wanted", "How close to the best, how sure, how noisy the assay is, how much a round can take."),
    ("Measure what is asked", "Each round is a fixed list. Type, paste or read the results."),
    ("Stop when it is settled", "Every compound is in, out or undecided, with the bounds that decided it."),
)


class StartPage(QWidget):
    """Open a table, a campaign, or the practice campaign."""

    new = Signal()
    open = Signal()
    practice = Signal()
    recent = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        outer = QHBoxLayout(self)
        outer.addStretch(1)
        column = QVBoxLayout()
        column.setSpacing(12)
        column.addStretch(2)
        column.addWidget(label("Which compounds next, and when to stop", "big"))
        said = label(
            "AssayPilot plans each round of measurements, keeps every result, and says which compounds are within "
            "reach of the best, with how much confidence.",
            "muted",
            wrap=True,
        )
        column.addWidget(said)
        row = QHBoxLayout()
        row.setSpacing(10)
        self.new_button = button("Open &table…", "primary", "Start a new campaign from a table of compounds")
        self.open_button = button("Open &campaign…")
        self.practice_button = button("Try the &practice campaign", tip="960 synthetic compounds, a simulated assay")
        for made, signal in (
            (self.new_button, self.new),
            (self.open_button, self.open),
            (self.practice_button, self.practice),
        ):
            made.setMinimumHeight(36)
            made.clicked.connect(signal)
            row.addWidget(made)
        row.addStretch(1)
        column.addSpacing(6)
        column.addLayout(row)
        column.addSpacing(18)
        for number, (heading, text) in enumerate(STEPS, start=1):
            line = QHBoxLayout()
            line.setSpacing(12)
            place = label(f"{number}", "muted")
            place.setFixedWidth(16)
            line.addWidget(place, 0, Qt.AlignmentFlag.AlignTop)
            words = QVBoxLayout()
            words.setSpacing(1)
            words.addWidget(label(heading, "heading"))
            words.addWidget(label(text, "muted", wrap=True))
            line.addLayout(words, 1)
            column.addLayout(line)
        column.addSpacing(14)
        self.card = QFrame()
        self.card.setObjectName("card")
        self._files = QVBoxLayout(self.card)
        self._files.setContentsMargins(14, 10, 14, 10)
        self._files.setSpacing(2)
        self._files.addWidget(label("Recent campaigns", "muted"))
        column.addWidget(self.card)
        column.addWidget(label("Or drop a table or a campaign here.", "muted"))
        column.addStretch(3)
        holder = QWidget()
        holder.setLayout(column)
        holder.setFixedWidth(680)
        outer.addWidget(holder)
        outer.addStretch(1)
        self._links: list[QPushButton] = []
        self.show_recent([])

    def show_recent(self, paths: Sequence[Path]) -> None:
        """Nothing; lists campaigns opened before."""
        for made in self._links:
            made.hide()
            made.deleteLater()
        self._links = []
        for path in paths[:5]:
            made = button(mnemonic_free(path.stem), "link", plain_tip(str(path)))
            made.clicked.connect(lambda _=False, text=str(path): self.recent.emit(text))
            self._files.addWidget(made, 0, Qt.AlignmentFlag.AlignLeft)
            self._links.append(made)
        self.card.setVisible(bool(self._links))
