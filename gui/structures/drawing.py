"""Pictures of structures, drawn off the window's thread when first seen, and copies of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QByteArray,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    QThreadPool,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QImage,
    QPainter,
    QPaintEvent,
    QPalette,
)
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ..resources.theme import theme
from ..runtime.tasks import AfterPainting
from ..tables.rows import SMILES

if TYPE_CHECKING:
    from assaypilot.engine.figures.aligned import Aligned


KEPT = 30_000_000
"""Bytes of pictures kept: those of 600 cells, or of 150 on a screen twice as sharp."""
WAITING = 120
"""Pictures that wait to be drawn at most, and that are kept in any case: more than a large screen shows."""
AT_ONCE = 4
"""Pictures drawn before the window has its turn: RDKit keeps Python to itself, and a table painted meanwhile waits."""

Key = tuple[str, int, int, float, bool]

_pool: QThreadPool | None = None


def drawing_pool() -> QThreadPool:
    """Return the one thread that draws structures and plots; made on first use."""
    global _pool
    if _pool is None:
        _pool = QThreadPool()
        _pool.setMaxThreadCount(1)
        # The libraries that draw are loaded in it once, and threads that end and come again are no use.
        _pool.setExpiryTimeout(-1)
    return _pool


SAMPLE, SHORTEST, LARGE = 30, 7.0, 100
"""Structures by which the size of all in a table is chosen; pixels of a bond at least, as rows are low; and the height
of a picture that stands alone, and is filled."""


class _Series:
    """The structures of a library, and the template that aligns them."""

    def __init__(self, smiles: tuple[str, ...] = (), cores: tuple[str, ...] = ()) -> None:
        self.smiles, self.cores = smiles, cores
        self._bonds: dict[tuple[int, int], float] = {}

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(filter(None, self.smiles))

    @cached_property
    def aligned(self) -> Aligned:
        """The drawer, made on a drawing thread."""
        from assaypilot.engine.figures.aligned import Aligned

        return Aligned(self.cores, self.smiles)

    def bond(self, smiles: str, width: int, height: int) -> float | None:
        """Return pixels of a bond so that rings are equally large in a table of the library; else None."""
        if height >= LARGE or smiles not in self._known:
            return None
        if (width, height) not in self._bonds:
            sample = sorted(self._known)
            sample = sample[:: -(-len(sample) // SAMPLE)]
            self._bonds[width, height] = self.aligned.bond(sample, width, height, SHORTEST)
        return self._bonds[width, height]


class _Signals(QObject):
    """The part of the owner that a drawing may use: the drawing may end after its owner."""

    drawn = Signal(object)
    """The pictures by their keys, None where RDKit cannot read the structure."""


def _draw(signals: _Signals, keys: Sequence[Key], series: _Series) -> None:
    """Draw some pictures and hand them over."""
    drawn: dict[Key, QImage | None] = dict.fromkeys(keys)
    failed: Exception | None = None
    for key in keys:
        try:
            drawn[key] = _picture(series, *key)
        except Exception as error:  # its neighbours, and those that wait, are drawn all the same
            failed = error
    signals.drawn.emit(drawn)
    if failed is not None:
        raise failed


def _picture(series: _Series, smiles: str, width: int, height: int, ratio: float, dark: bool) -> QImage | None:
    from PySide6.QtSvg import QSvgRenderer

    svg = series.aligned.svg(smiles, width, height, bond=series.bond(smiles, width, height), dark=dark)
    if svg is None:
        return None
    image = QImage(int(width * ratio), int(height * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(svg.encode())).render(painter)
    painter.end()
    image.setDevicePixelRatio(ratio)
    return image


class Structures(QObject):
    """The pictures of one campaign's structures."""

    ready = Signal()
    """New pictures are there."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._series = _Series()
        self._kept: OrderedDict[Key, QImage | None] = OrderedDict()
        self._bytes = 0
        self._pending: OrderedDict[Key, int] = OrderedDict()
        """Pictures that wait to be drawn, those seen last at the end, and the painting that wanted each."""
        self._painting = 0
        self._next = AfterPainting(self, self._painted)
        self._drawing = False
        self._signals = _Signals()
        self.wanted = True
        """Whether anything is drawn at all."""
        self._signals.drawn.connect(self._take)

    @property
    def busy(self) -> bool:
        """Whether pictures are to come."""
        return bool(self._pending)

    def use(self, smiles: Sequence[str] | None, cores: Sequence[str] = ()) -> None:
        """Align pictures to these cores from now on, else to the common part of the structures."""
        library, around = tuple(smiles or ()), tuple(cores)
        if (library, around) != (self._series.smiles, self._series.cores):
            self._series = _Series(library, around)
            self._kept.clear()
            self._pending.clear()
            self._bytes = 0

    def switch(self, wanted: bool) -> None:
        """From now on structures are drawn, or written as SMILES instead."""
        self.wanted = wanted
        self.ready.emit()

    def aligned(self) -> Aligned:
        """Return the drawer that aligns the structures; not for the window's own thread."""
        return self._series.aligned

    def picture(self, smiles: str, size: QSize, ratio: float) -> QImage | None:
        """Return the picture, or None while it is being drawn and when RDKit cannot read the structure."""
        if not self.wanted or not smiles or size.width() < 8 or size.height() < 8:
            return None
        key = (smiles, size.width(), size.height(), ratio, theme().colours.dark)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        self._pending[key] = self._painting
        self._pending.move_to_end(key)
        self._next.start()
        if len(self._pending) > WAITING:  # scrolled past before they were drawn
            self._pending.popitem(last=False)
        return None

    def _painted(self) -> None:
        """Draw what this painting lacked; whatever is wanted from now on belongs to another."""
        self._painting += 1
        self._draw_next()

    def _draw_next(self) -> None:
        """Draw the structures that came into sight last first, those of one painting from the top."""
        if self._pending and not self._drawing:
            self._drawing = True
            latest = next(reversed(self._pending.values()))
            keys = [key for key, painting in self._pending.items() if painting == latest][:AT_ONCE]
            drawing_pool().start(partial(_draw, self._signals, keys, self._series))

    def _take(self, drawn: Mapping[Key, QImage | None]) -> None:
        self._drawing = False
        for key in drawn.keys() & self._pending.keys():  # not those of another campaign, or scrolled past meanwhile
            del self._pending[key]
            self._kept[key] = drawn[key]
            self._bytes += _size(drawn[key])
        while self._bytes > KEPT and len(self._kept) > WAITING:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= _size(gone)
        self._draw_next()
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
    """One structure, large; with an edge unless it is not ``framed``."""

    def __init__(self, structures: Structures, *, framed: bool = True) -> None:
        super().__init__()
        self._structures, self._framed = structures, framed
        self.shown = ""
        """The SMILES of the structure shown."""
        self.setFixedHeight(150)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        structures.ready.connect(self._fit)
        theme().changed.connect(self.update)

    def _fit(self) -> None:
        self.setVisible(bool(self.shown) and self._structures.wanted)
        self.update()

    def show_structure(self, smiles: str) -> None:
        """Show a structure; without one the view is hidden."""
        self.shown = smiles
        self._fit()
        self.setAccessibleName(f"Structure {smiles}" if smiles else "")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture."""
        painter = QPainter(self)
        if self._framed:
            painter.setPen(QColor(theme().colours.line))
            painter.setBrush(QColor(theme().colours.page))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        image = self._structures.picture(self.shown, self.size(), self.devicePixelRatioF())
        if image is not None:
            painter.drawImage(0, 0, image)
        painter.end()
