"""The panel that answers *why* for one compound."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from assaypilot.engine.campaign.state import STATUSES, Status
from assaypilot.engine.labels import label_text
from assaypilot.gui.models.candidates import interval_text, probability_text
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.session import View
from assaypilot.gui.theme import theme
from assaypilot.gui.widgets.marks import StatusMark
from assaypilot.gui.widgets.structures import Structures, StructureView
from assaypilot.gui.widgets.text import Callout, Details, ElidedLabel, label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CandidatePanel", "details", "why_undecided"]

UNDECIDED, IN, OUT, NOT_ESTIMABLE = range(4)


def details(status: Status, compound: int) -> list[tuple[str, str]]:
    """Captions and values: what is known of a compound."""
    known, settings = status.candidates, status.settings
    endpoint = status.endpoints[status.objective]
    rows: list[tuple[str, str]] = []
    estimate = known.estimate[compound]
    if np.isnan(estimate):
        rows.append(("Estimate", "none yet" if known.status[compound] != NOT_ESTIMABLE else "cannot be estimated"))
    else:
        text = f"{estimate:.2f} {endpoint.scale_name}"
        if endpoint.transform == "log":
            text += f" ({endpoint.from_model(float(estimate)):.3g} {endpoint.unit})".replace(" )", ")")
        rows.append(("Estimate", text))
    bounds = interval_text(known.low[compound], known.high[compound])
    if bounds:
        rows.append(("Deciding bounds", bounds))
    posterior = interval_text(known.posterior_low[compound], known.posterior_high[compound])
    if posterior:
        rows.append(("95 % interval", posterior))
    for width, value in (
        (settings.distance, known.probability_within_epsilon[compound]),
        (settings.distance + settings.softness, known.probability_within_slack[compound]),
    ):
        text = probability_text(float(value))
        if text and (f"P(within {width:g})", text) not in rows:
            rows.append((f"P(within {width:g})", text))
    rows.append(("Measured", measured_text(status, compound)))
    if known.decided_in_round[compound]:
        rows.append(("Decided", f"after round {int(known.decided_in_round[compound])}"))
    return rows


def measured_text(status: Status, compound: int) -> str:
    """How often a compound was measured, or what it is inferred from."""
    known = status.candidates
    n, bounds = int(known.measured[compound]), int(known.censored[compound])
    carried = status.library.substituents(compound)
    made_of = ", ".join(f"{site}\u00a0=\u00a0{label_text(label)}" for site, label in carried.items())
    if n:
        text = f"{n} time{'' if n == 1 else 's'}"
        return f"{text}, and {bounds} known only as a bound" if bounds else text
    if bounds:
        return f"{bounds} known only as a bound, shown but not used"
    return f"never: inferred from {made_of}" if not np.isnan(known.estimate[compound]) else f"never ({made_of})"


def why_undecided(status: Status, compound: int) -> tuple[str, str] | None:
    """What keeps a compound undecided or not estimable, as heading and text; None when it is decided."""
    known, settings = status.candidates, status.settings
    code = int(known.status[compound])
    if code == NOT_ESTIMABLE:
        return (
            "Not estimable",
            "Its substituents occur only in compounds that cannot be measured, or never apart from each other, "
            "so nothing that can be measured tells about it.",
        )
    if code != UNDECIDED:
        return None
    if np.isnan(known.estimate[compound]):
        return ("Why undecided", "Nothing has been measured yet that tells about it.")
    sign = status.endpoints[status.objective].sign
    below = sign * (known.cutoff - known.estimate[compound])
    where = f"It lies {abs(below):.2f} {'outside' if below > 0 else 'inside'} the cutoff at {known.cutoff:.2f}"
    low, high = known.low[compound], known.high[compound]
    if not (math.isfinite(low) and math.isfinite(high)):
        return ("Why undecided", f"{where}. No phase has been decided yet: its bounds come with the first one.")
    half = (high - low) / 2
    text = f"{where}, and is known to ± {half:.2f} in the last decided phase: both sides are still possible."
    if below > 0 and below <= settings.softness:
        text += " It is in the soft zone, where in and out are both right answers."
    if status.phase is not None and status.phase.outstanding > 0:
        text += f" The next decision comes after about {status.phase.outstanding:,} more measurements."
    return ("Why undecided", text)


class CandidatePanel(QVBoxLayout):
    """Structure, figures and reason of the selected compound, and how the set moved."""

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
        self.addSpacing(4)
        self.moved = label("The set, round by round", "heading")
        self.addWidget(self.moved)
        self.canvas = Canvas("Compounds in and undecided after each round", on_panel=True)
        self.canvas.setFixedHeight(176)
        self.addWidget(self.canvas)
        self.addStretch(1)

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
        why = why_undecided(status, compound)
        self.why.setVisible(why is not None)
        if why is not None:
            self.why.say(*why)

    def show_rounds(self, view: View) -> None:
        """Nothing; draws how the set moved."""
        status = view.status
        closed = [one.number for one in status.rounds if one.state == "closed"]
        last = max(closed, default=0)
        known = status.candidates

        def draw(size: tuple[float, float], dpi: float) -> Figure:
            from assaypilot.engine.figures.rounds import counts_by_round, set_by_round

            colours = theme().colours
            palette = replace(colours.figure, background=colours.panel)
            inside, undecided = counts_by_round(known.status, known.decided_in_round, last)
            return set_by_round(inside, undecided, palette=palette, size=size, dpi=dpi)

        self.canvas.show_figure(draw)
