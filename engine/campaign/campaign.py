"""A campaign: the one place that writes the log. The window and the command line both call it.

Every command is one transaction: either all of it is on the disk when the call returns, or nothing happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from ..domain.endpoint import Endpoint, Relation
from ..domain.library import Library
from ..domain.measurements import Result
from ..domain.plates.layout import PlateUse
from ..domain.stock import UNSAID, PlanName, StockLine, StockTerms
from ..errors import AssayPilotError
from ..system.memory import without_collecting
from ..system.progress import Report, silent
from . import plating
from .added_compounds import add_compounds, consequences_of_adding, list_combinations
from .auditing import audit_round
from .cautions import LogEntry
from .changes import Change, add_change, add_stock, consequences
from .confirmation import confirmation_round
from .creation import creation
from .events.entered import CompoundsUnavailable
from .events.fold import UNFIT, Work, describe, take
from .file.chain import Draft
from .file.store import Store, location_warnings
from .issued_rounds import Missing, Round, Source
from .plan_choice import PlanOption, options
from .reasons import Reasons
from .replay import Ledger
from .results import amending
from .results.intake import to_mark
from .results.recording import recorded
from .rewind import Moment, Past, refuse_late, retold
from .rounds import (
    closed_round,
    decide_due,
    planned_round,
    to_end,
    withdrawn_round,
)
from .settings import Settings
from .state import RecordReport, Status
from .stocked import arrived_drafts, stock_drafts
from .view import build_status


@contextmanager
def _fitting(path: Path) -> Iterator[None]:
    """Refuse events that are whole and chained and yet impossible: another program wrote them, or a fault of ours."""
    try:
        yield
    except AssayPilotError:
        raise
    except UNFIT as error:
        raise AssayPilotError(
            f"the events of this campaign do not fit together ({type(error).__name__}: {error})",
            file=str(path),
            mend="assaypilot verify names the first that does not fit.",
        ) from error


class Campaign:
    """One open campaign file. Not for several threads at once."""

    def __init__(self, store: Store, report: Report = silent) -> None:
        self._store = store
        self._ledger = Ledger(store.part)
        self._status: Status | None = None
        self._past: Past | None = None
        self.refresh(report)

    # -- making and opening

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        library: Library,
        endpoints: Sequence[Endpoint],
        settings: Settings,
        name: str | None = None,
        history: Sequence[Result] = (),
        stock: tuple[Sequence[StockLine], StockTerms] = ((), UNSAID),
        source: Source | None = None,
        mapping: Mapping[str, Any] | None = None,
        warnings: Sequence[str] = (),
        report: Report = silent,
    ) -> Campaign:
        """Return a new campaign in a new file.

        Values already in the table (``history``, in entry units) are shown and used to estimate, not to decide.
        Raises AssayPilotError, and writes nothing, when the file exists, the table cannot be modelled, the assay
        noise is neither given nor in the replicates, or a setting is out of range.
        """
        path = Path(path)
        work = creation(name or path.stem, library, endpoints, settings, history, source, mapping, warnings, stock)
        store = Store.create(path, work.drafts, work.parts)
        try:
            return cls(store, report)
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(cls, path: str | Path, *, read_only: bool = False, report: Report = silent) -> Campaign:
        """Return the campaign in a file; read-only when asked for, or when another window or program has it open."""
        store = Store.open(path, read_only=read_only)
        try:
            with _fitting(store.path):
                return cls(store, report)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Let the file go."""
        self._store.close()

    def __enter__(self) -> Campaign:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The file."""
        return self._store.path

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self._store.read_only

    @property
    def read_only_reason(self) -> str | None:
        """Why nothing can be written; None when it can."""
        return self._store.read_only_reason

    @property
    def head(self) -> str:
        """The digest of the last event."""
        return self._store.head

    @property
    def events(self) -> int:
        """How many events the log has."""
        return self._store.n_events

    # -- reading

    def refresh(self, report: Report = silent) -> None:
        """Take in what was appended since, by this program or (when read-only) by another."""
        with without_collecting():
            news = self._store.events(self._ledger.sequence)
            for position, event in enumerate(news):
                take(self._ledger, event)
                if position % 64 == 63:
                    report(position / len(news), "reading the campaign")
        if news:
            self._status = None

    def status(self) -> Status:
        """Everything to show, at the present head; computed once per head."""
        if self._status is None:
            with _fitting(self.path):
                self._status = build_status(self._ledger, location_warnings(self.path))
        return self._status

    def moments(self) -> tuple[Moment, ...]:
        """Return the ends of all closed rounds, which ``status_at`` tells of, oldest first.

        Before them the start, round 0.
        """
        return self._told().moments

    def status_at(self, number: int) -> Status:
        """Everything to show as it stood at the end of a closed round, when the next one was planned; 0: at the start.

        Read from the log, no decision is made again. AssayPilotError when the round has not ended.
        """
        past = self._told()
        if any(moment.round == number and moment.events == self._ledger.sequence for moment in past.moments):
            return self.status()
        return past.status(number, location_warnings(self.path))

    def reasons(self, number: int | None = None) -> Reasons:
        """Why every compound stands where it stands; with a number at the end of that closed round."""
        if number is None:
            return Reasons(self._ledger.fork({}), self.status())
        return self._told().reasons(number, self.status_at(number))

    def _told(self) -> Past:
        if self._past is None:
            self._past = Past(self._store.part, self._ledger)
        self._past.read(self._store.events, self._ledger.sequence)
        return self._past

    def round(self, number: int) -> Round:
        """Return an issued round by its number; AssayPilotError when there is none."""
        return self._ledger.view(self._ledger.issued(number))

    def history(self) -> tuple[LogEntry, ...]:
        """Return the log in plain words, oldest first."""
        entries = []
        with _fitting(self.path):
            ledger = retold(self._store.part, self._ledger)
            for event in self._store.events():
                take(ledger, event)
                entries.append(LogEntry(event.sequence, event.time, event.author, event.kind, describe(event, ledger)))
        return tuple(entries)

    # -- rounds

    def plan(self, report: Report = silent, *, choice: PlanName | None = None) -> Round | None:
        """Return the next round, or the open one unchanged; None when nothing more needs to be measured, or can be yet.

        With ``choice`` one of the plans of ``plan_options``, while no round is open and the phase has no result.
        """
        if choice is not None or self._ledger.open_round is None:
            with self._writing() as work:
                list_combinations(work)
                decide_due(work)
                work.add(*planned_round(work.ledger, report, choice=choice))
            if not work.drafts:
                return None
        issued = self._ledger.open_round
        return None if issued is None else self._ledger.view(issued)

    def plan_options(self, report: Report = silent) -> tuple[PlanOption, ...]:
        """Return the plans to choose from for the next phase; see ``plan_choice.options``."""
        return options(self._ledger.fork({}), report)

    def set_stock(
        self,
        lines: Sequence[StockLine],
        terms: StockTerms = UNSAID,
        *,
        source: Source | None = None,
        note: str = "",
    ) -> bool:
        """Whether anything of what is said of stock and costs is new; it is kept as one step that undo takes back.

        Who cannot be made is not to be had from now on; who was so and is in stock, or can be made, comes back. Where a
        proof has decided without it, the series model takes over.
        """
        drafts = stock_drafts(self._ledger, lines, terms, source=source, note=note)
        with self._writing() as work:
            add_stock(work, drafts)
        return bool(drafts)

    def arrived(self, ids: Sequence[str]) -> None:
        """Say that compounds that had to be made are there; they come in the next round of their phase."""
        drafts = arrived_drafts(self._ledger, ids)
        if not drafts:
            raise AssayPilotError("these compounds are in stock already")
        with self._writing() as work:
            add_stock(work, drafts)

    def plan_confirmation(self, report: Report = silent) -> Round | None:
        """Return the next confirmation round, or the open one unchanged.

        None when every compound that is in was measured.

        Each compound that is in and lacks a measurement, once for every measured endpoint; only when the campaign has
        ended. It decides nothing, counts against no budget, and notes what each measurement is predicted to give.
        """
        ledger = self._ledger
        issued = ledger.open_round
        if issued is not None and not issued.confirmation:
            raise AssayPilotError(
                f"round {issued.number} is open, and what it finds may change what is in",
                mend="Enter its results and close it first.",
            )
        if issued is None:
            now = self.status()
            if not now.finished:
                raise AssayPilotError(
                    f"it is not settled yet what is in: {now.counts['undecided']:,} undecided",
                    mend="Plan the next round; confirmation comes when nothing more is asked.",
                )
            report(0.0, "planning the confirmation")
            drafts = confirmation_round(ledger, now.candidates)
            if not drafts:
                return None
            self._write(*drafts)
        issued = self._ledger.open_round
        return None if issued is None else self._ledger.view(issued)

    def plan_audit(self, size: int) -> Round:
        """Issue an audit round of ``size`` compounds drawn at random from those not in; an open one is returned as is.

        It decides nothing and counts against no budget. AssayPilotError while another round is open or a phase is
        under way, and where there is nothing to draw from.
        """
        ledger = self._ledger
        issued = ledger.open_round
        if (issued is not None and not issued.population) or (issued is None and ledger.under_way is not None):
            raise AssayPilotError(
                "a round is open or planned, and what it finds may change what is in",
                mend="Enter its results and close it first.",
            )
        if issued is None:
            self._write(audit_round(ledger, self.status().candidates, size))
            issued = self._ledger.open_round
        assert issued is not None
        return self._ledger.view(issued)

    def lay_out(self, number: int, use: PlateUse | None) -> Round:
        """Return a round with the plates it stands on from now on, kept in the file; with None on none any more.

        Plates that are as they were stay, and nothing is written. AssayPilotError when a measurement fits on no plate.
        """
        issued, now = self.round(number), self.status()
        layout = plating.layout_of(now, issued, use)
        if layout != issued.layout:
            self._write(plating.laid_out(issued, layout))
        return self.round(number)

    def withdraw_round(self, note: str = "") -> None:
        """Take the open round back, with its plates; only while it has no result. Its number is not used again."""
        self._write(withdrawn_round(self._ledger, note))

    def close_round(self, missing: Missing = "return", note: str = "") -> Status:
        """End the open round with what has come back.

        ``return``: what is missing comes again in the next round of the phase, and nothing is decided before.
        ``failed``: it is lost for lab reasons that have nothing to do with the values; the phase goes on without it.
        ``other``: lost for a reason that may depend on the results: the guarantee is void from here on.
        """
        self._write(closed_round(self._ledger, to_end(self._ledger, "close"), missing, note))
        return self.status()

    # -- results

    def record(
        self,
        results: Sequence[Result],
        *,
        close: bool = False,
        missing: Missing = "return",
        unavailable: tuple[Sequence[str], str] | None = None,
        again: bool = False,
        close_when_complete: bool = True,
        source: Source | None = None,
    ) -> RecordReport:
        """Add results, in entry units; planned, unplanned, partial, late and censored ones are all accepted.

        With ``unavailable``, (ids, reason), compounds cannot be had any more; those marked already stay as they are.
        With ``close`` the open round ends with what has come back; with ``close_when_complete`` results end it by
        themselves when nothing is missing. All of it is one transaction. The same content, or a result that is there
        already (``intake.prepare``), is not counted twice unless ``again``; when nothing new is left, that is refused.
        """
        with self._writing() as work:
            return recorded(
                work,
                results,
                close=close,
                missing=missing,
                unavailable=unavailable,
                again=again,
                close_when_complete=close_when_complete,
                source=source,
            )

    # Amendments: with ``dry`` nothing is done, and what it would do to the guarantee and the decisions is returned.

    # ``control``: the number is that of a control's value, which proofs do not count.

    def exclude(
        self, number: int, reason: str, *, judgement: bool = False, control: bool = False, dry: bool = False
    ) -> tuple[str, ...]:
        """Leave a value out, for a reason that is kept with it.

        ``judgement``: left out after seeing it, not for a technical cause; the guarantee's sentence counts those.
        """
        draft = amending.excluded(self._ledger, number, reason, judgement=judgement, control=control)
        return self._amend(draft, dry=dry)

    def include(self, number: int, reason: str, *, control: bool = False, dry: bool = False) -> tuple[str, ...]:
        """Use an excluded value again."""
        return self._amend(amending.included(self._ledger, number, reason, control=control), dry=dry)

    def correct(
        self,
        number: int,
        value: float,
        *,
        relation: Relation = "=",
        unit: str | None = None,
        reason: str,
        control: bool = False,
        dry: bool = False,
    ) -> tuple[str, ...]:
        """Replace a wrong value, given in the entry unit; what was entered first stays in the log and in ``entered``.

        Where a proof has decided by it already, the series model takes over, as after changed terms.
        """
        draft = amending.corrected(self._ledger, number, value, relation, unit, reason, control=control)
        return self._amend(draft, dry=dry)

    def _amend(self, draft: Draft, *, dry: bool) -> tuple[str, ...]:
        """Write a change of one measurement, with the hand-over to the series model where a proof ends."""
        if dry:
            return amending.consequences(self._ledger, draft)
        with self._writing() as work:
            amending.amend(work, draft)
        return ()

    def mark_unavailable(self, ids: Sequence[str], reason: str) -> None:
        """Say that compounds cannot be had (for a reason that has nothing to do with their values).

        What the phase still wanted of them is given up; what only they could tell becomes not estimable.
        """
        reason = amending.reason_of(reason)
        compounds = list(to_mark(self._ledger, ids))
        if not compounds:
            raise AssayPilotError("these compounds are marked as not to be had already")
        self._write(CompoundsUnavailable.draft({"compounds": compounds, "reason": reason}))

    # -- changed terms

    def consequences(self, changes: Change) -> tuple[str, ...]:
        """Return what a change would do to the guarantee, the decisions and the rounds, in sentences.

        Nothing is done.
        """
        return consequences(self._ledger, changes)

    def change(self, changes: Change, note: str = "") -> Status:
        """Return the campaign under other terms.

        AssayPilotError when they are refused. See ``changes`` for what holds.
        """
        with self._writing() as work:
            add_change(work, changes, note)
        return self.status()

    def consequences_of_adding(self, compounds: Library) -> tuple[str, ...]:
        """Return what more compounds would do to the guarantee, the decisions and the rounds; nothing is done."""
        return consequences_of_adding(self._ledger, compounds)

    def add_compounds(self, compounds: Library, note: str = "", source: Source | None = None) -> Status:
        """Return the campaign with more compounds, which may bring new substituents, at the same sites.

        Those there stay.

        Compounds that are there already are left out; AssayPilotError when none is new, for an id that stands for
        something else there, and while a phase is under way. See ``added_compounds`` for what holds.
        """
        with self._writing() as work:
            add_compounds(work, compounds, note, source)
        return self.status()

    # -- undo

    @property
    def undo_label(self) -> str | None:
        """What undo would take back; None when there is nothing."""
        return self._ledger.undo[-1].label if self._ledger.undo else None

    @property
    def redo_label(self) -> str | None:
        """What redo would do again; None when there is nothing."""
        return self._ledger.redo[-1].label if self._ledger.redo else None

    def undo(self) -> str:
        """Return the label of the action taken back. The opposite is appended; nothing is erased."""
        if not self._ledger.undo:
            raise AssayPilotError("there is nothing to undo", mend="Closed rounds and decisions stay as they are.")
        step = self._ledger.undo[-1]
        refuse_late(self._ledger, step)
        self._write(replace(step.back, data={**step.back.data, "undoes": self._ledger.sequence}))
        return step.label

    def redo(self) -> str:
        """Return the label of the action done again."""
        if not self._ledger.redo:
            raise AssayPilotError("there is nothing to redo")
        step = self._ledger.redo[-1]
        data = {**step.forth.data, "redoes": self._ledger.sequence}
        if step.kind.issues:
            data["round"] = len(self._ledger.rounds) + 1  # that of a withdrawn round is not used again
        self._write(replace(step.forth, data=data))
        return step.label

    # -- the file

    def save_copy(self, path: str | Path) -> None:
        """Write a copy of the whole file; AssayPilotError when the path exists."""
        self._store.save_copy(path)

    def _write(self, *drafts: Draft) -> None:
        with self._writing() as work:
            work.add(*drafts)

    @contextmanager
    def _writing(self) -> Iterator[Work]:
        """Write what is added to a transaction, with the decision it makes due; nothing where it is refused."""
        work = Work(self._ledger)
        yield work
        if work.drafts:
            decide_due(work)
            self._store.append(work.drafts, work.parts)
            self.refresh()
