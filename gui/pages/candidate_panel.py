"""The panel that answers *why* for one compound."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from assaypilot.engine.campaign.state import STATUSES, Status
from assaypilot.engine.campaign.words import many
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.labels import label_text
from assaypilot.gui.confirming import confirmation_rows
from assaypilot.gui.models.candidates import interval_text, probability_text
from assaypilot.gui.pages.why import why
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.session import View
from assaypilot.gui.theme import theme
from assaypilot.gui.widgets.marks import StatusMark
from assaypilot.gui.widgets.structures import Structures, StructureView
from assaypilot.gui.widgets.text import Callout, Details, ElidedLabel, label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CandidatePanel", "CompoundPanel", "details"]

NOT_ESTIMABLE = 3


def details(status: Status, compound: int) -> list[tuple[str, str]]:
    """Captions and values: what is known of a compound."""
    known = status.candidates
    rows: list[tuple[str, str]] = []
    several = len(status.asked_endpoints) > 1
    for place in status.asked_endpoints:
        rows += _endpoint_rows(status, compound, status.endpoints[place], named=several)
    if not several:
        posterior = interval_text(known.posterior_low[compound], known.posterior_high[compound])
        if posterior:
            rows.append(("95 % interval", posterior))
    chances = (known.probability_within_epsilon, known.probability_within_slack)
    for name, values in zip(_chance_names(status), chances, strict=True):
        text = probability_text(float(values[compound]))
        if text and (name, text) not in rows:
            rows.append((name, text))
    for place in status.limited_endpoints:
        endpoint = status.endpoints[place]
        text = probability_text(float(known.probability_meets[endpoint.name][compound]))
        if text:
            rows.append((f"P({endpoint.limit_text})", text))
    rows.append(("Measured", measured_text(status, compound)))
    rows += confirmation_rows(status, compound)
    if known.decided_in_round[compound]:
        rows.append(("Decided", f"after round {int(known.decided_in_round[compound])}"))
    return rows


def _chance_names(status: Status) -> tuple[str, str]:
    """What the two probabilities are called beside a compound."""
    if status.settings.goal != "pareto":
        first, second = status.probability_names
        return f"P({first})", f"P({second})"
    return "P(trade-off)", "P(with margin)" if any(status.margins) else "P(trade-off)"


def _endpoint_rows(status: Status, compound: int, endpoint: Endpoint, *, named: bool) -> list[tuple[str, str]]:
    """Estimate and deciding bounds of one endpoint; ``named``: the endpoint's name is the caption."""
    known = status.candidates
    estimate = known.estimates[endpoint.name][compound]
    if np.isnan(estimate):
        none = "none yet" if known.status[compound] != NOT_ESTIMABLE else "cannot be estimated"
        return [(endpoint.scale_name if named else "Estimate", none)]
    text = f"{estimate:.2f}" if named else f"{estimate:.2f} {endpoint.scale_name}"
    if endpoint.transform == "log":
        entry = f"{endpoint.from_model(float(estimate)):.3g} {endpoint.unit}".strip()
        text += f" = {entry}" if named else f" ({entry})"
    decides = endpoint.name in known.lows
    bounds = interval_text(known.lows[endpoint.name][compound], known.highs[endpoint.name][compound]) if decides else ""
    if named:
        return [(endpoint.scale_name, f"{text} ({bounds})".replace(" – ", "\u2013") if bounds else text)]
    return [("Estimate", text), ("Deciding bounds", bounds)] if bounds else [("Estimate", text)]


def measured_text(status: Status, compound: int) -> str:
    """How often a compound was measured, or what it is inferred from."""
    known = status.candidates
    bounds = int(known.censored[compound])
    carried = status.library.substituents(compound)
    made_of = ", ".join(f"{site}\u00a0=\u00a0{label_text(label)}" for site, label in carried.items())
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
        return f"{text}, and {bounds} known only as a bound" if bounds else text
    if bounds:
        return f"{bounds} known only as a bound, shown but not used"
    return f"never: inferred from {made_of}" if not np.isnan(known.estimate[compound]) else f"never ({made_of})"


class CompoundPanel(QVBoxLayout):
    """Structure, figures and reason of the selected compound."""

    def __init__(self, structures: Structures) -> None:
        super().__init__()
        self.setSpacing(12)
        self.setContentsMargins(0, 0, 0, 0)
        heading = QHBoxLayout()
        heading.setSpacing(8)
        self.name = ElidedLabel("title")
        self.mark = StatusMark()
        heading.addWidget(self.name, 1)
        heading.addWidget(self.mark)
        self.addLayout(heading)
        self.structure = StructureView(structures)
        self.addWidget(self.structure)
        self.details = Details()
        self.addWidget(self.details)
        self.why = Callout()
        self.addWidget(self.why)

    def show_compound(self, view: View, compound: int | None) -> None:
        """Nothing; explains a compound; None: says that one can be selected."""
        status = view.status
        for widget in (self.mark, self.details):
            widget.setVisible(compound is not None)
        if compound is None:
            self.name.setText("No compound selected")
            self.structure.show_structure("")
            self.why.setVisible(False)
            return
        self.name.setText(status.library.ids[compound])
        code = int(status.candidates.status[compound])
        self.mark.show_status(code, STATUSES[code])
        smiles = status.library.smiles
        self.structure.show_structure("" if smiles is None else smiles[compound])
        self.details.show_rows(details(status, compound))
        said = why(status, compound)
        self.why.setVisible(said is not None)
        if said is not None:
            self.why.say(*said)


class CandidatePanel(CompoundPanel):
    """The selected compound, and how the set moved."""

    def __init__(self, structures: Structures) -> None:
        super().__init__(structures)
        self.addSpacing(4)
        self.moved = label("The set, round by round", "heading")
        self.addWidget(self.moved)
        self.canvas = Canvas("Compounds in and undecided after each round", on_panel=True)
        self.canvas.setFixedHeight(176)
        self.addWidget(self.canvas)
        self.addStretch(1)

    def show_rounds(self, view: View, marked: int | None = None) -> None:
        """Nothing; draws how the set moved, and marks the round whose end is shown, unless that is now."""
        status = view.status
        closed = [one.number for one in status.rounds if one.state == "closed"]
        last = max(closed, default=0)
        known = status.candidates

        def draw(size: tuple[float, float], dpi: float) -> Figure:
            from assaypilot.engine.figures.rounds import counts_by_round, set_by_round

            colours = theme().colours
            palette = replace(colours.figure, background=colours.panel)
            inside, undecided = counts_by_round(known.status, known.decided_in_round, last)
            return set_by_round(inside, undecided, marked=marked, palette=palette, size=size, dpi=dpi)

        self.canvas.show_figure(draw)
