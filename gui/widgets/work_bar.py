"""The line above the foot of the window that says what is being written or simulated: how far, how long, and Cancel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar

from ..tasks import Progress, Tasks
from .text import ElidedLabel, button, label

__all__ = ["WorkBar"]


class WorkBar(QFrame):
    """Work that holds nobody up; hidden while there is none."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("work")
        row = QHBoxLayout(self)
        row.setContentsMargins(20, 5, 12, 5)
        row.setSpacing(14)
        self.words = ElidedLabel()
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.bar.setFixedWidth(200)
        self.bar.setAccessibleName("Progress")
        self.detail = label("", "muted")
        self.stop = button("Cancel", tip="Stops at once; no half-written file is left, and what was there stays")
        self.stop.setAccessibleName("Cancel what is going on")
        self.stop.clicked.connect(self._cancel)
        row.addWidget(self.words, 1)
        row.addWidget(self.detail)
        row.addWidget(self.bar)
        row.addWidget(self.stop)
        self._going: dict[Tasks, Progress] = {}
        self._shown: Tasks | None = None
        self.hide()

    def follow(self, *lanes: Tasks) -> None:
        """Show what is going on in these, the first of them first."""
        for lane in lanes:
            lane.progress.connect(partial(self._heard, lanes, lane))

    def _heard(self, lanes: Sequence[Tasks], lane: Tasks, progress: Progress | None) -> None:
        self._going.pop(lane, None)
        if progress is not None:
            self._going[lane] = progress
        self._shown = next((one for one in lanes if one in self._going), None)
        self.progress(None if self._shown is None else self._going[self._shown])

    def _cancel(self) -> None:
        if self._shown is not None:
            self._shown.cancel()

    def progress(self, progress: Progress | None) -> None:
        """Show how far the work is; None: it is over."""
        self.setVisible(progress is not None)
        if progress is None:
            return
        self.words.setText(f"{progress.label}…")
        self.detail.setText(progress.detail)
        self.bar.setRange(0, 0 if progress.fraction is None else 1000)
        if progress.fraction is not None:
            self.bar.setValue(int(1000 * progress.fraction))
        self.stop.setEnabled(progress.cancellable)
        self.setAccessibleName(f"{progress.label}: {progress.detail}")
