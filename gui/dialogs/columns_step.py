"""The wizard's second step: which column is what, and what a check of the table says to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.progress import Cancelled, Report
from assaypilot.engine.tables.check import EndpointFacts
from assaypilot.engine.tables.importer import ImportedTable
from assaypilot.engine.tables.options import EndpointSpec, TableMapping, TableOptions
from assaypilot.engine.tables.raw import RawTable
from assaypilot.gui.dialogs.check_panel import CheckPanel
from assaypilot.gui.dialogs.steps import Step, form
from assaypilot.gui.session import Session
from assaypilot.gui.settings import Settings
from assaypilot.gui.tasks import Job
from assaypilot.gui.widgets.message_bar import error_words
from assaypilot.gui.widgets.text import label

__all__ = ["Checked", "ColumnsStep", "check_table"]

PAUSE = 180
"""Milliseconds after the last change before the table is checked again."""


@dataclass(frozen=True, eq=False)
class Checked:
    """A table as it would be imported."""

    mapping: TableMapping
    imported: ImportedTable
    facts: tuple[EndpointFacts, ...]
    warnings: tuple[str, ...]
    objective: int
    """Position of the endpoint the goal is about."""

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint the goal is about."""
        return self.imported.endpoints[self.objective]

    @property
    def fact(self) -> EndpointFacts:
        """What the table says about it."""
        return self.facts[self.objective]


def check_table(raw: RawTable, options: TableOptions, report: Report) -> Checked:
    """What an import with these options would understand."""
    from assaypilot.engine.tables.check import check_report, endpoint_facts
    from assaypilot.engine.tables.importer import import_table
    from assaypilot.engine.tables.mapping import propose

    mapping = propose(raw, options)
    imported = import_table(raw, mapping, report)
    document = check_report(raw, mapping, imported)
    names = [endpoint.name for endpoint in imported.endpoints]
    wanted = options.endpoints[0].name if options.endpoints else ""
    place = names.index(wanted) if wanted in names else 0
    return Checked(mapping, imported, endpoint_facts(imported), tuple(document["warnings"]), place)


class ColumnsStep(Step):
    """Choices at the left; errors, warnings, notes and what is not used at the right."""

    checked = Signal(object)
    """A Checked, or None when the table cannot be imported like this."""
    not_added = Signal(str)
    """Why an endpoint could not be added."""

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self.session, self.settings = session, settings
        self.raw: RawTable | None = None
        self.result: Checked | None = None
        self._added: dict[str, str] = {}
        self._adding = ""
        self._filling = False
        self._job: Job | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(24)
        left = QWidget()
        left.setFixedWidth(380)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addLayout(self._form())
        column.addStretch(1)
        self.panel = CheckPanel()
        row.addWidget(left)
        row.addWidget(self.panel, 1)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self._check)

    def _form(self) -> QFormLayout:
        fields = form()
        self.id = self._combo("Column of compound ids")
        self.smiles = self._combo("Column of structures")
        self.sites = QListWidget()
        self.sites.setAccessibleName("Columns of substituents")
        self.sites.setFixedHeight(150)
        self.sites.itemChanged.connect(lambda _: self._soon())
        self.blank = self._combo(
            "An empty substituent", [("not known: leave the row out", "missing"), ("hydrogen", "h")]
        )
        self.product = self._combo(
            "Compounds", [("the rows of the table", False), ("every combination of the substituents", True)]
        )
        self.endpoint = self._combo("What is measured")
        self.endpoint.setEditable(True)
        self.endpoint.activated.connect(self._endpoint_chosen)
        self.unit = QLineEdit()
        self.unit.setAccessibleName("Unit")
        self.unit.setPlaceholderText("nM, µM, %, … or none")
        self.unit.textChanged.connect(lambda _: self._soon())
        self.scale = self._combo(
            "Scale", [("proposed", None), ("log10 (p scale for concentrations)", "log"), ("as it is", "none")]
        )
        self.direction = self._combo("Better", [("proposed", None), ("higher on that scale", "max"), ("lower", "min")])
        for caption, widget, tip in (
            ("ID", self.id, "Without one, ids are made from the substituents"),
            ("Structure", self.smiles, "SMILES, drawn wherever a compound is shown"),
            ("Substituents", self.sites, "The columns R1, R2, …"),
            ("An empty cell is", self.blank, "What an empty substituent cell means"),
            ("Compounds", self.product, "Only those listed, or all that could be made of the substituents"),
            ("Measured", self.endpoint, "The quantity the goal is about; it need not be in the table yet"),
            ("Unit", self.unit, "The unit of the values in the table and of results"),
            ("Scale", self.scale, "Potencies add up on the log scale"),
            ("Better is", self.direction, "Which way is better, on the scale used"),
        ):
            widget.setToolTip(tip)
            fields.addRow(label(caption, "muted"), widget)
        return fields

    def _endpoint_chosen(self, place: int) -> None:
        self.unit.setText(str(self.endpoint.itemData(place) or ""))

    def _combo(self, name: str, choices: Sequence[tuple[str, Any]] = ()) -> QComboBox:
        made = QComboBox()
        made.setAccessibleName(name)
        for text, data in choices:
            made.addItem(text, data)
        made.currentTextChanged.connect(lambda _: self._soon())
        return made

    @property
    def complete(self) -> bool:
        """Whether the table can be imported like this."""
        return self.result is not None and not self.result.imported.errors and bool(self.result.imported.endpoints)

    # ------------------------------------------------------------------ filling

    def show_table(self, raw: RawTable) -> None:
        """Nothing; proposes what each column is, as it was said the last time for the same headers."""
        self.raw = raw
        self._added.clear()
        self._adding = ""
        self._filling = True
        for combo, none in ((self.id, "(made from the substituents)"), (self.smiles, "(none)")):
            combo.clear()
            combo.addItem(none, None)
            for name in raw.columns:
                combo.addItem(name, name)
        self.sites.clear()
        for name in raw.columns:
            item = QListWidgetItem(name)
            item.setFlags(Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
            item.setCheckState(Qt.CheckState.Unchecked)
            self.sites.addItem(item)
        proposal = self._proposal(raw)
        if proposal is not None:
            self._fill(proposal)
        self._filling = False
        self._check()

    def _proposal(self, raw: RawTable) -> TableMapping | None:
        from assaypilot.engine.tables.mapping import propose

        kept = self.settings.mapping(raw.columns)
        if kept is not None:
            try:
                return TableMapping.from_json(kept)
            except (KeyError, TypeError, ValueError, AssayPilotError):
                pass  # written by another version
        try:
            return propose(raw)
        except AssayPilotError:
            return None  # the check says what is missing

    def _fill(self, mapping: TableMapping) -> None:
        self.id.setCurrentIndex(max(self.id.findData(mapping.id), 0))
        self.smiles.setCurrentIndex(max(self.smiles.findData(mapping.smiles), 0))
        for place in range(self.sites.count()):
            item = self.sites.item(place)
            chosen = item.text() in mapping.sites
            item.setCheckState(Qt.CheckState.Checked if chosen else Qt.CheckState.Unchecked)
        self.blank.setCurrentIndex(max(self.blank.findData(mapping.blank), 0))
        self.product.setCurrentIndex(max(self.product.findData(mapping.product), 0))
        self.endpoint.clear()
        for one in mapping.endpoints:
            self.endpoint.addItem(one.endpoint.name, one.endpoint.unit)
        if mapping.endpoints:
            first = mapping.endpoints[0].endpoint
            self.unit.setText(first.unit)

    # ------------------------------------------------------------------ checking

    def options(self) -> TableOptions:
        """What was chosen, as an import takes it."""
        sites = tuple(
            self.sites.item(place).text()
            for place in range(self.sites.count())
            if self.sites.item(place).checkState() == Qt.CheckState.Checked
        )
        name = self.endpoint.currentText().strip()
        specs = []
        if name:
            specs.append(
                EndpointSpec(
                    name,
                    unit=self.unit.text().strip() or None,
                    direction=self.direction.currentData(),
                    transform=self.scale.currentData(),
                )
            )
            others = [self.endpoint.itemText(place) for place in range(self.endpoint.count())]
            specs += [EndpointSpec(other) for other in others if other != name and other not in self._added]
            specs += [EndpointSpec(other, unit=unit or None) for other, unit in self._added.items() if other != name]
        return TableOptions(
            id=self.id.currentData(),
            smiles=self.smiles.currentData(),
            sites=sites,
            blank=self.blank.currentData(),
            product=bool(self.product.currentData()),
            endpoints=tuple(specs),
        )

    def add_endpoint(self, name: str, unit: str) -> None:
        """Nothing; takes a further endpoint, which the table does not have yet, when the table allows for it."""
        options = self.options()
        taken = {*options.sites, *filter(None, (options.id, options.smiles))}
        if name.casefold() in {column.casefold() for column in taken}:
            self.not_added.emit(f"{name} is a column of the table that holds something else.")
            return
        self._added[name] = unit
        self._adding = name
        self._check()

    def _not_added(self, reason: str) -> None:
        """Nothing; gives the endpoint up that was to be added, and says why."""
        del self._added[self._adding]
        self._adding = ""
        self._check()
        self.not_added.emit(reason)

    def _soon(self) -> None:
        if not self._filling and self.raw is not None:
            self._pause.start()

    def _check(self) -> None:
        self._pause.stop()
        raw = self.raw
        if raw is None:
            return
        if self._job is not None:
            self.session.tasks.cancel(self._job)
        options = self.options()
        self.panel.wait()
        self._job = self.session.read(
            "Checking the table", lambda report: check_table(raw, options, report), self._show, self._refuse
        )

    def _show(self, checked: Checked) -> None:
        self._job = None
        if self._adding and checked.imported.errors:
            self._not_added(checked.imported.errors[0].reason)
            return
        if self._adding and self._adding not in [endpoint.name for endpoint in checked.imported.endpoints]:
            self._not_added("This table says in every row which endpoint it is of; add the endpoint there.")
            return
        self._adding = ""
        self.result = checked
        self.panel.show_checked(checked.imported, checked.facts, checked.warnings)
        self.changed.emit()
        self.checked.emit(checked if self.complete else None)

    def _refuse(self, error: Exception) -> None:
        if isinstance(error, Cancelled):  # a newer check is on its way
            return
        self._job = None
        if self._adding:
            self._not_added(error_words(error)[0] if isinstance(error, AssayPilotError) else str(error))
            return
        self.result = None
        if isinstance(error, AssayPilotError):
            self.panel.show_error(error)
        self.changed.emit()
        self.checked.emit(None)

    def remember(self) -> None:
        """Nothing; keeps the choices for tables with these headers."""
        if self.raw is not None and self.result is not None:
            self.settings.keep_mapping(self.raw.columns, self.result.mapping.as_json())

    def halt(self) -> None:
        """Nothing; the dialog closes: nothing is asked any more."""
        self._pause.stop()
