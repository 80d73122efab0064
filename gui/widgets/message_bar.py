"""The one place for messages: what went wrong and its mend, what was done, what is going on."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from assaypilot.engine.errors import AssayPilotError

from ..tasks import Progress
from .text import button, label, polish

__all__ = ["MessageBar", "error_words", "for_window"]

NARROWEST = 240
"""Pixels that a message has at least."""
SEEN = 8.0
"""Seconds after which a refusal was seen: the next thing that is done takes it away."""
Kind = Literal["error", "note", "question"]
Offer = tuple[str, Callable[[], None]]
"""What a button says and does."""

WORDS = (
    ("Use --again to count them a second time.", "They were not counted again."),
    ("If an empty cell means hydrogen: --blank h.", "If an empty cell means hydrogen, choose that at the left."),
    ("Name the columns with the substituents: --sites ", "Tick the columns with the substituents, for example "),
    (", e.g. --sd 0.2", ", for example 0.2"),
    (', for example --endpoint "', ', for example "'),
    ("name it with --endpoint to use it", "choose it under Measured to use it"),
    ("Without epsilon or slack two", "Without a soft zone two"),
    ("No difference was said not to matter (epsilon)", "No difference was said not to matter"),
    ('stands on every plate: --control "REF-1;value=7.1".', "stands on every plate, as REF-1 = 7.1."),
    ('For example --control "REF-1;value=7.1".', "For example REF-1 = 7.1."),
    ("For example limit=<5 or limit=>=6.", "A limit is written <5 or >6."),
    (": assaypilot change --sd", ": under Assay noise on the Goal page"),
    ("Run `assaypilot verify FILE` to see what is wrong, and restore", "Restore"),
)
"""Options of the command line, and what stands for them in the window."""
_OPTION = re.compile(r" \(--[a-z-]+ [^)]*\)")
"""An option named in passing, which the window leaves out."""


def error_words(error: AssayPilotError) -> tuple[str, str]:
    """What is wrong, with its place, and the mend."""
    plain = AssayPilotError(error.message, file=error.file, row=error.row, column=error.column)
    text = str(plain)
    text = text[:1].upper() + text[1:] if not error.file else text
    return (text if text.endswith((".", "?", "!")) else text + "."), for_window(error.mend or "")


def for_window(text: str) -> str:
    """A text of the engine, which names options of the command line, as the window says it."""
    for option, words in WORDS:
        text = text.replace(option, words)
    return _OPTION.sub("", text)


class MessageBar(QFrame):
    """A line above the pages, hidden while there is nothing to say."""

    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("messages")
        row = QHBoxLayout(self)
        row.setContentsMargins(18, 8, 12, 8)
        row.setSpacing(12)
        words = QVBoxLayout()
        words.setSpacing(2)
        self.words = label("", wrap=True, selectable=True)
        self.mend = label("", "muted", wrap=True)
        for said in (self.words, self.mend):  # a long name in it must not make the window wider
            said.setMinimumWidth(NARROWEST)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress")
        words.addWidget(self.words)
        words.addWidget(self.mend)
        words.addWidget(self.bar)
        row.addLayout(words, 1)
        self._actions = QHBoxLayout()
        row.addLayout(self._actions)
        self.stop = button("Cancel", tip="Stops at the next safe point; nothing half-done is kept")
        self.stop.clicked.connect(self.cancelled)
        self.dismiss = button("Dismiss", "link")
        self.dismiss.clicked.connect(self.clear)
        row.addWidget(self.stop, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.dismiss, 0, Qt.AlignmentFlag.AlignVCenter)
        self._behind: tuple[Kind, str, str] | None = None
        self._since = 0.0
        self._offers: list[QPushButton] = []
        self._working = False
        self.hide()

    @property
    def text(self) -> str:
        """What is being said."""
        return self.words.text() if not self.isHidden() else ""

    def refuse(self, error: AssayPilotError, *offers: Offer) -> None:
        """Show what went wrong and its mend until it is dismissed or something is done."""
        self._say("error", *error_words(error))
        self._offer(offers)

    def note(self, text: str, *offers: Offer) -> None:
        """Say what was done, with buttons for what can be done with it."""
        self._say("note", text, "")
        self._offer(offers)

    def ask(self, text: str, mend: str, *offers: Offer) -> None:
        """Say something with buttons for what can be done about it."""
        self._say("question", text, mend)
        self._offer(offers)

    def _offer(self, offers: Sequence[Offer]) -> None:
        for words, action in offers:
            made = button(words)
            made.clicked.connect(self.clear)
            made.clicked.connect(lambda _=False, action=action: action())
            self._actions.addWidget(made)
            # Tab goes on from what is at the left.
            QWidget.setTabOrder(self._offers[-1] if self._offers else self.stop, made)
            self._offers.append(made)

    def clear(self) -> None:
        """Hide the bar."""
        self._behind = None
        self._drop_offers()
        if not self._working:
            self.hide()

    def outdate(self) -> None:
        """A note about what was done before is old once something else was done, and a refusal seen before."""
        kind = None if self._behind is None else self._behind[0]
        if kind == "note" or (kind == "error" and time.monotonic() - self._since > SEEN):
            self.clear()

    def forget_refusal(self) -> None:
        """Hide a refusal: what was refused is tried again."""
        if self._behind is not None and self._behind[0] == "error":
            self.clear()

    def progress(self, progress: Progress | None) -> None:
        """Show work that takes its time; None: it is over."""
        self._working = progress is not None
        self.bar.setVisible(self._working)
        self.stop.setVisible(progress is not None and progress.cancellable)
        self.dismiss.setVisible(not self._working)
        if progress is None:
            if self._behind is None:
                self.hide()
            else:
                self._show(*self._behind)
            return
        if progress.fraction is None:
            self.bar.setRange(0, 0)
        else:
            self.bar.setRange(0, 1000)
            self.bar.setValue(int(1000 * progress.fraction))
        self._show("note", f"{progress.label}…", progress.detail)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape dismisses."""
        if event.key() == Qt.Key.Key_Escape and not self._working:
            self.clear()
            return
        super().keyPressEvent(event)

    def _say(self, kind: Kind, text: str, mend: str) -> None:
        self._drop_offers()
        self._behind, self._since = (kind, text, mend), time.monotonic()
        if not self._working:
            self.bar.hide()
            self.stop.hide()
            self.dismiss.show()
            self._show(kind, text, mend)

    def _show(self, kind: Kind, text: str, mend: str) -> None:
        if self.property("kind") != kind:
            polish(self, kind=kind)
        self.words.setText(text)
        self.mend.setText(mend)
        self.mend.setVisible(bool(mend))
        self.setAccessibleName(f"{text} {mend}".strip())
        self.show()

    def _drop_offers(self) -> None:
        for made in self._offers:
            made.hide()
            made.deleteLater()
        self._offers.clear()
