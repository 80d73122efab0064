"""Table models under Qt's own tester; sorting and filtering by integers; hostile texts stay texts."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QStyleOptionHeaderV2

from assaypilot.engine.domain.library import Library
from assaypilot.gui.tables.filter import narrow, patterns
from assaypilot.gui.tables.rows import Column, RowsModel
from assaypilot.gui.tables.table import Table, as_clipboard
from assaypilot.gui.widgets.text import three_digits
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import idle, plan_round

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


def test_every_model_keeps_qts_rules(qtbot, campaign):
    window = campaign
    models = [window.library.model, window.round.model, window.candidates.model, window.history.model]
    models.append(window.round.preview.model)
    testers = [QAbstractItemModelTester(model, FATAL) for model in models]
    plan_round(qtbot, window)
    for place in PageName:
        window.show_page(place)
    idle(qtbot, window)
    for model in models:
        for column in range(model.columnCount()):
            for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
                model.sort(column, order)
        model.only(np.arange(model.size) % 2 == 0)
        model.only(None)
    assert len(testers) == 5


def small_model():
    values = np.array([2.0, np.nan, 1.0, 2.0])
    model = RowsModel()
    model.fill(
        [
            Column("name", "Name", lambda row: f"n{row}", lambda: np.arange(4)),
            Column("value", "Value", lambda row: f"{values[row]}", lambda: values, number=True),
        ],
        4,
    )
    return model


def test_sorting_is_stable_and_puts_unknown_numbers_last(qapp):
    model = small_model()
    model.sort(1, Qt.SortOrder.AscendingOrder)
    assert model.rows.tolist() == [2, 0, 3, 1]
    model.sort(1, Qt.SortOrder.DescendingOrder)
    assert model.rows.tolist() == [0, 3, 2, 1]
    model.only(np.array([True, True, False, True]))
    assert model.rows.tolist() == [0, 3, 1]


def test_copies_survive_tabs_and_line_ends():
    assert as_clipboard([["a", "b\tc"], ['say "x"', "d\ne"]]) == 'a\t"b\tc"\n"say ""x"""\t"d\ne"\n'


@pytest.mark.parametrize("size", [0, 1])
def test_small_models(qapp, size):
    model = RowsModel()
    QAbstractItemModelTester(model, FATAL)
    model.fill([Column("a", "A", str, lambda: np.arange(size))], size)
    model.sort(0)
    assert model.rowCount() == size
    assert model.as_text()[0] == ["A"]


def test_any_spelling_of_hydrogen_reads_and_is_found_as_h():
    library = Library.listed(["R1"], [["[H]*"], ["[H][*:1]"], ["Me"]])
    fits = narrow("R1=H", library, np.zeros(3))
    assert fits.tolist() == [True, True, False]


def test_headings_are_cut_line_by_line(qtbot):
    model = RowsModel()
    model.fill([Column("a", "P(within\n0.75)", lambda row: "0.5"), Column("b", "x", lambda row: "")], 1)
    table = Table(model, name="test")
    qtbot.addWidget(table)
    header = table.horizontalHeader()

    def shown(width):
        header.resizeSection(0, width)
        option = QStyleOptionHeaderV2()
        header.initStyleOption(option)
        header.initStyleOptionForIndex(option, 0)
        return option.text

    assert shown(200) == "P(within\n0.75)"
    first, second = shown(50).split("\n")
    assert first.endswith("…")
    assert second == "0.75)"


LIBRARY = Library.listed(["R1", "R2"], [["Me", "Cl"], ["OMe", "H"], ["6..7", "H"]], ids=["x-1", "x-2", "me-3"])
NUMBERS = np.array([6.5, 7.2, np.nan])


def test_empty_filter_leaves_all_and_structures_are_not_read_as_words():
    assert narrow("", LIBRARY, NUMBERS) is None
    asked = patterns("has:c1ccncc1 x substructure=[OH] has:c1ccncc1 NC(=O)C R1=Me C-1 4-F-Ph like:n", LIBRARY)
    assert asked == ("c1ccncc1", "[OH]", "like 0.5 n", "NC(=O)C")


def test_numbers_of_three_digits_have_no_exponent():
    shown = [three_digits(value) for value in (1009.6, 0.01234, 26.0, 1_234_567.0, -0.5)]
    assert shown == ["1010", "0.0123", "26", "1230000", "-0.5"]
