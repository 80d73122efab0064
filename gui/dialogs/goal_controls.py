"""Controls in the wizard: what is measured beside the library to compare plates and rounds."""

from __future__ import annotations

import math

from assaypilot.engine.domain.controls import Control, parse_control
from assaypilot.engine.errors import AssayPilotError

from ..widgets.message_bar import error_words
from .steps import Field

__all__ = ["ControlsField", "controls_in"]


class ControlsField(Field):
    """A line for the controls."""

    def __init__(self) -> None:
        super().__init__(
            "Controls",
            hint="measured in every round beside the others, with what they should read",
            tip="For example REF-1 = 7.1, or REF-1 alone when the value is not known; several with semicolons",
            width=0,
        )
        self.edit.setPlaceholderText("REF-1 = 7.1; REF-2")

    def controls(self) -> tuple[Control, ...] | None:
        """Return the controls typed; None when they cannot be read, which the field then says."""
        self.problem("")
        try:
            return controls_in(self.text)
        except AssayPilotError as error:
            self.problem(" ".join(filter(None, error_words(error))))
            return None


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
