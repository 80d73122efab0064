"""How wide the columns of a table are: what their texts ask for, what somebody set, and the room there is."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QTableView

from ..models.base import Column, RowsModel
from ..theme import theme

__all__ = ["NARROWEST", "Widths"]

SAMPLED = 120
STEP = 7919
"""Rows looked at for the width of a column."""
NARROWEST, WIDEST = 32, 260
SOFTEST = 92
"""Pixels a column that may be narrow keeps."""


class Widths:
    """Gives the columns of a view their widths."""

    def __init__(self, view: QTableView, model: RowsModel) -> None:
        self._view, self._model = view, model
        self.own: dict[str, int] = {}
        """Widths somebody has set, by key; while there are any, none is changed."""
        self.filling = False
        """Whether widths are being given just now."""
        self._flexible, self._least = "", 0
        self._natural: list[int] = []
        """Widths that the columns' texts ask for, worked out for these columns and this size of the text."""
        self._columns: tuple[Column, ...] = ()
        self._sized: tuple[str, float] = ("", 0.0)

    def stretch(self, key: str, least: int = 80) -> None:
        """From now on the column with this key takes the room that is left, but at least so many pixels."""
        self._flexible, self._least = key, least
        self.fill()

    def take_over(self, widths: Mapping[str, int]) -> None:
        """Columns have these widths from now on, by key; none: they follow their texts and the room."""
        self.own = dict(widths)
        self.fill()

    def measure(self) -> None:
        """Work out what the columns there are now ask for, and give it to them."""
        columns = self._model.columns
        sized = (self._view.font().key(), theme().scale)
        if self._sized != sized or self._columns is not columns:  # a filter alone changes no text of any row
            self._sized, self._columns = sized, columns
            self._natural = [_scaled(c.width, c) or self._fitting(place) for place, c in enumerate(columns)]
        self.fill()

    def fill(self, *, again: bool = True) -> None:
        """What room there is goes to the flexible column, what is missing is taken from the soft ones."""
        columns = self._model.columns
        if not columns or len(self._natural) != len(columns) or self.filling:
            return
        there = self._view.viewport().width()
        seen = [n for n in range(len(columns)) if not self._view.isColumnHidden(n)]
        widths = {n: self.own.get(columns[n].key, self._natural[n]) for n in seen}
        if not self.own:
            self._share(widths, there)
        self.filling = True
        for place, width in widths.items():
            if self._view.columnWidth(place) != width:
                self._view.setColumnWidth(place, width)
        self.filling = False
        if again and self._view.viewport().width() != there:  # a scroll bar came or went meanwhile
            self.fill(again=False)

    def _share(self, widths: dict[int, int], there: int) -> None:
        """Change widths, by place, so that they fill the room or come near to it."""
        columns = self._model.columns
        flexible = next((n for n in widths if columns[n].key == self._flexible), None)
        if flexible is not None:
            widths[flexible] = self._least
        room = there - sum(widths.values())
        # The flexible column comes first: in what is left for it its words would stand one below the other.
        for place in sorted(widths, key=lambda place: place != flexible):
            more = min(_scaled(columns[place].wish, columns[place]) - widths[place], room)
            if more > 0:
                widths[place] += more
                room -= more
        if room > 0 and widths:
            # Lines and selection reach the right edge; a number does not go there alone.
            words = [place for place in widths if not columns[place].number and columns[place].smiles is None]
            visual = self._view.horizontalHeader().visualIndex
            last = max(words or widths, key=visual)
            if flexible is None and any(visual(place) > visual(last) for place in widths):
                room -= self._spread(widths, room)  # a gap in the middle would tear lines apart
            widths[last if flexible is None else flexible] += room
            room = 0
        softest = _scaled(SOFTEST)
        soft = {n: widths[n] - softest for n in widths if columns[n].soft and widths[n] > softest}
        give = sum(soft.values())
        if room < 0 < give:
            for place, most in soft.items():
                widths[place] -= min(most, -(-most * -room // give))

    def _spread(self, widths: dict[int, int], room: int) -> int:
        """The part of some room that all columns but pictures took, each in proportion to its width."""
        columns = self._model.columns
        growing = {place: width for place, width in widths.items() if columns[place].smiles is None}
        whole = sum(growing.values())
        more = {place: room * width // whole for place, width in growing.items()} if whole else {}
        for place, one in more.items():
            widths[place] += one
        return sum(more.values())

    def _fitting(self, place: int) -> int:
        column = self._model.columns[place]
        metrics = self._view.fontMetrics()
        size = self._model.size
        # A step that has nothing to do with how a product of sites repeats.
        rows = range(size) if size <= SAMPLED else [place * STEP % size for place in range(SAMPLED)]
        widest = max((metrics.horizontalAdvance(column.text(row)[:80]) for row in rows), default=0)
        # The arrow of the sorted column stands behind the title.
        return min(
            max(NARROWEST, widest + 18, max(map(metrics.horizontalAdvance, column.title.split("\n"))) + 20),
            _scaled(WIDEST),
        )


def _scaled(pixels: int, column: Column | None = None) -> int:
    """Pixels as wide as the letters ask for; of a picture half as much more."""
    more = theme().scale - 1
    return round(pixels * (1 + (more / 2 if column is not None and column.smiles is not None else more)))
