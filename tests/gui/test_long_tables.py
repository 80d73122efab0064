"""Long tables: put in order, narrowed and copied off the window's thread, and what came too late never lands."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QItemSelection, QItemSelectionModel, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication

from assaypilot.gui.session.session import Session
from assaypilot.gui.structures.drawing import Structures
from assaypilot.gui.tables import ordering
from assaypilot.gui.tables import table as tables
from assaypilot.gui.tables.ordering import order_of, text_ranks
from assaypilot.gui.tables.rows import AT_ONCE, Coded, Column, RowsModel
from assaypilot.gui.tables.table import Table
from tests.gui.helpers import until

SIZE = AT_ONCE + 1
ASCENDING, DESCENDING = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal
ROWS = QItemSelectionModel.SelectionFlag.Rows


@pytest.fixture
def session(qapp):
    made = Session()
    yield made
    made.shut()


def columns(values, names=("low", "high")):
    codes = (np.arange(len(values)) % len(names)).astype(np.int8)
    return [
        Column("id", "ID", lambda row: f"C-{row}", lambda: np.arange(len(values))),
        Column("value", "Value", lambda row: f"{values[row]:.0f}", lambda: values, number=True),
        Column("word", "Word", lambda row: names[codes[row]], lambda: codes, coded=lambda: Coded(codes, names)),
    ]


def long_table(qtbot, session):
    """A table of which the last rows have the lowest values."""
    model = RowsModel()
    QAbstractItemModelTester(model, FATAL)
    model.later = session.arrange
    values = np.arange(SIZE, 0, -1).astype(np.float64)
    table = Table(model, name="long")
    qtbot.addWidget(table)
    table.resize(500, 300)
    table.show()
    model.fill(columns(values), SIZE)
    return model, table, values


def test_widths_follow_the_texts_and_their_size_and_a_filter_asks_for_none(qtbot):
    asked, texts = list[int](), ["short"] * 50

    def text(row):
        asked.append(row)
        return texts[row]

    model = RowsModel()
    table = Table(model, name="widths")
    qtbot.addWidget(table)
    model.fill([Column("id", "ID", text, lambda: np.arange(50)), Column("no", "No.", str)], 50)
    narrow = table.columnWidth(0)
    assert asked
    asked.clear()
    model.only(np.arange(50) < 3)
    assert (asked, table.columnWidth(0)) == ([], narrow)
    large = table.font()
    large.setPointSizeF(2 * large.pointSizeF())
    table.setFont(large)
    model.only(None)
    assert table.columnWidth(0) > narrow
    table.setFont(tables.tabular(QApplication.font()))
    texts[7] = "a much longer text"
    model.fill([Column("id", "ID", text, lambda: np.arange(50)), Column("no", "No.", str)], 50)
    assert table.columnWidth(0) > narrow


def test_long_table_is_sorted_off_thread_and_keeps_its_selection(qtbot, session):
    model, table, _ = long_table(qtbot, session)
    table.choose(7)
    part = QItemSelection(model.index(100, 0), model.index(109, 0))
    table.selectionModel().select(part, QItemSelectionModel.SelectionFlag.Select | ROWS)
    table.sortByColumn(1, ASCENDING)
    assert model.busy
    assert model.rows[0] == 0
    assert model.wanted_by == ("value", ASCENDING)
    until(qtbot, lambda: not model.busy)
    assert model.rows[:3].tolist() == [SIZE - 1, SIZE - 2, SIZE - 3]
    assert table.current_row() == 7
    assert sorted(table.selected_rows()) == [7, *range(100, 110)]
    model.only(np.arange(SIZE) < 3)
    assert model.rows.tolist() == [2, 1, 0]


def test_sort_of_replaced_data_is_dropped(qtbot, session):
    model, table, _ = long_table(qtbot, session)
    go = threading.Event()
    session.arrange("hold", lambda report: go.wait(5), lambda _: None, lambda: None)
    table.sortByColumn(1, ASCENDING)
    rising = np.arange(SIZE).astype(np.float64)
    model.fill([columns(rising)[1]], SIZE)  # another campaign was opened
    go.set()
    until(qtbot, lambda: not session.tables.busy)
    assert model.rows[:2].tolist() == [0, 1]
    assert not model.busy


def test_escape_stops_an_order_and_the_heading_says_so(qtbot, session):
    model, table, _ = long_table(qtbot, session)
    go = threading.Event()
    session.arrange("hold", lambda report: go.wait(5), lambda _: None, lambda: None)
    table.sortByColumn(1, ASCENDING)
    QTest.keyClick(table, Qt.Key.Key_Escape)
    assert not model.busy
    assert table.horizontalHeader().sortIndicatorSection() == -1
    go.set()
    until(qtbot, lambda: not session.tables.busy)
    assert model.sorted_by is None
    assert model.rows[0] == 0


def test_failed_sort_is_reported_and_changes_nothing(qtbot, session):
    model, table, values = long_table(qtbot, session)
    broken = []
    session.broke.connect(lambda error, label: broken.append((type(error), label)))

    def fail():
        raise ZeroDivisionError

    model.fill([Column("bad", "Bad", str, fail), columns(values)[1]], SIZE)
    table.sortByColumn(0, ASCENDING)
    until(qtbot, lambda: not model.busy)
    assert broken == [(ZeroDivisionError, "Sorting by Bad")]
    assert model.sorted_by is None
    assert table.horizontalHeader().sortIndicatorSection() == -1


def test_many_rows_are_copied_off_thread_and_too_many_are_refused(qtbot, session, monkeypatch):
    _, table, _ = long_table(qtbot, session)
    said = []
    table.message.connect(said.append)
    QGuiApplication.clipboard().setText("before")
    assert table.copy() == SIZE
    assert QGuiApplication.clipboard().text() == "before"
    until(qtbot, lambda: bool(said))
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "ID\tValue\tWord"
    assert lines[2] == f"C-1\t{SIZE - 1}\thigh"
    assert len(lines) == SIZE + 1
    monkeypatch.setattr(tables, "MOST_COPIED", 1_000)
    assert table.copy() == 0
    assert "too many" in said[-1]


def test_keys_choose_rows_however_far_they_lead(qtbot, session):
    _, table, _ = long_table(qtbot, session)
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    table.choose(5)
    QTest.keyClick(table, Qt.Key.Key_Down, shift)
    assert table.selected_rows() == [5, 6]
    table.choose(5)
    QTest.keyClick(table, Qt.Key.Key_End, control | shift)
    assert len(table.selected_rows()) == SIZE - 5
    QTest.keyClick(table, Qt.Key.Key_Home, control)
    assert table.selected_rows() == [0]
    QTest.keyClick(table, Qt.Key.Key_A, control)
    assert len(table.selected_places()) == SIZE
    QTest.keyClicks(table, "c-3")
    assert table.currentIndex().row() == 0


def test_structures_scrolled_past_are_not_drawn(qapp, session, monkeypatch):
    waiting = []

    class Pool:
        def start(self, job):
            waiting.append(job)

    def draw():
        [job] = waiting  # one at a time: the next begins when the window has its turn
        waiting.clear()
        job()

    monkeypatch.setattr("assaypilot.gui.structures.drawing.drawing_pool", Pool)
    monkeypatch.setattr("assaypilot.gui.structures.drawing.WAITING", 3)
    monkeypatch.setattr("assaypilot.gui.structures.drawing.AT_ONCE", 2)
    structures = Structures()
    structures.use(("C", "CC", "CCC", "CCCC", "CCCCC"))
    size = QSize(60, 40)

    def shown(*wanted):
        return [structures.picture(smiles, size, 1.0) is not None for smiles in wanted]

    def painted(*wanted):
        shown(*wanted)
        qapp.processEvents()

    shown("C", "CC", "CCC", "CCCC", "CCCCC")
    assert not waiting  # a table is painted first
    qapp.processEvents()
    draw()  # what came into sight at once is drawn from the top
    assert shown("CCC", "CCCC", "CCCCC") == [True, True, False]
    draw()
    assert shown("CCCCC") == [True]
    assert not waiting  # nothing of "CC", which was scrolled past before it was drawn
    painted("C")
    painted("CCCCCC")
    painted("CCCCCCC", "CCCCCCCC")
    draw()
    draw()  # those of the latest painting before the one that waits
    assert shown("CCCCCC", "CCCCCCC", "CCCCCCCC") == [False, True, True]
    draw()
    painted("CC")
    structures.use(("O",))  # another campaign: what is being drawn never lands there
    draw()
    assert not waiting
    assert shown("C") == [False]


def plain_key(text):
    """What is compared, sign by sign: a number as one sign below all others."""
    parts = []
    digits = ""
    for sign in text.casefold() + "\0":
        if sign in "0123456789":
            digits += sign
            continue
        if digits:
            parts.append((0, int(digits), ""))
            digits = ""
        parts.append((1, 0, sign))
    return parts[:-1]


TEXTS = st.lists(st.text(alphabet="aB019 -ßé中", max_size=9), min_size=1, max_size=30)


@given(TEXTS, st.booleans(), st.booleans())
def test_texts_are_ordered_as_their_plain_keys_are(texts, long, chunked):
    if long:  # what differs stands far behind
        texts = ["x" * (ordering.WIDTH // 2) + text for text in texts]
    before = ordering.CHUNK
    ordering.CHUNK = 3 if chunked else before
    try:
        ranks = text_ranks(texts).tolist()
    finally:
        ordering.CHUNK = before
    keys = [plain_key(text) for text in texts]
    places = sorted({repr(key): key for key in keys}.values())
    assert ranks == [places.index(key) for key in keys]


@given(st.lists(st.integers(-3, 3) | st.integers(-(10**9), 10**9), max_size=30), st.booleans())
def test_numbers_are_ordered_stably_both_ways(numbers, down):
    expected = sorted(range(len(numbers)), key=lambda place: -numbers[place] if down else numbers[place])
    assert order_of(np.array(numbers, dtype=np.int64), down).tolist() == expected
    assert order_of(np.array(numbers, dtype=np.float64), down).tolist() == expected
