"""How rounds end, what can be looked at afterwards, and what still comes in."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from assaypilot.engine.domain.library import Library, Site
from assaypilot.gui.round.reason_dialog import ExcludeDialog
from tests.gui.helpers import dialog, kept_text, made, open_round, plan_round, status, view, wait_for


def enter(qtbot, window, line, text, cell=0):
    before = len(status(window).measurements)
    window.round.values.enter(line, 0, text, cell)
    wait_for(qtbot, window, lambda: len(status(window).measurements) > before)


def close(qtbot, window, what="return", note=""):
    window.round.close_button.click()
    window.closing.options[what].setChecked(True)
    window.closing.line.setText(note)
    window.closing.confirm.click()
    wait_for(qtbot, window, lambda: status(window).open_round is None)


def test_closing_a_round_explains_its_consequences(qtbot, planned):
    page = planned.round
    enter(qtbot, planned, 0, "7.0")
    page.values.enter(1, 0, "oops")
    page.close_button.click()
    asked = planned.closing
    assert asked.isVisible()
    assert not page.plates_pane.isVisible(), "the question has the room of the plates"
    asked_for = open_round(planned).measurements
    assert f"1 of {asked_for} measurements are back, {asked_for - 1} are missing" in asked.words.text()
    assert "1 typed text could not be used" in asked.caution.text()
    means = [asked.means[key].text() for key in ("return", "failed", "other")]
    assert "guarantee stays" in means[0]
    assert "guarantee stays; it then assumes" in means[1]
    assert "guarantee is void from here" in means[2]
    # Escape leaves all as it is, and keeps the note.
    asked.line.setText("the plate looked odd")
    QTest.keyClick(asked.line, Qt.Key.Key_Escape)
    assert asked.isHidden()
    assert page.plates_pane.isVisible()
    page.close_button.click()
    assert asked.line.text() == "the plate looked odd"
    asked.options["other"].setChecked(True)
    asked.confirm.click()
    wait_for(qtbot, planned, lambda: status(planned).open_round is None)
    assert "No guarantee any more" in planned.statement.words.text()
    # The next time nothing is promised that is not there.
    plan_round(qtbot, planned)
    page.close_button.click()
    assert "There is no guarantee to keep" in asked.guarantee.text()
    assert not any("guarantee" in asked.means[key].text() for key in asked.options)
    asked.reject()


@pytest.mark.slow
def test_series_model_asks_nothing_of_missing_values_and_names_no_guarantee(qtbot, open_window, tmp_path):
    library = Library.product([Site("R1", tuple("ABCDEF")), Site("R2", tuple("KLMNO"))])
    with made(tmp_path / "a.assaypilot", library, per_round=12, strategy="gaussian-process") as campaign:
        campaign.plan()
    window = open_window(tmp_path / "a.assaypilot")
    enter(qtbot, window, 0, "7.0")
    window.round.close_button.click()
    asked = window.closing
    assert asked.choices.isHidden()
    assert "1 of 12 measurements are back, 11 are missing. The next round is planned without" in asked.words.text()
    assert "guarantee" not in asked.words.text() + asked.guarantee.text()
    asked.confirm.click()
    wait_for(qtbot, window, lambda: status(window).open_round is None)
    plan_round(qtbot, window)
    assert open_round(window).measurements == 12, "a whole round, not what was missing"
    window.round.look_at(1)
    window.round.values.exclude(1)
    left = dialog(ExcludeDialog)
    assert left.judged.isHidden()
    wait_for(qtbot, window, lambda: "guarantee" not in left.consequence.text() and left.consequence.text())
    left.reject()


def test_a_round_without_results_is_withdrawn_and_comes_back_with_redo(qtbot, planned):
    page, items = planned.round, open_round(planned).items
    assert planned.actions_.withdraw.isEnabled()
    planned.actions_.withdraw.trigger()
    card = page.panel.withdrawing
    assert card.isVisible()
    assert "Redo issues the same list again" in card.words.text()
    card.cancel.click()
    assert status(planned).open_round is not None
    page.withdraw_button.click()
    card.line.setText("the freezer broke")
    card.confirm.click()
    wait_for(qtbot, planned, lambda: status(planned).open_round is None)
    assert status(planned).rounds[0].state == "withdrawn"
    assert "withdrawn" in planned.messages.text
    assert page.none.isVisible()
    assert not planned.actions_.withdraw.isEnabled()
    planned.session.redo()
    wait_for(qtbot, planned, lambda: status(planned).open_round is not None)
    assert open_round(planned).items == items
    enter(qtbot, planned, 0, "7.0")
    assert not page.withdraw_button.isVisible()
    assert not planned.actions_.withdraw.isEnabled()


def test_earlier_round_takes_late_results(qtbot, planned):
    page, model = planned.round, planned.round.model
    first = open_round(planned)
    for line in range(3):
        enter(qtbot, planned, line, "6.5")
    close(qtbot, planned)
    plan_round(qtbot, planned)
    second = open_round(planned)
    assert page.title.text() == f"Round {second.number}"
    assert page.chooser.count() == 2
    page.chooser.setCurrentIndex(1)
    page.chooser.activated.emit(1)
    assert page.title.text() == f"Round {first.number}"
    assert "closed" in page.subtitle.text()
    assert kept_text(model, 0) == "6.5"
    line = next(n for n, back in enumerate(status(planned).rounds[0].back) if not any(back))
    assert model.state(line) == "0 of 4"
    cell = model.index(model.view_row(line) or 0, model.place_of("result"))
    assert not page.close_button.isVisible()
    # What comes late is typed where it belongs, and says so; what had come stays.
    assert cell.flags() & Qt.ItemFlag.ItemIsEditable
    kept = model.index(model.view_row(0) or 0, model.place_of("result"))
    assert not kept.flags() & Qt.ItemFlag.ItemIsEditable
    model.setData(cell, "6.9")
    wait_for(qtbot, planned, lambda: len(status(planned).measurements) == 6)
    late = status(planned).measurements[-1]
    assert (late.entered.round, late.round, late.entered.replicate) == (first.number, second.number, "1")
    assert kept_text(model, line) == "6.9"
    assert "1 late" in model.state(line)
    assert f"came late, in round {second.number}" in model.result_tip(line, 0, 0)
    # Its phase was not decided yet, so it counts: one measurement less is waited for in the open round.
    assert late.counted == 1
    assert any(caption == "Late results" and "still count" in text for caption, text in page.panel.progress.rows)
    planned.round_commands.step(1)
    assert page.title.text() == f"Round {second.number}"
    assert open_round(planned).came == 1
    own = next(n for n, item in enumerate(second.items) if item.compound == late.compound)
    assert kept_text(model, own) == "6.9"
    # Enter results leads back to the open round from any other.
    page.look_at(first.number)
    planned.round_commands.enter_results()
    assert page.title.text() == f"Round {second.number}"
    assert view(planned).round is page.shown or page.shown == view(planned).round
