"""Errors of ours: said once, saved on this computer without anybody's data, offered again at the next start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from assaypilot.gui.reporting import Reporter

if TYPE_CHECKING:
    from assaypilot.gui.widgets.message_bar import MessageBar

__all__ = ["Troubles"]


class Troubles:
    """What a window says when something went wrong inside the program."""

    def __init__(self, messages: MessageBar, reporter: Reporter | None) -> None:
        self._messages, self._reporter = messages, reporter

    def broke(self, error: BaseException, doing: str) -> None:
        """Nothing; saves a report of an error, and says so."""
        if self._reporter is not None:
            self._reporter.save(error, doing)
        else:
            self.told(None)

    def told(self, report: Path | None) -> None:
        """Nothing; says that something went wrong inside the program."""
        mend = "What was saved is safe. " + (f"A report is in {report}." if report else "")
        offers = [("Show report", lambda: self._show(report))] if report is not None else []
        self._messages.ask("Something went wrong inside AssayPilot.", mend.strip(), *offers)

    def offer(self) -> None:
        """Nothing; says that an earlier session ended with an error of ours."""
        reporter = self._reporter
        found = [] if reporter is None else reporter.unseen()
        if reporter is not None and found:
            self._messages.ask(
                "An earlier session ended with an error inside AssayPilot.",
                "A report without any ids, structures or values was saved on this computer.",
                ("Show report", lambda: self._show(found[0])),
                ("Do not ask again", reporter.dismiss),
            )

    def _show(self, report: Path) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(report)))
        if self._reporter is not None:
            self._reporter.dismiss()
