"""The work list of a round: as a table or a printable page, on which plates, and the files it is written to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.plating import layout_of, moved_in_words
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.plates import PlateUse, controls_text
from assaypilot.engine.system.progress import Report

from ..runtime.tasks import Job
from ..session.session import Session
from ..session.view import View
from ..tables.table import as_clipboard
from ..widgets.file_dialogs import ask_for_place, file_name
from ..widgets.layout import show_dialog
from ..window.page import PageName
from .work_list_dialog import WorkListDialog, kind_of, values_of

if TYPE_CHECKING:
    from ..window.exporting import Exporting
    from ..window.page import Desk
    from .round_page import RoundPage


LAST = "plates/last"
"""The latest request."""


class WorkLists:
    """The round for the lab."""

    def __init__(self, desk: Desk, page: RoundPage, exporting: Exporting) -> None:
        self._desk, self._page, self._exporting = desk, page, exporting
        self.dialog: WorkListDialog | None = None
        """The question how the lab gets it, while it is open."""
        self.asking: QFileDialog | None = None
        """The latest dialog for a place to write to."""
        page.print_page.connect(lambda: self.ask("page"))

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
        """Ask for the form of the shown round's work list; ``kind``: proposed kind, by default the latest."""
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
        """Keep the plates of the round shown in the campaign first: lists follow the campaign."""
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
        view, shown = self._desk.session.view, self.shown
        if view is not None and shown is not None:
            copy_work_list(self._desk.session, view, shown)

    def to(self, path: Path, use: PlateUse | None = None, kind: str = "list") -> Job | None:
        """Return the job that writes the work list of the round shown."""
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


def copy_work_list(session: Session, view: View, shown: Round) -> None:
    """Copy a round for the lab, one row per measurement."""
    from assaypilot.engine.export.work_list import work_list

    sheet = work_list(view.status, shown)
    rows = [["" if cell is None else str(cell) for cell in row] for row in sheet.rows]
    QGuiApplication.clipboard().setText(as_clipboard([list(sheet.header), *rows]))
    session.message.emit(f"{len(rows):,} rows of the work list are on the clipboard.")


def _plates_of(shown: Round) -> dict[str, Any]:
    """Return the plates of a round as the dialog takes them; empty for none."""
    if shown.layout is None:
        return {}
    return values_of(shown.layout.use, controls_text(shown.layout.use.controls), kind="")


def write_work_list(path: Path, status: Status, issued: Round, use: PlateUse | None, kind: str, report: Report) -> int:
    """Write a ``list``, the ``page`` to print or a ``map``; return the number of measurements on it."""
    from assaypilot.engine.export.sheet import write_csv
    from assaypilot.engine.export.work_list import plate_map, work_list

    report(0.0, "Laying out the plates" if use is not None else "Gathering")
    layout = layout_of(status, issued, use)
    if kind == "page":
        from assaypilot.engine.export.work_page import write_work_page
        from assaypilot.engine.system import program_version

        now = f"{datetime.now().astimezone():%Y-%m-%d %H:%M}"
        program = f"AssayPilot {program_version()}"
        write_work_page(str(path), status, issued, layout, program=program, printed=now, report=report)
        return issued.measurements
    sheet = (
        plate_map(status, issued, layout) if kind == "map" and layout is not None else work_list(status, issued, layout)
    )
    write_csv(path, sheet.header, sheet.rows)
    return issued.measurements
