"""The round for the lab: a table, a page or a map, on plates that are seen before they are written."""

import csv

import pytest
from PySide6.QtCore import QPointF

from assaypilot.engine.domain.plates import PlateUse, Well, read_controls, read_well
from assaypilot.gui.round.plate import short_names
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import idle, open_round, show, status, until, view


def asked(window):
    """The question how the lab gets the round."""
    assert window.work_lists.dialog is not None
    return window.work_lists.dialog


def ask(qtbot, window, size="96", controls="1, 12"):
    """The question, answered with plates that are laid out."""
    window.round.work_button.click()
    dialog = asked(window)
    dialog.plate_size.choose(size)
    dialog.controls.setText(controls)
    until(qtbot, lambda: dialog.layout_ is not None and dialog.layout_.use == dialog.use)
    return dialog


def save(qtbot, window, path):
    """What was written to a place chosen in the system's dialog (empty for what is no table)."""
    asked(window).confirm.click()
    window.work_lists.asking.fileSelected.emit(str(path))
    idle(qtbot, window)
    assert path.exists(), window.messages.text
    if path.suffix != ".csv":
        return []
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_work_list_has_the_wells_of_the_plate_shown(qtbot, planned, tmp_path):
    dialog = ask(qtbot, planned)
    shown, layout = open_round(planned), dialog.layout_
    assert layout is not None
    assert f"{shown.measurements} measurements of pIC50, 16 wells with controls" in dialog.words.text()
    assert dialog.words.text() in dialog.plate.accessibleDescription()
    # What a well holds is said under the mouse.
    first = layout.plates[0].placed[0]
    name = status(planned).library.ids[first.compound]
    assert dialog.plate.tip(first.wells[0]) == f"{first.well}: {name}, measurement {first.replicate}"
    assert dialog.plate.tip(Well(0, 0)) == "A1: max"
    assert dialog.plate.tip(Well(1, 0)) == "B1: min"
    assert "empty" in dialog.plate.tip(Well(7, 10))
    dialog.plate.resize(480, 340)
    centre = dialog.plate.box(first.wells[0]).center()
    assert dialog.plate.well_at(centre) == first.wells[0]
    assert dialog.plate.well_at(QPointF(1, 1)) is None
    planned.round.table.choose(2, "result")
    rows = save(qtbot, planned, tmp_path / "list.csv")
    assert planned.round.table.current_row() == 2  # the wells take nobody's place
    wells = {(row["ID"], row["Replicate"]): row["Well"] for row in rows}
    assert len(set(wells.values())) == len(rows) == shown.measurements
    assert not {"1", "12"} & {well[1:] for well in wells.values()}
    assert wells[name, str(first.replicate)] == first.well
    # The round shows them, too: those of every measurement of a line.
    model = planned.round.model
    column = model.columns[model.place_of("wells")]
    for line, item in enumerate(shown.items):
        own = status(planned).library.ids[item.compound]
        expected = {wells[own, str(number)] for number in range(1, item.replicates + 1)}
        assert set(column.text(line).split(", ")) == expected
        assert len(column.cell_tip(line).splitlines()) == item.replicates


@pytest.mark.slow
def test_work_list_is_written_as_page_and_plate_map(qtbot, planned, tmp_path):
    dialog = ask(qtbot, planned, "384", "max=1; min=24")
    dialog.edge.setChecked(True)
    dialog.kinds.choose("page")
    until(qtbot, lambda: dialog.layout_ is not None and not dialog.layout_.use.edge)
    save(qtbot, planned, tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    planned.work_lists.ask()
    again = asked(planned)
    assert again.values == {"kind": "page", "size": 384, "controls": "max=1; min=24", "edge": False, "same": False}
    again.kinds.choose("map")
    until(qtbot, again.confirm.isEnabled)
    rows = save(qtbot, planned, tmp_path / "map.csv")
    assert {row["Control"] for row in rows} == {"", "max", "min"}
    assert sum(bool(row["ID"]) for row in rows) == open_round(planned).measurements
    plates = PlateUse(384)
    assert all(read_well(row["Well"], plates.format) for row in rows)


def test_impossible_plates_are_explained_at_the_options(qtbot, planned):
    planned.work_lists.ask()
    dialog = asked(planned)
    dialog.plate_size.choose("96")
    for text, words in (
        ("13", "a 96-well plate has no column 13".capitalize()),
        ("oops", "names no columns"),
        ("1,2,3,4,5,6,7,8,9,10,11,12", "no free well is left"),
    ):
        dialog.controls.setText(text)
        until(qtbot, lambda words=words: words.casefold() in dialog.problem.text().casefold())
        assert not dialog.confirm.isEnabled()
        assert dialog.plates.isHidden()
    dialog.controls.setText("1")
    until(qtbot, dialog.confirm.isEnabled)
    assert dialog.problem.isHidden()
    dialog.plate_size.choose("0")
    dialog.kinds.choose("map")
    until(qtbot, lambda: "needs plates" in dialog.problem.text())
    assert not dialog.confirm.isEnabled()
    dialog.reject()
    idle(qtbot, planned)


def test_choosing_no_plates_removes_a_layout_until_undone(qtbot, planned, tmp_path):
    planned.work_lists.keep(PlateUse(48, read_controls(["REF=1", "DMSO=8"])))
    idle(qtbot, planned)
    planned.work_lists.ask()
    dialog = asked(planned)
    assert (dialog.plate_size.key, dialog.controls.text()) == ("48", "REF=1; DMSO=8")
    assert "48 wells" in dialog.plate_size.text("48")
    dialog.plate_size.choose("0")
    dialog._lay_out()
    assert "no plates" in dialog.keep_button.text().replace("&", "")
    rows = save(qtbot, planned, tmp_path / "list.csv")
    assert {row["Well"] for row in rows} == {""}
    assert open_round(planned).layout is None
    planned.session.undo()
    idle(qtbot, planned)
    back = open_round(planned).layout
    assert back.use.size == 48


@pytest.mark.slow
def test_read_only_window_writes_the_stored_layout(qtbot, planned, open_window, tmp_path):
    planned.work_lists.keep(PlateUse(96, read_controls(["1, 12"])))
    idle(qtbot, planned)
    kept = open_round(planned).layout
    assert kept is not None
    second = open_window(view(planned).path)
    assert view(second).read_only
    show(qtbot, second, PageName.ROUND)
    assert second.round.plates_pane.plate.isVisible()
    second.work_lists.ask()
    dialog = asked(second)
    until(qtbot, lambda: dialog.layout_ is not None)
    assert dialog.layout_ == kept
    for widget in (dialog.plate_size, dialog.controls, dialog.edge):
        assert not widget.isEnabled()
    assert dialog.keep_button.isHidden()
    rows = save(qtbot, second, tmp_path / "list.csv")
    wells = {placed.well for plate in kept.plates for placed in plate.placed}
    assert {row["Well"] for row in rows} == wells
    second.close()


def test_names_of_controls_are_as_short_as_they_can_be():
    assert short_names(["max", "min", "max"]) == {"max": "ma", "min": "mi"}
    assert short_names(["ref", "DMSO"]) == {"ref": "r", "DMSO": "D"}
    assert short_names(["a", "ab"]) == {"a": "a", "ab": "ab"}
