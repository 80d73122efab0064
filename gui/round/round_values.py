"""Values of a round as they are entered, excluded and corrected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from assaypilot.engine.campaign.state import Source
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Measurement
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.entries import is_empty

from ..session.session import Session
from ..tables.rows import plain_tip
from ..widgets.text import mnemonic_free
from .entry import Entry, Question, entered_text, parse_entry, parts_of, results_in_round, user_decimal
from .reason_dialog import CorrectDialog, ExcludeDialog, ReasonDialog
from .round_controls import on_plates

if TYPE_CHECKING:
    from .round_page import RoundPage


def foresee_excluding(session: Session, dialog: ExcludeDialog, number: int) -> None:
    """Have the dialog say what leaving a measurement out would do, for the cause that is chosen."""

    def ask() -> None:
        judgement = dialog.judgement
        session.consequences_of_excluding(number, judgement, _told(dialog, lambda: dialog.judgement is judgement))

    dialog.asked.connect(ask)


def foresee_correcting(session: Session, dialog: CorrectDialog, number: int, endpoint: Endpoint) -> None:
    """Have the dialog say what the value typed would do, once it can be read."""

    def ask() -> None:
        entry = dialog.entry
        if entry is not None and dialog.changed:
            unit, text = entry.unit or endpoint.unit, dialog.value.text()
            still = _told(dialog, lambda: dialog.value.text() == text)
            session.consequences_of_correcting(number, entry.value, entry.relation, unit, still)

    dialog.asked.connect(ask)


def _told(dialog: ReasonDialog, still: Callable[[], bool]) -> Callable[[Sequence[str]], None]:
    """What takes the answer: the dialog, if it is still open and still asks the same."""
    open_ = [True]
    dialog.finished.connect(lambda _: open_.clear())

    def told(sentences: Sequence[str]) -> None:
        if open_ and still():
            dialog.tell(sentences)

    return told


AGAIN = "used again by the user"
CONFIRMS = "It only confirms and decides nothing: the guarantee stays. It is kept in the log."


class RoundValues:
    """The values of the round on a page."""

    def __init__(self, page: RoundPage) -> None:
        self._page = page
        self._unfinished: dict[int, tuple[str, str]] = {}
        """Value and reason typed into a question that was left, by the measurement."""
        self.leaving = False
        """Whether the window is closing, so that nothing can be asked any more."""

    # ------------------------------------------------------------------ typed

    def enter(self, line: int, place: int, text: str, at: int = 0) -> None:
        """Take a text that was typed into a cell: one value, or several for this cell and those after it."""
        page, model = self._page, self._page.model
        if page.view is None or model.round is None:
            return
        page.panel.hide_wrong(line, place)
        parts = [part for part in parts_of(text) if not is_empty(model.endpoints[place], part)]
        kept = [slot.kept for slot in model.slots(line, place)]
        page.unkept.settled(line, place)
        if not parts:
            self.empty(line, place, at)
            return
        model.forgive(line, place, at)
        added: list[tuple[int, str, Entry]] = []
        changed: list[tuple[Measurement, str]] = []
        for cell, part in enumerate(parts, start=at):
            before = kept[cell] if cell < len(kept) else None
            if before is not None and _same(part, entered_text(before, model.endpoints[place])):
                continue
            entry = self._parsed(line, place, part, cell)
            if entry is not None and before is not None:
                changed.append((before, part))
            elif entry is not None:
                added.append((cell, part, entry))
        if added:
            self._record(line, place, added)
        for before, part in changed[:1]:
            self._change(line, place, before, part, at)

    def _parsed(self, line: int, place: int, part: str, at: int) -> Entry | None:
        """The value of a part of a text; None when it cannot be used, and stands in its cell with the reason."""
        try:
            return parse_entry(part, self._page.model.endpoints[place], user_decimal())
        except Question as question:
            self.refuse(line, place, part, str(question), question.suggestion, at)
        except ValueError as error:
            self.refuse(line, place, part, f"{error}. Type one value per measurement, in a cell of its own.", "", at)
        return None

    def _record(self, line: int, place: int, added: Sequence[tuple[int, str, Entry]]) -> None:
        page, model = self._page, self._page.model
        view, shown = page.view, model.round
        if view is None or shown is None:
            return
        texts = {min(cell, model.cells - 1): part for cell, part, _ in added}
        for at, typed in texts.items():
            model.saving(line, place, typed, at)
        page.unkept.settled(line, place)

        def failed(error: Exception) -> None:
            reason = str(error) if isinstance(error, AssayPilotError) else "it was stopped"
            if model.round is not None and model.round.number == shown.number:
                for at, typed in texts.items():
                    self.refuse(line, place, typed, f"Not saved: {reason}", typed, at)
            if isinstance(error, AssayPilotError):
                page.session.failed.emit(error)

        compound = shown.items[line].compound
        cells, entries = [cell for cell, _, _ in added], [entry for _, _, entry in added]
        results = results_in_round(entries, view.status, shown, compound, shown.endpoints[place], cells=cells)
        results = on_plates(results, shown.layout, compound, shown.endpoints[place])
        page.session.record(results, lambda _: page.unkept.keep(), source=Source("typed"), failed=failed)

    def _change(self, line: int, place: int, before: Measurement, part: str, at: int) -> None:
        """A value that is there already is corrected, with a reason."""
        if self.leaving:
            was = entered_text(before, self._page.model.endpoints[place])
            self.refuse(line, place, part, f"Not saved: changing {was} needs a reason", part, at)
        else:
            self.correct(before.number, part)

    def refuse(self, line: int, place: int, text: str, reason: str, suggestion: str, at: int = 0) -> None:
        """Keep a text where it was typed, and say why it was not taken."""
        at = min(at, self._page.model.cells - 1)
        self._page.model.refuse(line, place, text, reason, suggestion, at)
        self._page.panel.show_wrong(line, text, reason, suggestion, place, at)
        self._page.unkept.settled(line, place)

    def forget(self, line: int, place: int, at: int | None = None) -> None:
        """Show again what the campaign has, and go to the cell."""
        self._page.model.forgive(line, place, at)
        self._page.panel.hide_wrong(line, place)
        self._page.unkept.settled(line, place)
        self._page.table.edit_line(line, place, at)

    def empty(self, line: int, place: int, at: int) -> None:
        """A text that could not be used goes, a value that is there is left out for a reason."""
        model = self._page.model
        if model.wrong(line, place, at) is not None:
            self.forget(line, place, at)
            return
        model.forgive(line, place, at)
        slot = model.slot(line, place, at)
        kept = None if slot is None else slot.kept or slot.within
        if kept is not None and self._page.writable and not self.leaving:
            self.exclude(kept.number)

    # ------------------------------------------------------------------ asked for a reason

    def exclude(self, number: int) -> None:
        """Ask why a measurement is to be left out, and leave it out."""
        found = self._measurement(number)
        if found is None or self._page.view is None:
            return
        status = self._page.view.status
        endpoint = status.endpoints[found.endpoint]
        name, confirming = status.library.ids[found.compound], found.round in status.confirmation.rounds
        dialog = ExcludeDialog(found, name, endpoint, self._page, instead=CONFIRMS if confirming else "")
        dialog.line.setText(self._unfinished.get(-number, ("", ""))[1])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def accepted() -> None:
            self._unfinished.pop(-number, None)
            self._page.table.setFocus(Qt.FocusReason.OtherFocusReason)  # the button is gone with the old value
            self._page.session.exclude(number, dialog.reason, judgement=dialog.judgement)

        if not confirming:
            foresee_excluding(self._page.session, dialog, number)
        dialog.accepted.connect(accepted)
        dialog.rejected.connect(lambda: self._unfinished.update({-number: ("", dialog.line.text())}))
        dialog.open()

    def correct(self, number: int, text: str = "") -> None:
        """Ask for the right value and why, and correct a measurement."""
        found = self._measurement(number)
        if found is None or self._page.view is None:
            return
        status = self._page.view.status
        endpoint = status.endpoints[found.endpoint]
        value, reason = self._unfinished.get(number, ("", ""))
        name = status.library.ids[found.compound]
        dialog = CorrectDialog(found, name, endpoint, self._page, text or value, reason=reason)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def accepted() -> None:
            entry = dialog.entry
            self._unfinished.pop(number, None)
            if entry is not None:
                self._page.table.setFocus(Qt.FocusReason.OtherFocusReason)
                self._page.session.correct(
                    number, entry.value, relation=entry.relation, unit=entry.unit or endpoint.unit, reason=dialog.reason
                )

        if found.round not in status.confirmation.rounds:
            foresee_correcting(self._page.session, dialog, number, endpoint)
        dialog.accepted.connect(accepted)
        dialog.rejected.connect(lambda: self._unfinished.update({number: (dialog.value.text(), dialog.line.text())}))
        dialog.open()

    def include(self, number: int) -> None:
        """Use an excluded measurement again."""
        self._page.table.setFocus(Qt.FocusReason.OtherFocusReason)
        self._page.session.include(number, AGAIN)

    def _measurement(self, number: int) -> Measurement | None:
        if self._page.view is None:
            return None
        return next((one for one in self._page.view.status.measurements if one.number == number), None)

    # ------------------------------------------------------------------ the menu of a line

    def menu(self, at: QPoint) -> None:
        """What can be done with a line and its values."""
        line = self._page.table.current_row()
        view = self._page.view
        if view is None or line is None:
            return
        menu = QMenu(self._page)
        for text, action in (("&Copy lines", self._page.table.copy), ("Copy &work list", self._page.copy_work_list)):
            made = QAction(text, menu)
            made.triggered.connect(lambda _=False, action=action: action())
            menu.addAction(made)
        if not view.read_only and self._page.model.values[line]:
            menu.addSeparator()
            several = len(self._page.model.endpoints) > 1
            for one in self._page.model.values[line]:
                endpoint = view.status.endpoints[one.endpoint]
                text = f"{endpoint.name} " if several else ""
                self._value_actions(menu, one.number, text + entered_text(one, endpoint), one.excluded is not None)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self._page.table.viewport().mapToGlobal(at))

    def _value_actions(self, menu: QMenu, number: int, text: str, excluded: bool) -> None:
        shown = mnemonic_free(text)
        if excluded:
            again = QAction(f"Use {shown} again", menu)
            again.triggered.connect(lambda: self.include(number))
            again.setToolTip(plain_tip(text))
            menu.addAction(again)
            return
        correct = QAction(f"Correct {shown}…", menu)
        correct.triggered.connect(lambda: self.correct(number))
        exclude = QAction(f"Exclude {shown}…", menu)
        exclude.triggered.connect(lambda: self.exclude(number))
        menu.addActions([correct, exclude])
        for action in (correct, exclude):
            action.setToolTip(plain_tip(text))  # by itself it would be the text, read as markup


def _same(typed: str, shown: str) -> bool:
    return typed.replace(" ", "").casefold() == shown.replace(" ", "").casefold()
