"""The choice of an export, and the Candidates page in terms of an export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QRadioButton,
    QWidget,
)

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.measured import measured_means
from assaypilot.engine.export.sheet import Column as Written
from assaypilot.engine.export.sheet import unique
from assaypilot.engine.export.shortlist import AVAILABILITY, CONFIRMED, EVIDENCE, chances, table_of

from ..tables.rows import Column, RowsModel
from ..widgets.inputs import Segments
from ..widgets.layout import column_of
from ..widgets.text import error_words, go_or_cancel, label, mnemonic_free

Which = Literal["screen", "in", "all"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file."""

    suffix: str
    name: str
    """As the dialog names it."""
    menu: str
    """As the menu names it, with its mnemonic."""
    contents: str
    """Its content, in a sentence or two."""
    columns: bool = True
    """Whether columns can be left out of it."""


KINDS = (
    Kind(
        ".csv", "CSV", "&CSV…",
        "One row per compound, with what was decided and on what evidence. Opens in every spreadsheet.",
    ),
    Kind(
        ".xlsx", "Excel", "E&xcel with Structures…",
        "The shortlist with pictures of the structures, and sheets with all compounds, measurements, rounds and "
        "settings.",
    ),
    Kind(".sdf", "SD-File", "&SD-File…", "One record per compound: its structure, with the columns as properties."),
    Kind(
        ".pdf", "Report (PDF)", "&Report (PDF)…",
        "Goal, guarantee and its assumptions, plots, the compounds with their structures, contributions and history.",
        columns=False,
    ),
    Kind(
        ".pptx", "Slide (PowerPoint)", "S&lide (PowerPoint)…",
        "One slide for a project meeting: the goal, the plot and the best of the compounds with their structures.",
        columns=False,
    ),
)  # fmt: skip


def kind_of(suffix: str) -> Kind:
    """Return the kind of file with an ending; the first when there is none."""
    return next((kind for kind in KINDS if kind.suffix == suffix), KINDS[0])


@dataclass(frozen=True, slots=True)
class Screen:
    """The current table of the Candidates page."""

    order: tuple[int, ...]
    """Compounds shown, top to bottom."""
    columns: tuple[str, ...] | None
    """Headers of the shortlist for the columns shown, left to right; None when nothing was moved or hidden."""
    words: str
    """How it was narrowed and sorted, in a few words."""
    calculated: tuple[Written, ...] = ()
    """Columns that are not the campaign's, such as calculated properties, for all compounds of the library."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user wants exported."""

    kind: Kind
    which: Which
    as_columns: bool
    """Whether the columns are those on screen."""


class ExportDialog(QDialog):
    """Asks what to export; stays open until a place to write to is chosen."""

    go = Signal()
    """Asks where to write."""

    def __init__(
        self, screen: Screen, counts: tuple[int, int], wanted: Wanted, *, structures: bool, parent: QWidget | None
    ) -> None:
        """Take ``counts``: compounds that are in, and all; ``structures``: whether any structure is known."""
        super().__init__(parent)
        self.screen_, self._structures = screen, structures
        self.setWindowTitle("Export")
        body = column_of(label("Export compounds", "title"), holder=self, margins=(22, 20, 22, 18), spacing=8)
        self.kinds = Segments([(kind.suffix, kind.name) for kind in KINDS], "Kind of file")
        self.kinds.chosen.connect(lambda _: self.check())
        body.addWidget(self.kinds, 0, Qt.AlignmentFlag.AlignLeft)
        self.contents = label("", "muted", wrap=True)
        self.contents.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self.contents.setAlignment(Qt.AlignmentFlag.AlignTop)
        body.addWidget(self.contents)
        body.addSpacing(6)
        body.addWidget(label("Which compounds", "heading"))
        inside, everything = counts
        self.choices: dict[Which, QRadioButton] = {
            "in": QRadioButton(f"The {inside:,} that {'is' if inside == 1 else 'are'} in, the best first"),
            "screen": QRadioButton(f"The {len(screen.order):,} on the Candidates page, in the order on screen"),
            "all": QRadioButton(f"All {everything:,}, ranked"),
        }
        self._groups = QButtonGroup(self)
        for key, made in self.choices.items():
            self._groups.addButton(made)
            body.addWidget(made)
            if key == "screen":
                note = label(screen.words, "muted", wrap=True)
                note.setContentsMargins(24, 0, 0, 2)
                body.addWidget(note)
            made.toggled.connect(lambda _: self.check())
        body.addSpacing(6)
        self.columns = QCheckBox("Only the columns shown on the page, in their order")
        body.addWidget(self.columns)
        body.addSpacing(4)
        self.problem = label("", "problem", wrap=True)
        self.problem.setAccessibleName("What is in the way")
        body.addWidget(self.problem)
        box, self.confirm = go_or_cancel("Choose the &place…", self, self.go.emit)
        body.addWidget(box)
        self._counts = {"in": inside, "screen": len(screen.order), "all": everything}
        self.choices[wanted.which].setChecked(True)
        self.columns.setChecked(wanted.as_columns and screen.columns is not None)
        self.kinds.choose(wanted.kind.suffix)
        self.confirm.setFocus(Qt.FocusReason.OtherFocusReason)
        self.resize(max(620, self.minimumSizeHint().width()), self.sizeHint().height())

    @property
    def wanted(self) -> Wanted:
        """The request."""
        which = next(key for key, made in self.choices.items() if made.isChecked())
        kind = kind_of(self.kinds.key)
        return Wanted(kind, which, self.columns.isChecked() and self.columns.isEnabled())

    def choose(self, which: Which) -> None:
        """Mark which compounds are exported."""
        self.choices[which].setChecked(True)

    def check(self) -> None:
        """Show the content of the file, and whether there is anything to export."""
        if self._groups.checkedButton() is None:
            return
        which = next(key for key, made in self.choices.items() if made.isChecked())
        kind = kind_of(self.kinds.key)
        self.contents.setText(kind.contents)
        self.columns.setEnabled(kind.columns and self.screen_.columns is not None)
        self.columns.setToolTip(
            "" if kind.columns else f"A {mnemonic_free(kind.name)} has columns of its own",
        )
        trouble = ""
        if not self._counts[which]:
            trouble = (
                "No compound is in yet: that takes decided rounds."
                if which == "in"
                else "The table on the page is empty: its filter leaves no compound."
            )
        elif kind.suffix == ".sdf" and not self._structures:
            trouble = "No structure is known: the table this campaign began with had no SMILES."
        self.show_text(trouble)
        self.confirm.setEnabled(not trouble)

    def show_text(self, text: str) -> None:
        """Show the obstacle next to the button."""
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    def refuse(self, error: AssayPilotError) -> None:
        """Show why a place is unusable; another one can be chosen."""
        self.show_text(" ".join(error_words(error)))


def shortlist_columns(status: Status) -> dict[str, tuple[str, ...]]:
    """Return the headers of the shortlist that match a column of the page, by the column's key.

    Headers are unique ("Status (2)" where a site is called Status), so they are found by their place.
    """
    header = iter(table_of(status, ()).header)
    found: dict[str, tuple[str, ...]] = {"id": (next(header),)}
    if status.library.smiles is not None:
        found["structure"] = (next(header),)
    for place in range(len(status.library.sites)):
        found[f"site{place}"] = (next(header),)
    found["status"], found["decided"] = (next(header),), (next(header),)
    goal = [status.endpoints[place].name for place in status.goal_endpoints]
    shown = [*goal, *(name for k in status.limited_endpoints if (name := status.endpoints[k].name) not in goal)]
    for position, endpoint in enumerate(status.endpoints):
        first = bool(shown) and endpoint.name == shown[0]
        of_estimate = [next(header)]
        if endpoint.transform == "log":
            of_estimate.append(next(header))
        found["estimate" if first else f"estimate-{endpoint.name}"] = tuple(of_estimate)
        if measured_means(status, position):
            key = "mean" if position == status.objective else f"mean-{endpoint.name}"
            found[key] = (next(header), next(header))
        if endpoint.name in status.candidates.lows:
            found["interval" if first else f"interval-{endpoint.name}"] = (next(header), next(header))
    keys = ["near", "far"] if len(set(status.probability_names)) == 2 else ["near"]
    keys += [f"meets-{status.endpoints[place].name}" for place in status.limited_endpoints]
    for key, _ in zip(keys, chances(status), strict=True):
        found[key] = (next(header),)
    found["measured"] = (next(name for name in header if name.startswith(EVIDENCE)),)
    found["available"] = (next(name for name in header if name.startswith(AVAILABILITY)),)
    if status.confirmation.rounds:
        found["confirmed"] = (next(name for name in header if name.startswith(CONFIRMED)),)
    return found


def screen_of(
    status: Status, model: RowsModel, columns: Sequence[Column], calculated: Mapping[str, Written], *, choice: str,
    words: str, arranged: bool,
) -> Screen:  # fmt: skip
    """Return the page as an export takes it; ``choice``: text of the buttons, ``words``: the filter's text.

    ``calculated``: calculated columns, by the keys of the page's columns.
    """
    headers = shortlist_columns(status)
    own = table_of(status, ()).header
    names = unique([*own, *(column.name for column in calculated.values())])[len(own) :]
    headers |= {key: (name,) for key, name in zip(calculated, names, strict=True)}
    wanted = tuple(header for column in columns for header in headers.get(column.key, ()))
    parts = [choice]
    if words:
        parts.append(f"filter “{words}”")
    order = model.sorted_by
    if order is not None:
        column = model.columns[model.place_of(order[0])]
        name = " ".join((column.name or column.title).split())
        down = order[1] == Qt.SortOrder.DescendingOrder
        parts.append(f"sorted by {name}{', falling' if down else ''}")
    if arranged:
        parts.append("columns as arranged")
    return Screen(tuple(model.rows.tolist()), wanted, " · ".join(parts), tuple(calculated.values()))
