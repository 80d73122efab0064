"""Work lists of a window: what is asked, the file for the lab, and where each measurement of a round stands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assaypilot.engine.progress import Report
from assaypilot.gui.tasks import Job

if TYPE_CHECKING:
    from assaypilot.gui.main_window import MainWindow

__all__ = ["WorkLists"]


class WorkLists:
    """The round for the lab."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def ask(self) -> None:
        """Nothing; asks for a name and writes the round as a work list."""

    def copy(self) -> None:
        """Nothing; copies the round for the lab."""
        window = self._window
        window.show_page(window.pages.index(window.round))
        window.round.copy_work_list()

    def to(self, path: Path) -> Job | None:
        """The job that writes the work list of the round shown."""
        view = self._window.session.view
        if view is None or view.round is None:
            return None
        status, shown = view.status, view.round

        def work(report: Report) -> int:
            from assaypilot.engine.export.csv_file import write_csv
            from assaypilot.engine.export.work_list import work_list

            sheet = work_list(status, shown)
            return write_csv(path, sheet.header, sheet.rows)

        return self._window.exporting.start(
            "Writing the work list", path, work,
            lambda n: self._window.exporting.written(path, f"{n:,} rows written to {path.name}."), self.ask,
        )  # fmt: skip
