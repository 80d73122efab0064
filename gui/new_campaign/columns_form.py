"""The roles of columns: a table's own, as they were found, chosen or remembered."""

from __future__ import annotations

from typing import Any, ClassVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
)

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.tables.options import EndpointSpec, TableMapping, TableOptions
from assaypilot.engine.tables.raw import RawTable

from ..tables.rows import plain_tip
from ..widgets.inputs import choose, fill_box
from .columns_fields import ColumnsFields

FEWEST, MOST = 3, 7
"""Columns for which the list of sites has room; it scrolls beyond."""
FRAME = 12
"""Pixels of its frame and the room inside it."""


class ColumnsForm(ColumnsFields):
    """Choices about columns, compounds and endpoints."""

    ROLES: ClassVar = {
        **{"id": "ID", "smiles": "Structure", "site": "Substituent", "endpoint": "Measured value"},
        **{"stock": "In stock", "cost": "Cost", "lead": "Lead time", "none": "Not used"},
    }
    """The possible roles of a column, by key."""

    def __init__(self) -> None:
        super().__init__()
        self._added: dict[str, str] = {}
        self._differences: dict[str, str] = {}
        self._remembered: dict[str, EndpointSpec] = {}
        self._order: list[str] = []
        """The endpoints of the table as they were found."""
        self._left: dict[str, str] = {}
        """The units of endpoints that were taken away, by name."""
        self._aimed_at = ""
        """The one of them that the goal was about."""
        self.endpoint.activated.connect(self._endpoint_chosen)

    # ------------------------------------------------------------------ the role of one column

    def role_of(self, column: str, endpoint: str) -> str:
        """Return the key of a column's role; ``endpoint``: the name of the endpoint it would be."""
        held = [key for key, combo in self._of_columns.items() if combo.currentData() == column]
        if column in self.chosen_sites:
            held.append("site")
        if self.endpoint.findText(endpoint) >= 0:
            held.append("endpoint")
        return held[0] if held else "none"

    def set_role(self, column: str, endpoint: str, role: str) -> None:
        """Give a column this role, and no other."""
        self._filling = True
        for key, combo in self._of_columns.items():
            if key == role or combo.currentData() == column:
                choose(combo, column if key == role else None)
                self._decline(key, declined=role == "none")
        structures = self.from_structures and role != "site"
        self.source.choose("structures" if structures else "columns")
        for item in self.sites.findItems(column, Qt.MatchFlag.MatchExactly):
            item.setCheckState(Qt.CheckState.Checked if role == "site" else Qt.CheckState.Unchecked)
        place = self.endpoint.findText(endpoint)
        if role == "endpoint" and place < 0:
            self._measure(endpoint)
        elif role != "endpoint" and place >= 0:
            self._measure_no_more(place)
        self._filling = False
        self._source_chosen()

    def _measure(self, name: str) -> None:
        """Take an endpoint in, at its place and with its unit where it was there before."""
        order = {one: place for place, one in enumerate(self._order)}
        here = [self.endpoint.itemText(place) for place in range(self.endpoint.count())]
        own = order.get(name, len(order))
        place = sum(order.get(one, len(order)) <= own for one in here)
        self.endpoint.insertItem(place, name, self._left.pop(name, ""))
        if name == self._aimed_at or not here:
            self.endpoint.setCurrentIndex(place)
            self._aimed_at = ""
            self.unit.setText(str(self.endpoint.currentData() or ""))

    def _measure_no_more(self, place: int) -> None:
        name, aimed_at = self.endpoint.itemText(place), place == self.endpoint.currentIndex()
        self._left[name] = self.unit.text() if aimed_at else str(self.endpoint.itemData(place) or "")
        self.endpoint.removeItem(place)
        if aimed_at:
            self._aimed_at = self._aimed_at or name
            self.unit.setText(str(self.endpoint.currentData() or ""))

    def _without(self, key: str) -> str | None:
        """Return the option of a check where no column was chosen: none, or None to let it find one."""
        return None if key in ("id", "smiles") and key not in self._declined else ""

    @property
    def missing(self) -> tuple[str, str]:
        """The required role that was removed, and what to do; empty while nothing is missing."""
        if self.from_structures:
            if "smiles" in self._declined:
                return "No column holds structures", "Choose it under Columns, or take substituents from columns there."
        elif self._found_sites and not self.chosen_sites:
            return (
                "No column holds substituents",
                "Tick them under Columns, or choose Structures there to decompose the structures.",
            )
        if self._left and not self.options().endpoints:
            return "Nothing is measured", "Choose the column of measured values, or name an endpoint at the right."
        return "", ""

    # ------------------------------------------------------------------ filling

    def show_columns(self, raw: RawTable) -> None:
        """Offer the columns of a table, with nothing chosen."""
        self._filling = True
        self._added.clear()
        self._differences.clear()
        self._remembered.clear()
        self._declined.clear()
        self._left.clear()
        self._aimed_at, self._found_sites = "", False
        for key, combo in self._of_columns.items():
            none = "(made by the program)" if key == "id" else "(none)"
            fill_box(combo, [(none, None), *((name, name) for name in raw.columns)])
        self.sites.clear()
        for name in raw.columns:
            item = QListWidgetItem(name)
            item.setFlags(Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
            item.setCheckState(Qt.CheckState.Unchecked)
            item.setToolTip(plain_tip(name))
            self.sites.addItem(item)
        lines = min(max(len(raw.columns), FEWEST), MOST)
        self.sites.setFixedHeight(lines * self.sites.sizeHintForRow(0) + FRAME)
        self.endpoint.clear()
        self.unit.clear()
        for combo in (self.scale, self.direction, self.merge, self.product):
            combo.setCurrentIndex(0)
        self.source.choose("columns")
        self._filling = False
        self._show_parts()

    _found_sites = False
    """Whether a table's own columns of substituents were found."""

    def fill(self, mapping: TableMapping, *, structures: bool, remembered: bool) -> None:
        """Choose the columns of a mapping; ``remembered``: the user chose all of them the last time."""
        self._filling = True
        self._found_sites = bool(mapping.sites)
        if remembered:
            self._declined = {role for role in ("id", "smiles") if getattr(mapping, role) is None}
        for key, combo in self._of_columns.items():
            choose(combo, getattr(mapping, key))
        choose(self.merge, mapping.merge)
        first: QListWidgetItem | None = None
        for place in range(self.sites.count()):
            item = self.sites.item(place)
            chosen = item.text() in mapping.sites
            item.setCheckState(Qt.CheckState.Checked if chosen else Qt.CheckState.Unchecked)
            first = item if chosen and first is None else first
        if first is not None:
            self.sites.scrollToItem(first, QListWidget.ScrollHint.PositionAtTop)
        self.source.choose("structures" if structures else "columns")
        self.product.setCurrentIndex([None, False, True].index(mapping.product))
        self.endpoint.clear()
        for one in mapping.endpoints:
            end = one.endpoint
            if end.of is not None:
                self._differences[end.name] = " - ".join(end.of)
                continue
            self.endpoint.addItem(end.name, end.unit)
            if remembered:
                self._remembered[end.name] = _spec_of(end)
        self._order = [self.endpoint.itemText(place) for place in range(self.endpoint.count())]
        if mapping.endpoints:
            end = mapping.endpoints[0].endpoint
            self.unit.setText(end.unit)
            if remembered:
                self._show_scale(_spec_of(end))
        self._filling = False
        self._show_parts()

    def show_found(self, mapping: TableMapping) -> None:
        """Show the columns of ids and structures that a check found where none was chosen."""
        self._filling = True
        for key in ("id", "smiles"):
            combo = self._of_columns[key]
            if combo.currentData() is None and key not in self._declined:
                choose(combo, getattr(mapping, key))
        self._filling = False
        self._show_parts()

    def show_proposed(self, endpoint: Endpoint) -> None:
        """Show the proposal where nothing else was chosen."""
        if self.scale.currentData() is None:
            usual = "log10" if endpoint.transform == "log" else "as it is"
            self.scale.setItemText(0, f"proposed: {_KINDS.get(endpoint.kind, usual)}")
        if self.direction.currentData() is None:
            # "higher" next to a unit of nM would be read as the weaker compounds.
            on = "" if endpoint.scale_name == endpoint.name else f" {endpoint.scale_name}"
            self.direction.setItemText(0, f"proposed: {'higher' if endpoint.direction == 'max' else 'lower'}{on}")

    # ------------------------------------------------------------------ choices

    def options(self) -> TableOptions:
        """Return the choices as options of an import, without cores."""
        name = self.endpoint.currentText().strip()
        specs = []
        if name:
            specs.append(
                EndpointSpec(
                    name,
                    unit=self.unit.text().strip() or None,
                    direction=self.direction.currentData(),
                    **_scaled(self.scale.currentData()),
                )
            )
            others = [self.endpoint.itemText(place) for place in range(self.endpoint.count())]
            specs += [
                self._remembered.get(other, EndpointSpec(other))
                for other in others
                if other != name and other not in self._added
            ]
        specs += [EndpointSpec(other, unit=unit or None) for other, unit in self._added.items() if other != name]
        specs += [EndpointSpec(whole, of=of) for whole, of in self._differences.items() if whole != name]
        columns: dict[str, Any] = {
            key: combo.currentData() or self._without(key) for key, combo in self._of_columns.items()
        }
        return TableOptions(
            **columns,
            sites=self.chosen_sites,
            product=(None, False, True)[max(self.product.currentIndex(), 0)],
            endpoints=tuple(specs),
            merge=self.merge.currentData() if self.smiles.currentData() is not None else "no",
        )

    def add(self, name: str, unit: str, of: str = "") -> str | None:
        """Why an endpoint that the table does not have cannot be added; None when it now is.

        ``of``: the two endpoints it is the difference of; empty for one that is measured.
        """
        options = self.options()
        taken = {*options.sites, *filter(None, (options.id, options.smiles))}
        if name.casefold() in {column.casefold() for column in taken}:
            return f"{name} is a column of the table that holds something else."
        if of:
            self._differences[name] = of
        else:
            self._added[name] = unit
        return None

    def take_back(self, name: str) -> None:
        """Give an added endpoint up."""
        self._added.pop(name, None)
        self._differences.pop(name, None)

    # ------------------------------------------------------------------ inside

    def _endpoint_chosen(self, place: int) -> None:
        self.unit.setText(str(self.endpoint.itemData(place) or ""))
        spec = self._remembered.get(self.endpoint.itemText(place))
        if spec is not None:
            self._show_scale(spec)

    def _show_scale(self, spec: EndpointSpec) -> None:
        """Choose the remembered scale of an endpoint."""
        choose(self.scale, spec.kind if spec.kind in _KINDS else spec.transform)
        choose(self.direction, spec.direction)


_KINDS = {"yes-no": "yes or no", "count": "counts"}


def _spec_of(endpoint: Endpoint) -> EndpointSpec:
    """Return the remembered description of an endpoint; where the other word is needed, smaller is better."""
    if endpoint.kind == "value":
        unit = endpoint.unit or None
        return EndpointSpec(endpoint.name, unit=unit, direction=endpoint.direction, transform=endpoint.transform)
    return EndpointSpec(endpoint.name, unit=endpoint.unit or None, kind=endpoint.kind, words=endpoint.words)


def _scaled(chosen: str | None) -> dict[str, Any]:
    """Return the same, as an endpoint takes it."""
    return {"kind": chosen} if chosen in _KINDS else {"transform": chosen}
