"""The wizard's third step: what was understood of the table, line by line, site by site, and whether the model fits."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout

from assaypilot.engine.campaign.phrases import many

from ..session import Session
from ..settings import Settings
from ..widgets.choices import Segments
from ..widgets.text import Callout, ElidedLabel, label, polish
from .check_work import Checked
from .columns_step import ColumnsStep
from .findings_view import FindingsView
from .model_view import VERDICTS, ModelView, verdict_line
from .sites_view import SitesView
from .steps import Step

__all__ = ["CheckStep"]

ENDPOINTS = 3
"""Endpoints whose sentence stands on top."""


class CheckStep(Step):
    """The verdict on top, below it the lines, the substituents or the report."""

    said = Signal(str)
    """What was done, in a sentence."""

    def __init__(self, session: Session, settings: Settings, columns: ColumnsStep) -> None:
        super().__init__()
        self.columns = columns
        self.result: Checked | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.verdict = Callout()
        column.addWidget(self.verdict)
        row = QHBoxLayout()
        row.setSpacing(14)
        self.views = Segments(
            [("findings", "Rows and notes"), ("sites", "Substituents"), ("model", "Additive model")], "What is shown"
        )
        self.views.chosen.connect(self._switch)
        self.counts = ElidedLabel("muted")
        row.addWidget(self.views)
        row.addWidget(self.counts, 1)
        column.addLayout(row)
        self.findings = FindingsView(session, settings, self.said.emit)
        self.sites = SitesView()
        self.sites.wanted.connect(columns.make_smaller)
        self.model = ModelView()
        self.stack = QStackedWidget()
        for view in (self.findings, self.sites, self.model):
            self.stack.addWidget(view)
        column.addWidget(self.stack, 1)
        self.waiting = label("", "muted", wrap=True)
        column.addWidget(self.waiting)
        columns.understood.connect(self.show_checked)
        columns.checking.connect(self._wait)
        columns.changed.connect(self.changed)
        columns.not_smaller.connect(self.sites.refuse)
        self.show_checked(None)

    @property
    def complete(self) -> bool:
        """Whether the table can be imported like this."""
        return self.columns.complete

    def show_checked(self, checked: Checked | None) -> None:
        """Show what was understood, nothing when there is nothing."""
        self.result = checked
        there = checked is not None
        for part in (self.verdict, self.views, self.counts, self.stack):
            part.setVisible(there)
        self.waiting.setVisible(not there)
        if checked is None:
            self.waiting.setText("The table cannot be used like this yet: go back to Columns.")
            return
        self._show_verdict(checked)
        imported = checked.imported
        self.counts.setText(
            f"{imported.rows_used:,} of {imported.rows_read:,} rows used · {imported.compounds:,} compounds · "
            f"{many(len(checked.sites), 'site')} · rank {checked.rank:,} of "
            f"{checked.max_rank:,} · not used ({len(imported.not_used):,})"
        )
        self.findings.show_checked(checked)
        self.sites.show_checked(checked, self.columns.smaller)
        self.model.show_checked(checked)

    def show_first(self) -> None:
        """Show what matters first: errors when there are any, else the report on the model."""
        if self.result is None:
            return
        imported = self.result.imported
        if imported.errors:
            self.findings.kinds.choose("error")
            self.views.choose("findings")
        elif self._new:
            lines = bool(imported.not_used) or not any(fact.measured for fact in self.result.facts)
            self.findings.kinds.choose("all")
            self.views.choose("findings" if lines else "model")
        self._new = False

    def new_table(self) -> None:
        """Another table comes: what matters first is shown first again."""
        self._new = True
        self.sites.refuse("")

    _new = True

    def _show_verdict(self, checked: Checked) -> None:
        errors, facts = len(checked.imported.errors), checked.facts
        verdicts = {fact.report.verdict for fact in facts}
        if errors:
            heading = f"{many(errors, 'error')}: look at this first"
            words = "Rows that contradict each other are left out. Correct the table and read it again to use them."
        elif not facts:
            heading, words = "Nothing is measured yet", "Name the quantity under Columns, Measured."
        else:
            worst = next(v for v in ("does not fit", "doubtful", "not judged", "fits") if v in verdicts)
            heading = VERDICTS[worst] if len(facts) == 1 else f"{VERDICTS[worst]} (the worst of {len(facts)} endpoints)"
            ordered = [*facts[checked.objective :], *facts[: checked.objective]]
            more = len(facts) - ENDPOINTS
            words = verdict_line(ordered[:ENDPOINTS]) + (f"\nand {more} more under Additive model" if more > 0 else "")
        if not errors and verdicts & {"doubtful", "does not fit"}:
            words += "\nEvery guarantee assumes that substituents add up; where they do not, it does not hold."
        self.verdict.say(heading, words)
        # What fits needs no colour that asks to be looked at.
        name = "card" if not errors and verdicts == {"fits"} else "callout"
        if self.verdict.objectName() != name:
            self.verdict.setObjectName(name)
            polish(self.verdict)

    def _switch(self, key: str) -> None:
        self.stack.setCurrentIndex(("findings", "sites", "model").index(key))

    def _wait(self) -> None:
        """A check is under way: what is shown is of the one before."""
        if self.result is None:
            self.waiting.setText("Checking the table…")

    def halt(self) -> None:
        """The dialog closes."""
        self.model.stop()
