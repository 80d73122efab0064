"""A new campaign on one screen: what it shows at once, and the whole journey by keys alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLabel, QMenu
from pytestqt.qtbot import QtBot

from assaypilot.engine.domain.measurements import Result
from assaypilot.gui.tables.rows import SMILES
from assaypilot.gui.window.main_window import MainWindow
from assaypilot.gui.window.page import PageName
from assaypilot.gui.wizard.new_campaign import AFTER, NewCampaign
from tests.gui.helpers import goal_of, idle, noisy, open_round, small_table, status, true_values, until
from tests.gui.imports import wizard_on
from tests.gui.test_keys_alone import ALT, CONTROL, Key, back, keyboard, press


def roles(wizard: NewCampaign) -> dict[str, str]:
    """What stands on top of each column, by the column's name."""
    model = wizard.table_step.model
    texts = [str(model.headerData(n, Qt.Orientation.Horizontal)) for n in range(model.columnCount())]
    return {text.split("\n")[0]: text.split("\n")[-1] for text in texts}


def choose_role(wizard: NewCampaign, column: str, role: str) -> str:
    """Choose in the menu below a heading; return the role that was ticked there."""
    wizard.table_step.table.horizontalHeader().sectionClicked.emit(list(roles(wizard)).index(column))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    offered = {action.text(): action for action in menu.actions()}
    (before,) = [text for text, action in offered.items() if action.isChecked()]
    offered[role].trigger()
    menu.close()
    return before


def test_what_was_understood_stands_beside_the_goal_and_roles_on_top_of_columns(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    wizard = wizard_on(qtbot, window, small_table(tmp_path / "small.csv", smiles=True))
    goal = goal_of(qtbot, wizard)
    until(qtbot, lambda: wizard.complete)
    table = wizard.table_step.table
    assert all(part.isVisible() for part in (table, goal.epsilon, wizard.columns_step.panel.facts, wizard.at_once))
    heads = roles(wizard)
    assert heads["ID"] == "ID"
    assert heads["SMILES"] == "structure"
    assert heads["R1"] == heads["R2"] == "site"
    assert heads["pIC50"] == "pIC50"
    choose_role(wizard, "ID", "All columns…")
    assert wizard.columns_step.form.isVisible()
    assert not table.isVisible()


def test_role_of_a_column_is_chosen_below_its_heading(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "more.csv"
    lines = small_table(tmp_path / "small.csv").read_text(encoding="utf-8").splitlines()
    path.write_text(
        "\n".join([f"{lines[0]},Score", *(f"{line},{10 + n}" for n, line in enumerate(lines[1:]))]), encoding="utf-8"
    )
    wizard = wizard_on(qtbot, window, path)
    until(qtbot, lambda: wizard.columns_step.complete and bool(roles(wizard)))
    for column, role, head in (("Score", "Cost", "cost"), ("Score", "Measured value", "Score")):
        assert choose_role(wizard, column, role) != role
        until(qtbot, lambda column=column, head=head: roles(wizard)[column] == head)
        assert wizard.table_step.table.isVisible()
    assert roles(wizard)["pIC50"] == "pIC50"  # measured, too
    assert choose_role(wizard, "Score", "Not used") == "Measured value"
    until(qtbot, lambda: roles(wizard)["Score"] == "not used")
    assert choose_role(wizard, "R2", "Not used") == "Substituent"
    until(qtbot, lambda: roles(wizard)["R2"] == "not used")


def test_an_unused_column_is_called_so(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "more.csv"
    lines = small_table(tmp_path / "small.csv").read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([f"{lines[0]},Notebook page", *(f"{line},x" for line in lines[1:])]), encoding="utf-8")
    wizard = wizard_on(qtbot, window, path)
    until(qtbot, lambda: wizard.columns_step.complete)
    heads = roles(wizard)
    assert heads["Notebook page"] == "not used"


def test_substituents_written_as_structures_are_drawn_in_the_table(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "ugi.csv"
    amines, aldehydes = ("CN(C)CCN", "CCN", "NC1CC1"), ("CCC=O", "O=Cc1ccccc1", "CC(C)C=O")
    rows = [f"{a},{b},{5 + i + 0.3 * k}" for i, a in enumerate(amines) for k, b in enumerate(aldehydes)]
    path.write_text("R1,R2,pIC50\n" + "\n".join(rows) + "\n", encoding="utf-8")
    wizard = wizard_on(qtbot, window, path)
    until(qtbot, lambda: wizard.columns_step.complete)
    model = wizard.table_step.model
    assert [model.index(0, column).data(SMILES) or "" for column in range(3)] == ["CN(C)CCN", "CCC=O", ""]


def test_enter_in_a_field_creates_nothing(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    wizard = wizard_on(qtbot, window, small_table(tmp_path / "small.csv"))
    edit = goal_of(qtbot, wizard).epsilon.edit
    until(qtbot, lambda: wizard.complete)
    edit.setFocus()
    QTest.keyClick(edit, Key.Key_Return)
    idle(qtbot, window)
    assert wizard.isVisible()
    assert window.session.view is None


def test_what_had_the_keyboard_has_it_again_after_keep_working(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    wizard = wizard_on(qtbot, window, small_table(tmp_path / "small.csv"))
    edit = goal_of(qtbot, wizard).epsilon.edit
    until(qtbot, lambda: wizard.complete)
    edit.setFocus()
    QTest.keyClicks(edit, "x")
    until(qtbot, lambda: not wizard.complete)
    QTest.keyClick(edit, Key.Key_Escape)
    until(qtbot, lambda: wizard.focusWidget() is not edit)
    QTest.keyClick(wizard.focusWidget(), Key.Key_Escape)
    assert wizard.isVisible()
    until(qtbot, lambda: wizard.focusWidget() is edit)


def test_closing_the_window_closes_the_dialog_and_its_work(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    wizard = wizard_on(qtbot, window, small_table(tmp_path / "small.csv"))
    until(qtbot, lambda: wizard.columns_step.complete)
    window.close()
    qtbot.wait(3 * AFTER)
    assert window.wizard is None
    assert not window.session.tasks.busy


def test_a_file_that_exists_opens_the_field_that_says_so(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    wizard = wizard_on(qtbot, window, small_table(tmp_path / "small.csv"))
    goal = goal_of(qtbot, wizard)
    until(qtbot, lambda: wizard.complete)
    assert not goal.file.isVisible()
    (tmp_path / "there.assaypilot").write_text("x", encoding="utf-8")
    goal.file.edit.setText(str(tmp_path / "there.assaypilot"))
    assert goal.file.isVisible()
    assert "already a file" in goal.file.note.text()
    assert not wizard.complete


def test_a_letter_leads_to_one_thing(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    wizard = wizard_on(qtbot, window, small_table(tmp_path / "small.csv", smiles=True))
    goal_of(qtbot, wizard).show_more()
    until(qtbot, lambda: wizard.complete)
    for view in wizard.views.keys:
        wizard.views.choose(view)
        texts = [one.text() for one in wizard.findChildren(QAbstractButton) if one.isVisible()]
        texts += [one.text() for one in wizard.findChildren(QLabel) if one.isVisible() and one.buddy() is not None]
        marked = [text.replace("&&", "").partition("&")[2][:1].upper() for text in texts]
        letters = [letter for letter in marked if letter]
        assert len(letters) == len(set(letters)), (view, sorted(letters))


def test_from_a_file_to_the_export_of_the_shortlist_by_keys_alone(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = small_table(tmp_path / "small.csv")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", staticmethod(lambda *_, **__: ([str(table)], "")))
    window.activateWindow()
    until(qtbot, window.isActiveWindow)
    press(Key.Key_N, CONTROL)
    until(qtbot, lambda: window.wizard is not None)
    wizard = window.wizard
    assert isinstance(wizard, NewCampaign)
    until(qtbot, wizard.isActiveWindow)
    assert keyboard() is wizard.table_step.choose
    press(Key.Key_Space)
    until(qtbot, lambda: wizard.complete)
    assert keyboard() is wizard.at_once
    press(Key.Key_Return)
    until(qtbot, lambda: window.session.view is not None and status(window).open_round is not None)
    back(qtbot, window)
    assay = noisy(true_values(status(window)))
    for _ in range(12):
        idle(qtbot, window)
        issued = open_round(window)
        press(Key.Key_Return, CONTROL)
        assert window.stack.currentIndex() == PageName.ROUND
        ids = status(window).library.ids
        rows = [
            Result(ids[item.compound], assay(ids[item.compound]), "pIC50")
            for item in issued.items
            for _ in range(item.replicates)
        ]
        QGuiApplication.clipboard().setText("ID\tpIC50\n" + "".join(f"{r.compound}\t{r.value}\n" for r in rows))
        press(Key.Key_V, CONTROL)
        until(qtbot, window.round.preview.isVisible)
        wanted = status(window).measurements_used + len(rows)
        press(Key.Key_Return)
        until(qtbot, lambda wanted=wanted: status(window).measurements_used == wanted)
        idle(qtbot, window)
        QTest.keyClick(window, Key.Key_R, ALT)
        press(Key.Key_C)
        until(qtbot, lambda: window.round.panel.closing.isVisible())
        for _ in range(40):
            if QApplication.focusWidget() is window.round.panel.closing.confirm:
                break
            press(Key.Key_Tab)
        press(Key.Key_Space)
        until(qtbot, lambda: status(window).open_round is None)
        idle(qtbot, window)
        if status(window).finished:
            break
        press(Key.Key_R, CONTROL)
        until(qtbot, lambda: status(window).open_round is not None)
    assert status(window).finished
    back(qtbot, window)
    press(Key.Key_E, CONTROL)
    until(qtbot, lambda: window.exporting.dialog is not None)
