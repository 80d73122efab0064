"""One more endpoint: its consequences are shown before it is added."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDialog,
    QLineEdit,
    QRadioButton,
    QWidget,
)

from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.noise import parse_noise
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.endpoint_kinds import without_column
from assaypilot.engine.tables.options import parse_endpoint_spec

from ..runtime.tasks import Latest
from ..session.session import Consequences, Session
from ..widgets.inputs import Scrolled, form
from ..widgets.layout import column_of, resize_within_screen
from ..widgets.text import error_words, go_or_cancel, label, polish

WIDE = 38
"""Lines of text that a dialog is wide."""
RECORDED, LIMIT, GOAL = range(3)
USES = (
    ("&Recorded only", "Shown and exported; under the series model it informs the others. Nothing is decided by it"),
    ("A &limit to keep to", "What probably fails it is out; measured for every compound from the next round on"),
    ("A second &goal: trade-offs", "Another question than before; every measurement so far counts"),
)


class Asking(QDialog):
    """A question with its consequences, which are computed off the window's thread."""

    answered = Signal(object)
    """The change to apply; the dialog is closed."""
    HIGH = 26
    """Lines of text that it is high."""

    def __init__(
        self,
        session: Session,
        status: Status,
        title: str,
        go: str,
        answer: Callable[[], object],
        locked: str,
        parent: QWidget | None,
    ) -> None:
        """``answer``: returns the change that the button ``go`` applies; None while it is incomplete.

        ``locked``: why this campaign cannot be changed; empty otherwise.
        """
        super().__init__(parent)
        self._session, self._status, self._answer = session, status, answer
        self._question = Latest()
        self._locked = locked
        self.setWindowTitle(title)
        column = column_of(label(title, "title"), holder=self, margins=(22, 20, 22, 18), spacing=10)
        self.body = column_of(spacing=10)
        column.addLayout(self.body)
        self.words = label("", wrap=True, selectable=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        column.addWidget(Scrolled(self.words), 1)
        box, self.go = go_or_cancel(go, self, self._go)
        column.addWidget(box)
        line = self.fontMetrics().lineSpacing()
        resize_within_screen(self, WIDE * line, self.HIGH * line)

    def _go(self) -> None:
        answer = self._answer()
        if answer is not None:
            self.answered.emit(answer)
            self.accept()

    def _show_text(self, text: str, *, ready: bool, problem: bool = False) -> None:
        self.words.setText(text)
        polish(self.words, role="problem" if problem else "")
        self.go.setEnabled(ready)

    def _refuse(self, error: Exception) -> None:
        if isinstance(error, AssayPilotError):
            self._show_text(" ".join(error_words(error)).strip(), ready=False, problem=True)

    def _ask(self, question: Consequences) -> None:
        """Compute the consequences and show them, unless another question came meanwhile."""
        self._show_text("Checking what this does…", ready=False)

        def show_consequences(sentences: Sequence[str]) -> None:
            self._show_text("\n\n".join([*sentences, *filter(None, [self._locked])]), ready=not self._locked)

        self._question.start(self._session.consequences(question, show_consequences, self._refuse))

    def done(self, result: int) -> None:
        """Wait for no answer any more."""
        self._question.drop()
        super().done(result)


class EndpointDialog(Asking):
    """One more endpoint: recorded only, with a limit, or as a second goal."""

    HIGH = 30

    def __init__(self, session: Session, status: Status, locked: str, parent: QWidget | None) -> None:
        super().__init__(session, status, "Add an endpoint", "&Add", self._change, locked, parent)
        fields = form()
        self.name, self.unit, self.sd, self.limit = (QLineEdit() for _ in range(4))
        self.direction = QComboBox()
        self.direction.addItem("higher", "max")
        self.direction.addItem("lower", "min")
        hints = ("Solubility, hERG, logD", "\N{MICRO SIGN}M, nM, \N{HORIZONTAL ELLIPSIS}; or none", "0.3, or unknown",
                 "<5 or >50, in that unit")  # fmt: skip
        captions = ("&Name", "&Unit", "Assay noise (&SD)", "L&imit")
        for caption, edit, hint in zip(captions, (self.name, self.unit, self.sd, self.limit), hints, strict=True):
            edit.setPlaceholderText(hint)
            edit.setAccessibleName(caption.replace("&", ""))
            edit.textChanged.connect(lambda _: self._look())
            fields.addRow(caption, edit)
        fields.insertRow(2, "Be&tter is", self.direction)
        self.direction.setAccessibleName("Which way is better")
        self.direction.currentIndexChanged.connect(lambda _: self._look())
        self._form = fields
        self.uses = QButtonGroup(self)
        for key, (text, tip) in enumerate(USES):
            made = QRadioButton(text)
            made.setToolTip(tip)
            self.uses.addButton(made, key)
            self.body.addWidget(made)
        self.body.addLayout(fields)
        # The direction is above the noise, and was made after it.
        for before, after in ((self.unit, self.direction), (self.direction, self.sd), (self.sd, self.limit)):
            QWidget.setTabOrder(before, after)
        self.uses.button(RECORDED).setChecked(True)
        self.uses.idToggled.connect(lambda _, on: self._look() if on else None)
        self._look()
        self.name.setFocus()

    @property
    def use(self) -> int:
        """Its use."""
        return self.uses.checkedId()

    def _change(self) -> Change | None:
        """Return the typed change; None while something is missing, AssayPilotError for an impossible one."""
        endpoint = self._endpoint()
        return None if endpoint is None else Change(endpoint=endpoint, trade_off=self.use == GOAL)

    def _endpoint(self) -> Endpoint | None:
        """Return the typed endpoint; None while there is none, AssayPilotError for an impossible one."""
        name = self.name.text().strip()
        if not name:
            return None
        given = [("unit", self.unit.text()), ("sd", self.sd.text())]
        if any(sign in text for sign in ";=" for text in (name, self.unit.text())):
            raise AssayPilotError("a name or a unit cannot hold ; or =", mend="Leave them out.")
        _check_noise(self.sd.text())
        if self.use == LIMIT:
            given.append(("limit", self.limit.text()))
        if self.use == GOAL:
            given.append(("direction", str(self.direction.currentData())))
        parts = [f"{key}={text.strip()}" for key, text in given if text.strip()]
        return without_column(parse_endpoint_spec(";".join([name, *parts])), self._status.endpoints)[0]

    def _look(self) -> None:
        """Show the fields of this use, and the consequences."""
        self._question.drop()
        for edit, uses in ((self.limit, (LIMIT,)), (self.direction, (GOAL,))):
            self._form.setRowVisible(edit, self.use in uses)
        try:
            wanted = self._change()
            if wanted is None or (self.use == LIMIT and not self.limit.text().strip()):
                self._show_text("Name it." if wanted is None else "Give the limit.", ready=False)
                return
        except AssayPilotError as error:
            self._refuse(error)
            return
        self._ask(lambda campaign: campaign.consequences(wanted))


def _check_noise(text: str) -> None:
    """Raise AssayPilotError for an SD that is no number above 0, nor unknown; empty is none."""
    try:
        sd = parse_noise(text).sd if text.strip() else None
        good = sd is None or sd > 0
    except AssayPilotError:
        good = False
    if not good:
        raise AssayPilotError(f"{text.strip()!r} is no assay noise", mend="Give a number above 0, or unknown.")
