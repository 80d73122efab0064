"""The table step through its widgets: how a table was read, what to read it as instead, a second file joined."""

from PySide6.QtGui import QGuiApplication

from assaypilot.gui.new_campaign.table_work import Place, Wanted, load
from tests.engine.tables.corpus import TEXT
from tests.engine.tables.workbooks import write_xlsx
from tests.gui.helpers import creation_of, small_table, until
from tests.gui.imports import creation_on


def choose(combo, text):
    """Choose an entry as a user does."""
    place = combo.findText(text)
    assert place >= 0, [combo.itemText(n) for n in range(combo.count())]
    combo.setCurrentIndex(place)
    combo.activated.emit(place)


def shown(step):
    """Names of the columns and rows of the preview."""
    return [[column.key for column in step.model.columns], *step.model.as_text()[1:]]


def test_sheets_are_offered_with_those_that_are_hidden(qtbot, window, tmp_path):
    rows = [["ID", "R1", "pIC50"], ["a", "Me", 5.5], ["b", "H", 6.25]]
    book = write_xlsx(
        tmp_path / "book.xlsx",
        {"Notes": [["about"]], "Data": rows, "Old": [["Name", "R1"], ["x", "Et"], ["y", "H"]]},
        hidden=("Old",),
    )
    creation = creation_on(qtbot, window, book)
    step = creation.table_pane
    sheet = step.reading.sheet
    assert [sheet.itemText(n) for n in range(sheet.count())] == ["Notes", "Data", "Old (hidden)"]
    assert sheet.currentText() == "Data"
    assert step.reading.encoding.isHidden() or not step.reading.encoding.isVisible()
    choose(sheet, "Old (hidden)")
    until(qtbot, lambda: shown(step)[0] == ["Name", "R1"])
    assert sheet.currentText() == "Old (hidden)"
    # A sheet that cannot be read leaves everything as it was, and says why.
    choose(sheet, "Notes")
    until(qtbot, lambda: not step.problem.isHidden())
    assert "book.xlsx" in step.problem.text()
    assert sheet.currentText() == "Old (hidden)"
    assert shown(step)[0] == ["Name", "R1"]


def test_detected_format_is_shown_and_can_be_overridden(qtbot, window, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("Titel;;\nID;R1;pIC50\nä;Me;5,5\nb;H;6,25\n".encode())
    step = creation_on(qtbot, window, path).table_pane
    reading = step.reading
    assert reading.encoding.currentText() == "found: UTF-8"
    assert reading.delimiter.currentText() == "found: semicolon"
    assert reading.decimal.currentText() == "found: comma"
    assert reading.header.currentText() == "found: above row 3"
    choose(reading.encoding, "Latin-1")
    until(qtbot, lambda: shown(step)[1][0] == "Ã¤")
    choose(reading.header, "row 1")
    until(qtbot, lambda: shown(step)[0][0] == "Titel")
    assert shown(step)[1][0] == "ID"
    assert reading.encoding.currentText() == "Latin-1"
    choose(reading.header, "no header")
    until(qtbot, lambda: shown(step)[0] == ["column 1", "column 2", "column 3"])
    choose(reading.header, "find it")
    until(qtbot, lambda: shown(step)[0] == ["ID", "R1", "pIC50"])
    choose(reading.decimal, "point")
    until(qtbot, lambda: step.raw is not None and step.raw.decimal == ".")
    choose(reading.encoding, "UTF-16")
    until(qtbot, lambda: "not UTF-16" in step.problem.text())
    assert reading.encoding.currentText() == "Latin-1"


def test_messy_tables_are_previewed_as_they_are_imported(qtbot, window, tmp_path):
    creation = creation_on(qtbot, window, small_table(tmp_path / "first.csv"))
    step = creation.table_pane
    for case in TEXT[:24:3]:
        before = step.raw
        creation.start_with(case.write(tmp_path))
        until(qtbot, lambda before=before: step.raw is not None and step.raw is not before and step.complete)
        assert tuple(shown(step)[0]) == step.raw.columns, case.name


def test_two_files_are_joined_by_their_ids(qtbot, window, tmp_path):
    first, second = tmp_path / "structures.smi", tmp_path / "act.csv"
    first.write_text("CCO A-1\nCCN A-2\nCCC A-3\n")
    second.write_text("Compound;IC50 (nM);Batch no\nA-1;5,5;x\na-2;6,5;y\nZ-9;7;z\n")
    step = creation_on(qtbot, window, first).table_pane
    assert step.views.isHidden()
    step.load_second(second)
    until(qtbot, lambda: step.loaded is not None and step.loaded.wanted.second is not None)
    assert step.raw.column("IC50 (nM)") == ("5.5", "6.5", "")
    assert step.join.summary.text() == "Without a partner: 1 of the first file, 1 of the second"
    assert step.join.own.currentText() == "Name"
    assert step.join.other.currentText() == "Compound"
    step.views.choose("alone")
    assert shown(step) == [["Only in structures.smi", "Only in act.csv"], ["A-3", "Z-9"]]
    choose(step.join.other, "Batch no")
    until(qtbot, lambda: "no id of column" in step.problem.text())
    assert "--" not in step.mend.text()
    assert step.join.other.currentText() == "Compound"
    step.join.remove.click()
    until(qtbot, lambda: step.raw is not None and "IC50 (nM)" not in step.raw.columns)
    assert step.views.isHidden()
    assert shown(step)[0] == list(step.raw.columns)


def test_empty_paste_is_refused_and_a_table_is_read(qtbot, window):
    window.new_campaign()
    creation = creation_of(window)
    QGuiApplication.clipboard().setText("")
    creation.table_pane.paste.click()
    until(qtbot, lambda: "nothing was pasted" in creation.table_pane.problem.text().lower())
    assert not creation.create_button.isEnabled()
    QGuiApplication.clipboard().setText("ID\tR1\tpIC50\na\tMe\t5\nb\tH\t6\n")
    creation.table_pane.paste.click()
    until(qtbot, lambda: creation.table_pane.complete)
    assert creation.table_pane.problem.isHidden()
    assert creation.table_pane.file.text() == "Pasted from the clipboard"
    until(qtbot, lambda: creation.complete)
    assert creation.focusWidget() is creation.at_once


def test_a_large_file_is_read_in_another_process_and_arrives_whole(tmp_path):
    path = tmp_path / "large.csv"
    lines = [f"C-{n},{'Me' if n % 2 else 'H'},{5 + n % 7 / 10}" for n in range(30_000)]
    path.write_text("ID,R1,pIC50\n" + "\n".join(lines) + "\n")
    place = Place(path)
    assert place.heavy
    messages = []
    loaded = load(Wanted(place), lambda fraction, message: messages.append(message))
    assert loaded.raw == place.read().raw
    assert len(loaded.raw) == 30_000
    assert messages
