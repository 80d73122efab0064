"""The columns step through its widgets: remembered choices, empty cells asked about, cores proposed and confirmed."""

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from assaypilot.gui.new_campaign import columns_pane as module
from assaypilot.gui.new_campaign.table_work import known_cores
from tests.gui.helpers import endless, goal_of, idle, small_table, status, until, wait_for
from tests.gui.imports import amides, checked, columns_of, creation_on

BENZAMIDE = "O=C(N[*:1])c1ccc([*:2])cc1"


def leave(creation):
    """Close a new campaign whatever was touched."""
    creation._touched = False
    creation.reject()


def test_empty_substituents_are_asked_about_once_with_counts(qtbot, window, tmp_path):
    path = tmp_path / "blanks.csv"
    path.write_text(
        "ID,R1,R2,pIC50\n"
        + "".join(f"c-{n},{'' if n % 3 == 0 else 'Me'},{'F' if n % 2 else '-'},5.{n}\n" for n in range(9))
    )
    creation = creation_on(qtbot, window, path)
    step = creation.columns_pane
    until(qtbot, lambda: step.blank.isVisible())
    assert "R1: 3, R2: 5" in step.blank.words.text()
    assert not step.blank.hydrogen.isChecked()
    assert not step.blank.unknown.isChecked()
    step.blank.hydrogen.click()
    checked(qtbot, creation)
    assert step.result.imported.rows_used == 9
    assert step.result.mapping.blank == "h"
    step.remember()
    leave(creation)
    # The next table with these headers: answered already.
    again = columns_of(qtbot, window, path)
    assert again.columns_pane.blank.hydrogen.isChecked()
    assert again.columns_pane.result.imported.rows_used == 9


def test_choices_are_remembered_and_can_be_reset(qtbot, window, tmp_path):
    path = small_table(tmp_path / "t.csv", smiles=True)
    creation = columns_of(qtbot, window, path)
    step = creation.columns_pane
    assert step.remembered.isHidden()
    step.form.direction.setCurrentIndex(step.form.direction.findData("min"))
    step.form.sites.item(3).setCheckState(Qt.CheckState.Unchecked)
    checked(qtbot, creation)
    step.remember()
    leave(creation)
    again = columns_of(qtbot, window, path).columns_pane
    assert again.remembered.isVisible()
    assert again.form.chosen_sites == ("R1", "R2")
    assert again.form.direction.currentData() == "min"
    assert again.result.endpoint.direction == "min"
    again.afresh.click()
    until(qtbot, lambda: again.complete and again.form.chosen_sites == ("R1", "R2", "R3"))
    assert again.remembered.isHidden()
    assert again.form.direction.currentData() is None
    until(qtbot, lambda: again.form.direction.currentText() == "proposed: higher")


@pytest.mark.slow
def test_the_best_core_is_taken_and_shown(qtbot, window, tmp_path):
    creation = creation_on(qtbot, window, amides(tmp_path / "amides.csv"))
    step = creation.columns_pane
    until(qtbot, lambda: bool(step.core.choices))
    assert step.form.from_structures
    assert step.core.isVisible()
    assert step.form.sites.isHidden()
    # The best is taken, first in the list and drawn; the others can be.
    assert step.core.cores == (step.core.choices[0].smiles,)
    assert step.core.list.currentRow() == 0
    assert "Structure" in step.core.picture.accessibleName()
    assert "R1" in step.core.choices[0].drawn
    until(qtbot, lambda: step.complete)
    assert step.result.imported.rows_used == step.core.choices[0].used
    reasons = {problem.row: problem.reason for problem in step.result.imported.not_used}
    assert reasons[26] == "the core is not in this structure"
    assert len(step.core.cores) == 1
    # The core is remembered with the rest.
    step.remember()
    used = step.core.cores
    leave(creation)
    again = creation_on(qtbot, window, tmp_path / "amides.csv").columns_pane
    until(qtbot, lambda: again.complete)
    assert again.core.cores == used


@pytest.mark.slow
def test_cores_are_typed_read_from_a_file_and_refused_in_words(qtbot, window, tmp_path):
    creation = creation_on(qtbot, window, amides(tmp_path / "amides.csv"))
    step = creation.columns_pane
    core = step.core
    until(qtbot, lambda: bool(core.choices))
    core.typed.setFocus()
    core.typed.setText("not a core")
    QTest.keyClick(core.typed, Qt.Key.Key_Return)
    until(qtbot, lambda: "cannot be read" in core.problem.text())
    assert "--core" not in core.problem.text()
    assert creation.isVisible()  # Enter there creates nothing
    core.typed.setText(BENZAMIDE)
    core.add.click()
    until(qtbot, lambda: step.complete)
    assert core.typed.text() == ""
    assert core.problem.isHidden()
    assert [(site.name, len(site.substituents)) for site in step.result.sites] == [("R1", 6), ("R2", 4)]
    assert all("R1" in drawn for drawn in step.result.sites[0].drawn)
    file = tmp_path / "cores.smi"
    file.write_text("O=C(N[*:1])c1ccc([*:2])cc1\nCCC([*:1])CC[*:2]\n")
    core.wanted.emit([str(file)])
    until(qtbot, lambda: step.complete and len(core.cores) == 2)
    core.list.setCurrentRow(core.list.count() - 1)
    core.forget.click()
    checked(qtbot, creation)
    assert len(core.cores) == 1
    # Back to columns: none holds substituents, and that is said.
    step.form.source.choose("columns")
    until(qtbot, lambda: "No column holds substituents" in step.panel.heading.text())
    assert not creation.create_button.isEnabled()


def test_the_search_for_a_core_is_cancelled_and_closed_while_running(qtbot, window, tmp_path, monkeypatch):
    running, broken = threading.Event(), []
    window.session.broke.connect(lambda error, label: broken.append(error))
    monkeypatch.setattr(module, "propose_core", endless(started=running))
    creation = creation_on(qtbot, window, amides(tmp_path / "amides.csv"))
    until(qtbot, running.is_set)
    until(qtbot, lambda: "Looking for a common core" in creation.work[window.session.tasks].words.text())
    creation.work[window.session.tasks].stop.click()
    wait_for(qtbot, window, lambda: "The search was stopped" in creation.columns_pane.core.words.text())
    running.clear()
    creation.columns_pane.core.propose.click()
    until(qtbot, running.is_set)
    creation.reject()
    idle(qtbot, window)
    qtbot.wait(50)
    assert broken == []
    assert window.creation is None


def test_stopped_check_can_be_repeated(qtbot, window, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(module, "check_table", endless())
        creation = creation_on(qtbot, window, small_table(tmp_path / "t.csv"))
        until(qtbot, lambda: "Checking the table" in creation.work[window.session.tasks].words.text())
        creation.work[window.session.tasks].stop.click()
        until(qtbot, lambda: creation.columns_pane.panel.again.isVisible())
    assert "stopped" in creation.columns_pane.panel.heading.text()
    creation.columns_pane.panel.again.click()
    until(qtbot, lambda: creation.columns_pane.complete)


NAMED = [f"c{n},{('pro', 'bet')[n % 2]},{('F', 'Cl', 'Br')[n % 3]},{5 + n / 10}" for n in range(12)]
REACTIONS = [
    f"{('KOH', 'DBU')[n % 2]},{('THF', 'DMF')[n // 2 % 2]},{(60, 80, 100)[n % 3]},{40 + 0.5 * n}" for n in range(24)
]


@pytest.mark.parametrize(
    ("header", "rows", "sites", "value"),
    [
        ("ID,prime & co,boost,pIC50", NAMED, ("prime & co", "boost"), "pIC50"),
        ("base,solvent,temperature,yield", REACTIONS, ("base", "solvent", "temperature"), "yield"),
    ],
    ids=["names", "conditions of a reaction"],
)
def test_columns_that_could_hold_substituents_are_offered(qtbot, window, tmp_path, header, rows, sites, value):
    path = tmp_path / "named.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    creation = creation_on(qtbot, window, path)
    pane = creation.columns_pane
    until(qtbot, lambda: pane.panel.tick.isVisible())
    assert pane.panel.tick.text().replace("&&", "&") == f"Tick {', '.join(sites)}"
    assert pane.form.endpoint.currentText() == value
    pane.panel.tick.click()
    until(qtbot, lambda: pane.complete)
    assert pane.form.chosen_sites == sites
    assert pane.panel.tick.isHidden()
    assert [column.endpoint.name for column in pane.result.mapping.endpoints] == [value]
    leave(creation)


def test_a_campaign_from_structures_keeps_its_core(qtbot, window, tmp_path):
    creation = creation_on(qtbot, window, amides(tmp_path / "amides.csv"))
    step = creation.columns_pane
    until(qtbot, lambda: step.core.isVisible() and not step._job.busy)
    step.core.typed.setText(BENZAMIDE)
    step.core.add.click()
    until(qtbot, lambda: step.complete)
    goal_of(qtbot, creation)
    creation.goal_pane.noise.edit.setText("0.2")
    creation.goal_pane.slack.edit.setText("0.5")
    creation.goal_pane.file.edit.setText(str(tmp_path / "amides.assaypilot"))
    until(qtbot, lambda: creation.complete)
    creation.create_button.click()
    wait_for(qtbot, window, lambda: window.session.view is not None)
    library = status(window).library
    assert len(library) == 24
    assert library.scaffold.cores == tuple(one.smiles for one in known_cores([BENZAMIDE]))
    assert any("not used; the first is row 26, column SMILES" in text for text in status(window).warnings)
