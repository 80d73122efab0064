"""Table models under Qt's own tester; sorting and filtering by integers; hostile texts stay texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QLabel, QStyleOptionHeaderV2
from pytestqt.qtbot import QtBot

from assaypilot.engine.domain.library import Library
from assaypilot.gui.candidates.candidate_rows import interval_text, probability_text
from assaypilot.gui.tables.filter import narrow, patterns
from assaypilot.gui.tables.rows import Coded, Column, RowsModel, plain_tip, text_ranks
from assaypilot.gui.tables.table import Table, as_clipboard
from assaypilot.gui.window.main_window import MainWindow
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import create_campaign, idle, plan_round, until

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


def test_every_model_keeps_qts_rules(qtbot: QtBot, campaign: MainWindow) -> None:
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


def small_model() -> RowsModel:
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


def test_sorting_is_stable_and_puts_unknown_numbers_last(qapp: QApplication) -> None:
    model = small_model()
    model.sort(1, Qt.SortOrder.AscendingOrder)
    assert model.rows.tolist() == [2, 0, 3, 1]
    model.sort(1, Qt.SortOrder.DescendingOrder)
    assert model.rows.tolist() == [0, 3, 2, 1]
    model.only(np.array([True, True, False, True]))
    assert model.rows.tolist() == [0, 3, 1]


def test_a_selection_stays_with_its_row(qapp: QApplication) -> None:
    model = small_model()
    held = QPersistentModelIndex(model.index(2, 0))
    model.sort(1, Qt.SortOrder.AscendingOrder)
    assert held.row() == 0
    assert model.source(held) == 2


def test_names_are_ordered_as_people_order_them() -> None:
    ranks = text_ranks(["BZ-10", "BZ-9", "bz-1", "A"])
    assert ranks.tolist() == [3, 2, 1, 0]


def test_filters() -> None:
    library = Library.listed(["R1", "R2"], [["Me", "Cl"], ["OMe", "H"], ["Me", "H"]], ids=["x-1", "x-2", "me-3"])
    numbers = np.array([7.0, np.nan, 8.0])

    def found(text: str) -> list[int] | None:
        mask = narrow(text, library, numbers)
        return None if mask is None else np.flatnonzero(mask).tolist()

    assert found("") is None
    assert found("me") == [0, 1, 2]
    assert found("R1=me") == [0, 2]
    assert found("r1=Me R2=Cl") == [0]
    assert found("> 7.5") == [2]
    assert found(">=7,0 <7.9") == [0]
    assert found("nothing") == []


def test_numbers_as_they_are_read() -> None:
    assert interval_text(7.15, 7.57) == "7.15 – 7.57"
    assert interval_text(-np.inf, 7.0) == "below 7.00"
    assert interval_text(np.nan, 7.0) == ""
    assert [probability_text(p) for p in (0.0, 0.004, 0.41, 0.999, 1.0)] == [
        "< 0.01", "< 0.01", "0.41", "> 0.99", "> 0.99",
    ]  # fmt: skip


def test_copies_survive_tabs_and_line_ends() -> None:
    assert as_clipboard([["a", "b\tc"], ['say "x"', "d\ne"]]) == 'a\t"b\tc"\n"say ""x"""\t"d\ne"\n'


HOSTILE = ["<b>bold</b>", "CPD_$1_$2%", "<img src='file:///etc/passwd'>", "=1+1", "&amp;", "a & b", "'x", "$$$", "日本"]


def test_texts_from_tables_are_never_markup(
    qtbot: QtBot, open_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
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


def test_tooltips_are_escaped_only_where_they_look_like_markup() -> None:
    assert plain_tip("7.5 – 8") == "7.5 – 8"
    assert plain_tip("<b>x</b>") == "<qt>&lt;b&gt;x&lt;/b&gt;</qt>"


@pytest.mark.parametrize("size", [0, 1])
def test_small_models(qapp: QApplication, size: int) -> None:
    model = RowsModel()
    QAbstractItemModelTester(model, FATAL)
    model.fill([Column("a", "A", str, lambda: np.arange(size))], size)
    model.sort(0)
    assert model.rowCount() == size
    assert model.as_text()[0] == ["A"]


def test_any_spelling_of_hydrogen_reads_and_is_found_as_h() -> None:
    library = Library.listed(["R1"], [["[H]*"], ["[H][*:1]"], ["Me"]])
    fits = narrow("R1=H", library, np.zeros(3))
    assert fits is not None
    assert fits.tolist() == [True, True, False]


def test_headings_are_cut_line_by_line(qtbot: QtBot) -> None:
    model = RowsModel()
    model.fill([Column("a", "P(within\n0.75)", lambda row: "0.5"), Column("b", "x", lambda row: "")], 1)
    table = Table(model, name="test")
    qtbot.addWidget(table)
    header = table.horizontalHeader()

    def shown(width: int) -> str:
        header.resizeSection(0, width)
        option = QStyleOptionHeaderV2()
        header.initStyleOption(option)
        header.initStyleOptionForIndex(option, 0)
        return option.text

    assert shown(200) == "P(within\n0.75)"
    first, second = shown(50).split("\n")
    assert first.endswith("…")
    assert second == "0.75)"


def test_filters_know_ranges_columns_and_words_with_blanks() -> None:
    library = Library.listed(["R1"], [["Me"], ["Cl"], ["6..7"]], ids=["x-1", "x-2", "n 3"])
    numbers = np.array([6.5, 7.2, np.nan])
    named = {
        "MW": np.array([300.0, 450.0, np.nan]),
        "n": np.array([0, 2, 0]),
        "Heavy atoms": np.array([9.0, 20.0, 30.0]),
    }
    coded = {"Status": Coded(np.array([0, 3, 2]), ("undecided", "in", "out", "not estimable"))}

    having = {
        "c1": np.array([True, False, True]),
        "c1ccncc1": np.array([False, True, False]),
        "like 0.5 CCO": np.array([True, False, False]),
        "like 0.7 CCO": np.array([False, False, True]),
    }

    def found(text: str) -> list[int] | None:
        mask = narrow(text, library, numbers, named, coded, having)
        return None if mask is None else np.flatnonzero(mask).tolist()

    assert found("6..7") == [0]
    assert found("7,5 .. 6,9") == [1]
    assert found("MW 400..500") == [1]
    assert found("MW=100..500 x-1") == [0]
    assert found("mw<400") == [0]
    assert found("heavy atoms>=20") == [1, 2]
    assert found("n=0") == [0, 2]
    assert found("R1=6..7") == [2]
    assert found("status=out") == [2]
    assert found("status=not_estimable") == [1]
    assert found("Status=estim") == [1]
    assert found("status=in") == []
    assert found("has:c1") == [0, 2]
    assert found("has=c1 6..7") == [0]
    assert found("has:c2") == []
    assert found("out") == []
    assert found("c1ccncc1") == [1]
    assert found("like:CCO") == [0]
    assert found("similar0.7:CCO x-1") == []
    asked = patterns("has:c1ccncc1 x substructure=[OH] has:c1ccncc1 NC(=O)C R1=Me C-1 4-F-Ph like:n", library)
    assert asked == ("c1ccncc1", "[OH]", "like 0.5 n", "NC(=O)C")


def test_words_are_found_in_long_libraries_as_in_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = ["ab", "b", "Ba\nb", "", "aa", "cab"]
    monkeypatch.setattr("assaypilot.gui.tables.filter.CHUNK", 2)
    library = Library.listed(["R1"], [["x"]] * 6, ids=ids)
    for word in ("a", "b", "ab", "z", "ba"):
        mask = narrow(word, library, np.zeros(6))
        assert mask is not None
        assert mask.tolist() == [word in name.casefold() for name in ids]
