"""The open campaign as the window knows it; the only caller of its commands, all of them on the worker thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from PySide6.QtCore import QObject

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report

from ..runtime.tasks import Job
from ..tables.properties import Calculations
from .jobs import Working
from .view import Replay, Selection, View

if TYPE_CHECKING:
    from assaypilot.engine.campaign.campaign import Campaign
    from assaypilot.engine.campaign.cautions import LogEntry
    from assaypilot.engine.campaign.changes import Change
    from assaypilot.engine.campaign.file.store import Verification
    from assaypilot.engine.campaign.issued_rounds import Missing, Round, Source
    from assaypilot.engine.campaign.reasons import Reasons
    from assaypilot.engine.campaign.state import RecordReport, Status
    from assaypilot.engine.domain.endpoint import Relation
    from assaypilot.engine.domain.library import Library
    from assaypilot.engine.domain.measurements import Result
    from assaypilot.engine.domain.plates import PlateUse
    from assaypilot.engine.domain.stock import StockLine, StockTerms
    from assaypilot.engine.export.answer import Ends


T = TypeVar("T")
Consequences: TypeAlias = "Callable[[Campaign], tuple[str, ...]]"
"""Returns the consequences of a change to a campaign, in sentences."""
QUICKLY_DRAWN = 50_000
"""The most compounds in all rounds together for which common axes are computed."""


class Session(Working):
    """Pages read ``view``, call one command, and receive ``changed``."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.selection = Selection(self)
        """The compound that is selected, on all pages."""
        self.calculations = Calculations(self)
        """Properties of its structures, calculated when they are first shown."""
        self.replay = Replay(self)
        """Which moment of the campaign its pictures show."""

    # ------------------------------------------------------------------ opening and closing

    def open(self, path: Path, then: Callable[[], None] | None = None) -> None:
        """Open a campaign file in place of the one that is open."""

        def work(report: Report) -> View:
            from assaypilot.engine.campaign.campaign import Campaign

            return self._take(Campaign.open(path, report=report), report)

        self._start(f"Opening {path.name}", work, lambda view: self._opened(view, then))

    def create(
        self, path: Path, arguments: dict[str, Any], *, then: Callable[[], None], failed: Callable[[Exception], None]
    ) -> Job:
        """Return the job that writes a new campaign file (arguments as ``Campaign.create`` takes them) and opens it."""

        def work(report: Report) -> View:
            from assaypilot.engine.campaign.campaign import Campaign

            return self._take(Campaign.create(path, report=report, **arguments), report)

        return self._start("Writing the campaign", work, lambda view: self._opened(view, then), failed=failed)

    def practice(self, folder: Path, *, fresh: bool = False) -> None:
        """Open the practice campaign kept in ``folder``, creating it when there is none."""

        def work(report: Report) -> View:
            from assaypilot.engine.campaign.campaign import Campaign
            from assaypilot.engine.simulate.practice import create_practice

            path = folder / "practice.assaypilot"
            if fresh or not path.exists():
                number = 2
                while path.exists():
                    path = folder / f"practice {number}.assaypilot"
                    number += 1
                return self._take(create_practice(path, report=report), report)
            return self._take(Campaign.open(path, report=report), report)

        self._start("Opening the practice campaign", work, lambda view: self._opened(view, None))

    def _take(self, campaign: Campaign, report: Report) -> View:
        """Return the view of a campaign that takes the place of the open one; on the worker."""
        try:
            view = self._look(campaign)
            report(1.0, "Ready")  # the last chance to cancel
        except BaseException:
            campaign.close()
            raise
        if self._campaign is not None:
            self._campaign.close()
        self._campaign = campaign
        return view

    def _opened(self, view: View, then: Callable[[], None] | None) -> None:
        self.selection.choose(None)
        self.view = view
        self.changed.emit("campaign")
        if then is not None:
            then()

    def shut(self) -> None:
        """Finish writing the campaign, stop exports, close the file and end the workers."""
        self.replay.stop()
        self.background.stop(at_once=True)
        self.ahead.stop(at_once=True)
        self.tables.stop(at_once=True)
        self.tasks.stop()
        if self._campaign is not None:  # the worker has ended
            self._campaign.close()
            self._campaign = None
        self.view = None

    # ------------------------------------------------------------------ commands, one transaction each

    def plan(self, then: Callable[[Round | None], None] | None = None) -> None:
        """Issue the next round."""

        def work(campaign: Campaign, report: Report) -> Round | None:
            return campaign.plan(report)

        self._command("Planning the next round", work, then, cancellable=True, moves=True)

    def set_stock(
        self, lines: Sequence[StockLine], terms: StockTerms, source: Source | None = None,
        then: Callable[[bool], None] | None = None,
    ) -> None:  # fmt: skip
        """Record stock and costs."""
        self._command("Saving", lambda campaign, report: campaign.set_stock(lines, terms, source=source), then)

    def arrived(self, ids: Sequence[str]) -> None:
        """Record that compounds to be made have arrived."""
        self._command("Saving", lambda campaign, report: campaign.arrived(ids))

    def plan_confirmation(self, then: Callable[[Round | None], None] | None = None) -> None:
        """Issue the next confirmation round."""
        self._command("Planning the confirmation", lambda campaign, report: campaign.plan_confirmation(report), then)

    def plan_audit(self, size: int, then: Callable[[Round | None], None] | None = None) -> None:
        """Issue an audit round of so many compounds."""
        self._command("Planning the audit", lambda campaign, report: campaign.plan_audit(size), then)

    def record(
        self,
        results: Sequence[Result],
        then: Callable[[RecordReport], None] | None = None,
        *,
        again: bool = False,
        source: Source | None = None,
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        """Add results to the campaign, and close no round."""

        def work(campaign: Campaign, report: Report) -> RecordReport:
            return campaign.record(results, again=again, close_when_complete=False, source=source)

        self._command("Saving results", work, then, failed=failed)

    def measure_practice(self) -> None:
        """Fill the open round from the simulated assay of the practice campaign."""

        def work(campaign: Campaign, report: Report) -> RecordReport:
            from assaypilot.engine.simulate.practice import practice_results

            standing = campaign.status().open_round
            if standing is None:
                raise AssayPilotError("there is no open round to measure", mend="Plan a round first.")
            if standing.came:
                raise AssayPilotError("the round has results already", mend="Undo them first, or type what is missing.")
            return campaign.record(practice_results(campaign, standing), close_when_complete=False)

        self._command("Measuring with the simulated assay", work)

    def close_round(self, missing: Missing = "return", note: str = "", then: Callable[[], None] | None = None) -> None:
        """Close the open round with the returned results."""
        self._command(
            "Closing the round", lambda campaign, report: campaign.close_round(missing, note), _plain(then), moves=True
        )

    def lay_out(self, number: int, use: PlateUse | None, then: Callable[[], None] | None = None) -> None:
        """Keep the plates of a round; None: no plates."""
        self._command("Laying out the plates", lambda campaign, report: campaign.lay_out(number, use), _plain(then))

    def withdraw_round(self, note: str = "", then: Callable[[], None] | None = None) -> None:
        """Take the open round back, which has no result."""
        self._command("Withdrawing the round", lambda campaign, report: campaign.withdraw_round(note), _plain(then))

    def mark_unavailable(self, ids: Sequence[str], reason: str) -> None:
        """Mark compounds as unavailable."""
        self._command("Saving", lambda campaign, report: campaign.mark_unavailable(ids, reason))

    def exclude(self, number: int, reason: str, *, judgement: bool) -> None:
        """Take a measurement out of use, with a reason."""
        self._command("Saving", lambda campaign, report: campaign.exclude(number, reason, judgement=judgement))

    def include(self, number: int, reason: str) -> None:
        """Put an excluded measurement to use again."""
        self._command("Saving", lambda campaign, report: campaign.include(number, reason))

    def correct(self, number: int, value: float, *, relation: Relation, unit: str | None, reason: str) -> None:
        """Replace a mistyped value; the original stays in the log."""
        self._command(
            "Saving",
            lambda campaign, report: campaign.correct(number, value, relation=relation, unit=unit, reason=reason),
        )

    def amend_control(
        self, number: int, reason: str, *, value: float | None = None, unit: str | None = None,
        excluded: bool | None = None,
    ) -> None:  # fmt: skip
        """Correct the value of a control, leaves it out, or put it to use again."""
        self._command(
            "Saving",
            lambda campaign, report: (
                campaign.correct(number, value, unit=unit, reason=reason, control=True)
                if value is not None
                else (campaign.exclude if excluded else campaign.include)(number, reason, control=True)
            ),
        )

    def consequences(
        self, of: Consequences, then: Callable[[tuple[str, ...]], None],
        failed: Callable[[Exception], None] | None = None,
    ) -> Job:  # fmt: skip
        """Pass on the consequences for decisions and guarantee, in sentences; nothing is changed."""
        return self._read("Looking ahead", lambda campaign, report: of(campaign), then, failed)

    def add_compounds(self, compounds: Library, source: Source, then: Callable[[], None] | None = None) -> None:
        """Take more compounds in."""
        self._command(
            "Adding compounds",
            lambda campaign, report: campaign.add_compounds(compounds, source=source),
            _plain(then),
        )

    def change(self, changes: Change, note: str = "", then: Callable[[], None] | None = None) -> None:
        """Go on under other terms."""
        self._command("Changing the terms", lambda campaign, report: campaign.change(changes, note), _plain(then))

    def undo(self) -> None:
        """Take the last action back."""
        self._command("Undoing", lambda campaign, report: campaign.undo(), lambda done: self._announce("Undone", done))

    def redo(self) -> None:
        """Do the action again that was taken back last."""
        self._command("Redoing", lambda campaign, report: campaign.redo(), lambda done: self._announce("Redone", done))

    def _announce(self, what: str, action: str) -> None:
        self.message.emit(f"{what}: {action[:1].lower()}{action[1:]}.")

    def save_copy(self, path: Path) -> None:
        """Write a copy of the campaign file."""
        self._command(
            "Saving a copy",
            lambda campaign, report: campaign.save_copy(path),
            lambda _: self.message.emit(f"Saved a copy as {path.name}. This window still shows the original."),
        )

    # ------------------------------------------------------------------ reading

    def history(self, then: Callable[[tuple[LogEntry, ...]], None]) -> None:
        """Hand over the log."""
        self._read("Reading the history", lambda campaign, report: campaign.history(), then)

    def look_back(
        self, number: int, known: Ends | None, then: Callable[[tuple[Status, Reasons, Ends | None]], None],
        failed: Callable[[Exception], None],
    ) -> Job:  # fmt: skip
        """Return the job that reads the state of the campaign at the end of a round, with reasons; 0: at the start.

        It also returns axes for the pictures of every round, or of this one and those ``known`` before.
        """

        def work(report: Report) -> tuple[Status, Reasons, Ends | None]:
            campaign = self._open_campaign()
            from assaypilot.engine.export.measured import means_of

            then_, reasons = campaign.status_at(number), campaign.reasons(number)
            means_of(then_)  # kept here, so that the window's thread need not make them
            return then_, reasons, _axes_of_rounds(campaign, then_, known)

        return self._start("Looking back", work, then, failed=failed, writes=False)

    def verify(self, then: Callable[[Verification], None]) -> None:
        """Check the file's integrity."""

        def work(campaign: Campaign, report: Report) -> Verification:
            from assaypilot.engine.campaign.verifying import verify

            return verify(campaign.path, expected_head=campaign.head, expected_events=campaign.events, report=report)

        self._read("Checking the file", work, then)


def _axes_of_rounds(campaign: Campaign, then: Status, known: Ends | None) -> Ends | None:
    """Axes for the pictures of all rounds where these are quickly computed, else of those shown so far."""
    from assaypilot.engine.export.answer import around, picture_of

    moments = [moment.round for moment in campaign.moments()]
    if known is not None or len(moments) * len(then.library) > QUICKLY_DRAWN:
        return around([known, picture_of(then).ends()])
    past = (picture_of(campaign.status_at(number)).ends() for number in moments)
    return around([picture_of(campaign.status()).ends(), *past])


def _plain(then: Callable[[], None] | None) -> Callable[[object], None] | None:
    """Return a callback of a finished command that drops its result."""
    return None if then is None else lambda _: then()
