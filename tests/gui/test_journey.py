"""The whole journey through the real widgets: a table, rounds, pasted results, undo, a decided set, an export."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLineEdit,
)
from pytestqt.qtbot import QtBot

from assaypilot.gui.window.main_window import MainWindow
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import (
    create_campaign,
    creation_of,
    idle,
    noisy,
    open_round,
    plan_round,
    show,
    small_table,
    status,
    true_values,
    until,
    view,
)


def paste_round(qtbot: QtBot, window: MainWindow, assay: Callable[[str], float]) -> int:
    """How many values were pasted as ids with values and written."""
    now, shown = status(window), open_round(window)
    block = [["ID", "pIC50"]]
    for item, back in zip(shown.items, shown.returned, strict=True):
        name = now.library.ids[item.compound]
        block += [[name, str(assay(name))] for _ in range(item.replicates - back)]
    QGuiApplication.clipboard().setText("\r\n".join("\t".join(row) for row in block) + "\r\n")
    window.show_page(PageName.ROUND)
    window.round.paste_button.click()
    until(qtbot, lambda: window.round.stack.currentWidget() is window.round.preview)
    assert "Nothing has been written yet" in window.round.preview.summary.text()
    before = status(window).measurements_used
    window.round.preview.write.click()
    until(qtbot, lambda: status(window).measurements_used == before + len(block) - 1)
    idle(qtbot, window)
    return len(block) - 1


def test_from_a_table_to_a_shortlist(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    assert window.stack.currentWidget() is window.start
    file = tmp_path / "small.assaypilot"
    create_campaign(qtbot, window, small_table(tmp_path / "small.csv"), file)
    assert file.is_file()
    assert window.page is window.library
    assert window.library.model.rowCount() == 18
    assert "2 values from before" in window.library.subtitle.text()
    assert window.strip.goal.text() == "All compounds within 0.5 of the best pIC50, cutoff soft by 0.5, 95 % sure"
    assert window.strip.primary.text() == "Plan round 1"
    assert "Saved" in window.footer.saved.text()

    assay = noisy(true_values(status(window)))
    window.strip.primary.click()
    until(qtbot, lambda: status(window).open_round is not None)
    assert window.page is window.round
    fixed = open_round(window).items

    # Undo of Plan withdraws the round, redo issues the same one again.
    window.actions_.undo.trigger()
    until(qtbot, lambda: status(window).open_round is None)
    window.actions_.redo.trigger()
    until(qtbot, lambda: status(window).open_round is not None)
    assert open_round(window).items == fixed
    idle(qtbot, window)

    first = paste_round(qtbot, window, assay)
    assert window.strip.primary.text().startswith("Close round")
    show(qtbot, window, PageName.CANDIDATES)
    counts = status(window).counts  # what is out already is not shown
    assert window.candidates.model.rowCount() == counts["in"] + counts["undecided"]
    until(qtbot, lambda: window.candidates.canvas.shown)

    assert "nter" in window.actions_.undo.text()
    window.actions_.undo.trigger()
    until(qtbot, lambda: status(window).measurements_used == 0)
    window.actions_.redo.trigger()
    until(qtbot, lambda: status(window).measurements_used == first)
    idle(qtbot, window)

    for _ in range(12):
        if status(window).finished:
            break
        if status(window).open_round is None:
            window.strip.primary.click()
            until(qtbot, lambda: status(window).open_round is not None)
            idle(qtbot, window)
        if open_round(window).missing:
            paste_round(qtbot, window, assay)
        assert open_round(window).items is not None
        window.strip.primary.click()
        assert window.closing.isVisible()
        window.closing.confirm.click()
        until(qtbot, lambda: status(window).open_round is None)
        idle(qtbot, window)
    now = status(window)
    assert now.finished
    truth = true_values(now)
    best = max(truth.values())
    inside = {now.library.ids[n] for n in range(18) if now.candidates.status[n] == 1}
    assert {name for name, value in truth.items() if value >= best - 0.5} <= inside
    assert all(truth[name] >= best - 1.0 for name in inside)
    assert window.strip.primary.text() == "Export shortlist…"
    assert window.page is window.candidates

    out = tmp_path / "shortlist.csv"
    window.exporting.to(out, "in")
    until(qtbot, out.exists)
    idle(qtbot, window)
    with out.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["ID"] for row in rows} == inside
    assert f"{len(inside)} compound" in window.messages.text

    window.show_page(PageName.HISTORY)
    until(qtbot, lambda: window.history.model.rowCount() == status(window).events)
    window.history.check.click()
    until(qtbot, lambda: "The file is consistent" in window.messages.text)


def test_reopening_shows_the_same(qtbot: QtBot, campaign: MainWindow, open_window: Callable[..., MainWindow]) -> None:
    plan_round(qtbot, campaign)
    head, path = status(campaign).head, view(campaign).path
    idle(qtbot, campaign)
    campaign.close()
    again = open_window(path)
    assert status(again).head == head
    assert again.page is again.round
    assert path in again.settings.recent


def test_the_keyboard_alone(qtbot: QtBot, campaign: MainWindow) -> None:
    window = campaign
    window.activateWindow()
    until(qtbot, window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    until(qtbot, lambda: status(window).open_round is not None)
    idle(qtbot, window)
    window.actions_.enter.trigger()
    assert window.page is window.round
    until(qtbot, lambda: QApplication.focusWidget() is window.round.table)
    table = window.round.table
    for count, text in enumerate(("7.1", "6.9", "7,4"), start=1):
        line = table.current_row()
        assert line is not None
        for sign in text:
            target = QApplication.focusWidget()
            QTest.keyClick(target, sign)
        editor = QApplication.focusWidget()
        assert isinstance(editor, QLineEdit)
        assert editor.text() == text
        QTest.keyClick(editor, Qt.Key.Key_Return)
        until(qtbot, lambda count=count: status(window).measurements_used == count)
        idle(qtbot, window)
        assert window.round.model.kept_text(line) == text.replace(",", ".").replace("7.1", "7.10").replace(
            "6.9", "6.90"
        ).replace("7.4", "7.40") or window.round.model.kept_text(line) == text.replace(",", ".")
        assert table.current_row() != line
    for place, key in enumerate((Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3, Qt.Key.Key_4)):
        QTest.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)
        assert window.stack.currentIndex() == place
    QTest.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.focusWidget() is window.candidates.filter
    QTest.keyClicks(window.candidates.filter, "R1=Cl")
    until(qtbot, lambda: window.candidates.model.rowCount() == 6)
    QTest.keyClick(window.candidates.filter, Qt.Key.Key_Escape)
    until(qtbot, lambda: window.candidates.model.rowCount() == 18)
    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    until(qtbot, lambda: status(window).measurements_used == 2)
    assert PageName.LIBRARY == 0


def test_a_table_that_says_all_is_created_and_planned_from_the_first_step(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = small_table(tmp_path / "small.csv", smiles=True)
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_, **__: ([str(table)], ""))
    window.start.new_button.click()
    creation = creation_of(window)
    assert not creation.at_once.isEnabled()
    until(qtbot, creation.at_once.isEnabled)
    creation.at_once.click()
    until(qtbot, lambda: window.session.view is not None and window.round.shown is not None, 60_000)
    assert window.page is window.round
    assert open_round(window).measurements > 0
