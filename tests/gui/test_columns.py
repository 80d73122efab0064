"""Columns of the candidates: chosen, moved, remembered and copied; properties calculated when somebody looks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from assaypilot.gui.tables import properties
from assaypilot.gui.tables.tools import Limits, with_limits
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import idle, quick_campaign, rows_of, status, view, wait_for


def test_columns_order_widths_and_sorting_are_remembered(qtbot, decided, open_window, settings):
    page = decided.candidates
    page.table.sortByColumn(page.model.place_of("estimate"), Qt.SortOrder.DescendingOrder)
    page.arrangement.show("interval", False)
    page.arrangement.show("available", True)
    page.arrangement.show("id", False)  # always there
    header = page.table.horizontalHeader()
    header.moveSection(header.visualIndex(page.model.place_of("available")), 1)
    page.arrangement._widened("id", 199)
    page.table.widths.take_over({**page.table.widths.own, "id": 199})
    expected = [column.key for column in page.arrangement.columns]
    assert expected[:3] == ["status", "available", "id"]
    assert "interval" not in expected
    order = page.model.rows.tolist()
    path = view(decided).path
    decided.close()
    again = open_window(path, page=PageName.CANDIDATES)
    table = again.candidates.table
    assert [column.key for column in again.candidates.arrangement.columns] == expected
    assert again.candidates.model.rows.tolist() == order
    assert table.columnWidth(again.candidates.model.place_of("id")) == 199
    again.candidates.arrangement.as_at_first()
    assert again.candidates.arrangement.untouched
    keys = [column.key for column in again.candidates.arrangement.columns]
    assert keys[:2] == ["status", "id"]
    assert "available" not in keys
    assert settings.values("table/candidates")["shown"] == {}


def test_the_menu_of_columns_stays_open_and_works_by_keyboard(qtbot, decided):
    page = decided.candidates
    page.columns_button.click()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert "decided" not in [column.key for column in page.arrangement.columns]
    action = next(one for one in menu.actions() if one.text() == "Decided")
    menu.setActiveAction(action)
    QTest.keyClick(menu, Qt.Key.Key_Space)
    assert menu.isVisible()
    assert "decided" in [column.key for column in page.arrangement.columns]
    menu.close()


@pytest.mark.slow
def test_properties_are_calculated_on_demand(qtbot, open_window, tmp_path):
    window = open_window(quick_campaign(tmp_path, smiles=True), page=PageName.CANDIDATES)
    page = window.candidates
    assert "mw" not in [column.key for column in page.arrangement.columns]
    page.arrangement.show("mw", True)
    place = page.model.place_of("mw")
    assert page.model.columns[place].text(0) == "…"
    idle(qtbot, window)
    assert page.model.columns[page.model.place_of("mw")].text(0) == "135.2"  # N-methylbenzamide, C8H9NO
    assert page.arrangement.visible("mw")
    bar = page.table.horizontalScrollBar()
    assert bar.value() > 0 or bar.maximum() == 0  # who asks for a column sees it
    before = page.tools.properties(status(window).library)
    page.refresh(view(window), opened=False)
    idle(qtbot, window)
    assert before is not None
    assert page.tools.properties(status(window).library) is before
    # It goes out where it stands, and with all columns, too.
    header = page.table.horizontalHeader()
    header.moveSection(header.visualIndex(page.model.place_of("mw")), 1)
    for as_columns in (True, False):
        path = tmp_path / f"x{as_columns}.csv"
        window.exporting.to(path, "screen", as_columns=as_columns)
        idle(qtbot, window)
        rows = rows_of(path)
        assert len(rows) == page.model.rowCount() == 18
        assert {row["MW"] for row in rows} == {"135.2"}
        assert as_columns or {row["HBD"] for row in rows} == {"1"}
        assert (list(rows[0]).index("MW") == 1) is as_columns
        assert ("TPSA" in rows[0]) is not as_columns


def test_alerts_are_searched_for_on_demand(qtbot, open_window, tmp_path):
    window = open_window(quick_campaign(tmp_path, smiles=True))
    window.show_page(PageName.CANDIDATES)
    page, library = window.candidates, status(window).library
    page.filter.setText("MW<300")
    wait_for(qtbot, window, lambda: page.tools.properties(library) is not None)
    known = page.tools.properties(library)
    assert known.alerts is None
    assert page.model.rowCount() == 18
    assert page.model.columns[page.model.place_of("alert")].text(0) == "…"
    assert "alert" not in properties.exported(status(window), known)
    page.filter.setText("")
    page.arrangement.show("alert", True)
    idle(qtbot, window)
    known = page.tools.properties(library)
    assert known.alerts == ("",) * len(library)  # nothing about N-methylbenzamide
    assert page.model.columns[page.model.place_of("alert")].text(0) == ""
    assert "alert" in properties.exported(status(window), known)


def test_first_columns_stay_while_the_table_scrolls_sideways(qtbot, decided):
    table = decided.candidates.table
    frozen = table.frozen
    assert frozen is not None
    decided.resize(700, 600)
    for key in ("mw", "clogp", "tpsa", "measured", "decided", "available"):
        decided.candidates.arrangement.show(key, True)
    idle(qtbot, decided)
    bar = table.horizontalScrollBar()
    assert bar.maximum() > 0
    bar.setValue(0)
    assert not frozen.isVisible()
    bar.setValue(bar.maximum())
    keys = [table.rows_model.columns[place].key for place in frozen.leading()]
    assert keys[:2] == ["status", "id"]
    assert frozen.isVisible()
    assert frozen.columnViewportPosition(frozen.leading()[0]) == 0
    bar.setValue(0)
    assert not frozen.isVisible()


def test_sliders_write_the_filter_and_follow_it(qtbot, decided):
    page = decided.candidates
    decided.show_page(PageName.CANDIDATES)
    page.which.choose("all")
    estimate = status(decided).candidates.estimate
    opened = page.tools.open_sliders()
    low, high = opened.rows["pIC50"]
    low.setValue(50)
    page.filter.settle()
    level = float(page.filter.text().removeprefix("pIC50>="))
    assert set(page.model.rows.tolist()) == set(np.flatnonzero(estimate >= level).tolist())
    assert 0 < page.model.rowCount() < len(estimate)
    high.setValue(75)
    page.filter.settle()
    assert page.filter.text().startswith("pIC50:")
    assert ".." in page.filter.text()
    between = page.model.rowCount()
    opened.close()
    page.filter.setText(f"C- {page.filter.text()}")
    again = page.tools.open_sliders()
    assert [slider.value() for slider in again.rows["pIC50"]] == [50, 75]
    assert "95 % interval" not in again.rows
    assert page.model.rowCount() == between
    for slider, value in zip(again.rows["pIC50"], (0, 100), strict=True):
        slider.setValue(value)
    page.filter.settle()
    assert page.filter.text() == "C-"
    again.rows["P(within 0.5)"][0].setValue(50)
    page.filter.settle()
    chance = status(decided).candidates.probability_within_epsilon
    level = float(page.filter.text().removeprefix("C- P(within 0.5)>="))
    assert set(page.model.rows.tolist()) == set(np.flatnonzero(chance >= level).tolist())
    again.close()


@given(
    st.text("abP(1 .)%", min_size=1, max_size=8).map(lambda name: " ".join(name.split())).filter(bool),
    st.floats(-1e6, 1e6),
    st.floats(0.01, 1e6),
    st.integers(0, 100),
    st.integers(0, 100),
)
def test_sliders_read_what_they_wrote(name, low, span, one, other):
    limits = Limits(name, low, low + span)
    first, last = sorted((one, other))
    text = with_limits("R1=Me", limits, first, last)
    assert limits.steps(text) == (first, last)
    assert with_limits(text, limits, 0, 100) == "R1=Me"
