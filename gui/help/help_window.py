"""The help: its texts, its window, and its keys."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QItemSelectionModel, Qt, QUrl
from PySide6.QtGui import QFont, QKeyEvent, QKeySequence, QShortcut, QTextDocument
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QListWidget,
    QListWidgetItem,
    QTextBrowser,
    QWidget,
)

from ..resources.theme import theme
from ..widgets.inputs import FilterBox
from ..widgets.layout import STRETCH, column_of, put, resize_within_screen, row_of, splitter
from ..widgets.text import as_here, button, keys, label

FOLDER = Path(__file__).parent
CHAPTERS = (
    ("journey", "The journey"),
    ("pages", "Pages"),
    ("dialogs", "Questions and dialogs"),
    ("words", "Words"),
    ("keys", "Keys"),
)
"""Files in the order they are read, each with its name."""
HOME = "journey"
HEAD = re.compile(r"^# ([a-z-]+): (.+)$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")

PRESENT = {
    "StartPage": "start",
    "LibraryPage": "library",
    "GoalPage": "goal",
    "RoundPage": "round",
    "CandidatesPage": "candidates",
    "SarPage": "sar",
    "HistoryPage": "history",
    "NewCampaign": "new-campaign",
    "BlankQuestion": "blank",
    "Preview": "paste",
    "ExportDialog": "export",
    "WorkListDialog": "work-list",
    "ClosePanel": "close-round",
    "WithdrawPanel": "withdraw",
    "ChangePanel": "change",
    "EndpointDialog": "add-endpoint",
    "ControlsDialog": "controls",
    "MoreDialog": "add-compounds",
    "ReplayBar": "replay",
    "ExcludeDialog": "exclude",
    "CorrectDialog": "correct",
    "UnavailableDialog": "unavailable",
    "AuditDialog": "audit",
    "ProjectDialog": "project",
    "PreferencesDialog": "preferences",
    "ReportDialog": "report",
    "AboutDialog": "about",
    "LicencesDialog": "about",
    "TourCard": "practice",
    "SketchDialog": "draw",
}
"""The topic of a page, dialog or panel, by the name of its class. A class may also have its own: ``topic = "key"``."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One short text."""

    key: str
    title: str
    chapter: str
    text: str
    """Markdown without its heading."""

    @property
    def links(self) -> tuple[str, ...]:
        """The keys it refers to."""
        return tuple(LINK.findall(self.text))

    def contains(self, words: str) -> bool:
        """Whether its title or text contains every word."""
        inside = f"{self.title} {self.text}".casefold()
        return all(word in inside for word in words.casefold().split())


def topics_in(file: str) -> list[tuple[str, str, str]]:
    """Key, title and text of the topics in a file of this folder, in its order."""
    parts = HEAD.split((FOLDER / f"{file}.md").read_text(encoding="utf-8"))
    return [
        (key, title, as_here(text.strip()))
        for key, title, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    ]


@cache
def topics() -> dict[str, Topic]:
    """All topics by key, in the order they are read."""
    found: dict[str, Topic] = {}
    for file, chapter in CHAPTERS:
        for key, title, text in topics_in(file):
            found[key] = Topic(key, title, chapter, text)
    return found


def topic_of(shown: object) -> str | None:
    """Return the key of the topic about a page, a dialog or a panel; None when it has none."""
    own = getattr(shown, "topic", None)
    if isinstance(own, str):
        return own
    return next((PRESENT[kind.__name__] for kind in type(shown).__mro__ if kind.__name__ in PRESENT), None)


EXTRA_WIDTH = 64
"""Pixels in addition to the longest title: margins and the scroll bar."""
KEY = Qt.ItemDataRole.UserRole


class Reader(QTextBrowser):
    """Shows one topic; loads nothing, from nowhere."""

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Pictures and files are never fetched."""
        return QByteArray()


class HelpWindow(QWidget):
    """A separate window, so that it stays open next to what it explains, even a dialog."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        # The program ends with its last campaign window, whatever is left to read.
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.setWindowTitle("Help – AssayPilot")
        self._behind: list[str] = []
        self.shown = ""
        """The key of the topic shown."""
        self.search = FilterBox("Look for a word", "Search the help")
        self.search.narrowed.connect(self._narrow)
        self.list = QListWidget()
        self.list.setAccessibleName("Topics")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.currentItemChanged.connect(lambda item, _: self._chosen(item))
        self.none = label("No help on that.", "muted", wrap=True)
        left = QWidget()
        column_of(self.search, self.none, (self.list, 1), holder=left, margins=(14, 14, 8, 14), spacing=8)
        self.back = button("&Back", tip="To the topic read before (Alt+Left)", then=self.go_back)
        self.home = button(
            "&Journey", tip="From a table to a shortlist, step by step", then=lambda: self.show_topic(HOME)
        )
        self.reader = Reader()
        self.reader.setAccessibleName("Text of the help")
        self.reader.setOpenLinks(False)
        self.reader.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.reader.document().setDocumentMargin(18)
        self.reader.anchorClicked.connect(lambda url: self.show_topic(url.toString()))
        right = QWidget()
        column = column_of(holder=right, margins=(8, 14, 14, 14))
        row = row_of(self.back, self.home, STRETCH)
        put(column, row, (self.reader, 1))
        self.sides = splitter(Qt.Orientation.Horizontal, left, right)
        self.sides.setStretchFactor(1, 1)
        row_of(self.sides, holder=self)
        back = QShortcut(QKeySequence.StandardKey.Back, self, self.go_back)
        back.setKeys(keys(QKeySequence.StandardKey.Back, "Alt+Left"))
        QShortcut(QKeySequence.StandardKey.Find, self, self.search.setFocus)
        self._narrow("")
        line = self.fontMetrics().lineSpacing()
        room = self.list.sizeHintForColumn(0) + EXTRA_WIDTH
        resize_within_screen(self, room + 40 * line, 40 * line)
        self.sides.setSizes([room, 40 * line])
        theme().changed.connect(self._draw)
        self.show_topic(HOME)

    def show_topic(self, key: str) -> None:
        """Show a topic; an unknown one changes nothing."""
        if key not in topics() or key == self.shown:
            return
        if self.shown:
            self._behind.append(self.shown)
        self._show(key)

    def go_back(self) -> None:
        """Show the topic read before."""
        if self._behind:
            self._show(self._behind.pop())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
            return
        super().keyPressEvent(event)

    # ------------------------------------------------------------------ inside

    def _show(self, key: str) -> None:
        self.shown = key
        self.back.setEnabled(bool(self._behind))
        self._draw()
        self._mark()

    def _draw(self) -> None:
        topic = topics().get(self.shown)
        if topic is None:
            return
        self.setWindowTitle(f"{topic.title} – Help – AssayPilot")
        self.reader.setPalette(self.palette())  # links have the colour of the theme when they are laid out
        flavour = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
        self.reader.document().setDefaultFont(self.font())
        self.reader.document().setMarkdown(f"## {topic.title}\n\n{topic.text}\n", flavour)
        self.reader.verticalScrollBar().setValue(0)

    def _mark(self) -> None:
        """Mark the topic shown in the list, if the search keeps it."""
        self.list.blockSignals(True)
        found = [self.list.item(row) for row in range(self.list.count())]
        own = next((item for item in found if item.data(KEY) == self.shown), None)
        if own is not None:
            self.list.setCurrentItem(own)
        else:
            self.list.setCurrentRow(-1, QItemSelectionModel.SelectionFlag.Clear)
        self.list.blockSignals(False)

    def _narrow(self, words: str) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        chapter = ""
        for topic in topics().values():
            if not topic.contains(words):
                continue
            if topic.chapter != chapter:
                chapter = topic.chapter
                head = QListWidgetItem(chapter)
                head.setFlags(Qt.ItemFlag.NoItemFlags)
                font = QFont(self.list.font())
                font.setBold(True)
                head.setFont(font)
                self.list.addItem(head)
            item = QListWidgetItem(f"  {topic.title}")
            item.setData(KEY, topic.key)
            self.list.addItem(item)
        self.list.blockSignals(False)
        self.none.setVisible(self.list.count() == 0)
        self._mark()
        if words and self.list.count() > 1 and self.list.currentItem() is None:
            self.list.setCurrentRow(1)

    def _chosen(self, item: QListWidgetItem | None) -> None:
        key = None if item is None else item.data(KEY)
        if isinstance(key, str):
            self.show_topic(key)


_window: HelpWindow | None = None
_listening = False


def topic_at(widget: QWidget | None) -> str:
    """Return the topic of the nearest page, panel or dialog around a widget.

    That of the whole journey when there is none.
    """
    while widget is not None:
        key = topic_of(widget)
        if key is not None:
            return key
        widget = widget.parentWidget()
    return HOME


def show_help(topic: str = HOME) -> HelpWindow:
    """Return the help window, in front, at a topic."""
    global _window
    if _window is None:
        _window = HelpWindow()
    _window.show_topic(topic)
    _window.show()
    _window.raise_()
    _window.activateWindow()
    return _window


def help_window() -> HelpWindow | None:
    """Return the help window, if it was opened."""
    return _window


def close_help() -> None:
    """Close the help with the last campaign window."""
    global _window
    if _window is not None:
        _window.close()
        _window.deleteLater()
        _window = None


def listen(application: QApplication) -> None:
    """From now on F1 works in dialogs, too: a menu's key does not reach one that has the keyboard."""
    global _listening
    if not _listening:
        _listening = True
        application.focusChanged.connect(_focus_moved)


def _focus_moved(_: QWidget | None, now: QWidget | None) -> None:
    dialog = None if now is None else now.window()
    if not isinstance(dialog, QDialog) or dialog.findChild(QShortcut, "help") is not None:
        return
    key = QShortcut(QKeySequence.StandardKey.HelpContents, dialog)
    key.setKeys(keys(QKeySequence.StandardKey.HelpContents, "F1"))  # on a Mac the first is Cmd+?
    key.setObjectName("help")

    def open_help() -> None:
        focus = QApplication.focusWidget()
        inside = focus is not None and dialog.isAncestorOf(focus)
        show_help(topic_at(focus if inside else dialog))

    key.activated.connect(open_help)
