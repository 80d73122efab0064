"""The panel that explains the status of one compound, with its measurements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from assaypilot.engine.campaign.findings import Check
from assaypilot.engine.campaign.reasons import Reasoning
from assaypilot.engine.campaign.state import STATUSES, Status
from assaypilot.engine.chemistry.names import carried_names
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.export.measured import bound_text, bounds_note, estimate_text, means_of, means_words
from assaypilot.engine.export.shortlist import decimals_of
from assaypilot.engine.text import interval_name, joined, many

from ..plots.canvas import Canvas
from ..resources.theme import theme
from ..session.session import Session
from ..session.view import View
from ..structures.drawing import Structures
from ..structures.shown import CopiedStructure
from ..widgets.layout import breakable, copied, put, row_of, whole
from ..widgets.marks import StatusMark
from ..widgets.text import Callout, Details, ElidedLabel, label, polish, three_digits
from ..window.page import Side
from .candidate_rows import confirmed_text, interval_text, probability_text
from .why import OwnValues, WhyTable, line_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def confirmation_rows(status: Status, compound: int) -> list[tuple[str, str]]:
    """Captions and values: the prediction of each endpoint, and whether it is confirmed; none without a round."""
    words = confirmed_text(status, compound)
    if not words:
        return []
    checks = status.confirmation.of(compound)
    several = len(status.measured_endpoints) > 1
    intervals = [f"{f'{_scale(status, check)} ' if several else ''}{_interval(check)}" for check in checks]
    return [*([("Predicted", ", ".join(intervals))] if intervals else []), ("Confirmed", words)]


def doubt_text(status: Status, compound: int) -> str:
    """Return which values are outside their prediction, and what that means."""
    outside = status.confirmation.outside(compound)
    found = [
        f"{_scale(status, check)} {check.value:.2f}, predicted {_interval(check)}"
        for check in outside
        if check.value is not None
    ]
    doubt = "The model expected another value."
    if not status.guarantee.calibrated:
        doubt = "The additive model is in doubt for it. It stays in, because a confirmation decides nothing."
    return f"Measured {joined(found)}. {doubt} Measure it again, and look at its measurement before it is sent on."


def _scale(status: Status, check: Check) -> str:
    return status.endpoints[check.prediction.endpoint].scale_name


def _interval(check: Check) -> str:
    """Return the prediction interval for the actual number of measurements."""
    middle, half = check.prediction.mean, check.half
    return f"{middle - half:.2f} \N{EN DASH} {middle + half:.2f}"


def why(status: Status, compound: int, reasoning: Reasoning) -> tuple[str, str, bool]:
    """Heading and text for a compound, and whether it needs attention."""
    if compound in status.confirmation.not_confirmed:
        return "Not confirmed", f"{doubt_text(status, compound)} {reasoning.why}".rstrip(), True
    return reasoning.heading, reasoning.why, reasoning.open


NOT_ESTIMABLE = 3
_LONG = 14
"""Letters of a name above which each site has a row."""
_NONE = "\N{EN DASH}"
"""The text where nothing is known, so that the lines below do not move."""


def details(status: Status, compound: int, alone: str = "") -> list[tuple[str, str]]:
    """Captions and values of a compound; ``alone``: its one measurement, in words."""
    known = status.candidates
    rows: list[tuple[str, str]] = []
    several = len(status.requested_endpoints) > 1
    for place in status.requested_endpoints:
        rows += _endpoint_rows(status, compound, status.endpoints[place], named=several)
    digits = decimals_of(status)
    if not several and not status.guarantee.calibrated:
        posterior = interval_text(known.posterior_low[compound], known.posterior_high[compound], digits)
        # For one compound at a time: it must not be read as the certainty of the campaign.
        rows.append(("95 % interval", f"{posterior}, informs only" if posterior else _NONE))
    chances = (known.probability_within_epsilon, known.probability_within_slack)
    for name, values in zip(_chance_names(status), chances, strict=True):
        text = probability_text(float(values[compound])) or _NONE
        if (name, text) not in rows:
            rows.append((name, text))
    for place in status.limited_endpoints:
        endpoint = status.endpoints[place]
        text = probability_text(float(known.probability_meets[endpoint.name][compound])) or _NONE
        rows.append((f"P({endpoint.limit_text})", text))
    if known.profile_met is not None:
        rows.append(("P(profile met)", probability_text(float(known.profile_met[compound])) or _NONE))
    means = alone or means_words(means_of(status), compound, digits).removeprefix("measured ")
    rows.append(("Measured", breakable(means or measured_text(status, compound))))
    return [*rows, *confirmation_rows(status, compound)]


def _chance_names(status: Status) -> tuple[str, str]:
    """Return the captions of the two probabilities of a compound."""
    if status.settings.goal != "pareto":
        first, second = status.probability_names
        return f"P({first})", f"P({second})"
    return "P(trade-off)", "P(with margin)" if any(status.margins) else "P(trade-off)"


def _endpoint_rows(status: Status, compound: int, endpoint: Endpoint, *, named: bool) -> list[tuple[str, str]]:
    """Estimate and bounds of one endpoint; ``named``: the endpoint's name is the caption."""
    known = status.candidates
    estimate = known.estimates[endpoint.name][compound]
    if np.isnan(estimate):
        none = "none yet" if known.status[compound] != NOT_ESTIMABLE else "cannot be estimated"
        return [(endpoint.scale_name, none)] if named else [("Estimate", none), ("Bounds", _NONE)]
    shown = estimate_text(status, endpoint.name, compound, decimals_of(status))
    text = shown if named else f"{shown} {endpoint.scale_name}"
    if endpoint.transform == "log":
        entry = f"{three_digits(endpoint.from_model(float(estimate)))} {endpoint.unit}".strip()
        text += f" = {entry}" if named else f" ({entry})"
    decides = endpoint.name in known.lows
    low, high = (float(ends[endpoint.name][compound]) if decides else np.nan for ends in (known.lows, known.highs))
    bounds = interval_text(low, high, decimals_of(status))
    caption = interval_name(status.guarantee.kind)
    if named:
        return [(endpoint.scale_name, f"{text} ({bounds})" if bounds else text)]
    return [("Estimate", text), (caption, bounds or "none yet")] if decides else [("Estimate", text)]


def substituent_rows(status: Status, compound: int) -> list[tuple[str, str]]:
    """``R1 = Me, R2 = Cl``, no line ends within one of them; where a name is long, a row for each site."""
    carried = carried_names(status.library, compound)
    if any(len(name) > _LONG for name in carried.values()):
        return [(site, breakable(name)) for site, name in carried.items()]
    return [("Substituents", breakable(", ".join(f"{site}\u00a0=\u00a0{name}" for site, name in carried.items())))]


def measured_text(status: Status, compound: int) -> str:
    """How often a compound was measured."""
    known = status.candidates
    bounds = int(known.censored[compound])
    of_each = [
        (status.endpoints[place].scale_name, int(known.measured_of[status.endpoints[place].name][compound]))
        for place in status.measured_endpoints
    ]
    if any(n for _, n in of_each):
        if len({n for _, n in of_each}) == 1:
            text = many(of_each[0][1], "time")
            text += " each" if len(of_each) > 1 else ""
        else:
            text = ", ".join(f"{name} {many(n, 'time') if n else 'never'}" for name, n in of_each)
        return f"{text}, and {bounds} known only as a bound ({_limits(status, compound)})" if bounds else text
    if bounds:
        return f"{_limits(status, compound)}: {bounds} known only as a bound. {bounds_note(status)}"
    return "never: inferred" if not np.isnan(known.estimate[compound]) else "never"


def _limits(status: Status, compound: int) -> str:
    """``<5.0``, the known range of a compound's values; with several endpoints by name."""
    measured = [status.endpoints[place] for place in status.measured_endpoints]
    found = [(one.scale_name, bound_text(status, one.name, compound)) for one in measured]
    return ", ".join(f"{name} {text}" if len(measured) > 1 else text for name, text in found if text)


class CompoundPanel(QVBoxLayout):
    """Structure, figures, reasons and measurements of the selected compound."""

    def __init__(self, structures: Structures, session: Session) -> None:
        super().__init__()
        self.setSpacing(12)
        self.setContentsMargins(0, 0, 0, 0)
        heading = row_of(spacing=8)
        self.name = ElidedLabel("title")
        self.mark = StatusMark()
        put(heading, (self.name, 1), self.mark)
        self.addLayout(heading)
        self.structure = CopiedStructure(structures, session)
        self.addWidget(self.structure)
        self.details = Details()
        self.addWidget(self.details)
        self.why = Callout()
        self.sources = WhyTable(structures)
        self.decide = label("", wrap=True)
        put(self.why.body, self.sources, self.decide)
        self.addWidget(self.why)
        self.picked = label("", "muted", wrap=True)
        for part in (self.why.words, self.decide, self.picked):
            copied(part)
        self.addWidget(self.picked)
        self.measured = label("Measurements", "heading")
        self.addWidget(self.measured)
        self.values = OwnValues()
        self.addWidget(self.values)

    def show_compound(self, view: View, compound: int | None) -> None:
        """Explain a compound; None: says that one can be selected."""
        status, reasons = view.status, view.reasons
        for widget in (self.mark, self.details, self.why):
            widget.setVisible(compound is not None)
        self.picked.setVisible(compound is not None and status.open_round is not None)  # else History has it
        self.structure.show_compound(status.library, compound)
        if compound is None or reasons is None:
            self.name.setText("No compound selected")
            for part in (self.measured, self.values):
                part.hide()
            return
        self.name.setText(status.library.ids[compound])
        code = int(status.candidates.status[compound])
        self.mark.show_status(code, STATUSES[code])
        reasoning, named = reasons.of(compound), len(status.entered_endpoints) > 1
        values = reasoning.values
        listed = len(values) > 1 or any(value.note for value in values)
        alone = line_of(values[0], named=named) if values and not listed else ""
        rows = details(status, compound, alone)
        self.details.show_rows(rows if reasoning.sources else [*rows, *substituent_rows(status, compound)])
        title, words, open_ = why(status, compound, reasoning)
        self.why.show_text(title, breakable(words))
        self.sources.show_sources(status.library, compound, reasoning.sources)
        decide = f"What would decide it: {lower_first(reasoning.decide)}" if reasoning.decide else ""
        self.decide.setText(breakable(decide))
        self.decide.setVisible(bool(reasoning.decide))
        self.why.setAccessibleName(" ".join(filter(None, (title, words, decide))))
        kind = "open" if open_ else "calm"
        if self.why.property("kind") != kind:
            polish(self.why, kind=kind)
        self.picked.setText(breakable(reasoning.picked))
        self.values.show_values(values, named=named)
        for part in (self.measured, self.values):
            part.setVisible(listed)

    def as_side(self, scroll: QScrollArea, column: QVBoxLayout) -> QWidget:
        """Return the whole panel, which scrolls where the window is low."""
        column.addLayout(self)
        return Side(scroll, column)

    @property
    def selected_text(self) -> str:
        """The selected text of the label with the keyboard; empty without any."""
        focus = QApplication.focusWidget()
        return whole(focus.selectedText()) if isinstance(focus, QLabel) and focus.hasSelectedText() else ""

    def copy(self) -> bool:
        """Copy the selected text of the panel; return whether there was any."""
        text = self.selected_text
        if text:
            QApplication.clipboard().setText(text)
        elif self.structure.hasFocus():
            self.structure.copy_smiles()
        return bool(text) or self.structure.hasFocus()


def lower_first(text: str) -> str:
    """Return a sentence to follow a colon."""
    return text[:1].lower() + text[1:]


class CandidatePanel(CompoundPanel):
    """The selected compound, and how the set moved."""

    def __init__(self, structures: Structures, session: Session) -> None:
        super().__init__(structures, session)
        self.addStretch(1)
        self._side: Side | None = None
        self.course = QFrame()
        self.course.setObjectName("side")
        column = QVBoxLayout(self.course)
        column.setSpacing(6)
        self.moved = label("Set by round", "heading")
        column.addWidget(self.moved)
        self.canvas = Canvas("Compounds in and undecided after each round", on_panel=True)
        self.canvas.reserve(150, fixed=True)
        column.addWidget(self.canvas)

    def as_side(self, scroll: QScrollArea, column: QVBoxLayout) -> QWidget:
        """Return the whole panel: the compound, which scrolls, over the course of the set, which stays where it is."""
        column.addLayout(self)
        self._side = Side(scroll, column, self.course)
        return self._side

    def show_compound(self, view: View, compound: int | None) -> None:
        """Explain a compound; None: says that one can be selected."""
        super().show_compound(view, compound)
        if self._side is not None:
            self._side.pictured = view.status.library.smiles is not None or bool(view.status.library.structures)
            self._side.fit()

    def show_rounds(self, view: View, marked: int | None = None) -> None:
        """Draw the history of the set, and mark the round shown unless it is the latest."""
        sets = view.status.sets
        self.course.setVisible(len(sets) > 1)
        if len(sets) == 1:
            return

        def draw(size: tuple[float, float], dpi: float) -> Figure:
            from assaypilot.engine.figures.rounds import set_by_round

            colours = theme().colours
            palette = replace(colours.figure, background=colours.panel)
            return set_by_round(sets, marked=marked, palette=palette, size=size, dpi=dpi)

        self.canvas.show_figure(draw)
