"""The bars of a window: messages, work under way, and the replay of a campaign, with the slider it needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QProgressBar, QPushButton, QSlider, QStyle, QStyleOptionSlider, QWidget

from assaypilot.engine.errors import AssayPilotError

from ..resources.theme import theme
from ..runtime.tasks import Progress, Tasks
from ..session.view import Replay
from ..tables.rows import plain_tip
from .layout import column_of, put, row_of
from .text import ElidedLabel, button, error_words, label, polish

NARROWEST = 240
"""Pixels that a message has at least."""
SEEN = 8.0
"""Seconds after which a refusal was seen: the next thing that is done takes it away."""
Kind = Literal["error", "note", "question"]
Offer = tuple[str, Callable[[], object]]
"""The text and the action of a button."""


class MessageBar(QFrame):
    """A line above the pages, hidden without a message."""

    cleared = Signal()
    """The message is gone: an offer was taken, or it was dismissed."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("messages")
        row = row_of(holder=self, margins=(18, 8, 12, 8), spacing=12)
        words = column_of(spacing=2)
        self.words = label("", wrap=True, selectable=True)
        self.mend = label("", "muted", wrap=True)
        for part in (self.words, self.mend):  # a long name in it must not make the window wider
            part.setMinimumWidth(NARROWEST)
        put(words, self.words, self.mend)
        row.addLayout(words, 1)
        self._actions = row_of()
        row.addLayout(self._actions)
        self.dismiss = button("Dismiss", "link", then=self.clear)
        row.addWidget(self.dismiss, 0, Qt.AlignmentFlag.AlignVCenter)
        self._kind: Kind | None = None
        """The kind of message shown; None without one."""
        self._since = 0.0
        self.offers: list[QPushButton] = []
        """The buttons next to the message."""
        self.hide()

    @property
    def text(self) -> str:
        """The message shown."""
        return self.words.text() if not self.isHidden() else ""

    def refuse(self, error: AssayPilotError, *offers: Offer) -> None:
        """Show an error and its remedy until it is dismissed or another action starts."""
        self._show_message("error", *error_words(error))
        self.words.setToolTip(plain_tip(error.file or ""))
        self._offer(offers)

    def note(self, text: str, *offers: Offer) -> None:
        """Show what was done, with buttons for further actions."""
        self._show_message("note", text, "")
        self._offer(offers)

    def ask(self, text: str, mend: str, *offers: Offer) -> None:
        """Show a question with buttons for the possible actions."""
        self._show_message("question", text, mend)
        self._offer(offers)

    def _offer(self, offers: Sequence[Offer]) -> None:
        for words, action in offers:
            made = button(words, then=self.clear)
            made.clicked.connect(lambda _=False, action=action: action())
            self._actions.addWidget(made)
            # Tab goes on from what is at the left.
            QWidget.setTabOrder(self.offers[-1] if self.offers else self.words, made)
            self.offers.append(made)

    def clear(self) -> None:
        """Hide the bar."""
        self._kind = None
        self._drop_offers()
        self.hide()
        self.cleared.emit()

    def outdate(self) -> None:
        """Remove a note about an earlier action, and a refusal that was seen."""
        if self._kind == "note" or (self._kind == "error" and time.monotonic() - self._since > SEEN):
            self.clear()

    def forget_refusal(self) -> None:
        """Hide a refusal: the action is tried again."""
        if self._kind == "error":
            self.clear()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape dismisses."""
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
            return
        super().keyPressEvent(event)

    def _show_message(self, kind: Kind, text: str, mend: str) -> None:
        self._drop_offers()
        self._kind, self._since = kind, time.monotonic()
        if self.property("kind") != kind:
            polish(self, kind=kind)
        self.words.setText(text)
        self.words.setToolTip("")
        self.mend.setText(mend)
        self.mend.setVisible(bool(mend))
        self.setAccessibleName(f"{text} {mend}".strip())
        self.show()

    def _drop_offers(self) -> None:
        for made in self.offers:
            made.hide()
            made.deleteLater()
        self.offers.clear()


class Gauge(QProgressBar):
    """A bar that is painted along with all else: Qt's own paints whatever of the window is due at each new value."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextVisible(False)

    def show_part(self, part: float | None) -> None:
        """Show a part of 1, or that something goes on (None)."""
        self.setUpdatesEnabled(False)
        self.setRange(0, 0 if part is None else 1000)
        if part is not None:
            self.setValue(round(1000 * part))
        self.setUpdatesEnabled(True)


class WorkBar(QFrame):
    """Work under way in one queue; hidden while there is none."""

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self.setObjectName("work")
        row = row_of(holder=self, margins=(20, 5, 12, 5), spacing=14)
        self.words = ElidedLabel()
        self.bar = Gauge()
        self.bar.setFixedWidth(200)
        self.bar.setAccessibleName("Progress")
        self.detail = label("", "muted")
        tip = "Stops at the next safe point; nothing half-done or half-written is kept"
        self.stop = button("Cancel", tip=tip, then=lambda: tasks.cancel())
        self.stop.setAccessibleName("Cancel what is going on")
        put(row, (self.words, 1), self.detail, self.bar, self.stop)
        tasks.progress.connect(self.progress)
        self.hide()

    def progress(self, progress: Progress | None) -> None:
        """Show how far the work is; None: it is over."""
        self.setVisible(progress is not None)
        if progress is None:
            return
        self.words.setText(f"{progress.label}…")
        self.detail.setText(progress.detail)
        self.bar.show_part(progress.fraction)
        self.stop.setEnabled(progress.cancellable)
        self.setAccessibleName(f"{progress.label}: {progress.detail}")


SLIDER = 84
"""Pixels of the rounds to go through."""
_NOTHING = "Nothing can be changed here; exports are of now."


EMPTY, FULL, MARK, RADIUS = 2.0, 4.0, 4.0, 6.0
"""Pixels: the height of the groove and of its chosen part, the length of a mark, and the radius of the handle."""


class Slider(QSlider):
    """A horizontal slider with a groove, a mark for each tick where ticks are wanted, and a round handle."""

    def __init__(self, name: str, *, rising: bool = False) -> None:
        """``name``: for a screen reader; ``rising``: values from here on are chosen, not those up to here."""
        super().__init__(Qt.Orientation.Horizontal)
        self._rising = rising
        self.setAccessibleName(name)
        theme().changed.connect(self.update)

    def middle_of(self, value: int) -> float:
        """Pixels from the left to the middle of the handle at a value."""
        span = self.maximum() - self.minimum()
        room = self.width() - 2 * (RADIUS + 1)
        return RADIUS + 1 + (room * (value - self.minimum()) / span if span else 0.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it, and a frame when keys go here."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        handle = self.style().subControlRect(
            QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, self
        )
        colours = theme().colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        at, line = self.middle_of(self.value()), handle.center().y() + 0.5
        accent = QColor(colours.accent if self.isEnabled() else colours.muted)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.muted))
        painter.drawRect(QRectF(1, line - EMPTY / 2, self.width() - 2, EMPTY))
        painter.setBrush(accent)
        first, last = (at, self.width() - 1.0) if self._rising else (1.0, at)
        painter.drawRect(QRectF(first, line - FULL / 2, max(last - first, 0), FULL))
        if self.tickPosition() != QSlider.TickPosition.NoTicks and self.maximum() - self.minimum() <= self.width() / 4:
            painter.setPen(QPen(QColor(colours.muted), 1))
            for value in range(self.minimum(), self.maximum() + 1):
                x = round(self.middle_of(value)) + 0.5
                painter.drawLine(QPointF(x, self.height() - MARK - 1), QPointF(x, self.height() - 1))
        painter.setPen(QPen(QColor(colours.page), 1.5))
        painter.setBrush(accent)
        painter.drawEllipse(QPointF(at, line), RADIUS, RADIUS)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.accent), 1.5))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        painter.end()


class _Rounds(Slider):
    """A slider with one stop for each round; Escape goes back to now."""

    def __init__(self, replay: Replay) -> None:
        super().__init__("Round shown")
        self._replay = replay
        self.setTickPosition(QSlider.TickPosition.TicksBelow)
        self.setTickInterval(1)
        self.setPageStep(1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape in addition to the keys that move a slider."""
        if event.key() == Qt.Key.Key_Escape and self._replay.wanted is not None:
            self._replay.go(None)
        else:
            super().keyPressEvent(event)


class ReplayBar(QFrame):
    """A slider, which moment it is, and the way back; hidden before a round is over."""

    def __init__(self, replay: Replay) -> None:
        super().__init__()
        self._replay = replay
        self.setObjectName("replay")
        row = row_of(holder=self, margins=(6, 1, 6, 1), spacing=10)
        self.slider = _Rounds(replay)
        self.slider.setFixedWidth(SLIDER)
        self.slider.setToolTip("Left and right: a round back and on; Home: the start; End: now")
        self.slider.valueChanged.connect(self._moved)
        self.words = ElidedLabel()
        self.words.setMinimumWidth(self.fontMetrics().horizontalAdvance("Reading the past…"))
        self.back = button(
            "Back to &now", tip="Shows the campaign as it is (Escape on the slider)", then=lambda: self._replay.go(None)
        )
        put(row, (self.words, 1), self.back, label("Rounds", "muted"), self.slider)
        keep = self.back.sizePolicy()
        keep.setRetainSizeWhenHidden(True)  # nothing jumps when the past begins
        self.back.setSizePolicy(keep)
        replay.moved.connect(self.update_moment)
        replay.changed.connect(self.update_moment)
        self.update_moment()

    def update_moment(self) -> None:
        """Show the current moment among all moments."""
        replay = self._replay
        stops = replay.rounds
        self.setVisible(bool(stops))
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, len(stops))
            self.slider.setValue(len(stops) if replay.wanted is None else stops.index(replay.wanted))
        past = replay.wanted is not None
        words = f"{replay.words}. {_NOTHING}" if replay.words else "Reading the past…" if past else ""
        when = "Before round 1" if replay.round == 0 else f"After round {replay.round}"
        self.words.setText(when if replay.words else words, words)
        self.slider.setAccessibleDescription(words or "Now")
        self.back.setVisible(past)
        if self.property("past") != past:
            self.setProperty("past", past)
            polish(self.words, role="" if past else "muted")
            polish(self)

    def _moved(self, place: int) -> None:
        stops = self._replay.rounds
        self._replay.go(stops[place] if place < len(stops) else None)
