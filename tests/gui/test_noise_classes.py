"""Noise that differs by class in the wizard, through its real widgets."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from pytestqt.qtbot import QtBot

from assaypilot.engine.noise_classes import NoiseClasses
from assaypilot.gui.window.main_window import MainWindow
from tests.gui.helpers import until
from tests.gui.imports import check_of
from tests.gui.test_unknown_noise import box_of


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
