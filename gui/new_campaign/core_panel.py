"""The core of a series whose structures are to be decomposed: proposed, confirmed or replaced."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QListWidget, QListWidgetItem, QWidget

from ..runtime.settings import Settings
from ..structures.drawing import Structures, StructureView
from ..tables.rows import plain_tip
from ..widgets.inputs import line_edit
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import button, label
from .table_work import CoreChoice

PICTURE = 200
"""Pixels of the picture's height."""


class CorePanel(QWidget):
    """Cores with a tick for those that are used, and the picture of the current one."""

    changed = Signal()
    """Other cores are used."""
    wanted = Signal(object)
    """Texts or files of cores to be read (a list of texts)."""
    proposal_wanted = Signal()
    """A core is to be proposed from the structures."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.choices: list[CoreChoice] = []
        self._filling = False
        column = column_of(holder=self, spacing=8)
        self.heading = label("Which core do the compounds share?", "heading")
        self.words = label("", "muted", wrap=True)
        put(column, self.heading, self.words)
        middle = row_of(spacing=12)
        self._structures = Structures(self)
        self.picture = StructureView(self._structures)
        self.picture.setFixedHeight(PICTURE)
        self.list = QListWidget()
        self.list.setAccessibleName("Cores; a tick means that it is used")
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFixedHeight(PICTURE - 42)
        self.list.currentRowChanged.connect(self._look)
        self.list.itemChanged.connect(self._ticked)
        self.draw = button("Draw…", tip="Draws another core, beginning with this one", then=self._draw)
        self.forget = button("Remove", tip="Takes the core off the list", then=self._forget)
        right = column_of(self.list, row_of(self.draw, self.forget, STRETCH, spacing=8), spacing=8)
        put(middle, (self.picture, 1), (right, 1))
        column.addLayout(middle)
        row = row_of(spacing=8)
        self.typed = line_edit("Core as SMILES", hint="SMILES", tip="Another core, its sites as [*:1], [*:2], …")
        self.typed.returnPressed.connect(self._add)
        self.add = button("Add", then=self._add)
        self.browse = button("From a file…", tip="A mol, sdf or smi file with one or more cores", then=self._browse)
        self.propose = button("Propose", tip="Looks for what most of the structures share", then=self.proposal_wanted)
        put(row, (self.typed, 1), self.add, self.browse, self.propose)
        column.addLayout(row)
        self.problem = label("", "problem", wrap=True)
        self.problem.hide()
        put(column, self.problem, STRETCH)
        self._refresh()

    # ------------------------------------------------------------------ content

    @property
    def cores(self) -> tuple[str, ...]:
        """The cores that are used."""
        return tuple(
            one.smiles
            for place, one in enumerate(self.choices)
            if self.list.item(place).checkState() == Qt.CheckState.Checked
        )

    def clear(self) -> None:
        """Forget every core."""
        self.choices.clear()
        self._filling = True
        self.list.clear()
        self._filling = False
        self.typed.clear()
        self.refuse("")
        self._refresh()

    def offer(self, found: Sequence[CoreChoice], *, used: bool) -> None:
        """Add cores to the list, ticked when they are ``used``; one that is there already is only ticked.

        Of a proposal those to take are ticked, unless another core is used.
        """
        self.refuse("")
        ticked = [used or (one.taken and not self.cores) for one in found]
        self._filling = True
        first: int | None = None
        for one, tick in zip(found, ticked, strict=True):
            place = next((n for n, old in enumerate(self.choices) if old.smiles == one.smiles), None)
            if place is None:
                place = len(self.choices)
                self.choices.append(one)
                item = QListWidgetItem(_text_of(one))
                item.setFlags(
                    Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
                )
                item.setCheckState(Qt.CheckState.Unchecked)
                item.setToolTip(plain_tip(one.smiles))
                self.list.addItem(item)
            if tick:
                self.list.item(place).setCheckState(Qt.CheckState.Checked)
            first = place if first is None else first
        self._filling = False
        if first is not None:
            self.list.setCurrentRow(first)
        self._refresh()
        if any(ticked):
            self.changed.emit()

    def searching(self) -> None:
        """Show that a proposal is on its way."""
        self.words.setText("Looking for what most of the structures share…")

    def found_nothing(self) -> None:
        """There is no proposal."""
        self._refresh()
        if not self.choices:
            self.words.setText("The structures share no part worth proposing. Draw or type the core, or give its file.")

    def stopped(self) -> None:
        """Show that the search was cancelled."""
        self._refresh()
        if not self.choices:
            self.words.setText("The search was stopped. Draw or type the core, give its file, or propose again.")

    def refuse(self, text: str) -> None:
        """Show why a core cannot be used."""
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    # ------------------------------------------------------------------ inside

    def _look(self, place: int) -> None:
        self.picture.show_structure(self.choices[place].drawn if 0 <= place < len(self.choices) else "")
        self.picture.show()
        self._refresh()

    def _ticked(self) -> None:
        if not self._filling:
            self._refresh()
            self.changed.emit()

    def _forget(self) -> None:
        place = self.list.currentRow()
        if place < 0:
            return
        used = self.list.item(place).checkState() == Qt.CheckState.Checked
        del self.choices[place]
        self.list.takeItem(place)
        self._look(self.list.currentRow())
        if used:
            self.changed.emit()

    def _add(self) -> None:
        text = self.typed.text().strip()
        if text:
            self.wanted.emit([text])

    def _draw(self) -> None:
        """Have a core drawn, beginning with the current one."""
        from ..structures.sketcher import ask_for_structure

        place = self.list.currentRow()
        start = self.typed.text().strip() or (self.choices[place].smiles if place >= 0 else "")
        ask_for_structure("Draw the core", "&Add core", start, self.window(), lambda smiles: self.wanted.emit([smiles]))

    def _browse(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self,
            "Choose a file with the core",
            str(self.settings.folder),
            "Cores (*.mol *.mdl *.sdf *.sd *.smi *.smiles)",
        )
        if name:
            self.settings.folder = Path(name).parent
            self.wanted.emit([name])

    def _refresh(self) -> None:
        self.forget.setEnabled(self.list.currentItem() is not None)
        if self.cores:
            text = "Tick another if it is not the core of the series."
        elif self.choices:
            text = "No core is used yet. Tick the one of the series, with a site where compounds differ."
        else:
            text = "Draw or type the core, give its file, or have one proposed."
        self.words.setText(text)


def _text_of(one: CoreChoice) -> str:
    """Return a core in the list."""
    if one.used is None:
        return one.smiles
    return f"In {one.used:,} of {one.sample:,} structures"
