"""About: versions, and every library with its licence; files that a Mac hands over; the icon."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from assaypilot.gui.app import open_handed
from assaypilot.gui.help import about as licences
from assaypilot.gui.help.about import AboutDialog, LicencesDialog
from assaypilot.gui.window.main_window import MainWindow
from tests.gui.helpers import idle, small_table, until


class Metadata(dict[str, Any]):
    """Fields as a library's metadata has them."""

    def get_all(self, field: str) -> list[str] | None:
        found = self.get(field)
        return None if found is None else found if isinstance(found, list) else [found]


def library(name: str, requires: list[str] | None = None, folder: Path | None = None, **fields: Any) -> Any:
    """A library as importlib.metadata describes one."""
    files = [] if folder is None else [Path(f"{name}-1.dist-info/METADATA"), Path(f"{name}-1.dist-info/LICENSE")]
    metadata = Metadata({"Name": name, **{key.replace("_", "-"): value for key, value in fields.items()}})
    return SimpleNamespace(
        metadata=metadata,
        version="1",
        requires=requires,
        files=files,
        locate_file=lambda file: (folder or Path()) / file,
    )


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What is installed, by name, for the test to fill."""
    found: dict[str, Any] = {}

    def distribution(name: str) -> Any:
        if name.lower() not in found:
            raise PackageNotFoundError(name)
        return found[name.lower()]

    monkeypatch.setattr(licences, "distribution", distribution)
    return found


def test_every_library_that_is_asked_for_is_found_once(installed: dict[str, Any]) -> None:
    asks = ["b>=2; python_version >= '3.8'", "C[fast] (>=1)", "tests-only; extra == 'dev'", "elsewhere; os_name == 'x'"]
    installed["assaypilot"] = library("assaypilot", asks, License_Expression="MIT")
    installed["b"] = library("b", ["c", "assaypilot"], License_Expression="Apache-2.0")
    installed["c"] = library("C", None, License="BSD-3-Clause")
    installed["tests-only"] = library("tests-only", None, License="GPL")
    found = licences.parts()
    assert [part.name for part in found] == ["assaypilot", "Python", "b", "C"]
    assert [part.licence for part in found] == ["MIT", "PSF-2.0", "Apache-2.0", "BSD-3-Clause"]


def test_every_real_library_has_a_version_and_a_licence() -> None:
    found = {part.name.lower(): part for part in licences.parts()}
    assert {"python", "numpy", "rdkit", "pyside6_essentials", "shiboken6", "matplotlib", "kiwisolver"} <= found.keys()
    for part in found.values():
        assert part.version[0].isdigit()
        assert 0 < len(part.licence) <= 160
        assert "\n" not in part.licence
    assert "LGPL" in found["pyside6_essentials"].licence
    assert "Redistribution" in found["numpy"].text()


def test_about_leads_to_the_licences(open_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    window = open_window()
    idle(qtbot, window)
    window.show_about()
    about = window.findChild(AboutDialog)
    assert about is not None
    more = next(one for one in about.findChildren(QPushButton) if one.text() == "Libraries and licences…")
    more.click()
    dialog = about.findChild(LicencesDialog)
    assert dialog is not None
    assert dialog.table.topLevelItemCount() == len(dialog.parts) > 10
    texts = {part.name: part.text() for part in dialog.parts}
    for row in (0, 1, dialog.table.topLevelItemCount() - 1):
        item = dialog.table.topLevelItem(row)
        assert item is not None
        dialog.table.setCurrentItem(item)
        name, version, licence = (item.text(column) for column in range(3))
        head, _, text = dialog.text.toPlainText().partition("\n\n")
        assert head == f"{name} {version}\nLicence: {licence}"
        assert text == texts[name].replace("\r\n", "\n")
    next(one for one in dialog.findChildren(QPushButton) if one.text() == "Copy list").click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "Library\tVersion\tLicence"
    assert len(lines) == 1 + len(dialog.parts)
    dialog.reject()
    about.reject()


def test_a_file_that_the_system_hands_over_is_opened(
    open_window: Callable[..., MainWindow], qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_window()
    idle(qtbot, window)
    open_handed(window, small_table(tmp_path / "series.csv"))
    until(qtbot, lambda: window.creation is not None)
    assert window.creation is not None
    idle(qtbot, window)
    window.creation.reject()


def test_the_program_has_an_icon(open_window: Callable[..., MainWindow], qapp: QApplication) -> None:
    open_window()
    picture = QApplication.windowIcon().pixmap(32, 32).toImage()
    assert {picture.pixelColor(x, y).name() for x in range(32) for y in range(32)} >= {"#16324f", "#8fc1ea"}
    assert QGuiApplication.desktopFileName() == "assaypilot"
