"""The wizard for a new campaign: table, columns, check, goal; the file is written off the window's thread."""

from __future__ import annotations

import sys
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from assaypilot.engine.campaign.state import Source
from assaypilot.engine.domain.stock import UNSAID
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Cancelled

from ..resources.theme import theme
from ..runtime.engine_words import import_words
from ..runtime.settings import Settings
from ..runtime.tasks import single_shot
from ..session.session import Session
from ..widgets.bars import MessageBar
from ..widgets.inputs import FilterBox, Step
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import button, label, polish
from .table_step import TableStep

if TYPE_CHECKING:
    from assaypilot.engine.tables.raw import RawTable

    from .check_step import CheckStep
    from .columns_step import ColumnsStep
    from .goal_step import GoalStep
    from .table_work import Checked

__all__ = ["NewCampaign"]

TITLES = ("Table", "Columns", "Check", "Goal")
TABLE, COLUMNS, CHECK, GOAL = range(4)
LATER = ((COLUMNS, "columns_step"), (CHECK, "check_step"), (GOAL, "goal_step"))
"""Steps that are made after the dialog is seen: their modules and properties."""
SOON = 15
"""Milliseconds between two steps that are made."""
AFTER = 100
"""Milliseconds after a check before the goal hears of it, where it is not seen."""
USUAL = QSize(1160, 748)
"""Pixels of the dialog with text of the usual size."""
EDGE = 60
"""Pixels of the screen that stay free beside it."""


class NewCampaign(QDialog):
    """Four steps, Back and Next; nothing is written before Create, which is offered as soon as all is known.

    The first step is there at once; the others are made one after the other once the dialog is seen, or when asked for.
    """

    created = Signal()
    plan = Signal()
    """The campaign is written, and its first round is to be planned."""

    def __init__(self, session: Session, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session, self._settings = session, settings
        self.setWindowTitle("New campaign")
        self.resize(_size(self))
        column = column_of(holder=self, spacing=0)
        top = row_of(margins=(24, 18, 24, 12), spacing=22)
        self._marks: list[QLabel] = []
        for place, title in enumerate(TITLES, start=1):
            mark = label(f"{place}  {title}", "muted")
            self._marks.append(mark)
            top.addWidget(mark)
        top.addStretch(1)
        column.addLayout(top)
        self.messages = MessageBar()
        self.messages.cancelled.connect(lambda: session.tasks.cancel())
        session.tasks.progress.connect(self.messages.progress)
        column.addWidget(self.messages)
        self.stack = QStackedWidget()
        self._holders: list[QVBoxLayout] = []
        for _ in TITLES:
            holder = QWidget()
            inner = column_of(holder=holder, margins=(24, 8, 24, 8))
            self._holders.append(inner)
            self.stack.addWidget(holder)
        self._steps: dict[int, Step] = {}
        """The steps that were made, by place."""
        self.table_step = TableStep(session, settings)
        self._put(TABLE, self.table_step)
        column.addWidget(self.stack, 1)
        bottom = row_of(margins=(24, 12, 24, 18), spacing=10)
        self.cancel = button("Cancel")
        self.back = button("&Back")
        self.next = button("&Next")
        self.next.setDefault(True)
        self.next.setMinimumWidth(120)
        self.at_once = button(
            "Create and plan &round 1", "go", "Takes what is proposed as it stands; each step shows it"
        )
        self.at_once.clicked.connect(lambda: self._create(plan=True))
        self.cancel.clicked.connect(self.reject)
        self.back.clicked.connect(lambda: self._go(self.stack.currentIndex() - 1))
        self.next.clicked.connect(self._next)
        put(bottom, self.cancel, STRETCH, self.back, self.next, self.at_once)
        column.addLayout(bottom)
        self.table_step.read.connect(self._table_read)
        self.messages.dismiss.clicked.connect(self._dismissed)
        self._creating = False
        self._touched = False
        self._asking = False
        self._watched: set[QWidget] = set()
        self._handing = single_shot(self, AFTER, self._hand_over)
        self._go(TABLE)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._make_next)
        self._later.start(SOON)

    def start_with(self, *paths: Path) -> None:
        """Read a table that was dropped or given, joined with a second one where there is one."""
        self.table_step.load(*paths)

    # ------------------------------------------------------------------ the steps

    @cached_property
    def columns_step(self) -> ColumnsStep:
        """What the columns of the table are."""
        from .columns_step import ColumnsStep

        made = ColumnsStep(self.session, self._settings)
        made.checked.connect(self._checked)
        made.not_added.connect(lambda text: self.goal_step.refuse_endpoint(text))
        self._put(COLUMNS, made)
        return made

    @cached_property
    def check_step(self) -> CheckStep:
        """What was read, and what was not."""
        from .check_step import CheckStep

        made = CheckStep(self.session, self._settings, self.columns_step)
        made.said.connect(self.messages.note)
        self._put(CHECK, made)
        return made

    @cached_property
    def goal_step(self) -> GoalStep:
        """What is wanted."""
        from .goal_step import GoalStep

        made = GoalStep(self.session, self._settings)
        made.new_endpoint.connect(lambda *said: self.columns_step.add_endpoint(*said))
        self._put(GOAL, made)
        return made

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of them."""
        return self.table_step, self.columns_step, self.check_step, self.goal_step

    def _put(self, place: int, made: Step) -> None:
        self._steps[place] = made
        self._holders[place].addWidget(made)
        made.changed.connect(self._refresh)

    def _make_next(self) -> None:
        """Load or make one step more while nobody waits for it; each takes its own turn."""
        name = next((name for place, name in LATER if place not in self._steps), None)
        if name is None:
            return
        if f"{__package__}.{name}" in sys.modules:
            getattr(self, name)
        else:
            import_module(f"{__package__}.{name}")
        self._later.start(SOON)

    @property
    def step(self) -> int:
        """The step shown, from 0."""
        return self.stack.currentIndex()

    # ------------------------------------------------------------------ leaving

    def reject(self) -> None:
        """Close without a campaign; asked first when something was chosen or typed, which would be lost."""
        if self._creating:
            return  # the file is being written; its Cancel is in the message
        if self._touched and not self._asking:
            self._asking = True
            self.messages.ask(
                "Close without a campaign? What was chosen and typed here is lost; the table itself is not touched.",
                "",
                ("Keep working", self._stay),
                ("Close", self._leave),
            )
            offers = self.messages.findChildren(QAbstractButton)
            # The latest: one of a question before may not be gone yet.
            [one for one in offers if one.text() == "Keep working"][-1].setFocus(Qt.FocusReason.OtherFocusReason)
            return
        if self._asking:
            self._stay()  # Escape answers the question with no
            return
        super().reject()

    def _stay(self) -> None:
        self._asking = False
        self.messages.clear()
        self._focus()

    def _dismissed(self) -> None:
        self._asking = False

    def _leave(self) -> None:
        super().reject()

    def done(self, result: int) -> None:
        """Let go of the session when it closes; what is being read never lands."""
        self.session.tasks.progress.disconnect(self.messages.progress)
        self._later.stop()
        self._handing.stop()
        for step in self._steps.values():
            step.halt()
        super().done(result)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter in a field that has its own meaning for it does not go on."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            focus = self.focusWidget()
            sites = self.check_step.sites
            own = (self.columns_step.core.typed, sites.name, sites.least)
            if focus in own or isinstance(focus, FilterBox):
                event.accept()
                return
        super().keyPressEvent(event)

    def _watch(self) -> None:
        """From now on notices when somebody chooses or types something in the steps."""
        for step in self._steps.values():
            for edit in step.findChildren(QLineEdit):
                if edit not in self._watched and not isinstance(edit, FilterBox):
                    self._watched.add(edit)
                    edit.textEdited.connect(self._touch)
            for combo in step.findChildren(QComboBox):
                if combo not in self._watched:
                    self._watched.add(combo)
                    combo.activated.connect(self._touch)
        if CHECK not in self._steps or self.columns_step.form.sites in self._watched:
            return
        self._watched.add(self.columns_step.form.sites)
        self.columns_step.form.sites.clicked.connect(self._touch)
        core = self.columns_step.core
        core.list.clicked.connect(self._touch)
        for doing in (core.use, core.forget, core.browse):
            doing.clicked.connect(self._touch)
        self.check_step.sites.wanted.connect(self._touch)
        for answer in (self.columns_step.blank.hydrogen, self.columns_step.blank.unknown):
            answer.clicked.connect(self._touch)

    def _touch(self, *_: object) -> None:
        self._touched = True

    # ------------------------------------------------------------------ steps

    def _table_read(self, raw: RawTable) -> None:
        self.goal_step.from_file(raw.file)
        self.goal_step.table = raw
        self.check_step.new_table()
        self.columns_step.show_table(raw)
        if self.step == TABLE and self.focusWidget() in (None, self.table_step.choose, self.table_step.paste):
            self.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def _checked(self, checked: Checked | None) -> None:
        """The goal is asked about the table as it was checked last."""
        self._latest = checked
        if self.step == GOAL or checked is None:
            self._hand_over()
        else:
            self._handing.start()

    def _hand_over(self) -> None:
        """A box for each endpoint takes its time, so the goal hears of a check when it is seen, or a while after."""
        self._handing.stop()
        if self.goal_step.checked is not self._latest or self._latest is None:
            self.goal_step.show_checked(self._latest)

    _latest: Checked | None = None

    def _next(self) -> None:
        if not self._complete:
            return
        if self.step < GOAL:
            self._go(self.step + 1)
        else:
            self._create()

    def _go(self, step: int) -> None:
        while step not in self._steps:
            self._make_next()
        self.stack.setCurrentIndex(step)
        for place, mark in enumerate(self._marks):
            polish(mark, role="heading" if place == step else "muted")
            mark.setAccessibleName(f"Step {place + 1} of {len(TITLES)}: {TITLES[place]}")
        if step == CHECK:
            self.check_step.show_first()
        if step == GOAL:
            self._hand_over()
        self._watch()
        self._refresh()
        self._focus()

    def _focus(self) -> None:
        step = self.step
        first: QWidget = self.table_step.choose
        if step == COLUMNS:
            first = self.columns_step.form.id
        elif step == CHECK:
            first = self.check_step.views
        elif step == GOAL:
            first = self.goal_step.goal
        (self.next if self._complete and step < GOAL else first).setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _complete(self) -> bool:
        """Whether one can go on from the step shown."""
        return self.step in self._steps and self._steps[self.step].complete

    def _refresh(self) -> None:
        last = self.step == GOAL
        self.back.setEnabled(self.step > TABLE and not self._creating)
        self.next.setText("&Create campaign" if last else "&Next")
        self.next.setEnabled(self._complete and not self._creating)
        every = len(self._steps) == len(TITLES) and all(step.complete for step in self._steps.values())
        self.at_once.setEnabled(every and self.goal_step.checked is self._latest and not self._creating)

    # ------------------------------------------------------------------ creating

    def _create(self, *, plan: bool = False) -> None:
        checked, settings = self.columns_step.result, self.goal_step.campaign_settings
        raw = self.table_step.raw
        if checked is None or settings is None or raw is None:
            return
        arguments = {
            "library": checked.imported.library,
            "endpoints": self.goal_step.campaign_endpoints,
            "settings": settings,
            "name": self.goal_step.name.text or None,
            "history": checked.imported.history,
            "stock": (checked.imported.stock, UNSAID),
            "source": Source(raw.file or "pasted", raw.digest),
            "mapping": checked.mapping.as_json(),
            "warnings": [*map(import_words, checked.warnings), *_left_out(checked)],
        }
        self._creating = True
        self.goal_step.halt()
        self._refresh()
        self.columns_step.remember()
        self.session.create(self.goal_step.path, arguments, then=lambda: self._done(plan), failed=self._failed)

    def _done(self, plan: bool) -> None:
        self.created.emit()
        self.accept()
        if plan:
            self.plan.emit()

    def _failed(self, error: Exception) -> None:
        self._creating = False
        self._refresh()
        if isinstance(error, AssayPilotError):
            self.messages.refuse(error)
        elif isinstance(error, Cancelled):
            self.messages.note("Stopped; no campaign was written.")


def _left_out(checked: Checked) -> list[str]:
    """One sentence about rows and values that were not used, for the campaign's history."""
    lost = checked.imported.not_used
    if not lost:
        return []
    first = lost[0]
    places = ("" if first.row is None else f"row {first.row}", "" if first.column is None else f"column {first.column}")
    where = ", ".join(filter(None, places))
    many = "1 row or value" if len(lost) == 1 else f"{len(lost):,} rows or values"
    reason = import_words(first.reason)
    return [f"{many} of the table not used; the first is {where}{': ' if where else ''}{reason}"]


def _size(dialog: QWidget) -> QSize:
    """What the steps need, more of it with large text where the screen has that."""
    there, more = dialog.screen().availableSize(), (theme().scale - 1) / 2
    wide, high = (
        max(usual, min(round(usual * (1 + more)), room - EDGE))
        for usual, room in ((USUAL.width(), there.width()), (USUAL.height(), there.height()))
    )
    return QSize(wide, high)
