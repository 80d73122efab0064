"""The table of a round: results are typed where they belong, and Enter goes on to the next line."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QLineEdit,
    QStyle,
    QStyleOptionViewItem,
    QWidget,
)

from assaypilot.gui.models.base import KIND
from assaypilot.gui.models.round import RoundModel, result_key, result_place
from assaypilot.gui.theme import theme
from assaypilot.gui.widgets.structures import Structures
from assaypilot.gui.widgets.table import PlainDelegate, Table

__all__ = ["ResultDelegate", "RoundTable"]

Index = QModelIndex | QPersistentModelIndex


class ResultDelegate(PlainDelegate):
    """Draws a cell one can type into, and edits it."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Nothing; paints ground, frame and text."""
        self.initStyleOption(option, index)
        text, option.text = option.text, ""
        colours = theme().colours
        widget = option.widget
        if widget is not None:
            widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, widget)
        editable = bool(index.flags() & Qt.ItemFlag.ItemIsEditable)
        kind = index.data(KIND)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = option.fontMetrics.height()
        # A high row (it holds a picture) has room for a second line of values.
        wide = option.fontMetrics.horizontalAdvance(text) > option.rect.width() - 26
        two = wide and option.rect.height() >= 2 * line + 16
        height = min(option.rect.height() - 6, 2 * line + 10 if two else 30)
        box = QRectF(
            option.rect.left() + 4, option.rect.center().y() - height / 2 + 0.5, option.rect.width() - 8, height
        )
        current = isinstance(widget, QAbstractItemView) and widget.currentIndex() == index and widget.hasFocus()
        if editable:
            lit = current or (bool(text) and kind != "done")
            edge = colours.error if kind == "wrong" else colours.accent if lit else colours.line
            painter.setPen(QPen(QColor(edge), 2 if current else 1))
            painter.setBrush(QColor(colours.error_ground if kind == "wrong" else colours.page))
            painter.drawRoundedRect(box, 4, 4)
        ink = colours.error if kind == "wrong" else colours.muted if kind == "saving" else colours.text
        if not text and editable:
            text, ink = self.placeholder(index), colours.faint
        painter.setPen(QColor(ink))
        painter.setFont(option.font)
        inner = box.adjusted(8, 0, -8, 0)
        align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if two:
            painter.drawText(inner, int(align | Qt.TextFlag.TextWordWrap), text)
        else:
            shown = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideLeft, int(inner.width()))
            painter.drawText(inner, int(align), shown)
        painter.restore()

    def placeholder(self, index: Index) -> str:
        """What an empty cell waits for."""
        model = index.model()
        place = model.place_at(index) if isinstance(model, RoundModel) else None
        if not isinstance(model, RoundModel) or place is None:
            return ""
        endpoint = model.endpoints[place]
        return endpoint.unit or endpoint.name

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """A line to type into."""
        editor = QLineEdit(parent)
        editor.setAlignment(Qt.AlignmentFlag.AlignRight)
        editor.setFrame(False)
        model, name = index.model(), "Result"
        if isinstance(model, RoundModel) and len(model.endpoints) > 1:
            name += f" of {model.endpoints[model.place_at(index) or 0].name}"
        editor.setAccessibleName(name)
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Nothing; a further value is typed behind those that are there."""
        if isinstance(editor, QLineEdit):
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole) or ""))
            # Qt selects everything once the editor is open; typing would replace what was entered before.
            QTimer.singleShot(0, editor, editor.deselect)
            QTimer.singleShot(0, editor, lambda: editor.end(False))

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Nothing; the editor lies exactly over the frame."""
        height = min(option.rect.height() - 4, 32)
        box = option.rect.adjusted(3, 0, -3, 0)
        box.setTop(option.rect.center().y() - height // 2)
        box.setHeight(height)
        editor.setGeometry(box)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """As high as a line to type into."""
        return QSize(170, 30)


class RoundTable(Table):
    """Typing anywhere in a line types its result."""

    pasted = Signal()

    def __init__(self, model: RoundModel, structures: Structures) -> None:
        super().__init__(model, structures, name="The round")
        self.round_model = model
        self.results = ResultDelegate(self)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.AnyKeyPressed
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.SelectedClicked
        )
        model.modelReset.connect(self._results_columns)
        self.stretch("why", 88)

    def edit_line(self, line: int, place: int | None = None) -> None:
        """Nothing; goes to a result of a line, by default to the first that is waited for."""
        if place is None:
            place = self.round_model.first_place(line) or 0
        if self.choose(line, result_key(place)):
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def current_place(self) -> int:
        """The endpoint whose cell is current, by its place in the round; else the first that the line waits for."""
        index = self.currentIndex()
        place = self.round_model.place_at(index)
        if place is None and index.isValid():
            place = self.round_model.first_place(self.round_model.source(index))
        return place or 0

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Nothing; typing goes to the result cell, Enter opens it, Paste pastes."""
        if event.matches(QKeySequence.StandardKey.Paste):
            self.pasted.emit()
            return
        index = self.currentIndex()
        editing = self.state() == QAbstractItemView.State.EditingState
        plain = not (event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier))
        if index.isValid() and not editing and plain and self.round_model.editable:
            printable = bool(event.text()) and event.text().isprintable() and not event.text().isspace()
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2)
            if (printable or enter) and self.round_model.place_at(index) is None:
                column = self.round_model.place_of(result_key(self.current_place))
                self.setCurrentIndex(self.round_model.index(index.row(), column))
            if enter:
                self.edit(self.currentIndex())
                return
        super().keyPressEvent(event)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Nothing; after Enter the cell below is current, after Tab the line's next one, then the next line's first."""
        hints = QAbstractItemDelegate.EndEditHint
        index = self.currentIndex()
        place, row = self.round_model.place_at(index) or 0, index.row()
        super().closeEditor(editor, hints.NoHint)
        # A refused text stays under the eyes: the panel speaks about it.
        if self.round_model.wrong(int(self.round_model.rows[row]), place) is not None:
            return
        count = len(self.round_model.endpoints)
        if hint == hints.SubmitModelCache:
            row += 1
        elif hint == hints.EditNextItem:
            row, place = (row, place + 1) if place + 1 < count else (row + 1, 0)
        elif hint == hints.EditPreviousItem:
            row, place = (row, place - 1) if place else (row - 1, count - 1)
        else:
            return
        if 0 <= row < self.round_model.rowCount():
            self.choose(int(self.round_model.rows[row]), result_key(place))

    def _results_columns(self) -> None:
        for column, one in enumerate(self.round_model.columns):
            if result_place(one.key) is not None:
                self.setItemDelegateForColumn(column, self.results)
