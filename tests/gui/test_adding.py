"""More compounds from a table, in the window: what follows is said before they are taken in."""

import pytest

from assaypilot.engine.cli import main
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import idle, status, until, wait_for

SITES = [(a, b) for a in ("H", "Me", "Et") for b in ("F", "Cl", "Br")]
MORE = "ID,R1,R2\nN1,iPr,F\nN2,iPr,Cl\nA1,H,F\nN3,,Br\n"


@pytest.fixture
def window(open_window, tmp_path, qtbot):
    """A campaign of nine compounds, at its goal."""
    table, path = tmp_path / "series.csv", tmp_path / "series.assaypilot"
    rows = [f"A{k},{a},{b}" for k, (a, b) in enumerate(SITES, 1)]
    table.write_text("\n".join(["ID,R1,R2", *rows]) + "\n", encoding="utf-8")
    made = main(["new", str(path), "--table", str(table), "--endpoint", "pIC50;sd=0.2", "--epsilon", "0.5", "--json"])
    assert made == 0
    return open_window(path, page=PageName.GOAL)


def asked(qtbot, window, table):
    """The dialog about a table, once it says what follows."""
    window.adding.dialog = None
    window.adding.read(table)
    until(qtbot, lambda: window.adding.dialog is not None)
    dialog = window.adding.dialog
    until(qtbot, lambda: "Checking" not in dialog.words.text())
    return dialog


def test_added_compounds_are_previewed_first_and_undo_removes_them(qtbot, window, tmp_path):
    table = tmp_path / "more.csv"
    table.write_text(MORE, encoding="utf-8")
    dialog = asked(qtbot, window, table)
    assert dialog.table.text() == (
        "more.csv holds 3 compounds. 1 of them is in the campaign already.\nRow 5 is not used: no substituent at R1."
    )
    assert dialog.words.text().startswith("Adds 2 compounds, to 11 compounds in all.\n\n1 substituent new: R1 = iPr.")
    assert len(status(window).library) == 9, "nothing is done before it is wanted"
    dialog.go.click()
    wait_for(qtbot, window, lambda: len(status(window).library) == 11)
    assert window.messages.text == "2 compounds added. Undo takes it back."
    assert status(window).library.ids[9:] == ("N1", "N2")
    window.session.undo()
    wait_for(qtbot, window, lambda: len(status(window).library) == 9)


def test_table_without_addable_compounds_is_refused_in_one_line(qtbot, window, tmp_path):
    table = tmp_path / "other.csv"
    table.write_text("Name,Colour\nx,red\ny,blue\n", encoding="utf-8")
    window.adding.read(table)
    until(qtbot, lambda: bool(window.messages.text))
    assert "the table has no column R1, R2" in window.messages.text
    assert window.adding.dialog is None
    idle(qtbot, window)


def test_compounds_that_exist_already_are_refused_in_the_dialog(qtbot, window, tmp_path):
    table = tmp_path / "same.csv"
    table.write_text("ID,R1,R2\nA1,H,F\n", encoding="utf-8")
    dialog = asked(qtbot, window, table)
    assert not dialog.go.isEnabled()
    assert dialog.table.text() == "same.csv holds 1 compound. 1 of them is in the campaign already."
    assert dialog.words.text()
    dialog.reject()
    idle(qtbot, window)
