"""The findings of the check of a table, shown next to its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QWidget

from assaypilot.engine.domain.stock import CANNOT, IN_STOCK, STATES, TO_MAKE, StockLine
from assaypilot.engine.tables.options import Blank
from assaypilot.engine.text import joined, many

from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import Callout, Details, button, label, mnemonic_free
from .table_work import Checked


class BlankQuestion(Callout):
    """Hydrogen, or not known; the rows are left out until the user chooses one."""

    answered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._answers = QButtonGroup(self)
        row = row_of(spacing=18)
        self.hydrogen = QRadioButton("Hydrogen")
        self.unknown = QRadioButton("Not known: leave those rows out")
        for made in (self.hydrogen, self.unknown):
            made.setAccessibleName(f"An empty substituent: {made.text()}")
            self._answers.addButton(made)
            row.addWidget(made)
        self._answers.buttonClicked.connect(lambda _: self.answered.emit())
        row.addStretch(1)
        self.body.addLayout(row)
        self.hide()

    @property
    def meaning(self) -> Blank:
        """The question about the meaning of empty cells."""
        return "h" if self.hydrogen.isChecked() else "missing"

    def answer(self, blank: Blank | None) -> None:
        """Take an answer given before (None: there is none)."""
        self._answers.setExclusive(False)
        for made, meant in ((self.hydrogen, "h"), (self.unknown, "missing")):
            made.setChecked(blank == meant)
        self._answers.setExclusive(True)

    def ask(self, empty: Mapping[str, int]) -> None:
        """Ask about the columns that have empty cells, each with its count; hides when there is none."""
        if empty:
            counts = ", ".join(f"{name}: {count:,}" for name, count in empty.items())
            self.show_text("What is an empty substituent cell?", f"Empty cells at {counts}")
        self.setVisible(bool(empty))


LISTED, NAMED_ROWS, OFFERED, WARNED = 4, 4, 3, 2
SITES = 8
"""Sites and endpoints named one by one."""


class CheckPanel(QWidget):
    """The summary of the table, or why it is unusable."""

    rows_wanted = Signal()
    """The rows that are not used, and the notes, are to be seen."""

    def __init__(self) -> None:
        super().__init__()
        column = column_of(holder=self, spacing=10)
        self.heading = label("", "heading")
        self.problem = label("", "problem", wrap=True)
        self.mend = label("", wrap=True)
        self.facts = Details()
        self.warnings = Callout()
        self.more = button("", "link", then=self.rows_wanted)
        put(column, self.heading, self.problem, self.mend)
        row = row_of()
        self.again = button("Check again")
        self.tick = button("", "go")
        self.tick.setAccessibleName("Tick the columns that could hold substituents")
        self.candidates: tuple[str, ...] = ()
        put(row, self.again, self.tick, STRETCH)
        put(column, row, self.facts, self.warnings, row_of(self.more, STRETCH), STRETCH)
        self._clear()

    def wait(self, text: str) -> None:
        """Keep the content until the running check is over."""
        self.heading.setText(text)
        self.heading.show()
        for made in (self.again, self.tick):
            made.hide()

    def show_text(self, heading: str, words: str) -> None:
        """Something is missing before the table can be checked."""
        self._clear()
        self.heading.setText(heading)
        self.heading.show()
        self.mend.setText(words)
        self.mend.show()

    def stopped(self) -> None:
        """Show that the check was cancelled."""
        self.show_text("The check was stopped", "Nothing is known of the table like this.")
        self.again.show()

    def show_error(self, text: str, mend: str) -> None:
        """Show why the table cannot be imported like this."""
        self._clear()
        self.heading.setText("The table cannot be used like this")
        self.heading.show()
        self.problem.setText(text)
        self.problem.show()
        self.mend.setText(mend)
        self.mend.setVisible(bool(mend))

    def offer(self, candidates: Sequence[str]) -> None:
        """Offer columns that could be those of substituents."""
        self.candidates = tuple(candidates)
        named = ", ".join(candidates[:OFFERED]) + (
            f" and {len(candidates) - OFFERED} more" if len(candidates) > OFFERED else ""
        )
        self.tick.setText(f"Tick {mnemonic_free(named)}")
        self.tick.setVisible(bool(candidates))

    def show_checked(self, checked: Checked) -> None:
        """Show the summary."""
        self._clear()
        imported = checked.imported
        by_reason: dict[str, list[int]] = {}
        for one in imported.errors:
            by_reason.setdefault(one.reason, []).extend(filter(None, [one.row]))
        self.heading.setText("Rows left out" if by_reason else "")
        self.heading.setVisible(bool(by_reason))
        if by_reason:
            shown = [_of_rows(rows, reason) for reason, rows in by_reason.items()][:LISTED]
            if len(by_reason) > LISTED:
                shown.append(f"and {len(by_reason) - LISTED:,} more under Rows and notes")
            self.problem.setText("\n".join(shown))
            self.problem.show()
        if not imported.endpoints:
            self.mend.setText("Nothing is measured yet: name it under Endpoints, for example pIC50.")
            self.mend.show()
        self.facts.show_rows(fact_rows(checked))
        self.facts.show()
        # The question above it shows the empty cells; how well values fit together is under Rows and notes.
        warnings = [text for text in imported.warnings if text not in imported.empty]
        if warnings:
            more = len(warnings) - WARNED
            words = "\n".join(warnings[:WARNED]) + (f"\nand {more} more under Rows and notes" if more > 0 else "")
            self.warnings.show_text("Please look at", words)
            self.warnings.show()
        unused, notes = len(imported.not_used), len(imported.notes)
        parts = [f"{unused:,} not used"] if unused else []
        parts += [many(notes, "note")] if notes else []
        fit = len(checked.warnings) - len(imported.warnings)
        parts += [f"{many(fit, 'remark')} on the values"] if fit > 0 else []
        if parts:
            self.more.setText(f"Show {joined(parts)}")
            self.more.show()

    def _clear(self) -> None:
        for part in (
            self.problem,
            self.mend,
            self.facts,
            self.warnings,
            self.more,
            self.again,
            self.tick,
        ):
            part.hide()


def _of_rows(rows: Sequence[int], reason: str) -> str:
    """Return ``Rows 4, 5: why they are left out``; a table's own fault has no row."""
    named = ", ".join(map(str, rows[:NAMED_ROWS])) + (", …" if len(rows) > NAMED_ROWS else "")
    return f"Row{'s' * (len(rows) > 1)} {named}: {reason}" if rows else reason


def fact_rows(checked: Checked) -> list[tuple[str, str]]:
    """Captions and values: rows, compounds, sites, and the values of each endpoint."""
    imported, library = checked.imported, checked.imported.library
    every = imported.rows_used == imported.rows_read == imported.compounds
    rows = [] if every else [("Rows", f"{imported.rows_used:,} of {imported.rows_read:,} used")]
    more = f", {len(library):,} with every combination" if len(library) != imported.compounds else ""
    rows.append(("Compounds", f"{imported.compounds:,}{more}"))
    named = [f"{site.name} ({len(site.substituents):,})" for site in library.sites[:SITES]]
    rest = len(library.sites) - SITES
    rows.append(("Sites", ", ".join(named) + (f" and {rest} more" if rest > 0 else "")))
    for fact in checked.facts[:4]:
        words = many(fact.measured, "earlier value")
        if fact.censored:
            words += f", {fact.censored:,} known only as bounds"
        if fact.endpoint.scale_name != fact.endpoint.name:
            words += f", used as {fact.endpoint.scale_name}"
        if fact.replicate_sd is not None:
            words += f"; replicates scatter by {fact.replicate_sd:.2g}"
        rows.append((fact.endpoint.name, words))
    return rows + _stock_rows(imported.stock)


def _stock_rows(stock: Sequence[StockLine]) -> list[tuple[str, str]]:
    """Return facts from the stock, cost and time columns: how many are there, and what making the others takes."""
    rows = []
    states = [(sum(line.state == state for line in stock), STATES[state]) for state in (IN_STOCK, TO_MAKE, CANNOT)]
    counts = [f"{n:,} {words}" for n, words in states if n]
    if counts:
        rows.append(("Stock", ", ".join(counts)))
    for caption, values, unit in (
        ("Cost", [line.cost for line in stock if line.cost is not None], ""),
        ("Lead time", [line.lead for line in stock if line.lead is not None], " days"),
    ):
        if values:
            low, high = min(values), max(values)
            span = f"{low:,.10g}" if low == high else f"{low:,.10g} to {high:,.10g}"
            rows.append((caption, f"{span}{unit}, of {many(len(values), 'compound')}"))
    return rows
