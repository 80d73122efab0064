"""Captions at the left of fields, each on the line of what it names."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

__all__ = ["Form"]

LINE = 1.9
"""Height of the first line of a tall field, over that of its letters."""


class Form(QFormLayout):
    """A form whose captions stand level with the text of their fields: of tall ones with that of the first line."""

    def setGeometry(self, rect: QRect) -> None:
        """Place the parts."""
        super().setGeometry(rect)
        for row in range(self.rowCount()):
            caption, field = self.itemAt(row, self.ItemRole.LabelRole), self.itemAt(row, self.ItemRole.FieldRole)
            named = None if caption is None else caption.widget()
            if named is None or field is None or named.isHidden():
                continue
            box, high = field.geometry(), named.sizeHint().height()
            if box.x() <= named.x():
                continue  # it stands above its field
            line = self._first_line(field.widget(), box.height(), named)
            at = named.geometry()
            named.setGeometry(at.x(), box.y() + max(line - high, 0) // 2, at.width(), high)

    @staticmethod
    def _first_line(field: QWidget | None, height: int, caption: QWidget) -> int:
        """Pixels of the line that the caption belongs to."""
        edit = None if field is None else field.focusProxy() or field
        if isinstance(edit, QLineEdit):
            return min(edit.sizeHint().height(), height)
        letters = caption.fontMetrics().height()
        return height if height <= 2.6 * letters else round(LINE * letters)
