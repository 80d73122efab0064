"""The slider over the rounds, with words that say which moment is shown."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSignalBlocker, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QSlider

from ..replay import Replay
from ..theme import theme
from .text import ElidedLabel, button, polish

__all__ = ["ReplayBar"]

_NOTHING = "Nothing can be changed here; exports are of now."


class _Rounds(QSlider):
    """A slider with one stop for each round; Space plays, Escape goes back to now."""

    def __init__(self, replay: Replay) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._replay = replay
        self.setAccessibleName("Round shown")
        self.setTickPosition(QSlider.TickPosition.TicksBelow)
        self.setTickInterval(1)
        self.setPageStep(1)
        theme().changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        """A handle that is seen in the dark, too."""
        palette = QPalette()
        for role in (QPalette.ColorRole.Button, QPalette.ColorRole.Highlight):
            palette.setColor(role, QColor(theme().colours.accent))
        self.setPalette(palette)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a frame when keys go here: the style draws none."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(theme().colours.accent), 1.5))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
            painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space and Escape beside the keys that move a slider."""
        if event.key() == Qt.Key.Key_Space:
            (self._replay.pause if self._replay.playing else self._replay.play)()
        elif event.key() == Qt.Key.Key_Escape and self._replay.wanted is not None:
            self._replay.go(None)
        else:
            super().keyPressEvent(event)


class ReplayBar(QFrame):
    """Play, a slider, which moment it is, and the way back; hidden before a round is over."""

    def __init__(self, replay: Replay) -> None:
        super().__init__()
        self._replay = replay
        self.setObjectName("replay")
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 1, 6, 1)
        row.setSpacing(10)
        self.play = button("Replay", tip="Shows round after round, from the start to now (Space on the slider)")
        self.play.clicked.connect(self._play)
        self.slider = _Rounds(replay)
        self.slider.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.slider.setToolTip("Left and right: a round back and on; Home: the start; End: now")
        self.slider.valueChanged.connect(self._moved)
        self.words = ElidedLabel()
        self.words.setMinimumWidth(120)
        self.back = button("Back to &now", tip="Shows the campaign as it is (Escape on the slider)")
        self.back.clicked.connect(lambda: self._replay.go(None))
        row.addWidget(self.play)
        row.addWidget(self.slider, 2)
        row.addWidget(self.words, 5)
        row.addWidget(self.back)
        keep = self.back.sizePolicy()
        keep.setRetainSizeWhenHidden(True)  # nothing jumps when the past begins
        self.back.setSizePolicy(keep)
        replay.moved.connect(self.update_moment)
        replay.changed.connect(self.update_moment)
        self.update_moment()

    def update_moment(self) -> None:
        """Show which moment is shown, and which there are."""
        replay = self._replay
        stops = replay.rounds
        self.setVisible(bool(stops))
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, len(stops))
            self.slider.setValue(len(stops) if replay.wanted is None else stops.index(replay.wanted))
        past = replay.wanted is not None
        self.play.setText("Pause" if replay.playing else "Replay")
        words = f"{replay.words}. {_NOTHING}" if replay.words else "Reading the past…" if past else "As it is now"
        self.words.setText(words)
        self.slider.setAccessibleDescription(words)
        self.back.setVisible(past)
        if self.property("past") != past:
            self.setProperty("past", past)
            polish(self.words, role="" if past else "muted")
            polish(self)

    def _play(self) -> None:
        (self._replay.pause if self._replay.playing else self._replay.play)()

    def _moved(self, place: int) -> None:
        stops = self._replay.rounds
        self._replay.go(stops[place] if place < len(stops) else None)
