"""What a check of a table says: errors, warnings, notes, and what is not used."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import EndpointFacts
from assaypilot.engine.tables.importer import ImportedTable
from assaypilot.gui.models.notes import NotUsed, NotUsedModel
from assaypilot.gui.widgets.message_bar import error_words, for_window
from assaypilot.gui.widgets.table import Table
from assaypilot.gui.widgets.text import Callout, Details, label

__all__ = ["CheckPanel"]

LISTED = 6


class CheckPanel(QWidget):
    """The right half of the columns step."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        self.heading = label("Checking the table…", "heading")
        self.problem = label("", "problem", wrap=True)
        self.mend = label("", wrap=True)
        self.facts = Details()
        self.warnings = Callout()
        self.notes = label("", "muted", wrap=True)
        self.unused = label("", "heading")
        self.model = NotUsedModel(self)
        self.table = Table(self.model, name="What is not used")
        self.table.stretch("reason")
        for part in (self.heading, self.problem, self.mend, self.facts, self.warnings, self.notes, self.unused):
            column.addWidget(part)
        column.addWidget(self.table, 1)
        column.addStretch(0)
        self._clear()

    def wait(self) -> None:
        """Nothing; a check is under way: what is shown stays until it is over."""
        self.heading.setText("Checking the table…")

    def show_error(self, error: AssayPilotError) -> None:
        """Nothing; says why the table cannot be imported like this."""
        self._clear()
        self.heading.setText("The table cannot be used like this")
        text, mend = error_words(error)
        self.problem.setText(text)
        self.problem.show()
        self.mend.setText(mend)
        self.mend.setVisible(bool(mend))

    def show_checked(self, imported: ImportedTable, facts: Sequence[EndpointFacts], warnings: Sequence[str]) -> None:
        """Nothing; shows what was understood."""
        self._clear()
        errors = imported.errors
        self.heading.setText("This needs your decision first" if errors else "What was understood")
        if errors:
            shown = [f"Row {e.row}: {e.reason}" if e.row else e.reason for e in errors[:LISTED]]
            if len(errors) > LISTED:
                shown.append(f"and {len(errors) - LISTED:,} more")
            self.problem.setText("\n".join(shown))
            self.problem.show()
        if not imported.endpoints:
            self.mend.setText("Nothing is measured yet: name the quantity under Measured, for example pIC50.")
            self.mend.show()
        self.facts.show_rows(_fact_rows(imported, facts))
        self.facts.show()
        if warnings:
            self.warnings.say("Please look at", "\n".join(map(for_window, warnings[:LISTED])))
            self.warnings.show()
        if imported.notes:
            self.notes.setText("\n".join(map(for_window, imported.notes[:LISTED])))
            self.notes.show()
        lost = [NotUsed(p.row, p.column or "", p.reason) for p in imported.not_used]
        self.unused.setText(f"Not used ({len(lost):,})")
        self.unused.setVisible(bool(lost))
        self.table.setVisible(bool(lost))
        self.model.show(lost)

    def _clear(self) -> None:
        for part in (self.problem, self.mend, self.facts, self.warnings, self.notes, self.unused, self.table):
            part.hide()


def _fact_rows(imported: ImportedTable, facts: Sequence[EndpointFacts]) -> list[tuple[str, str]]:
    """Captions and values: rows, compounds, sites, and what is there of each endpoint."""
    library = imported.library
    rows = [("Rows", f"{imported.rows_used:,} of {imported.rows_read:,} used")]
    more = f", {len(library):,} with every combination" if len(library) != imported.compounds else ""
    rows.append(("Compounds", f"{imported.compounds:,}{more}"))
    rows.append(("Sites", ", ".join(f"{site.name} ({len(site.substituents)})" for site in library.sites)))
    for fact in facts[:4]:
        words = f"{fact.measured:,} value{'' if fact.measured == 1 else 's'} from before"
        if fact.censored:
            words += f", {fact.censored:,} beyond a limit"
        if fact.endpoint.scale_name != fact.endpoint.name:
            words += f", used as {fact.endpoint.scale_name}"
        if fact.replicate_sd is not None:
            words += f"; replicates scatter by {fact.replicate_sd:.2g}"
        if fact.fit.q2 is not None:
            words += f"; additive model Q2 {fact.fit.q2:.2f}"
        rows.append((fact.endpoint.name, words))
    return rows
