"""A campaign: what can be done with it. The window and the command line both call this."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.endpoint import Relation
from ..domain.library import Library
from ..domain.measurements import Result
from ..domain.plates import PlateUse
from ..domain.stock import IN_STOCK, NOTHING_STATED, StockLine, StockTerms
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from . import plating
from .added_compounds import add_compounds, consequences_of_adding, list_combinations
from .auditing import audit_round
from .changes import Change, add_change, add_stock, consequences
from .confirmation import confirmation_round
from .events.entered import CompoundsUnavailable
from .events.kind import Redone, Undone
from .file.chain import Draft
from .issued_rounds import Missing, Round, Source
from .opened import CampaignFile
from .results import amending
from .results.intake import to_mark
from .results.recording import recorded
from .rewind import refuse_late
from .rounds import (
    closed_round,
    decide_due,
    planned_round,
    to_end,
    withdrawn_round,
)
from .state import RecordReport, Status
from .stocked import stock_drafts


class Campaign(CampaignFile):
    """One open campaign file and all its commands, each of which is one transaction."""

    # -- rounds

    def plan(self, report: Report = silent) -> Round | None:
        """Return the next round, or the open one unchanged; None when nothing is to be measured now."""
        if self._ledger.open_round is None:
            with self._writing() as work:
                list_combinations(work)
                decide_due(work)
                work.add(*planned_round(work.ledger, report))
            if not work.drafts:
                return None
        issued = self._ledger.open_round
        return None if issued is None else self._ledger.view(issued)

    def set_stock(
        self,
        lines: Sequence[StockLine],
        terms: StockTerms = NOTHING_STATED,
        *,
        source: Source | None = None,
        note: str = "",
    ) -> bool:
        """Record stock and costs as one step that undo takes back; return whether anything is new.

        A compound that cannot be made becomes unavailable; one in stock or to be made becomes available. Where a
        proof has decided without it, the series model takes over.
        """
        drafts = stock_drafts(self._ledger, lines, terms, source=source, note=note)
        with self._writing() as work:
            add_stock(work, drafts)
        return bool(drafts)

    def arrived(self, ids: Sequence[str]) -> None:
        """Record that compounds that were to be made have arrived; they come in the next round of their phase."""
        lines = []
        for name in ids:
            compound = self._ledger.library.find(name)
            if compound is None:
                raise AssayPilotError(f"{name!r} is not in the library", option="--arrived", mend="Check the id.")
            lines.append(StockLine(compound, IN_STOCK))
        if not self.set_stock(lines, note="arrived"):
            raise AssayPilotError("these compounds are in stock already")

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
                    mend="Plan the next round; confirmation comes when nothing more is requested.",
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
            which, mend = "a round is open", "Enter its results and close it first."
            if issued is None:
                which, mend = "the next round is planned", "Issue it, enter its results and close it first."
            raise AssayPilotError(f"{which}, and what it finds may change what is in", mend=mend)
        if issued is None:
            self._write(audit_round(ledger, self.status().candidates, size))
            issued = self._ledger.open_round
        assert issued is not None
        return self._ledger.view(issued)

    def lay_out(self, number: int, use: PlateUse | None) -> Round:
        """Return a round with its new plates, kept in the file; None removes them.

        Unchanged plates stay, and nothing is written. AssayPilotError when a measurement fits on no plate.
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

        With ``unavailable``, (ids, reason), compounds become unavailable; those marked already stay as they are.
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
        """Mark compounds as unavailable (for a reason that has nothing to do with their values).

        Their planned measurements are given up; effects that only they determine become not estimable.
        """
        reason = amending.reason_of(reason)
        compounds = list(to_mark(self._ledger, ids))
        if not compounds:
            raise AssayPilotError("these compounds are marked as unavailable already")
        self._write(CompoundsUnavailable.draft({"compounds": compounds, "reason": reason}))

    # -- changed terms

    def consequences(self, changes: Change) -> tuple[str, ...]:
        """Return what a change would do to the guarantee, the decisions and the rounds, in sentences.

        Nothing is done.
        """
        return consequences(self._ledger, changes)

    def change(self, changes: Change, note: str = "") -> Status:
        """Return the campaign under other terms.

        AssayPilotError when they are refused. See ``changes`` for the consequences.
        """
        with self._writing() as work:
            add_change(work, changes, note)
        return self.status()

    def consequences_of_adding(self, compounds: Library) -> tuple[str, ...]:
        """Return what more compounds would do to the guarantee, the decisions and the rounds; nothing is done."""
        return consequences_of_adding(self._ledger, compounds)

    def add_compounds(self, compounds: Library, note: str = "", source: Source | None = None) -> Status:
        """Return the campaign with more compounds, which may bring new substituents, at the same sites.

        Present compounds stay, and are left out of the new ones. AssayPilotError when none is new, for an id of another
        compound, and while a phase is under way. See ``added_compounds`` for the consequences.
        """
        with self._writing() as work:
            add_compounds(work, compounds, note, source)
        return self.status()

    # -- undo

    @property
    def undo_label(self) -> str | None:
        """The label of the next undo; None when there is nothing to undo."""
        return self._ledger.undo[-1].label if self._ledger.undo else None

    @property
    def redo_label(self) -> str | None:
        """The label of the next redo; None when there is nothing to redo."""
        return self._ledger.redo[-1].label if self._ledger.redo else None

    def undo(self) -> str:
        """Return the label of the action taken back. That is appended; nothing is erased."""
        if not self._ledger.undo:
            raise AssayPilotError("there is nothing to undo", mend="Closed rounds and decisions stay as they are.")
        step = self._ledger.undo[-1]
        refuse_late(self._ledger, step)
        self._write(Undone.draft({"label": step.label}))
        return step.label

    def redo(self) -> str:
        """Return the label of the action done again."""
        if not self._ledger.redo:
            raise AssayPilotError("there is nothing to redo")
        step = self._ledger.redo[-1]
        # The number of a withdrawn round is not used again.
        instead = {"round": len(self._ledger.rounds) + 1} if step.done.issues else {}
        self._write(Redone.draft({"label": step.label, "instead": instead}))
        return step.label
