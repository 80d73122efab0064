"""What is typed into a round and not kept yet: it outlasts Escape, a closed window and a crash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

from assaypilot.engine.campaign.state import Round

from ..models.round import Cell
from ..settings import Settings

if TYPE_CHECKING:
    from .round import RoundPage

__all__ = ["Drafts", "Leaving", "Unkept"]

LEFT = "Escape left the cell as it was."
UNSAVED = "Typed, but not saved before the window was closed."
KEPT = "drafts/rounds"
MOST_ROUNDS = 20
"""Rounds of which unfinished texts are remembered."""
PAUSE = 250
"""Milliseconds after the last key before what is typed is on the disk."""


class Drafts(QObject):
    """The unfinished texts of the rounds, in the place the system has for settings."""

    def __init__(self, settings: Settings, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(self.flush)
        self._next: tuple[str, dict[str, str]] | None = None

    def of(self, shown: Round) -> dict[Cell, str]:
        """The texts of a round, by their cells."""
        found = self._settings.values(KEPT).get(_key(shown))
        texts: dict[Cell, str] = {}
        for name, text in found.items() if isinstance(found, dict) else ():
            numbers = [int(part) for part in str(name).split() if part.isdecimal()]
            if len(numbers) == 3 and numbers[0] < len(shown.items) and numbers[1] < len(shown.endpoints) and text:
                texts[numbers[0], numbers[1], numbers[2]] = str(text)
        return texts

    def keep(self, shown: Round, texts: Mapping[Cell, str]) -> None:
        """Remember the texts of a round, in place of those before."""
        named = {" ".join(map(str, cell)): text for cell, text in texts.items() if text}
        if self._next is not None and self._next[0] != _key(shown):
            self.flush()
        self._next = (_key(shown), named)
        if not self._timer.isActive():
            self._timer.start()

    def flush(self) -> None:
        """Write what is remembered to the disk."""
        self._timer.stop()
        if self._next is None:
            return
        key, named = self._next
        self._next = None
        kept = self._settings.values(KEPT)
        if kept.get(key, {}) == named:
            return
        kept.pop(key, None)
        if named:
            kept[key] = named
        while len(kept) > MOST_ROUNDS:
            del kept[next(iter(kept))]
        self._settings.keep_values(KEPT, kept)
        self._settings.flush()


class Leaving(QObject):
    """Has what is being typed taken before its window closes."""

    def __init__(self, window: QObject, leave: Callable[[], None]) -> None:
        super().__init__(window)
        self._leave = leave
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """False: the event goes on."""
        if event.type() == QEvent.Type.Close:
            self._leave()
        return False


class Unkept:
    """The texts of a page that are not kept yet."""

    def __init__(self, page: RoundPage) -> None:
        self._page = page
        self._drafts: Drafts | None = None
        self._typing: dict[Cell, str] = {}
        """What stands in an editor, or stood in it when it was left."""
        page.table.results.typing.connect(self._typed)
        page.table.left.connect(self._left)

    def remember_in(self, settings: Settings, window: QWidget) -> None:
        """What is typed into the page outlasts its window from now on."""
        self._drafts = Drafts(settings, self._page)
        Leaving(window, self.leave)

    def keep(self) -> None:
        """Remember what is typed and not kept, and tell the page how many values are refused."""
        self._page.unsaved.emit(len(self._page.model.refused))
        shown = self._page.model.round
        if self._drafts is not None and shown is not None and self._page.writable:
            self._drafts.keep(shown, self._typing | self._page.model.typed())

    def settled(self, line: int, place: int) -> None:
        """What was typed into a line and endpoint was taken, or stands in its cell as not taken."""
        self._typing = {cell: text for cell, text in self._typing.items() if cell[:2] != (line, place)}
        self.keep()

    def leave(self) -> None:
        """Take what is being typed before the window closes, and ask nothing."""
        self._page.values.leaving = True
        self._page.table.commit()
        self._page.values.leaving = False
        self.keep()
        if self._drafts is not None:
            self._drafts.flush()

    def restore(self, shown: Round) -> None:
        """Put what was typed into a round and never kept back into its cells, with the reason."""
        self._typing = {}
        model = self._page.model
        if self._drafts is None or not self._page.writable:
            return
        self._drafts.flush()
        for (line, place, at), text in self._drafts.of(shown).items():
            at = min(at, model.cells - 1)
            there = model.cell_text(line, place, at)
            if there != text and (line, place, at) not in model.refused:
                model.refuse(line, place, text, UNSAVED, text, at)

    def _typed(self, line: int, place: int, at: int, text: str) -> None:
        self._typing[line, place, at] = text
        self.keep()

    def _left(self, line: int, place: int, at: int, text: str) -> None:
        """Escape restores the cell as in a spreadsheet, and what was typed is offered once more."""
        model = self._page.model
        if text and text != model.cell_text(line, place, at) and model.wrong(line, place, at) is None:
            self._page.panel.show_wrong(line, text, LEFT, text, place, at, left=True)
            self._typed(line, place, at, text)
        else:
            self.settled(line, place)


def _key(shown: Round) -> str:
    """What a round is remembered by: a copy of the campaign has the same rounds, another campaign has others."""
    return f"{shown.issued} {shown.number} {len(shown.items)}"
