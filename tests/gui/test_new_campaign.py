"""A new campaign on one screen: what it shows at once, and the whole journey by keys alone."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLabel, QMenu

from assaypilot.engine.domain.measurements import Result
from assaypilot.gui.new_campaign.dialog import AFTER, NewCampaign
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import goal_of, idle, noisy, open_round, small_table, status, true_values, until, wait_for
from tests.gui.imports import creation_on
from tests.gui.test_keys_alone import ALT, CONTROL, Key, back, keyboard, press


def roles(creation):
    """What stands on top of each column, by the column's name."""
    model = creation.table_pane.model
    texts = [str(model.headerData(n, Qt.Orientation.Horizontal)) for n in range(model.columnCount())]
    return {text.split("\n")[0]: text.split("\n")[-1] for text in texts}


def choose_role(creation, column, role):
    """Choose in the menu below a heading; return the role that was ticked there."""
    creation.table_pane.table.horizontalHeader().sectionClicked.emit(list(roles(creation)).index(column))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    offered = {action.text(): action for action in menu.actions()}
    (before,) = [text for text, action in offered.items() if action.isChecked()]
    offered[role].trigger()
    menu.close()
    return before


def test_new_campaign_shows_what_was_read_and_the_role_of_each_column(qtbot, window, tmp_path):
    creation = creation_on(qtbot, window, small_table(tmp_path / "small.csv", smiles=True))
    goal = goal_of(qtbot, creation)
    until(qtbot, lambda: creation.complete)
    table = creation.table_pane.table
    assert all(part.isVisible() for part in (table, goal.epsilon, creation.columns_pane.panel.facts, creation.at_once))
    heads = roles(creation)
    assert heads["ID"] == "ID"
    assert heads["SMILES"] == "structure"
    assert heads["R1"] == heads["R2"] == "site"
    assert heads["pIC50"] == "pIC50"
    choose_role(creation, "ID", "All columns…")
    assert creation.columns_pane.form.isVisible()
    assert not table.isVisible()


def test_role_of_a_column_is_chosen_below_its_heading(qtbot, window, tmp_path):
    path = tmp_path / "more.csv"
    lines = small_table(tmp_path / "small.csv").read_text(encoding="utf-8").splitlines()
    path.write_text(
        "\n".join([f"{lines[0]},Score", *(f"{line},{10 + n}" for n, line in enumerate(lines[1:]))]), encoding="utf-8"
    )
    creation = creation_on(qtbot, window, path)
    until(qtbot, lambda: creation.columns_pane.complete and bool(roles(creation)))
    for column, role, head in (("Score", "Cost", "cost"), ("Score", "Measured value", "Score")):
        assert choose_role(creation, column, role) != role
        until(qtbot, lambda column=column, head=head: roles(creation)[column] == head)
        assert creation.table_pane.table.isVisible()
    assert roles(creation)["pIC50"] == "pIC50"  # measured, too
    assert choose_role(creation, "Score", "Not used") == "Measured value"
    until(qtbot, lambda: roles(creation)["Score"] == "not used")
    assert choose_role(creation, "R2", "Not used") == "Substituent"
    until(qtbot, lambda: roles(creation)["R2"] == "not used")


def test_enter_in_a_field_creates_nothing_and_keep_working_returns_there(qtbot, window, tmp_path):
    creation = creation_on(qtbot, window, small_table(tmp_path / "small.csv"))
    edit = goal_of(qtbot, creation).epsilon.edit
    until(qtbot, lambda: creation.complete)
    edit.setFocus()
    QTest.keyClick(edit, Key.Key_Return)
    idle(qtbot, window)
    assert creation.isVisible()
    assert window.session.view is None
    QTest.keyClicks(edit, "x")
    until(qtbot, lambda: not creation.complete)
    QTest.keyClick(edit, Key.Key_Escape)
    until(qtbot, lambda: creation.focusWidget() is not edit)
    QTest.keyClick(creation.focusWidget(), Key.Key_Escape)
    assert creation.isVisible()
    until(qtbot, lambda: creation.focusWidget() is edit)


def test_closing_the_window_closes_the_dialog_and_its_work(qtbot, window, tmp_path):
    creation = creation_on(qtbot, window, small_table(tmp_path / "small.csv"))
    until(qtbot, lambda: creation.columns_pane.complete)
    window.close()
    qtbot.wait(3 * AFTER)
    assert window.creation is None
    assert not window.session.tasks.busy


def test_mnemonics_are_unique_in_each_view(qtbot, window, tmp_path):
    creation = creation_on(qtbot, window, small_table(tmp_path / "small.csv", smiles=True))
    goal_of(qtbot, creation).show_more()
    until(qtbot, lambda: creation.complete)
    for view in creation.views.keys:
        creation.views.choose(view)
        texts = [one.text() for one in creation.findChildren(QAbstractButton) if one.isVisible()]
        texts += [one.text() for one in creation.findChildren(QLabel) if one.isVisible() and one.buddy() is not None]
        marked = [text.replace("&&", "").partition("&")[2][:1].upper() for text in texts]
        letters = [letter for letter in marked if letter]
        assert len(letters) == len(set(letters)), (view, sorted(letters))


def test_from_a_file_to_the_export_of_the_shortlist_by_keys_alone(qtbot, window, tmp_path, monkeypatch):
    table = small_table(tmp_path / "small.csv")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", staticmethod(lambda *_, **__: ([str(table)], "")))
    window.activateWindow()
    until(qtbot, window.isActiveWindow)
    press(Key.Key_N, CONTROL)
    until(qtbot, lambda: window.creation is not None)
    creation = window.creation
    assert isinstance(creation, NewCampaign)
    until(qtbot, creation.isActiveWindow)
    assert keyboard() is creation.table_pane.choose
    press(Key.Key_Space)
    until(qtbot, lambda: creation.complete)
    assert keyboard() is creation.at_once
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
        wait_for(qtbot, window, lambda wanted=wanted: status(window).measurements_used == wanted)
        QTest.keyClick(window, Key.Key_R, ALT)
        press(Key.Key_C)
        until(qtbot, lambda: window.round.panel.closing.isVisible())
        for _ in range(40):
            if QApplication.focusWidget() is window.round.panel.closing.confirm:
                break
            press(Key.Key_Tab)
        press(Key.Key_Space)
        wait_for(qtbot, window, lambda: status(window).open_round is None)
        if status(window).finished:
            break
        press(Key.Key_R, CONTROL)
        until(qtbot, lambda: status(window).open_round is not None)
    assert status(window).finished
    back(qtbot, window)
    press(Key.Key_E, CONTROL)
    until(qtbot, lambda: window.exporting.dialog is not None)
