"""The panel of a round: what needs attention, the selected line with its values, and the round's progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from assaypilot.engine.campaign.cautions import Surprise, of_bounds
from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.chemistry.names import carried_names
from assaypilot.engine.domain.measurements import Measurement
from assaypilot.engine.export.shortlist import decimals_of
from assaypilot.engine.text import many

from ..candidates.candidate_panel import confirmation_rows
from ..session.view import View
from ..structures.drawing import Structures, StructureView
from ..tables.rows import plain_tip
from ..widgets.layout import STRETCH, breakable, empty, put, row_of
from ..widgets.text import Callout, Details, ElidedLabel, button, label, mnemonic_free
from .entry import as_first_entered, entered_text
from .round_columns import is_late, mean_text
from .round_ending import ClosePanel, WithdrawPanel
from .round_rows import RoundModel

CAPTION = 20
"""Letters of a caption that are shown."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The texts of one measurement."""

    number: int
    caption: str
    value: str
    """What is in use; empty for an excluded value."""
    struck: str = ""
    """What was entered, where it is excluded or was corrected."""
    note: str = ""
    excluded: bool = False


class ValueList(QWidget):
    """Values, each with what can be done about it."""

    correct = Signal(int)
    exclude = Signal(int)
    include = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(2, 1)
        self._shown: tuple[Shown, ...] | None = None
        self._editable = False

    def show_values(self, values: Sequence[Shown], *, editable: bool) -> None:
        """Show these values; without ``editable`` nothing can be done about them."""
        if tuple(values) == self._shown and editable == self._editable:
            return
        self._shown, self._editable = tuple(values), editable
        empty(self._grid)
        row = 0
        for one in values:
            value_row = QWidget()
            line = row_of(holder=value_row, spacing=6)
            if one.struck:
                line.addWidget(_struck(one.struck))
            if one.value:
                line.addWidget(label(one.value, selectable=True))
            self._grid.addWidget(self._caption(one.caption), row, 0)
            self._grid.addWidget(value_row, row, 1)
            if editable:
                self._grid.addWidget(self._actions(one), row, 2)
            row += 1
            if one.note:
                self._grid.addWidget(label(one.note, "muted", wrap=True), row, 1, 1, 2)
                row += 1
        self.setVisible(bool(values))

    def _caption(self, text: str) -> QLabel:
        """Return a caption that leaves room for its value, however long the name of an endpoint is."""
        wide = CAPTION * self.fontMetrics().averageCharWidth()
        made = label(self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, wide), "muted")
        made.setAccessibleName(text)
        made.setToolTip(plain_tip(text) if made.text() != text else "")
        return made

    def _actions(self, one: Shown) -> QWidget:
        box = QWidget()
        line = row_of(holder=box, spacing=8)
        if one.excluded:
            made = [self._button("Use again", f"Use {one.struck} again", self.include, one.number)]
        else:
            made = [
                self._button("Correct…", f"Correct {one.value}", self.correct, one.number),
                self._button("Exclude…", f"Exclude {one.value}", self.exclude, one.number),
            ]
        for each in made:
            line.addWidget(each)
        line.addStretch(1)
        return box

    def _button(self, text: str, name: str, signal: object, number: int) -> QPushButton:
        made = button(text, "link")
        made.setAccessibleName(name)
        made.clicked.connect(lambda: signal.emit(number))  # type: ignore[attr-defined]  # a bound signal
        return made


def _struck(text: str) -> QLabel:
    """Return a label struck through, with a name for screen readers that states it."""
    made = label(text, "muted")
    font = made.font()
    font.setStrikeOut(True)
    made.setFont(font)
    made.setAccessibleName(f"struck through: {text}")
    return made


class RoundPanel(QVBoxLayout):
    """Questions first, then the line, then the round."""

    keep = Signal(object)
    """A Surprise that is confirmed unchanged."""
    exclude = Signal(int)
    """Number of a measurement to be excluded."""
    correct = Signal(int)
    """Number of a measurement to be corrected."""
    include = Signal(int)
    """Number of an excluded measurement to be used again."""
    suggested = Signal(int, int, str, int)
    """A line, the place of an endpoint in the round, the text that was meant, and the place of its cell."""
    dismissed = Signal(int, int, int)
    """A line, the place of an endpoint and of a cell whose refused text is to be forgotten."""

    def __init__(self, structures: Structures) -> None:
        super().__init__()
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(12)
        self.closing = ClosePanel()
        self.withdrawing = WithdrawPanel()
        put(self, self.closing, self.withdrawing)
        self.wrong = Callout()
        row = row_of()
        self.take = button("Take the suggestion", "go")
        self._cell = (-1, 0, 0)
        self.take.clicked.connect(self._take)
        self.forget = button("Forget it", then=lambda: self.dismissed.emit(*self._cell))
        put(row, self.take, self.forget, STRETCH)
        self.wrong.body.addLayout(row)
        self.addWidget(self.wrong)
        self.question = Callout()
        row = row_of()
        self.keep_button = button("&Keep it", then=self._keep)
        self.correct_button = button("Correct…", then=lambda: self.correct.emit(self._number()))
        self.exclude_button = button("Exclude…", then=lambda: self.exclude.emit(self._number()))
        put(row, self.keep_button, self.correct_button, self.exclude_button, STRETCH)
        self.question.body.addLayout(row)
        self.more = label("", "muted")
        self.question.body.addWidget(self.more)
        self.addWidget(self.question)
        self.bound = label("", "muted", wrap=True, selectable=True)
        self.bound.hide()
        self.addWidget(self.bound)
        self.name = ElidedLabel("title")
        self.addWidget(self.name)
        self.structure = StructureView(structures)
        self.addWidget(self.structure)
        self.details = Details()
        self.addWidget(self.details)
        self.values = ValueList()
        self.values.correct.connect(self.correct)
        self.values.exclude.connect(self.exclude)
        self.values.include.connect(self.include)
        self.addWidget(self.values)
        self.addSpacing(6)
        self.about = label("This round", "heading")
        self.addWidget(self.about)
        self.progress = Details()
        put(self, self.progress, STRETCH)
        self._surprise: Surprise | None = None
        self._suggestion = ""
        self.wrong.hide()
        self.question.hide()

    def show_wrong(self, line: int, text: str, reason: str, suggestion: str, place: int = 0, at: int = 0) -> None:
        """Show why a typed text was refused, and what may have been meant."""
        self._cell, self._suggestion = (line, place, at), suggestion
        self.wrong.show_text(f"Line {line + 1}: {text}", reason)
        self.take.setVisible(bool(suggestion))
        self.take.setText("Try again" if suggestion == text else mnemonic_free(f"Yes, {suggestion}"))
        self.wrong.show()

    def hide_wrong(self, line: int | None = None, place: int = 0) -> None:
        """There is nothing wrong any more, or not in this line and endpoint."""
        if line is None or self._cell[:2] == (line, place):
            self.wrong.hide()

    def show_surprises(self, view: View, found: list[Surprise], *, editable: bool) -> None:
        """Ask about the first of these values."""
        self._surprise = found[0] if found else None
        self.question.setVisible(bool(found))
        if not found:
            return
        first = found[0]
        endpoint = view.status.endpoints[first.measurement.endpoint]
        text = entered_text(first.measurement, endpoint)
        if len(view.status.measured_endpoints) > 1:
            text = f"{endpoint.name} {text}"
        side = "below" if first.off < 0 else "above"
        on = ""
        if endpoint.scale_name != endpoint.name:
            # 15.2 nM next to 2.8 log units: each has its own unit.
            on = f" on the {endpoint.scale_name} scale"
            if text[-1:].isdigit():
                text = f"{text} {endpoint.unit}".rstrip()
        self.question.show_text(
            f"Line {first.line + 1}: {text} is {abs(first.off):.2f} {side} what is expected{on}.",
            f"Expected {first.expected:.2f} {endpoint.scale_name}; a good value lies within {3 * first.spread:.2f} of "
            "it 997 times in 1000. Keep it, measure it again, or exclude it with a reason; the original stays in "
            "the log.",
        )
        for made in (self.keep_button, self.correct_button, self.exclude_button):
            made.setEnabled(editable)
        self.more.setText(f"{len(found) - 1} more to look at" if len(found) > 1 else "")
        self.more.setVisible(len(found) > 1)

    def show_line(self, view: View, model: RoundModel, line: int | None) -> None:
        """Show what is known of a line of the round."""
        shown = model.round
        words = bound_words(view, model, line)
        self.bound.setText(words)
        self.bound.setVisible(bool(words))
        self.details.setVisible(line is not None)
        self.values.setVisible(line is not None)
        if line is None or shown is None:
            self.name.setText("No line selected")
            self.structure.show_structure("")
            return
        library = view.status.library
        item = shown.items[line]
        self.name.setText(library.ids[item.compound])
        self.structure.show_structure(library.drawing(item.compound))
        rows = [(site, breakable(name)) for site, name in carried_names(library, item.compound).items()]
        if item.expected is not None and item.low is not None and item.high is not None:
            scale = f" {view.status.endpoints[view.status.objective].scale_name}" if len(model.endpoints) > 1 else ""
            digits = decimals_of(view.status)
            ends = f"{item.low:.{digits}f} – {item.high:.{digits}f}"
            rows.append(("Expected", f"{item.expected:.{digits}f}{scale} (95 %: {ends})"))
        rows.append(("Why", item.reason))
        rows += confirmation_rows(view.status, item.compound) if shown.confirmation else []
        for place, endpoint in enumerate(model.endpoints):
            mean = mean_text(model.values_of(line, place), endpoint)
            if mean and len(model.values_of(line, place)) > 1:
                rows.append((f"Mean {endpoint.name}" if len(model.endpoints) > 1 else "Mean", breakable(mean)))
        self.details.show_rows(rows)
        self.values.show_values(_values(model, line), editable=not view.read_only and shown.state != "withdrawn")

    def show_progress(self, view: View, model: RoundModel) -> None:
        """Show the progress of the round and its phase."""
        shown = model.round
        if shown is None:
            self.progress.show_rows([])
            return
        new = sum(not view.status.candidates.made[item.compound] for item in shown.items)
        rows = [
            *_back_of_each(model, shown),
            ("Compounds", f"{len(shown.items):,}, {new:,} never measured" if new else f"{len(shown.items):,}"),
        ]
        if shown.confirmation and view.status.confirmation.sentence:
            rows.append(("Confirmed", view.status.confirmation.sentence))
        late = sum(is_late(one, shown) for values in model.values for one in values)
        if late:
            rows.append(("Late", f"{late:,} came after it was closed"))
        phase = view.status.phase
        if shown.state == "closed" and shown.missing and not view.read_only:
            rows.append(("Late results", _late_words(view, shown)))
        unlisted = _unlisted(view, shown)
        if unlisted:
            rows.append(("Not asked for", f"{many(unlisted, 'value')} that came meanwhile; History has them"))
        if phase is not None and shown.state == "open" and not view.status.guarantee.calibrated:
            left = phase.outstanding
            rows.append(("Next decision", f"after {left:,} more" if left else "when this round is closed"))
        self.progress.show_rows(rows)

    def _keep(self) -> None:
        if self._surprise is not None:
            self.keep.emit(self._surprise)

    def _number(self) -> int:
        """Return the number of the measurement to be confirmed; 0 when there is none."""
        return 0 if self._surprise is None else self._surprise.measurement.number

    def _take(self) -> None:
        if self._suggestion:
            line, place, at = self._cell
            self.suggested.emit(line, place, self._suggestion, at)


def _values(model: RoundModel, line: int) -> list[Shown]:
    """Return the values of a line as they are listed, the original of each kept to be read."""
    shown, found = model.round, []
    several, count = len(model.endpoints) > 1, 0
    for place, endpoint in enumerate(model.endpoints):
        for one in (one for slot in model.slots(line, place) for one in slot.measurements):
            count += 1
            now, first = entered_text(one, endpoint), as_first_entered(one, endpoint)
            notes = [f"excluded: {one.excluded}"] * (one.excluded is not None)
            notes += [f"corrected: {one.corrected}"] * (one.corrected is not None)
            notes += [one.entered.comment] * bool(one.entered.comment)
            notes += [f"came late, in round {one.round}"] * (shown is not None and is_late(one, shown))
            out = one.excluded is not None
            struck = now if out else first if one.corrected is not None else ""
            caption = endpoint.name if several else f"Result {count}"
            found.append(Shown(one.number, caption, "" if out else now, struck, " · ".join(notes), out))
    return found


def bound_words(view: View, model: RoundModel, line: int | None) -> str:
    """Return what a value known only as a bound means: the latest of the line, or of the open round.

    Empty without one.
    """
    shown = model.round
    if shown is None or shown.state == "withdrawn":
        return ""

    def latest(lines: Iterable[int]) -> tuple[int, Measurement] | None:
        there = [(at, one) for at in lines for one in model.values[at] if one.relation != "=" and not _out(one)]
        return max(there, key=lambda pair: pair[1].number, default=None)

    found = None if line is None else latest((line,))
    if found is None and shown.state == "open":
        found = latest(range(len(shown.items)))
    if found is None:
        return ""
    text = entered_text(found[1], view.status.endpoints[found[1].endpoint])
    does = of_bounds(1, calibrated=view.status.guarantee.calibrated)
    return f"Line {found[0] + 1}: {text} is known only as a bound: {does}."


def _out(one: Measurement) -> bool:
    return one.excluded is not None or one.withdrawn


def _late_words(view: View, shown: Round) -> str:
    """Return what becomes of results that come after a round was closed."""
    phase = view.status.phase
    if phase is not None and shown.phase == phase.phase:
        return "still count: what the round was for is not decided yet"
    return "count like any other" if view.status.guarantee.calibrated else "are used in estimates, not in decisions"


def _unlisted(view: View, shown: Round) -> int:
    """Return the number of values that came while a round was the latest one and are in no list."""
    lines = {item.compound for item in shown.items}
    return sum(
        one.round == shown.number
        and one.entered.round in (None, shown.number)
        and not one.withdrawn
        and (one.compound not in lines or one.endpoint not in shown.endpoints)
        for one in view.status.measurements
    )


def _back_of_each(model: RoundModel, shown: Round) -> list[tuple[str, str]]:
    """How far each endpoint of a round with several is."""
    if len(model.endpoints) < 2:
        return []
    rows = []
    for place, endpoint in enumerate(model.endpoints):
        requested = sum(item.of(place) for item in shown.items)
        rows.append((endpoint.name, f"{requested - shown.missing_of[place]:,} of {requested:,}"))
    return rows
