"""About: name, versions, licences."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from ..reporting import versions
from ..widgets.text import Details, button, label
from .licences import LicencesDialog

__all__ = ["AboutDialog"]


class AboutDialog(QDialog):
    """Name, versions, licence."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About AssayPilot")
        column = QVBoxLayout(self)
        column.setContentsMargins(26, 22, 26, 18)
        column.setSpacing(8)
        column.addWidget(label("AssayPilot", "big"))
        column.addWidget(label("Which compounds to assay next, and when to stop", "muted"))
        found = versions()
        details = Details()
        details.show_rows(found)
        column.addWidget(details)
        column.addWidget(
            label(
                "MIT licence. Qt for Python is used under the LGPL; all libraries are listed with their licences. "
                "It makes no network connection.",
                "muted",
                wrap=True,
            )
        )
        row = QHBoxLayout()
        copy = button("Copy versions")
        copy.clicked.connect(
            lambda: QGuiApplication.clipboard().setText("\n".join(f"{name} {number}" for name, number in found))
        )
        licences = button("Libraries and licences…")
        licences.clicked.connect(self.show_licences)
        close = button("Close", "go")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        row.addWidget(copy)
        row.addWidget(licences)
        row.addStretch(1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        column.addLayout(row)
        wide = max(26 * self.fontMetrics().lineSpacing(), column.totalMinimumSize().width())
        self.setMinimumSize(wide, column.totalHeightForWidth(wide))  # lines that break say so only for a width

    def show_licences(self) -> None:
        """Every library with its version and licence."""
        dialog = LicencesDialog(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
