"""What becomes of a text typed into a round: recorded, asked about, refused, corrected or left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from assaypilot.engine.campaign.state import Source
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.measurements import Measurement
from assaypilot.gui.dialogs.reasons import CorrectDialog, ExcludeDialog
from assaypilot.gui.entry import Entry, Question, entered_text, parse_entries, results_in_round
from assaypilot.gui.models.base import plain_tip

if TYPE_CHECKING:
    from assaypilot.gui.pages.round import RoundPage

__all__ = ["RoundValues"]


class RoundValues:
    """The values of the round on a page."""

    def __init__(self, page: RoundPage) -> None:
        self._page = page

    def enter(self, line: int, place: int, text: str) -> None:
        """Nothing; takes a text that was typed into a line's cell of an endpoint."""
        view, shown = self._page.view, self._page.model.round
        if view is None or shown is None:
            return
        endpoint = self._page.model.endpoints[place]
        kept = [one for one in self._page.model.values_of(line, place) if one.excluded is None]
        try:
            entries = parse_entries(text, endpoint)
        except Question as question:
            self._refuse(line, place, text, str(question), _suggested(text, question, endpoint))
            return
        except ValueError as error:
            self._refuse(line, place, text, f"{error}. Type one value per measurement, separated by semicolons.", "")
            return
        old = [entered_text(one, endpoint) for one in kept]
        new = [entry.text for entry in entries]
        changed = [at for at, before in enumerate(old) if at >= len(new) or not _same(new[at], before)]
        if changed:
            self._page.model.forgive(line, place)
            at = changed[0]
            if len(new) < len(old):
                self.exclude(kept[at].number)
            else:
                self.correct(kept[at].number, new[at])
            return
        added = entries[len(old) :]
        if added:
            self._record(line, place, text, added)

    def _record(self, line: int, place: int, text: str, added: list[Entry]) -> None:
        view, shown = self._page.view, self._page.model.round
        if view is None or shown is None:
            return
        self._page.model.saving(line, place, text)
        self._page.panel.hide_wrong()

        def failed(error: Exception) -> None:
            reason = str(error) if isinstance(error, AssayPilotError) else "it was stopped"
            self._refuse(line, place, text, reason, "")
            if isinstance(error, AssayPilotError):
                self._page.session.failed.emit(error)

        compound = shown.items[line].compound
        results = results_in_round(added, view.status, shown, compound, shown.endpoints[place])
        self._page.session.record(results, source=Source("typed"), failed=failed)

    def _refuse(self, line: int, place: int, text: str, reason: str, suggestion: str) -> None:
        self._page.model.refuse(line, place, text, reason, suggestion)
        self._page.panel.show_wrong(line, text, reason, suggestion, place)

    def forget(self, line: int, place: int) -> None:
        """Nothing; shows again what the campaign has, and goes to the cell."""
        self._page.model.forgive(line, place)
        self._page.panel.hide_wrong()
        self._page.table.edit_line(line, place)

    def exclude(self, number: int) -> None:
        """Nothing; asks why a measurement is to be left out, and leaves it out."""
        found = self._measurement(number)
        if found is None or self._page.view is None:
            return
        status = self._page.view.status
        endpoint = status.endpoints[found.endpoint]
        name, confirming = status.library.ids[found.compound], found.round in status.confirmation.rounds
        dialog = ExcludeDialog(found, name, endpoint, self._page, confirming=confirming)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: self._page.session.exclude(number, dialog.reason, judgement=dialog.judgement))
        dialog.open()

    def correct(self, number: int, text: str = "") -> None:
        """Nothing; asks for the right value and why, and corrects a measurement."""
        found = self._measurement(number)
        if found is None or self._page.view is None:
            return
        status = self._page.view.status
        endpoint = status.endpoints[found.endpoint]
        dialog = CorrectDialog(found, status.library.ids[found.compound], endpoint, self._page, text)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def accepted() -> None:
            entry = dialog.entry
            if entry is not None:
                self._page.session.correct(
                    number, entry.value, relation=entry.relation, unit=entry.unit or endpoint.unit, reason=dialog.reason
                )

        dialog.accepted.connect(accepted)
        dialog.open()

    def _measurement(self, number: int) -> Measurement | None:
        if self._page.view is None:
            return None
        return next((one for one in self._page.view.status.measurements if one.number == number), None)

    def menu(self, at: QPoint) -> None:
        """Nothing; what can be done with a line and its values."""
        line = self._page.table.current_row()
        view = self._page.view
        if view is None or line is None:
            return
        menu = QMenu(self._page)
        for text, action in (("&Copy lines", self._page.copy), ("Copy &work list", self._page.copy_work_list)):
            made = QAction(text, menu)
            made.triggered.connect(action)
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
        shown = text.replace("&", "&&")
        if excluded:
            again = QAction(f"Use {shown} again", menu)
            again.triggered.connect(lambda: self._page.session.include(number, "used again by the user"))
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


def _suggested(text: str, question: Question, endpoint: Endpoint) -> str:
    """The whole text of a cell with what was meant in place of the value that is asked about."""
    parts = [part.strip() for part in text.split(";") if part.strip()]
    made = []
    for part in parts:
        try:
            parse_entries(part, endpoint)
        except Question as again:
            made.append(again.suggestion)
        except ValueError:
            return question.suggestion
        else:
            made.append(part)
    return "; ".join(made)
