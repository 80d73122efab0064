"""Values of a round as they are entered, excluded and corrected."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu

from assaypilot.engine.campaign.issued_rounds import Source
from assaypilot.engine.domain.measurements import Measurement
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.entries import is_empty
from assaypilot.engine.tables.values import Value

from ..session.session import Consequences, Session
from ..tables.rows import plain_tip
from ..widgets.layout import show_dialog, show_menu
from ..widgets.text import mnemonic_free
from .entry import Question, entered_text, in_their_cells, parse_entry, parts_of, result_of, user_decimal
from .reason_dialog import CorrectDialog, ExcludeDialog
from .round_controls import on_plates
from .round_panel import RoundPanel
from .round_rows import RoundModel
from .round_table import RoundTable
from .work_list import copy_work_list

AGAIN = "used again by the user"
CONFIRMS = "It only confirms and decides nothing: the guarantee stays. It is kept in the log."


class RoundValues:
    """The values of the round shown."""

    def __init__(self, session: Session, table: RoundTable, model: RoundModel, panel: RoundPanel) -> None:
        self._session, self._table, self._model, self._panel = session, table, model, panel
        self.leaving = False
        """Whether the window is closing, so that no dialog can open any more."""

    # ------------------------------------------------------------------ typed

    def enter(self, line: int, place: int, text: str, at: int = 0) -> None:
        """Take a text that was typed into a cell: one value, or several for this cell and those after it."""
        model = self._model
        if model.round is None:
            return
        self._panel.hide_wrong(line, place)
        parts = [part for part in parts_of(text) if not is_empty(model.endpoints[place], part)]
        kept = [slot.kept for slot in model.slots(line, place)]
        if not parts:
            self.empty(line, place, at)
            return
        model.forgive(line, place, at)
        added: list[tuple[int, str, Value]] = []
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

    def _parsed(self, line: int, place: int, part: str, at: int) -> Value | None:
        """Return the value of a part of a text; None when it is unusable and its cell shows the reason."""
        try:
            return parse_entry(part, self._model.endpoints[place], user_decimal())
        except Question as question:
            self.refuse(line, place, part, str(question), question.suggestion, at)
        except ValueError as error:
            self.refuse(line, place, part, f"{error}. Type one value per measurement, in a cell of its own.", "", at)
        return None

    def _record(self, line: int, place: int, added: Sequence[tuple[int, str, Value]]) -> None:
        model = self._model
        view, shown = model.view, model.round
        if view is None or shown is None:
            return
        texts = {min(cell, model.cells - 1): part for cell, part, _ in added}
        for at, typed in texts.items():
            model.saving(line, place, typed, at)

        def failed(error: Exception) -> None:
            reason = str(error) if isinstance(error, AssayPilotError) else "it was stopped"
            if model.round is not None and model.round.number == shown.number:
                for at, typed in texts.items():
                    self.refuse(line, place, typed, f"Not saved: {reason}", typed, at)
            if isinstance(error, AssayPilotError):
                self._session.failed.emit(error)

        compound = shown.items[line].compound
        name, cells = view.status.library.ids[compound], [cell for cell, _, _ in added]
        entries = [result_of(entry, name, model.endpoints[place]) for _, _, entry in added]
        results = in_their_cells(entries, view.status, shown, cells=cells)
        results = on_plates(results, shown.layout, compound, shown.endpoints[place])
        self._session.record(results, source=Source("typed"), failed=failed)

    def _change(self, line: int, place: int, before: Measurement, part: str, at: int) -> None:
        """Correct a value that is there already, with a reason."""
        if self.leaving:
            was = entered_text(before, self._model.endpoints[place])
            self.refuse(line, place, part, f"Not saved: changing {was} needs a reason", part, at)
        else:
            self.correct(before.number, part)

    def refuse(self, line: int, place: int, text: str, reason: str, suggestion: str, at: int = 0) -> None:
        """Keep a text where it was typed, and show why it was refused."""
        at = min(at, self._model.cells - 1)
        self._model.refuse(line, place, text, reason, suggestion, at)
        self._panel.show_wrong(line, text, reason, suggestion, place, at)

    def forget(self, line: int, place: int, at: int | None = None) -> None:
        """Show again what the campaign has, and go to the cell."""
        self._model.forgive(line, place, at)
        self._panel.hide_wrong(line, place)
        self._table.edit_line(line, place, at)

    def empty(self, line: int, place: int, at: int) -> None:
        """Remove a text that could not be used, or exclude a value for a reason."""
        model = self._model
        if model.wrong(line, place, at) is not None:
            self.forget(line, place, at)
            return
        model.forgive(line, place, at)
        slot = model.slot(line, place, at)
        kept = None if slot is None else slot.kept or slot.within
        if kept is not None and self._model.writable and not self.leaving:
            self.exclude(kept.number)

    # ------------------------------------------------------------------ with a reason

    def exclude(self, number: int) -> None:
        """Ask why a measurement is to be left out, and leave it out."""
        view, found = self._model.view, self._measurement(number)
        if found is None or view is None:
            return
        status = view.status
        name, proof = status.library.ids[found.compound], not status.guarantee.calibrated
        confirming = proof and found.round in status.confirmation.rounds
        instead = CONFIRMS if confirming else ""
        dialog = ExcludeDialog(found, name, status.endpoints[found.endpoint], self._table, instead=instead, proof=proof)

        def accepted() -> None:
            self._table.setFocus(Qt.FocusReason.OtherFocusReason)  # the button is gone with the old value
            self._session.exclude(number, dialog.reason, judgement=dialog.judgement)

        def question() -> Consequences:
            judgement = dialog.judgement
            return lambda campaign: campaign.exclude(number, "?", judgement=judgement, dry=True)

        if not confirming:
            dialog.foresee(self._session, question)
        show_dialog(dialog, accepted)

    def correct(self, number: int, text: str = "") -> None:
        """Ask for the right value and why, and correct a measurement."""
        view, found = self._model.view, self._measurement(number)
        if found is None or view is None:
            return
        status = view.status
        endpoint, name = status.endpoints[found.endpoint], status.library.ids[found.compound]
        proof = not status.guarantee.calibrated
        dialog = CorrectDialog(found, name, endpoint, self._table, text, proof=proof)

        def accepted() -> None:
            entry = dialog.entry
            if entry is not None:
                self._table.setFocus(Qt.FocusReason.OtherFocusReason)
                unit, reason = entry.unit or endpoint.unit, dialog.reason
                self._session.correct(number, entry.value, relation=entry.relation, unit=unit, reason=reason)

        def question() -> Consequences | None:
            entry = dialog.entry
            if entry is None or not dialog.changed:
                return None
            return lambda campaign: campaign.correct(
                number, entry.value, relation=entry.relation, unit=entry.unit or endpoint.unit, reason="?", dry=True
            )

        if status.guarantee.calibrated or found.round not in status.confirmation.rounds:
            dialog.foresee(self._session, question)
        show_dialog(dialog, accepted)

    def include(self, number: int) -> None:
        """Use an excluded measurement again."""
        self._table.setFocus(Qt.FocusReason.OtherFocusReason)
        self._session.include(number, AGAIN)

    def _measurement(self, number: int) -> Measurement | None:
        if self._model.view is None:
            return None
        return next((one for one in self._model.view.status.measurements if one.number == number), None)

    # ------------------------------------------------------------------ the menu of a line

    def menu(self, at: QPoint) -> None:
        """Open the menu of a line and its values."""
        line = self._table.current_row()
        view, round_ = self._model.view, self._model.round
        if view is None or round_ is None or line is None:
            return
        menu = QMenu(self._table)
        menu.addAction("&Copy lines", self._table.copy)
        menu.addAction("Copy &work list", partial(copy_work_list, self._session, view, round_))
        values = [] if view.read_only else self._model.values[line]
        if values:
            menu.addSeparator()
        for one in values:
            endpoint = view.status.endpoints[one.endpoint]
            text = entered_text(one, endpoint)
            if len(self._model.endpoints) > 1:
                text = f"{endpoint.name} {text}"
            shown = mnemonic_free(text)
            if one.excluded is not None:
                made = [menu.addAction(f"Use {shown} again", partial(self.include, one.number))]
            else:
                made = [
                    menu.addAction(f"Correct {shown}…", partial(self.correct, one.number)),
                    menu.addAction(f"Exclude {shown}…", partial(self.exclude, one.number)),
                ]
            for action in made:
                action.setToolTip(plain_tip(text))  # by itself it would be the text, read as markup
        show_menu(menu, self._table.viewport().mapToGlobal(at))


def _same(typed: str, shown: str) -> bool:
    return typed.replace(" ", "").casefold() == shown.replace(" ", "").casefold()
