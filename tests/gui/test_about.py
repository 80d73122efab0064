"""About: versions, and every library with its licence; files that a Mac hands over; the icon."""

from PySide6.QtWidgets import QPushButton

from assaypilot.gui.help import about as licences
from assaypilot.gui.help.about import AboutDialog, LicencesDialog
from tests.gui.helpers import idle


def test_every_real_library_has_a_version_and_a_licence():
    found = {part.name.lower(): part for part in licences.parts()}
    assert {"python", "numpy", "rdkit", "pyside6_essentials", "shiboken6", "matplotlib", "kiwisolver"} <= found.keys()
    for part in found.values():
        assert part.version[0].isdigit()
        assert 0 < len(part.licence) <= 160
        assert "\n" not in part.licence
    assert "LGPL" in found["pyside6_essentials"].licence
    assert "Redistribution" in found["numpy"].text()


def test_about_leads_to_the_licences(open_window, qtbot):
    window = open_window()
    idle(qtbot, window)
    window.help_and_preferences.about()
    about = window.findChild(AboutDialog)
    more = next(one for one in about.findChildren(QPushButton) if one.text() == "Libraries and licences…")
    more.click()
    dialog = about.findChild(LicencesDialog)
    text = dialog.text.toPlainText()
    for part in licences.parts():
        assert f"{part.name} {part.version}\nLicence: {part.licence}\n\n{part.text()[:50]}" in text
    dialog.reject()
    about.reject()
