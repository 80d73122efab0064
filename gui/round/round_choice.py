"""Choosing the compounds of the next round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QScrollArea, QWidget

from assaypilot.engine.campaign.phrases import many
from assaypilot.engine.campaign.plan_choice import PlanOption, foreseen
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.campaign.stock_view import NOT_KNOWN, cost_words, making_words, unknown_in_words, wait_words
from assaypilot.engine.domain.stock import PLANS, USUAL, StockTerms
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate.foresight import Foresight, foresee
from assaypilot.engine.system.progress import Cancelled
from assaypilot.engine.text.percentages import percent

from ..session.forecast import Forecasting
from ..widgets.inputs import combo_box
from ..widgets.layout import STRETCH, FlowRow, column_of, put, row_of
from ..widgets.text import Details, button, label, polish
from .reason_dialog import ask_unavailable

if TYPE_CHECKING:
    from .round_page import RoundPage


_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
WORDS = {
    "cheapest": ("Cheapest", "What is in stock, and as little else as possible."),
    "balanced": ("Balanced", "What is worth its money."),
    "fastest": ("Fastest", "The fewest measurements, whatever they cost."),
}


def sooner_than(option: PlanOption, options: Sequence[PlanOption]) -> str:
    """Return the plan that is expected to end sooner than this one, which waits longer; empty where none is."""
    if option.days_to_end is None:
        return ""
    ends = {one.name: one.days_to_end for one in options if one.days_to_end is not None and one.wait < option.wait}
    first = min(ends, key=lambda name: ends[name], default=None)
    return first if first is not None and ends[first] < option.days_to_end else ""


class PlanCard(QFrame):
    """One plan in words and numbers, with the button that issues it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName("card")
        column = column_of(holder=self, margins=(14, 12, 14, 12), spacing=8)
        title, words = WORDS[name]
        self.heading = label(title, "heading")
        self.cost = label("", "big", wrap=True)
        self.words = label(words, "muted", wrap=True)
        self.details = Details()
        self.note = label("", "muted", wrap=True)
        self.go = button(f"Plan &{title.lower()}", "go")
        self.usual = False
        put(column, self.heading, self.cost, self.words, self.details, self.note, STRETCH, self.go)

    def show_option(self, option: PlanOption, currency: str, *, same: str, sooner: str, waiting: bool) -> None:
        """Show a plan; ``same``: the cheaper one that it does not differ from, empty when it does.

        ``waiting``: what it takes to the end is being simulated.

        ``sooner``: the one that ends sooner, because nothing has to be waited for; empty where none does.
        """
        title = WORDS[option.name][0]
        self.usual = option.usual
        self.heading.setText(f"{title} (as usual)" if option.usual else title)
        # One of three is the proposed next step; the others can be chosen instead.
        polish(self.go, role="go" if option.usual else "")
        cost = cost_words(option, currency)
        self.cost.setText(f"Cost {cost}" if cost == NOT_KNOWN else cost)
        rows = [
            ("To be made", making_words(option, currency)),
            ("Wait", wait_words(option)),
            ("Test now", f"{option.now:,} of {option.measurements:,} measurements"),
            ("Information", f"{percent(1 / option.loss)} of the best possible" if math.isfinite(option.loss) else "–"),
        ]
        if option.to_end is not None and option.days_to_end is not None:
            weeks = math.ceil(option.days_to_end / 7)
            rows.append(("To the end", f"about {option.to_end:,} measurements, {many(weeks, 'week')}"))
        elif waiting:
            rows.append(("To the end", "simulating\N{HORIZONTAL ELLIPSIS}"))
        self.details.show_rows(rows)
        notes = [f"As good as the {same} one, so it is the same."] if same else []
        if sooner and not same:
            notes.append(f"Because of the wait the {sooner} one ends sooner.")
        notes += unknown_in_words(option)
        self.note.setText(" ".join(notes))
        self.note.setVisible(bool(notes))
        facts = ". ".join(f"{caption}: {value}" for caption, value in rows)
        self.go.setAccessibleName(f"Plan {title.lower()}: {self.cost.text()}. {facts}. {self.note.text()}".strip())


class PlanChoice(QWidget):
    """Three cards, what a measurement costs, and Cancel."""

    chosen = Signal(str)
    cancelled = Signal()
    priced = Signal(object)
    """StockTerms that were typed."""

    def __init__(self) -> None:
        super().__init__()
        outer = column_of(holder=self)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        inside = QWidget()
        scroll.setWidget(inside)
        outer.addWidget(scroll)
        column = column_of(holder=inside, spacing=12)
        self.title = label("Choose how the next round is planned", "heading")
        self.words = label("", wrap=True)
        put(column, self.title, self.words)
        row = row_of(margins=(9, 9, 9, 9), spacing=12)
        self.cards = {name: PlanCard(name) for name in PLANS}
        for name, card in self.cards.items():
            card.go.clicked.connect(lambda _=False, name=name: self.chosen.emit(name))
            card.go.installEventFilter(self)
            row.addWidget(card, 1)
        self._cards = QWidget()
        self._cards.setLayout(row)
        row.setContentsMargins(0, 0, 0, 0)
        put(column, self._cards, self._terms())
        self.problem = label("", "problem", wrap=True)
        column.addWidget(self.problem)
        self.problem.hide()
        column.addStretch(1)

    def _terms(self) -> QWidget:
        made = QWidget()
        row = FlowRow(made)
        self.price, self.currency = QLineEdit(), QLineEdit()
        self.price.setAccessibleName("What one measurement costs")
        self.price.setPlaceholderText("not given")
        self.currency.setAccessibleName("Currency")
        for field, letters in ((self.price, 9), (self.currency, 6)):
            field.setFixedWidth(letters * self.fontMetrics().averageCharWidth() + 24)
            field.returnPressed.connect(self._take)
        self.usual = combo_box("Plan as usual")
        for name in PLANS:
            self.usual.addItem(name, name)
        self.take = button(
            "Appl&y", tip="Keeps what a measurement costs and the usual plan, and counts again", then=self._take
        )
        caption = label("One &measurement costs", "muted")
        caption.setBuddy(self.price)
        other = label("Plan as &usual", "muted")
        other.setBuddy(self.usual)
        put(row, caption, self.price, self.currency, other, self.usual, self.take)
        row.push()
        self.cancel = button("Cancel", then=self.cancelled)
        row.addWidget(self.cancel)
        return made

    # ------------------------------------------------------------------ what is shown

    def wait(self) -> None:
        """Show that the plans are being computed."""
        self.words.setText("Working out three plans…")
        self._cards.hide()
        self.problem.hide()

    def show_options(self, status: Status, options: Sequence[PlanOption], *, waiting: bool = True) -> None:
        """Show the plans, and go to the usual one.

        ``waiting``: what they take to the end is being simulated; then they are shown again, and nothing is gone to.
        """
        again = self._cards.isVisible()
        stock = status.stock
        if stock is None or not options:
            return
        terms = stock.terms.over(USUAL)
        self.words.setText(
            "Each plan measures other compounds, with the same guarantee. Cost, what has to be made and the wait are "
            "of the next step; what is in stock is tested at once, the rest once it is there."
        )
        before: PlanOption | None = None
        for option in options:
            same = before.name if before is not None and before.compounds == option.compounds else ""
            sooner = sooner_than(option, options)
            self.cards[option.name].show_option(option, stock.currency, same=same, sooner=sooner, waiting=waiting)
            before = option
        if again:
            return
        self.price.setText("" if terms.measurement_cost is None else f"{terms.measurement_cost:g}")
        self.currency.setText(stock.currency)
        self.usual.setCurrentIndex(self.usual.findData(terms.plan))
        self._cards.show()
        self.first().setFocus(Qt.FocusReason.OtherFocusReason)

    def first(self) -> QWidget:
        """Return the button of the usual plan."""
        return next((card.go for card in self.cards.values() if card.usual), self.cards["balanced"].go)

    def refuse(self, text: str) -> None:
        """Show why a plan is impossible."""
        self.problem.setText(text)
        self.problem.show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape cancels."""
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whether a key of a card was taken: Enter presses its button, arrows go from card to card."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        buttons = [card.go for card in self.cards.values()]
        at = next((place for place, one in enumerate(buttons) if one is watched), None)
        if at is None or event.key() not in (*_ENTER, Qt.Key.Key_Left, Qt.Key.Key_Right):
            return super().eventFilter(watched, event)
        if event.key() in _ENTER:
            buttons[at].click()
        else:
            step = 1 if event.key() == Qt.Key.Key_Right else -1
            buttons[(at + step) % len(buttons)].setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def _take(self) -> None:
        from assaypilot.engine.tables.stock import parse_cost

        self.problem.hide()
        text = self.price.text().strip()
        try:
            price = None if not text else parse_cost(text, "," if "," in text and "." not in text else ".")
            terms = StockTerms(self.currency.text().strip() or None, price, self.usual.currentData())
        except AssayPilotError as error:
            self.refuse(str(error))
        except ValueError as error:
            self.refuse(f"{error}.")
        else:
            self.priced.emit(terms)


class RoundChoosing:
    """What the cards and the order list do."""

    def __init__(self, page: RoundPage) -> None:
        self._page = page
        self._options: tuple[PlanOption, ...] = ()
        self.ahead = Forecasting(page.session, page)
        """What the campaign will still take."""
        self.ahead.known.connect(self._foreseen)
        self.ahead.refused.connect(lambda _: self._show(waiting=False))
        page.choice.cancelled.connect(self._leave)
        page.choice.priced.connect(self._price)
        page.orders.impossible.connect(self._impossible)

    @property
    def shown(self) -> bool:
        """Whether the plans are on the page."""
        return self._page.stack.currentWidget() is self._page.choice

    def ask(self) -> None:
        """Show the plans there are to choose from, once they are worked out."""
        page = self._page
        if page.view is None:
            return
        page.table.commit()
        page.choice.wait()
        page.stack.setCurrentWidget(page.choice)
        page.side.hide()
        page.orders.hide()
        page.choice.cancel.setFocus(Qt.FocusReason.OtherFocusReason)
        page.session.plan_options(self._landed, self._failed)

    def close(self) -> None:
        """Drop the plans shown when the campaign has changed."""
        page = self._page
        self.ahead.stop()
        if self.shown:
            page.stack.setCurrentWidget(page.list)

    def _landed(self, options: tuple[PlanOption, ...]) -> None:
        view, self._options = self._page.view, options
        if not self.shown or view is None:
            return
        self._show(waiting=True)
        path = view.path
        self.ahead.ask((str(path), view.status.head), lambda report: foresee(path, None, report))

    def _foreseen(self, found: Foresight) -> None:
        """Show what each plan takes to the end."""
        view = self._page.view
        if view is not None:
            left = found.forecast.measurements.middle - found.used
            self._options = foreseen(self._options, view.status, left)
            self._show(waiting=False)

    def _show(self, *, waiting: bool) -> None:
        if self.shown and self._page.view is not None:
            self._page.choice.show_options(self._page.view.status, self._options, waiting=waiting)

    def _failed(self, error: Exception) -> None:
        if isinstance(error, Cancelled):
            self._leave()
        else:
            self._page.choice.refuse(str(error))

    def _leave(self) -> None:
        page = self._page
        if page.view is not None and self.shown:
            page.refresh(page.view, opened=False)

    def _price(self, terms: StockTerms) -> None:
        """Keep what was typed, and work the plans out again."""
        self._page.session.set_stock([], terms, then=lambda _: self.ask())

    def _impossible(self, ids: list[str]) -> None:
        ask_unavailable(ids, self._page.session, self._page)
