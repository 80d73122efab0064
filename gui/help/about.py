"""About the program, and the licences of its parts."""

from __future__ import annotations

import platform
import re
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageMetadata, PackageNotFoundError, distribution
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QWidget

from ..runtime.error_reports import TextDialog, versions
from ..widgets.layout import STRETCH, column_of, put, row_of, show_dialog
from ..widgets.text import Details, button, label

ROOTS = ("assaypilot", "numpy", "scipy", "pandas", "rdkit", "matplotlib", "PySide6-Essentials")
"""Where the search begins: the program, and its main libraries should its own metadata be missing."""
BUILT_WITH = "pyinstaller"
"""Its starter is part of the packaged program."""

_LEGAL = re.compile(r"licen[cs]e|copying|notice", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LONGEST = 160
"""Letters of a licence's name; some put its whole text where the name belongs."""


@dataclass(frozen=True, slots=True)
class Part:
    """One library."""

    name: str
    version: str
    licence: str
    files: tuple[Path, ...]
    """The texts of its licence and notices."""

    def text(self) -> str:
        """Its licence texts one after the other; a sentence where it contains none."""
        texts = []
        for path in self.files:
            try:
                texts.append(path.read_text(encoding="utf-8", errors="replace").strip())
            except OSError:
                continue
        return "\n\n\n".join(texts) or f"{self.name} contains no licence text. Its licence: {self.licence}."


def parts() -> tuple[Part, ...]:
    """Return the program, Python, and every installed library that it requires, directly or through another."""
    frozen = getattr(sys, "frozen", False)
    found: dict[str, Part] = {}
    waiting = [*ROOTS, *([BUILT_WITH] if frozen else [])]
    while waiting:
        name = waiting.pop(0)
        try:
            one = distribution(name)
        except (PackageNotFoundError, ValueError):
            continue  # required on another system only, or not installed
        key = _key(one.metadata["Name"])
        if key not in found:
            found[key] = Part(one.metadata["Name"], one.version, _licence(one.metadata), _files(one))
            waiting += _required(one.requires or ())
    own = found.pop("assaypilot", None)
    python = Part("Python", platform.python_version(), "PSF-2.0", _files_of_python())
    return (*([own] if own else []), python, *(found[key] for key in sorted(found)))


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).casefold()


def _required(requirements: Sequence[str]) -> list[str]:
    """Return the names of a library's requirements, without those of its extras."""
    names = []
    for requirement in requirements:
        wanted, _, marker = requirement.partition(";")
        match = _NAME.match(wanted.strip())
        if match is not None and "extra" not in marker:
            names.append(match[0])
    return names


def _licence(metadata: PackageMetadata) -> str:
    """Return the licence's name: as an expression, as a short word, or as the classifier that names it."""
    for field in ("License-Expression", "License"):
        words = metadata.get_all(field) or [""]
        text = str(words[0]).strip()
        if text and "\n" not in text and len(text) <= _LONGEST:
            return text
    named = [str(words) for words in metadata.get_all("Classifier") or []]
    names = [words.rpartition(" :: ")[2] for words in named if words.startswith("License :: ")]
    return ", ".join(names) or "see its text"


def _files(one: Distribution) -> tuple[Path, ...]:
    """Return the licence texts in a library's metadata folder."""
    for file in one.files or ():
        if file.name == "METADATA":
            folder = Path(str(one.locate_file(file))).parent
            inside = [path for path in sorted(folder.rglob("*")) if path.is_file()]
            return tuple(path for path in inside if _LEGAL.search(path.relative_to(folder).as_posix()))
    return ()


def _files_of_python() -> tuple[Path, ...]:
    """Python's licence, from its library folder or from the packaged program."""
    bundle = getattr(sys, "_MEIPASS", None)
    folder = Path(bundle) / "licences" / "Python" if bundle is not None else Path(sysconfig.get_path("stdlib"))
    return tuple(path for path in (folder / "LICENSE.txt",) if path.is_file())


class LicencesDialog(TextDialog):
    """All libraries in a list, and below it the licence of each."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__("Libraries and licences", "AssayPilot uses these libraries.", parent)
        found = parts()
        listed = "\n".join(f"{one.name} {one.version}: {one.licence}" for one in found)
        texts = "\n\n\n".join(f"{one.name} {one.version}\nLicence: {one.licence}\n\n{one.text()}" for one in found)
        self.text.setPlainText(f"{listed}\n\n\n{texts}")


class AboutDialog(QDialog):
    """Name, versions, licence."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About AssayPilot")
        column = column_of(
            label("AssayPilot", "big"),
            label("Which compounds to assay next, and when to stop", "muted"),
            holder=self,
            margins=(26, 22, 26, 18),
            spacing=8,
        )
        found = versions()
        details = Details()
        details.show_rows(found)
        put(
            column,
            details,
            label(
                "MIT licence. Qt for Python is used under the LGPL; all libraries are listed with their licences. "
                "AssayPilot makes no network connection.",
                "muted",
                wrap=True,
            ),
        )
        row = row_of()
        copy = button(
            "Copy versions",
            then=lambda: QGuiApplication.clipboard().setText("\n".join(f"{name} {number}" for name, number in found)),
        )
        licences = button("Libraries and licences…", then=self.show_licences)
        close = button("Close", "go")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        put(row, copy, licences, STRETCH)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        column.addLayout(row)
        wide = max(26 * self.fontMetrics().lineSpacing(), column.totalMinimumSize().width())
        self.setMinimumSize(wide, column.totalHeightForWidth(wide))  # the height of wrapped lines depends on a width

    def show_licences(self) -> None:
        """Every library with its version and licence."""
        show_dialog(LicencesDialog(self))
