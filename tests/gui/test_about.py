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


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"License_Expression": "MIT", "License": "something else"}, "MIT"),
        ({"License": "BSD-3-Clause"}, "BSD-3-Clause"),
        (
            {
                "License": "Copyright\nAll rights",
                "Classifier": ["License :: OSI Approved :: BSD License", "Topic :: X"],
            },
            "BSD License",
        ),
        ({"License": "x" * 200, "Classifier": ["License :: OSI Approved :: MIT License"]}, "MIT License"),
        ({"License": "", "Classifier": ["Topic :: X"]}, "see its text"),
        ({}, "see its text"),
    ],
)
def test_a_licence_is_named_in_few_words(installed: dict[str, Any], fields: dict[str, Any], said: str) -> None:
    installed["numpy"] = library("numpy", **fields)
    assert {part.name: part.licence for part in licences.parts()}["numpy"] == said


def test_a_licence_text_is_what_the_library_brings(installed: dict[str, Any], tmp_path: Path) -> None:
    info = tmp_path / "numpy-1.dist-info"
    (info / "licenses" / "deep").mkdir(parents=True)
    (info / "LICENSE").write_text("You may.\n", encoding="utf-8")
    (info / "licenses" / "deep" / "LGPL-3.txt").write_bytes(b"You may, too: \xff\n")
    (info / "RECORD").write_text("not a licence", encoding="utf-8")
    installed["numpy"] = library("numpy", None, tmp_path, License="BSD")
    installed["scipy"] = library("scipy", License="BSD")
    found = {part.name: part for part in licences.parts()}
    assert found["numpy"].text() == "You may.\n\n\nYou may, too: \N{REPLACEMENT CHARACTER}"
    assert found["scipy"].text() == "scipy brings no licence text along. Its licence: BSD."
    (info / "LICENSE").unlink()  # removed since it was listed
    assert found["numpy"].text().startswith("You may, too")


def test_the_packaged_program_names_what_starts_it(
    installed: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed["pyinstaller"] = library("pyinstaller", ["altgraph"], License="GPL with an exception")
    assert "pyinstaller" not in {part.name for part in licences.parts()}
    (tmp_path / "licences" / "Python").mkdir(parents=True)
    (tmp_path / "licences" / "Python" / "LICENSE.txt").write_text("The licence of Python", encoding="utf-8")
    monkeypatch.setattr(licences.sys, "frozen", True, raising=False)
    monkeypatch.setattr(licences.sys, "_MEIPASS", str(tmp_path), raising=False)
    found = {part.name: part for part in licences.parts()}
    assert found["pyinstaller"].licence == "GPL with an exception"
    assert found["Python"].text() == "The licence of Python"


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
    until(qtbot, lambda: window.wizard is not None)
    assert window.wizard is not None
    idle(qtbot, window)
    window.wizard.reject()


def test_the_program_has_an_icon(open_window: Callable[..., MainWindow], qapp: QApplication) -> None:
    open_window()
    picture = QApplication.windowIcon().pixmap(32, 32).toImage()
    assert {picture.pixelColor(x, y).name() for x in range(32) for y in range(32)} >= {"#16324f", "#8fc1ea"}
    assert QGuiApplication.desktopFileName() == "assaypilot"
