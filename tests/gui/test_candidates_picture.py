"""The picture of the candidates answers: pointed at it names a compound, keys go through it, copied and written."""

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from assaypilot.gui.plots.candidates import CandidatesScene
from assaypilot.gui.plots.scatter import HistogramScene, ScatterScene
from tests.gui.helpers import idle, rows_of, status, until, wait_for


def _place(window, rank):
    """A pixel right above the compound of a rank."""
    canvas = window.candidates.canvas
    return QPoint(round(canvas.parts[0].pixel(rank, 0.0).x()), round(canvas.parts[0].box[1] + 3))


def _ready(qtbot, window):
    page = window.candidates
    until(qtbot, lambda: page.canvas.shown and page.canvas.picture is not None and bool(page.canvas.picture.compounds))
    window.activateWindow()
    until(qtbot, window.isActiveWindow)
    return page.canvas.picture.compounds


def test_pointed_compound_is_named_and_a_click_selects_it_everywhere(qtbot, decided):
    page, ranked = decided.candidates, _ready(qtbot, decided)
    now = status(decided)
    QTest.mouseMove(page.canvas, _place(decided, 2))
    until(qtbot, lambda: page.canvas.target is not None)
    card = page.canvas.card
    assert card.isVisible()
    assert card.heading.text() == now.library.ids[ranked[1]]
    assert f"pIC50 {now.candidates.estimate[ranked[1]]:.2f}" in card.words.text()
    low, high = now.candidates.low[ranked[1]], now.candidates.high[ranked[1]]
    assert f"({low:.2f} – {high:.2f})" in card.words.text()
    assert decided.session.selection.compound != ranked[1]
    QTest.mouseClick(page.canvas, Qt.MouseButton.LeftButton, pos=_place(decided, 2))
    assert decided.session.selection.compound == ranked[1]
    assert page.panel.name.text() == now.library.ids[ranked[1]]
    QTest.mouseMove(page.canvas, QPoint(2, 2))
    until(qtbot, lambda: page.canvas.target is None)


def test_keys_go_through_the_ranking_and_enter_selects(qtbot, decided):
    page, ranked = decided.candidates, _ready(qtbot, decided)
    page.select(ranked[0])
    idle(qtbot, decided)
    page.canvas.setFocus()
    QTest.keyClick(page.canvas, Qt.Key.Key_Right)
    for _ in range(2):
        QTest.keyClick(page.canvas, Qt.Key.Key_Right)
    assert page.canvas.target.compound == ranked[2]
    assert status(decided).library.ids[ranked[2]] in page.canvas.accessibleDescription()
    QTest.keyClick(page.canvas, Qt.Key.Key_Return)
    assert decided.session.selection.compound == ranked[2]
    QTest.keyClick(page.canvas, Qt.Key.Key_Left)
    assert page.canvas.target.compound == ranked[1]
    QTest.keyClick(page.canvas, Qt.Key.Key_Escape)
    assert page.canvas.target is None


def test_picture_is_copied_and_written_with_its_data(qtbot, decided, tmp_path):
    page, ranked = decided.candidates, _ready(qtbot, decided)
    page.canvas.setFocus()
    until(qtbot, page.canvas.hasFocus)
    QGuiApplication.clipboard().clear()
    QTest.keyClick(decided, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    until(qtbot, lambda: not QGuiApplication.clipboard().image().isNull())
    assert "picture is on the clipboard" in decided.messages.text
    idle(qtbot, decided)
    scene = page.canvas.scene
    assert isinstance(scene, CandidatesScene)
    page.canvas.copy_data()
    until(qtbot, lambda: bool(QGuiApplication.clipboard().text()))
    assert f"data of the picture are on the clipboard: {len(ranked)} rows" in decided.messages.text
    copied = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    idle(qtbot, decided)
    out = tmp_path / "ranking.svg"
    decided.picture_files.to(out, scene)
    wait_for(qtbot, decided, lambda: (tmp_path / "ranking data.csv").exists() and out.exists())
    rows, now = rows_of(tmp_path / "ranking data.csv"), status(decided)
    assert [[*rows[0]], [*rows[-1].values()]] == [copied[0], copied[-1]]
    assert [row["ID"] for row in rows] == [now.library.ids[compound] for compound in ranked]
    assert float(rows[0]["pIC50"]) == float(now.candidates.estimate[ranked[0]])
    assert float(rows[0]["pIC50 low"]) == float(now.candidates.low[ranked[0]])
    # In the table, Copy still copies rows.
    page.table.setFocus()
    until(qtbot, page.table.hasFocus)
    QTest.keyClick(decided, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    until(qtbot, lambda: QGuiApplication.clipboard().text().startswith("Status"))


def test_plot_stays_when_clicked_and_moves_to_a_selected_row(qtbot, decided):
    page = decided.candidates
    page.which.choose("all")
    until(qtbot, lambda: page.canvas.shown)
    page.canvas.zoomed.emit(1.0, 0.0, 0.4)
    until(qtbot, lambda: page.canvas.shown)
    picture = page.canvas.picture
    before = picture.compounds
    assert len(before) < len(status(decided).library)
    page.canvas.picked.emit(before[-1])
    until(qtbot, lambda: page.canvas.shown)
    assert page.canvas.picture.compounds == before
    assert page.table.current_row() == before[-1]
    hidden = next(k for k in range(len(status(decided).library)) if k not in page.canvas.picture.compounds)
    page.table.choose(hidden)
    until(qtbot, lambda: page.canvas.shown)
    assert hidden in page.canvas.picture.compounds


def test_wheel_zooms_and_double_click_shows_all(qtbot, decided):
    page = decided.candidates
    until(qtbot, lambda: page.canvas.shown)
    whole = page.canvas.picture.compounds
    middle = page.canvas.parts[0].pixel(3.0, 7.0)
    for _ in range(5):
        event = QWheelEvent(
            middle, page.canvas.mapToGlobal(middle), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        page.canvas.wheelEvent(event)
        until(qtbot, lambda: page.canvas.shown)
    assert len(page.canvas.picture.compounds) < len(whole)
    qtbot.mouseDClick(page.canvas, Qt.MouseButton.LeftButton)
    until(qtbot, lambda: page.canvas.shown)
    assert page.canvas.picture.compounds == whole


def _drag(window, places):
    """Draw a line through places of the data of the picture."""
    canvas = window.candidates.canvas
    points = [canvas.parts[0].pixel(*place).toPoint() for place in places]
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=points[0])
    for point in points[1:]:
        move = QMouseEvent(
            QMouseEvent.Type.MouseMove, QPointF(point), canvas.mapToGlobal(QPointF(point)), Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
        )  # fmt: skip
        QApplication.sendEvent(canvas, move)
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=points[-1])


def _choose(box, key):
    box.setCurrentIndex(box.findData(key))
    box.activated.emit(box.currentIndex())


def test_compounds_enclosed_in_a_scatter_are_selected_in_the_table(qtbot, decided):
    page = decided.candidates
    _ready(qtbot, decided)
    page.which.choose("all")
    _choose(page.plot.kind, "scatter")
    _choose(page.plot.boxes["x"], "estimate")
    _choose(page.plot.boxes["y"], "measured")
    _choose(page.plot.boxes["colour"], "near")
    _choose(page.plot.boxes["size"], "measured")
    until(qtbot, lambda: page.canvas.shown)
    scene = page.canvas.scene
    assert isinstance(scene, ScatterScene)
    assert scene.compounds.size == page.model.rowCount()
    estimate = status(decided).candidates.estimate
    cut = float(np.sort(estimate)[-4] + np.sort(estimate)[-5]) / 2
    _, right, bottom, top = scene.extent
    _drag(decided, [(cut, bottom), (right, bottom), (right, top), (cut, top)])
    assert set(page.table.selected_rows()) == set(np.flatnonzero(estimate > cut).tolist())
    assert decided.messages.text.startswith("4 compounds selected")
    assert isinstance(page.canvas.scene, ScatterScene)
    assert set(page.canvas.scene.chosen.tolist()) == set(page.table.selected_rows())
    page.filter.setText(f">{cut}")
    page.filter.settle()
    assert isinstance(page.canvas.scene, ScatterScene)
    assert page.canvas.scene.compounds.size == page.model.rowCount() == 4


def test_a_histogram_counts_the_compounds_of_the_table(qtbot, decided):
    page = decided.candidates
    _ready(qtbot, decided)
    page.which.choose("all")
    _choose(page.plot.kind, "histogram")
    until(qtbot, lambda: page.canvas.shown)
    scene = page.canvas.scene
    assert isinstance(scene, HistogramScene)
    assert scene.counts.sum() == page.model.rowCount()
    bar = scene.step(None, 0, 0)
    assert bar is not None
    first = status(decided).candidates.estimate <= scene.edges[1]
    _drag(decided, [(scene.edges[0] - 1, 0.1), (scene.edges[1] * 0.9999, 0.1), (scene.edges[1] * 0.9999, 0.5)])
    assert len(page.table.selected_rows()) >= 1
    assert all(first[row] for row in page.table.selected_rows())
    page.which.choose("in")
    assert isinstance(page.canvas.scene, HistogramScene)
    assert page.canvas.scene.counts.sum() == page.model.rowCount()
