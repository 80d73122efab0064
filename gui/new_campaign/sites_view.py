"""The sites of a series and their substituents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from assaypilot.engine.tables.check import pairs_worth
from assaypilot.engine.text.percentages import percent

from ..structures.drawing import Structures
from ..tables.rows import Column, RowsModel, text_ranks
from ..tables.table import Table
from ..widgets.inputs import FilterBox, Scrolled, combo_box, fill_box, line_edit
from ..widgets.layout import STRETCH, column_of, empty, put, row_of
from ..widgets.text import button, label
from .columns_pane import Smaller
from .table_work import Checked


@dataclass(frozen=True, slots=True)
class Substituent:
    """One substituent of a site."""

    site: str
    label: str
    """As the table has it."""
    shown: str
    drawn: str
    """SMILES for a picture; empty for a plain label."""
    count: int
    """Compounds that carry it."""


class SubstituentsModel(RowsModel):
    """Site, substituent, picture where it is a structure, compounds."""

    entries: tuple[Substituent, ...] = ()

    def show(self, entries: Sequence[Substituent]) -> None:
        """Take over the list."""
        kept = self.entries = tuple(entries)
        pictures = any(one.drawn for one in kept)
        columns = [
            Column("site", "Site", lambda row: kept[row].site, lambda: text_ranks([one.site for one in kept])),
            Column(
                "shown",
                "Substituent",
                lambda row: kept[row].shown,
                lambda: text_ranks([one.shown for one in kept]),
                cell_tip=lambda row: kept[row].shown,
                soft=True,
            ),
        ]
        if pictures:
            columns.append(
                Column("picture", "Structure", lambda row: "", smiles=lambda row: kept[row].drawn, width=130)
            )
        columns += [
            Column(
                "count",
                "Compounds",
                lambda row: f"{kept[row].count:,}",
                lambda: np.array([one.count for one in kept], dtype=np.int64),
                number=True,
            ),
            Column(
                "said",
                "",
                lambda row: "seen once" if kept[row].count == 1 else "",
                kind=lambda row: "muted",
            ),
        ]
        self.fill(columns, len(kept))

    def narrow(self, site: str, text: str) -> None:
        """Show the substituents of a site (empty: of all) whose name, here or in the table, holds a text."""
        mask = self.holding(text, lambda row: self.entries[row].label)
        if site:
            own = np.array([one.site == site for one in self.entries], dtype=bool)
            mask = own if mask is None else mask & own
        self.only(mask)


MOST_SEEN = 999
WIDE = 1000
"""Pixels; a field without a width of its own takes the room there is."""


class SitesView(QWidget):
    """Substituents, and below them the steps that make a sparse series smaller, where they matter or are asked for."""

    wanted = Signal(object)
    """How the series is to be made smaller (a Smaller)."""

    def __init__(self) -> None:
        super().__init__()
        self.smaller = Smaller()
        self._asked = False
        self.tools = Scrolled(self._tools())
        column_of((self._list(), 3), (self.tools, 2), holder=self, spacing=14)

    def _list(self) -> QVBoxLayout:
        column = column_of(spacing=10)
        top = row_of(spacing=10)
        self.site = combo_box("Site")
        self.site.setMinimumWidth(170)
        self.site.currentIndexChanged.connect(lambda _: self._narrow())
        self.filter = FilterBox("Filter substituents", "Filter substituents")
        self.filter.narrowed.connect(lambda _: self._narrow())
        self.open = button("Make the series smaller…", "link", then=self._open)
        put(top, self.site, (self.filter, 1), self.open)
        column.addLayout(top)
        self.model = SubstituentsModel(self)
        self._structures = Structures(self)
        self.table = Table(self.model, self._structures, name="Substituents of the sites")
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._selected())
        self.model.modelReset.connect(self._selected)
        column.addWidget(self.table, 1)
        return column

    def _tools(self) -> QWidget:
        holder = QWidget()
        column = column_of(
            label("Make a sparse series smaller", "heading"),
            label(
                "A substituent that one compound alone carries does not inform the others. Each step can be undone; "
                "the table itself stays as it is.",
                "muted",
                wrap=True,
            ),
            holder=holder,
            margins=(0, 0, 8, 0),
            spacing=10,
        )
        self.least = QLineEdit("2")
        self.least.setValidator(QIntValidator(2, MOST_SEEN, self.least))
        self.least.setFixedWidth(56)
        self.least.setAccessibleName("Fewest compounds that carry a substituent")
        self.least.returnPressed.connect(self._keep)
        self.keep = button("Keep those", tip="Compounds with a rarer substituent are not used", then=self._keep)
        keeping = label("Substituents in at least")
        keeping.setBuddy(self.least)
        column.addLayout(_line(keeping, self.least, label("compounds"), None, self.keep))
        self.dropped = combo_box("Site to leave out")
        self.dropped.setMinimumWidth(120)
        self.drop = button(
            "Leave it out", tip="Compounds that differ there alone are the same to the model", then=self._drop
        )
        dropping = label("The site")
        dropping.setBuddy(self.dropped)
        column.addLayout(_line(dropping, self.dropped, None, self.drop))
        self.first, self.second = QComboBox(), QComboBox()
        for combo, which in ((self.first, "First"), (self.second, "Second")):
            combo.setAccessibleName(f"{which} of two sites to take together")
            combo.setMinimumWidth(80)
        self.together = button(
            "Take together",
            tip="The model then knows the combinations that occur there, for sites whose effects do not add up",
            then=self._together,
        )
        taking = label("The sites")
        taking.setBuddy(self.first)
        column.addLayout(_line(taking, self.first, label("and"), self.second, None, self.together))
        self.sign = label("", "muted", wrap=True)
        column.addWidget(self.sign)
        self.chosen = label("", "", wrap=True)
        column.addWidget(self.chosen)
        self.name = line_edit("Name of the joined substituents", hint="such as alkyl")
        self.name.textChanged.connect(lambda _: self._selected())
        self.name.returnPressed.connect(self._join)
        self.join = button("Count as one", tip="The substituents selected above, of one site", then=self._join)
        naming = label("under the name")
        naming.setBuddy(self.name)
        column.addLayout(_line(naming, self.name, self.join))
        self.problem = label("", "problem", wrap=True)
        self.problem.hide()
        column.addWidget(self.problem)
        self.heading = label("Steps", "heading")
        column.addWidget(self.heading)
        self.rank = label("", "muted", wrap=True)
        column.addWidget(self.rank)
        self.steps = column_of(spacing=8)
        put(column, self.steps, STRETCH)
        return holder

    # ------------------------------------------------------------------ content

    def show_checked(self, checked: Checked, smaller: Smaller) -> None:
        """Show the sites and the steps as they are now."""
        self.smaller = smaller
        entries = [
            Substituent(site.name, label, shown, drawn, count)
            for site in checked.sites
            for label, shown, drawn, count in zip(
                site.substituents, site.shown, site.drawn or [""] * len(site.shown), site.counts, strict=True
            )
        ]
        before = self.site.currentData()
        sizes = [(f"{site.name}: {len(site.substituents):,} substituents", site.name) for site in checked.sites]
        fill_box(self.site, [("All sites", ""), *sizes], before)
        self.model.show(entries)
        self.model.narrow(str(self.site.currentData() or ""), self.filter.text())
        for combo in (self.dropped, self.first, self.second):
            fill_box(combo, [(site.name, site.name) for site in checked.sites])
        self.drop.setEnabled(len(checked.sites) > 1)
        self._propose_pair(checked)
        self.together.setEnabled(len(checked.sites) > 1)
        self.least.setText(str(max(smaller.min_seen, 2)))
        self._show_steps(checked)
        self._selected()
        self._sparse = self.smaller != Smaller() or not self.sign.isHidden() or any(one.count == 1 for one in entries)
        self._arrange()

    _sparse = False
    """Whether there is a reason to make the series smaller, or it was made so."""

    def _open(self) -> None:
        self._asked = True
        self._arrange()

    def _arrange(self) -> None:
        shown = self._asked or self._sparse
        self.tools.setVisible(shown)
        self.open.setVisible(not shown)

    def _propose_pair(self, checked: Checked) -> None:
        """Propose the sites whose effects most surely do not add up, and say so; else the first."""
        names = [site.name for site in checked.sites]
        signs = [one for one in pairs_worth(checked.fact) if set(one.sites) <= set(names)] if checked.facts else []
        pair = signs[0].sites if signs else tuple(names[:2])
        for name, combo in zip(pair, (self.first, self.second), strict=False):
            combo.setCurrentIndex(names.index(name))
        self.sign.setVisible(bool(signs))
        if signs:
            one = signs[0]
            self.sign.setText(
                f"The values say that {one.sites[0]} and {one.sites[1]} act together: taken as one they explain "
                f"{percent(one.explained)} of what the sum of effects leaves, with {one.rank_after:,} unknowns instead "
                f"of {one.rank_before:,}."
            )

    def refuse(self, text: str) -> None:
        """Say why a step cannot be done."""
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    def _show_steps(self, checked: Checked) -> None:
        empty(self.steps)
        steps = checked.imported.steps
        compounds = checked.imported.compounds
        pairs = self.smaller.together
        n = len(steps) + len(pairs)
        self.heading.setText(f"Steps ({n})" if n else "Steps")
        self.rank.setText(
            f"Now: {compounds:,} compounds, rank {checked.rank:,} of {checked.max_rank:,}"
            + ("" if n else "; nothing was made smaller.")
        )
        for place, step in enumerate(steps):
            numbers = (
                f"{step.compounds_before:,} → {step.compounds_after:,} compounds, rank {step.rank_before:,} of "
                f"{step.max_rank_before:,} → {step.rank_after:,} of {step.max_rank_after:,}"
            )
            self._card(step.text, numbers, lambda _=False, place=place: self._take_back(place))
        for place, pair in enumerate(pairs):
            both = " and ".join(pair.split(","))
            said = "Their effects need not add up: each combination that occurs has its own."
            self._card(f"{both} are taken together", said, lambda _=False, place=place: self._apart(place))

    def _card(self, text: str, more: str, undo: Callable[..., None]) -> None:
        """Add a step that can be taken back."""
        box = QFrame()
        box.setObjectName("card")
        row = row_of(
            (column_of(label(text, wrap=True), label(more, "muted", wrap=True), spacing=2), 1),
            holder=box,
            margins=(12, 8, 8, 8),
        )
        back = button("Undo", "link")
        back.setAccessibleName(f"Undo: {text}")
        back.clicked.connect(undo)
        row.addWidget(back, 0, Qt.AlignmentFlag.AlignTop)
        self.steps.addWidget(box)

    # ------------------------------------------------------------------ doing

    def _want(self, smaller: Smaller) -> None:
        self.refuse("")
        self.wanted.emit(smaller)

    def _keep(self) -> None:
        if self.least.hasAcceptableInput():
            self._want(replace(self.smaller, min_seen=int(self.least.text())))
        else:
            self.refuse(f"A whole number from 2 to {MOST_SEEN} is needed.")

    def _drop(self) -> None:
        name = self.dropped.currentData()
        if name is not None:
            left = tuple(pair for pair in self.smaller.together if name not in pair.split(","))
            self._want(replace(self.smaller, drop_sites=(*self.smaller.drop_sites, name), together=left))

    def _join(self) -> None:
        chosen, name = self._of_one_site(), self.name.text().strip()
        if len(chosen) < 2 or not name:
            return
        if any("," in one.label for one in chosen):
            self.refuse("A substituent whose name has a comma cannot be joined with others.")
            return
        if "=" in name:
            self.refuse("The name must not have an equals sign.")
            return
        text = f"{chosen[0].site}:{','.join(one.label for one in chosen)}={name}"
        self.name.clear()
        self._want(replace(self.smaller, joined=(*self.smaller.joined, text)))

    def _together(self) -> None:
        pair = self.first.currentData(), self.second.currentData()
        if pair[0] == pair[1]:
            self.refuse("Choose two different sites.")
            return
        if any("," in name for name in pair):
            self.refuse("A site whose name has a comma cannot be taken together with another.")
            return
        if {pair, pair[::-1]} & {tuple(text.split(",")) for text in self.smaller.together}:
            self.refuse(f"{pair[0]} and {pair[1]} are taken together already.")
            return
        self._want(replace(self.smaller, together=(*self.smaller.together, ",".join(pair))))

    def _apart(self, place: int) -> None:
        """Take a pair of sites apart again."""
        pairs = self.smaller.together
        self._want(replace(self.smaller, together=pairs[:place] + pairs[place + 1 :]))

    def _take_back(self, place: int) -> None:
        """Leave a step out; they are done in the order joined, left out, kept."""
        joined, dropped = self.smaller.joined, self.smaller.drop_sites
        if place < len(joined):
            self._want(replace(self.smaller, joined=joined[:place] + joined[place + 1 :]))
            return
        place -= len(joined)
        if place < len(dropped):
            self._want(replace(self.smaller, drop_sites=dropped[:place] + dropped[place + 1 :]))
            return
        self._want(replace(self.smaller, min_seen=1))

    def _of_one_site(self) -> list[Substituent]:
        """Return the substituents selected, when they are of one site."""
        chosen = [self.model.entries[row] for row in self.table.selected_rows() if row < len(self.model.entries)]
        return chosen if len({one.site for one in chosen}) == 1 else []

    def _selected(self) -> None:
        chosen = self._of_one_site()
        if len(chosen) > 1:
            names = ", ".join(one.shown for one in chosen[:4]) + (
                f" and {len(chosen) - 4} more" if len(chosen) > 4 else ""
            )
            self.chosen.setText(f"{chosen[0].site}: {names}")
        else:
            self.chosen.setText("Select two or more substituents of one site to count them as one.")
        self.join.setEnabled(len(chosen) > 1 and bool(self.name.text().strip()))

    def _narrow(self) -> None:
        self.model.narrow(str(self.site.currentData() or ""), self.filter.text())


def _line(*parts: QWidget | None) -> QHBoxLayout:
    """Parts in a row; None: room between."""
    row = row_of(spacing=8)
    for part in parts:
        if part is None:
            row.addStretch(1)
        elif isinstance(part, QLineEdit) and part.maximumWidth() > WIDE:
            row.addWidget(part, 1)
        else:
            row.addWidget(part)
    return row
