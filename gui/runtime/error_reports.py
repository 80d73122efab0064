"""Reports of our own errors: their content, the dialog that shows one, and when it opens."""

from __future__ import annotations

import platform
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import qVersion
from PySide6.QtGui import QAction, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QPlainTextEdit, QWidget

from ..widgets.layout import STRETCH, column_of, resize_within_screen, row_of, show_dialog
from ..widgets.text import button, label
from ..window.opening import main_windows
from .crash_log import Ended, Watch

if TYPE_CHECKING:
    from ..widgets.bars import MessageBar
    from ..window.main_window import MainWindow


PACKAGES = ("assaypilot", "numpy", "scipy", "pandas", "rdkit", "matplotlib", "PySide6-Essentials")
KEPT = 20
NAMED = re.compile(r"\S\.\w+$")
"""A label that names a file."""


def versions() -> list[tuple[str, str]]:
    """Return what runs here: the program, Python, Qt, the system and the libraries, as (name, version)."""
    found = []
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    own = [("Python", platform.python_version()), ("Qt", qVersion()), ("System", platform.platform())]
    return found[:1] + own + found[1:]


def report_text(error: BaseException, doing: str, events: Sequence[str] = ()) -> str:
    """Return the report: versions, what was being done, and where it happened.

    The error's own text is left out, because it may quote an id, a structure or a value.
    """
    if NAMED.search(doing):
        doing = f"{doing.split()[0]} a file"
    lines = [*_head(), f"While: {doing or 'using the window'}"]
    chain: BaseException | None = error
    while chain is not None:
        lines += ["", f"{type(chain).__name__} at:"]
        frames = traceback.extract_tb(chain.__traceback__)
        lines += [f"  {Path(frame.filename).name}, line {frame.lineno}, in {frame.name}" for frame in frames]
        chain = chain.__cause__ or chain.__context__
    return "\n".join([*lines, *_last(events)]) + "\n"


def ended_text(ended: Ended) -> str:
    """Return the report of a session that ended without being closed."""
    lines = [*_head(), "The program ended without being closed: a crash, a kill or a power cut."]
    if ended.places:
        lines += ["", *ended.places]
    return "\n".join([*lines, *_last(ended.events)]) + "\n"


def _head() -> list[str]:
    found = [f"{name} {number}" for name, number in versions()]
    return [f"AssayPilot error report, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "", *found, ""]


def _last(events: Sequence[str]) -> list[str]:
    return ["", "Done last (UTC):", *(f"  {line}" for line in events)] if events else []


class Reporter:
    """Writes reports into a folder and knows which are unread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "reports"
        self.watch = Watch(folder)
        self.on_report: Callable[[Path | None], None] | None = None
        """Called with the report after one was written (None: it could not be)."""

    def begin(self) -> None:
        """Watch this session, and reports earlier ones that were not closed."""
        for ended in reversed(self.watch.begin()):
            self._write(ended_text(ended))

    def unseen(self) -> list[Path]:
        """Return reports of earlier sessions that were not looked at or dismissed, the latest first."""
        return sorted(self._folder.glob("report-*.txt"), reverse=True)

    def dismiss(self) -> None:
        """Keep the reports, but do not offer them again."""
        for path in self.unseen():
            with suppress(OSError):  # not there, or open in an editor that keeps it to itself
                path.replace(path.with_name("seen-" + path.name))
        for path in sorted(self._folder.glob("seen-*.txt"))[:-KEPT]:
            self.delete(path)

    def delete(self, *reports: Path) -> None:
        """Remove reports."""
        for path in reports:
            with suppress(OSError):
                path.unlink()

    def save(self, error: BaseException, doing: str = "") -> Path | None:
        """Return the report's file; None when it could not be written (an error about an error does not help)."""
        path = self._write(report_text(error, doing, self.watch.events))
        self.watch.note(f"went wrong: {type(error).__name__}")
        if self.on_report is not None:
            self.on_report(path)
        return path

    def _write(self, text: str) -> Path | None:
        path = self._folder / f"report-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.txt"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError:
            return None
        return path

    def hook(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Report an error; ``sys.excepthook`` calls it."""
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        if sys.stderr is not None:  # there is none in a program without a console
            traceback.print_exception(kind, error, trace)
        self.save(error.with_traceback(trace))


class TextDialog(QDialog):
    """A text to be read and copied."""

    def __init__(self, title: str, about: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.body = column_of(label(about, wrap=True), holder=self, margins=(22, 18, 22, 16), spacing=10)
        self.text = QPlainTextEdit()
        self.text.setAccessibleName(f"Text: {title}")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.body.addWidget(self.text, 1)
        self.copy = button("&Copy", then=lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        close = button("Close", "go", then=self.accept)
        close.setDefault(True)
        self.buttons = row_of(self.copy, STRETCH, close)
        self.body.addLayout(self.buttons)
        line = self.fontMetrics().lineSpacing()
        resize_within_screen(self, 42 * line, 30 * line)


class ReportDialog(TextDialog):
    """One report."""

    def __init__(self, reporter: Reporter, report: Path, parent: QWidget | None) -> None:
        about = (
            "This is all the report says. It holds no ids, structures or values, and it is not sent anywhere: "
            "copy it if you want to pass it on."
        )
        super().__init__("Error report", about, parent)
        self._reporter, self._report = reporter, report
        # Read at once: the file is set aside as soon as it is shown.
        self.text.setPlainText(
            report.read_text(encoding="utf-8") if report.exists() else "The report is not there any more."
        )
        self.delete = button("&Delete the report", then=self._delete)
        self.buttons.insertWidget(1, self.delete)
        QWidget.setTabOrder(self.copy, self.delete)

    def _delete(self) -> None:
        self._reporter.delete(self._report, self._report.with_name("seen-" + self._report.name))
        self.accept()


class ErrorReports:
    """The messages of a window about errors inside the program."""

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
        """Save a report of an error, and show a message."""
        if self._reporter is not None:
            self._reporter.save(error, doing)
        else:
            self.announce(None)

    def announce(self, report: Path | None) -> None:
        """Show that something went wrong inside the program."""
        mend = "What was saved is safe. " + (f"A report is in {report}." if report else "")
        offers = [("Show report…", lambda: self.show(report))] if report is not None else []
        self._messages.ask("Something went wrong inside AssayPilot.", mend.strip(), *offers)

    def offer(self) -> None:
        """Show that an earlier session ended with an error of ours, or was not closed."""
        reporter = self._reporter
        found = [] if reporter is None else reporter.unseen()
        if reporter is not None and found:
            many = f" {len(found)} reports are" if len(found) > 1 else " A report is"
            self._messages.ask(
                "An earlier session of AssayPilot ended with an error or was not closed. Results that were saved "
                "are safe.",
                f"{many.strip()} on this computer, without ids, structures or values. Nothing is sent anywhere.",
                ("Show report…", lambda: self.show(found[0])),
            )

    def show(self, report: Path) -> None:
        """Show a report, to be copied, saved by hand or deleted; none is offered again."""
        reporter = self._reporter
        if reporter is None:
            return
        show_dialog(ReportDialog(reporter, report, self._messages.window()))
        reporter.dismiss()


def announce(report: Path | None) -> None:
    """Show in the front window that something went wrong inside the program."""
    front = QApplication.activeWindow()
    windows = [one for one in main_windows() if one.isVisible()]
    windows.sort(key=lambda one: one is not front)
    if windows:
        windows[0].error_reports.announce(report)
