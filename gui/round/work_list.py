"""The work list of a round: as a table or a printable page, on which plates, and the files it is written to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QWidget,
)

from assaypilot.engine.campaign.phrases import many
from assaypilot.engine.campaign.plating import layout_of, moved_in_words
from assaypilot.engine.campaign.state import Round, Status
from assaypilot.engine.domain.plates.layout import Layout, PlateUse, controls_text, read_controls
from assaypilot.engine.domain.plates.wells import FORMATS
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report

from ..runtime.tasks import Job, Latest, single_shot
from ..session.session import Session
from ..widgets.file_dialogs import ask_for_place, file_name
from ..widgets.inputs import Form, Segments, combo_box, fill_box
from ..widgets.layout import column_of, put, row_of, show_dialog
from ..widgets.text import button, error_words, go_or_cancel, label, polish
from ..window.page import PageName
from .plate import PlateView, plate_words
from .plate_looks import plain_looks

if TYPE_CHECKING:
    from ..window.exporting import Exporting
    from ..window.page import Desk
    from .round_page import RoundPage


LAST = "plates/last"
"""What was asked for the last time."""


class WorkLists:
    """The round for the lab."""

    def __init__(self, desk: Desk, page: RoundPage, exporting: Exporting) -> None:
        self._desk, self._page, self._exporting = desk, page, exporting
        self.dialog: WorkListDialog | None = None
        """The question how the lab gets it, while it is open."""
        self.asking: QFileDialog | None = None
        """The question where to, the last one asked."""
        page.print_page.connect(lambda: self.ask("page"))
        page.remember_in(desk.settings)

    @property
    def shown(self) -> Round | None:
        """The round that work lists are of: the one the page shows, else the latest."""
        view = self._desk.session.view
        own = self._page.shown
        if view is None:
            return None
        found = (one for one in view.status.rounds if own is not None and one.number == own.number)
        return next(found, view.round)

    def ask(self, kind: str | None = None) -> None:
        """Ask how the lab gets the round shown; ``kind``: what of it, unless that is to be as before."""
        desk, view = self._desk, self._desk.session.view
        shown = self.shown
        if view is None or shown is None or self.dialog is not None:
            return
        last = desk.settings.values(LAST)
        remembered = _plates_of(shown) or (last | {"size": 0} if view.read_only else last)
        remembered = remembered | {"kind": kind or last.get("kind")}
        dialog = WorkListDialog(desk.session, view.status, shown, remembered, desk.parent, writable=not view.read_only)
        dialog.keep.connect(self._keep_plates)
        dialog.go.connect(self._ask_where)
        dialog.finished.connect(self._closed)
        self.dialog = dialog
        show_dialog(dialog)

    def _closed(self) -> None:
        self.dialog = None

    def _ask_where(self) -> None:
        settings, view, dialog = self._desk.settings, self._desk.session.view, self.dialog
        shown = self.shown
        if view is None or shown is None or dialog is None:
            return
        kind, use, values = kind_of(dialog.kind), dialog.use, dialog.values
        stem = f"{file_name(view.path.stem)} round {shown.number}{' plates' if kind.key == 'map' else ''}"
        proposed = settings.folder_for("work list") / f"{stem}{kind.suffix}"

        def chosen(path: Path) -> None:
            settings.keep_folder_for("work list", path.parent)
            settings.keep_values(LAST, values)
            dialog.accept()
            self.keep(use, lambda: self.to(path, use, kind.key))

        self.asking = ask_for_place(
            dialog, f"Save: {kind.name}", proposed, kind.name, kind.suffix, chosen, dialog.refuse
        )

    def _keep_plates(self) -> None:
        """Keep the plates of the dialog with the round, and write no file."""
        dialog = self.dialog
        if dialog is not None:
            use = dialog.use
            self._desk.settings.keep_values(LAST, dialog.values)
            dialog.accept()
            self.keep(use)

    def keep(self, use: PlateUse | None, then: Callable[[], object] | None = None) -> None:
        """The campaign keeps the plates of the round shown, and that is done first: lists say what it says."""
        view, shown = self._desk.session.view, self.shown
        if view is None or shown is None:
            return

        def kept() -> None:
            for text in () if same else moved_in_words(view.status, shown.number):
                self._desk.session.message.emit(text)
            if then is not None:
                then()

        same = view.read_only or (None if shown.layout is None else shown.layout.use) == use
        if same:
            kept()
        else:
            self._desk.session.lay_out(shown.number, use, kept)

    def copy(self) -> None:
        """Copy the round for the lab."""
        self._desk.show_page(PageName.ROUND)
        self._page.copy_work_list()

    def to(self, path: Path, use: PlateUse | None = None, kind: str = "list") -> Job | None:
        """The job that writes the work list of the round shown."""
        view, shown = self._desk.session.view, self.shown
        if view is None or shown is None:
            return None
        status = view.status

        def work(report: Report) -> int:
            from assaypilot.engine.system.processes import in_another_process

            return in_another_process(write_work_list, path, status, shown, use, kind, report=report)

        def written(rows: int) -> None:
            self._exporting.written(path, f"Round {shown.number} written to {path.name}: {rows:,} measurements.")

        return self._exporting.start(f"Writing {path.name}", path, work, written, self.ask)


def _plates_of(shown: Round) -> dict[str, Any]:
    """The plates of a round as the dialog takes them; empty for none."""
    if shown.layout is None:
        return {}
    return values_of(shown.layout.use, controls_text(shown.layout.use.controls), kind="")


def write_work_list(path: Path, status: Status, issued: Round, use: PlateUse | None, kind: str, report: Report) -> int:
    """How many measurements a round's work list holds; ``kind``: a ``list``, the ``page`` to print, or a ``map``."""
    from assaypilot.engine.export.csv_file import write_csv
    from assaypilot.engine.export.work_list import plate_map, work_list

    report(0.0, "Laying out the plates" if use is not None else "Gathering")
    layout = layout_of(status, issued, use)
    if kind == "page":
        from assaypilot.engine.export.work_page import write_work_page
        from assaypilot.engine.system.version import program_version

        now = f"{datetime.now().astimezone():%Y-%m-%d %H:%M}"
        program = f"AssayPilot {program_version()}"
        write_work_page(str(path), status, issued, layout, program=program, printed=now, report=report)
        return issued.measurements
    sheet = (
        plate_map(status, issued, layout) if kind == "map" and layout is not None else work_list(status, issued, layout)
    )
    write_csv(path, sheet.header, sheet.rows)
    return issued.measurements


@dataclass(frozen=True, slots=True)
class Kind:
    """What is written."""

    key: str
    name: str
    suffix: str
    holds: str


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
"""Milliseconds after the last change before plates are laid out anew."""


def kind_of(key: object) -> Kind:
    """The kind with a key; the first for any other."""
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
        box, self.confirm = go_or_cancel("Choose the &place…")
        box.accepted.connect(self.go)
        box.rejected.connect(self.reject)
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
        """The choices, as they were the last time."""
        form = Form()
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(9)
        self.kinds = Segments([(kind.key, kind.name) for kind in KINDS], "Kind of file")
        self.kinds.choose(kind_of(remembered.get("kind")).key)
        self.kinds.chosen.connect(lambda _: self._changed())
        self.holds = label("", "muted", wrap=True)
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
        form.addRow(label(""), self.holds)
        form.addRow(label("Plates"), self.plate_size)
        self._caption = label("Control columns")
        self._caption.setBuddy(self.controls)
        form.addRow(self._caption, self.controls)
        form.addRow(label(""), self.edge)
        if len(self._issued.endpoints) > 1:
            form.addRow(label(""), self.same)
        return form

    # ------------------------------------------------------------------ what is asked for

    @property
    def kind(self) -> str:
        """The key of what is written."""
        return self.kinds.key

    @property
    def use(self) -> PlateUse | None:
        """The plates asked for; AssayPilotError when there are no such."""
        return _use(int(self.plate_size.key), self.controls.text(), not self.edge.isChecked(), self.same.isChecked())

    @property
    def values(self) -> dict[str, Any]:
        """What is asked for, to be remembered."""
        return values_of(self.use, self.controls.text().strip(), kind=self.kind)

    def refuse(self, error: AssayPilotError) -> None:
        """Say why a place cannot be used; another one can be chosen."""
        self._say(" ".join(error_words(error)))

    # ------------------------------------------------------------------ inside

    def _changed(self) -> None:
        on_plates = self.plate_size.key != NO_PLATES and self._writable
        for widget in (self.controls, self.edge, self.same, self._caption):
            widget.setEnabled(on_plates)
        self.holds.setText(kind_of(self.kinds.key).holds)
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
                self._say("A plate map needs plates: choose their size.")
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
        self._say(" ".join(error_words(error)))
        polish(self.controls, wrong="true" if error.option == "--control-columns" else "false")
        self.plates.hide()
        self.none.hide()
        self.confirm.setEnabled(False)
        self.keep_button.setEnabled(False)

    def _laid(self, layout: Layout | None) -> None:
        self.layout_ = layout
        self._say("")
        polish(self.controls, wrong="false")
        self.confirm.setEnabled(True)
        self.keep_button.setText(KEEP if layout is not None else TAKE_AWAY)
        self.keep_button.setEnabled(layout is not None or self._issued.layout is not None)
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

    def _say(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    def done(self, result: int) -> None:
        """Lay nothing out any more once the dialog is closed."""
        self._layouts.drop()
        self._pause.stop()
        super().done(result)
