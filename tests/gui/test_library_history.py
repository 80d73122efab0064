"""The Library page: what a table already had, filters, columns and layouts, which History has, too."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from assaypilot.gui.window.page import PageName
from tests.gui.helpers import endless, idle, quick_campaign, show, until, view, wait_for


def test_layouts_come_back_with_their_campaign(qtbot, open_window, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first, second = quick_campaign(tmp_path / "one"), quick_campaign(tmp_path / "two")
    window = open_window(first)
    window.library.arrangement.show("available", False)
    window.library.table.sortByColumn(window.library.model.place_of("id"), Qt.SortOrder.DescendingOrder)
    show(qtbot, window, PageName.HISTORY)
    window.history.arrangement.show("author", False)

    def shown(path):
        window.open_path(path)
        until(qtbot, lambda: view(window).path == path)
        for page in (PageName.HISTORY, PageName.LIBRARY):
            window.show_page(page)
            idle(qtbot, window)
        of_library = [column.key for column in window.library.arrangement.columns]
        of_history = [column.key for column in window.history.arrangement.columns]
        return of_library, of_history, int(window.library.model.rows[0])

    # Another campaign begins with the columns of the last one, not its order, and is then its own.
    assert shown(second) == (["id", "site0", "site1", "site2", "history", "measured"], ["sequence", "time", "text"], 0)
    window.library.arrangement.as_at_first()
    window.library.table.put_in_order(None)
    window.history.arrangement.as_at_first()
    assert shown(first) == (["id", "site0", "site1", "site2", "history", "measured"], ["sequence", "time", "text"], 17)
    assert shown(second)[0][-1] == "available"
    assert shown(second)[2] == 0
    window.help_and_preferences.forget_layout()
    assert shown(first)[0][-1] == "available"


def test_filters_and_the_selection_come_back_with_their_campaign(qtbot, open_window, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first, second = quick_campaign(tmp_path / "one"), quick_campaign(tmp_path / "two")
    window = open_window(first, page=PageName.CANDIDATES)
    window.candidates.which.choose("all")
    QTest.keyClicks(window.candidates.filter, "R1=Me")
    QTest.keyClick(window.candidates.filter, Qt.Key.Key_Return)
    idle(qtbot, window)
    kept = [int(row) for row in window.candidates.model.rows]
    assert len(kept) == 6
    window.candidates.select(kept[3])
    window.show_page(PageName.LIBRARY)
    QTest.keyClicks(window.library.filter, "CF3")
    QTest.keyClick(window.library.filter, Qt.Key.Key_Return)
    idle(qtbot, window)
    window.open_path(second)
    wait_for(qtbot, window, lambda: view(window).path == second)
    # They belong to the one campaign: another one begins with all its compounds.
    assert (window.library.filter.text(), window.candidates.filter.text()) == ("", "")
    assert window.candidates.which.key == "alive"
    assert window.library.model.rowCount() == 18
    window.close()
    again = open_window(first, page=PageName.LIBRARY)
    assert again.library.filter.text() == "CF3"
    assert again.library.shown.text() == "6 shown"
    show(qtbot, again, PageName.CANDIDATES)
    assert (again.candidates.filter.text(), again.candidates.which.key) == ("R1=Me", "all")
    assert [int(row) for row in again.candidates.model.rows] == kept
    assert again.candidates.table.selected_rows() == [kept[3]]
    again.help_and_preferences.forget_layout()
    assert (again.candidates.filter.text(), again.candidates.which.key) == ("", "alive")


def test_library_and_candidates_share_what_is_selected(qtbot, decided):
    decided.candidates.select(5)
    show(qtbot, decided, PageName.LIBRARY)
    assert decided.library.table.selected_rows() == [5]
    QTest.keyClick(decided.library.table, Qt.Key.Key_Down)
    show(qtbot, decided, PageName.CANDIDATES)
    assert decided.candidates.table.selected_rows() == [6]


def test_a_filter_finds_a_substructure_and_what_is_calculated(qtbot, open_window, tmp_path):
    window = open_window(quick_campaign(tmp_path, smiles=True))
    window.show_page(PageName.LIBRARY)
    page = window.library
    page.filter.setText("has:c1ccccc1 R1=Me")
    page.filter.settle()
    assert page.shown.text() == "Filtering…"
    assert page.model.rowCount() == 18
    idle(qtbot, window)
    assert page.model.rowCount() == 6
    page.filter.setText("has:c1ccccc1")  # known by now
    page.filter.settle()
    assert page.shown.text() == "18 shown"
    page.filter.setText("MW<100")
    page.filter.settle()
    idle(qtbot, window)
    assert page.model.rowCount() == 0
    page.filter.setText("MW 135..136")
    page.filter.settle()
    assert page.model.rowCount() == 18
    page.filter.setText("has:c1cc(")
    page.filter.settle()
    wait_for(qtbot, window, lambda: "structure can be read from c1cc(" in window.messages.text)
    assert page.model.rowCount() == 18
    assert page.shown.text() == "Not filtered"
    assert page.model.columns[page.model.place_of("mw")].text(0) == "135.2"


def test_a_substructure_is_stopped_and_never_lands_on_another_campaign(qtbot, open_window, tmp_path, monkeypatch):
    monkeypatch.setattr("assaypilot.gui.tables.filter.in_another_process", endless())
    (tmp_path / "other").mkdir()
    window, other = open_window(quick_campaign(tmp_path, smiles=True)), quick_campaign(tmp_path / "other")
    until(qtbot, lambda: window.session.view is not None)
    window.show_page(PageName.LIBRARY)
    page = window.library
    for stop in (window.work[window.session.tables].stop.click, lambda: window.open_path(other)):
        page.filter.setText("has:CN")
        page.filter.settle()
        until(qtbot, window.work[window.session.tables].isVisible)
        stop()
        until(qtbot, lambda: not window.session.tables.busy)
        assert page.model.rowCount() == 18
        page.filter.clear()
        page.filter.settle()
    idle(qtbot, window)
    assert page.model.rowCount() == 18
