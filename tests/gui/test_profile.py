"""Profiles in the window: curves drawn in a new campaign, by mouse and by number, and columns among the candidates."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.domain.derived import PROFILE, profile_endpoint
from assaypilot.engine.domain.desirability import Curve
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.gui.candidates.candidate_panel import details
from assaypilot.gui.candidates.candidate_rows import CandidatesModel
from assaypilot.gui.new_campaign.profile_editor import ProfileEditor
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import status, to_goal, until, wait_for
from tests.gui.test_goals import IDS, ROWS, box, choose_goal, opened, truth

POTENCY, HERG, LOGD = Endpoint("pIC50"), Endpoint("hERG", "µM", "log"), Endpoint("logD")
HISTORY = [Result("C-1", value, "pIC50") for value in (5.5, 6.0, 6.4, 7.0, 7.9)]


@pytest.fixture
def editor(qtbot):
    made = ProfileEditor()
    qtbot.addWidget(made)
    made.offer([POTENCY, HERG, LOGD], HISTORY)
    made.draw()
    made.resize(600, 700)
    made.show()
    return made


def drag(one, point, pixels):
    start = one.plot.point(point).toPoint()
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mousePress(one.plot, left, none, start)
    QTest.mouseMove(one.plot, start + QPoint(pixels // 2, 3))
    QTest.mouseMove(one.plot, start + QPoint(pixels, 3))
    QTest.mouseRelease(one.plot, left, none, start + QPoint(pixels, 3))


def test_curve_starts_over_the_better_half_of_the_measured_values(editor):
    curves = editor.curves()
    assert curves[0] == Curve("pIC50", (6.0, 7.5))
    zero, one = curves[1].values
    assert zero > one  # of a potency in µM small values are wanted


def test_dragging_a_point_moves_its_number_and_the_curve(editor):
    potency, herg, _ = editor.boxes
    drag(potency, 1, -60)
    value = potency.numbers[1].value()
    assert 6.0 < value < 7.5
    assert value == pytest.approx(round(value, 2))  # round numbers, as people draw them
    drag(herg, 0, 40)
    curves = editor.curves()
    assert curves[0].values == (6.0, value)
    assert curves[1].values[0] > 100.0
    assert curves[1].values[1] == 1.0


def test_dragging_off_the_points_changes_nothing(editor):
    before, plot = editor.curves(), editor.boxes[0].plot
    away = QPoint(plot.width() - 3, plot.height() - 3)
    QTest.mousePress(plot, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, away)
    QTest.mouseMove(plot, away - QPoint(80, 0))
    QTest.mouseRelease(plot, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, away - QPoint(80, 0))
    assert editor.curves() == before


def test_plateau_weight_and_choice_are_part_of_the_curves(editor):
    potency, herg, logd = editor.boxes
    herg.chosen.setChecked(False)
    logd.plateau.setChecked(True)
    for number, value in zip(logd.numbers, (0.0, 1.0, 3.0, 4.0), strict=True):
        number.setValue(value)
    potency.weight.setValue(2.0)
    assert editor.parts == ("pIC50", "logD")
    assert editor.curves() == (Curve("pIC50", (6.0, 7.5), 2.0), Curve("logD", (0.0, 1.0, 3.0, 4.0)))


def test_invalid_curve_is_explained_at_its_box(editor):
    potency, herg, _ = editor.boxes
    potency.numbers[1].setValue(6.0)
    assert editor.curves() is None
    assert "ramp" in potency.problem.text()
    assert not potency.problem.isHidden()
    potency.numbers[1].setValue(8.0)
    assert potency.problem.isHidden()
    herg.numbers[0].setValue(-1.0)
    assert not herg.problem.isHidden()
    assert editor.curves() is None


def test_curves_stay_when_an_endpoint_is_added(editor):
    editor.boxes[0].numbers[1].setValue(8.0)
    editor.offer([POTENCY, HERG, LOGD, Endpoint("clearance")], HISTORY)
    editor.draw()
    assert [one.endpoint.name for one in editor.boxes] == ["pIC50", "hERG", "logD", "clearance"]
    assert editor.boxes[0].numbers[1].value() == 8.0


def table(path):
    lines = ["ID,R1,R2,R3,pIC50,hERG"]
    for place, (name, row) in enumerate(zip(IDS, ROWS, strict=True)):
        values = [f"{truth(one, name):.2f}" if place % 2 else "" for one in ("pIC50", "hERG")]
        lines.append(",".join([name, *row, *values]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def to_profile(qtbot, window, path):
    step = to_goal(qtbot, window, path)
    until(qtbot, lambda: step.complete)
    step.objective.setCurrentIndex(step.objective.findData(PROFILE))
    return step


def test_new_campaign_makes_a_campaign_about_a_profile(qtbot, window, tmp_path):
    step = to_profile(qtbot, window, table(tmp_path / "two.csv"))
    assert step.profile.isVisibleTo(step)
    assert step.epsilon.text == "0.1"
    potency, herg = step.profile.boxes
    for one, values in ((potency, (6.0, 8.0)), (herg, (6.0, 5.0))):
        for number, value in zip(one.numbers, values, strict=False):
            number.setValue(value)
    assert all(box(step, name).measured for name in ("pIC50", "hERG"))
    until(qtbot, lambda: step.complete)
    assert "best Desirability" in step.sentence.text()
    step.file.edit.setText(str(tmp_path / "profile.assaypilot"))
    until(qtbot, lambda: step.complete)
    window.creation.create_button.click()
    until(qtbot, lambda: window.session.view is not None)
    now = status(window)
    assert [curve.text for curve in now.endpoints[-1].curves] == ["pIC50:6..8", "hERG:6..5"]
    assert now.measured_endpoints == (0, 1)
    model = CandidatesModel()
    model.show(now)
    titles = [column.title.replace("\n", " ") for column in model.columns]
    assert "Desirability" in titles
    assert "P(profile met)" in titles
    assert "P(profile met)" in dict(details(now, 0))


def test_profile_is_offered_for_goals_about_one_endpoint_alone(qtbot, window, tmp_path):
    step = to_profile(qtbot, window, table(tmp_path / "two.csv"))
    choose_goal(step, "pareto")
    assert not step.profile.isVisibleTo(step)
    choose_goal(step, "best")
    assert step.profile.isVisibleTo(step)
    step.objective.setCurrentIndex(0)
    assert not step.profile.isVisibleTo(step)
    choose_goal(step, "epsilon-best")
    assert step.epsilon.text == "0.5"


def campaign_file(folder):
    endpoints = (Endpoint("pIC50", noise_sd=0.2), Endpoint("hERG", noise_sd=0.2))
    whole = profile_endpoint([Curve("pIC50", (6.0, 8.0)), Curve("hERG", (6.0, 5.0))], endpoints)
    library = Library.listed(["R1", "R2", "R3"], [list(row) for row in ROWS], ids=IDS)
    history = [Result(name, truth(one, name), one) for name in IDS[::2] for one in ("pIC50", "hERG")]
    path = folder / "profile.assaypilot"
    settings = Settings(PROFILE, epsilon=0.1, strategy="gaussian-process")
    Campaign.create(path, library=library, endpoints=(*endpoints, whole), settings=settings, history=history).close()
    return path


def test_goal_page_redraws_a_curve_and_applies_it(qtbot, window, tmp_path):
    opened(qtbot, window, campaign_file(tmp_path))
    window.show_page(PageName.GOAL)
    page = window.goal
    form = page.form
    assert not form.touched
    potency = form.profile.boxes[0]
    assert (potency.numbers[0].value(), potency.numbers[1].value()) == (6.0, 8.0)
    potency.numbers[1].setValue(7.5)
    assert form.touched
    until(qtbot, lambda: page.change.apply_button.isEnabled())
    assert "pIC50:6..7.5" in page.change.words.text()
    page.change.apply.emit("drawn anew")
    wait_for(
        qtbot, window, lambda: [c.text for c in status(window).endpoints[-1].curves] == ["pIC50:6..7.5", "hERG:6..5"]
    )
    assert not form.touched
    potency.numbers[0].setValue(5.0)
    form.reset()
    assert potency.numbers[0].value() == 6.0


SMILES = ["CCOc1ccccc1", "CCCCCCCCOc1ccccc1", "CCNC(=O)c1ccccc1"]


def test_properties_are_offered_where_there_are_structures_and_drawn_like_endpoints(qtbot):
    made = ProfileEditor()
    qtbot.addWidget(made)
    made.offer([POTENCY, Endpoint("HBD")], HISTORY, SMILES)
    made.draw()
    assert [one.endpoint.name for one in made.boxes] == ["pIC50", "HBD", "MW", "cLogP", "TPSA", "Rotatable bonds"]
    assert made.parts == ("pIC50", "HBD")  # that of the table takes the place of the calculated one
    made.resize(600, 900)
    made.show()
    logp = made.boxes[3]
    logp.chosen.setChecked(True)
    QApplication.processEvents()
    drag(logp, 0, -40)
    curves = made.curves()
    assert curves is not None
    zero, one = curves[2].values
    assert (curves[2].endpoint, one) == ("cLogP", 4.0)
    assert 4.0 < zero < 6.0
    made.offer([POTENCY], HISTORY)
    made.draw()
    assert [one.endpoint.name for one in made.boxes] == ["pIC50"]


def with_structures(path):
    lines = ["ID,SMILES,R1,R2,R3,pIC50"]
    for place, (name, row) in enumerate(zip(IDS, ROWS, strict=True)):
        smiles = f"{'C' * (1 + place % 9)}Oc1ccc({'N' * (place % 2)}{'C' * (1 + place // 9)})cc1"
        lines.append(",".join([name, smiles, *row, f"{truth('pIC50', name):.2f}" if place % 2 else ""]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_profile_of_properties_is_a_column_under_another_goal(qtbot, window, tmp_path):
    step = to_goal(qtbot, window, with_structures(tmp_path / "one.csv"))
    until(qtbot, lambda: step.complete)
    step.show_more()
    step.scored.setChecked(True)
    step.profile.boxes[1].chosen.setChecked(True)
    assert step.profile.isVisibleTo(step)
    step.file.edit.setText(str(tmp_path / "profile.assaypilot"))
    until(qtbot, lambda: step.complete)
    assert window.creation is not None
    window.creation.create_button.click()
    until(qtbot, lambda: window.session.view is not None)
    now = status(window)
    assert now.endpoints[now.objective].name == "pIC50"
    assert [curve.endpoint for curve in now.endpoints[-1].curves] == ["pIC50", "MW"]
    assert now.candidates.profile_met is not None
    window.show_page(PageName.GOAL)
    assert [one.endpoint.name for one in window.goal.form.profile.boxes if one.chosen.isChecked()] == ["pIC50", "MW"]
    assert not window.goal.form.touched
