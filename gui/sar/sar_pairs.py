"""Matched pairs: their rows and their table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from assaypilot.engine.arrays import Floats
from assaypilot.engine.chemistry.names import site_names
from assaypilot.engine.export.pictures import Compared
from assaypilot.engine.export.shortlist import decimals_of
from assaypilot.engine.text import many

from ..library.library_rows import STRUCTURE_WIDTH, drawn_labels
from ..structures.drawing import Structures
from ..tables.rows import Column, RowsModel, numbers, words
from ..tables.table import Table
from ..widgets.inputs import FilterBox, Segments
from ..widgets.layout import column_of, put, row_of
from ..widgets.text import label

KINDS = (("changes", "Changes"), ("cliffs", "Cliffs"), ("quadruples", "Quadruples"))
_NOISE = "What assay noise alone gives (one SD)"


class PairsModel(RowsModel):
    """One kind of comparison at a time."""

    _compared: Compared | None = None
    _kind = ""

    def show(self, compared: Compared, kind: str) -> None:
        """Show the pairs found."""
        self._compared, self._kind = compared, kind
        found, columns = compared.found, _Columns(compared)
        if kind == "changes":
            own = found.changes
            made = [
                *columns.change("", own.site, own.before, own.after),
                columns.number("mean", "Mean change", own.mean, "Mean difference of the pairs", signed=True),
                numbers("pairs", "Pairs", own.pairs, ",.0f"),
                columns.number("spread", "SD", own.spread, "Scatter of the differences from pair to pair"),
                columns.number(
                    "least", "At least", own.least,
                    "The least distance of the mean from 0 (95 %), by the scatter at its site; below 0: it may be 0",
                ),
            ]  # fmt: skip
            self.fill(made, len(own.site))
        elif kind == "cliffs":
            cliff, codes = found.cliffs, compared.status.library.codes
            substituents = [codes[rows, cliff.site] for rows in (cliff.before, cliff.after)]
            made = [
                *columns.change("", cliff.site, *substituents),
                columns.ids("before", "Worse", cliff.before[:, None]),
                columns.ids("after", "Better", cliff.after[:, None]),
                columns.number("difference", "Difference", cliff.difference, "Of the two means", signed=True),
                columns.number("noise", "Noise", cliff.noise, _NOISE),
                columns.number(
                    "elsewhere", "Elsewhere", cliff.elsewhere, "Mean of the same change in all other pairs", signed=True
                ),
            ]
            self.fill(made, len(cliff.site))
        else:
            four, codes = found.quadruples, compared.status.library.codes
            x, y = four.sites.T
            a, ax, ay = four.compounds.T[:3]
            made = [
                *columns.change("x", x, codes[a, x], codes[ax, x]),
                *columns.change("y", y, codes[a, y], codes[ay, y]),
                *(
                    columns.number(f"value{place}", title, four.values[:, place], "Mean of what was measured")
                    for place, title in enumerate(("A", "A+x", "A+y", "A+x+y"))
                ),
                columns.number(
                    "double", "Off by", four.double_difference,
                    "How far A+x+y lies from what x and y add one by one: (A+x+y \N{MINUS SIGN} A+y) \N{MINUS SIGN} "
                    "(A+x \N{MINUS SIGN} A)", signed=True,
                ),
                columns.number("noise", "Noise", four.noise, f"{_NOISE}: 2 SD of the assay for single values"),
                columns.ids("compounds", "Compounds", four.compounds),
            ]  # fmt: skip
            self.fill(made, len(four.double_difference))

    def compounds(self, row: int) -> list[int]:
        """Return the compounds behind a row; the better ones come first."""
        if self._compared is None:
            return []
        found = self._compared.found
        if self._kind == "changes":
            own = self._compared.of_change(row)
        elif self._kind == "cliffs":
            own = np.array([found.cliffs.before[row], found.cliffs.after[row]])
        else:
            own = found.quadruples.compounds[row]
        return [int(one) for one in own[::-1]]


class _Columns:
    """Makes columns about the substituents and compounds of a library."""

    def __init__(self, compared: Compared) -> None:
        self._library = compared.status.library
        self._digits = decimals_of(compared.status)
        sites = self._library.sites
        self._names = [site_names(site.substituents) for site in sites]
        self._drawn = [drawn_labels(self._library, place) for place in range(len(sites))]

    def change(
        self, name: str, site: NDArray[np.integer[Any]], before: NDArray[np.integer[Any]],
        after: NDArray[np.integer[Any]],
    ) -> list[Column]:  # fmt: skip
        """Return the site and the two substituents of a change, which ``name`` names."""
        sites, prefix = self._library.sites, f"{name}: " if name else ""

        def shown(key: str, title: str, codes: NDArray[np.integer[Any]]) -> Column:
            names = [self._names[k][code] for k, code in zip(site, codes, strict=True)]
            drawn = [self._drawn[k][code] for k, code in zip(site, codes, strict=True)]
            labels = [sites[k].substituents[code] for k, code in zip(site, codes, strict=True)]
            pictured: dict[str, Any] = {"smiles": drawn.__getitem__, "width": STRUCTURE_WIDTH} if any(drawn) else {}
            return words(name + key, title, names, cell_tip=labels.__getitem__, soft=True, **pictured)

        return [
            words(f"{name}site", f"{prefix}site" if name else "Site", [sites[k].name for k in site]),
            shown("before", f"{prefix}from" if name else "From", before),
            shown("after", f"{prefix}to" if name else "To", after),
        ]

    def number(self, key: str, title: str, values: Floats, tip: str, *, signed: bool = False) -> Column:
        """Return a column of numbers; NaN is left empty."""
        return numbers(key, title, values, f"{'+' if signed else ''}.{self._digits}f", tip=tip)

    def ids(self, key: str, title: str, compounds: NDArray[np.integer[Any]]) -> Column:
        """Return a column of the ids of the compounds ``(rows, k)``."""
        ids: Sequence[str] = self._library.ids
        return words(key, title, [", ".join(ids[one] for one in own) for own in compounds.tolist()], soft=True)


class PairsView(QWidget):
    """The table, its subject, and the compounds of each row."""

    picked = Signal(object)
    """The compounds of the row that was chosen."""

    def __init__(self, structures: Structures) -> None:
        super().__init__()
        column = column_of(holder=self, spacing=10)
        tools = row_of(spacing=10)
        self.kind = Segments(KINDS, "What is compared")
        self.kind.chosen.connect(lambda _: self._fill())
        self.filter = FilterBox("Filter: site, substituent, ID", "Filter the pairs")
        self.filter.narrowed.connect(self._narrow)
        put(tools, self.kind, (self.filter, 1))
        column.addLayout(tools)
        self.summary = label("", "muted", wrap=True, selectable=True)
        column.addWidget(self.summary)
        self.model = PairsModel(self)
        self.table = Table(self.model, structures, name="Pairs")
        self.table.chosen.connect(self._chosen)
        column.addWidget(self.table, 1)
        self._compared: Compared | None = None
        self._filling = False

    def show_pairs(self, compared: Compared) -> None:
        """Show the pairs of one endpoint."""
        if compared is not self._compared:
            self._compared = compared
            self._fill()

    def forget(self) -> None:
        """Show nothing, as before the first campaign."""
        self._compared = None
        self.filter.clear()
        self.kind.choose(KINDS[0][0])
        self.model.fill([], 0)

    def _fill(self) -> None:
        if self._compared is None:
            return
        self._filling = True
        self.model.show(self._compared, self.kind.key)
        self.model.only(self.model.holding(self.filter.text()))
        self._filling = False
        self.summary.setText(self._summary(self._compared))

    def _narrow(self, text: str) -> None:
        self._filling = True
        self.model.only(self.model.holding(text))
        self._filling = False

    def _chosen(self, row: int | None) -> None:
        if row is not None and not self._filling:
            self.picked.emit(self.model.compounds(row))

    def _summary(self, compared: Compared) -> str:
        found = compared.found
        if self.kind.key == "quadruples":
            four = found.quadruples
            if not four.count:
                return "No four measured compounds A, A+x, A+y and A+x+y yet."
            noise = "" if np.isnan(four.spread_of_noise) else f"; assay noise alone: {four.spread_of_noise:.2f}"
            return f"{many(four.count, 'cycle')} A, A+x, A+y, A+x+y, off by {four.spread:.2f} (RMS){noise}."
        if not found.count:
            return "No two measured compounds differ in one group yet."
        rarer = [
            f" {site.name}: {count:,} rarer substituents are not compared."
            for site, count in zip(compared.status.library.sites, found.left_out, strict=True)
            if count
        ]
        return f"{many(found.count, 'matched pair')}.{''.join(rarer)}"
