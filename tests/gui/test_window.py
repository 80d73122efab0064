"""The window's manners: read-only seconds, errors with their mend, settings of its own, files dropped on it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from assaypilot.gui import launch
from assaypilot.gui.resources.theme import DARK, LIGHT, theme
from assaypilot.gui.runtime.settings import Settings
from assaypilot.gui.window.main_window import MainWindow
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import create_campaign, creation_of, goal_of, idle, plan_round, small_table, status, until, view


def test_a_second_window_on_the_same_file_is_read_only_and_says_so(
    qtbot: QtBot, campaign: MainWindow, open_window: Callable[..., MainWindow]
) -> None:
    second = open_window(view(campaign).path)
    assert view(second).read_only
    assert second.messages.text.startswith("Read-only:")
    assert second.footer.saved.text().startswith("Read-only")
    assert not second.actions_.plan.isEnabled()
    assert not second.actions_.undo.isEnabled()
    assert second.strip.primary.isHidden()
    second.show_page(PageName.ROUND)
    assert second.round.plan_button.isHidden()
    head = status(campaign).head
    second.session.plan()  # as a script might
    until(qtbot, lambda: "ead-only" in second.messages.text or "another" in second.messages.text)
    assert status(campaign).head == head
    plan_round(qtbot, campaign)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "does not exist"),
        (b"", "The file is empty"),
        (b"ID,R1\n1,2\n", "not an AssayPilot campaign"),
    ],
)
def test_a_file_that_is_no_campaign_is_refused_and_nothing_is_lost(
    qtbot: QtBot, campaign: MainWindow, tmp_path: Path, content: bytes | None, words: str
) -> None:
    before = status(campaign)
    path = tmp_path / "other.assaypilot"
    if content is not None:
        path.write_bytes(content)
    campaign.open_path(path)
    until(qtbot, lambda: campaign.messages.property("kind") == "error")
    text = campaign.messages.text + campaign.messages.mend.text()
    assert "other.assaypilot" in text
    assert words in text or "no such file" in text or "cannot be opened" in text
    assert status(campaign) is before
    campaign.messages.dismiss.click()
    assert campaign.messages.isHidden()


def test_a_campaign_is_never_written_over(qtbot: QtBot, campaign: MainWindow) -> None:
    campaign.session.save_copy(view(campaign).path)
    until(qtbot, lambda: "already a file" in campaign.messages.text)


def test_a_new_campaign_refuses_beside_the_field(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.new_campaign()
    creation = creation_of(window)
    assert not creation.create_button.isEnabled()
    creation.start_with(tmp_path / "missing.csv")
    until(qtbot, lambda: "no such file" in creation.table_pane.problem.text())
    bad = tmp_path / "bad.csv"
    bad.write_text("Name,X,Y\na,1,2\nb,3,4\n")
    creation.start_with(bad)
    until(qtbot, lambda: creation.table_pane.complete)
    until(qtbot, lambda: "no site column" in creation.columns_pane.panel.problem.text())
    assert "--sites" not in creation.columns_pane.panel.mend.text()
    assert not creation.create_button.isEnabled()
    creation.start_with(small_table(tmp_path / "good.csv"))
    until(qtbot, lambda: creation.columns_pane.complete)
    goal = goal_of(qtbot, creation)
    goal.endpoints.boxes[0].unknown.setChecked(False)
    until(qtbot, lambda: "needed: no compound was measured twice" in goal.noise.note.text())
    assert not creation.create_button.isEnabled()
    goal.noise.edit.setText("0,2")
    goal.epsilon.edit.setText("-1")
    until(qtbot, lambda: goal.epsilon.note.text() == "It must be above 0.")
    goal.epsilon.edit.setText("half")
    until(qtbot, lambda: goal.epsilon.note.text() == "This is not a number.")
    goal.epsilon.edit.setText("0.5")
    goal.confidence.edit.setText("100")
    until(qtbot, lambda: goal.confidence.note.text() == "It must be below 100 %.")
    goal.confidence.edit.setText("90")
    goal.file.edit.setText(str(tmp_path / "nowhere" / "x.assaypilot"))
    until(qtbot, lambda: goal.file.note.text() == "There is no such folder.")
    goal.file.edit.setText(str(tmp_path / "good.csv.assaypilot"))
    until(qtbot, lambda: goal.complete)
    assert "90 % sure" in goal.sentence.text()
    until(qtbot, lambda: goal.outlook.rows[0][0] == "Library")
    words = dict(goal.outlook.rows)
    assert "18 compounds; all 6 unknowns" in words["Library"]
    assert "measurements in" in words["First decision"]
    creation.reject()
    assert window.session.view is None


def test_a_mapping_is_remembered_for_the_same_headers(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    campaign = window
    create_campaign(qtbot, window, small_table(tmp_path / "table.csv"), tmp_path / "new.assaypilot")
    kept = campaign.settings.mapping(["id", "r1", "R2", "R3", "PIC50"])
    assert kept is not None
    assert kept["sites"] == ["R1", "R2", "R3"]
    assert campaign.settings.mapping(["ID", "R1"]) is None


def test_settings_are_the_tests_own(settings: Settings, tmp_path: Path) -> None:
    settings.theme = "dark"
    settings.add_recent(tmp_path / "gone.assaypilot")
    settings.flush()
    assert (tmp_path / "settings" / "settings.ini").is_file()
    again = Settings(tmp_path / "settings" / "settings.ini")
    assert again.theme == "dark"
    assert again.recent == []  # what is not there any more is not offered
    assert again.data_folder.is_relative_to(tmp_path)


def test_cannot_be_had(qtbot: QtBot, campaign: MainWindow) -> None:
    from assaypilot.gui.round.reason_dialog import UnavailableDialog
    from tests.gui.helpers import dialog

    campaign.show_page(PageName.LIBRARY)
    campaign.library.table.choose(3)
    campaign.library.gone.click()
    asked = dialog()
    assert isinstance(asked, UnavailableDialog)
    asked.line.setText("no starting material")
    asked.confirm.click()
    until(qtbot, lambda: status(campaign).unavailable == {3})
    idle(qtbot, campaign)
    assert "1 unavailable" in campaign.library.subtitle.text()


def test_plot_and_table_are_one_selection(qtbot: QtBot, campaign: MainWindow) -> None:
    campaign.show_page(PageName.CANDIDATES)
    page = campaign.candidates
    until(qtbot, lambda: page.canvas.shown)
    assert page.picture is not None
    second = page.picture.compounds[1]
    place = page.canvas.parts[0].pixel(2.2, 6.0).toPoint()
    QTest.mouseClick(page.canvas, Qt.MouseButton.LeftButton, pos=place)
    assert page.table.current_row() == second
    assert page.panel.name.text() == status(campaign).library.ids[second]
    other = int(page.model.rows[3])
    page.table.choose(other)
    assert page.panel.name.text() == status(campaign).library.ids[other]


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_themes(qtbot: QtBot, campaign: MainWindow, choice: str) -> None:
    campaign.choose_theme("dark" if choice == "dark" else "light")
    assert theme().colours is (DARK if choice == "dark" else LIGHT)
    assert campaign.settings.theme == choice
    campaign.show_page(PageName.CANDIDATES)
    until(qtbot, lambda: campaign.candidates.canvas.shown)
    image = campaign.candidates.canvas.grab().toImage()
    assert image.pixelColor(2, 2).name() == theme().colours.page
    campaign.choose_theme("system")


def test_files_dropped_on_the_window(qtbot: QtBot, campaign: MainWindow, tmp_path: Path) -> None:
    def drop(path: Path) -> None:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        campaign.dropEvent(
            QDropEvent(
                QPointF(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
            )
        )

    table = small_table(tmp_path / "other.csv")
    drop(table)
    until(qtbot, lambda: campaign.creation is not None and campaign.creation.table_pane.complete)
    creation_of(campaign).reject()
    assert campaign.creation is None
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"x")
    drop(picture)
    until(qtbot, lambda: "neither a campaign nor a table" in campaign.messages.text)
    drop(view(campaign).path)
    until(qtbot, lambda: not campaign.session.tasks.busy)


def test_the_practice_campaign_is_made_once_and_opened_again(
    qtbot: QtBot, open_window: Callable[..., MainWindow], settings: Settings
) -> None:
    window = open_window(practice=True)
    path = view(window).path
    assert path.parent == settings.data_folder
    assert status(window).counts["undecided"] == 960
    assert view(window).practice
    head = status(window).head
    window.close()
    again = open_window(practice=True)
    assert (view(again).path, status(again).head) == (path, head)


def test_without_a_display_one_plain_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert launch.main([]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "no display" in said
    assert "assaypilot demo" in said


def test_no_qt_is_loaded_for_a_command() -> None:
    code = (
        "import sys; from assaypilot.gui.launch import main; code = main(['strategies', '--json']); "
        "sys.exit(code or any(name.startswith('PySide6') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_badge_opens_the_whole_guarantee(qtbot: QtBot, campaign: MainWindow) -> None:
    badge, statement = campaign.strip.badge, campaign.statement
    assert badge.text().startswith("Proven")
    assert not statement.isVisible()
    badge.click()
    assert statement.isVisible()
    assert statement.words.text() == f"Guarantee: {status(campaign).guarantee.sentence}"
    badge.click()
    assert not statement.isVisible()
