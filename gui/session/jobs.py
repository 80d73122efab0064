"""Work on the open campaign, one piece at a time on its thread, and background work that needs only a view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Cancelled, Report

from ..runtime.tasks import SHOWN_AFTER, Job, Tasks
from .view import View

if TYPE_CHECKING:
    from assaypilot.engine.campaign.campaign import Campaign
    from assaypilot.engine.domain.library import Library


T = TypeVar("T")
PRACTICE_SIZE = 960


class Working(QObject):
    """The campaign, its view and the work on it; signals report what goes wrong."""

    changed = Signal(str)
    """``campaign`` when another file was opened or it was closed, ``state`` after a command."""
    failed = Signal(object)
    """An AssayPilotError."""
    broke = Signal(object, str)
    """Any other exception (our bug) and the action that raised it."""
    question = Signal(object, str, object)
    """An AssayPilotError, a remedy in a few words, and the action that performs it."""
    begun = Signal()
    """Another action started: earlier refusals are outdated."""
    message = Signal(str)
    """The finished action, in a sentence."""
    moved = Signal()
    """A command that may show another page has done so: only the page shown now is to be filled."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.tasks = Tasks(self)
        self.background = Tasks(self)
        """Work with a view, mostly exports, while the campaign goes on."""
        self.ahead = Tasks(self)
        """Forecasts, which nothing waits for."""
        self.tables = Tasks(self)
        """Sorting and filtering of long tables; it waits for nothing else."""
        self.view: View | None = None
        self.moving = False
        """Whether ``moved`` follows ``changed``."""
        self._campaign: Campaign | None = None  # belongs to the worker: touched in jobs only
        self._ranked: tuple[Library, tuple[int, int]] | None = None  # so does this

    def read(
        self, label: str, work: Callable[[Report], T], then: Callable[[T], None],
        failed: Callable[[Exception], None] | None = None,
    ) -> Job:  # fmt: skip
        """Return the job that reads something which is not the campaign (a table); cancelled, it never lands."""
        return self._start(label, work, then, failed=failed, writes=False)

    def aside(
        self, label: str, work: Callable[[Report], T], then: Callable[[T], None], failed: Callable[[Exception], None],
        *, writes: bool = False,
    ) -> Job:  # fmt: skip
        """Return the job that needs a view only; commands of the campaign need not wait for it.

        ``writes``: it writes another file, which is reported once it is there, even when Cancel came late.
        """
        return self._start(label, work, then, failed=failed, writes=writes, tasks=self.background)

    def look_ahead(
        self, label: str, work: Callable[[Report], T], then: Callable[[T], None], failed: Callable[[Exception], None],
        *, shown_after: float = SHOWN_AFTER,
    ) -> Job:  # fmt: skip
        """Return the job that simulates; exports need not wait for it. ``shown_after``: seconds until it is shown."""
        return self._start(label, work, then, failed=failed, writes=False, tasks=self.ahead, shown_after=shown_after)

    def arrange(
        self, label: str, work: Callable[[Report], T], then: Callable[[T], None], stopped: Callable[[], None]
    ) -> Job:
        """Return the job that computes the rows of a table; ``stopped`` is called when it gives no result."""

        def failed(error: Exception) -> None:
            if isinstance(error, AssayPilotError):
                self.failed.emit(error)
            stopped()

        return self._start(label, work, then, failed=failed, writes=False, tasks=self.tables)

    def write(self, label: str, work: Callable[[Report], T], then: Callable[[T], None]) -> Job:
        """Return the job that writes another file while the campaign's commands go on.

        The signal ``failed`` reports what goes wrong.
        """
        return self._start(label, work, then, tasks=self.background)

    # ------------------------------------------------------------------ for the commands

    def _start(
        self, label: str, work: Callable[[Report], T], then: Callable[[T], None], *,
        failed: Callable[[Exception], None] | None = None, writes: bool = True, cancellable: bool = True,
        tasks: Tasks | None = None, shown_after: float = SHOWN_AFTER,
    ) -> Job:  # fmt: skip
        def refused(error: BaseException) -> None:
            if failed is not None and isinstance(error, (AssayPilotError, Cancelled)):
                failed(error)
            elif isinstance(error, AssayPilotError):
                self.failed.emit(error)
            elif isinstance(error, Cancelled):
                self.message.emit("Stopped; nothing was changed.")
            else:
                self.broke.emit(error, label)
                if failed is not None:
                    failed(AssayPilotError("something went wrong inside AssayPilot", mend="A report was saved."))

        queue = tasks or self.tasks
        return queue.run(label, work, then, refused, writes=writes, cancellable=cancellable, shown_after=shown_after)

    def _command(
        self, label: str, work: Callable[[Campaign, Report], T], then: Callable[[T], None] | None = None, *,
        failed: Callable[[Exception], None] | None = None, cancellable: bool = False, moves: bool = False,
    ) -> None:  # fmt: skip
        """Do something with the campaign; ``moves``: ``then`` may show another page, and that one only is filled."""

        def on_worker(report: Report) -> tuple[T, View]:
            campaign = self._open_campaign()
            value = work(campaign, report)
            return value, self._look(campaign)

        def landed(result: tuple[T, View]) -> None:
            self.view, self.moving = result[1], moves
            self.changed.emit("state")
            self.moving = False
            if then is not None:
                then(result[0])
            if moves:
                self.moved.emit()

        self._start(label, on_worker, landed, failed=failed, cancellable=cancellable)

    def _read(
        self, label: str, work: Callable[[Campaign, Report], T], then: Callable[[T], None],
        failed: Callable[[Exception], None] | None = None,
    ) -> Job:  # fmt: skip
        return self._start(label, lambda report: work(self._open_campaign(), report), then, failed=failed, writes=False)

    def _open_campaign(self) -> Campaign:
        if self._campaign is None:
            raise AssayPilotError("no campaign is open", mend="Open one, or start a new one.")
        return self._campaign

    def _look(self, campaign: Campaign) -> View:
        from assaypilot.engine.chemistry.names import site_names
        from assaypilot.engine.export.measured import means_of

        # Kept here, so that the window's thread need not make them.
        means_of(campaign.status())
        for site in campaign.status().library.sites:
            site_names(site.substituents)
        reasons = campaign.reasons()
        if len(campaign.status().library):
            reasons.of(0)
        return View(
            campaign.status(),
            Path(campaign.path),
            campaign.read_only,
            campaign.read_only_reason,
            campaign.undo_label,
            campaign.redo_label,
            _is_practice(campaign),
            self._rank_of(campaign.status().library),
            reasons,
        )

    def _rank_of(self, library: Library) -> tuple[int, int]:
        """Return the rank of a library, computed once.

        A comparison of contents would go through a million names each time.
        """
        if self._ranked is None or self._ranked[0] is not library:
            self._ranked = library, _rank(library)
        return self._ranked[1]


def _is_practice(campaign: Campaign) -> bool:
    """Whether the simulated assay knows the compounds of a campaign, and its one endpoint."""
    if len(campaign.status().measured_endpoints) > 1:
        return False
    if len(campaign.status().library) != PRACTICE_SIZE:  # spares all other campaigns reading the practice table
        return False
    from assaypilot.engine.simulate.practice import is_practice

    return is_practice(campaign)


def _rank(library: Library) -> tuple[int, int]:
    from assaypilot.engine.domain.features import SiteFeatures, span_rank

    features = SiteFeatures.of(library)
    return span_rank(features), int(features.full_rank)
