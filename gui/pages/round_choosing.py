"""The choice of plans as the Round page offers it: asked for, shown, and left again; and what orders become."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from assaypilot.engine.campaign.stock.choice import PlanOption, foreseen
from assaypilot.engine.domain.stock import StockTerms
from assaypilot.engine.system.progress import Cancelled

from ..dialogs.reasons import UnavailableDialog
from ..forecasting import Forecasting
from ..foresight import Foresight, foresee

if TYPE_CHECKING:
    from .round import RoundPage

__all__ = ["RoundChoosing"]


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
        """The campaign has changed, so the plans shown are those of another one."""
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
        """Say of each plan what it takes to the end."""
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
        page = self._page
        dialog = UnavailableDialog(ids, page)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: page.session.mark_unavailable(ids, dialog.reason))
        dialog.open()
