"""A bug of ours: kept as a local report without anybody's data, and offered at the next start.

A report holds versions, what was done last in the words of the menus, and where it happened. What the error itself
said may quote an id, a structure or a value: it lies in a file of its own and joins the report only when ticked.
Nothing is ever sent anywhere.
"""

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

from PySide6.QtCore import qVersion

from .watching import Ended, Watch

__all__ = ["Reporter", "ended_text", "report_text", "versions"]

PACKAGES = ("assaypilot", "numpy", "scipy", "pandas", "rdkit", "matplotlib", "PySide6-Essentials")
KEPT = 20
OWN = ".own"
"""Ending of the file with the error's own words."""
NAMED = re.compile(r"\S\.\w+$")
"""A label that names a file."""


def versions() -> list[tuple[str, str]]:
    """What runs here: the program, Python, Qt, the system and the libraries, as (name, version)."""
    found = []
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    own = [("Python", platform.python_version()), ("Qt", qVersion()), ("System", platform.platform())]
    return found[:1] + own + found[1:]


def report_text(error: BaseException, doing: str, events: Sequence[str] = ()) -> str:
    """The report: versions, what was being done, and where it happened.

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
    """The report of a session that ended without being closed."""
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
    """Writes reports into a folder and knows which have not been looked at."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "reports"
        self.watch = Watch(folder)
        self.told: Callable[[Path | None], None] | None = None
        """Called with the report after one was written (None: it could not be)."""

    def begin(self) -> None:
        """Watch this session, and reports earlier ones that were not closed."""
        for ended in reversed(self.watch.begin()):
            self._write(ended_text(ended), "")

    def unseen(self) -> list[Path]:
        """Reports of earlier sessions not yet looked at or dismissed, the latest first."""
        return sorted(self._folder.glob("report-*.txt"), reverse=True)

    def words(self, report: Path) -> str:
        """What the error of a report said itself, which may quote anything; empty when it said nothing."""
        try:
            return report.with_suffix(OWN).read_text(encoding="utf-8")
        except OSError:
            return ""

    def dismiss(self) -> None:
        """The reports are kept, but not offered again."""
        for path in self.unseen():
            for one in (path, path.with_suffix(OWN)):
                with suppress(OSError):  # not there, or open in an editor that keeps it to itself
                    one.replace(one.with_name("seen-" + one.name))
        for path in sorted(self._folder.glob("seen-*.txt"))[:-KEPT]:
            self.delete(path)

    def delete(self, *reports: Path) -> None:
        """Remove reports and what their errors said."""
        for path in reports:
            for one in (path, path.with_suffix(OWN)):
                with suppress(OSError):
                    one.unlink()

    def save(self, error: BaseException, doing: str = "") -> Path | None:
        """The report's file; None when it could not be written (an error about an error helps nobody)."""
        own = "".join(traceback.format_exception_only(error)).strip()
        path = self._write(report_text(error, doing, self.watch.events), own)
        self.watch.note(f"went wrong: {type(error).__name__}")
        if self.told is not None:
            self.told(path)
        return path

    def _write(self, text: str, own: str) -> Path | None:
        path = self._folder / f"report-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.txt"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if own:
                path.with_suffix(OWN).write_text(own + "\n", encoding="utf-8")
        except OSError:
            return None
        return path

    def hook(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """What ``sys.excepthook`` calls."""
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        if sys.stderr is not None:  # there is none in a program without a console
            traceback.print_exception(kind, error, trace)
        self.save(error.with_traceback(trace))
