"""The cells of a round: one for each measurement, edited as in a spreadsheet, and nothing typed into them is lost."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Measurement, Result
from assaypilot.engine.errors import AssayPilotError
from assaypilot.gui.round.reason_dialog import CorrectDialog, ExcludeDialog
from assaypilot.gui.round.round_columns import STRUCK, mean_text, result_key
from assaypilot.gui.tables.rows import KIND
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import (
    dialog,
    idle,
    kept_text,
    open_round,
    planned_campaign,
    status,
    until,
    view,
    wait_for,
)

P = Endpoint("pIC50", noise_sd=0.2)
IC50 = Endpoint("IC50", "nM", "log", noise_sd=0.2)


@pytest.fixture
def planned(qtbot, open_window, tmp_path):
    """A window with an open round of up to two measurements of a compound, in front."""
    campaign = open_window(planned_campaign(tmp_path, per_round=18, max_replicates=2))
    campaign.activateWindow()
    until(qtbot, campaign.isActiveWindow)
    return campaign


@pytest.fixture
def comma():
    """Whoever sits at the window uses a decimal comma."""
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.German, QLocale.Country.Germany))
    yield
    QLocale.setDefault(before)


def line_of_two(window):
    """A line that asks for two measurements."""
    return next(n for n, item in enumerate(open_round(window).items) if item.replicates == 2)


def editor(window, line, cell=0):
    """The editor of a cell, opened with F2."""
    window.round.table.edit_line(line, 0, cell)
    QTest.keyClick(window.round.table, Qt.Key.Key_F2)
    found = QApplication.focusWidget()
    assert isinstance(found, QLineEdit)
    return found


def type_into(window, line, text, cell=0):
    """Type into a cell and press Enter."""
    found = editor(window, line, cell)
    found.clear()
    QTest.keyClicks(found, text)
    QTest.keyClick(found, Qt.Key.Key_Return)


def count(window, n):
    return sum(not one.withdrawn for one in status(window).measurements if one.round) == n


def data(model, line, cell, role):
    return model.index(model.view_row(line) or 0, model.place_of(result_key(0, cell))).data(role)


def test_each_measurement_has_its_cell_or_a_mean_has_both(qtbot, planned):
    model, line = planned.round.model, line_of_two(planned)
    assert [column.key for column in model.columns if column.key.startswith("result")][:2] == ["result", "result.2"]
    # The second one first: it stays where it was typed, which is a well of its own.
    type_into(planned, line, "7.25", 1)
    wait_for(qtbot, planned, lambda: count(planned, 1))
    assert [model.cell_text(line, 0, at) for at in (0, 1)] == ["", "7.25"]
    assert status(planned).measurements[-1].entered.replicate == "2"
    type_into(planned, line, "7.05")
    wait_for(qtbot, planned, lambda: count(planned, 2))
    mean = model.columns[model.place_of("mean-0")]
    assert mean.text(line) == "7.15 (2)"
    assert mean.cell_tip(line) == "7.15 (n = 2, SD 0.14)"
    # A mean of two stands for both cells, and the second one can hold no other value.
    other = next(n for n, item in enumerate(open_round(planned).items) if item.replicates == 2 and n != line)
    type_into(planned, other, "6.8 (n=2, sd=0.1)")
    wait_for(qtbot, planned, lambda: count(planned, 3))
    assert model.result_text(other, 0, 0) == "6.8 (n=2, sd=0.1)"
    assert model.result_text(other, 0, 1) == "in the mean"
    assert open_round(planned).back[other] == (2,)
    index = model.index(model.view_row(other) or 0, model.place_of("result.2"))
    assert not index.flags() & Qt.ItemFlag.ItemIsEditable
    assert mean.cell_tip(other) == "6.80 (n = 2, SD 0.10)"


def test_corrected_value_is_struck_through_and_excluded_value_frees_its_cell(qtbot, planned):
    page, model, line = planned.round, planned.round.model, line_of_two(planned)
    type_into(planned, line, "7.26")
    wait_for(qtbot, planned, lambda: count(planned, 1))
    type_into(planned, line, "7.62")
    until(qtbot, lambda: QApplication.activeModalWidget() is not None)
    asked = dialog(CorrectDialog)
    assert asked.value.text() == "7.62"
    # Escape leaves the value as it is.
    QTest.keyClick(asked, Qt.Key.Key_Escape)
    assert model.cell_text(line, 0, 0) == "7.26"
    page.values.correct(status(planned).measurements[-1].number, "7.62")
    again = dialog(CorrectDialog)
    again.line.setText("digits swapped")
    again.confirm.click()
    wait_for(qtbot, planned, lambda: model.cell_text(line, 0, 0) == "7.62")
    assert data(model, line, 0, STRUCK) == "7.26"
    spoken = Qt.ItemDataRole.AccessibleTextRole
    assert data(model, line, 0, spoken) == "pIC50, 1st: 7.62, struck through: 7.26"
    assert data(model, line, 1, spoken) == "pIC50, 2nd: pending"
    page.table.edit_line(line, 0, 0)
    listed = page.panel.values._shown
    assert (listed[0].struck, listed[0].value, listed[0].note) == ("7.26", "7.62", "corrected: digits swapped")
    # Del asks why; the cell is then free for the measurement done again, with the old value struck through above it.
    page.table.edit_line(line, 0, 0)
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    out = dialog(ExcludeDialog)
    out.line.setText("leak")
    out.confirm.click()
    wait_for(qtbot, planned, lambda: model.cell_text(line, 0, 0) == "")
    assert data(model, line, 0, STRUCK) == "7.62"
    planned.activateWindow()
    until(qtbot, planned.isActiveWindow)
    type_into(planned, line, "7.4")
    wait_for(qtbot, planned, lambda: model.cell_text(line, 0, 0) == "7.4")
    assert status(planned).measurements[-1].entered.replicate == "1"
    assert [model.cell_text(line, 0, at) for at in (0, 1)] == ["7.4", ""]
    QTest.keyClick(planned, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    until(qtbot, lambda: model.cell_text(line, 0, 0) == "")
    QTest.keyClick(planned, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    until(qtbot, lambda: model.cell_text(line, 0, 0) == "7.4")


def test_closing_saves_what_can_be_saved_and_asks_about_the_rest(qtbot, planned, open_window):
    path, line = view(planned).path, line_of_two(planned)
    found = editor(planned, 0)
    QTest.keyClicks(found, "7.31")
    QTest.keyClick(found, Qt.Key.Key_Escape)
    assert planned.round.model.result_text(0, 0, 0) == "", "Escape leaves the cell as it was"
    planned.round.values.enter(line, 0, "seven", 1)
    QTest.keyClicks(editor(planned, 0), "6.66")
    planned.close()
    assert planned.isVisible()
    assert "1 typed value not saved" in planned.messages.text
    planned.close()
    assert not planned.isVisible()
    assert kept_text(open_window(path, page=PageName.ROUND).round.model, 0) == "6.66"


def test_a_full_disk_keeps_what_was_typed_and_says_so(qtbot, planned, monkeypatch):
    page, model = planned.round, planned.round.model
    campaign = planned.session._campaign

    def full(*_, **__):
        raise AssayPilotError("the disk is full; nothing was written", mend="Free some space.")

    with monkeypatch.context() as patch:
        patch.setattr(campaign._store, "append", full)
        type_into(planned, 0, "7.2")
        wait_for(qtbot, planned, lambda: model.wrong(0) is not None)
        assert model.result_text(0, 0, 0) == "7.2"
        assert "Not saved: the disk is full" in model.result_tip(0, 0, 0)
        assert "disk is full" in planned.messages.text
        assert page.panel.take.text() == "Try again"
        # A paste keeps its preview.
        QGuiApplication.clipboard().setText("7.1\n7.2\n")
        page.table.choose(1, "result")
        planned.paste()
        until(qtbot, lambda: page.stack.currentWidget() is page.preview)
        page.preview.write.click()
        idle(qtbot, planned)
        assert page.stack.currentWidget() is page.preview
        assert count(planned, 0)
    page.preview.write.click()
    until(qtbot, lambda: count(planned, 2))
    page.panel.show_wrong(0, *(model.wrong(0) or ("", "", "")))
    page.panel.take.click()
    until(qtbot, lambda: count(planned, 3))
    assert model.cell_text(0, 0, 0) == "7.2"


def test_paste_marks_rejected_cells_in_place(qtbot, planned):
    page, model = planned.round, planned.round.model
    page.table.choose(0, "result")
    QGuiApplication.clipboard().setText("7,25\noops\n6,9\n35\nn.d.\n")
    planned.paste()
    until(qtbot, lambda: page.stack.currentWidget() is page.preview)
    assert "2 lines rejected, 2 kept for correction" in page.preview.summary.text()
    assert "1 cell without a value yet (empty, n.d., NA)" in page.preview.summary.text()
    page.preview.write.click()
    wait_for(qtbot, planned, lambda: count(planned, 2))
    assert [model.result_text(line, 0, 0) for line in range(4)] == ["7.25", "oops", "6.9", "35"]
    assert [data(model, line, 0, KIND) == "wrong" for line in range(4)] == [False, True, False, True]
    assert "not a number" in model.result_tip(1, 0, 0)
    assert "oops, not kept: 'oops' is not a number" in data(model, 1, 0, Qt.ItemDataRole.AccessibleTextRole)
    assert "35 is no pIC50. 35 nM?" in model.result_tip(3, 0, 0)
    assert "2 cells marked" in planned.messages.text
    assert page.table.current_row() == 1
    # A value beside one that is wrong is written all the same.
    line = line_of_two(planned)
    page.table.choose(line, "result")
    names = status(planned).library.ids
    name = names[open_round(planned).items[line].compound]
    QGuiApplication.clipboard().setText(f"{name}\toops\t7,5\n")
    planned.paste()
    until(qtbot, lambda: page.stack.currentWidget() is page.preview)
    page.preview.write.click()
    wait_for(qtbot, planned, lambda: count(planned, 3))
    assert "7.5" in kept_text(model, line)
    # Typed over, it is as any other.
    type_into(planned, 1, "7.0")
    until(qtbot, lambda: count(planned, 4))
    assert model.wrong(1, 0, 0) is None


def test_numbers_are_typed_as_the_user_writes_them(qtbot, planned, comma):
    page, model = planned.round, planned.round.model
    type_into(planned, 0, "7,25")
    wait_for(qtbot, planned, lambda: count(planned, 1))
    assert model.cell_text(0, 0, 0) == "7.25"
    type_into(planned, 1, "0,5 nM")
    wait_for(qtbot, planned, lambda: count(planned, 2))
    assert status(planned).measurements[-1].value == pytest.approx(9.301, abs=1e-3)
    type_into(planned, 2, "12.345 nM")
    until(qtbot, lambda: model.wrong(2) is not None)
    assert "can be read in two ways" in (model.wrong(2) or ("", ""))[1]
    assert "12.345 nM" in page.panel.wrong.heading.text()
    assert count(planned, 2)


def test_a_mean_is_of_logarithms_and_knows_its_scatter():
    def of(value, n=1, sd=None, relation="="):
        return Measurement(1, 0, 0, value, relation, n, Result("X", value, n=n, sd=sd), 1, 1)

    assert mean_text([of(7.0), of(7.4)], P) == "7.20 (n = 2, SD 0.28)"
    # Two means of two: within 0.1 each, between 0.4; the SD of the four is that of (6.93, 7.07, 7.33, 7.47).
    assert mean_text([of(7.0, 2, 0.1), of(7.4, 2, 0.1)], P) == "7.20 (n = 4, SD 0.24)"
    assert mean_text([of(7.0, 2), of(7.4, 2)], P) == "7.20 (n = 4)"
    assert mean_text([of(5.0, relation="<")], P) == "<5.00 (n = 1)"
    assert mean_text([replace(of(7.0), excluded="leak")], P) == ""
