"""Where an estimate comes from: what each substituent adds, drawn or named, and the compound's own values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from assaypilot.engine.campaign.reasons import OwnValue, Source
from assaypilot.engine.chemistry.names import site_names
from assaypilot.engine.domain.library import Library
from assaypilot.engine.models.contributions import Contribution
from assaypilot.engine.text import many, signed

from ..library.library_rows import drawn_labels
from ..resources.theme import tabular
from ..structures.drawing import Structures, StructureView
from ..widgets.layout import breakable, column_of, copied
from ..widgets.text import cut_middle, label, polish

MOST = 8
"""Sites with a row of their own, those with the largest contributions; the others are summed."""
HEADER = 12
"""Letters of an endpoint's name above its numbers."""
DRAWING = QSize(92, 46)
"""Pixels of a substituent."""
_SUM = "The mean of the measurements, and what each substituent adds to it \N{PLUS-MINUS SIGN} 95 %, as on the SAR page"
_REST = "Interactions, and what its own values add"
_NEVER = "Not known from the measurements: what it adds is in the last row"


class WhyTable(QWidget):
    """One row per site, and one column of numbers per estimate."""

    def __init__(self, structures: Structures) -> None:
        super().__init__()
        self._structures = structures
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self.setToolTip(_SUM)
        self.rows: list[tuple[str, ...]] = []
        """The texts of each row: site, substituent, and a number per estimate."""

    def show_sources(self, library: Library, compound: int, sources: Sequence[Source]) -> None:
        """Show the parts of the estimates of a compound; hidden without any."""
        for part in self.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            self._grid.removeWidget(part)
            part.hide()  # at once: it is deleted later
            part.deleteLater()
        self.rows = []
        self.setVisible(bool(sources))
        if not sources:
            return
        if len(sources) > 1:
            self._add("", "", [cut_middle(one.endpoint, HEADER) for one in sources])
        self._add("", "Mean of measurements", [f"{one.mean:.2f}" for one in sources])
        choices = [place for place, site in enumerate(library.sites) if len(site.substituents) > 1]
        size = {place: max(abs(_value(one.contributions[place])) for one in sources) for place in choices}
        largest = sorted(choices, key=lambda place: -size[place])[:MOST]
        for place in sorted(largest):
            self._add_site(library, place, int(library.codes[compound, place]), sources)
        others = [place for place in choices if place not in largest]
        if others:
            sums = [sum(_value(one.contributions[place]) for place in others) for one in sources]
            self._add("", many(len(others), "other site"), [signed(value) for value in sums])
        self._add("", "Beyond the sum", [signed(one.rest) for one in sources], tip=_REST)
        self.setAccessibleName("; ".join(" ".join(filter(None, row)) for row in self.rows))

    def _add_site(self, library: Library, place: int, code: int, sources: Sequence[Source]) -> None:
        """Add what one substituent adds; its structure where its name is long."""
        site = library.sites[place]
        drawn = drawn_labels(library, place)[code] if self._structures.wanted else ""
        parts = [one.contributions[place] for one in sources]
        never = any(math.isnan(part.value) for part in parts)
        tip = " ".join(filter(None, (site.substituents[code] if drawn else "", _NEVER if never else "")))
        self._add(
            site.name,
            site_names(site.substituents)[code],
            [_text(part, ends=len(parts) == 1) for part in parts],
            drawn,
            tip,
        )

    def _add(self, site: str, name: str, numbers: Sequence[str], drawn: str = "", tip: str = "") -> None:
        row = len(self.rows)
        self.rows.append((site, name, *numbers))
        middle: QWidget
        if drawn:
            middle = StructureView(self._structures, framed=False)
            middle.setFixedSize(DRAWING)
            middle.show_structure(drawn)
        else:
            middle = label(breakable(name), "" if site else "muted", wrap=True, selectable=True)
        if site:
            self._grid.addWidget(label(site, "muted"), row, 0)
        self._grid.addWidget(middle, row, 1 if site else 0, 1, 1 if site else 2, Qt.AlignmentFlag.AlignVCenter)
        for column, number in enumerate(numbers, start=2):
            cell = label(number, wrap=not (site or name))  # a heading may take two lines
            cell.setAlignment(Qt.AlignmentFlag.AlignRight)
            cell.setFont(tabular(cell.font()))
            self._grid.addWidget(cell, row, column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if tip:
            middle.setToolTip(tip)


def _value(part: Contribution) -> float:
    """Return what it adds as far as is known."""
    return 0.0 if math.isnan(part.value) else part.value


def _text(part: Contribution, *, ends: bool) -> str:
    """Return ``+0.62 ± 0.14``; ``ends``: with half its 95 % interval, where the noise is known."""
    if math.isnan(part.value):
        return "\N{EN DASH}"
    half = (part.high - part.low) / 2.0
    return (
        signed(part.value) if math.isnan(half) or not ends else f"{signed(part.value)} \N{PLUS-MINUS SIGN} {half:.2f}"
    )


MOST_VALUES = 30
"""Lines shown; further ones are counted."""


def line_of(value: OwnValue, *, named: bool) -> str:
    """One value in words: ``7.31, round 2``, ``hERG 5.02, mean of 3, round 2``."""
    parts = [f"{value.endpoint} {value.value}" if named else value.value]
    if value.n > 1:
        parts.append(f"mean of {value.n}")
    return ", ".join([*parts, value.when])


@dataclass(frozen=True, slots=True)
class ValueLine:
    """Values of one moment in a line, or one value with a note."""

    text: str
    note: str = ""
    used: bool = True
    left_out: bool = False


def value_lines(values: Sequence[OwnValue], *, named: bool) -> list[ValueLine]:
    """Return the values of a compound, those of one endpoint and round in one line: ``Round 2: hERG 5.02, 5.10``."""
    together: dict[tuple[str, str], int] = {}
    lines: list[ValueLine] = []
    for value in values:
        text = f"{value.value} (n = {value.n})" if value.n > 1 else value.value
        plain, key = value.used and not value.note, (value.endpoint, value.when)
        if plain and key in together:
            place = together[key]
            lines[place] = replace(lines[place], text=f"{lines[place].text}, {text}")
            continue
        if plain:
            together[key] = len(lines)
        start = f"{value.when[:1].upper()}{value.when[1:]}: {f'{value.endpoint} ' if named else ''}"
        lines.append(ValueLine(f"{start}{text}", value.note, value.used, value.left_out))
    return lines


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
        """Show these values; ``named``: with the name of each endpoint."""
        lines = value_lines(values, named=named)
        shown = lines[:MOST_VALUES]
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
                text = value.text
                if bool(line.property("role")) == value.used:
                    polish(line, role="" if value.used else "muted")
                font = line.font()  # after the style, which would take it back
                font.setStrikeOut(value.left_out)
                line.setFont(font)
                line.setText(breakable(text))
                spoken = f"{text}, not used" if not value.used else text
                line.setAccessibleName(f"{spoken}: {value.note}" if value.note else spoken)
                note.setText(breakable(f"\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{value.note}"))
        left = len(lines) - len(shown)
        self.more.setText(f"and {left:,} more" if left > 0 else "" if values else "never measured")
        self.more.setVisible(bool(self.more.text()))
