"""The roles of columns in words, the fields about them, and which of these are there for the current choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QLabel, QListWidget, QWidget

from ..widgets.inputs import Segments, combo_box, form, line_edit
from ..widgets.layout import STRETCH, column_of
from ..widgets.text import label

if TYPE_CHECKING:
    from .table_work import Checked

MERGE = [
    ("counts as two compounds", "no"),
    ("counts as one", "identical"),
    ("counts as one, charge forms too", "charge"),
    ("counts as one, tautomers too", "tautomer"),
]

_SAME = ("available", "cost", "replicate", "date", "plate", "well", "batch", "comment", "excluded")
ROLES = {name: name for name in _SAME} | {
    "id": "ID",
    "smiles": "structure",
    "endpoint_column": "endpoint",
    "assay_column": "assay",
    "stock": "in stock",
    "lead": "lead time",
}
"""The roles of columns, by the fields of a mapping."""


def roles_of(checked: Checked) -> dict[str, str]:
    """Return the role of each column of a table, in a word, by its name; unused ones are left out."""
    mapping = checked.mapping
    roles = {getattr(mapping, field): word for field, word in ROLES.items()}
    for end in mapping.endpoints:
        roles |= dict.fromkeys((end.value, *end.further), end.endpoint.scale_name)
        roles |= {end.relation: "< or >", end.unit: "unit", end.n: "n", end.sd: "SD"}
    if not mapping.cores:
        roles |= dict.fromkeys(mapping.sites, "site")
    return {name: word for name, word in roles.items() if name is not None}


_CHOSEN = {key: ROLES[key] for key in ("id", "smiles", "stock", "cost", "lead")} | {"site": "site"}
"""The words of the roles that the user can choose, by the key of the choice."""
_ONLY_FOUND = {*ROLES.values(), "< or >", "unit", "n", "SD"} - {*_CHOSEN.values()}
"""Those of the roles that are only found."""


def roles_chosen(
    before: Mapping[str, str], columns: Sequence[str], role_of: Callable[[str, str], str]
) -> dict[str, str]:
    """Return the chosen roles of columns before a check is done; ``before``: the roles of the last check.

    ``role_of`` takes the names of a column and of its endpoint, and returns the key of a choice.
    """
    found = {}
    for name in columns:
        role, word = role_of(name, name), before.get(name, "")
        if role in _CHOSEN:
            found[name] = _CHOSEN[role]
        elif role == "endpoint":
            found[name] = name if word in ("", *_CHOSEN.values(), *_ONLY_FOUND) else word
        elif word in _ONLY_FOUND:
            found[name] = word
    return found


class ColumnsFields(QWidget):
    """Fields about columns, compounds and the endpoint that the goal is about."""

    changed = Signal()
    """Something was chosen or typed."""
    source_changed = Signal()
    """Sites come from columns instead of structures, or the other way round."""

    def __init__(self) -> None:
        super().__init__()
        self._declined: set[str] = set()
        """Roles that no column is to have; without a word a check finds ids and structures by itself."""
        self._filling = False
        column_of(self._form(), STRETCH, holder=self, margins=(0, 0, 8, 0), spacing=10)

    def _from_its_start(self) -> None:
        """Of a name longer than the field its beginning is seen, unless it is being typed."""
        edit = self.endpoint.lineEdit()
        if edit is not None and not edit.hasFocus():
            edit.setCursorPosition(0)

    def _form(self) -> QFormLayout:
        self._fields = fields = form()
        self.id = self._combo("Column of compound ids")
        self.smiles = self._combo("Column of structures")
        self.merge = self._combo("Same structure", MERGE)
        self.source = Segments([("columns", "Columns"), ("structures", "Structures")], "Where substituents come from")
        self.source.chosen.connect(lambda _: self._source_chosen())
        self.sites = QListWidget()
        self.sites.setAccessibleName("Columns of substituents")
        self.sites.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.sites.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.sites.itemChanged.connect(lambda _: self._edited())
        self.product = self._combo(
            "Compounds",
            [
                ("new combinations where all rows are measured", "suggested"),
                ("the rows of the table", "rows"),
                ("every combination of the substituents", "all"),
            ],
        )
        self.endpoint = self._combo("What is measured")
        self.endpoint.setEditable(True)
        self.endpoint.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.endpoint.editTextChanged.connect(lambda _: self._edited())
        self.endpoint.editTextChanged.connect(lambda _: self._from_its_start())
        self.unit = line_edit("Unit", hint="nM, µM, %, … or none")
        self.unit.textChanged.connect(lambda _: self._edited())
        self.scale = self._combo(
            "Scale",
            [
                ("proposed", None),
                ("log10 (p scale for concentrations)", "log"),
                ("as it is", "none"),
                ("yes or no", "yes-no"),
                ("counts", "count"),
            ],
        )
        self.direction = self._combo("Better", [("proposed", None), ("higher on that scale", "max"), ("lower", "min")])
        self.stock, self.cost, self.lead = (
            self._combo(f"Column of {what}") for what in ("stock", "what making costs", "how long making takes")
        )
        self._of_columns = {
            **{"id": self.id, "smiles": self.smiles, "stock": self.stock, "cost": self.cost, "lead": self.lead}
        }
        """The fields that name one column, by its role."""
        for key in ("id", "smiles"):
            self._of_columns[key].activated.connect(lambda place, key=key: self._decline(key, declined=place == 0))
        self._captions: dict[QWidget, QLabel] = {}
        for caption, widget, tip in (
            ("ID", self.id, "Without one, ids are made from the substituents; structures are numbered"),
            ("Structure", self.smiles, "SMILES, drawn wherever a compound is shown"),
            (
                "Same structure",
                self.merge,
                "How to treat one structure with two ids; racemate and enantiomer always stay separate",
            ),
            ("Substituents", self.source, "In columns R1, R2, …, or found by decomposing the structures"),
            ("Sites", self.sites, "The columns R1, R2, …"),
            ("Compounds", self.product, "Only those listed, or all that could be made of the substituents"),
            ("Measured", self.endpoint, "The quantity the goal is about; it need not be in the table yet"),
            ("Unit", self.unit, "The unit of the values in the table and of results"),
            ("Scale", self.scale, "Potencies add up on the log scale"),
            ("Better is", self.direction, "Which way is better, on the scale used"),
            ("In stock", self.stock, "Yes, no or an amount; or in stock, to be made, cannot be made"),
            ("Cost", self.cost, "What making each compound costs; 0 where it is there"),
            ("Lead time", self.lead, "How long making takes: days, or such as 3 weeks"),
        ):
            widget.setToolTip(tip)
            self._captions[widget] = text = label(caption, "muted")
            text.setBuddy(widget)
            fields.addRow(text, widget)
        return fields

    def _combo(self, name: str, choices: Sequence[tuple[str, Any]] = ()) -> QComboBox:
        made = combo_box(name)
        # A long header must not widen the column.
        made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        made.setMinimumContentsLength(10)
        for text, data in choices:
            made.addItem(text, data)
        made.currentIndexChanged.connect(lambda _: self._edited())
        return made

    # ------------------------------------------------------------------ choices

    @property
    def from_structures(self) -> bool:
        """Whether the sites come from decomposing structures."""
        return self.source.key == "structures"

    @property
    def chosen_sites(self) -> tuple[str, ...]:
        """The columns of substituents."""
        if self.from_structures:
            return ()
        items = [self.sites.item(place) for place in range(self.sites.count())]
        return tuple(item.text() for item in items if item.checkState() == Qt.CheckState.Checked)

    def tick(self, names: Sequence[str]) -> None:
        """Take these columns for those of substituents, too."""
        for place in range(self.sites.count()):
            if self.sites.item(place).text() in names:
                self.sites.item(place).setCheckState(Qt.CheckState.Checked)

    # ------------------------------------------------------------------ inside

    def _decline(self, key: str, *, declined: bool) -> None:
        """Remember whether the user wants no column of ids or structures."""
        (self._declined.add if declined else self._declined.discard)(key)

    def _source_chosen(self) -> None:
        self._show_parts()
        if not self._filling:
            self.source_changed.emit()
            self.changed.emit()

    def _edited(self) -> None:
        if not self._filling:
            self._show_parts()
            self.changed.emit()

    def _show_parts(self) -> None:
        """Hide fields without a meaning for the current choices."""
        for widget, there in (
            (self.merge, self.smiles.currentData() is not None),
            (self.sites, not self.from_structures),
        ):
            self._fields.setRowVisible(widget, there)
