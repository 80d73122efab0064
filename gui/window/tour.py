"""The guided tour: a card above the pages names the button of each step, marks it, and goes on when the step is done.

Nothing lies over the window: the card is a line of it, and a button is marked by its own border, so both hold at every
size, with every font and for a keyboard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QWidget

from ..widgets.layout import column_of, put, row_of
from ..widgets.text import button, label, polish
from .page import PageName

if TYPE_CHECKING:
    from .main_window import MainWindow
    from .page import Page


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do."""

    heading: str
    text: str
    target: Callable[[MainWindow], QPushButton | None]
    """The real button it is done with; None while it is not there."""
    done: Callable[[MainWindow], bool] | None = None
    """Whether it was done; None: it is done when somebody selects a line of the page."""
    page: PageName | None = None
    """The page it is about, as the window names its attribute; empty: any."""
    beside: bool = False
    """Whether the button stands on that page, and not in the frame of the window."""


def _rounds(window: MainWindow) -> int:
    view = window.session.view
    return 0 if view is None else sum(one.state != "withdrawn" for one in view.status.rounds)


def _standing(window: MainWindow) -> bool:
    view = window.session.view
    return view is not None and view.status.open_round is not None


def _measuring(window: MainWindow) -> QPushButton | None:
    """The button of the simulated assay, and when it has measured, the one that closes the round."""
    view = window.session.view
    if view is None or view.status.open_round is None:
        return None
    return window.strip.primary if view.status.open_round.missing <= 0 else window.round.practice_button


def _leads_to(window: MainWindow, page: PageName) -> QPushButton:
    """The button of the navigation that shows a page."""
    return next(one for one in window.navigation.findChildren(QPushButton) if one.text() == page.title)


def _library(window: MainWindow) -> QPushButton | None:
    return _leads_to(window, PageName.LIBRARY)


def _next_thing(window: MainWindow) -> QPushButton | None:
    return window.strip.primary


def _candidates(window: MainWindow) -> QPushButton | None:
    return _leads_to(window, PageName.CANDIDATES)


def _export(window: MainWindow) -> QPushButton | None:
    return window.candidates.export_button


def _planned(window: MainWindow) -> bool:
    return _rounds(window) > 0


def _closed(window: MainWindow) -> bool:
    return _rounds(window) > 0 and not _standing(window)


def _exporting(window: MainWindow) -> bool:
    return window.exporting.dialog is not None


STEPS = (
    Step(
        "The library",
        "960 compounds, each with its substituents; nothing is measured yet. Choose Library at the left and click a "
        "line of the table.",
        _library,
        page=PageName.LIBRARY,
    ),
    Step(
        "Plan a round",
        "Press the blue button at the top right. It is always the next thing to do: now it plans which compounds tell "
        "most, as a list that never changes once it is issued.",
        _next_thing,
        _planned,
    ),
    Step(
        "Enter results",
        "A lab would type, paste or read its values. Here a simulated assay answers: press Measure with the practice "
        "assay, then Close round at the top right and confirm it, so that the results count.",
        _measuring,
        _closed,
        page=PageName.ROUND,
        beside=True,
    ),
    Step(
        "Look at the candidates",
        "Every compound is in, out or undecided. The picture ranks them beside the cutoff. Click a line: the panel at "
        "the right says why it stands there and what would decide it.",
        _candidates,
        page=PageName.CANDIDATES,
    ),
    Step(
        "Export",
        "Press Export to see what a project lead gets: a table, a workbook with structures, a report or a slide, with "
        "the guarantee inside. Then plan the next round, until the strip says that the set is decided.",
        _export,
        _exporting,
        page=PageName.CANDIDATES,
        beside=True,
    ),
)


class TourCard(QFrame):
    """What the tour says, in a line above the pages."""

    wanted = Signal(str)
    """``back``, ``next``, ``show`` or ``leave``."""

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
        for made, word in ((self.show_me, "show"), (self.back, "back"), (self.next, "next"), (self.leave, "leave")):
            made.clicked.connect(lambda _=False, word=word: self.wanted.emit(word))
            row.addWidget(made, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def say(self, place: int, step: Step) -> None:
        """Show a step."""
        last = place == len(STEPS) - 1
        self.heading.setText(f"Step {place + 1} of {len(STEPS)}: {step.heading}")
        self.text.setText(step.text)
        self.back.setEnabled(place > 0)
        self.next.setText("&Finish" if last else "Ne&xt")
        self.leave.setVisible(not last)
        self.setAccessibleName(f"{self.heading.text()}. {step.text}")


class Tour(QObject):
    """Where the tour of a window stands."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.card = TourCard()
        self.card.wanted.connect(self._wanted)
        self.place: int | None = None
        """The step shown; None while there is no tour."""
        self._marked: QPushButton | None = None
        self._waiting = False
        """Whether the campaign of the tour is being opened."""
        self._before = False
        """Whether the step was done already when it was shown: then only Next goes on."""

    def follow(self) -> None:
        """Look at what happens in the window from now on."""
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
        """Open a practice campaign nobody has worked on, and show the first step.

        A window with a campaign of one's own keeps it: the tour then has a window of its own.
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
        self.card.say(place, STEPS[place])
        self.card.show()
        self._before = self._done(STEPS[place])
        self._mark(STEPS[place].target(self._window))

    def leave(self) -> None:
        """End the tour; the campaign stays as it is."""
        self.place = None
        self._mark(None)
        self.card.hide()

    def look(self) -> None:
        """Go on when the step that is shown was done, and mark its button."""
        if self.place is None:
            return
        step = STEPS[self.place]
        done = self._done(step)
        if done and not self._before and self.place < len(STEPS) - 1:
            self.show_step(self.place + 1)
            return
        self._before = done
        self._mark(step.target(self._window))

    # ------------------------------------------------------------------ inside

    def _done(self, step: Step) -> bool:
        return step.done is not None and step.done(self._window)

    def _selected(self, page: Page, *_: object) -> None:
        """A line was selected: by somebody when the keyboard is in the table, else by the program."""
        window = self._window
        step = None if self.place is None else STEPS[self.place]
        if (
            step is None
            or step.done is not None
            or step.page is None
            or window.pages[step.page] is not page
            or window.page is not page
        ):
            return
        if window.focusWidget() is page.table and page.table.selected_rows():
            self.show_step(STEPS.index(step) + 1)

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
        if self.place is not None:
            self.look()

    def _wanted(self, word: str) -> None:
        place = self.place
        if place is None:
            return
        if word == "show":
            self._point(STEPS[place])
        elif word == "leave" or (word == "next" and place == len(STEPS) - 1):
            self.leave()
        else:
            self.show_step(max(place + (1 if word == "next" else -1), 0))

    def _point(self, step: Step) -> None:
        """Bring the button of a step into sight and the keyboard to it."""
        window = self._window
        if step.beside and step.page is not None:
            window.show_page(step.page)
        target = step.target(window)
        if target is None:
            window.messages.note("That button comes with a round: go back a step and plan one.")
            return
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _mark(self, target: QPushButton | None) -> None:
        if target is self._marked:
            return
        if self._marked is not None:
            polish(self._marked, toured="false")
        if target is not None:
            polish(target, toured="true")
        self._marked = target
