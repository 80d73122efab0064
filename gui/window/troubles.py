"""Errors of ours: said once, saved on this computer without anybody's data, offered again at the next start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QApplication

from ..reporting import Reporter
from .windows import main_windows

if TYPE_CHECKING:
    from ..widgets.message_bar import MessageBar
    from .main_window import MainWindow

__all__ = ["Troubles", "tell"]


class Troubles:
    """What a window says when something went wrong inside the program."""

    def __init__(self, messages: MessageBar, reporter: Reporter | None) -> None:
        self._messages, self._reporter = messages, reporter

    def follow(self, window: MainWindow) -> None:
        """Note what is done in a window, in the words of its menus and pages and in no others."""
        for action in window.findChildren(QAction):
            name = action.text().replace("&", "").rstrip("…")  # before undo names what it would take back
            if name and action.menu() is None:
                action.triggered.connect(lambda _=False, name=name: self.note(name))
        window.stack.currentChanged.connect(
            lambda place: self.note(f"page {type(window.stack.widget(place)).__name__}")
        )
        window.session.changed.connect(lambda what: self.note("another campaign" if what == "campaign" else "done"))
        window.session.failed.connect(lambda _: self.note("refused"))

    def note(self, text: str) -> None:
        """Keep what was just done for a report."""
        if self._reporter is not None:
            self._reporter.watch.note(text)

    def broke(self, error: BaseException, doing: str) -> None:
        """Save a report of an error, and say so."""
        if self._reporter is not None:
            self._reporter.save(error, doing)
        else:
            self.told(None)

    def told(self, report: Path | None) -> None:
        """Say that something went wrong inside the program."""
        mend = "What was saved is safe. " + (f"A report is in {report}." if report else "")
        offers = [("Show report…", lambda: self.show(report))] if report is not None else []
        self._messages.ask("Something went wrong inside AssayPilot.", mend.strip(), *offers)

    def offer(self) -> None:
        """Say that an earlier session ended with an error of ours, or was not closed."""
        reporter = self._reporter
        found = [] if reporter is None else reporter.unseen()
        if reporter is not None and found:
            many = f" {len(found)} reports are" if len(found) > 1 else " A report is"
            self._messages.ask(
                "An earlier session of AssayPilot ended with an error or was not closed. Results that were saved "
                "are safe.",
                f"{many.strip()} on this computer, without ids, structures or values. Nothing is sent anywhere.",
                ("Show report…", lambda: self.show(found[0])),
                ("Copy", lambda: self._copy(found)),
                ("Delete", lambda: reporter.delete(*found)),
            )

    def show(self, report: Path) -> None:
        """Show a report, to be copied, saved by hand or deleted; none is offered again."""
        from ..dialogs.trouble_report import ReportDialog

        reporter = self._reporter
        if reporter is None:
            return
        dialog = ReportDialog(reporter, report, self._messages.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        reporter.dismiss()

    def _copy(self, found: list[Path]) -> None:
        texts = [path.read_text(encoding="utf-8") for path in found if path.exists()]
        QGuiApplication.clipboard().setText("\n".join(texts))
        if self._reporter is not None:
            self._reporter.dismiss()
        self._messages.note("The report was copied. Paste it wherever you want to send it from.")


def tell(report: Path | None) -> None:
    """Say in the window that is in front that something went wrong inside the program."""
    front = QApplication.activeWindow()
    windows = [one for one in main_windows() if one.isVisible()]
    windows.sort(key=lambda one: one is not front)
    if windows:
        windows[0].troubles.told(report)
