"""What is known of one compound: its own values, its confirmation, why it is in or out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QLabel, QWidget

from assaypilot.engine.campaign.findings import Check
from assaypilot.engine.campaign.phrases import joined
from assaypilot.engine.campaign.reasons.reasons import OwnValue, Reasoning
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.export.shortlist import confirmed

from ..widgets.layout import breakable, column_of, copied
from ..widgets.text import label, polish

_SIGNS = {True: "\N{CHECK MARK}", False: "\N{BALLOT X}", None: "\N{HORIZONTAL ELLIPSIS}"}


def confirmed_text(status: Status, compound: int) -> str:
    """``✓ confirmed``, ``✗ not confirmed: 0.62 below predicted``, ``… not measured yet``; empty for all others."""
    words = confirmed(status, compound)
    return f"{_SIGNS[status.confirmation.states.get(compound)]} {words}" if words else ""


def confirmation_rows(status: Status, compound: int) -> list[tuple[str, str]]:
    """Captions and values: what was predicted of each endpoint, and whether it is confirmed; none without a round."""
    words = confirmed_text(status, compound)
    if not words:
        return []
    checks = status.confirmation.of(compound)
    several = len(status.measured_endpoints) > 1
    said = [f"{f'{_scale(status, check)} ' if several else ''}{_interval(check)}" for check in checks]
    return [*([("Predicted", ", ".join(said))] if said else []), ("Confirmed", words)]


def doubt_text(status: Status, compound: int) -> str:
    """What lies outside its prediction, and what that means."""
    outside = status.confirmation.outside(compound)
    said = [
        f"{_scale(status, check)} {check.value:.2f}, predicted {_interval(check)}"
        for check in outside
        if check.value is not None
    ]
    return (
        f"Measured {joined(said)}. The additive model is in doubt for it. It stays in, because a confirmation decides "
        "nothing: measure it again, and look at its measurement before it is sent on."
    )


def _scale(status: Status, check: Check) -> str:
    return status.endpoints[check.prediction.endpoint].scale_name


def _interval(check: Check) -> str:
    """The prediction interval of as many measurements as there are."""
    middle, half = check.prediction.mean, check.half
    return f"{middle - half:.2f} \N{EN DASH} {middle + half:.2f}"


MOST = 30
"""Lines shown; what is more is counted."""


def line_of(value: OwnValue, *, named: bool) -> str:
    """One value in words: ``7.31, round 2``, ``hERG 5.02, mean of 3, round 2``."""
    parts = [f"{value.endpoint} {value.value}" if named else value.value]
    if value.n > 1:
        parts.append(f"mean of {value.n}")
    return ", ".join([*parts, value.when])


class OwnValues(QWidget):
    """Lines of values; each can be selected and copied."""

    def __init__(self) -> None:
        super().__init__()
        self._column = column_of(holder=self, spacing=3)
        self.lines: list[tuple[QLabel, QLabel]] = []
        """Of each line the value, and the note below it."""
        self.more = label("", "muted", wrap=True)
        self._column.addWidget(self.more)

    def show_values(self, values: Sequence[OwnValue], *, named: bool) -> None:
        """Show these; ``named``: which endpoint each is of is said."""
        shown = values[:MOST]
        while len(self.lines) < len(shown):
            pair = (label("", wrap=True), label("", "muted", wrap=True))
            for each in pair:
                copied(each)
                self._column.insertWidget(self._column.count() - 1, each)
            self.lines.append(pair)
        for place, (line, note) in enumerate(self.lines):
            used = place < len(shown)
            line.setVisible(used)
            note.setVisible(used and bool(shown[place].note))
            if used:
                value = shown[place]
                text = line_of(value, named=named)
                if bool(line.property("role")) == value.used:
                    polish(line, role="" if value.used else "muted")
                font = line.font()  # after the style, which would take it back
                font.setStrikeOut(value.left_out)
                line.setFont(font)
                line.setText(breakable(text))
                said = f"{text}, not used" if not value.used else text
                line.setAccessibleName(f"{said}: {value.note}" if value.note else said)
                note.setText(breakable(f"\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{value.note}"))
        left = len(values) - len(shown)
        self.more.setText(f"and {left:,} more" if left > 0 else "" if values else "never measured")
        self.more.setVisible(bool(self.more.text()))


def why(status: Status, compound: int, reasoning: Reasoning) -> tuple[str, str, bool]:
    """Heading and text for a compound, and whether it asks to be looked at."""
    if compound in status.confirmation.not_confirmed:
        return "Not confirmed", f"{doubt_text(status, compound)} {reasoning.why}", True
    return reasoning.heading, reasoning.why, reasoning.open
