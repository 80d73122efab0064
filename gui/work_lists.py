"""Work lists of a window: what is asked, the file for the lab, and where each measurement of a round stands."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from assaypilot.engine.campaign.state import Round, Status
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.plates.layout import Layout, PlateUse
from assaypilot.engine.progress import Report
from assaypilot.gui.dialogs.work_list import WorkListDialog, kind_of, use_of
from assaypilot.gui.saving import ask_for_place, file_name
from assaypilot.gui.tasks import Job

if TYPE_CHECKING:
    from assaypilot.gui.main_window import MainWindow
    from assaypilot.gui.session import View

__all__ = ["WorkLists", "write_work_list"]

LAST, ROUNDS = "plates/last", "plates/rounds"
"""What was asked for the last time, and for each round a list was written for."""
MOST_ROUNDS = 200
"""Rounds whose plates are remembered."""


class WorkLists:
    """The round for the lab."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.dialog: WorkListDialog | None = None
        """The question how the lab gets it, while it is open."""
        self.asking: QFileDialog | None = None
        """The question where to, the last one asked."""
        window.round.print_page.connect(lambda: self.ask("page"))
        window.round.remember_in(window.settings, window)

    @property
    def shown(self) -> Round | None:
        """The round that work lists are of: the one the page shows, else the latest."""
        view = self._window.session.view
        own = self._window.round.shown
        if view is None or (own is not None and own in view.status.rounds):
            return own if view is not None else None
        return view.round

    def ask(self, kind: str | None = None) -> None:
        """Nothing; asks how the lab gets the round shown; ``kind``: what of it, unless that is to be as before."""
        window, view = self._window, self._window.session.view
        shown = self.shown
        if view is None or shown is None or self.dialog is not None:
            return
        remembered = self._of_round(view, shown) or window.settings.values(LAST)
        if kind is not None:
            remembered = remembered | {"kind": kind}
        dialog = WorkListDialog(window.session, view.status, shown, remembered, window)
        dialog.keep.connect(self._keep_plates)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.go.connect(self._ask_where)
        dialog.finished.connect(self._closed)
        self.dialog = dialog
        dialog.open()

    def _closed(self) -> None:
        self.dialog = None

    def _ask_where(self) -> None:
        window, view, dialog = self._window, self._window.session.view, self.dialog
        shown = self.shown
        if view is None or shown is None or dialog is None:
            return
        kind, use, values = kind_of(dialog.kind), dialog.use, dialog.values
        stem = f"{file_name(view.path.stem)} round {shown.number}{' plates' if kind.key == 'map' else ''}"
        proposed = window.settings.folder_for("work list") / f"{stem}{kind.suffix}"

        def chosen(path: Path) -> None:
            window.settings.keep_folder_for("work list", path.parent)
            window.settings.keep_values(LAST, values)
            dialog.accept()
            self.to(path, use, kind.key, values)

        self.asking = ask_for_place(
            dialog, f"Save: {kind.name}", proposed, kind.name, kind.suffix, chosen, dialog.refuse
        )

    def _keep_plates(self) -> None:
        """Nothing; shows the plates of the dialog beside the round, and writes nothing."""
        view, dialog, shown = self._window.session.view, self.dialog, self.shown
        if view is not None and dialog is not None and shown is not None:
            values = dialog.values
            dialog.accept()
            self._keep(view, shown, values)

    def copy(self) -> None:
        """Nothing; copies the round for the lab."""
        window = self._window
        window.show_page(window.pages.index(window.round))
        window.round.copy_work_list()

    def to(
        self, path: Path, use: PlateUse | None = None, kind: str = "list", values: dict[str, Any] | None = None
    ) -> Job | None:
        """The job that writes the work list of the round shown; ``values``: remembered for it once it is written."""
        window, view = self._window, self._window.session.view
        shown = self.shown
        if view is None or shown is None:
            return None
        status = view.status

        def work(report: Report) -> int:
            from assaypilot.engine.processes import in_another_process

            return in_another_process(write_work_list, path, status, shown, use, kind, report=report)

        def written(rows: int) -> None:
            if values is not None:
                self._keep(view, shown, values)
            window.exporting.written(path, f"Round {shown.number} written to {path.name}: {rows:,} measurements.")

        return window.exporting.start(f"Writing {path.name}", path, work, written, self.ask)

    # ------------------------------------------------------------------ where measurements stand

    def layout(self, view: View, shown: Round) -> Layout | None:
        """The plates of the last work list written for a round; None when it was written without."""
        use = use_of(self._of_round(view, shown))
        if use is None:
            return None
        from assaypilot.engine.export.plate_map import plate_layout

        try:
            return plate_layout(view.status, shown, use)
        except AssayPilotError:  # written by a version with other plates
            return None

    def _of_round(self, view: View, shown: Round) -> dict[str, Any]:
        found = self._window.settings.values(ROUNDS).get(_key(view, shown))
        return found if isinstance(found, dict) else {}

    def _keep(self, view: View, shown: Round, values: dict[str, Any]) -> None:
        """Nothing; remembers the plates of a round, and shows its wells."""
        settings = self._window.settings
        kept = settings.values(ROUNDS)
        kept.pop(_key(view, shown), None)
        kept[_key(view, shown)] = values
        while len(kept) > MOST_ROUNDS:
            del kept[next(iter(kept))]
        settings.keep_values(ROUNDS, kept)
        self._window.show_plates()


def _key(view: View, shown: Round) -> str:
    """What a round is remembered by: a copy of the campaign has the same rounds, another campaign has others."""
    return f"{shown.issued} {shown.number} {len(shown.items)}"


def write_work_list(path: Path, status: Status, issued: Round, use: PlateUse | None, kind: str, report: Report) -> int:
    """How many measurements a round's work list holds; ``kind``: a ``list``, the ``page`` to print, or a ``map``."""
    from assaypilot.engine.export.csv_file import write_csv
    from assaypilot.engine.export.plate_map import plate_layout, plate_map
    from assaypilot.engine.export.work_list import work_list

    report(0.0, "Laying out the plates" if use is not None else "Gathering")
    layout = None if use is None else plate_layout(status, issued, use)
    if kind == "page":
        from assaypilot.engine.export.work_page import write_work_page
        from assaypilot.engine.version import program_version

        now = f"{datetime.now().astimezone():%Y-%m-%d %H:%M}"
        program = f"AssayPilot {program_version()}"
        write_work_page(str(path), status, issued, layout, program=program, printed=now, report=report)
        return issued.measurements
    sheet = (
        plate_map(status, issued, layout) if kind == "map" and layout is not None else work_list(status, issued, layout)
    )
    write_csv(path, sheet.header, sheet.rows)
    return issued.measurements
