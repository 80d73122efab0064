"""A bug of ours: kept as a local report without anybody's data, and offered at the next start."""

from __future__ import annotations

import platform
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import qVersion

__all__ = ["Reporter", "report_text", "versions"]

PACKAGES = ("assaypilot", "numpy", "scipy", "pandas", "rdkit", "matplotlib", "PySide6-Essentials")
KEPT = 20


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


def report_text(error: BaseException, doing: str) -> str:
    """The report: versions, what was being done, and where it happened.

    The error's own text is left out, because it may quote an id, a structure or a value.
    """
    lines = [f"AssayPilot error report, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC", ""]
    lines += [f"{name} {number}" for name, number in versions()]
    lines += ["", f"While: {doing or 'using the window'}"]
    chain: BaseException | None = error
    while chain is not None:
        lines += ["", f"{type(chain).__name__} at:"]
        frames = traceback.extract_tb(chain.__traceback__)
        lines += [f"  {Path(frame.filename).name}, line {frame.lineno}, in {frame.name}" for frame in frames]
        chain = chain.__cause__ or chain.__context__
    return "\n".join(lines) + "\n"


class Reporter:
    """Writes reports into a folder and knows which have not been looked at."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "reports"
        self.told: Callable[[Path | None], None] | None = None
        """Called with the report after one was written (None: it could not be)."""

    def unseen(self) -> list[Path]:
        """Reports of earlier sessions not yet looked at or dismissed, the latest first."""
        return sorted(self._folder.glob("report-*.txt"), reverse=True)

    def dismiss(self) -> None:
        """Nothing; the reports are kept, but not offered again."""
        for path in self.unseen():
            path.replace(path.with_name("seen-" + path.name))
        for path in sorted(self._folder.glob("seen-*.txt"))[:-KEPT]:
            path.unlink(missing_ok=True)

    def save(self, error: BaseException, doing: str = "") -> Path | None:
        """The report's file; None when it could not be written (an error about an error helps nobody)."""
        written = self._folder / f"report-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.txt"
        path: Path | None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            written.write_text(report_text(error, doing), encoding="utf-8")
        except OSError:
            path = None
        else:
            path = written
        if self.told is not None:
            self.told(path)
        return path

    def hook(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Nothing; what ``sys.excepthook`` calls."""
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        if sys.stderr is not None:  # there is none in a program without a console
            traceback.print_exception(kind, error, trace)
        self.save(error.with_traceback(trace))
