"""Asking for tables to read, and for where a file is written, which replaces nothing unasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.places import names_device
from assaypilot.engine.tables.opening import PATTERNS

KINDS = f"Tables ({' '.join(PATTERNS)});;All files (*)"

FORBIDDEN = '<>:"/\\|?*\0'
"""Characters that some system forbids in file names."""
LONGEST = 120
"""Characters of a proposed name, so that its folder fits, too."""


def file_name(text: str) -> str:
    """Return a text as (part of) a file name that every system takes."""
    made = "".join("-" if sign in FORBIDDEN or ord(sign) < 32 else sign for sign in text)
    made = " ".join(made.split())[:LONGEST].strip(" .") or "campaign"
    return f"_{made}" if names_device(made) else made


def as_named(chosen: str, suffix: str) -> Path:
    """Return the chosen file, with its ending.

    AssayPilotError when that makes it an existing file, whose replacement was not confirmed.
    """
    path = Path(chosen)
    if path.suffix.lower() == suffix:
        return path
    path = path.with_name(path.name + suffix)
    if path.exists():
        raise AssayPilotError(
            "the file exists already", file=path.name, mend="Choose it by its whole name to replace it."
        )
    return path


def ask_for_table(parent: QWidget, folder: Path, title: str) -> Path | None:
    """Return the table chosen in the system's dialog; None when it was left."""
    name, _ = QFileDialog.getOpenFileName(parent, title, str(folder), KINDS)
    return Path(name) if name else None


def ask_for_tables(parent: QWidget, folder: Path) -> list[Path]:
    """Return the tables chosen in the system's dialog, two at most; empty when it was left."""
    names, _ = QFileDialog.getOpenFileNames(parent, "Choose a table, or two that belong together", str(folder), KINDS)
    return [Path(name) for name in names[:2]]


def ask_for_place(
    parent: QWidget, title: str, proposed: Path, kind: str, suffix: str, then: Callable[[Path], None],
    failed: Callable[[AssayPilotError], None],
) -> QFileDialog:  # fmt: skip
    """Return the system's dialog, opened; ``then`` receives the chosen file.

    The system asks before a file is replaced; ``failed`` receives why a name is unusable.
    """
    dialog = QFileDialog(parent, title, str(proposed.parent), f"{kind} (*{suffix})")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setDefaultSuffix(suffix.removeprefix("."))
    dialog.selectFile(proposed.name)

    def chosen(name: str) -> None:
        try:
            path = as_named(name, suffix)
        except AssayPilotError as error:
            failed(error)
            return
        then(path)

    dialog.fileSelected.connect(chosen)
    dialog.open()
    return dialog
