"""Asks how the lab gets a round: as a table or a printable page, on which plates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QFormLayout, QLineEdit, QWidget

from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.plating import layout_of
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.plates import FORMATS, Layout, PlateUse, read_controls
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report
from assaypilot.engine.text import many

from ..runtime.tasks import Latest, single_shot
from ..session.session import Session
from ..widgets.inputs import Form, Segments, combo_box, fill_box
from ..widgets.layout import column_of, put, row_of
from ..widgets.text import button, error_words, go_or_cancel, label, polish
from .plate import PlateView, plate_words
from .plate_looks import plain_looks


@dataclass(frozen=True, slots=True)
class Kind:
    """What is written."""

    key: str
    name: str
    suffix: str
    contents: str


KINDS = (
    Kind("list", "Table (CSV)", ".csv", "A row for each measurement, with empty cells for what comes back; it can be "
         "read in as it is, filled in further, and read in again."),
    Kind("page", "Page to print (PDF)", ".pdf", "The plates, and every compound with its structure and boxes to write "
         "in."),
    Kind("map", "Plate map (CSV)", ".csv", "A row for each well, compounds and controls, for a robot or a plate "
         "reader."),
)  # fmt: skip
NO_PLATES = "0"
OFFERED = (96, 384)
KEEP, TAKE_AWAY = "&Keep the plates", "&Keep no plates"
WIDTH = 640
PAUSE = 150
"""Milliseconds after the last change before plates are laid out again."""


def kind_of(key: object) -> Kind:
    """Return the kind with a key; the first for any other."""
    return next((kind for kind in KINDS if kind.key == key), KINDS[0])


def values_of(use: PlateUse | None, controls: str, *, kind: str) -> dict[str, Any]:
    """Plate options as plain values, to be remembered; ``controls``: as they were typed."""
    if use is None:
        return {"kind": kind, "size": 0, "controls": controls}
    return {"kind": kind, "size": use.size, "controls": controls, "edge": use.edge, "same": use.same_wells}


def _use(size: int, controls: str, edge: bool, same: bool) -> PlateUse | None:
    texts = [part for part in controls.split(";") if part.strip()]
    return PlateUse(size, read_controls(texts), edge, same) if size else None


class WorkListDialog(QDialog):
    """Asks how the lab gets a round."""

    go = Signal()
    """Asks where to write."""
    keep = Signal()
    """The campaign is to keep the plates; no file is written."""

    def __init__(
        self, session: Session, status: Status, issued: Round, remembered: dict[str, Any], parent: QWidget | None, *,
        writable: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._session, self._status, self._issued, self._writable = session, status, issued, writable
        self._ranks = {item.compound: line for line, item in enumerate(issued.items, start=1)}
        self._layouts = Latest()
        self.layout_: Layout | None = None
        """The plates as they will be written; None for none, or while they are being laid out."""
        self.setWindowTitle("Work list")
        body = column_of(
            label(f"Work list of round {issued.number}", "title"), holder=self, margins=(22, 20, 22, 18), spacing=10
        )
        body.addWidget(label(f"{many(issued.measurements, 'measurement')} of {many(len(issued.items), 'compound')}",
                             "muted"))  # fmt: skip
        body.addLayout(self._form(remembered))
        self.problem = label("", "problem", wrap=True)
        self.problem.setAccessibleName("What is in the way")
        body.addWidget(self.problem)
        self.plates = QWidget()
        shown = column_of(holder=self.plates, margins=(0, 4, 0, 0))
        top = row_of()
        self.which = combo_box("Plate shown")
        self.which.currentIndexChanged.connect(lambda _: self._show())
        self.words = label("", "muted", wrap=True)
        put(top, self.which, (self.words, 1))
        self.plate = PlateView()
        put(shown, top, (self.plate, 1))
        body.addWidget(self.plates, 1)
        self.none = label("Plate and well are left empty.", "muted", wrap=True)
        body.addWidget(self.none)
        if not writable:
            body.addWidget(label("This window is read-only: the plates are those that the campaign keeps.", "muted",
                                 wrap=True))  # fmt: skip
        body.addStretch(0)
        box, self.confirm = go_or_cancel("Choose the &place…", self, self.go.emit)
        self.keep_button = button(
            KEEP,
            tip="The campaign keeps these plates, and everybody who opens it sees them; no file is written",
            then=self.keep,
        )
        box.addButton(self.keep_button, QDialogButtonBox.ButtonRole.ActionRole)
        self.keep_button.setVisible(writable)
        body.addWidget(box)
        self._pause = single_shot(self, PAUSE, self._lay_out)
        self._changed()
        self._pause.stop()
        self._lay_out()

    def _form(self, remembered: dict[str, Any]) -> QFormLayout:
        """Return the choices, as they were the last time."""
        form = Form()
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(9)
        self.kinds = Segments([(kind.key, kind.name) for kind in KINDS], "Kind of file")
        self.kinds.choose(kind_of(remembered.get("kind")).key)
        self.kinds.chosen.connect(lambda _: self._changed())
        self.contents = label("", "muted", wrap=True)
        size = remembered.get("size", 0)
        # A size that was chosen on the command line is not lost here.
        sizes = sorted({*OFFERED, *([size] if size in FORMATS else [])})
        self.plate_size = Segments(
            [(NO_PLATES, "No plates"), *((str(wells), f"{wells:,} wells") for wells in sizes)], "Plates"
        )
        self.plate_size.choose(str(size) if size in sizes else NO_PLATES)
        self.plate_size.setEnabled(self._writable)
        self.plate_size.chosen.connect(lambda _: self._changed())
        self.controls = QLineEdit(str(remembered.get("controls", "")))
        self.controls.setPlaceholderText("none; for example 1, 12 or max=1; min=12")
        self.controls.setAccessibleName("Control columns")
        self.controls.setToolTip("Columns with controls: 1, 12 takes turns of max and min down each of them. "
                                 "max=1; min=12 names what stands in which.")  # fmt: skip
        self.controls.textChanged.connect(lambda _: self._changed())
        self.edge = QCheckBox("Leave the &outermost wells empty")
        self.edge.setChecked(remembered.get("edge", True) is False)
        self.edge.toggled.connect(lambda _: self._changed())
        self.same = QCheckBox("All endpoints are read from the &same wells")
        self.same.setChecked(bool(remembered.get("same")))
        self.same.toggled.connect(lambda _: self._changed())
        self.same.setVisible(len(self._issued.endpoints) > 1)
        form.addRow(label("As"), self.kinds)
        form.addRow(label(""), self.contents)
        form.addRow(label("Plates"), self.plate_size)
        self._caption = label("Control columns")
        self._caption.setBuddy(self.controls)
        form.addRow(self._caption, self.controls)
        form.addRow(label(""), self.edge)
        if len(self._issued.endpoints) > 1:
            form.addRow(label(""), self.same)
        return form

    # ------------------------------------------------------------------ what is requested

    @property
    def kind(self) -> str:
        """The key of what is written."""
        return self.kinds.key

    @property
    def use(self) -> PlateUse | None:
        """The requested plates; AssayPilotError when they are impossible."""
        return _use(int(self.plate_size.key), self.controls.text(), not self.edge.isChecked(), self.same.isChecked())

    @property
    def values(self) -> dict[str, Any]:
        """The request, to be remembered."""
        return values_of(self.use, self.controls.text().strip(), kind=self.kind)

    def refuse(self, error: AssayPilotError) -> None:
        """Show why a place is unusable; another one can be chosen."""
        self._show_text(" ".join(error_words(error)))

    # ------------------------------------------------------------------ inside

    def _changed(self) -> None:
        on_plates = self.plate_size.key != NO_PLATES and self._writable
        for widget in (self.controls, self.edge, self.same, self._caption):
            widget.setEnabled(on_plates)
        self.contents.setText(kind_of(self.kinds.key).contents)
        self._layouts.drop()
        self._pause.start()

    def _lay_out(self) -> None:
        try:
            use = self.use
        except AssayPilotError as error:
            self._refused(error)
            return
        if use is None:
            self._laid(None)
            if self.kind == "map":
                self._show_text("A plate map needs plates: choose their size.")
                self.confirm.setEnabled(False)
            return
        status, issued = self._status, self._issued

        def work(report: Report) -> Layout | None:
            return layout_of(status, issued, use)

        def failed(error: Exception) -> None:
            if isinstance(error, AssayPilotError):
                self._refused(error)

        self.confirm.setEnabled(False)
        self.keep_button.setEnabled(False)
        self._layouts.start(self._session.aside("Laying out the plates", work, self._laid, failed))

    def _refused(self, error: AssayPilotError) -> None:
        self.layout_ = None
        self._show_text(" ".join(error_words(error)))
        polish(self.controls, wrong="true" if error.option == "--control-columns" else "false")
        self.plates.hide()
        self.none.hide()
        self.confirm.setEnabled(False)
        self.keep_button.setEnabled(False)

    def _laid(self, layout: Layout | None) -> None:
        self.layout_ = layout
        self._show_text("")
        polish(self.controls, wrong="false")
        self.confirm.setEnabled(True)
        self.keep_button.setText(KEEP if layout is not None else TAKE_AWAY)
        changes = layout is not None or self._issued.layout is not None
        self.keep_button.setEnabled(changes)
        self.keep_button.setVisible(changes and self._writable)
        self.none.setVisible(layout is None)
        self.plates.setVisible(layout is not None)
        if layout is not None:
            at = min(max(self.which.currentIndex(), 0), len(layout.plates) - 1)
            fill_box(self.which, [(plate.name, n) for n, plate in enumerate(layout.plates)], at)
            self.which.setVisible(len(layout.plates) > 1)
        self._show()
        self._fit()

    def _fit(self) -> None:
        """Make the dialog as high as what it shows, within the screen."""
        least = self.minimumSizeHint().expandedTo(QSize(WIDTH, 0))
        width = min(max(self.width(), least.width()), self.screen().availableGeometry().width())
        layout = self.layout()
        height = layout.totalHeightForWidth(width) if layout is not None else least.height()
        most = self.screen().availableGeometry().height() - 60
        self.resize(width, min(max(height, least.height()), most))

    def _show(self) -> None:
        layout, number = self.layout_, self.which.currentIndex()
        self.plate.show_plate(self._status, layout, number)
        plate = self.plate.plate
        self.plate.show_looks(None if plate is None else plain_looks(plate, self._ranks))
        self.words.setText("" if plate is None or layout is None else plate_words(plate, layout, self._status))

    def _show_text(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    def done(self, result: int) -> None:
        """Lay nothing out any more once the dialog is closed."""
        self._layouts.drop()
        self._pause.stop()
        super().done(result)
