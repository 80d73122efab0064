"""The report on the additive model, before any guarantee is offered: whether it describes what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from assaypilot.engine.campaign.phrases import many
from assaypilot.engine.tables.check import EndpointFacts

from ..plots.canvas import Canvas
from ..theme import theme
from ..widgets.text import Details, label
from .check_work import Checked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["VERDICTS", "ModelView", "model_rows"]

VERDICTS = {
    "fits": "The additive model fits",
    "doubtful": "The additive model is doubtful",
    "does not fit": "The additive model does not fit",
    "not judged": "The additive model cannot be judged yet",
}
MARKS = {"fits": "✓", "doubtful": "?", "does not fit": "✗", "not judged": "–"}
"""A verdict is a word and a sign, never a colour alone."""
NAMED = 6
TALLEST = 400
"""Pixels of the picture: five rows need no more."""


class ModelView(QWidget):
    """One endpoint's report: figures at the left, the worst residuals at the right."""

    def __init__(self) -> None:
        super().__init__()
        self._facts: tuple[EndpointFacts, ...] = ()
        self._checked: Checked | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(28)
        left = QVBoxLayout()
        left.setSpacing(12)
        self.endpoint = QComboBox()
        self.endpoint.setAccessibleName("Endpoint of the report")
        self.endpoint.currentIndexChanged.connect(self._show)
        self.details = Details()
        left.addWidget(self.endpoint)
        left.addWidget(self.details)
        left.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(label("Compounds that fit worst", "heading"))
        self.canvas = Canvas("The compounds that fit the additive model worst: model and measured value of each")
        self.canvas.setMaximumHeight(round(TALLEST * theme().scale))
        right.addWidget(self.canvas, 1)
        self.worst = label("", "muted", wrap=True)
        right.addWidget(self.worst)
        right.addStretch(0)
        row.addLayout(left, 1)
        row.addLayout(right, 1)

    def show_checked(self, checked: Checked) -> None:
        """Show the report of the endpoint that was looked at, else of the goal's."""
        before = self.endpoint.currentText()
        with QSignalBlocker(self.endpoint):
            self._checked, self._facts = checked, checked.facts
            self.endpoint.clear()
            for fact in checked.facts:
                self.endpoint.addItem(fact.endpoint.scale_name)
            place = self.endpoint.findText(before)
            self.endpoint.setCurrentIndex(place if place >= 0 else checked.objective)
        self.endpoint.setVisible(len(checked.facts) > 1)
        self._show()

    def _show(self) -> None:
        place = self.endpoint.currentIndex()
        if self._checked is None or not 0 <= place < len(self._facts):
            self.details.show_rows([])
            self.canvas.show_figure(None)
            return
        fact = self._facts[place]
        report = fact.report
        self.details.show_rows(model_rows(self._checked, fact))
        worst, scale, spread = report.worst, fact.endpoint.scale_name, report.fit.residual_sd

        def draw(size: tuple[float, float], dpi: float) -> Figure:
            from assaypilot.engine.figures.residuals import worst_residuals

            return worst_residuals(worst, scale, residual_sd=spread, palette=theme().colours.figure, size=size, dpi=dpi)

        self.canvas.show_figure(draw)
        self.worst.setText(
            "Look at these first: a mistyped value, another salt or a different way of binding stands out here."
            if worst
            else ""
        )
        self.worst.setVisible(bool(worst))

    def stop(self) -> None:
        """Draw nothing any more."""
        self.canvas.stop()


def model_rows(checked: Checked, fact: EndpointFacts) -> list[tuple[str, str]]:
    """Captions and values of a report, in the words of a chemist."""
    report, fit = fact.report, fact.report.fit
    rows = [
        ("Compounds", f"{fit.rows:,} with a value"),
        (
            "Rank",
            f"{fit.rank:,} of {report.max_rank:,} where values are; {checked.rank:,} of {checked.max_rank:,} in all",
        ),
        (
            "Fitted exactly",
            f"{fit.leverage_one:,} of {fit.rows:,}: nothing else tells about them" if fit.leverage_one else "none",
        ),
        ("Seen once", _once(report.seen_once)),
    ]
    confounded = [f"{pair.first} and {pair.second} ({pair.groups} groups)" for pair in report.confounded[:NAMED]]
    more = len(report.confounded) - NAMED
    rows.append(
        (
            "Confounded",
            ("; ".join(confounded) + (f" and {more} more" if more > 0 else "") + ": not all can be told apart")
            if confounded
            else "no two sites",
        )
    )
    rows.append(("R2", _number(fit.r2)))
    rows.append(("Q2", f"{_number(fit.q2)}, leaving one out"))
    rows.append(("Residual SD", _number(fit.residual_sd)))
    noise = report.noise
    if noise is None:
        rows.append(("Assay noise", "not known: no compound was measured twice"))
    else:
        source = "given" if noise.freedom is None else f"from replicates, {many(noise.freedom, 'degree')} of freedom"
        rows.append(("Assay noise", f"{noise.sd:.2g} ({source})"))
    lack = report.lack_of_fit
    if lack is not None:
        found = (
            f"compounds deviate by {lack.deviation_sd:.2g} beyond the noise"
            if lack.p < 0.05
            else "the noise explains the residuals"
        )
        rows.append(("Lack of fit", f"F {lack.statistic:.2f}, p {_p(lack.p)}: {found}"))
    elif report.curvature_p is not None:
        found = "substituents depend on each other" if report.curvature_p < 0.001 else "no sign of it"
        rows.append(("Non-additivity", f"Tukey's test, p {_p(report.curvature_p)}: {found}"))
    return rows


def _once(seen: dict[str, tuple[str, ...]]) -> str:
    parts = [f"{len(labels):,} at {site}" for site, labels in seen.items() if labels]
    more = len(parts) - NAMED
    return (", ".join(parts[:NAMED]) + (f" and {more} more sites" if more > 0 else "")) or "none"


def verdict_line(facts: Sequence[EndpointFacts]) -> str:
    """The sentence of each endpoint, behind the sign of its verdict."""
    return "\n".join(f"{MARKS[fact.report.verdict]}  {fact.report.sentence}" for fact in facts)


def _number(value: float | None) -> str:
    return "cannot be told" if value is None else f"{value:.2f}"


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"
