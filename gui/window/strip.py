"""What is around every page: the strip with goal, set and next step, the names of the pages, and the footer."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton

from assaypilot.engine.campaign.overview import current_round
from assaypilot.engine.campaign.overview import next_step as campaign_next
from assaypilot.engine.campaign.state import Claim, Status
from assaypilot.engine.text import many, roughly

from ..resources.theme import theme
from ..session.view import View
from ..tables.rows import plain_tip
from ..widgets.bars import Gauge
from ..widgets.layout import STRETCH, FoldedLabel, column_of, put, row_of
from ..widgets.marks import Pill
from ..widgets.text import ElidedLabel, as_here, button, label, mnemonic_free, polish
from .page import PageName

LARGE = 1.5
"""Size of the text from which it has two lines instead of one."""
GOAL_LINES = 2
"""Lines of the goal; all of it is in its tip. The strip has room for them, so that it is as high on every page."""
MARGIN, BETWEEN = 8, 3
"""Pixels above and below the text of the strip, and between its lines."""
NAME_WIDTH = 40
"""Characters of the file's name that are shown; the guarantee needs the room."""


@dataclass(frozen=True, slots=True)
class Next:
    """The next step: the text of the one button and its command."""

    command: str
    """``new``, ``plan``, ``enter``, ``close``, ``confirm`` or ``export``."""
    text: str
    tip: str


def next_step(view: View | None) -> Next | None:
    """Return the next step; None without one (a read-only window)."""
    if view is None:
        return Next("new", "Open table…", "Start a new campaign from a table of compounds")
    status = view.status
    step, number = campaign_next(status), current_round(status)
    if view.read_only:
        step = "export" if step == "confirm" else step
        return _NEXT_EXPORT if step == "export" else None
    if step == "confirm":
        return Next(
            "confirm",
            "Plan confirmation round",
            "Measure each compound that is in and was never measured, once: does it lie where the model predicts? "
            f"{len(status.confirmation.due):,} to measure",
        )
    if step == "wait" and status.stock is not None:
        tip = "Nothing more can be tested before what was ordered is there: mark on the Round page what has arrived"
        return Next("plan", f"Waiting for {many(len(status.stock.orders), 'compound')}", tip)
    return {
        "plan": Next("plan", f"Plan round {number}", "Issue the list of compounds to measure next"),
        "enter": Next("enter", "Enter results", "Go to the first line that waits for a result"),
        "close": Next("close", f"Close round {number}", "Everything is in: let the results count"),
        "export": _NEXT_EXPORT,
    }[step]


_NEXT_EXPORT = Next(
    "export",
    "Export shortlist…",
    "The set is settled: write what is in as a table, a workbook, a report or a slide",
)


class Strip(QFrame):
    """The top of the window."""

    wanted = Signal(str)
    """The command of the one button."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("strip")
        row = row_of(holder=self, margins=(20, MARGIN, 20, MARGIN), spacing=22)
        names = column_of(spacing=BETWEEN)
        self.name = ElidedLabel("big")
        self.goal = FoldedLabel("muted", lines=GOAL_LINES)
        self.goal.setMinimumWidth(200)
        put(names, STRETCH, self.name, self.goal, STRETCH)
        row.addLayout(names, 1)
        pills = row_of(spacing=8)
        self.pills = {key: Pill(code) for key, code in (("in", 1), ("undecided", 0), ("out", 2), ("not_estimable", 3))}
        for pill in self.pills.values():
            pills.addWidget(pill)
        row.addLayout(pills)
        self.badge = button("", "badge", tip="Opens how sure the answer is, and what that assumes")
        self.badge.setCheckable(True)
        row.addWidget(self.badge)
        spent = column_of(spacing=6)
        self.used = label("")
        self.used.setMinimumWidth(150)
        self.bar = Gauge()
        """Measurements used, of the budget or of those planned so far."""
        self.errors = label("", "muted")
        self.errors.setToolTip("Expected number of members that are not in, and of compounds in that are none")
        put(spent, STRETCH, self.used, self.errors, self.bar, STRETCH)
        row.addLayout(spent)
        self.primary = button("", "primary", then=self._pressed)
        row.addWidget(self.primary)
        self._next: Next | None = None
        self._view: View | None = None
        self._expected = ("", "")
        self.show_view(None)
        theme().changed.connect(self._dress)

    def show_view(self, view: View | None) -> None:
        """Show the state of the campaign."""
        self._view = view
        self._next = next_step(view)
        # The start page has the button itself, larger and in its middle.
        self.primary.setVisible(self._next is not None and view is not None)
        if self._next is not None:
            self.primary.setText(mnemonic_free(self._next.text))
            self.primary.setToolTip(self._next.tip)
            self.primary.setAccessibleDescription(self._next.tip)
        open_ = view is not None
        for widget in (*self.pills.values(), self.badge, self.used):
            widget.setVisible(open_)
        if view is None:
            self.errors.hide()
            self.bar.hide()
            self.name.setText("AssayPilot")
            self.goal.setText("Which compounds to assay next, and when to stop")
            return
        status = view.status
        self.name.setText(status.name)
        self.goal.setText(status.goal_sentence)
        claim = {"proven": "Proven", "calibrated": "Calibrated", "none": "No guarantee"}[status.guarantee.kind]
        self.badge.setText(f"{claim} \N{BLACK DOWN-POINTING SMALL TRIANGLE}")
        self.badge.setAccessibleName(f"Guarantee: {claim.lower()}" if claim == "Proven" else claim)
        kind = "proven" if status.guarantee.holds else "void"
        if self.badge.property("kind") != kind:
            polish(self.badge, kind=kind)
        for key, pill in self.pills.items():
            count = int(status.counts.get(key, 0))
            pill.set_count(count)
            pill.setVisible(key != "not_estimable" or count > 0)
        self.used.setToolTip(_of_each(status))
        used, budget = status.measurements_used, status.settings.budget
        if budget is not None:
            self.used.setText(f"{used:,} of {budget:,} measurements")
            total = budget
        else:
            self.used.setText(many(used, "measurement"))
            phase = status.phase
            if phase is not None and phase.outstanding > 0:
                end = "\n" if theme().scale >= LARGE else " "
                self.used.setText(f"{used:,} measured,{end}{phase.outstanding:,} to go")
            total = 0 if phase is None else used + phase.outstanding
        self.bar.setVisible(total > 0)
        self.bar.show_part(min(used / max(total, 1), 1.0))
        if status.confirmation.measurements:
            end = "\n" if theme().scale >= LARGE else " "
            self.used.setText(f"{self.used.text()},{end}{status.confirmation.measurements:,} to check")
        head, words = self._expected
        if words and head == status.head and not status.finished:
            self.used.setText(f"{self.used.text()}\n{words}")
        errors = "" if status.settings.goal in ("best", "top") else expected_errors(status.claim)
        self.errors.setText(errors)
        self.errors.setVisible(bool(errors))

    def expect(self, head: str, words: str) -> None:
        """Show the forecast of the whole campaign, made at one head of its log."""
        self._expected = (head, words)
        self.show_view(self._view)

    def _dress(self) -> None:
        """Large text breaks its lines elsewhere, and needs more height."""
        self.show_view(self._view)
        self._reserve()

    def showEvent(self, event: QShowEvent) -> None:
        """Take the height that the goal may need."""
        super().showEvent(event)
        self._reserve()

    def _reserve(self) -> None:
        lines = self.name.fontMetrics().lineSpacing() + GOAL_LINES * self.goal.fontMetrics().lineSpacing()
        self.setMinimumHeight(lines + BETWEEN + 2 * MARGIN)

    def _pressed(self) -> None:
        if self._next is not None:
            self.wanted.emit(self._next.command)


def expected_errors(claim: Claim) -> str:
    """Return ``About 0.4 wrong, 1.6 missed`` (or ``< 0.05 wrong``), the errors expected of the set; empty without."""
    if claim.expected_missed is None or claim.expected_wrong is None:
        return ""
    short = [
        roughly(each).removeprefix("about ").replace("fewer than", "<")
        for each in (claim.expected_wrong, claim.expected_missed)
    ]
    return f"{'' if short[0].startswith('<') else 'About '}{short[0]} wrong, {short[1]} missed"


def _of_each(status: Status) -> str:
    """Measurements by endpoint, and those missing in the open round; empty with one endpoint."""
    if len(status.measured_endpoints) < 2:
        return ""
    lines = []
    standing = status.open_round
    for place, position in enumerate(status.measured_endpoints):
        own = (m for m in status.measurements if m.endpoint == position and m.round > 0 and not m.withdrawn)
        line = f"{status.endpoints[position].name}: {sum(m.n for m in own):,}"
        if standing is not None and standing.missing_of[place] > 0:
            line += f", {standing.missing_of[place]:,} awaited"
        lines.append(line)
    return plain_tip("\n".join(lines))


class Statement(QFrame):
    """The current guarantee, in full; hidden until the badge is pressed."""

    def __init__(self, badge: QPushButton) -> None:
        super().__init__()
        self.setObjectName("statement")
        row = row_of(holder=self, margins=(20, 10, 20, 10))
        self.words = label("", "muted", wrap=True, selectable=True)
        row.addWidget(self.words, 1)
        badge.toggled.connect(self.setVisible)
        self.hide()

    def show_view(self, view: View | None) -> None:
        """Show the current guarantee."""
        if view is not None:
            promise, claim = view.status.guarantee, view.status.claim
            checks = [one.sentence for one in (claim.check, claim.audit) if one is not None]
            heading = "Guarantee: " if promise.holds and promise.kind == "proven" else ""
            self.words.setText(heading + " ".join((promise.sentence, *checks)))
            polish(self.words, role="muted" if promise.holds else "void")


class Navigation(QFrame):
    """The names of the pages, at the left."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("navigation")
        self.pages = QButtonGroup(self)
        column = column_of(holder=self, margins=(10, 14, 10, 14), spacing=4)
        for place in PageName:
            made = QPushButton(place.title)
            made.setProperty("role", "page")
            made.setCheckable(True)
            made.setAutoDefault(False)
            made.setAccessibleName(f"Page {place.title}")
            made.setToolTip(as_here(f"Ctrl+{place + 1}"))
            self.pages.addButton(made, place)
            column.addWidget(made)
        column.addStretch(1)


class Footer(QFrame):
    """The bottom of the window: where everything is saved."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("footer")
        row = row_of(holder=self, margins=(20, 3, 20, 3))
        self.saved = label("", "muted")
        put(row, STRETCH, self.saved)
        self._view: View | None = None
        self._unsaved = 0
        self.show_view(None)

    def show_view(self, view: View | None) -> None:
        """Show where the campaign is saved."""
        self.setVisible(view is not None)
        if view is None:
            return
        self._view = view
        self._show_saved()

    def show_unsaved(self, cells: int) -> None:
        """Show how many typed values are not in the file."""
        self._unsaved = cells
        self._show_saved()

    def _show_saved(self) -> None:
        if self._view is None:
            return
        metrics, path = self.saved.fontMetrics(), self._view.path
        name = metrics.elidedText(path.name, Qt.TextElideMode.ElideMiddle, NAME_WIDTH * metrics.averageCharWidth())
        state = f"{many(self._unsaved, 'value')} not saved" if self._unsaved else "Saved"
        # A file that is called as the campaign is named at the top of the window already.
        where = "" if path.stem == self._view.status.name else f" · {name}"
        self.saved.setText(f"{'Read-only' if self._view.read_only else state}{where}")
        self.saved.setToolTip(plain_tip(str(path)))
