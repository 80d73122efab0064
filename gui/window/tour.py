"""The guided tour: a card above the pages names the button of each step, marks it, and goes on when the step is done.

Nothing covers the window: the card is a line of it, and a button is marked by its own border, so both work at every
size, with every font and for a keyboard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QWidget

from assaypilot.engine.campaign.issued_rounds import Round

from ..help.help_window import topics_in
from ..widgets.layout import column_of, put, row_of
from ..widgets.text import button, label, polish
from .page import PageName

if TYPE_CHECKING:
    from .main_window import MainWindow
    from .page import Page


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do; its words are in ``help/tour.md``."""

    button: Callable[[MainWindow], QPushButton | None]
    """The real button it is done with; None while it is not there."""
    done: Callable[[MainWindow], bool] | None = None
    """Whether it was done; None: it is done when the user selects a line of the page."""
    page: PageName | None = None
    """The page it is about."""


def _rounds(window: MainWindow) -> list[Round]:
    view = window.session.view
    return [] if view is None else [one for one in view.status.rounds if one.state != "withdrawn"]


def _measuring(window: MainWindow) -> QPushButton | None:
    """Return the button of the simulated assay, and when it has measured, the one that closes the round."""
    standing = [one for one in _rounds(window) if one.state == "open"]
    if not standing:
        return None
    return window.strip.primary if standing[0].missing <= 0 else window.round.practice_button


def _leads_to(window: MainWindow, page: PageName) -> QPushButton | None:
    """Return the button of the navigation that shows a page."""
    return next(one for one in window.navigation.findChildren(QPushButton) if one.text() == page.title)


def _next_thing(window: MainWindow) -> QPushButton | None:
    return window.strip.primary


def _export(window: MainWindow) -> QPushButton | None:
    return window.candidates.export_button


def _exporting(window: MainWindow) -> bool:
    return window.exporting.dialog is not None


STEPS = {
    "library": Step(partial(_leads_to, page=PageName.LIBRARY), page=PageName.LIBRARY),
    "plan": Step(_next_thing, lambda window: bool(_rounds(window))),
    "results": Step(
        _measuring, lambda window: {one.state for one in _rounds(window)} == {"closed"}, page=PageName.ROUND
    ),
    "candidates": Step(partial(_leads_to, page=PageName.CANDIDATES), page=PageName.CANDIDATES),
    "export": Step(_export, _exporting, PageName.CANDIDATES),
}


class TourCard(QFrame):
    """The text of the tour, in a line above the pages."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("tour")
        row = row_of(holder=self, margins=(20, 10, 14, 10), spacing=12)
        words = column_of(spacing=2)
        self.heading = label("", "heading", wrap=True)
        self.text = label("", wrap=True)
        put(words, self.heading, self.text)
        row.addLayout(words, 1)
        self.show_me = button("Sho&w me", tip="Moves the keyboard to the button of this step")
        self.back = button("&Back")
        self.next = button("Ne&xt", "go")
        self.leave = button("&Leave the tour", "link")
        for made in (self.show_me, self.back, self.next, self.leave):
            row.addWidget(made, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def show_words(self, place: int) -> None:
        """Show a step."""
        last = place == len(STEPS) - 1
        _, heading, text = topics_in("tour")[place]
        self.heading.setText(f"Step {place + 1} of {len(STEPS)}: {heading}")
        self.text.setText(" ".join(text.split()))
        self.back.setEnabled(place > 0)
        self.next.setText("&Finish" if last else "Ne&xt")
        self.leave.setVisible(not last)
        self.setAccessibleName(f"{self.heading.text()}. {self.text.text()}")


class Tour(QObject):
    """The state of the tour of a window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.card = TourCard()
        self.card.show_me.clicked.connect(self._point)
        self.card.back.clicked.connect(lambda: self._go(-1))
        self.card.next.clicked.connect(lambda: self._go(1))
        self.card.leave.clicked.connect(self.leave)
        self.place: int | None = None
        """The step shown; None while there is no tour."""
        self._marked: QPushButton | None = None
        self._waiting = False
        """Whether the campaign of the tour is being opened."""
        self._before = False
        """Whether the step was done already when it was shown: then only Next goes on."""

    def follow(self) -> None:
        """Watch the window from now on."""
        window = self._window
        window.session.changed.connect(self._changed)
        window.stack.currentChanged.connect(lambda _: self.look())
        for page in (window.library, window.candidates):
            page.table.selectionModel().selectionChanged.connect(partial(self._selected, page))
            page.table.clicked.connect(partial(self._selected, page))  # on the line that was selected already, too
        application = QApplication.instance()
        if isinstance(application, QApplication):  # a dialog that opens takes the keyboard
            application.focusChanged.connect(self._focus_moved)

    def start(self) -> None:
        """Open a fresh practice campaign, and show the first step.

        A window with another campaign keeps it: the tour then opens a second window.
        """
        window, view = self._window, self._window.session.view
        if view is not None and not view.practice:
            window.opening.new_window().tour.start()
            return
        if view is not None and not view.status.rounds and not view.read_only:
            self.show_step(0)
            return
        self._waiting = True
        window.opening.practice(fresh=view is not None or window.opening.practised())

    def show_step(self, place: int) -> None:
        """Show a step, by place from 0."""
        self.place = place
        self.card.show_words(place)
        self.card.show()
        self._before = self._done
        self._mark(self._step.button(self._window))

    def leave(self) -> None:
        """End the tour; the campaign does not change."""
        self.place = None
        self._mark(None)
        self.card.hide()

    def look(self) -> None:
        """Go on when the step that is shown was done, and mark its button."""
        if self.place is None:
            return
        done = self._done
        if done and not self._before and self.place < len(STEPS) - 1:
            self.show_step(self.place + 1)
            return
        self._before = done
        self._mark(self._step.button(self._window))

    # ------------------------------------------------------------------ inside

    @property
    def _step(self) -> Step:
        return list(STEPS.values())[self.place or 0]

    @property
    def _done(self) -> bool:
        return self._step.done is not None and self._step.done(self._window)

    def _selected(self, page: Page, *_: object) -> None:
        """Follow a selected line: by a person when the keyboard is in the table, else by the program."""
        window = self._window
        if (
            self.place is None
            or self._step.done is not None
            or window.page is not page
            or window.place is not self._step.page
        ):
            return
        if window.focusWidget() is page.table and page.table.selected_rows():
            self.show_step(self.place + 1)

    def _changed(self, what: str) -> None:
        view = self._window.session.view
        if self._waiting and what == "campaign":
            self._waiting = False
            self.show_step(0)
        elif view is None or (what == "campaign" and not view.practice):
            self.leave()
        else:
            self.look()

    def _focus_moved(self, before: QWidget | None, now: QWidget | None) -> None:
        self.look()

    def _go(self, by: int) -> None:
        """Show the step before or after; behind the last one the tour ends."""
        place = max((self.place or 0) + by, 0)
        if place < len(STEPS):
            self.show_step(place)
        else:
            self.leave()

    def _point(self) -> None:
        """Scroll to the button of the step, and give it the keyboard."""
        window, step = self._window, self._step
        target = step.button(window)
        if target is None:
            window.messages.note("That button comes with a round: go back a step and plan one.")
            return
        if step.page is not None and not target.isVisible():
            window.show_page(step.page)
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _mark(self, target: QPushButton | None) -> None:
        if target is self._marked:
            return
        if self._marked is not None:
            polish(self._marked, toured="false")
        if target is not None:
            polish(target, toured="true")
        self._marked = target
