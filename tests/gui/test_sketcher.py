"""Structures that are drawn: with clicks, drags and keys, as a core and as a filter."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from rdkit import Chem

from assaypilot.gui.structures.sketcher import UNIT, SketchDialog
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import idle, quick_campaign, until
from tests.gui.imports import amides, creation_on

LEFT = Qt.MouseButton.LeftButton


def canonical(smiles):
    """The SMILES as RDKit writes it."""
    return Chem.MolToSmiles(Chem.MolFromSmiles(smiles))


@pytest.fixture
def drawing(qtbot):
    """An empty drawing."""
    made = SketchDialog("Draw", "&Use", "", None)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    return made


def click(dialog, tool, at=None):
    """Click with a tool on an atom, between two atoms, or on an empty place."""
    canvas = dialog.canvas
    dialog.tools[tool].click()
    if isinstance(at, tuple):
        first, second = (canvas.place_of(one) for one in at)
        place = (first + second) / 2
    else:
        place = canvas.rect().center() if at is None else canvas.place_of(at)
    QTest.mouseClick(canvas, LEFT, Qt.KeyboardModifier.NoModifier, QPoint(round(place.x()), round(place.y())))


def drawn_dialog():
    """The drawing that is open."""
    return next(one for one in QApplication.topLevelWidgets() if isinstance(one, SketchDialog) and one.isVisible())


def test_a_core_is_drawn_with_clicks_and_undone_step_by_step(drawing):
    assert not drawing.go.isEnabled()
    click(drawing, "Benzene")
    click(drawing, "R", 0)
    click(drawing, "R", 3)
    assert drawing.smiles == canonical("c1cc([*:2])ccc1[*:1]")
    click(drawing, "N", 1)
    click(drawing, "Benzene", (4, 5))
    assert drawing.smiles == canonical("c1ccc2c([*:1])ncc([*:2])c2c1")
    click(drawing, "Erase", 6)
    assert drawing.smiles == canonical("c1ccc2cncc([*:2])c2c1")
    for _ in range(3):
        drawing.undo.click()
    assert drawing.smiles == canonical("c1cc([*:2])ccc1[*:1]")
    drawing.redo.click()
    assert drawing.smiles == drawing.smiles_line.text() == canonical("c1cc([*:2])cnc1[*:1]")


def test_drags_bind_and_keys_change_what_is_under_the_pointer(drawing):
    canvas = drawing.canvas
    click(drawing, "C")
    start = canvas.place_of(0).toPoint()
    QTest.mousePress(canvas, LEFT, Qt.KeyboardModifier.NoModifier, start)
    QTest.mouseRelease(canvas, LEFT, Qt.KeyboardModifier.NoModifier, start + QPoint(round(2 * UNIT), 4))
    assert drawing.smiles == "CC"
    assert canvas.place_of(1).y() == pytest.approx(start.y(), abs=1)  # level: directions are twelfths of a turn
    QTest.mouseMove(canvas, canvas.place_of(1).toPoint())
    QTest.keyClick(canvas, Qt.Key.Key_N)
    assert drawing.smiles == "CN"
    middle = (canvas.place_of(0) + canvas.place_of(1)) / 2
    QTest.mouseMove(canvas, middle.toPoint())
    QTest.keyClick(canvas, Qt.Key.Key_3)
    assert drawing.smiles == "C#N"
    QTest.mouseMove(canvas, canvas.place_of(0).toPoint())
    QTest.keyClick(canvas, Qt.Key.Key_Delete)
    assert drawing.smiles == "N"


def test_a_large_structure_and_one_that_grows_stay_in_sight(drawing):
    canvas = drawing.canvas
    drawing.draw("C" * 60)
    assert all(canvas.rect().contains(canvas.place_of(n).toPoint()) for n in range(60))
    drawing.clear.click()
    click(drawing, "C")
    for number in range(40):
        click(drawing, "Single", number)
    assert drawing.smiles == "C" * 41
    assert all(canvas.rect().contains(canvas.place_of(n).toPoint()) for n in range(41))


def test_a_molfile_that_is_pasted_is_drawn(drawing):
    QApplication.clipboard().setText(Chem.MolToMolBlock(Chem.MolFromSmiles("OCc1ccncc1")))
    QTest.keyClick(drawing.canvas, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert drawing.smiles == canonical("OCc1ccncc1")


def test_an_impossible_structure_is_explained_and_not_used(drawing):
    drawing.smiles_line.setFocus()
    QTest.keyClicks(drawing.smiles_line, "c1ccc(F)cc1")
    QTest.keyClick(drawing.smiles_line, Qt.Key.Key_Tab)
    assert drawing.smiles == canonical("Fc1ccccc1")
    fluorine = next(n for n, one in enumerate(drawing.canvas.sketch.atoms) if one.symbol == "F")
    click(drawing, "Single", fluorine)
    assert drawing.problem.text().startswith("F has more bonds than it can have")
    assert not drawing.go.isEnabled()
    drawing.undo.click()
    assert drawing.problem.text() == ""
    drawing.smiles_line.selectAll()
    QTest.keyClicks(drawing.smiles_line, "c1cc(")
    QTest.keyClick(drawing.smiles_line, Qt.Key.Key_Return)
    assert "cannot" in drawing.problem.text() or "can be read" in drawing.problem.text()
    assert drawing.isVisible(), "Enter after an unreadable text uses nothing"


def test_a_drawn_substructure_filters_the_table(qtbot, open_window, tmp_path):
    window = open_window(quick_campaign(tmp_path, smiles=True), page=PageName.LIBRARY)
    page = window.library
    page.filter.setText("R1=Me")
    page.tools.draw.click()
    click(drawn_dialog(), "Benzene")
    drawn_dialog().go.click()
    page.filter.settle()
    idle(qtbot, window)
    assert page.filter.text() == "R1=Me has:c1ccccc1"
    assert page.model.rowCount() == 6
    page.tools.draw.click()
    again = drawn_dialog()
    assert again.smiles == "c1ccccc1"
    click(again, "N", 0)
    again.go.click()
    page.filter.settle()
    idle(qtbot, window)
    assert page.filter.text() == "R1=Me has:c1ccncc1"
    assert page.model.rowCount() == 0


def test_a_drawn_core_is_used_for_the_series(qtbot, window, tmp_path):
    creation = creation_on(qtbot, window, amides(tmp_path / "amides.csv"))
    step = creation.columns_pane
    until(qtbot, lambda: bool(step.core.choices) and step.complete)
    step.core.draw.click()
    dialog = drawn_dialog()
    assert dialog.smiles == canonical(step.core.choices[0].smiles)
    dialog.smiles_line.setText("O=C(N[*:1])c1ccccc1")
    dialog.smiles_line.setModified(True)
    dialog.smiles_line.editingFinished.emit()
    core, sketch = canonical("O=C(N[*:1])c1ccc([*:2])cc1"), dialog.canvas.sketch
    inside = [n for n, one in enumerate(sketch.atoms) if one.symbol == "C" and len(sketch.neighbours(n)) == 2]
    click(dialog, "R", next(n for n in inside if sketch.grown(n, "R").smiles == core))
    dialog.go.click()
    until(qtbot, lambda: core in map(canonical, step.core.cores))
    creation.done(0)
