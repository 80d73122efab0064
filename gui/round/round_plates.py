"""The plates of a round next to its list; both share one selection."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFrame

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.plates import Layout, Well
from assaypilot.engine.text import in_letters, many

from ..tables.table import as_clipboard
from ..widgets.inputs import combo_box, fill_box
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import ElidedLabel, button, label
from .plate import LEGEND, plate_words
from .plate_chooser import PlateChooser
from .plate_looks import STATE, VALUE, looks_of
from .round_rows import RoundModel


class PlatesPane(QFrame):
    """Which plate, coloured by what, the plate, and the well in words; one quiet line while there are no plates."""

    picked = Signal(list, object)
    """The compounds that are chosen, and the one that is current."""
    opened = Signal(object)
    """The Placed of a well that is to be typed into."""
    lay_out = Signal()
    print_page = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("side")
        column = column_of(holder=self, margins=(16, 14, 16, 10), spacing=6)
        top = row_of(spacing=8)
        self.heading = label("Plate", "heading")
        self.which = combo_box("Plate shown")
        self.which.currentIndexChanged.connect(lambda _: self._show())
        self.by = QComboBox()
        for box in (self.which, self.by):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
        self.by.setAccessibleName("Colour the wells by")
        self.by.setToolTip("What the wells are coloured by")
        self.by.currentIndexChanged.connect(lambda _: self._recolour())
        self.layout_button = button(
            "Lay out on plates…", "link", "Lays the round out on plates, for the work list", then=self.lay_out
        )
        self.change_button = button("Change…", "link", "Lays the round out on other plates, for the work list")
        self.change_button.setAccessibleName("Change the plates")
        self.change_button.clicked.connect(self.lay_out)
        self.print_button = button("Print…", "link", "Writes the page to print: the plates, and boxes to write into")
        self.print_button.setAccessibleName("Print the plates")
        self.print_button.clicked.connect(self.print_page)
        put(top, self.heading, self.which, STRETCH, self.by, self.layout_button)
        column.addLayout(top)
        below = row_of(spacing=4)
        self.words = ElidedLabel("muted")
        put(below, (self.words, 1), self.change_button, self.print_button)
        column.addLayout(below)
        self.plate = PlateChooser()
        self.plate.picked.connect(self.picked)
        self.plate.opened.connect(self.opened)
        self.plate.copied.connect(self.copy)
        self.plate.described.connect(self._show_text)
        column.addWidget(self.plate, 1)
        self.well = ElidedLabel("muted")
        self.well.setAccessibleName("The well under the mouse or the keyboard")
        column.addWidget(self.well)
        self._status: Status | None = None
        self._layout: Layout | None = None
        self._model: RoundModel | None = None
        self._questioned: frozenset[int] = frozenset()
        self.wanted = STATE
        """The colouring of wells, where the round has it."""
        self._with_plates = (
            self.which, self.by, self.words, self.change_button, self.print_button, self.plate, self.well,
        )  # fmt: skip
        self.show_none()

    @property
    def has_plates(self) -> bool:
        """Whether there is a plate to be seen."""
        return self._layout is not None

    def show_none(self) -> None:
        """One line that offers plates."""
        self._layout = None
        self.heading.setText("No plates")
        self.heading.show()
        for widget in self._with_plates:
            widget.hide()
        self.layout_button.show()
        self.words.hide()

    def show_round(self, model: RoundModel, status: Status, layout: Layout) -> None:
        """Show the plates of a round."""
        same = self._layout == layout and self.plate.plate is not None
        self._model, self._status, self._layout = model, status, layout
        self._questioned = frozenset(one.measurement.number for one in model.questioned())
        names = [plate.name for plate in layout.plates]
        if not same or [self.which.itemText(n) for n in range(self.which.count())] != names:
            fill_box(self.which, [(name, None) for name in names])
        self._offer_colours(model)
        self.heading.setText(names[0] if len(names) == 1 else "")
        self.heading.setVisible(len(names) == 1)
        self.which.setVisible(len(names) > 1)
        for widget in self._with_plates[1:]:
            widget.show()
        self.layout_button.hide()
        self.change_button.setVisible(model.writable)
        self._show()

    def choose(self, compounds: Collection[int], current: int | None) -> None:
        """Ring the wells of compounds chosen in the list, on the plate of the current one."""
        layout = self._layout
        if layout is None:
            return
        there = [n for n, plate in enumerate(layout.plates) if any(one.compound == current for one in plate.placed)]
        if there and self.which.currentIndex() not in there:
            self.which.setCurrentIndex(there[0])
        self.plate.choose(frozenset(compounds))

    def copy(self) -> None:
        """Copy the plate as a grid, its letters and numbers around it."""
        status, plate, model = self._status, self.plate.plate, self._model
        if status is None or plate is None or self._layout is None or model is None:
            return
        shape = self._layout.use.format
        controls, contents = self._layout.use.control_wells(), plate.contents()
        key = str(self.by.currentData())
        looks = looks_of(model, status, plate, key if key.startswith(VALUE) else f"{VALUE}0", self._questioned)

        def text(well: Well) -> str:
            if well in controls:
                return controls[well]
            if well not in contents:
                return ""
            if key.startswith(VALUE):
                return looks.wells[well].text
            return status.library.ids[contents[well][0].compound]

        rows = [[plate.name, *(str(column + 1) for column in range(shape.columns))]]
        rows += [
            [in_letters(row), *(text(Well(row, column)) for column in range(shape.columns))]
            for row in range(shape.rows)
        ]
        QGuiApplication.clipboard().setText(as_clipboard(rows))
        self._show_text("Copied as a table.")

    def height_for(self, width: int) -> int:
        """Pixels this takes when the plate is as wide as it can be, with a line of the legend to spare."""
        around = self.height() - self.plate.height() if self.plate.height() < self.height() else 90
        return max(self.plate.height_for(width - 32), 180) + LEGEND + min(around, 140)

    # ------------------------------------------------------------------ inside

    def _offer_colours(self, model: RoundModel) -> None:
        names = [endpoint.scale_name for endpoint in model.endpoints]
        choices = [("State", STATE), *((name, f"{VALUE}{place}") for place, name in enumerate(names))]
        if [(self.by.itemText(n), self.by.itemData(n)) for n in range(self.by.count())] == choices:
            return
        fill_box(self.by, choices, self.wanted)

    def _recolour(self) -> None:
        self.wanted = str(self.by.currentData())
        self._colour()

    def _show(self) -> None:
        """Show the plate that is chosen."""
        status, layout, model = self._status, self._layout, self._model
        if status is None or layout is None or model is None or model.round is None:
            return
        at = max(self.which.currentIndex(), 0)
        if self.plate.plate is not layout.plates[at]:
            self.plate.show_plate(status, layout, at)
        whole = plate_words(layout.plates[at], layout, status)
        short = many(len(layout.plates[at].placed), "value")
        if len(layout.plates) > 1:
            which = f"{at + 1} of {len(layout.plates)}"
            short, whole = f"Plate {which}, {short}", f"Plate {which}: {whole}"
        self.words.setText(short, whole)
        self.plate.show_text(f"{layout.plates[at].name}: {whole}")
        self._colour()

    def _colour(self) -> None:
        plate = self.plate.plate
        if self._model is None or self._status is None or plate is None:
            return
        by = str(self.by.currentData() or STATE)
        self.plate.show_looks(looks_of(self._model, self._status, plate, by, self._questioned))

    def _show_text(self, words: str) -> None:
        self.well.setText(words or "\N{NO-BREAK SPACE}")
