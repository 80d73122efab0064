"""Clicks and seconds from a table to its first round, through the real buttons of a window nobody sees.

    python -m tests.benchmarks.clicks

A file chosen in the system's dialog counts as two clicks (the file, and Open), two files chosen at once as three.
Everything that is not needed is left as it is proposed. Wanted: at most 6 clicks for a table with R columns, 10 for a
raw export.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from shutil import copy

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from assaypilot.gui.app import dress, make_window
from assaypilot.gui.runtime.settings import Settings
from tests.public import DATA

PATIENCE = 300.0
CLEAN = "ID,R1,R2,R3,pIC50\n" + "".join(
    f"C-{a}{b}{c},{('Me', 'Et', 'iPr', 'cPr')[a]},{('H', 'F', 'Cl', 'OMe')[b]},{('H', 'CN', 'CF3')[c]},"
    f"{6 + 0.3 * a + 0.2 * b + 0.4 * c:.2f}\n"
    for a in range(4) for b in range(4) for c in range(3)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """A table, the file that goes with it, and the clicks it may take."""

    name: str
    files: tuple[str, ...]
    most: int


TABLES = (
    Table("clean R-table", ("clean.csv",), 6),
    Table("CHEMBL2321810, R-table", ("CHEMBL2321810_rgd_table.csv",), 6),
    Table("ugi_lipids_1200", ("real/ugi_lipids_1200.csv",), 6),
    Table("CHEMBL313, structures", ("pct_CHEMBL313_sel.smi",), 10),
    Table("CHEMBL2321810, two files", ("pw_CHEMBL2321810.smi", "pw_CHEMBL2321810_act.csv"), 10),
)


def rest(milliseconds):
    """Let the window work as it does when somebody looks at it: QTest.qWait would keep the worker from working."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


class Newcomer:
    """Somebody who has a table and a window that was never used."""

    def __init__(self, folder, table):
        self.table, self.clicks, self.did = table, 0, list[str]()
        settings = Settings(folder / "settings.ini")
        settings.folder = folder
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        dress(application, settings)
        clean = folder / "clean.csv"
        clean.write_text(CLEAN, encoding="utf-8")
        # Copies: the campaign is proposed beside its table.
        self.files = [clean if name == clean.name else Path(copy(DATA / name, folder)) for name in table.files]
        self.window = make_window(settings)
        self.window.show()
        self.began = time.monotonic()

    def click(self, button):
        """Click a button that can be seen and pressed."""
        name = button.text().replace("&", "")
        self.until(lambda: button.isVisible() and button.isEnabled(), f"the button {name!r}")
        self.clicks += 1
        self.did.append(name)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def until(self, reached, what):
        """Wait for something."""
        assert callable(reached)
        end = time.monotonic() + PATIENCE
        while not reached():
            if time.monotonic() > end:
                sys.exit(f"{self.table.name}: waited in vain for {what} after {self.did}")
            rest(10)

    def choose(self, *_, **__):
        """Choose the files in the system's dialog."""
        self.clicks += 1 + len(self.files)
        self.did.append(f"[{' + '.join(path.name for path in self.files)}]")
        return [str(path) for path in self.files], ""

    def first_round(self):
        """Return the seconds from the first click to the first round."""
        QFileDialog.getOpenFileNames = staticmethod(self.choose)
        window = self.window
        self.click(window.start.new_button)
        self.until(lambda: window.creation is not None, "a new campaign")
        creation = window.creation
        self.click(creation.at_once)
        self.until(lambda: window.session.view is not None, "the campaign")
        self.until(lambda: window.round.shown is not None and window.page is window.round, "the round")
        return time.monotonic() - self.began

    def close(self):
        """Close the window."""
        self.window.session.ahead.cancel()
        self.window.close()


def main():
    """Return 1 when a table took more clicks than it may."""
    QApplication([])
    late = 0
    print(f"{'table':<26} {'clicks':>6} {'at most':>7} {'seconds':>8} {'cpu':>8}  what was pressed")
    for table in TABLES:
        with tempfile.TemporaryDirectory() as folder:
            person = Newcomer(Path(folder), table)
            used = time.process_time()
            seconds = person.first_round()
            used = time.process_time() - used
            told = f"{table.name:<26} {person.clicks:>6} {table.most:>7} {seconds:>8.1f} {used:>8.1f}"
            print(f"{told}  {', '.join(person.did)}", flush=True)
            late += person.clicks > table.most
            person.close()
    return int(late > 0)


if __name__ == "__main__":
    sys.exit(main())
