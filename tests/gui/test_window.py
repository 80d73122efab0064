"""The window's manners: read-only seconds, errors with their mend, settings of its own, files dropped on it."""

import sys

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

from assaypilot.gui import launch
from assaypilot.gui.round.reason_dialog import UnavailableDialog
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import (
    creation_of,
    dialog,
    goal_of,
    plan_round,
    small_table,
    status,
    until,
    view,
    wait_for,
)


def test_a_second_window_on_the_same_file_is_read_only_and_says_so(qtbot, campaign, open_window):
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
def test_file_that_is_no_campaign_is_refused(qtbot, campaign, tmp_path, content, words):
    before = status(campaign)
    path = tmp_path / "other.assaypilot"
    if content is not None:
        path.write_bytes(content)
    campaign.open_path(path)
    until(qtbot, lambda: campaign.messages.property("kind") == "error")
    text = campaign.messages.text + campaign.messages.mend.text()
    assert "other.assaypilot" in text
    assert str(tmp_path) not in text
    assert campaign.messages.words.toolTip() == str(path)
    assert words in text or "no such file" in text or "cannot be opened" in text
    assert status(campaign) is before
    campaign.messages.dismiss.click()
    assert campaign.messages.isHidden()


def test_new_campaign_explains_refusals_at_their_fields(qtbot, window, tmp_path):
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
    goal.confidence.edit.setText("100")
    until(qtbot, lambda: goal.confidence.note.text() == "It must be below 100 %.")
    goal.confidence.edit.setText("90")
    assert not goal.file.isVisible()
    (tmp_path / "there.assaypilot").write_text("x", encoding="utf-8")
    goal.file.edit.setText(str(tmp_path / "there.assaypilot"))
    assert goal.file.isVisible()
    assert "already a file" in goal.file.note.text()
    assert not creation.complete
    goal.file.edit.setText(str(tmp_path / "nowhere" / "x.assaypilot"))
    until(qtbot, lambda: goal.file.note.text() == "There is no such folder.")
    goal.file.edit.setText(str(tmp_path / ("x" * 300)))
    until(qtbot, lambda: "No file can have this name" in goal.file.note.text())
    goal.name.edit.setText("x" * 300)
    goal.name.edit.textEdited.emit("x" * 300)
    assert goal.path_problem() == ""
    goal.file.edit.setText(str(tmp_path / "good.csv.assaypilot"))
    until(qtbot, lambda: goal.complete)
    assert "90 % sure" in goal.sentence.text()
    creation.reject()
    assert window.session.view is None


def test_a_compound_is_marked_unavailable(qtbot, campaign):
    campaign.show_page(PageName.LIBRARY)
    campaign.library.table.choose(3)
    campaign.library.gone.click()
    asked = dialog(UnavailableDialog)
    asked.line.setText("no starting material")
    asked.confirm.click()
    wait_for(qtbot, campaign, lambda: status(campaign).unavailable == {3})
    assert "1 unavailable" in campaign.library.subtitle.text()


def test_files_dropped_on_the_window(qtbot, campaign, tmp_path):
    def drop(path):
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


def test_the_practice_campaign_is_made_once_and_opened_again(qtbot, open_window, settings):
    window = open_window(practice=True)
    path = view(window).path
    assert path.parent == settings.data_folder
    assert status(window).counts["undecided"] == 960
    assert view(window).practice
    head = status(window).head
    window.close()
    again = open_window(practice=True)
    assert (view(again).path, status(again).head) == (path, head)


def test_start_without_a_display_is_refused_in_one_line(monkeypatch, capsys):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert launch.main([]) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "no display" in printed
    assert "assaypilot demo" in printed


def test_badge_opens_the_whole_guarantee(qtbot, campaign):
    badge, statement = campaign.strip.badge, campaign.statement
    assert badge.text().startswith("Proven")
    assert not statement.isVisible()
    badge.click()
    assert statement.isVisible()
    assert statement.words.text() == f"Guarantee: {status(campaign).guarantee.sentence}"
    badge.click()
    assert not statement.isVisible()
