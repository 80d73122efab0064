"""Table models under Qt's own tester; sorting and filtering by integers; hostile texts stay texts."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QLabel, QStyleOptionHeaderV2

from assaypilot.engine.domain.library import Library
from assaypilot.gui.candidates.candidate_rows import interval_text, probability_text
from assaypilot.gui.tables.filter import narrow, patterns
from assaypilot.gui.tables.rows import Coded, Column, RowsModel, plain_tip
from assaypilot.gui.tables.table import Table, as_clipboard
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import create_campaign, idle, plan_round, until

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


def test_numbers_as_they_are_read():
    assert interval_text(7.15, 7.57) == "7.15 – 7.57"
    assert interval_text(-np.inf, 7.0) == "below 7.00"
    assert interval_text(np.nan, 7.0) == ""
    assert [probability_text(p) for p in (0.0, 0.004, 0.41, 0.999, 1.0)] == [
        "< 0.01", "< 0.01", "0.41", "> 0.99", "> 0.99",
    ]  # fmt: skip


def test_copies_survive_tabs_and_line_ends():
    assert as_clipboard([["a", "b\tc"], ['say "x"', "d\ne"]]) == 'a\t"b\tc"\n"say ""x"""\t"d\ne"\n'


HOSTILE = ["<b>bold</b>", "CPD_$1_$2%", "<img src='file:///etc/passwd'>", "=1+1", "&amp;", "a & b", "'x", "$$$", "日本"]


def test_texts_from_tables_are_never_markup(qtbot, open_window, tmp_path):
    window = open_window()
    table = tmp_path / "hostile.csv"
    lines = ["ID,R1,R2,pIC50"]
    for number, name in enumerate(HOSTILE):
        lines.append(f'"{name}",<i>{number % 3}</i>,{("$x_1$", "H")[number % 2]},{6 + number / 10}')
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    create_campaign(qtbot, window, table, tmp_path / "hostile.assaypilot")
    plan_round(qtbot, window)
    for place in PageName:
        window.show_page(place)
        idle(qtbot, window)
    window.show_page(PageName.CANDIDATES)
    for compound in range(len(HOSTILE)):
        window.candidates.select(compound)
        assert window.candidates.panel.name.text() == HOSTILE[compound]
    until(qtbot, lambda: window.candidates.canvas.shown)
    rich = [one.text() for one in window.findChildren(QLabel) if one.textFormat() != Qt.TextFormat.PlainText]
    assert rich == []
    for model in (window.library.model, window.candidates.model, window.round.model):
        for row in range(model.rowCount()):
            for column in range(model.columnCount()):
                tip = str(model.data(model.index(row, column), Qt.ItemDataRole.ToolTipRole) or "")
                assert "<b>" not in tip
                assert "<img" not in tip


def test_tooltips_are_escaped_only_where_they_look_like_markup():
    assert plain_tip("7.5 – 8") == "7.5 – 8"
    assert plain_tip("<b>x</b>") == "<qt>&lt;b&gt;x&lt;/b&gt;</qt>"


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
NAMED = {
    "MW": np.array([300.0, 450.0, np.nan]),
    "n": np.array([0, 2, 0]),
    "Heavy atoms": np.array([9.0, 20.0, 30.0]),
}
CODED = {"Status": Coded(np.array([0, 3, 2]), ("undecided", "in", "out", "not estimable"))}
HAVING = {
    "c1": np.array([True, False, True]),
    "c1ccncc1": np.array([False, True, False]),
    "like 0.5 CCO": np.array([True, False, False]),
    "like 0.7 CCO": np.array([False, False, True]),
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # words, and substituents at a site
        ("me", [0, 1, 2]),
        ("R1=me", [0]),
        ("r1=Me R2=Cl", [0]),
        ("nothing", []),
        ("out", []),
        # estimates
        ("> 7", [1]),
        (">=6,0 <6.9", [0]),
        ("6..7", [0]),
        ("7,5 .. 6,9", [1]),
        ("R1=6..7", [2]),
        # other columns
        ("MW 400..500", [1]),
        ("MW=100..500 x-1", [0]),
        ("mw<400", [0]),
        ("heavy atoms>=20", [1, 2]),
        ("n=0", [0, 2]),
        ("status=out", [2]),
        ("status=not_estimable", [1]),
        ("Status=estim", [1]),
        ("status=in", []),
        # structures
        ("has:c1", [0, 2]),
        ("has=c1 6..7", [0]),
        ("has:c2", []),
        ("c1ccncc1", [1]),
        ("like:CCO", [0]),
        ("similar0.7:CCO x-1", []),
    ],
)
def test_a_filter_leaves_what_fits_all_its_parts(text, found):
    assert np.flatnonzero(narrow(text, LIBRARY, NUMBERS, NAMED, CODED, HAVING)).tolist() == found


def test_an_empty_filter_leaves_all_and_a_structure_is_told_from_a_word():
    assert narrow("", LIBRARY, NUMBERS) is None
    asked = patterns("has:c1ccncc1 x substructure=[OH] has:c1ccncc1 NC(=O)C R1=Me C-1 4-F-Ph like:n", LIBRARY)
    assert asked == ("c1ccncc1", "[OH]", "like 0.5 n", "NC(=O)C")


def test_words_are_found_in_long_libraries_as_in_short_ones(monkeypatch):
    ids = ["ab", "b", "Ba\nb", "", "aa", "cab"]
    monkeypatch.setattr("assaypilot.gui.tables.filter.CHUNK", 2)
    library = Library.listed(["R1"], [["x"]] * 6, ids=ids)
    for word in ("a", "b", "ab", "z", "ba"):
        mask = narrow(word, library, np.zeros(6))
        assert mask.tolist() == [word in name.casefold() for name in ids]
