"""The table of a round: results are typed where they belong, and Enter goes on to the next line."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QLineEdit,
    QStyle,
    QStyleOptionViewItem,
    QWidget,
)

from ..resources.theme import theme
from ..structures.drawing import Structures
from ..tables.rows import KIND
from ..tables.table import PlainDelegate, Table
from .round_columns import STRUCK, result_key, result_place
from .round_rows import RoundModel

Index = QModelIndex | QPersistentModelIndex


class ResultDelegate(PlainDelegate):
    """Draws a cell one can type into, and edits it."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint ground, frame and text."""
        self.initStyleOption(option, index)
        text, option.text = option.text, ""
        colours = theme().colours
        widget = option.widget
        if widget is not None:
            widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, widget)
        editable = bool(index.flags() & Qt.ItemFlag.ItemIsEditable)
        kind, struck = index.data(KIND), str(index.data(STRUCK) or "")
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = option.fontMetrics.height()
        # A high row (with a picture) has room for a second line of values.
        wide = option.fontMetrics.horizontalAdvance(f"{struck} {text}".strip()) > option.rect.width() - 26
        two = (wide or bool(struck and text)) and option.rect.height() >= 2 * line + 16
        height = min(option.rect.height() - 6, 2 * line + 10 if two else max(30, line + 12))
        box = QRectF(
            option.rect.left() + 4, option.rect.center().y() - height / 2 + 0.5, option.rect.width() - 8, height
        )
        current = isinstance(widget, QAbstractItemView) and widget.currentIndex() == index and widget.hasFocus()
        if current or kind == "wrong" or (editable and kind != "beyond"):
            lit = current or (bool(text) and kind != "done")
            edge = colours.error if kind == "wrong" else colours.accent if lit else colours.line
            painter.setPen(QPen(QColor(edge), 2 if current else 1))
            painter.setBrush(QColor(colours.error_ground if kind == "wrong" else colours.page))
            painter.drawRoundedRect(box, 4, 4)
        ink = colours.error if kind == "wrong" else colours.muted if kind in ("saving", "within") else colours.text
        if not (text or struck) and editable and current and kind != "beyond":
            text, ink = self.placeholder(index), colours.muted
        painter.setFont(option.font)
        inner = box.adjusted(8, 0, -8, 0)
        if struck and (two or not text):
            upper = inner if not text else QRectF(inner.left(), box.top() + 4, inner.width(), line)
            _strike(painter, upper, struck, option.font)
            inner = QRectF(inner.left(), box.bottom() - line - 4, inner.width(), line)
        elif struck:
            metrics = QFontMetrics(option.font)
            used = min(metrics.horizontalAdvance(text) + 6, int(inner.width()))
            _strike(painter, inner.adjusted(0, 0, -used, 0), struck, option.font)
        painter.setPen(QColor(ink))
        painter.setFont(option.font)
        align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if two and not struck:
            painter.drawText(inner, int(align | Qt.TextFlag.TextWordWrap), text)
        else:
            shown = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideLeft, int(inner.width()))
            painter.drawText(inner, int(align), shown)
        painter.restore()

    def placeholder(self, index: Index) -> str:
        """Return the hint in the empty cell that has the keyboard.

        The header describes all others.
        """
        model = index.model()
        place = model.place_at(index) if isinstance(model, RoundModel) else None
        if not isinstance(model, RoundModel) or place is None:
            return ""
        endpoint = model.endpoints[place]
        return endpoint.unit or endpoint.name

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Return a line to type into."""
        editor = QLineEdit(parent)
        editor.setAlignment(Qt.AlignmentFlag.AlignRight)
        editor.setFrame(False)
        model, name = index.model(), "Result"
        if isinstance(model, RoundModel) and len(model.endpoints) > 1:
            name += f" of {model.endpoints[model.place_at(index) or 0].name}"
        editor.setAccessibleName(name)
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Fill the editor; a further value is typed behind those that are there."""
        if isinstance(editor, QLineEdit):
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole) or ""))
            # Qt selects everything once the editor is open; typing would replace what was entered before.
            QTimer.singleShot(0, editor, editor.deselect)
            QTimer.singleShot(0, editor, lambda: editor.end(False))

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Lay the editor exactly over the frame."""
        height = min(option.rect.height() - 4, 32)
        box = option.rect.adjusted(3, 0, -3, 0)
        box.setTop(option.rect.center().y() - height // 2)
        box.setHeight(height)
        editor.setGeometry(box)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """As high as a line to type into."""
        return QSize(170, 30)


def _strike(painter: QPainter, box: QRectF, text: str, font: QFont) -> None:
    """Draw a text struck through, at the right of a box."""
    struck = QFont(font)
    struck.setStrikeOut(True)
    painter.setFont(struck)
    painter.setPen(QColor(theme().colours.muted))
    shown = QFontMetrics(struck).elidedText(text, Qt.TextElideMode.ElideLeft, max(int(box.width()), 0))
    painter.drawText(box, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), shown)


class RoundTable(Table):
    """Typing anywhere in a line types its result."""

    pasted = Signal()
    emptied = Signal(int, int, int)
    """Line, endpoint and place of a cell that is to be emptied."""

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
        self.widths.stretch("why", 88)

    def edit_line(self, line: int, place: int | None = None, at: int | None = None) -> None:
        """Go to a result of a line, by default to the first that is waited for."""
        if place is None:
            place, at = self.round_model.first_cell(line) or (0, 0)
        if at is None:
            at = self.round_model.free_cell(line, place)
        if self.choose(line, result_key(place, at)):
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def current_cell(self) -> tuple[int, int]:
        """Endpoint and place of the cell that is current; else of the first that the line waits for."""
        index = self.currentIndex()
        cell = self.round_model.cell_at(index)
        if cell is None and index.isValid():
            cell = self.round_model.first_cell(self.round_model.source(index))
        return cell or (0, 0)

    def commit(self) -> None:
        """Take what is being typed, as Enter does."""
        editor = self._editor()
        if editor is not None:
            self.commitData(editor)
            self.closeEditor(editor, QAbstractItemDelegate.EndEditHint.NoHint)

    def _editor(self) -> QLineEdit | None:
        """Return what is being typed into."""
        if self.state() != QAbstractItemView.State.EditingState:
            return None
        found = self.indexWidget(self.currentIndex())
        return found if isinstance(found, QLineEdit) else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Typing goes to the result cell, Enter and F2 open it, Del empties it, Tab goes on, Paste pastes."""
        if event.matches(QKeySequence.StandardKey.Paste):
            self.pasted.emit()
            return
        index = self.currentIndex()
        editing = self.state() == QAbstractItemView.State.EditingState
        held = event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier)
        if index.isValid() and not editing and not held and self._pressed(index, event):
            return
        super().keyPressEvent(event)

    def _pressed(self, index: QModelIndex, event: QKeyEvent) -> bool:
        """Whether a key without Ctrl and Alt was dealt with."""
        model, key = self.round_model, event.key()
        on_cell = model.cell_at(index) is not None
        if key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab) and on_cell:
            back = key == Qt.Key.Key_Backtab or bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            return self._along(index, back=back)
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and on_cell:
            self.emptied.emit(model.source(index), *self.current_cell)
            return True
        if not model.editable:
            return False
        printable = bool(event.text()) and event.text().isprintable() and not event.text().isspace()
        enter = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2)
        if (printable or enter) and not on_cell:
            column = model.place_of(result_key(*self.current_cell))
            self.setCurrentIndex(model.index(index.row(), column))
        if enter:
            self.edit(self.currentIndex())
        return enter

    def _along(self, index: QModelIndex, *, back: bool) -> bool:
        """Whether there was a next (or a previous) cell, to go to: of the line, else of the next line."""
        model = self.round_model
        cell, row = model.cell_at(index), index.row()
        cells = model.line_cells(model.source(index))
        at = (cells.index(cell) if cell in cells else 0) + (-1 if back else 1)
        if not 0 <= at < len(cells):
            row += -1 if back else 1
            if not 0 <= row < model.rowCount():
                return False  # Tab leaves the table
            cells = model.line_cells(int(model.rows[row]))
            at = -1 if back else 0
        return self.choose(int(model.rows[row]), result_key(*cells[at]))

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """After Enter the cell below is current, after Tab the line's next one, then the next line's first."""
        hints = QAbstractItemDelegate.EndEditHint
        model, index = self.round_model, self.currentIndex()
        place, at = model.cell_at(index) or (0, 0)
        line = model.source(index)
        super().closeEditor(editor, hints.NoHint)
        # A refused text stays in view: the panel explains it.
        if model.wrong(line, place, at) is not None:
            return
        if hint == hints.SubmitModelCache:
            if index.row() + 1 < model.rowCount():
                self.choose(int(model.rows[index.row() + 1]), result_key(place, at))
        elif hint in (hints.EditNextItem, hints.EditPreviousItem):
            self._along(index, back=hint == hints.EditPreviousItem)

    def _results_columns(self) -> None:
        for column, one in enumerate(self.round_model.columns):
            if result_place(one.key) is not None:
                self.setItemDelegateForColumn(column, self.results)
