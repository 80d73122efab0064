"""Noise that differs by class in the wizard, through its real widgets."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from assaypilot.engine.noise_classes import NoiseClasses
from tests.gui.test_unknown_noise import box_of


def test_the_wizard_takes_another_noise_for_some_compounds(qtbot: QtBot) -> None:
    box = box_of("ID\tR1\tpIC50\na\tMe\t5\nb\tH\t6\n")
    qtbot.addWidget(box)
    box.noise.edit.setText("0.2")
    box.classes.edit.setText("R1 Me 0.4")
    assert box.read() is None
    assert "does not say whose noise differs" in box.classes.note.text()
    box.classes.edit.setText("R1: Me=0,4")
    assert box.read() is None
    box.classes.edit.setText("R1: Me=0.4")
    read = box.read()
    assert read is not None
    assert (read.noise_sd, read.noise_classes) == (0.2, NoiseClasses("R1", (("Me", 0.4),)))
    assert not box.classes.note.isVisibleTo(box)
    box.unknown.click()
    assert box.read() is None
    assert "does not differ by class" in box.classes.note.text()
    box.classes.edit.clear()
    assert box.read() is not None
    assert not box.classes.isVisibleTo(box)


def test_a_goal_without_the_endpoint_asks_for_no_classes(qtbot: QtBot) -> None:
    box = box_of("ID\tR1\tpIC50\na\tMe\t5\nb\tH\t6\n")
    qtbot.addWidget(box)
    box.show_for("epsilon-best", objective=False)
    assert not box.classes.isVisibleTo(box)
    box.show_for("epsilon-best", objective=True)
    assert box.classes.isVisibleTo(box)
