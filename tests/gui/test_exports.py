"""Exports through the real dialogs: what is on screen, in a process of its own, whole or nothing, never by surprise."""

import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.formats import FORMATS, write
from assaypilot.engine.system.processes import in_another_process
from assaypilot.gui.widgets.file_dialogs import as_named, file_name
from assaypilot.gui.window import exporting
from assaypilot.gui.window.export_dialog import KINDS
from assaypilot.gui.window.exporting import leftovers_removed
from tests.gui.helpers import endless, idle, rows_of, status, until, wait_for

HEADERS_BEHIND = {"Goal", "Guarantee", "Program", "Exported", "Events", "Campaign head"}


def asked(window):
    """The question what to export."""
    assert window.exporting.dialog is not None
    return window.exporting.dialog


def choose_place(qtbot, window, name):
    """The question where to, answered with a name."""
    asked(window).confirm.click()
    place = window.exporting.asking
    assert not place.testOption(QFileDialog.Option.DontConfirmOverwrite)  # the system asks before it replaces
    place.selectFile(name)
    place.fileSelected.emit(name)
    return place


def test_export_has_the_rows_and_columns_on_screen(qtbot, decided, tmp_path):
    page, window = decided.candidates, decided
    page.which.choose("all")
    page.filter.setText("R1=Cl")
    page.table.sortByColumn(page.model.place_of("id"), Qt.SortOrder.DescendingOrder)
    page.arrangement.show("interval", False)
    page.arrangement.show("available", True)
    header = page.table.horizontalHeader()
    header.moveSection(header.visualIndex(page.model.place_of("estimate")), 0)
    # The filter was typed a moment ago: it counts all the same.
    page.export_button.click()
    dialog = asked(window)
    assert dialog.wanted.which == "screen"
    assert "6 on the Candidates page" in dialog.choices["screen"].text()
    assert "filter “R1=Cl” · sorted by ID, falling" in dialog.screen_.words
    shown = [page.model.as_text()[1:][row] for row in range(6)]
    path = tmp_path / "screen.csv"
    choose_place(qtbot, window, str(path))
    wait_for(qtbot, window, lambda: window.exporting.dialog is None)
    rows = rows_of(path)
    assert [row["ID"] for row in rows] == [status(window).library.ids[int(row)] for row in page.model.rows]
    ids = [row["ID"] for row in rows]
    assert ids == sorted(ids, key=lambda name: -int(name.split("-")[1]))
    assert len(shown) == len(rows) == 6
    columns = [name for name in rows[0] if name not in HEADERS_BEHIND and not name.startswith("Assay noise")]
    assert columns == ["pIC50 estimate", "Status", "ID", "R1", "R2", "R3", "pIC50 measured", "pIC50 n", "P(within 0.5)",
                       "Availability", "Evidence"]  # fmt: skip
    assert {row["R1"] for row in rows} == {"Cl"}


@pytest.mark.parametrize(
    "suffix", [pytest.param(one, marks=() if one == ".csv" else pytest.mark.slow) for one in FORMATS]
)
def test_every_format_is_in_the_menu_and_written(qtbot, decided, tmp_path, suffix):
    kind = next(kind for kind in KINDS if kind.suffix == suffix)
    action = next(one for one in decided.actions_.exports if one.text() == kind.menu)
    action.trigger()
    dialog = asked(decided)
    assert dialog.wanted.kind is kind
    dialog.choose("all")
    path = tmp_path / f"out{suffix}"
    if suffix == ".sdf":  # the table has no structures: said beside the button, before anything is chosen
        assert "No structure is known" in dialog.problem.text()
        assert not dialog.confirm.isEnabled()
        dialog.reject()
        return
    choose_place(qtbot, decided, str(path))
    idle(qtbot, decided)
    assert path.stat().st_size > 500
    assert "18 compounds written to out" in decided.messages.text
    assert [one.text() for one in decided.messages.offers] == ["Open", "Show in Folder"]


@pytest.mark.slow
def test_opening_what_was_written(qtbot, decided, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(
        exporting.QDesktopServices, "openUrl", lambda url: bool(opened.append(url.toLocalFile())) or True
    )
    path = tmp_path / "out.csv"
    for number, place in enumerate((path, tmp_path)):
        decided.exporting.to(path, "all")
        idle(qtbot, decided)
        decided.messages.offers[number].click()
        assert Path(opened[-1]) == place
    decided.exporting.to(path, "all")
    idle(qtbot, decided)
    path.unlink()
    decided.messages.offers[0].click()
    assert "not there any more" in decided.messages.text
    assert len(opened) == 2


def test_export_refusals_are_shown_at_their_cause(qtbot, decided, tmp_path):
    page = decided.candidates
    page.filter.setText("nothing like it")
    until(qtbot, lambda: page.model.rowCount() == 0)
    decided.exporting.ask(None)
    dialog = asked(decided)
    assert "its filter leaves no compound" in dialog.problem.text()
    assert not dialog.confirm.isEnabled()
    dialog.choose("all")
    assert dialog.problem.isHidden()
    assert dialog.confirm.isEnabled()
    # A name without its ending must not become that of a file nobody agreed to replace.
    there = tmp_path / "shortlist.v2.csv"
    there.write_text("kept")
    choose_place(qtbot, decided, str(tmp_path / "shortlist.v2"))
    assert "exists already" in dialog.problem.text()
    assert dialog.isVisible()
    assert there.read_text() == "kept"
    choose_place(qtbot, decided, str(tmp_path / "nowhere" / "x.csv"))
    idle(qtbot, decided)
    assert "there is no such folder" in decided.messages.text
    (again,) = decided.messages.offers
    assert again.text() == "Another place…"
    again.click()
    assert asked(decided).wanted.which == "all"
    asked(decided).reject()


def test_file_names_hold_no_forbidden_signs():
    assert file_name('a/b\\c: "d" <e>|?*\n') == "a-b-c- -d- -e-----"
    assert file_name(" . ") == "campaign"
    assert len(file_name("x" * 500)) == 120
    assert as_named("/some/where/x.CSV", ".csv") == Path("/some/where/x.CSV")
    assert as_named("/some/where/x.v2", ".csv") == Path("/some/where/x.v2.csv")


def never_done(path, report):
    """Nothing: leaves half a file beside the place, as a process that is ended does, and goes on for ever."""
    path.with_name(f".{path.name}.4711.part").write_text("half")
    number = 0
    while True:
        report(min(0.9, number / 100), f"Drawing structures: {number} of 100")
        number += 1
        time.sleep(0.02)


@pytest.mark.slow
def test_cancel_leaves_nothing_and_the_campaign_goes_on_meanwhile(qtbot, decided, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    path = folder / "x.csv"
    path.write_text("what was there")
    window = decided
    window.exporting.start(
        "Exporting x.csv", path, lambda report: in_another_process(never_done, path, report=report),
        lambda rows: None, lambda: None,
    )  # fmt: skip
    until(
        qtbot,
        lambda: (
            window.work[window.session.background].isVisible()
            and "Drawing structures" in window.work[window.session.background].detail.text()
        ),
    )
    assert window.work[window.session.background].words.text() == "Exporting x.csv…"
    until(qtbot, lambda: window.work[window.session.background].bar.value() > 0)
    until(qtbot, lambda: "left" in window.work[window.session.background].detail.text())
    assert len(list(folder.iterdir())) == 2
    # A command of the campaign does not wait for the export.
    before = status(window).head
    window.plan()
    until(qtbot, lambda: status(window).head != before)
    assert window.session.background.busy
    window.work[window.session.background].stop.click()
    until(qtbot, lambda: not window.session.background.busy)
    assert [one.name for one in folder.iterdir()] == ["x.csv"]
    assert path.read_text() == "what was there"
    assert window.messages.text == "Stopped: x.csv was not written."
    assert window.work[window.session.background].isHidden()


def test_partial_files_of_others_are_left_alone(tmp_path):
    path = tmp_path / "x.csv"
    old, new = tmp_path / ".x.csv.1.part", tmp_path / ".x.csv.2.part"
    old.write_text("another program's")

    def fails():
        with leftovers_removed(path):
            new.write_text("ours")
            raise AssayPilotError("the disk is full")

    with pytest.raises(AssayPilotError):
        fails()
    assert old.exists()
    assert not new.exists()


def test_closing_the_window_asks_once_while_an_export_is_written(qtbot, decided, tmp_path):
    path = tmp_path / "x.csv"
    decided.exporting.start("Exporting x.csv", path, endless(), lambda rows: None, lambda: None)
    decided.close()
    assert decided.isVisible()
    assert "An export is still being written" in decided.messages.text
    decided.messages.offers[1].click()
    decided.close()
    assert decided.isVisible()
    decided.messages.offers[0].click()
    until(qtbot, lambda: not decided.isVisible())
    assert not path.exists()


def test_the_window_answers_while_an_export_is_written(qtbot, decided, tmp_path, monkeypatch):
    """No turn of the event loop takes long: the writing is done elsewhere."""
    times = []
    elsewhere = []

    def watched(function, *arguments, report):
        elsewhere.append(function)
        return in_another_process(function, *arguments, report=report)

    monkeypatch.setattr("assaypilot.engine.system.processes.in_another_process", watched)
    decided.exporting.to(tmp_path / "x.xlsx", "all")
    while decided.session.background.busy:
        start = time.thread_time()  # its own share, whatever else the machine does
        QApplication.processEvents()
        times.append(time.thread_time() - start)
        time.sleep(0.002)
    idle(qtbot, decided)
    assert (tmp_path / "x.xlsx").exists()
    assert elsewhere == [write]
    assert max(times) < 0.2
