"""Pictures of structures, drawn off the window's thread when first seen, and what of them can be copied."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QByteArray,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRectF,
    QRunnable,
    QSize,
    Qt,
    QThreadPool,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QMenu, QSizePolicy, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report

from ..resources.theme import theme
from ..session.session import Session
from ..tables.rows import SMILES
from ..widgets.layout import show_menu
from ..widgets.text import as_here

if TYPE_CHECKING:
    from assaypilot.engine.figures.aligned import Aligned


KEPT = 30_000_000
"""Bytes of pictures kept: those of 600 cells, or of 150 on a screen twice as sharp."""
WAITING = 120
"""Pictures that wait to be drawn at most, and that are kept in any case: more than a large screen shows."""

Key = tuple[str, int, int, float, bool]

_pool: QThreadPool | None = None


def drawing_pool() -> QThreadPool:
    """The one thread that draws structures and plots; made when first asked for."""
    global _pool
    if _pool is None:
        _pool = QThreadPool()
        _pool.setMaxThreadCount(1)
        # The libraries that draw are loaded in it once, and threads that end and come again are no use.
        _pool.setExpiryTimeout(-1)
    return _pool


class _Series:
    """The structures of a library, and what turns them all to the part they have in common."""

    def __init__(self, smiles: tuple[str, ...] = (), cores: tuple[str, ...] = ()) -> None:
        self.smiles, self.cores = smiles, cores

    @cached_property
    def aligned(self) -> Aligned:
        """What draws them; made on a thread that draws."""
        from assaypilot.engine.figures.aligned import Aligned

        return Aligned(self.cores, self.smiles)


class Pending(QObject):
    """What a drawing may touch of its owner: it may outlive it, and end while that is taken down."""

    drawn = Signal(object, QImage, bool)

    def __init__(self) -> None:
        super().__init__()
        self.asked: OrderedDict[Key, None] = OrderedDict()
        """Pictures that wait to be drawn, those seen last at the end."""


class _Drawing(QRunnable):
    """One picture."""

    def __init__(self, owner: Pending, key: Key, series: _Series) -> None:
        super().__init__()
        self._owner, self._key, self._series = owner, key, series

    def run(self) -> None:
        """Draw and hand the picture over."""
        from PySide6.QtSvg import QSvgRenderer

        if self._key not in self._owner.asked:
            return
        smiles, width, height, ratio, dark = self._key
        svg = self._series.aligned.svg(smiles, width, height, dark=dark)
        image = QImage(int(width * ratio), int(height * ratio), QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        if svg is not None:
            painter = QPainter(image)
            QSvgRenderer(QByteArray(svg.encode())).render(painter)
            painter.end()
        image.setDevicePixelRatio(ratio)
        self._owner.drawn.emit(self._key, image, svg is not None)


class Structures(QObject):
    """The pictures of one campaign's structures."""

    ready = Signal()
    """New pictures are there."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._series = _Series()
        self._kept: OrderedDict[Key, QImage | None] = OrderedDict()
        self._bytes = 0
        self.pending = Pending()
        self._asked = self.pending.asked
        self._latest = 0
        self.wanted = True
        """Whether anything is drawn at all."""
        self.pending.drawn.connect(self._take)

    def use(self, smiles: Sequence[str] | None, cores: Sequence[str] = ()) -> None:
        """From now on pictures are turned to these cores, else to what the structures have in common."""
        library, around = tuple(smiles or ()), tuple(cores)
        if (library, around) != (self._series.smiles, self._series.cores):
            self._series = _Series(library, around)
            self._kept.clear()
            self._asked.clear()
            self._bytes = 0

    def switch(self, wanted: bool) -> None:
        """From now on structures are drawn, or written as SMILES instead."""
        self.wanted = wanted
        self.ready.emit()

    def aligned(self) -> Aligned:
        """What draws the structures alike; not for the window's own thread."""
        return self._series.aligned

    def picture(self, smiles: str, size: QSize, ratio: float) -> QImage | None:
        """The picture, or None while it is being drawn and when RDKit cannot read the structure."""
        if not self.wanted or not smiles or size.width() < 8 or size.height() < 8:
            return None
        key = (smiles, size.width(), size.height(), ratio, theme().colours.dark)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if key in self._asked:
            self._asked.move_to_end(key)
        else:
            self._asked[key] = None
            while len(self._asked) > WAITING:  # scrolled past before they were drawn
                self._asked.popitem(last=False)
            self._latest += 1  # what came into sight last is drawn first
            drawing_pool().start(_Drawing(self.pending, key, self._series), self._latest)
        return None

    def _take(self, key: Key, image: QImage, readable: bool) -> None:
        if key not in self._asked:  # of another campaign, or scrolled past meanwhile
            return
        del self._asked[key]
        self._kept[key] = kept = image if readable else None
        self._bytes += _size(kept)
        while self._bytes > KEPT and len(self._kept) > WAITING:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= _size(gone)
        self.ready.emit()


def _size(image: QImage | None) -> int:
    """Bytes of a picture; some for the note that there is none."""
    return 500 if image is None else image.sizeInBytes()


class StructureDelegate(QStyledItemDelegate):
    """Draws the structure of visible cells."""

    def __init__(self, structures: Structures, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._structures = structures

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint the cell."""
        self.initStyleOption(option, index)
        widget = option.widget
        if widget is not None:
            widget.style().drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, widget)
        box = option.rect.adjusted(3, 2, -3, -2)
        smiles, words = str(index.data(SMILES) or ""), str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        if not self._structures.wanted or not smiles:
            text = option.fontMetrics.elidedText(words or smiles, Qt.TextElideMode.ElideRight, box.width() - 5)
            painter.setPen(option.palette.color(QPalette.ColorRole.Text))
            painter.drawText(box.adjusted(5, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, text)
            return
        ratio = widget.devicePixelRatioF() if widget is not None else 1.0
        image = self._structures.picture(smiles, box.size(), ratio)
        if image is not None:
            painter.drawImage(box.topLeft(), image)


class StructureView(QWidget):
    """One structure, large."""

    def __init__(self, structures: Structures) -> None:
        super().__init__()
        self._structures = structures
        self._smiles = ""
        self.setFixedHeight(150)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        structures.ready.connect(self._fit)
        theme().changed.connect(self.update)

    def _fit(self) -> None:
        self.setVisible(bool(self._smiles) and self._structures.wanted)
        self.update()

    def show_structure(self, smiles: str) -> None:
        """Show a structure; without one the view is hidden."""
        self._smiles = smiles
        self._fit()
        self.setAccessibleName(f"Structure {smiles}" if smiles else "")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture."""
        painter = QPainter(self)
        painter.setPen(QColor(theme().colours.line))
        painter.setBrush(QColor(theme().colours.page))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        image = self._structures.picture(self._smiles, self.size(), self.devicePixelRatioF())
        if image is not None:
            painter.drawImage(0, 0, image)
        painter.end()


TIP = QSize(280, 180)


class StructureTip(QWidget):
    """One structure, large, beside the pointer, with its name and SMILES below."""

    def __init__(self, parent: QWidget, structures: Structures) -> None:
        super().__init__(parent, Qt.WindowType.ToolTip)
        self._structures, self._smiles, self._name = structures, "", ""
        structures.ready.connect(self.update)

    def show_structure(self, smiles: str, name: str, at: QPoint) -> None:
        """Show a structure beside a point of the screen."""
        self._smiles, self._name = smiles, name
        self.setAccessibleName(f"Structure {smiles}")
        line = self.fontMetrics().lineSpacing()
        self.resize(TIP.width() + 2, TIP.height() + line * (3 if name else 2))
        self.move(at + QPoint(14, 10))
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture once it is there."""
        painter, colours = QPainter(self), theme().colours
        painter.setPen(QColor(colours.line))
        painter.setBrush(QColor(colours.page))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        image = self._structures.picture(self._smiles, TIP, self.devicePixelRatioF())
        if image is not None:
            painter.drawImage(1, 1, image)
        below, metrics = TIP.height() + self.fontMetrics().lineSpacing(), self.fontMetrics()
        for text, colour in ((self._name, colours.text), (self._smiles, colours.muted)):
            if text:
                painter.setPen(QColor(colour))
                painter.drawText(8, below, metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, TIP.width() - 14))
                below += metrics.lineSpacing()
        painter.end()


PICTURE = QSize(300, 225)
LARGER = 4
"""Pixels of a copied picture for each of these."""


class CopiedStructure(StructureView):
    """One structure of a library, large, with a menu of what can be copied of it."""

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
        """What is shown; empty without a structure."""
        return "" if self._library is None or self._compound is None else self._library.drawing(self._compound)

    @property
    def name(self) -> str:
        """The id of what is shown."""
        return "" if self._library is None or self._compound is None else self._library.ids[self._compound]

    def show_menu(self, at: QPoint) -> None:
        """Offer what can be copied."""
        menu = QMenu(self)
        for text, copy in self.copies:
            menu.addAction(text, copy)
        show_menu(menu, at)

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
        """Open the menu, where the mouse is or, asked for by the keyboard, in the picture."""
        mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        self.show_menu(event.globalPos() if mouse else self.mapToGlobal(QPoint(20, 20)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy copies the SMILES, Space and Enter open the menu."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_smiles()
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.show_menu(self.mapToGlobal(QPoint(20, 20)))
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The keyboard is elsewhere."""
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture, with an edge while the keyboard is here."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(theme().colours.accent), 1))
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 8, 8)
            painter.end()
