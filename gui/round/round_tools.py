"""The buttons above a round, and the orders it lists."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.campaign.stock_view import Order, money
from assaypilot.engine.text import many

from ..library.library_rows import STRUCTURE_WIDTH
from ..session.view import View
from ..structures.drawing import Structures
from ..tables.rows import Column, RowsModel, words
from ..tables.table import Table
from ..widgets.layout import FlowRow, column_of, put, row_of
from ..widgets.text import as_here, button, label

HEIGHT = 190
"""Pixels of the list."""
LINES = 40
"""Lines of text that the window must be high for the list to be shown unasked."""


class OrdersModel(RowsModel):
    """One row per compound that has to be made."""

    def show(self, status: Status, orders: tuple[Order, ...]) -> None:
        """Take over the list."""
        ids = [status.library.ids[order.compound] for order in orders]
        currency = "" if status.stock is None else status.stock.currency
        drawn = [(status.library.smiles or ())[order.compound : order.compound + 1] for order in orders]
        smiles = [one[0] if one else "" for one in drawn]
        structure = Column(
            "structure", "Structure", lambda row: "", smiles=smiles.__getitem__, cell_tip=smiles.__getitem__,
            width=STRUCTURE_WIDTH,
        )  # fmt: skip
        self.fill(
            [
                words("id", "ID", ids),
                *([structure] if any(smiles) else []),
                words("measure", "Measure", [f"{order.measurements}×" for order in orders], number=True),
                words("cost", "Cost", ["" if one.cost is None else money(one.cost, currency) for one in orders],
                      number=True),
                words("lead", "Lead (days)", ["" if one.lead is None else f"{one.lead:g}" for one in orders],
                      number=True),
                words("ordered", "Ordered", [order.ordered[:10] for order in orders]),
                words("expected", "Due", [order.expected or "" for order in orders]),
                words("why", "Why", [order.why for order in orders], soft=True),
            ],
            len(orders),
        )  # fmt: skip


class RoundOrders(QWidget):
    """The list, and buttons for what has arrived or cannot be made after all."""

    arrived = Signal(list)
    """Ids."""
    impossible = Signal(list)
    """Ids."""
    save = Signal()
    """Write the order list."""

    def __init__(self, structures: Structures) -> None:
        super().__init__()
        column = column_of(holder=self, margins=(0, 6, 0, 0), spacing=8)
        self.heading = label("", "heading", wrap=True)
        words = "The compounds that have to be made, and when they should be there"
        self.open = button("S&how the list", "link", words)
        self.open.setCheckable(True)
        self.open.toggled.connect(self._opened)
        column.addLayout(row_of((self.heading, 1), self.open))
        self.model = OrdersModel(self)
        self.table = Table(self.model, structures, name="To order")
        self.table.hide()
        self.table.widths.stretch("why")
        column.addWidget(self.table)
        self.tools = QWidget()
        row = FlowRow(self.tools)
        self.here = button("&Arrived", tip="The selected compounds are there: they come in the next round")
        self.all = button("A&ll arrived", tip="Everything on the list is there")
        self.gone = button("Cannot be &made…", tip="The selected compounds cannot be made after all")
        self.list = button("Save &order list…", tip="The list as a csv table, with structures, for their synthesis")
        self.here.clicked.connect(lambda: self._emit_chosen(self.arrived))
        self.all.clicked.connect(lambda: self.arrived.emit(list(self._ids)))
        self.gone.clicked.connect(lambda: self._emit_chosen(self.impossible))
        self.list.clicked.connect(self.save)
        put(row, self.here, self.all, self.gone, self.list)
        column.addWidget(self.tools)
        self._ids: list[str] = []
        self._toggled, self._editable = False, False
        """Whether the user opened or closed the list."""
        self.hide()

    @property
    def chosen(self) -> list[str]:
        """Ids of the selected compounds."""
        return [self._ids[row] for row in self.table.selected_rows()]

    def show_orders(self, view: View) -> None:
        """Show what is waited for; hidden when that is nothing."""
        stock = view.status.stock
        orders = () if stock is None else stock.orders
        self.setVisible(bool(orders))
        if stock is None or not orders:
            self._ids = []
            return
        known = [order.cost for order in orders if order.cost is not None]
        cost = f", {money(sum(known), stock.currency)}" if known else ""
        more = "; nothing can be tested before" if stock.waiting else ", for later rounds"
        self.heading.setText(f"To order: {many(len(orders), 'compound')}{cost}{more}")
        self._ids = [view.status.library.ids[order.compound] for order in orders]
        self.model.show(view.status, orders)
        if self.table.current_row() is None:
            self.table.choose(0)
        # With large text, or in a low window, the round above it needs the room.
        room = self.window().height() > LINES * self.fontMetrics().height()
        line, header = self.table.verticalHeader().defaultSectionSize(), self.table.horizontalHeader().sizeHint()
        self.table.setFixedHeight(HEIGHT if room else min(HEIGHT, header.height() + round(1.7 * line)))
        if not self._toggled:
            self.open.setChecked(room or stock.waiting)
        self._editable = not view.read_only
        self._opened(self.open.isChecked())

    def _opened(self, shown: bool) -> None:
        self.table.setVisible(shown)
        self.open.setText("Hi&de the list" if shown else "S&how the list")
        if self.sender() is self.open:
            self._toggled = True
        self.tools.setVisible(shown)
        for made in (self.here, self.all, self.gone):
            made.setVisible(self._editable)

    def _emit_chosen(self, signal: object) -> None:
        if self.chosen:
            signal.emit(self.chosen)  # type: ignore[attr-defined]  # a bound signal


class Tools(QWidget):
    """One row of buttons, or more where the window is narrow."""

    def __init__(self) -> None:
        super().__init__()
        row = FlowRow(self)
        self.work = button(
            "&Work list…", tip="The round for the lab: a table with empty cells or a page to print, on plates if wanted"
        )
        self.read = button(
            "Re&ad results…", tip="Reads results from a table or a workbook; shows them before they are kept"
        )
        self.paste = button("Paste", tip=as_here("Pastes values from a spreadsheet (Ctrl+V): onto the selected line "
                            "and those below it, or ids with values. Shown before they are kept"))  # fmt: skip
        self.practice = button("&Measure with the practice assay", "go", "Fills the round with simulated values")
        self.back = label("", "muted")
        self.withdraw = button("With&draw…", "link", "Takes the round back; only while it has no result")
        self.close_ = button("Clo&se round…", tip="Ends the round with the results so far; shows first what that means")
        put(row, self.work, self.read, self.paste, self.practice)
        row.push()
        put(row, self.back, self.withdraw, self.close_)

    def show_round(self, view: View, shown: Round) -> None:
        """Show what can be done with a round."""
        open_ = shown.state == "open" and not view.read_only
        may_come = shown.state == "closed" and shown.missing > 0 and not view.read_only
        self.work.setVisible(shown.state != "withdrawn")
        self.read.setVisible(open_ or may_come)
        self.paste.setVisible(open_ or may_come)
        self.close_.setVisible(open_)
        self.withdraw.setVisible(open_ and not has_results(view, shown))
        self.practice.setVisible(open_ and view.practice and not shown.came)
        self.back.setText("" if shown.state == "withdrawn" else f"{shown.came:,} of {shown.measurements:,} back")
        self.back.setToolTip("Measurements that came back, of those the round asks for")


def has_results(view: View, shown: Round) -> bool:
    """Whether anything returned for a round, in use or not."""
    return any(one.round == shown.number and not one.withdrawn for one in view.status.measurements)
