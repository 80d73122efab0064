"""The roles of the columns, and the check of the table with them."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report
from assaypilot.engine.tables.column_roles import NoSites
from assaypilot.engine.tables.options import TableMapping, TableOptions
from assaypilot.engine.tables.raw import RawTable

from ..runtime.settings import Settings
from ..runtime.tasks import Latest, single_shot
from ..session.session import Session
from ..widgets.inputs import Pane, Scrolled
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import button, error_words, label
from .check_panel import BlankQuestion, CheckPanel
from .columns_form import ColumnsForm
from .core_panel import CorePanel
from .table_work import Checked, CoreChoice, Proposal, check_table, known_cores, propose_columns, propose_core

PAUSE = 180
"""Milliseconds after the last change before the table is checked again."""


class ColumnsPane(Pane):
    """The roles of the columns; the core and the summary are separate, so that they stay visible."""

    checked = Signal(object)
    """A Checked, or None when the table cannot be imported like this."""
    understood = Signal(object)
    """A Checked, also one whose table contradicts itself in some rows; None when there is none."""
    not_added = Signal(str)
    """Why an endpoint could not be added."""
    checking = Signal()
    """A check is under way."""

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self.session, self.settings = session, settings
        self.raw: RawTable | None = None
        self.result: Checked | None = None
        self._adding = ""
        self._blanks: dict[str, int] = {}
        self._job, self._core_job = Latest(), Latest()
        self.form = ColumnsForm()
        self.form.changed.connect(self._soon)
        self.form.source_changed.connect(self._source_changed)
        column_of((Scrolled(self.form), 1), holder=self)
        self.understood_so_far = QWidget()
        """The core and the summary, which are always shown."""
        row = row_of(holder=self.understood_so_far, spacing=24)
        right = column_of(self._remembered(), spacing=12)
        self.blank = BlankQuestion()
        self.blank.answered.connect(self._soon)
        right.addWidget(self.blank)
        self.core = CorePanel(settings)
        self.core.changed.connect(self._soon)
        self.core.wanted.connect(self._read_cores)
        self.core.proposal_wanted.connect(self.propose)
        self.core.hide()
        self.panel = CheckPanel()
        self.panel.again.clicked.connect(self._check)
        self.panel.tick.clicked.connect(lambda: self.form.tick(self.panel.candidates))
        right.addWidget(self.panel, 1)
        put(row, (self.core, 1), (right, 1))
        self._pause = single_shot(self, PAUSE, self._check)

    def _remembered(self) -> QWidget:
        self.remembered = QWidget()
        row = row_of(label("As last time for a table with these headers.", "muted"), holder=self.remembered, spacing=10)
        self.afresh = button("Start afresh", "link", "Proposes every column again", then=self._afresh)
        put(row, self.afresh, STRETCH)
        self.remembered.hide()
        return self.remembered

    @property
    def complete(self) -> bool:
        """Whether the table can be imported like this."""
        return (
            self.result is not None
            and not self._job.busy
            and not self._pause.isActive()
            and bool(self.result.imported.endpoints)
        )

    # ------------------------------------------------------------------ filling

    def show_table(self, raw: RawTable, *, afresh: bool = False) -> None:
        """Propose the role of each column, or the remembered one for the same headers."""
        self.halt()
        self.raw, self.result = raw, None
        self._adding = ""
        self._blanks = {}
        self.remembered.hide()
        self.blank.hide()
        self.core.clear()
        self.core.hide()
        self.blank.answer(None)
        self.form.show_columns(raw)
        self._pause.stop()
        self.panel.wait("Looking at the columns…")
        self.changed.emit()
        self._nothing()
        kept = None if afresh else self._kept(raw)

        def work(report: Report) -> Proposal:
            return propose_columns(raw, kept, report)

        self._job.start(self.session.read("Looking at the columns", work, self._proposed, self._refuse))

    def _kept(self, raw: RawTable) -> TableMapping | None:
        """Return the remembered roles for a table with these headers."""
        kept = self.settings.mapping(raw.columns)
        if kept is None:
            return None
        try:
            mapping = TableMapping.from_json(kept)
        except (KeyError, TypeError, ValueError, AssayPilotError):
            return None  # written by another version
        return (
            mapping
            if set(mapping.columns()) - set(mapping.sites if mapping.cores else ()) <= set(raw.columns)
            else None
        )

    def _proposed(self, found: Proposal) -> None:
        self._blanks = found.blanks
        self.remembered.setVisible(found.kept)
        mapping = found.mapping
        if mapping is not None:
            self.form.fill(mapping, structures=found.structures, remembered=found.kept)
            if found.kept:
                self.blank.answer(mapping.blank)
        if found.cores:
            self.core.offer(found.cores, used=True)
            self._pause.stop()
        self._source_changed()
        self._check()

    def _afresh(self) -> None:
        if self.raw is not None:
            self.show_table(self.raw, afresh=True)

    def _source_changed(self) -> None:
        structures = self.form.from_structures
        self.core.setVisible(structures)
        if not structures:
            self._end_search()
        elif not self.core.choices and not self._core_job.busy:
            self.propose()

    # ------------------------------------------------------------------ cores

    def propose(self) -> None:
        """Look for cores that the structures share."""
        column = self.form.smiles.currentData()
        if self.raw is None or column is None:
            self.core.refuse("Choose the column of structures first.")
            return
        raw, options = self.raw, self.form.options()
        self.core.refuse("")
        self.core.searching()
        self._core_job.start(
            self.session.read(
                "Looking for a common core",
                lambda report: propose_core(raw, options, report),
                self._cores_found,
                self._no_cores,
            )
        )

    def _cores_found(self, found: tuple[CoreChoice, ...]) -> None:
        if found:
            self.core.offer(found, used=False)
        else:
            self.core.found_nothing()

    def _no_cores(self, error: Exception) -> None:
        self.core.stopped()
        self._core_refused(error)

    def _core_refused(self, error: Exception) -> None:
        if isinstance(error, AssayPilotError):
            self.core.refuse(" ".join(filter(None, error_words(error))))

    def _end_search(self) -> None:
        """Cancel a search for cores whose result is not needed any more."""
        if self._core_job.busy:
            self.core.stopped()
        self._core_job.drop()

    def _read_cores(self, texts: list[str]) -> None:
        self._end_search()

        def done(found: tuple[CoreChoice, ...]) -> None:
            self.core.typed.clear()
            self.core.offer(found, used=True)

        self._core_job.start(
            self.session.read("Reading the core", lambda report: known_cores(texts, report), done, self._core_refused)
        )

    # ------------------------------------------------------------------ checking

    def options(self) -> TableOptions:
        """Return the choices as options of an import."""
        options = self.form.options()
        return replace(
            options,
            blank=self.blank.meaning,
            cores=self.core.cores if self.form.from_structures else (),
        )

    def add_endpoint(self, name: str, unit: str, of: str = "") -> None:
        """Take a further endpoint, which the table does not have yet, when the table allows for it.

        ``of``: the two endpoints it is the difference of, as ``pIC50 - hERG``; empty for one that is measured.
        """
        refused = self.form.add(name, unit, of)
        if refused is not None:
            self.not_added.emit(refused)
            return
        self._adding = name
        self._check()

    def _not_added(self, reason: str) -> None:
        """Drop the endpoint that was to be added, and show why."""
        self.form.take_back(self._adding)
        self._adding = ""
        self._check()
        self.not_added.emit(reason)

    def _soon(self) -> None:
        if self.raw is not None:
            self._pause.start()
            self.changed.emit()

    def _check(self) -> None:
        self._pause.stop()
        raw = self.raw
        if raw is None:
            return
        self._job.drop()
        options = self.options()
        self.blank.ask({name: self._blanks[name] for name in options.sites if name in self._blanks})
        if self.form.from_structures and not options.cores:
            self.result = None
            self.panel.show_text("Waiting for a core", "The structures are decomposed once a core is used.")
            self.changed.emit()
            self._nothing()
            return
        if self.form.missing[0]:
            self.result = None
            self.panel.show_text(*self.form.missing)
            self.changed.emit()
            self._nothing()
            return
        self.panel.wait("Decomposing the structures…" if options.cores else "Checking the table…")
        self.checking.emit()
        label = "Decomposing the structures" if options.cores else "Checking the table"
        self._job.start(
            self.session.read(label, lambda report: check_table(raw, options, report), self._show, self._refuse)
        )
        self.changed.emit()

    def _show(self, checked: Checked) -> None:
        if self._adding and checked.imported.errors:
            self._not_added(checked.imported.errors[0].reason)
            return
        if self._adding and self._adding not in [endpoint.name for endpoint in checked.imported.endpoints]:
            self._not_added("Each row of this table names its endpoint; add the endpoint there.")
            return
        self._adding = ""
        self.result = checked
        self.panel.show_checked(checked)
        self.form.show_found(checked.mapping)
        if checked.imported.endpoints:
            self.form.show_proposed(checked.endpoint)
        self.changed.emit()
        self.understood.emit(checked)
        self.checked.emit(checked if self.complete else None)

    def _refuse(self, error: Exception) -> None:
        if isinstance(error, AssayPilotError):
            text, mend = error_words(error)
        else:
            text, mend = "The check was stopped.", ""
        if self._adding:
            self._not_added(f"{text} {mend}".strip())
            return
        self.result = None
        if isinstance(error, AssayPilotError):
            self.panel.show_error(text, mend)
            self._offer_sites(error)
        else:
            self.panel.stopped()
        self.changed.emit()
        self._nothing()

    def _offer_sites(self, error: AssayPilotError) -> None:
        """Offer what to do where no column of substituents is known."""
        if not isinstance(error, NoSites) or self.form.chosen_sites:
            return
        if self.form.smiles.currentData() is not None:
            self.panel.show_text(
                "No column holds substituents",
                "Tick them under Columns, or choose Structures there to decompose the structures.",
            )
        self.panel.offer(error.candidates if len(error.candidates) > 1 else ())

    def _nothing(self) -> None:
        self.understood.emit(None)
        self.checked.emit(None)

    def remember(self) -> None:
        """Keep the choices for tables with these headers."""
        if self.raw is not None and self.result is not None:
            self.settings.keep_mapping(self.raw.columns, self.result.mapping.as_json())

    def halt(self) -> None:
        """Cancel all questions when the dialog closes or another table comes."""
        self._pause.stop()
        self._end_search()
        self.raw = None
        self._job.drop()
