"""Controls through the real widgets: a new campaign's line, the rows of controls beside a round."""

import pytest

from assaypilot.engine.domain.controls import Control, parse_control
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.plates import Control as Wells
from assaypilot.engine.domain.plates import PlateUse
from assaypilot.engine.errors import AssayPilotError
from assaypilot.gui.new_campaign.goal_strategy import controls_in
from assaypilot.gui.round.reason_dialog import CorrectDialog, ExcludeDialog
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import copied, dialog, made, status, until, wait_for
from tests.gui.test_goals import IDS, ROWS, table, to_goal

REF = Control("REF-1", (("pIC50", 7.1),))


@pytest.fixture
def planned(qtbot, open_window, tmp_path):
    """A window with an open round on two plates, controls in the first column of each."""
    return open_window(copied(tmp_path, _planned), page=PageName.ROUND)


def _planned(folder):
    path = folder / "plates.assaypilot"
    library = Library.listed(["R1", "R2", "R3"], [list(row) for row in ROWS], ids=IDS)
    with made(path, library, per_round=36, controls=(REF,)) as campaign:
        campaign.plan()
        campaign.lay_out(1, PlateUse(24, (Wells("REF-1", (1,)),)))
    return path


def type_into(pane, row, text):
    field = list(pane.fields.values())[row]
    field.edit.setText(text)
    field.edit.returnPressed.emit()


def test_controls_are_typed_in_rows_of_their_own(qtbot, planned):
    pane = planned.round.controls
    assert not pane.isHidden()
    assert [(row.place, len(row.wells)) for row in pane.fields] == [("R1-P1", 4), ("R1-P2", 4)]
    type_into(pane, 0, "7.0; 7.2; 7.3")
    wait_for(qtbot, planned, lambda: len(status(planned).readings) == 3)
    first, *_ = status(planned).readings
    assert (first.entered.plate, first.entered.well) == ("R1-P1", "A1")
    assert status(planned).measurements_used == 0
    row = next(iter(pane.fields.values()))
    assert row.text == ""
    assert row.note.text() == "7; 7.2; 7.3"
    (line,) = status(planned).quality.plates
    assert line.mean == pytest.approx(0.0667, abs=1e-3)
    # The same plate goes on with its next well.
    type_into(pane, 0, "7.1")
    until(qtbot, lambda: len(status(planned).readings) == 4)
    assert status(planned).readings[3].entered.well == "D1"


@pytest.mark.parametrize(("text", "reason"), [("seven", "seven"), (">8", "has to read one"), ("7.1 7.2", "7.1 7.2")])
def test_unreadable_control_value_stays_with_its_reason(planned, text, reason):
    pane = planned.round.controls
    type_into(pane, 1, text)
    row = list(pane.fields.values())[1]
    assert row.text == text
    assert reason in row.note.text()
    assert row.note.property("role") == "problem"
    assert not status(planned).readings


def test_typed_results_stand_on_their_plates(qtbot, planned):
    model = planned.round.model
    row = model.view_row(0)
    assert row is not None
    model.setData(model.index(row, model.place_of("result")), "6.5")
    until(qtbot, lambda: status(planned).measurements_used == 1)
    entered = status(planned).measurements[-1].entered
    assert entered.plate.startswith("R1-P")
    assert entered.well


def test_a_control_is_corrected_and_left_out(qtbot, planned):
    pane = planned.round.controls
    type_into(pane, 0, "8.4; 7.2")
    wait_for(qtbot, planned, lambda: len(status(planned).readings) == 2)
    pane.values.correct.emit(1)
    asked = dialog(CorrectDialog)
    asked.line.setText("typo")
    asked.value.setText(">7")
    assert "a control has to read one" in asked.problem.text()
    assert not asked.confirm.isEnabled()
    asked.value.setText("7.0")
    until(qtbot, lambda: "Controls decide nothing by themselves" in asked.consequence.text())
    asked.accept()
    until(qtbot, lambda: status(planned).readings[0].value == 7.0)
    pane.values.exclude.emit(2)
    left = dialog(ExcludeDialog)
    left.line.setText("bubble")
    assert left.judged.isHidden()
    assert "decide nothing" in left.consequence.text()
    left.accept()
    until(qtbot, lambda: status(planned).readings[1].excluded == "bubble")
    pane.values.include.emit(2)
    until(qtbot, lambda: status(planned).readings[1].excluded is None)


def test_a_new_campaign_asks_for_controls(qtbot, window, tmp_path):
    step = to_goal(qtbot, window, table(tmp_path / "t.csv"))
    step.noise.edit.setText("0.2")
    step.controls.edit.setText("REF-1 = 7,1")
    controls = (Control("REF-1", (("", 7.1),)),)
    until(qtbot, lambda: step.campaign_settings is not None and step.campaign_settings.controls == controls)
    step.controls.edit.setText("C-1 = 7.1")
    until(qtbot, lambda: "is a compound of the library" in step.controls.note.text())
    assert not step.complete


def test_typed_controls_are_parsed():
    assert controls_in("") == ()
    assert controls_in("REF-1; REF-2 = 7.1") == (Control("REF-1"), parse_control("REF-2;value=7.1"))
    assert controls_in("REF-1 = pIC50 7.1, hERG 5") == (parse_control("REF-1;pIC50=7.1;hERG=5"),)
    for text in ("REF-1 = x", "= 7", "REF-1 = "):
        with pytest.raises(AssayPilotError):
            controls_in(text)
