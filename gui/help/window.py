"""The help: topics at the left, narrowed by a search, and the one that is read at the right."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QByteArray, QItemSelectionModel, Qt, QUrl
from PySide6.QtGui import QFont, QKeyEvent, QKeySequence, QShortcut, QTextDocument
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from ..keys import keys
from ..theme import theme
from ..widgets.choices import FilterBox
from ..widgets.fitting import resize_within_screen
from ..widgets.text import button, label
from .topics import HOME, topics

__all__ = ["HelpWindow", "Reader"]

BESIDE = 64
"""Pixels beside the longest title: margins and the scroll bar."""
KEY = Qt.ItemDataRole.UserRole


class Reader(QTextBrowser):
    """Shows one topic; loads nothing, from nowhere."""

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Pictures and files are never fetched."""
        return QByteArray()


class HelpWindow(QWidget):
    """A window of its own, so that it can stay open beside what it explains, a dialog included."""

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
        self.none = label("Nothing is said about that.", "muted", wrap=True)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(14, 14, 8, 14)
        column.setSpacing(8)
        column.addWidget(self.search)
        column.addWidget(self.none)
        column.addWidget(self.list, 1)
        self.back = button("&Back", tip="To the topic read before (Alt+Left)")
        self.back.clicked.connect(self.go_back)
        self.home = button("&Journey", tip="From a table to a shortlist, step by step")
        self.home.clicked.connect(lambda: self.show_topic(HOME))
        self.reader = Reader()
        self.reader.setAccessibleName("Text of the help")
        self.reader.setOpenLinks(False)
        self.reader.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.reader.document().setDocumentMargin(18)
        self.reader.anchorClicked.connect(lambda url: self.show_topic(url.toString()))
        right = QWidget()
        beside = QVBoxLayout(right)
        beside.setContentsMargins(8, 14, 14, 14)
        row = QHBoxLayout()
        row.addWidget(self.back)
        row.addWidget(self.home)
        row.addStretch(1)
        beside.addLayout(row)
        beside.addWidget(self.reader, 1)
        self.sides = QSplitter(Qt.Orientation.Horizontal)
        self.sides.setHandleWidth(1)
        self.sides.setChildrenCollapsible(False)
        self.sides.addWidget(left)
        self.sides.addWidget(right)
        self.sides.setStretchFactor(1, 1)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.sides)
        back = QShortcut(QKeySequence.StandardKey.Back, self, self.go_back)
        back.setKeys(keys(QKeySequence.StandardKey.Back, "Alt+Left"))
        QShortcut(QKeySequence.StandardKey.Find, self, self.search.setFocus)
        self._narrow("")
        line = self.fontMetrics().lineSpacing()
        room = self.list.sizeHintForColumn(0) + BESIDE
        resize_within_screen(self, room + 40 * line, 40 * line)
        self.sides.setSizes([room, 40 * line])
        theme().changed.connect(self._draw)
        self.show_topic(HOME)

    def show_topic(self, key: str) -> None:
        """Show a topic; one that does not exist leaves what is shown."""
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
        """Mark the topic shown in the list, where the search lets it stand."""
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
            if not topic.holds(words):
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
