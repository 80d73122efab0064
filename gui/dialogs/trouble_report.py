"""A report of an error, to read, copy and delete; what may quote somebody's data joins it only when ticked."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from ..reporting import Reporter
from ..widgets.fitting import resize_within_screen
from ..widgets.text import button, label

__all__ = ["ReportDialog"]


class ReportDialog(QDialog):
    """One report."""

    def __init__(self, reporter: Reporter, report: Path, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._reporter, self._report = reporter, report
        # Read at once: the file is set aside as soon as it was looked at.
        self._plain = report.read_text(encoding="utf-8") if report.exists() else "The report is not there any more."
        self._own = reporter.words(report)
        self.setWindowTitle("Error report")
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 18, 22, 16)
        column.setSpacing(10)
        column.addWidget(
            label(
                "This is all the report says. It holds no ids, structures or values, and it is not sent anywhere: "
                "copy it if you want to pass it on.",
                wrap=True,
            )
        )
        self.text = QPlainTextEdit()
        self.text.setAccessibleName("Text of the report")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        column.addWidget(self.text, 1)
        self.own = QCheckBox("Add what the error &said (may quote ids, structures or values)")
        self.own.setVisible(bool(self._own))
        self.own.toggled.connect(lambda _: self._show())
        column.addWidget(self.own)
        row = QHBoxLayout()
        self.copy = button("&Copy")
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        self.delete = button("&Delete the report")
        self.delete.clicked.connect(self._delete)
        close = button("Close", "go")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        row.addWidget(self.copy)
        row.addWidget(self.delete)
        row.addStretch(1)
        row.addWidget(close)
        column.addLayout(row)
        line = self.fontMetrics().lineSpacing()
        resize_within_screen(self, 42 * line, 30 * line)
        self._show()

    def _show(self) -> None:
        added = f"\nWhat the error said:\n{self._own}" if self.own.isChecked() else ""
        self.text.setPlainText(self._plain + added)

    def _delete(self) -> None:
        self._reporter.delete(self._report, self._report.with_name("seen-" + self._report.name))
        self.accept()
