"""Noise that differs by class in the wizard, through its real widgets."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from pytestqt.qtbot import QtBot

from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.noise_classes import NoiseClasses
from assaypilot.engine.stated_noise import StatedNoise
from assaypilot.gui.pages.goal_form import TermsForm
from assaypilot.gui.pages.goal_terms import Terms, change_between
from assaypilot.gui.window.main_window import MainWindow
from tests.gui.helpers import until
from tests.gui.imports import check_of
from tests.gui.test_unknown_noise import box_of, measured


def test_the_wizard_takes_another_noise_for_some_compounds(qtbot: QtBot) -> None:
    box = box_of("ID\tR1\tpIC50\na\tMe\t5\nb\tH\t6\n")
    qtbot.addWidget(box)
    box.noise.edit.setText("0.2")
    box.classes.edit.setText("R1 Me 0.4")
    assert box.read() is None
    assert "Each class needs an SD" in box.classes.note.text()
    box.classes.edit.setText("R1: Me=0,4")
    assert box.read() is None
    box.classes.edit.setText("R1: Me=0.4")
    read = box.read()
    assert read is not None
    assert (read.noise_sd, read.noise_classes) == (0.2, NoiseClasses("R1", (("Me", 0.4),)))
    assert not box.classes.note.isVisibleTo(box)
    box.unknown.click()
    assert box.read() == dataclasses.replace(read, noise_estimated=True)  # the numbers are guesses now
    for text, sds in (("R1: Me", (("Me", None),)), ("R1", ())):
        box.classes.edit.setText(text)
        now = box.read()
        assert now is not None
        assert (now.noise_estimated, now.noise_classes) == (True, NoiseClasses("R1", sds))
    box.unknown.click()
    assert box.read() is None
    assert "Each class needs an SD" in box.classes.note.text()
    box.classes.edit.clear()
    assert box.read() is not None


def test_a_goal_without_the_endpoint_asks_for_no_classes(qtbot: QtBot) -> None:
    box = box_of("ID\tR1\tpIC50\na\tMe\t5\nb\tH\t6\n")
    qtbot.addWidget(box)
    box.show_for("epsilon-best", objective=False)
    assert not box.classes.isVisibleTo(box)
    box.show_for("epsilon-best", objective=True)
    assert box.classes.isVisibleTo(box)


def test_a_column_of_the_table_may_name_the_classes(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = ["ID,R1,R2,Sol,pIC50", "a,Me,H,poor,5", "b,H,H,ok,6", "c,Me,F,ok,", "d,H,F,poor,"]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    wizard = check_of(qtbot, window, table)
    until(qtbot, lambda: wizard.check_step.complete)
    wizard.next.click()
    step = wizard.goal_step
    until(qtbot, lambda: bool(step.endpoints.boxes) and not step.endpoints.building)
    (box,) = step.endpoints.boxes
    box.noise.edit.setText("0.2")
    step.epsilon.edit.setText("0.5")
    box.classes.edit.setText("Colour: red=0.6")
    until(qtbot, lambda: "no site or column 'Colour'" in box.classes.note.text())
    assert step.campaign_settings is None
    box.classes.edit.setText("Sol: poor=0.6")
    until(qtbot, lambda: step.campaign_settings is not None)
    (endpoint,) = step.campaign_endpoints
    assert endpoint.noise_classes is not None
    assert endpoint.noise_classes.compounds == (("a", "poor"), ("d", "poor"))
    wizard.reject()


def test_the_goal_page_takes_classes_behind_a_semicolon(qtbot: QtBot, tmp_path: Path) -> None:
    now = measured(tmp_path, Endpoint("pIC50", noise_sd=0.2))
    form = TermsForm()
    qtbot.addWidget(form)
    form.show_now(now, opened=True)
    line = form.field("pIC50")
    line.edit.setText("0.2; R1: A=0.6")
    wanted = form.read()
    assert wanted is not None
    own = NoiseClasses("R1", (("A", 0.6),))
    assert change_between(Terms.of(now), wanted).noise == {"pIC50": StatedNoise(0.2, classes=own)}
    assert "0.2; 0.6 with A at R1; now 0.2" in line.note.text()
    for typed, said in (("0.2; R1: A", "Each class needs an SD"), ("0.2; R1:", "like 0.2; R1: Ph=0.4")):
        line.edit.setText(typed)
        assert form.read() is None
        assert said in line.note.text()
    line.edit.setText("0.2; R9: A=0.6")
    assert form.refuse(AssayPilotError("there is no site 'R9'", option="--noise-class"))
    assert "no site 'R9'" in line.note.text()


def test_the_goal_page_shows_classes_and_takes_them_back(qtbot: QtBot, tmp_path: Path) -> None:
    now = measured(tmp_path, Endpoint("pIC50", noise_sd=0.2, noise_classes=NoiseClasses("R1", (("A", 0.6),))))
    form = TermsForm()
    qtbot.addWidget(form)
    form.show_now(now, opened=True)
    line = form.field("pIC50")
    assert line.text == "0.2; R1: A=0.6"
    assert line.note.text() == "0.2; 0.6 with A at R1"
    assert form.read() == Terms.of(now)
    line.edit.setText("0.6")
    wanted = form.read()
    assert wanted is not None
    assert change_between(Terms.of(now), wanted).noise == {"pIC50": 0.6}
