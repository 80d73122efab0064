"""What was measured of one compound, a line for each value: what is not used is struck through, with the reason."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from assaypilot.engine.campaign.reasons.reasons import OwnValue

from .breaking import breakable, copied
from .text import label, polish

__all__ = ["OwnValues", "line_of"]

MOST = 30
"""Lines shown; what is more is counted."""


def line_of(value: OwnValue, *, named: bool) -> str:
    """One value in words: ``7.31, round 2``, ``hERG 5.02, mean of 3, round 2``."""
    parts = [f"{value.endpoint} {value.value}" if named else value.value]
    if value.n > 1:
        parts.append(f"mean of {value.n}")
    return ", ".join([*parts, value.when])


class OwnValues(QWidget):
    """Lines of values; each can be selected and copied."""

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(3)
        self.lines: list[tuple[QLabel, QLabel]] = []
        """Of each line the value, and the note below it."""
        self.more = label("", "muted", wrap=True)
        self._column.addWidget(self.more)

    def show_values(self, values: Sequence[OwnValue], *, named: bool) -> None:
        """Show these; ``named``: which endpoint each is of is said."""
        shown = values[:MOST]
        while len(self.lines) < len(shown):
            pair = (label("", wrap=True), label("", "muted", wrap=True))
            for each in pair:
                copied(each)
                self._column.insertWidget(self._column.count() - 1, each)
            self.lines.append(pair)
        for place, (line, note) in enumerate(self.lines):
            used = place < len(shown)
            line.setVisible(used)
            note.setVisible(used and bool(shown[place].note))
            if used:
                value = shown[place]
                text = line_of(value, named=named)
                if bool(line.property("role")) == value.used:
                    polish(line, role="" if value.used else "muted")
                font = line.font()  # after the style, which would take it back
                font.setStrikeOut(value.left_out)
                line.setFont(font)
                line.setText(breakable(text))
                said = f"{text}, not used" if not value.used else text
                line.setAccessibleName(f"{said}: {value.note}" if value.note else said)
                note.setText(breakable(f"\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{value.note}"))
        left = len(values) - len(shown)
        self.more.setText(f"and {left:,} more" if left > 0 else "" if values else "never measured")
        self.more.setVisible(bool(self.more.text()))
