"""A structure next to the pointer, and one that can be copied."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QByteArray, QPoint, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report

from ..resources.theme import theme
from ..session.session import Session
from ..widgets.layout import column_of, put, show_menu
from ..widgets.text import as_here, label
from .drawing import Structures, StructureView

CARD = QSize(220, 134)
"""Pixels of the structure on a card."""


class HoverCard(QFrame):
    """The description of one thing under the pointer, with its structure; never takes the mouse."""

    def __init__(self, parent: QWidget, structures: Structures) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column = column_of(holder=self, margins=(10, 8, 10, 8), spacing=4)
        self.picture = StructureView(structures)
        self.picture.setFixedSize(CARD)
        self.heading = label("", "heading", wrap=True)
        self.words = label("", wrap=True)
        column.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignHCenter)
        put(column, self.heading, self.words)
        self.hide()

    def show_text(self, heading: str, words: str, smiles: str, at: QPoint) -> None:
        """Show something next to a place of the window, and inside it."""
        self.picture.show_structure(smiles)
        for part, text in ((self.heading, heading), (self.words, words)):
            part.setText(text)
            part.setVisible(bool(text))
            part.setFixedWidth(round(CARD.width() * theme().scale))
        self.adjustSize()
        room = self.window().size()
        x = at.x() + 16 if at.x() + 16 + self.width() <= room.width() else at.x() - 16 - self.width()
        y = min(at.y() + 12, room.height() - self.height() - 2)
        self.move(max(x, 2), max(y, 2))
        self.show()
        self.raise_()


PICTURE = QSize(300, 225)
LARGER = 4
"""Pixels of a copied picture for each of these."""


class CopiedStructure(StructureView):
    """One structure of a library, large, with a menu to copy it."""

    def __init__(self, structures: Structures, session: Session) -> None:
        super().__init__(structures)
        self._session = session
        self._library: Library | None = None
        self._compound: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(
            as_here("Ctrl+C copies the SMILES; the menu (right button, or the Menu key) has molfile and picture")
        )
        self.copies: tuple[tuple[str, Callable[[], None]], ...] = (
            ("Copy &SMILES", self.copy_smiles),
            ("Copy &Molfile", self.copy_molfile),
            ("Copy &Picture", self.copy_picture),
            ("Copy &ID", self.copy_id),
        )

    def show_compound(self, library: Library, compound: int | None) -> None:
        """Show the structure of a compound; hidden where it has none."""
        self._library, self._compound = library, compound
        self.show_structure(self.smiles)

    @property
    def smiles(self) -> str:
        """The SMILES shown; empty without a structure."""
        return "" if self._library is None or self._compound is None else self._library.drawing(self._compound)

    @property
    def name(self) -> str:
        """The id of the compound shown."""
        return "" if self._library is None or self._compound is None else self._library.ids[self._compound]

    def menu(self) -> QMenu:
        """Return what can be copied."""
        made = QMenu(self)
        for text, copy in self.copies:
            made.addAction(text, copy)
        return made

    def copy_smiles(self) -> None:
        """Put the SMILES on the clipboard."""
        self._put(self.smiles, "SMILES")

    def copy_id(self) -> None:
        """Put the id on the clipboard."""
        self._put(self.name, "ID")

    def copy_molfile(self) -> None:
        """Put a molfile on the clipboard, once it is made."""
        smiles, name = self.smiles, self.name
        scaffold = None if self._library is None else self._library.scaffold
        cores = () if scaffold is None else tuple(scaffold.cores)

        def work(report: Report) -> str:
            from assaypilot.engine.export.sdf import molfile

            return molfile(smiles, name, cores)

        self._session.aside("Copying the structure", work, lambda text: self._put(text, "molfile"), self._refused)

    def copy_picture(self) -> None:
        """Put a picture on white on the clipboard, once it is drawn."""
        smiles, name = self.smiles, self.name

        def work(report: Report) -> QImage:
            from PySide6.QtSvg import QSvgRenderer

            svg = self._structures.aligned().svg(smiles, PICTURE.width(), PICTURE.height())
            if svg is None:
                raise AssayPilotError(f"the structure of {name} cannot be read", mend="Copy its SMILES instead.")
            image = QImage(PICTURE * LARGER, QImage.Format.Format_RGB32)
            image.fill(Qt.GlobalColor.white)
            painter = QPainter(image)
            QSvgRenderer(QByteArray(svg.encode())).render(painter)
            painter.end()
            return image

        def done(image: QImage) -> None:
            QGuiApplication.clipboard().setImage(image)
            self._session.message.emit(f"{name} is on the clipboard as a picture.")

        self._session.aside("Drawing the structure", work, done, self._refused)

    def _put(self, text: str, what: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._session.message.emit(f"The {what} of {self.name} is on the clipboard.")

    def _refused(self, error: Exception) -> None:
        if isinstance(error, AssayPilotError):
            self._session.failed.emit(error)

    # ------------------------------------------------------------------ Qt

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu at the mouse, or in the picture when the keyboard requests it."""
        mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        show_menu(self.menu(), event.globalPos() if mouse else self.mapToGlobal(QPoint(20, 20)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy copies the SMILES, Space and Enter open the menu."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_smiles()
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            show_menu(self.menu(), self.mapToGlobal(QPoint(20, 20)))
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture, with an edge while the keyboard is here."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(theme().colours.accent), 1))
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 8, 8)
            painter.end()
