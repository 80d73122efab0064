"""The Round page: a fixed list, its plates next to it, and cells for the results."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from assaypilot.engine.campaign.cautions import Surprise
from assaypilot.engine.campaign.issued_rounds import Round

from ..history.history_page import local_time
from ..session.session import Session
from ..session.view import View
from ..structures.drawing import Structures
from ..tables.rows import plain_tip
from ..widgets.inputs import combo_box, fill_box
from ..widgets.layout import column_of, put, splitter
from ..widgets.text import button, label
from ..window.page import Page, side_panel, with_side
from .plate_link import PlateLink
from .reason_dialog import ask_unavailable
from .round_columns import result_key
from .round_controls import ControlsPane
from .round_ending import RoundEnds
from .round_panel import RoundPanel
from .round_plates import PlatesPane
from .round_reading import Preview, RoundReading
from .round_rows import RoundModel
from .round_table import RoundTable
from .round_tools import RoundOrders, Tools
from .round_values import RoundValues

WITH_PLATES = 372
"""Pixels of the panel at the right, at least, once there are plates in it."""
NO_LIMIT = 16_777_215


class RoundPage(Page):
    """The open round, the latest one, or a chosen earlier one."""

    table: RoundTable

    work_list = Signal()
    print_page = Signal()
    read_file = Signal()
    close_round = Signal()
    plan = Signal()
    unsaved = Signal(int)
    """How many typed values are not in the file."""

    def __init__(self, session: Session, structures: Structures) -> None:
        super().__init__(session, "Round")
        self.model = RoundModel(self)
        self.table = RoundTable(self.model, structures)
        self.table.freeze("line", "structure", "id")
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tools = Tools()
        self.list = QWidget()
        column_of(self.tools, (self.table, 1), holder=self.list, spacing=10)
        self.preview = Preview()
        self.none = self._empty_page()
        self.stack = QStackedWidget()
        put(self.stack, self.list, self.preview, self.none)
        self.column.addWidget(self.stack, 1)
        self.orders = RoundOrders(structures)
        self.column.addWidget(self.orders)
        first = self.column.itemAt(0)
        heading = None if first is None else first.layout()
        assert isinstance(heading, QHBoxLayout)
        self.chooser = combo_box("Round shown")
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.chooser.setToolTip("Shows an earlier round with its results")
        heading.addWidget(self.chooser)
        scroll, panel = side_panel()
        self.panel = RoundPanel(structures)
        panel.addLayout(self.panel)
        self.controls = ControlsPane(session, self.model)
        panel.addWidget(self.controls)
        self.plates_pane = PlatesPane()
        self.side = splitter(Qt.Orientation.Vertical, self.plates_pane, scroll)
        self.side.setStretchFactor(0, 0)
        self.side.setStretchFactor(1, 1)
        self.sides = with_side(self, self.side)
        self._scroll = scroll
        self._wells = 0
        """Wells of the plate shown last."""
        self.values = RoundValues(session, self.table, self.model, self.panel)
        """What becomes of what is typed."""
        self.reading = RoundReading(session, self.table, self.model, self.values, self.preview, self._turn)
        """What becomes of what is pasted or read from a file."""
        self.link = PlateLink(session, self.model, self.table, self.plates_pane)
        closing, withdrawing = self.panel.closing, self.panel.withdrawing
        self.ends = RoundEnds(session, self.model, closing, withdrawing, lambda: self.look_at(None))
        self.orders.impossible.connect(lambda ids: ask_unavailable(ids, self.session, self))
        self._wanted: int | None = None
        """Number of the chosen earlier round."""
        self._connect()

    def _connect(self) -> None:
        table, panel, tools, values = self.table, self.panel, self.tools, self.values
        self.work_button, self.read_button, self.paste_button = tools.work, tools.read, tools.paste
        self.practice_button, self.close_button, self.withdraw_button = tools.practice, tools.close_, tools.withdraw
        self.back = tools.back
        tools.work.clicked.connect(self.work_list)
        tools.read.clicked.connect(self.read_file)
        tools.paste.clicked.connect(self.reading.paste)
        tools.practice.clicked.connect(lambda: self.session.measure_practice())
        tools.close_.clicked.connect(self.close_round)
        tools.withdraw.clicked.connect(self.ends.withdraw)
        table.pasted.connect(self.reading.paste)
        table.chosen.connect(lambda _: self._line_chosen())
        table.selectionModel().currentColumnChanged.connect(lambda now, before: self._explain())
        table.emptied.connect(values.empty)
        table.customContextMenuRequested.connect(values.menu)
        self.model.entered.connect(lambda line, place, at, text: values.enter(line, place, text, at))
        panel.keep.connect(self._keep)
        panel.exclude.connect(values.exclude)
        panel.correct.connect(values.correct)
        panel.include.connect(values.include)
        panel.suggested.connect(values.enter)
        panel.dismissed.connect(values.forget)
        pane = self.plates_pane
        pane.lay_out.connect(self.work_list)
        pane.print_page.connect(self.print_page)
        self.chooser.activated.connect(lambda _: self.look_at(self.chooser.currentData()))
        self.model.unsaved.connect(self.unsaved)
        self.session.selection.changed.connect(self._follow)
        for card in (self.ends.closing, self.ends.withdrawing):
            card.asking.connect(lambda _: self._make_room())

    def leave(self) -> int:
        """Take what is being typed before the window closes; return how many typed values are not in the file."""
        self.values.leaving = True
        self.table.commit()
        self.values.leaving = False
        return len(self.model.refused)

    def _empty_page(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.addStretch(2)
        self.none_heading = label("No round has been planned yet", "title")
        self.none_heading.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.none_words = label("", "muted", wrap=True)
        self.none_words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.plan_button = button("Plan the first round", "go", then=self.plan)
        put(column, self.none_heading, self.none_words)
        column.addSpacing(8)
        column.addWidget(self.plan_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        return page

    # ------------------------------------------------------------------ what the window calls

    def first(self) -> QWidget:
        """Return the list; where there is none what plans one."""
        shown = self.stack.currentWidget()
        parts: dict[QWidget | None, QWidget] = {
            self.none: self.plan_button, self.preview: self.preview.write
        }  # fmt: skip
        return parts.get(shown, self.table)

    @property
    def view(self) -> View | None:
        """The campaign that is shown."""
        return self.model.view

    @property
    def shown(self) -> Round | None:
        """The round that is shown."""
        return self.model.round

    def forget(self) -> None:
        """Show no round, as before the first one."""
        self.model.clear()

    def refresh(self, view: View, *, opened: bool) -> None:
        """Show the current state of a campaign."""
        latest_before = None if self.view is None or self.view.round is None else self.view.round.number
        latest = view.round
        if opened or latest is None or latest.number != latest_before:
            self._wanted = None
        if opened:
            self.model.kept.clear()
            self.panel.hide_wrong()
            self.ends.start_over()
            self.stack.setCurrentWidget(self.list)
        self.orders.show_orders(view)
        shown = next((one for one in view.status.rounds if one.number == self._wanted), latest)
        self.side.setVisible(shown is not None)
        if shown is None:
            self._show_none(view)
            return
        if self.stack.currentWidget() is self.none:
            self.stack.setCurrentWidget(self.list)
        self._show_round(view, shown, opened=opened)

    def _show_none(self, view: View) -> None:
        self.title.setText("Round")
        self.subtitle.setText("")
        self.none_words.setText(
            f"A round is a fixed list of compounds to measure, at most {view.status.settings.per_round:,} measurements."
        )
        self.plan_button.setVisible(not view.read_only)
        self.chooser.hide()
        self.stack.setCurrentWidget(self.none)
        self.model.view, self.model.round = view, None

    def _show_round(self, view: View, shown: Round, *, opened: bool) -> None:
        before = self.model.round
        another = before is None or before.number != shown.number or opened
        if another:
            self.panel.hide_wrong()
            self.ends.start_over()
        line, cell = self.table.current_row(), self.table.current_cell
        chosen = self.table.selected_rows()
        self.link.quietly(True)
        self.model.show(view, shown)
        if not another and line is not None and self.table.current_row() is None:  # columns came or went
            self.table.choose(line, result_key(cell[0], min(cell[1], self.model.cells - 1)))
            self.link.select(chosen)
        self.link.quietly(False)
        if another:
            self._to_first(self.link.line_of(self.session.selection.compound) if not opened else None)
        self.title.setText(shown.title)
        self.subtitle.setText(self._subtitle(shown))
        self.title.setToolTip("An issued list never changes")
        self.tools.show_round(view, shown)
        self._offer_rounds(view, shown)
        self._explain()
        self.panel.show_progress(view, self.model)
        self.controls.show_round(view.status, shown)
        self._ask()
        self._show_plates(view, shown)

    def _to_first(self, line: int | None) -> None:
        """Make a cell that waits for a result the current one: of a line, else the first of all."""
        line = (self.model.first_empty() or 0) if line is None else line
        self.link.quietly(True)  # not chosen by the user
        self.table.choose(line, result_key(*(self.model.first_cell(line) or (0, 0))))
        self.link.quietly(False)

    def copy(self) -> None:
        """Copy the selected lines, or the whole list; the plate where the keyboard is on it."""
        if self.view is None or self.model.round is None:
            return
        if self.plates_pane.plate.hasFocus():
            self.plates_pane.copy()
        else:
            self.table.copy()

    def focus_first_empty(self) -> None:
        """Go to the first line of the open round that waits for a result."""
        self.look_at(None)
        line = self.model.first_empty()
        if line is not None:
            self.table.edit_line(line)

    def look_at(self, number: int | None) -> None:
        """Show a round by its number; None: the open one, else the latest."""
        if self.view is None:
            return
        self.table.commit()
        latest = self.view.round
        wanted = None if latest is not None and latest.number == number else number
        if wanted != self._wanted:
            self._wanted = wanted
            self.refresh(self.view, opened=False)

    def step(self, by: int) -> None:
        """Show the round before or after the one shown."""
        if self.view is None or self.model.round is None:
            return
        numbers = [one.number for one in self.view.status.rounds]
        at = numbers.index(self.model.round.number) + by
        if 0 <= at < len(numbers):
            self.look_at(numbers[at])

    # ------------------------------------------------------------------ what is shown

    def _line_chosen(self) -> None:
        self._explain()
        self.link.line_chosen()

    def showEvent(self, event: QShowEvent) -> None:
        """Go to what was selected on another page meanwhile."""
        super().showEvent(event)
        self._follow()

    def _follow(self) -> None:
        if self.isVisible():
            self.link.follow()

    def _turn(self, to: QWidget) -> None:
        """Show the preview, or what it took the place of."""
        back = self.list if self.model.round is not None else self.none
        self.stack.setCurrentWidget(self.preview if to is self.preview else back)

    def _subtitle(self, shown: Round) -> str:
        parts = [f"issued {local_time(shown.issued)}"]
        if shown.state != "open" and shown.closed:
            parts.append(f"{shown.state} {local_time(shown.closed)}")
        return " · ".join(parts)

    def _offer_rounds(self, view: View, shown: Round) -> None:
        rounds = view.status.rounds
        choices = [(f"{one.number} of {len(rounds)}, {one.state}", one.number) for one in reversed(rounds)]
        fill_box(self.chooser, choices, shown.number)
        for place, one in enumerate(reversed(rounds)):
            back = "" if one.state == "withdrawn" else f", {one.came:,} of {one.measurements:,} back"
            tip = plain_tip(f"{one.title}, issued {local_time(one.issued)}: {one.state}{back}")
            self.chooser.setItemData(place, tip, Qt.ItemDataRole.ToolTipRole)
        self.chooser.setVisible(len(rounds) > 1)

    def _explain(self) -> None:
        if self.view is None:
            return
        line = self.table.current_row()
        self.panel.show_line(self.view, self.model, line)
        if line is None:
            return
        place, at = self.table.current_cell
        wrong = self.model.wrong(line, place, at)
        if wrong is not None:
            self.panel.show_wrong(line, *wrong, place, at)

    def _ask(self) -> None:
        if self.view is not None:
            self.panel.show_surprises(self.view, self.model.questioned(), editable=self.model.editable)

    def _keep(self, surprise: Surprise) -> None:
        self.model.kept.add(surprise.measurement.number)
        self._ask()
        if self.view is not None and self.model.round is not None:
            self._show_plates(self.view, self.model.round)

    # ------------------------------------------------------------------ the plates

    def _show_plates(self, view: View, shown: Round) -> None:
        """Show the plates of the round, or the line that offers them."""
        if shown.layout is None:
            self.plates_pane.show_none()
        else:
            self.plates_pane.show_round(self.model, view.status, shown.layout)
            self.link.ring()
        self._make_room()

    def _make_room(self) -> None:
        """Divide the panel between the plates and the details; a question has all of it."""
        pane, shown = self.plates_pane, self.model.round
        if self.ends.asking:
            pane.hide()
            self._scroll.verticalScrollBar().setValue(0)
            return
        offered = self.model.writable and shown is not None and shown.state == "open"
        pane.setVisible(pane.has_plates or offered)
        pane.setMinimumWidth(WITH_PLATES if pane.has_plates else 0)
        if not pane.has_plates:
            least = pane.minimumSizeHint().height()
            pane.setMaximumHeight(least)
            self.side.setSizes([least, max(self.height() - least, 1)])
            return
        wells = pane.plate.wells
        if pane.maximumHeight() != NO_LIMIT or wells != self._wells:
            self._wells = wells
            pane.setMaximumHeight(NO_LIMIT)
            high = min(pane.height_for(max(self.sides.sizes()[1], WITH_PLATES)), int(0.62 * self.height()))
            self.side.setSizes([high, max(self.height() - high, 1)])
