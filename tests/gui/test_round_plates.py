"""The list and the plates are one selection; wells say what they hold by shape, letter or number, not by colour."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from assaypilot.engine.domain.plates import Well
from assaypilot.gui.round.work_list_dialog import WorkListDialog
from tests.gui.helpers import enter, idle, open_round, status, until

LEFT, NONE, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def plated(qtbot, planned):
    """A window with an open round on a plate, laid out from the page."""
    campaign = planned
    pane = campaign.round.plates_pane
    assert not pane.plate.isVisible(), "one quiet line until somebody wants plates"
    pane.layout_button.click()
    dialog = campaign.work_lists.dialog
    assert isinstance(dialog, WorkListDialog)
    dialog.plate_size.choose("96")
    dialog.controls.setText("1, 12")
    until(qtbot, lambda: dialog.layout_ is not None and dialog.keep_button.isEnabled())
    dialog.keep_button.click()
    idle(qtbot, campaign)
    assert pane.plate.isVisible()
    return campaign


def wells_of(window):
    """The line of the list in each well that has one."""
    lines = {item.compound: line for line, item in enumerate(open_round(window).items)}
    plate = window.round.plates_pane.plate.plate
    return {well: lines[placed.compound] for well, (placed, _) in plate.contents().items()}


def at(plate, well):
    return plate.box(well).center().toPoint()


def legend(plate):
    return [words for _, words in plate.legend()]


def test_clicked_wells_are_selected_and_selected_wells_ringed(qtbot, plated):
    page, plate = plated.round, plated.round.plates_pane.plate
    there, items = wells_of(plated), open_round(plated).items
    QTest.mouseClick(plate, LEFT, NONE, at(plate, Well(0, 1)))
    for well in (Well(2, 2), Well(2, 3), Well(2, 2)):
        QTest.mouseClick(plate, LEFT, CONTROL, at(plate, well))
    inside = {there[Well(0, 1)], there[Well(2, 3)]}
    assert set(page.table.selected_rows()) == inside
    assert plate.chosen == {items[line].compound for line in inside}
    assert "are chosen" in plate.accessibleDescription()
    # The other way round, and on every other page.
    page.table.choose(4, "result")
    assert plate.chosen == {items[4].compound}
    assert plated.session.selection.compound == items[4].compound
    plated.session.selection.choose(items[2].compound)
    assert page.table.current_row() == 2
    assert plate.chosen == {items[2].compound}
    # A click alone chooses one, Escape none.
    QTest.mouseClick(plate, LEFT, NONE, at(plate, Well(1, 1)))
    assert page.table.selected_rows() == [there[Well(1, 1)]]
    plate.setFocus()
    QTest.keyClick(plate, Qt.Key.Key_Escape)
    assert page.table.selected_rows() == []


def test_the_keyboard_goes_from_well_to_well(qtbot, plated):
    page, plate = plated.round, plated.round.plates_pane.plate
    there = wells_of(plated)
    plated.activateWindow()
    plate.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down):
        QTest.keyClick(plate, key)
    assert plate.mark == Well(1, 1)
    line = there[Well(1, 1)]
    name = status(plated).library.ids[open_round(plated).items[line].compound]
    assert page.table.current_row() == line
    assert f"B2: line {line + 1}, {name}, measurement" in plate.accessibleDescription()
    assert page.plates_pane.well.text() == plate.text_at(Well(1, 1))
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Space, Qt.Key.Key_Space):
        QTest.keyClick(plate, key)
    assert page.table.selected_rows() == [there[Well(2, 1)]]
    QTest.keyClick(plate, Qt.Key.Key_Left)
    assert plate.text_at(plate.mark) in ("C1: max", "C1: min")
    assert page.table.selected_rows() == []
    QTest.keyClick(plate, Qt.Key.Key_Right)
    QTest.keyClick(plate, Qt.Key.Key_Return)
    placed = plate.contents[Well(2, 1)][0]
    until(qtbot, page.table.hasFocus)
    assert (page.table.current_row(), page.table.current_cell) == (there[Well(2, 1)], (0, placed.replicate - 1))


def test_wells_show_their_state_and_the_legend_names_it(qtbot, plated, monkeypatch):
    page, pane = plated.round, plated.round.plates_pane
    plate = pane.plate
    assert legend(plate) == ["pending", "max", "min", "empty"]
    enter(qtbot, plated, 0, "7.1")
    enter(qtbot, plated, 1, "6.2")
    page.values.enter(2, 0, "oops")
    number = status(plated).measurements[-1].number
    plated.session.exclude(number, "leak", judgement=False)
    until(qtbot, lambda: "excluded" in legend(plate))
    assert legend(plate) == ["pending", "back", "not kept", "excluded", "max", "min", "empty"]
    name = status(plated).library.ids[open_round(plated).items[0].compound]
    first = next(w for w, (one, _) in plate.contents.items() if one.replicate == 1 and wells_of(plated)[w] == 0)
    assert plate.text_at(first) == f"{first}: line 1, {name}, measurement 1: 7.1"
    # By value: the number stands in the well, and the legend says from where to where.
    enter(qtbot, plated, 3, "5.9")
    pane.by.setCurrentIndex(1)
    assert pane.by.currentText() == "pIC50"
    looks = plate.looks
    assert (looks.wells[first].text, looks.wells[first].share) == ("7.1", 1.0)
    assert legend(plate)[:2] == ["5.90", "7.10 pIC50"]
    # However many wells ask where they stand, the legend is laid out once: a plate of 384 was painted in a second.
    entries, asked = list(plate.legend()), []
    with monkeypatch.context() as patch:
        patch.setattr(plate, "legend", lambda: asked.append(1) or iter(entries))
        plate.show_looks(plate.looks)
        plate.grab()
    assert len(asked) == 1
    # As a grid for a spreadsheet, by what is shown.
    pane.by.setCurrentIndex(1)
    plated.activateWindow()
    until(qtbot, plated.isActiveWindow)
    plate.setFocus()
    plated.copy()
    rows = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    assert len(rows) == 9
    assert rows[0][1:4] == ["1", "2", "3"]
    assert rows[1 + first.row][1 + first.column] == "7.1"
