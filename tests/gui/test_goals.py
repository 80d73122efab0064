"""Trade-offs, limits and several endpoints through the real widgets: creation, rounds, candidates."""

import itertools
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.library import Library
from assaypilot.engine.export.answer import FrontPicture, RankedPicture
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import (
    copied,
    creation_of,
    kept_text,
    made,
    open_round,
    returned,
    status,
    to_goal,
    until,
    view,
    wait_for,
)

LABELS = (("H", "Me", "Cl"), ("H", "OMe", "CF3"), ("F", "CN"))
EFFECTS = {
    "pIC50": ({"H": 0.0, "Me": 0.5, "Cl": 1.2}, {"H": 0.0, "OMe": -0.6, "CF3": 0.9}, {"F": 0.0, "CN": 0.8}),
    "hERG": ({"H": 0.0, "Me": -0.5, "Cl": 1.0}, {"H": 0.0, "OMe": 0.7, "CF3": 0.2}, {"F": 0.0, "CN": -0.9}),
    "logD": ({"H": 0.0, "Me": 0.6, "Cl": 0.3}, {"H": 0.0, "OMe": -0.5, "CF3": 0.9}, {"F": 0.2, "CN": -0.4}),
}
BASE = {"pIC50": 6.0, "hERG": 5.0, "logD": 2.0}
ROWS = list(itertools.product(*LABELS))
IDS = [f"C-{number}" for number in range(1, len(ROWS) + 1)]


def truth(endpoint, name):
    row = ROWS[IDS.index(name)]
    return BASE[endpoint] + sum(effects[label] for effects, label in zip(EFFECTS[endpoint], row, strict=True))


def table(path):
    """18 compounds; pIC50 was measured twice of one, hERG once of another."""
    lines = ["ID,R1,R2,R3,pIC50,hERG"]
    for name, row in zip(IDS, ROWS, strict=True):
        lines.append(f"{name},{','.join(row)},{'6.0' if name == 'C-1' else ''},{'5.1' if name == 'C-2' else ''}")
    lines.append(f"C-1,{','.join(ROWS[0])},6.2,")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def campaign_file(folder, names=("pIC50", "hERG"), *, goal="pareto", limit="", rounds=0, per_round=288, margin=0.6):
    """A campaign over these compounds, so many of its rounds measured."""
    endpoints = [
        Endpoint(
            name,
            noise_sd=0.1,
            direction="max" if name == "pIC50" else "min",
            epsilon=margin if goal == "pareto" else None,
            limit=Limit.parse(limit) if limit and name == "hERG" else None,
        )
        for name in names
    ]
    path = folder / "goals.assaypilot"
    library = Library.listed(["R1", "R2", "R3"], [list(row) for row in ROWS], ids=IDS)
    rng = np.random.default_rng(5)
    terms = {
        "objectives": tuple(names) if goal == "pareto" else (),
        "epsilon": 0.5 if goal == "epsilon-best" else None,
        "slack": 0.5 if goal != "pareto" else None,
        "per_round": per_round,
        "strategy": "gaussian-process" if limit else "proven",
    }

    def value(compound, name):
        return round(truth(name, IDS[compound]) + 0.1 * float(rng.standard_normal()), 3)

    with made(path, library, endpoints=endpoints, goal=goal, **terms) as campaign:
        for _ in range(rounds):
            if campaign.plan() is None:
                break
            campaign.record(returned(campaign, value))
    return path


def opened(qtbot, window, path):
    window.open_path(path)
    wait_for(qtbot, window, lambda: window.session.view is not None)
    return window


def choose_goal(step, goal):
    step.goal.setCurrentIndex(step.goal.findData(goal))


def box(step, name):
    found = step.endpoints.box(name)
    assert found is not None
    return found


# ---------------------------------------------------------------------- a new campaign


def test_a_goal_shows_what_applies_to_it(qtbot, window, tmp_path):
    step = to_goal(qtbot, window, table(tmp_path / "two.csv"))
    until(qtbot, lambda: step.complete)
    assert "All compounds within 0.5 of the best pIC50" in step.sentence.text()
    assert step.epsilon.note.text() == "log = 3-fold"
    assert not step.sentence.isVisibleTo(step)
    step.details.click()
    assert step.sentence.isVisibleTo(step)
    first, second = box(step, "pIC50"), box(step, "hERG")
    shown = {
        "epsilon-best": (True, True, True, False, False, False),
        "best": (True, False, True, False, False, False),
        "pareto": (False, False, False, True, True, True),
    }
    assert not step.slack.isVisibleTo(step)
    step.more.click()
    for goal, wanted in shown.items():
        choose_goal(step, goal)
        seen = (
            step.objective.isVisibleTo(step),
            step.epsilon.isVisibleTo(step),
            step.slack.isVisibleTo(step),
            first.margin.isVisibleTo(step),
            second.margin.isVisibleTo(step),
            second.noise.isVisibleTo(step),
        )
        assert seen == wanted, goal
    offered = [step.strategy.combo.itemText(n) for n in range(step.strategy.combo.count())]
    assert offered[:2] == ["Calibrated: effects need not add up", "Proven if effects add up: Adaptive"]
    step.strategy.combo.setCurrentIndex(1)
    assert "no other beats in all endpoints" in step.strategy.note.text()
    choose_goal(step, "best")
    # What it promises of all compounds is another goal's.
    assert step.strategy.note.text() == "Finds one within the soft zone of the best, if effects add up."
    until(qtbot, lambda: step.complete)
    assert step.sentence.text() == "The compound with the best pIC50, 95 % sure."
    assert "ever being decided" in step.cautions.text()
    step.objective.setCurrentIndex(step.objective.findData("hERG"))
    box(step, "hERG").direction.setCurrentIndex(1)
    box(step, "hERG").noise.edit.setText("0.1")
    until(qtbot, lambda: step.complete and "lowest hERG" in step.sentence.text())
    creation_of(window).reject()


def test_an_endpoint_that_is_not_in_the_table_can_be_added(qtbot, window, tmp_path):
    step = to_goal(qtbot, window, table(tmp_path / "two.csv"))
    creation = creation_of(window)
    choose_goal(step, "pareto")
    box(step, "hERG").noise.edit.setText("0.15")
    step.endpoints.new.setText("herg")
    step.endpoints.add.click()
    assert step.endpoints.add_problem.text() == "There is an endpoint herg already."
    step.endpoints.new.setText("R1")
    step.endpoints.add.click()
    assert "a column of the table that holds something else" in step.endpoints.add_problem.text()
    step.endpoints.new.setText("IC50 off-target")
    step.endpoints.unit.setText("nM")
    step.endpoints.add.click()
    until(qtbot, lambda: len(step.endpoints.boxes) == 3)
    assert box(step, "hERG").noise.text == "0.15"  # what was typed stays
    added = box(step, "IC50 off-target")
    assert added.fact.endpoint.is_potency
    assert added.chosen.isChecked()
    added.noise.edit.setText("0.2")
    step.file.edit.setText(str(tmp_path / "three.assaypilot"))
    until(qtbot, lambda: creation.complete)
    creation.create_button.click()
    until(qtbot, lambda: window.session.view is not None)
    assert [endpoint.name for endpoint in status(window).endpoints] == ["pIC50", "hERG", "IC50 off-target"]
    assert len(status(window).goal_endpoints) == 3


def test_simulation_of_a_new_campaign_can_be_stopped_and_asked_for_again(qtbot, window, tmp_path, crystal, monkeypatch):
    monkeypatch.setattr("assaypilot.gui.goal.forecast_view.SLOW", 0.15)
    crystal.open.clear()
    step = to_goal(qtbot, window, table(tmp_path / "two.csv"))
    work = creation_of(window).work[window.session.ahead]
    until(qtbot, work.isVisible)
    work.stop.click()
    until(qtbot, lambda: step.simulated.words.text().startswith("Stopped"))
    assert step.complete  # it may be created without
    crystal.open.set()
    step.simulated.again.click()
    until(qtbot, lambda: step.simulated.words.text().startswith("384 to 672"))
    creation_of(window).reject()


@pytest.mark.slow
def test_a_new_campaign_simulates_what_would_be_made(qtbot, window, tmp_path, crystal):
    step = to_goal(qtbot, window, table(tmp_path / "two.csv"))
    until(qtbot, lambda: step.simulated.words.text() == "384 to 672 measurements in all, in 4 to 7 rounds.")
    crystal.open.clear()
    step.epsilon.edit.setText("0,6")
    until(qtbot, lambda: step.ahead.busy and step.complete)  # it may be created meanwhile
    assert step.simulated.words.text() == "Simulating…"
    step.budget.edit.setText("200")
    crystal.open.set()
    until(qtbot, lambda: step.simulated.words.text().startswith("The budget of 200 leaves about 6 undecided"))
    assert [(one.epsilon, one.budget) for one in crystal.drafts] == [(0.5, None), (0.6, 200)]
    step.epsilon.edit.setText("far")
    until(qtbot, lambda: step.simulated.isHidden())
    creation_of(window).reject()


def test_table_without_values_asks_for_an_endpoint(qtbot, window, tmp_path, crystal):
    path = tmp_path / "bare.csv"
    path.write_text("ID,R1,R2\nA,Me,F\nB,Et,Cl\nC,Me,Cl\nD,Et,F\n")
    window.new_campaign()
    creation = creation_of(window)
    creation.start_with(path)
    until(qtbot, lambda: "name it under Endpoints" in creation.columns_pane.panel.mend.text())
    boxes = creation.goal_pane.endpoints
    boxes.new.setText("pIC50")
    boxes.add.click()
    until(qtbot, lambda: creation.complete)
    assert [box.name for box in boxes.boxes] == ["pIC50"]
    creation.reject()


def test_strategies_loaded_after_closing_are_ignored(qtbot, window, monkeypatch):
    go, begun, landed = threading.Event(), threading.Event(), []

    def slow():
        begun.set()
        go.wait(30.0)
        landed.append(1)
        return ()

    monkeypatch.setattr("assaypilot.gui.new_campaign.goal_pane.load_strategies", slow)
    window.new_campaign()
    creation = creation_of(window)
    until(qtbot, begun.is_set)
    gone = []
    creation.goal_pane.strategy.combo.destroyed.connect(lambda: gone.append(1))
    creation.reject()
    until(qtbot, lambda: bool(gone))
    with qtbot.captureExceptions() as raised:
        go.set()
        wait_for(qtbot, window, lambda: bool(landed))
    assert not raised


def test_new_campaign_loads_neither_scipy_nor_matplotlib():
    code = "import sys, assaypilot.gui.new_campaign.dialog; print('scipy' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False"]


# ---------------------------------------------------------------------- rounds of two endpoints


def cell(window, line, place, text):
    """Type into a cell as its editor does."""
    model = window.round.model
    row = model.view_row(line)
    assert row is not None
    column = model.place_of("result" if place == 0 else f"result-{place}")
    model.setData(model.index(row, column), text)


def paste(qtbot, window, rows):
    """The lines of the preview."""
    QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows) + "\n")
    window.round.reading.paste()
    until(qtbot, lambda: window.round.stack.currentWidget() is window.round.preview)
    return window.round.preview.model.as_text()[1:]


def used(window, count):
    return status(window).measurements_used == count


@pytest.fixture
def planned(open_window, tmp_path):
    """A window with an open round of two endpoints."""
    return open_window(copied(tmp_path, _planned))


def _planned(folder):
    path = campaign_file(folder)
    with Campaign.open(path) as campaign:
        campaign.plan()
    return path


def test_each_endpoint_has_its_cells(qtbot, planned):
    window, model = planned, planned.round.model
    keys = [column.key for column in model.columns if column.key.startswith("result")]
    # A cell for each measurement: both endpoints once, then both a second time.
    assert keys[:4] == ["result", "result-1", "result.2", "result-1.2"]
    assert len(keys) == 2 * max(item.replicates for item in open_round(window).items)
    cell(window, 0, 1, "5.2")
    until(qtbot, lambda: status(window).measurements_used == 1)
    assert (kept_text(model, 0, 0), kept_text(model, 0, 1)) == ("", "5.2")
    assert status(window).measurements[-1].endpoint == 1
    item = open_round(window).items[0]
    state = model.columns[model.place_of("state")]
    assert state.text(0) == f"1 of {2 * item.replicates}"
    assert state.cell_tip(0) == f"pIC50: 0 of {item.replicates}\nhERG: 1 of {item.replicates}"
    assert "hERG: 1" in window.strip.used.toolTip()
    # A refused text stays in its own cell, and the answer goes there.
    cell(window, 1, 0, "35")
    assert model.wrong(1, 0) is not None
    assert model.wrong(1, 1) is None
    window.round.panel.take.click()
    until(qtbot, lambda: status(window).measurements_used == 2)
    assert (kept_text(model, 1, 0), kept_text(model, 1, 1)) == ("7.46", "")
    missing = open_round(window).missing_of
    window.close_round()
    words = [one.text() for one in window.closing.findChildren(type(window.closing.heading))]
    assert any(f": {missing[0]:,} of pIC50 and {missing[1]:,} of hERG. What becomes" in text for text in words)
    window.closing.reject()


def test_the_keyboard_goes_along_a_line_with_tab_and_down_with_enter(qtbot, planned):
    window, model = planned, planned.round.model
    window.activateWindow()
    until(qtbot, window.isActiveWindow)
    window.round.table.edit_line(0)
    assert model.line_cells(0)[:3] == [(0, 0), (1, 0), (0, 1)]
    for text, key, cell_after in (
        ("7.1", Qt.Key.Key_Tab, (0, 1, 0)), ("5.1", Qt.Key.Key_Tab, (0, 0, 1)), ("7.2", Qt.Key.Key_Return, (1, 0, 1)),
    ):  # fmt: skip
        before = status(window).measurements_used
        target = QApplication.focusWidget()
        assert target is not None
        QTest.keyClicks(target, text[0])
        editor = QApplication.focusWidget()
        assert isinstance(editor, QLineEdit)
        QTest.keyClicks(editor, text[1:])
        assert editor.accessibleName() in ("Result of pIC50", "Result of hERG")
        QTest.keyClick(editor, key)
        wait_for(qtbot, window, partial(used, window, before + 1))
        assert (window.round.table.current_row(), *window.round.table.current_cell) == cell_after
    assert (kept_text(model, 0, 0), kept_text(model, 0, 1)) == ("7.1; 7.2", "5.1")
    assert [one.entered.replicate for one in status(window).measurements] == ["1", "1", "2"]


def test_pastes_find_the_endpoint_of_each_value(qtbot, planned):
    window = planned
    ids = [status(window).library.ids[item.compound] for item in open_round(window).items]
    window.round.table.choose(0, "result")
    rows = paste(qtbot, window, [["7.1", "5.1"], ["n.d.", "5.2"], ["7.3", "oops"], ["7.4", "5.4", "9.9"]])
    assert [(row[1], row[3], row[4]) for row in rows] == [
        (ids[2], "", "rejected: 'oops' is not a number"),
        (ids[3], "", "rejected: there is no endpoint left in the round for this column"),
        (ids[0], "7.1", "pIC50, line 1"),
        (ids[0], "5.1", "hERG, line 1"),
        (ids[1], "5.2", "hERG, line 2"),
        (ids[2], "7.3", "pIC50, line 3"),
        (ids[3], "7.4", "pIC50, line 4"),
        (ids[3], "5.4", "hERG, line 4"),
    ]
    window.round.preview.cancel.click()
    window.round.table.choose(1, "result-1")
    rows = paste(qtbot, window, [["5.1"], ["5.2"]])
    assert [row[4] for row in rows] == ["hERG, line 2", "hERG, line 3"]
    window.round.preview.cancel.click()
    rows = paste(qtbot, window, [["hERG", "pIC50"], ["5.1", "7.1"]])
    assert [(row[3], row[4]) for row in rows] == [("5.1", "hERG, line 2"), ("7.1", "pIC50, line 2")]
    window.round.preview.cancel.click()
    rows = paste(qtbot, window, [[ids[2], "hERG", "5.3"], [ids[0], "pIC50", "7.7"]])
    assert [(row[1], row[4]) for row in rows] == [(ids[2], "hERG, line 3"), (ids[0], "pIC50, line 1")]
    window.round.preview.cancel.click()
    rows = paste(qtbot, window, [["ID", "Endpoint", "Value"], [ids[1], "hERG", "5.5"], [ids[1], "pIC50", "7.5"]])
    window.round.preview.write.click()
    wait_for(qtbot, window, lambda: status(window).measurements_used == 2)
    assert [kept_text(window.round.model, 1, place) for place in (0, 1)] == ["7.5", "5.5"]


# ---------------------------------------------------------------------- candidates


def keys(window):
    return [column.key for column in window.candidates.model.columns]


def test_a_decided_trade_off_is_shown_as_a_front(qtbot, window, tmp_path):
    opened(qtbot, window, campaign_file(tmp_path, rounds=30))
    page, now = window.candidates, status(window)
    assert now.finished
    inside = np.flatnonzero(now.candidates.status == 1).tolist()
    window.show_page(PageName.CANDIDATES)
    until(qtbot, lambda: page.canvas.shown)
    wanted = ["estimate", "estimate-hERG", "near", "far", "interval", "interval-hERG", "measured", "decided"]
    assert [key for key in keys(window) if key in wanted] == wanted
    assert isinstance(page.canvas.picture, FrontPicture)
    assert sorted(page.canvas.picture.compounds) == list(range(18))
    # The plot and the table are one selection.
    out = int(np.flatnonzero(now.candidates.status == 2)[0])
    page.which.choose("all")
    x, y = now.candidates.estimates["pIC50"][out], now.candidates.estimates["hERG"][out]
    until(qtbot, lambda: page.canvas.shown and bool(page.canvas.parts))
    QTest.mouseClick(page.canvas, Qt.MouseButton.LeftButton, pos=page.canvas.parts[0].pixel(x, y).toPoint())
    assert page.table.current_row() == out
    assert page.panel.name.text() == IDS[out]
    assert page.panel.why.heading.text() == "Why out"
    assert "another compound is better in every endpoint" in page.panel.why.words.text()
    page.select(min(inside))
    assert "no other compound is better in every endpoint" in page.panel.why.words.text()
    captions = [caption for caption, _ in page.panel.details.rows]
    assert captions[:4] == ["pIC50", "hERG", "P(trade-off)", "P(with margin)"]
    page.filter.setText("hERG<4.5")
    until(qtbot, lambda: page.model.rowCount() < 18)
    assert set(page.model.rows.tolist()) == set(np.flatnonzero(now.candidates.estimates["hERG"] < 4.5).tolist())


def test_chance_of_keeping_to_a_limit_is_shown(qtbot, window, tmp_path):
    opened(qtbot, window, campaign_file(tmp_path, goal="best", limit="<5.5", rounds=2))
    window.show_page(PageName.CANDIDATES)
    page, now = window.candidates, status(window)
    until(qtbot, lambda: page.canvas.shown)
    assert isinstance(page.canvas.picture, RankedPicture)
    page.which.choose("all")
    meets = page.model.columns[page.model.place_of("meets-hERG")]
    assert meets.title == "P(hERG\n< 5.5)"
    failing = [n for n in range(18) if truth("hERG", IDS[n]) > 5.8]
    assert all(now.candidates.probability_meets["hERG"][n] < 0.5 for n in failing)
    assert not view(window).practice
