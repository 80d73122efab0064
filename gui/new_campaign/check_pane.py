"""The content of the table of a new campaign, and whether the additive model fits it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from assaypilot.engine.tables.check import EndpointFacts
from assaypilot.engine.text import many, signed

from ..runtime.settings import Settings
from ..session.session import Session
from ..widgets.inputs import Pane, combo_box
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import Callout, Details, label, polish
from .columns_pane import ColumnsPane
from .findings import FindingsView, SitesView
from .table_work import Checked

VERDICTS = {
    "fits": "The additive model fits",
    "doubtful": "The additive model is doubtful",
    "does not fit": "The additive model does not fit",
    "not judged": "The additive model cannot be judged yet",
}
MARKS = {"fits": "✓", "doubtful": "?", "does not fit": "✗", "not judged": "–"}
"""A verdict is a word and a sign, never a colour alone."""
NAMED = 6


class ModelView(QWidget):
    """One endpoint's report: figures at the left, the worst residuals at the right."""

    def __init__(self) -> None:
        super().__init__()
        self._facts: tuple[EndpointFacts, ...] = ()
        self._checked: Checked | None = None
        row = row_of(holder=self, spacing=28)
        left = column_of(spacing=12)
        self.endpoint = combo_box("Endpoint of the report")
        self.endpoint.currentIndexChanged.connect(self._show)
        self.details = Details()
        put(left, self.endpoint, self.details, STRETCH)
        right = column_of(label("Compounds that fit worst", "heading"), spacing=8)
        self.worst = Details()
        self.hint = label("A mistyped value or another salt stands out here.", "muted", wrap=True)
        put(right, self.worst, self.hint, STRETCH)
        put(row, (left, 1), (right, 1))

    def show_checked(self, checked: Checked) -> None:
        """Show the report of the same endpoint as before, else of the goal's."""
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
            self.worst.show_rows([])
            return
        fact = self._facts[place]
        self.details.show_rows(model_rows(self._checked, fact))
        rows = [
            (one.id, f"{one.measured:.2f}, model {one.fitted:.2f} ({signed(one.residual)})")
            for one in fact.report.worst
        ]
        self.worst.show_rows(rows)
        self.hint.setVisible(bool(rows))


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
            f"{fit.leverage_one:,} of {fit.rows:,}: nothing else informs them" if fit.leverage_one else "none",
        ),
        ("Seen once", _once(report.seen_once)),
    ]
    confounded = [f"{pair.first} and {pair.second} ({pair.groups} groups)" for pair in report.confounded[:NAMED]]
    more = len(report.confounded) - NAMED
    rows.append(
        (
            "Confounded",
            ("; ".join(confounded) + (f" and {more} more" if more > 0 else "") + ": not all can be distinguished")
            if confounded
            else "no two sites",
        )
    )
    rows.append(("R²", _number(fit.r2)))  # R2 is a site
    rows.append(("Q²", f"{_number(fit.q2)}, leaving one out"))
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
    """Return the verdict of each endpoint behind its sign, with its reasons unless the model fits."""

    def words(fact: EndpointFacts) -> str:
        fits = fact.report.verdict == "fits"
        return f"{VERDICTS['fits']} {fact.endpoint.scale_name}." if fits else fact.report.sentence

    return "\n".join(f"{MARKS[fact.report.verdict]}  {words(fact)}" for fact in facts)


def _number(value: float | None) -> str:
    return "not estimable" if value is None else f"{value:.2f}"


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"


ENDPOINTS = 3
"""Endpoints whose sentence is on top."""


class CheckPane(Pane):
    """The lines that were not used, the substituents, or the report on the additive model with its verdict."""

    message = Signal(str)
    """The finished action, in a sentence."""

    def __init__(self, session: Session, settings: Settings, columns: ColumnsPane) -> None:
        super().__init__()
        self.columns = columns
        self.result: Checked | None = None
        column = column_of(holder=self, spacing=12)
        self.verdict = Callout()
        self.findings = FindingsView(session, settings, self.message.emit)
        self.sites = SitesView()
        self.model = ModelView()
        report = QWidget()
        column_of(self.verdict, (self.model, 1), holder=report, spacing=12)
        self.stack = QStackedWidget()
        put(self.stack, self.findings, self.sites, report)
        column.addWidget(self.stack, 1)
        self.waiting = label("", "muted", wrap=True)
        column.addWidget(self.waiting)
        columns.understood.connect(self.show_checked)
        columns.checking.connect(self._wait)
        columns.changed.connect(self.changed)
        self.show_checked(None)

    @property
    def complete(self) -> bool:
        """Whether the table can be imported like this."""
        return self.columns.complete

    def show_checked(self, checked: Checked | None) -> None:
        """Show the result of a check, or nothing without one."""
        self.result = checked
        self.stack.setVisible(checked is not None)
        self.waiting.setVisible(checked is None)
        if checked is None:
            self.waiting.setText("The table cannot be used like this yet: see Columns.")
            return
        self._show_verdict(checked)
        self.findings.show_checked(checked)
        self.sites.show_checked(checked)
        self.model.show_checked(checked)

    def show_view(self, key: str) -> None:
        """Show the rows and notes, the substituents or the additive model: ``findings``, ``sites`` or ``model``."""
        self.stack.setCurrentIndex(("findings", "sites", "model").index(key))

    def new_table(self) -> None:
        """Another table comes."""
        self.findings.kinds.choose("all")

    def _show_verdict(self, checked: Checked) -> None:
        facts = checked.facts
        verdicts = {fact.report.verdict for fact in facts}
        if not facts:
            heading, words = "Nothing is measured yet", "Name it under Endpoints, for example pIC50."
        else:
            worst = next(v for v in ("does not fit", "doubtful", "not judged", "fits") if v in verdicts)
            heading = VERDICTS[worst] if len(facts) == 1 else f"{VERDICTS[worst]} (the worst of {len(facts)} endpoints)"
            if worst == "fits" and len(facts) == 1:
                heading = ""  # its sentence says it
            ordered = [*facts[checked.objective :], *facts[: checked.objective]]
            more = len(facts) - ENDPOINTS
            words = verdict_line(ordered[:ENDPOINTS]) + (f"\nand {more} more below" if more > 0 else "")
        if verdicts & {"doubtful", "does not fit"}:
            words += "\nA proof would assume that it does; the series model does not."
        self.verdict.show_text(heading, words)
        # A good fit needs no warning colour.
        name = "card" if verdicts == {"fits"} else "callout"
        if self.verdict.objectName() != name:
            self.verdict.setObjectName(name)
            polish(self.verdict)

    def _wait(self) -> None:
        """Mark the content as that of the previous check."""
        if self.result is None:
            self.waiting.setText("Checking the table…")
