"""A new campaign on one screen: table, goal, forecast; the file is written off the window's thread."""

from __future__ import annotations

import sys
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from assaypilot.engine.campaign.issued_rounds import Source
from assaypilot.engine.domain.stock import NOTHING_STATED
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Cancelled

from ..resources.theme import theme
from ..runtime.settings import Settings
from ..runtime.tasks import single_shot
from ..session.session import Session
from ..widgets.bars import MessageBar, WorkBar
from ..widgets.inputs import FilterBox, Pane, Scrolled, Segments
from ..widgets.layout import STRETCH, column_of, put, row_of, show_menu
from ..widgets.text import button, label
from .columns_fields import roles_of
from .table_pane import TablePane
from .table_work import left_out

if TYPE_CHECKING:
    from assaypilot.engine.tables.raw import RawTable

    from .check_pane import CheckPane
    from .columns_pane import ColumnsPane
    from .goal_pane import GoalPane
    from .table_work import Checked


TABLE, COLUMNS, CHECK, GOAL = range(4)
LATER = ((COLUMNS, "columns_pane"), (CHECK, "check_pane"), (GOAL, "goal_pane"))
"""Parts that are made after the dialog is seen: their modules and properties."""
VIEWS = {
    "table": ("Table", TABLE),
    "columns": ("Columns", COLUMNS),
    "findings": ("Rows and notes", CHECK),
    "sites": ("Substituents", CHECK),
    "model": ("Additive model", CHECK),
}
"""The parts that can be opened below the summary: the button and the widget of each."""
SOON = 15
"""Milliseconds between two parts that are made."""
AFTER = 100
"""Milliseconds after a check before the goal is updated."""
USUAL = QSize(1220, 760)
"""Pixels of the dialog at least, with text of the usual size."""
EDGE = 40
"""Pixels of the screen or the window that stay free around it."""
CARDS = 0.4
"""The largest share of the dialog's height for the summary."""


class NewCampaign(QDialog):
    """One screen: the table with its summary at the left, the goal with its forecast at the right.

    Nothing is written before Create, which is enabled as soon as all is known. The table's part is made at once; the
    others are made one after the other once the dialog is seen, or when needed.
    """

    created = Signal()
    plan = Signal()
    """The campaign is written, and its first round is to be planned."""

    def __init__(self, session: Session, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session, self._settings = session, settings
        self.setWindowTitle("New campaign")
        self.resize(_size(self, parent))
        column = column_of(holder=self, spacing=0)
        top = row_of(label("New campaign", "title"), STRETCH, margins=(24, 14, 24, 10), spacing=10)
        self.cancel = button("Cancel", then=self.reject)
        self.create_button = button("Create campaign", then=self._create)
        self.at_once = button("Create and plan round &1", "go", then=lambda: self._create(plan=True))
        put(top, self.cancel, self.create_button, self.at_once)
        column.addLayout(top)
        self.messages = MessageBar()
        column.addWidget(self.messages)
        self.left = column_of(margins=(24, 8, 12, 16), spacing=12)
        self.views = Segments([(key, text) for key, (text, _) in VIEWS.items()], "What of the table is shown")
        self.views.chosen.connect(self._show_view)
        self.stack = QStackedWidget()
        self.side = QWidget()
        self.side.setObjectName("side")
        self._holders: list[QVBoxLayout] = []
        for place in (TABLE, COLUMNS, CHECK, GOAL):
            holder = self.side if place == GOAL else QWidget()
            self._holders.append(column_of(holder=holder, margins=(16, 8, 8, 16) if place == GOAL else (0, 0, 0, 0)))
            if place != GOAL:
                self.stack.addWidget(holder)
        self._panes: dict[int, Pane] = {}
        """The parts that were made, by place."""
        self.table_pane = TablePane(session, settings)
        self._put(TABLE, self.table_pane)
        put(self.left, row_of(self.views, STRETCH), (self.stack, 1))
        body = row_of(spacing=0)
        put(body, (self.left, 3), (self.side, 2))
        column.addLayout(body, 1)
        self.work = {lane: WorkBar(lane) for lane in (session.tasks, session.ahead)}
        put(column, *self.work.values())
        self.views.hide()
        self.side.hide()
        self.table_pane.read.connect(self._table_read)
        self.table_pane.role_wanted.connect(self._offer_roles)
        self.messages.cleared.connect(self._stay)
        self._creating = False
        self._touched = False
        self._asking = False
        self._watched: set[QWidget] = set()
        self._handing = single_shot(self, AFTER, self._hand_over)
        self._refresh()
        self.table_pane.choose.setFocus(Qt.FocusReason.OtherFocusReason)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._make_next)
        self._later.start(SOON)

    def start_with(self, *paths: Path) -> None:
        """Read a table that was dropped or given, joined with a second one where there is one."""
        self.table_pane.load(*paths)

    # ------------------------------------------------------------------ the parts

    @cached_property
    def columns_pane(self) -> ColumnsPane:
        """The roles of the columns of the table."""
        from .columns_pane import ColumnsPane

        made = ColumnsPane(self.session, self._settings)
        made.checked.connect(self._checked)
        made.not_added.connect(lambda text: self.goal_pane.endpoints.refuse_new(text))
        made.panel.rows_wanted.connect(lambda: self.views.choose("findings"))
        self._put(COLUMNS, made)
        self.understood = Scrolled(made.understood_so_far, most=round(CARDS * self.height()))
        self.left.insertWidget(0, self.understood)
        self.understood.setVisible(self.table_pane.complete)
        return made

    @cached_property
    def check_pane(self) -> CheckPane:
        """The rows read, and the rows rejected."""
        from .check_pane import CheckPane

        made = CheckPane(self.session, self._settings, self.columns_pane)
        made.message.connect(self.messages.note)
        self._put(CHECK, made)
        return made

    @cached_property
    def goal_pane(self) -> GoalPane:
        """The goal."""
        from .goal_pane import GoalPane

        made = GoalPane(self.session, self._settings)
        made.new_endpoint.connect(lambda *named: self.columns_pane.add_endpoint(*named))
        self._put(GOAL, made)
        return made

    def _put(self, place: int, made: Pane) -> None:
        self._panes[place] = made
        self._holders[place].addWidget(made)
        made.changed.connect(self._refresh)

    def _make_next(self) -> None:
        """Load or make one more part while the dialog is idle; each takes its own turn."""
        name = next((name for place, name in LATER if place not in self._panes), None)
        if name is None:
            return
        if f"{__package__}.{name}" in sys.modules:
            getattr(self, name)
        else:
            import_module(f"{__package__}.{name}")
        self._later.start(SOON)

    def _show_view(self, key: str) -> None:
        place = VIEWS[key][1]
        while place not in self._panes:
            self._make_next()
        if place == CHECK:
            self.check_pane.show_view(key)
        self.stack.setCurrentIndex(place)

    # ------------------------------------------------------------------ leaving

    def reject(self) -> None:
        """Close without a campaign; ask first when something was chosen or typed."""
        if self._creating:
            return  # the file is being written; its Cancel is in the bar below
        if self._touched and not self._asking:
            self._asking = True
            self._before = self.focusWidget()
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
            self.messages.clear()  # Escape answers the question with no
            return
        super().reject()

    def _stay(self) -> None:
        if self._asking and self._before is not None:
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)
        self._asking = False

    _before: QWidget | None = None
    """The widget that had the keyboard before the question whether to close."""

    def _leave(self) -> None:
        super().reject()

    def done(self, result: int) -> None:
        """Let go of the session when it closes; what is being read never lands."""
        self._later.stop()
        self._handing.stop()
        for pane in self._panes.values():
            pane.halt()
        super().done(result)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Limit the summary to its share of the dialog."""
        super().resizeEvent(event)
        if COLUMNS in self._panes:
            self.understood.at_most(round(CARDS * self.height()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the button with the focus and does nothing in a field: a campaign is made by its button."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            focus = self.focusWidget()
            if isinstance(focus, QPushButton):
                focus.click()
            event.accept()
            return
        super().keyPressEvent(event)

    def _watch(self) -> None:
        """Notice from now on when the user chooses or types something."""
        for pane in self._panes.values():
            for edit in pane.findChildren(QLineEdit):
                if edit not in self._watched and not isinstance(edit, FilterBox):
                    self._watched.add(edit)
                    edit.textEdited.connect(self._touch)
            for combo in pane.findChildren(QComboBox):
                if combo not in self._watched:
                    self._watched.add(combo)
                    combo.activated.connect(self._touch)
        if GOAL not in self._panes or self.columns_pane.form.sites in self._watched:
            return
        self._watched.add(self.columns_pane.form.sites)
        self.columns_pane.form.sites.clicked.connect(self._touch)
        core = self.columns_pane.core
        core.list.clicked.connect(self._touch)
        for doing in (core.draw, core.forget, core.browse):
            doing.clicked.connect(self._touch)
        for answer in (self.columns_pane.blank.hydrogen, self.columns_pane.blank.unknown):
            answer.clicked.connect(self._touch)

    def _touch(self, *_: object) -> None:
        self._touched = True

    # ------------------------------------------------------------------ from the table to the goal

    def _table_read(self, raw: RawTable) -> None:
        self.goal_pane.from_file(raw.file)
        self.goal_pane.table = raw
        self.check_pane.new_table()
        self.columns_pane.show_table(raw)
        for part in (self.views, self.side, self.understood):
            part.show()
        self._watch()

    def _checked(self, checked: Checked | None) -> None:
        """Request the goal of the latest checked table, a while after its boxes were filled."""
        self._latest = checked
        if checked is not None:
            pictures = {
                one.name: dict(zip(one.substituents, one.drawn, strict=True)) for one in checked.sites if one.drawn
            }
            self.table_pane.show_roles(roles_of(checked), pictures)
        else:
            self.table_pane.correct_roles(self.columns_pane.form.role_of)
        self._handing.start()

    def _offer_roles(self, column: str, at: QPoint) -> None:
        """Offer what a column may be, below its heading."""
        form, mapping = self.columns_pane.form, self._latest.mapping if self._latest is not None else None
        named = {end.value: end.endpoint.name for end in mapping.endpoints} if mapping is not None else {}
        endpoint, menu = named.get(column, column), QMenu(self)
        for role, words in form.ROLES.items():
            action = menu.addAction(words, partial(form.set_role, column, endpoint, role))
            action.setCheckable(True)
            action.setChecked(role == form.role_of(column, endpoint))
            action.triggered.connect(self._touch)
        menu.addSeparator()
        menu.addAction("All columns…", partial(self.views.choose, "columns"))
        show_menu(menu, at)

    def _hand_over(self) -> None:
        if self.goal_pane.checked is not self._latest or self._latest is None:
            self.goal_pane.show_checked(self._latest)
        self._watch()
        self._refresh()

    _latest: Checked | None = None

    @property
    def complete(self) -> bool:
        """Whether the campaign can be created."""
        every = len(self._panes) == GOAL + 1 and all(pane.complete for pane in self._panes.values())
        return every and self.goal_pane.checked is self._latest and not self._creating

    def _refresh(self) -> None:
        for made in (self.create_button, self.at_once):
            made.setEnabled(self.complete)
        # Without anything to correct, Enter goes on after a file is chosen.
        if self.complete and self.focusWidget() in (None, self.table_pane.choose, self.table_pane.paste):
            self.at_once.setFocus(Qt.FocusReason.OtherFocusReason)

    # ------------------------------------------------------------------ creating

    def _create(self, _: bool = False, *, plan: bool = False) -> None:
        checked, settings = self.columns_pane.result, self.goal_pane.campaign_settings
        raw = self.table_pane.raw
        if checked is None or settings is None or raw is None:
            return
        arguments = {
            "library": checked.imported.library,
            "endpoints": self.goal_pane.campaign_endpoints,
            "settings": settings,
            "name": self.goal_pane.name.text or None,
            "history": checked.imported.history,
            "stock": (checked.imported.stock, NOTHING_STATED),
            "source": Source(raw.file or "pasted", raw.digest),
            "mapping": checked.mapping.as_json(),
            "warnings": [*checked.warnings, *left_out(checked)],
        }
        self._creating = True
        self.goal_pane.halt()
        self._refresh()
        self.columns_pane.remember()
        self.session.create(self.goal_pane.path, arguments, then=lambda: self._done(plan), failed=self._failed)

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


def _size(dialog: QWidget, parent: QWidget | None) -> QSize:
    """Return that of the window, or what the parts need: more with large text, within the screen."""
    free = QSize(EDGE, EDGE)
    needed = (USUAL * ((1 + theme().scale) / 2)).boundedTo(dialog.screen().availableSize() - free).expandedTo(USUAL)
    return needed if parent is None else needed.expandedTo(parent.size() - free)
