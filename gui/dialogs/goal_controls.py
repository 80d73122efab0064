"""Plates and controls in the wizard: what may shift all values together, and what is measured to see it."""

from __future__ import annotations

import math

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from assaypilot.engine.controls import Control, parse_control
from assaypilot.engine.errors import AssayPilotError
from assaypilot.gui.dialogs.steps import Field
from assaypilot.gui.widgets.message_bar import error_words

__all__ = ["PlatesAndControls", "controls_in"]

BLOCKS = (
    ("none", "Plates read alike: nothing is taken out"),
    ("plate", "Take plate effects out"),
    ("batch", "Take batch effects out"),
    ("date", "Take effects of the day out"),
    ("round", "Take round effects out"),
)
"""What is taken out, in words."""
WHAT = "measured in every round beside the others, with what they should read"


class PlatesAndControls(QWidget):
    """A choice of what is taken out, and a line for the controls it is told from."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.combo = QComboBox()
        self.combo.setAccessibleName("Plate effects")
        self.combo.setToolTip(
            "All values of a plate may be shifted alike. The shift is told from the controls on it, and taken out of "
            "estimates and decisions"
        )
        for key, words in BLOCKS:
            self.combo.addItem(words, key)
        self.edit = Field(
            "Controls",
            hint=WHAT,
            tip="For example REF-1 = 7.1, or REF-1 alone when the value is not known; several with semicolons",
            width=0,
        )
        self.edit.edit.setPlaceholderText("REF-1 = 7.1; REF-2")
        column.addWidget(self.combo)
        column.addWidget(self.edit)
        self.setFocusProxy(self.combo)
        self.combo.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.edit.edit.textChanged.connect(lambda _: self.changed.emit())

    @property
    def blocks(self) -> str:
        """What is taken out, as the campaign calls it."""
        return str(self.combo.currentData())

    def controls(self) -> tuple[Control, ...] | None:
        """The controls typed; None when they cannot be read (then it is said there)."""
        self.edit.problem("")
        try:
            found = controls_in(self.edit.text)
        except AssayPilotError as error:
            self.edit.problem(" ".join(filter(None, error_words(error))))
            return None
        if self.blocks != "none" and not found:
            self.edit.problem("Such effects are told from controls: name the compound on every plate, as REF-1 = 7.1.")
            return None
        return found


def controls_in(text: str) -> tuple[Control, ...]:
    """The controls that ``REF-1 = 7.1; REF-2`` names; ``REF-1 = pIC50 7.1, hERG 5`` of several endpoints.

    AssayPilotError for what names none.
    """
    found = []
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        name, equals, values = (piece.strip() for piece in part.partition("="))
        if not equals:
            found.append(parse_control(name))
            continue
        said = [piece.strip() for piece in values.split(", ")] if " " in values else [values]
        pairs = [piece.rpartition(" ") for piece in said]
        for _, _, value in pairs:
            if not _is_number(value):
                raise AssayPilotError(
                    f"{value!r} is no value of {name}",
                    mend="Write REF-1 = 7.1, on the log scale for a log endpoint, or the name alone.",
                )
        found.append(parse_control(";".join([name, *(f"{of.strip() or 'value'}={value}" for of, _, value in pairs)])))
    return tuple(found)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False
