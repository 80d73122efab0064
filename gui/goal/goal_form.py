"""The settings of a campaign as fields, each with its current value, its new value and its problem."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QGridLayout, QWidget

from assaypilot.engine.campaign.state import NoiseNow, Status
from assaypilot.engine.domain.kinds import distance_unit
from assaypilot.engine.domain.noise import UNKNOWN, StatedNoise
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.text import number

from ..new_campaign.goal_fields import FOLDS, RANGES
from ..new_campaign.profile_editor import ProfileEditor
from ..widgets.inputs import Field
from ..widgets.text import error_words
from .goal_changes import Line, NoiseLine, Terms, in_folds

_MIDDLE = Qt.TextElideMode.ElideMiddle
OPTIONS = {
    "--epsilon": "epsilon",
    "--slack": "slack",
    "--delta": "delta",
    "--per-round": "per_round",
    "--max-replicates": "replicates",
    "--budget": "budget",
}
"""Which field a refusal of the engine is about."""


LINES = (
    (
        "epsilon",
        "All within",
        "Within how much of the best",
        f"How far from the best a compound may be and still count. A wider distance asks for less. {FOLDS}",
    ),
    (
        "slack",
        "Soft zone",
        "Soft zone",
        "Compounds this much beyond may end up in or out. It is what makes a campaign affordable: half as wide takes "
        f"about four times as many measurements. {FOLDS}",
    ),
    (
        "delta",
        "Confidence",
        "Confidence in percent",
        "How sure the whole answer is to be right. Less takes somewhat fewer measurements.",
    ),
    (
        "per_round",
        "Per round",
        "Measurements per round",
        "Measurements the lab takes at once, of all endpoints together. It changes the number of rounds more than that "
        "of measurements.",
    ),
    (
        "replicates",
        "Replicates",
        "Most of one compound in a round",
        "Measurements of one endpoint of one compound in one round, at most",
    ),
    (
        "budget",
        "Budget",
        "Budget",
        "Measurements in all, of all endpoints together; empty: no limit. The forecast shows what it can decide.",
    ),
)
"""Key, caption, name for a screen reader, and help of every setting except the noise."""


class TermsForm(QWidget):
    """The fields that apply to the goal of a campaign."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(1, 1)
        self._lines: dict[str, Line] = {}
        self._noise: dict[str, NoiseLine] = {}
        self._margins: dict[str, Line] = {}
        self._now: Terms | None = None
        self.profile = ProfileEditor()
        self.profile.setParent(self)
        self.profile.hide()
        self.profile.changed.connect(self._typed)
        self._unit = ""
        self._filling = False
        for key, caption, name, tip in LINES:
            self._lines[key] = self._connected(Line(name, caption, tip))
            self._lines[key].range = RANGES[key]
        self._lines["delta"].hint = lambda _: "% sure"
        self._lines["per_round"].hint = lambda _: "measurements"
        self._lines["replicates"].hint = lambda _: "of one compound"
        self._lines["budget"].hint = lambda _: "in all"
        self._lines["budget"].field.edit.setPlaceholderText("no limit")
        self._lines["epsilon"].hint = self._distance
        self._lines["slack"].hint = self._distance

    def _connected(self, made: Line) -> Line:
        for widget in (made.caption, made.field):  # they go with the form, also where they are never shown
            widget.setParent(self)
            widget.hide()
        made.field.edit.textChanged.connect(lambda _: self._typed())
        return made

    def field(self, name: str) -> Field:
        """Return the field of a setting, of the noise by the endpoint's name."""
        return (self._lines.get(name) or self._noise[name]).field

    def margin(self, name: str) -> Field:
        """Return the field of the difference that does not matter in an endpoint."""
        return self._margins[name].field

    @property
    def touched(self) -> bool:
        """Whether any field differs from its current value, readable or not."""
        return self._redrawn or any(line.typed for line in self._shown())

    @property
    def _redrawn(self) -> bool:
        """Whether other curves are drawn than the profile has now."""
        return self._now is not None and bool(self._now.curves) and self.profile.curves() != self._now.curves

    # ------------------------------------------------------------------ current values

    def show_now(self, status: Status, *, opened: bool) -> None:
        """Show the settings of a campaign; typed values stay unless it is another one."""
        self._filling = True
        now = Terms.of(status)
        scales = {one.name: one.scale_name for one in status.endpoints}
        linked = not status.guarantee.calibrated
        self._unit = distance_unit(status.endpoints[status.objective], linked=linked)
        if opened or list(self._noise) != [name for name, _ in now.noise] or len(self._margins) != len(now.margins):
            for line in (*self._noise.values(), *self._margins.values()):
                self._take_out(line)
            several = len(now.noise) > 1
            self._noise = {name: self._noise_line(scales[name], several=several) for name, _ in now.noise}
            self._margins = {name: self._margin_line(scales[name]) for name, _ in now.margins}
        redrawn = self._redrawn and not opened
        self._now = now
        if now.curves:
            entered = [status.endpoints[place] for place in status.entered_endpoints]
            values = [
                replace(m.entered, endpoint=status.endpoints[m.endpoint].name) for m in status.measurements if m.usable
            ]
            self.profile.offer(entered, values, status.library.smiles)
            self.profile.draw()
            if not redrawn:
                self.profile.show_curves(now.curves)
        self._lay_out()
        self.setFocusProxy(self._shown()[0].field.edit)
        texts = {
            "epsilon": _text(now.epsilon),
            "slack": _text(now.slack),
            "delta": number(round(100 * (1 - now.delta), 10)),
            "per_round": str(now.per_round),
            "replicates": str(now.replicates),
            "budget": _text(now.budget),
        }
        wanted = self.read() if not opened else None
        for name, line in self._lines.items():
            same = wanted is not None and getattr(wanted, name) == getattr(now, name)
            line.show(texts[name], keep=not opened and not same)
        estimated: dict[str, list[NoiseNow]] = {}
        for one in status.noise:
            estimated.setdefault(status.endpoints[one.endpoint].name, []).append(one)
        for name, stated in now.noise:
            self._noise[name].estimate = "; ".join(_estimated(here) for here in estimated.get(name, ()))
            tried_noise = {} if wanted is None else dict(wanted.noise)
            text = stated.text if isinstance(stated, StatedNoise) else _text(stated)
            self._noise[name].show(text, keep=not opened and tried_noise.get(name) != stated)
        tried = {} if wanted is None else dict(wanted.margins)
        for name, value in now.margins:
            self._margins[name].show(_text(value), keep=not opened and tried.get(name) != value)
        self._filling = False
        self.read()

    def reset(self) -> None:
        """Show the current value in every field."""
        self._filling = True
        for line in self._shown():
            line.field.edit.setText(line.shown)
        if self._now is not None:
            self.profile.show_curves(self._now.curves)
        self._filling = False
        self._typed()

    def read(self) -> Terms | None:
        """Return the settings typed; None where one is unusable, with the reason at its field."""
        now = self._now
        if now is None:
            return None
        values: dict[str, float | None] = {}
        good = True
        for name in ("epsilon", "slack", "delta", "per_round", "replicates", "budget"):
            line, before = self._lines[name], getattr(now, name)
            if name in ("epsilon", "slack") and before is None:
                values[name] = None
                continue
            if name == "slack":
                epsilon = values["epsilon"]
                line.field.edit.setPlaceholderText("" if epsilon is None else _text(epsilon / 2))
            values[name], usable = line.read(100 * (1 - before) if name == "delta" else before)
            good &= usable
            if name == "slack" and values[name] is None:
                values[name] = (values["epsilon"] or 0.0) / 2
        stated = [(name, *self._noise[name].read_noise(before)) for name, before in now.noise]
        noise, fine = tuple((name, value) for name, value, _ in stated), all(usable for *_, usable in stated)
        margins, even = _read_each(self._margins, now.margins)
        curves = self.profile.curves() if now.curves else ()
        if not (good and fine and even) or curves is None:
            return None
        percent = values["delta"]
        assert percent is not None
        unchanged = not self._lines["delta"].typed
        return replace(
            now,
            epsilon=values["epsilon"],
            slack=values["slack"],
            delta=now.delta if unchanged else round(1 - percent / 100, 12),
            noise=noise,
            margins=margins,
            curves=curves,
            per_round=int(values["per_round"] or 0),
            replicates=int(values["replicates"] or 0),
            budget=None if values["budget"] is None else int(values["budget"]),
        )

    def refuse(self, error: AssayPilotError) -> bool:
        """Whether a refusal concerns one of the fields, which then shows it."""
        name = OPTIONS.get(error.option or "")
        line = None if name is None else self._lines[name]
        if error.option == "--sd":
            line = next((one for one in self._noise.values() if one.typed), None)
        if line is None or not line.typed:
            return False
        line.field.problem(" ".join(error_words(error)).strip())
        return True

    # ------------------------------------------------------------------ inside

    def _distance(self, value: float | None) -> str:
        """Return the unit of a distance, and the distance as a factor."""
        return in_folds(value, self._unit)

    def _noise_line(self, scale: str, *, several: bool) -> NoiseLine:
        name = f"Assay noise (SD) of {scale}"
        tip = (
            "between independent measurements of one compound. Half the noise asks for about a quarter as many. "
            f"Type {UNKNOWN} to estimate it from replicates, which takes more of them."
        )
        made = NoiseLine(name, f"{name}: {tip}")
        if several:
            font = QFontMetrics(made.caption.font())
            made.caption.setText(f"SD of {font.elidedText(scale, _MIDDLE, 17 * font.averageCharWidth())}")
        else:
            made.caption.setText("Assay noise")
        made.hint = lambda _: "SD"
        self._connected(made)
        return made

    def _margin_line(self, scale: str) -> Line:
        name = f"Difference in {scale} that does not matter"
        made = Line(name, "", f"{name}: compounds that differ by no more are as good as equal here. {FOLDS}")
        font = QFontMetrics(made.caption.font())
        made.caption.setText(f"Equal in {font.elidedText(scale, _MIDDLE, 15 * font.averageCharWidth())}")
        made.hint = lambda _: "or less"
        return self._connected(made)

    def _take_out(self, line: Line) -> None:
        for widget in (line.caption, line.field):
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()

    def _shown(self) -> list[Line]:
        """Return the lines that apply to the goal, in the order they are shown."""
        now = self._now
        if now is None:
            return []
        tolerances = [name for name in ("epsilon", "slack") if getattr(now, name) is not None]
        return [
            *self._margins.values(),
            *(self._lines[name] for name in (*tolerances, "delta")),
            *self._noise.values(),
            *(self._lines[name] for name in ("per_round", "replicates", "budget")),
        ]

    def _lay_out(self) -> None:
        shown = self._shown()
        for line in self._lines.values():
            if line not in shown:
                line.caption.hide()
                line.field.hide()
        before: QWidget | None = None
        for place, line in enumerate(shown):
            self._grid.addWidget(line.caption, place, 0)
            self._grid.addWidget(line.field, place, 1)
            line.caption.show()
            line.field.show()
            if before is not None:
                QWidget.setTabOrder(before, line.field.edit)
            before = line.field.edit
        drawn = self._now is not None and bool(self._now.curves)
        self.profile.setVisible(drawn)
        if drawn:
            self._grid.addWidget(self.profile, len(shown), 0, 1, 2)

    def _typed(self) -> None:
        if not self._filling:
            self.changed.emit()


def _estimated(now: NoiseNow) -> str:
    """Return the estimate of unknown noise, in a few words."""
    if now.sd is None:
        return "no replicates yet"
    if not now.freedom:
        return f"estimated {now.sd:.2g}"
    most = f"at most {now.used:.2g} is used" if isfinite(now.used) else "too few replicates yet"
    return f"estimated {now.sd:.2g}, {most}"


def _read_each(
    lines: dict[str, Line], now: tuple[tuple[str, float], ...]
) -> tuple[tuple[tuple[str, float], ...], bool]:
    """Return the number of each endpoint, and whether all can be used."""
    read = [(name, before, *lines[name].read(before)) for name, before in now]
    values = tuple((name, before if value is None else value) for name, before, value, _ in read)
    return values, all(usable for *_, usable in read)


def _text(value: float | None) -> str:
    return "" if value is None else number(value)
