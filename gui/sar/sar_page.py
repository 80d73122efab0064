"""SAR: the effects of substituents, and the pairs that show them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from assaypilot.engine.domain.library import Library, pair_name
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.measured import bounds_note
from assaypilot.engine.export.pictures import Compared, Look, compared, look
from assaypilot.engine.system.progress import Cancelled, Report

from ..candidates.candidate_panel import CompoundPanel
from ..plots.canvas import inch
from ..plots.choices import HeatChoices, SiteChoice, choice_box, endpoint_names
from ..plots.heat import HeatScene
from ..plots.pointing import PointingCanvas
from ..plots.scene import Scene
from ..plots.sites import ContributionScene
from ..plots.trust import PredictionScene, RoundsScene
from ..runtime.tasks import Latest
from ..session.session import Session
from ..session.view import View
from ..structures.drawing import Structures
from ..widgets.inputs import Segments
from ..widgets.layout import STRETCH, FlowRow, put
from ..widgets.text import button, label
from ..window.page import ReplayPage, side_panel, with_side
from .sar_pairs import PairsView

T = TypeVar("T")

PICTURES = (
    ("map", "Map"),
    ("contributions", "Contributions"),
    ("predictions", "Predictions"),
    ("rounds", "Rounds"),
)
PAIRS = "pairs"
"""The choices that are tables, not pictures."""
_MARKING = (HeatScene, ContributionScene, PredictionScene)
"""Scenes that show which compound is selected."""
SUBTITLES = {
    "map": "mean estimate of each pair",
    "contributions": "what each substituent adds",
}
_HINT = "Click a cell, a row or a point, or go to it with the arrow keys and press Enter."


class SarPanel(CompoundPanel):
    """The selected compound, or how one is selected."""

    wanted = Signal()
    """The compound is to be shown in the table of candidates."""

    def __init__(self, structures: Structures, session: Session) -> None:
        super().__init__(structures, session)
        self.hint = label(_HINT, "muted", wrap=True)
        self.insertWidget(1, self.hint)
        self.go = button(
            "Show in &Candidates", tip="Goes to this compound in the table of the Candidates page", then=self.wanted
        )
        put(self, self.go, STRETCH)

    def show_compound(self, view: View, compound: int | None) -> None:
        """Explain a compound; None: says how one is selected."""
        super().show_compound(view, compound)
        self.hint.setVisible(compound is None)
        self.go.setVisible(compound is not None)


class SarPage(ReplayPage):
    """One picture at a time, its choices, and the selected compound."""

    show_candidate = Signal()

    def __init__(self, session: Session, structures: Structures) -> None:
        super().__init__(session, "SAR")
        line = QWidget()
        tools = FlowRow(line, 10)
        self.which = Segments((*PICTURES, (PAIRS, "Pairs")), "Which picture is shown")
        self.which.chosen.connect(lambda _: self._chosen())
        self.endpoint = choice_box("Endpoint", "Which endpoint the pictures are about", letters=12)
        self.endpoint.activated.connect(lambda _: self._work())
        self.export_button = button("E&xport…", tip="Writes the picture as PNG, SVG or PDF, with its data as csv; "
                                    "or copies one of them")  # fmt: skip
        self.canvas = PointingCanvas(structures)
        self.canvas.picked.connect(self.session.selection.choose)
        self.export_button.setMenu(self.canvas.menu())
        tools.addWidget(self.which)
        tools.push()
        put(tools, self.endpoint, self.export_button)
        self.column.addWidget(line)
        self.heat = HeatChoices()
        self.heat.changed.connect(self._work)
        self.sites = SiteChoice()
        self.sites.changed.connect(self._work)
        put(self.column, self.heat, self.sites)
        self.additive = label("", "muted", wrap=True, selectable=True)
        self.column.addWidget(self.additive)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.area.setWidget(self.canvas)
        self.area.setCornerWidget(QWidget())  # the style draws a mark in a bare corner
        self.area.viewport().installEventFilter(self)
        self.empty = label("", "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.again = button("&Draw the picture", then=self._work)
        nothing = QWidget()
        middle = QVBoxLayout(nothing)
        put(middle, STRETCH, self.empty)
        middle.addWidget(self.again, 0, Qt.AlignmentFlag.AlignCenter)
        middle.addStretch(2)
        self.stack = QStackedWidget()
        put(self.stack, self.area, nothing)
        self.pairs = PairsView(structures)
        self.pairs.picked.connect(lambda compounds: self.session.selection.choose(compounds[0], compounds))
        self.pairs.table.message.connect(session.message)
        self.stack.addWidget(self.pairs)
        self.column.addWidget(self.stack, 1)
        self.panel = SarPanel(structures, session)
        self.panel.wanted.connect(self.show_candidate)
        self.sides = with_side(self, self.panel.as_side(*side_panel()))
        session.selection.changed.connect(self._selected)
        self._library: Library | None = None
        self._looks: dict[int, Look] = {}
        """By endpoint, of the view that is shown."""
        self._compared: dict[int, Compared] = {}
        self._job = Latest()
        self._show_blank("", again=False)

    @property
    def scene(self) -> Scene | None:
        """The picture shown."""
        return self.canvas.scene

    # ------------------------------------------------------------------ calls of the window

    def refresh(self, view: View, *, opened: bool) -> None:
        """Show the current state of a campaign."""
        self._now = view
        view = self.session.replay.of(view)
        status = view.status
        if self._view is None or status is not self._view.status:
            self._looks, self._compared = {}, {}
        self._view = view
        if opened or status.library is not self._library:  # equality would hash a million compounds
            self._library = status.library
            self.heat.show_library(status.library)
            self.sites.show_library(status.library)
        names = [one.scale_name for one in status.endpoints]
        if opened or self.endpoint.count() != len(names):
            endpoint_names(self.endpoint, names, status.objective)
        self.endpoint.setVisible(len(names) > 1)
        self.panel.show_compound(view, self.session.selection.compound)
        self._chosen()

    def forget(self) -> None:
        """Show no campaign, as before the first one."""
        self._now = self._view = None
        self._looks, self._compared = {}, {}
        self.which.reset()
        self.pairs.forget()
        self._show_blank("", again=False)

    def copy(self) -> None:
        """Copy the picture or the rows of the table, or the selected text of the panel with the keyboard."""
        if self.panel.copy():
            return
        if self.stack.currentWidget() is self.pairs:
            self.pairs.table.copy()
        else:
            self.canvas.copy()

    def first(self) -> QWidget:
        """Return the picture, or the table."""
        return self.pairs.table if self.stack.currentWidget() is self.pairs else self.canvas

    def look_for(self) -> None:
        """Go to the picture, or to the filter of the table."""
        if self.stack.currentWidget() is self.pairs:
            self.pairs.filter.setFocus()
        else:
            self.canvas.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        """Go to the compound selected on another page."""
        super().showEvent(event)
        self._selected()

    # ------------------------------------------------------------------ choosing

    def _chosen(self) -> None:
        self.subtitle.setText(SUBTITLES.get(self.which.key, ""))
        self.export_button.setVisible(self.which.key != PAIRS)
        self._work()

    def _offer(self) -> None:
        """Show the choices of the picture."""
        key = self.which.key
        self.heat.setVisible(key == "map" and self.heat.sites is not None)
        self.sites.setVisible(key == "contributions")
        additivity = self._additivity() if key in ("map", "contributions", "predictions") else ""
        self.additive.setText(additivity)
        self.additive.setVisible(bool(additivity))
        assert self._view is not None

    def _additivity(self) -> str:
        """How far effects add up in the endpoint shown, and which sites are taken together; empty while unknown."""
        assert self._view is not None
        status, place = self._view.status, self.endpoint.currentData()
        own = status.endpoints[status.objective if place is None else int(place)]
        names = {own.scale_name} | {e.scale_name for e in status.endpoints if own.of is not None and e.name in own.of}
        sentences = [f"{one.sentence[:1].upper()}{one.sentence[1:]}" for one in status.additivity
                if one.endpoint in names and one.found.freedom]  # fmt: skip
        sentences = [text if text.endswith(".") else f"{text}." for text in sentences]
        sentences += [
            f"{pair_name(pair)} are taken together: what one of their substituents adds is the average over the "
            "combinations measured."
            for pair in status.library.interactions
        ]
        return " ".join([*sentences, *filter(None, [bounds_note(status)])])

    def _selected(self) -> None:
        """Mark the selected compound, once the page is seen."""
        view, compound = self._view, self.session.selection.compound
        if view is None or self._now is not self.session.view or not self.isVisible():
            return  # of another state: the page is filled again when it is seen
        self.panel.show_compound(view, compound)
        scene = self.scene
        if isinstance(scene, _MARKING) and scene.selected != compound:
            scene.selected = compound
            self.canvas.redraw()

    # ------------------------------------------------------------------ working out

    def _work(self) -> None:
        """Work out the picture that is chosen, off the window's thread, and show it."""
        view = self._view
        if view is None:
            return
        self._job.drop()
        key, place, selected = self.which.key, self.endpoint.currentData(), self.session.selection.compound
        place = view.status.objective if place is None else int(place)
        if not any(m.usable for m in view.status.measurements):
            self._nothing_measured(view)
            return
        if key == "map" and self.heat.sites is None:
            self._show_blank("A map needs two sites with a choice. Contributions shows the one there is.", again=False)
            return
        sites, fixed, by_effect, site = (
            self.heat.sites,
            self.heat.fixed,
            bool(self.heat.order.currentData()),
            self.sites.site,
        )
        known = self._looks.get(place)
        self._offer()

        if key == PAIRS:
            pairs = self._compared.get(place)

            def compare(report: Report) -> Compared:
                return pairs or compared(view.status, place)

            self._start(view, "Comparing pairs", compare, partial(self._show_pairs, place))
            return

        def scene_of(found: Look) -> Scene:
            if key == "map" and sites is not None:
                return HeatScene(found, sites, fixed, by_effect=by_effect, selected=selected)
            if key == "contributions":
                return ContributionScene(found, site, selected)
            return RoundsScene(found) if key == "rounds" else PredictionScene(found, selected)

        def work(report: Report) -> tuple[Look, Scene]:
            found = known or look(view.status, place, report)
            report(0.9, "Drawing")
            scene = scene_of(found)
            scene.least()  # loads the drawing modules here, off the window's thread
            return found, scene

        def show(result: tuple[Look, Scene]) -> None:
            self._looks[place] = result[0]
            self._show(*result)

        self._start(view, "Working out the picture", work, show)

    def _start(self, view: View, words: str, work: Callable[[Report], T], show: Callable[[T], None]) -> None:
        """Compute a scene off the window's thread; show it unless another is requested by then."""

        def done(result: T) -> None:
            if self._view is view:
                show(result)

        def failed(error: Exception) -> None:
            if isinstance(error, Cancelled):
                self._show_blank("Stopped.", again=True)
            elif isinstance(error, AssayPilotError):
                self._show_blank("This picture could not be made.", again=True)
                self.session.failed.emit(error)

        self._job.start(self.session.aside(words, work, done, failed))

    def _show_pairs(self, place: int, found: Compared) -> None:
        self._compared[place] = found
        self.pairs.show_pairs(found)
        self.stack.setCurrentWidget(self.pairs)

    def _show(self, found: Look, scene: Scene) -> None:
        if found.empty and not isinstance(scene, RoundsScene):
            self._show_blank(
                f"Nothing that can be used was measured of {found.endpoint.scale_name} yet. Once values are in, this "
                "page shows what each substituent does to it.", again=False,
            )  # fmt: skip
            return
        before = self.scene
        if isinstance(scene, _MARKING):
            scene.selected = self.session.selection.compound
        self.export_button.setEnabled(True)
        self.stack.setCurrentWidget(self.area)
        self._fit(scene)
        self.canvas.show_scene(scene, new=type(before) is not type(scene))

    def _fit(self, scene: Scene) -> None:
        """Make the canvas as large as the picture may be, and no smaller than it must be."""
        least, most = scene.least(), scene.most()
        room = self.area.viewport().size()
        one = inch()
        wide = min(max(room.width(), int(one * least[0])), int(min(one * most[0], 16_000)))
        high = min(max(room.height(), int(one * least[1])), int(min(one * most[1], 16_000)))
        if self.canvas.size() != QSize(wide, high) or self.canvas.minimumWidth() != wide:
            self.canvas.setFixedSize(wide, high)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whether an event ends here: none does; the picture follows the room it has."""
        if event.type() == QEvent.Type.Resize and self.scene is not None:
            self._fit(self.scene)
        return super().eventFilter(watched, event)

    def _nothing_measured(self, view: View) -> None:
        if view is not self._now:
            self._show_blank(f"Nothing had been measured then. {self.session.replay.words}.", again=False)
            return
        if view.status.open_round is not None:
            words = f"Round {view.status.open_round.number} is with the lab. Enter its results on the Round page"
        else:
            words = "Nothing was measured yet. Plan a round, measure it and enter its results"
        self._show_blank(
            f"{words}: this page then shows which substituents matter, and where the gaps are.", again=False
        )

    def _show_blank(self, words: str, *, again: bool) -> None:
        self.empty.setText(words)
        for part in (self.heat, self.sites, self.additive):
            part.hide()
        self.again.setVisible(again)
        self.export_button.setEnabled(False)
        self.canvas.show_scene(None, new=True)
        self.stack.setCurrentIndex(1)
