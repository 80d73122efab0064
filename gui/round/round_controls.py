"""Controls on the Round page: rows for their readings, and the quality of each plate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QWidget

from assaypilot.engine.campaign.issued_rounds import Round, Source
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.controls import Reading
from assaypilot.engine.domain.measurements import Measurement, Result
from assaypilot.engine.domain.plates import Layout
from assaypilot.engine.export.work_list import control_wells
from assaypilot.engine.text import many, signed

from ..session.session import Session
from ..widgets.inputs import Field
from ..widgets.layout import column_of, show_dialog
from ..widgets.text import Details, label
from .entry import entered_text, parse_entry, parts_of, result_of, user_decimal
from .reason_dialog import CorrectDialog, ExcludeDialog
from .round_panel import Shown, ValueList
from .round_rows import RoundModel

AGAIN = "used again by the user"
SHOWN = "Controls decide nothing by themselves. The change is kept in the log."
MOST = 24
"""Values of controls listed one by one; what is beyond has its plate's line."""


@dataclass(frozen=True, slots=True)
class Row:
    """One control on one plate of a round, for one endpoint."""

    control: int
    endpoint: int
    place: str
    """The plate's name in the file; empty when there is none."""
    wells: tuple[str, ...] = ()
    """Its well, when that is known."""


def rows_of(status: Status, shown: Round, layout: Layout | None) -> Iterator[Row]:
    """Yield the rows of a round: by its plates when they are laid out, else by what its results name."""
    if layout is not None:
        wells: dict[tuple[int, int, str], list[str]] = {}
        for one in control_wells(status, shown, layout):
            for endpoint in one.endpoints:
                wells.setdefault((one.control, endpoint, one.plate), []).append(one.well)
        for plate in layout.plates:
            for endpoint in plate.endpoints:
                for control in range(len(status.settings.controls)):
                    own = wells.get((control, endpoint, plate.name), [])
                    yield Row(control, endpoint, plate.name, tuple(own))
        return
    places: dict[str, None] = {}
    every: list[Measurement | Reading] = [*status.measurements, *status.readings]
    for value in every:
        name = value.entered.plate.strip()
        if value.round == shown.number and not value.withdrawn and name:
            places[name] = None
    for place in places or {"": None}:
        for endpoint in shown.endpoints:
            for control in range(len(status.settings.controls)):
                yield Row(control, endpoint, place)


class ControlsPane(QWidget):
    """Below the round in the panel at the right; hidden in campaigns without controls."""

    def __init__(self, session: Session, model: RoundModel) -> None:
        super().__init__()
        self._session, self._model = session, model
        column = column_of(label("Controls", "heading"), holder=self, spacing=8)
        self.form = QFormLayout()
        self.form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        self.form.setVerticalSpacing(4)
        column.addLayout(self.form)
        self.quality = Details()
        column.addWidget(self.quality)
        self.notes = label("", "muted", wrap=True)
        column.addWidget(self.notes)
        self.values = ValueList()
        self.values.correct.connect(self.correct)
        self.values.exclude.connect(self.exclude)
        self.values.include.connect(lambda number: session.amend_control(number, AGAIN, excluded=False))
        column.addWidget(self.values)
        self.fields: dict[Row, Field] = {}
        self._round = 0
        self.hide()

    def show_round(self, status: Status, shown: Round) -> None:
        """Show the controls of a round; what is being typed stays while its row does."""
        editable = self._model.editable
        self.setVisible(bool(status.settings.controls) and not shown.confirmation)
        if not status.settings.controls or shown.confirmation:
            return
        rows = list(rows_of(status, shown, shown.layout))
        if list(self.fields) != rows or self._round != shown.number:
            typed = {row: field.text for row, field in self.fields.items()} if self._round == shown.number else {}
            while self.form.rowCount():
                self.form.removeRow(0)
            self.fields = {}
            self._round = shown.number
            for row in rows:
                self._add(status, row, typed.get(row, ""))
        for row, field in self.fields.items():
            field.edit.setReadOnly(not editable)
            field.hint(self._known(status, shown, row))
        lines = [line for line in status.quality.plates if line.round == shown.number]
        several = len(shown.endpoints) > 1
        self.quality.show_rows(
            [
                (
                    line.name[:1].upper() + line.name[1:],
                    f"{status.endpoints[line.endpoint].name + ': ' if several else ''}{many(line.n, 'value')}, "
                    f"{signed(line.mean)} from nominal" + ("" if line.sd is None else f", SD {line.sd:.2f}"),
                )
                for line in lines
            ]
        )
        texts = status.quality.drift
        self.notes.setText("\n".join(f"{text}." for text in texts))
        self.notes.setVisible(bool(texts))
        own = [r for r in status.readings if r.round == shown.number and not r.withdrawn]
        self.values.show_values([self._shown(status, r) for r in own[:MOST]], editable=editable)

    # ------------------------------------------------------------------ inside

    def _add(self, status: Status, row: Row, typed: str) -> None:
        name = status.settings.controls[row.control].name
        caption = f"{name}{f' on {row.place}' if row.place else ''}"
        if len(status.measured_endpoints) > 1:
            caption += f", {status.endpoints[row.endpoint].name}"
        field = Field(
            f"Control {caption}", typed, tip="One value, or several with semicolons; Enter saves them", width=0
        )
        field.edit.returnPressed.connect(lambda: self._enter(row))
        self.fields[row] = field
        name_label = label(caption, "muted")
        name_label.setTextFormat(Qt.TextFormat.PlainText)
        name_label.setBuddy(field.edit)
        self.form.addRow(name_label, field)

    def _readings(self, status: Status, number: int, row: Row) -> list[Reading]:
        """Return what is in for a row."""
        return [
            r
            for r in status.readings
            if (r.control, r.endpoint, r.round) == (row.control, row.endpoint, number)
            and not r.withdrawn
            and r.entered.plate.strip().casefold() == row.place.casefold()
        ]

    def _known(self, status: Status, shown: Round, row: Row) -> str:
        endpoint = status.endpoints[row.endpoint]
        own = [r for r in self._readings(status, shown.number, row) if r.usable]
        if own:
            return "; ".join(entered_text(as_measurement(r), endpoint) for r in own)
        nominal = status.settings.controls[row.control].nominal(endpoint.name)
        waits = f"{len(row.wells)} to come" if row.wells else "none yet"
        return waits if nominal is None else f"{waits}, nominal {nominal:g} {endpoint.scale_name}"

    def _enter(self, row: Row) -> None:
        """Save what was typed into a row, or show what is wrong with it."""
        field, view, shown = self.fields[row], self._model.view, self._model.round
        if view is None or shown is None or not field.text or field.edit.isReadOnly():
            return
        status = view.status
        endpoint, name = status.endpoints[row.endpoint], status.settings.controls[row.control].name
        there = self._readings(status, shown.number, row)
        results: list[Result] = []
        try:
            for text in filter(None, parts_of(field.text)):
                at = len(there) + len(results)
                made = result_of(parse_entry(text, endpoint, user_decimal()), name, endpoint)
                if made.relation != "=":
                    raise ValueError(f"{text} is no number, and a control has to read one")
                well = row.wells[at] if at < len(row.wells) else ""
                results.append(replace(made, round=shown.number, replicate=str(at + 1), plate=row.place, well=well))
        except ValueError as error:
            field.problem(str(error))
            return
        self._session.record(
            results,
            lambda _: field.edit.clear(),
            source=Source("typed"),
            failed=lambda error: field.problem(str(error)),
        )

    def _shown(self, status: Status, reading: Reading) -> Shown:
        endpoint = status.endpoints[reading.endpoint]
        now, first = entered_text(as_measurement(reading), endpoint), f"{reading.entered.value:g}"
        out = reading.excluded is not None
        notes = [f"excluded: {reading.excluded}"] * out
        notes += [f"corrected: {reading.corrected}"] * (reading.corrected is not None)
        where = " ".join(filter(None, (reading.entered.plate, reading.entered.well)))
        caption = f"{status.settings.controls[reading.control].name} {where}".rstrip()
        struck = now if out else first if reading.corrected is not None else ""
        return Shown(reading.number, caption, "" if out else now, struck, " · ".join(notes), out)

    def _found(self, number: int) -> Reading | None:
        view = self._model.view
        return None if view is None else next((r for r in view.status.readings if r.number == number), None)

    def correct(self, number: int) -> None:
        """Ask for the right value of a control and why, and correct it."""
        view, found = self._model.view, self._found(number)
        if view is None or found is None:
            return
        endpoint, name = view.status.endpoints[found.endpoint], view.status.settings.controls[found.control].name
        dialog = CorrectDialog(as_measurement(found), name, endpoint, self, exact=True)
        dialog.consequences_wanted.connect(lambda: dialog.show_consequences((SHOWN,)))

        def accepted() -> None:
            if dialog.entry is not None:
                self._session.amend_control(
                    number, dialog.reason, value=dialog.entry.value, unit=dialog.entry.unit or endpoint.unit
                )

        show_dialog(dialog, accepted)

    def exclude(self, number: int) -> None:
        """Ask why the value of a control is to be left out, and leave it out."""
        view, found = self._model.view, self._found(number)
        if view is None or found is None:
            return
        endpoint, name = view.status.endpoints[found.endpoint], view.status.settings.controls[found.control].name
        dialog = ExcludeDialog(as_measurement(found), name, endpoint, self, instead=SHOWN)
        show_dialog(dialog, lambda: self._session.amend_control(number, dialog.reason, excluded=True))


def on_plates(results: Sequence[Result], layout: Layout | None, compound: int, endpoint: int) -> list[Result]:
    """Results typed into a round with their plates and wells, where those are known."""
    placed = []
    for result in results:
        try:
            if layout is None or not result.replicate.isdigit():
                raise KeyError
            plate, at = layout.find(compound, int(result.replicate), endpoint)
            placed.append(replace(result, plate=plate.name, well=at.well))
        except KeyError:
            placed.append(result)
    return placed


def as_measurement(reading: Reading) -> Measurement:
    """Return the value of a control as cells and dialogs show values; it is of no compound."""
    return Measurement(
        number=reading.number,
        compound=-1,
        endpoint=reading.endpoint,
        value=reading.value,
        relation="=",
        n=reading.n,
        entered=reading.entered,
        round=reading.round,
        phase=0,
        excluded=reading.excluded,
        corrected=reading.corrected,
    )
