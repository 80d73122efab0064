"""The settings of a campaign as fields, each with its current value, its new value and its problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QGridLayout, QWidget

from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.state import NoiseNow, Status
from assaypilot.engine.domain.desirability import Curve
from assaypilot.engine.domain.kinds import distance_unit
from assaypilot.engine.domain.noise import UNKNOWN, parse_noise
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.text import number

from ..new_campaign.goal_fields import FOLDS, RANGES
from ..new_campaign.profile_editor import ProfileEditor
from ..tables.rows import plain_tip
from ..widgets.inputs import Field, Range
from ..widgets.text import error_words, label
from .goal_changes import in_folds

WIDE = 92
"""Pixels of a field."""

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
        "max_replicates",
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
HINTS: dict[str, Callable[[float | None], str]] = {
    "delta": lambda _: "% sure",
    "per_round": lambda _: "measurements",
    "max_replicates": lambda _: "of one compound",
    "budget": lambda _: "in all",
}
OPTIONS = {f"--{key.replace('_', '-')}": key for key, *_ in LINES}
"""Which field a refusal of the engine is about."""


class Line:
    """One setting: its field, and its current value until another is typed."""

    def __init__(self, form: TermsForm, name: str, caption: str, tip: str, within: Range) -> None:
        self.caption = label(caption, "muted")
        self.field = Field(name, tip=plain_tip(tip), width=WIDE)
        # Six digits and their margins, however large the font is.
        self.field.edit.setFixedWidth(max(WIDE, QFontMetrics(self.field.font()).horizontalAdvance("0") * 9))
        self.caption.setBuddy(self.field.edit)
        self.caption.setToolTip(plain_tip(tip))
        self.now: float | None = None
        self.shown = ""
        self.hint: Callable[[float | None], str] = lambda _: ""
        self.range = within
        for widget in (self.caption, self.field):  # they go with the form, also where they are never shown
            widget.setParent(form)
            widget.hide()
        self.field.edit.textChanged.connect(lambda _: form.typed())

    @property
    def typed(self) -> bool:
        """Whether the field shows something other than the current value."""
        return self.field.text != self.shown

    def show(self, now: float | None, *, keep: bool, text: str | None = None) -> None:
        """Show the current value; ``keep``: another typed one stays; ``text``: how the value is written."""
        typed = self.typed
        self.now, self.shown = now, text if text is not None else "" if now is None else number(now)
        if not (keep and typed and self.field.text.replace(",", ".") != self.shown):
            self.field.edit.setText(self.shown)
            self.field.edit.setCursorPosition(0)  # of a text longer than the field its beginning is seen

    def read(self) -> tuple[Any, bool]:
        """Return the value, and whether it is usable; the field shows what is wrong."""
        if not self.typed:
            self.field.hint(self.hint(self.now))
            return self.now, True
        self.field.hint(self.hint(None))
        value = self.field.number(self.range)
        if not self.field.wrong:
            shown = f"{int(self.shown):,}" if self.shown.isdecimal() else self.shown
            self.field.hint("; ".join(filter(None, (self.hint(value), f"now {shown or 'no limit'}"))))
        return value, not self.field.wrong


class NoiseLine(Line):
    """The noise of an endpoint: an SD, or the word for one that is estimated on the way."""

    estimate = ""
    """The estimate of unknown noise, in words; empty for known noise."""

    def read(self) -> tuple[Any, bool]:
        """Return the stated noise, and whether it is usable."""
        if not self.typed:
            self.field.hint(self.estimate or f"SD, or {UNKNOWN}")
            return self.now, True
        if not self.field.text.casefold().startswith(UNKNOWN):
            return super().read()
        try:
            stated = parse_noise(self.field.text)
        except AssayPilotError:
            self.field.problem(f"Type {UNKNOWN}, or {UNKNOWN}:0.2 with a guess.")
            return None, False
        self.field.hint(f"estimated from replicates; now {self.shown}")
        return stated, True


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
        self._noise: dict[str, NoiseLine] = {}
        self._margins: dict[str, Line] = {}
        self._curves: tuple[Curve, ...] = ()
        """The curves of the profile; empty without one."""
        self._shown: list[Line] = []
        """The lines that apply to the goal, in the order they are shown."""
        self.profile = ProfileEditor()
        self.profile.setParent(self)
        self.profile.hide()
        self.profile.changed.connect(self.typed)
        self._unit = ""
        self._filling = False
        self._lines = {key: Line(self, name, text, tip, RANGES[key]) for key, text, name, tip in LINES}
        for key, line in self._lines.items():
            line.hint = HINTS.get(key, self._distance)
        self._lines["budget"].field.edit.setPlaceholderText("no limit")

    def field(self, name: str) -> Field:
        """Return the field of a setting, of the noise by the endpoint's name."""
        return (self._lines.get(name) or self._noise[name]).field

    def margin(self, name: str) -> Field:
        """Return the field of the difference that does not matter in an endpoint."""
        return self._margins[name].field

    @property
    def touched(self) -> bool:
        """Whether any field differs from its current value, readable or not."""
        return self._redrawn or any(line.typed for line in self._shown)

    @property
    def _redrawn(self) -> bool:
        """Whether other curves are drawn than the profile has now."""
        return bool(self._curves) and self.profile.curves() != self._curves

    # ------------------------------------------------------------------ current values

    def show_now(self, status: Status, *, opened: bool) -> None:
        """Show the settings of a campaign; typed values stay unless it is another one."""
        self._filling = True
        settings, keep = status.settings, not opened
        linked = not status.guarantee.calibrated
        self._unit = distance_unit(status.endpoints[status.objective], linked=linked)
        plain = [status.endpoints[k] for k in status.measured_endpoints if status.endpoints[k].kind == "value"]
        noisy = [one for one in plain if one.noise_sd is not None]
        margins = [status.endpoints[k] for k in status.goal_endpoints] if status.margins else []
        if opened or list(self._noise) != [one.name for one in noisy] or len(self._margins) != len(margins):
            for line in (*self._noise.values(), *self._margins.values()):
                self._take_out(line)
            self._noise = {one.name: self._noise_line(one.scale_name, several=len(noisy) > 1) for one in noisy}
            self._margins = {one.name: self._margin_line(one.scale_name) for one in margins}
        redrawn = self._redrawn and keep
        self._curves = tuple(curve for one in status.endpoints for curve in one.curves)
        if self._curves:
            entered = [status.endpoints[place] for place in status.entered_endpoints]
            values = [
                replace(m.entered, endpoint=status.endpoints[m.endpoint].name) for m in status.measurements if m.usable
            ]
            self.profile.offer(entered, values, status.library.smiles)
            self.profile.draw()
            if not redrawn:
                self.profile.show_curves(self._curves)
        now = {
            "epsilon": settings.distance if settings.goal == "epsilon-best" else None,
            "slack": settings.softness if settings.goal != "pareto" else None,
            "delta": round(100 * (1 - settings.delta), 10),
            "per_round": settings.per_round,
            "max_replicates": settings.max_replicates,
            "budget": settings.budget,
        }
        self._lay_out([key for key in now if key == "budget" or now[key] is not None])
        self.setFocusProxy(self._shown[0].field.edit)
        for name, line in self._lines.items():
            line.show(now[name], keep=keep)
        estimated: dict[str, list[NoiseNow]] = {}
        for each in status.noise:
            estimated.setdefault(status.endpoints[each.endpoint].name, []).append(each)
        for one in noisy:
            line = self._noise[one.name]
            line.estimate = "; ".join(_estimated(here) for here in estimated.get(one.name, ()))
            line.show(one.noise_sd, keep=keep, text=UNKNOWN if one.noise_estimated else None)
        for one, value in zip(margins, status.margins, strict=True):
            self._margins[one.name].show(value, keep=keep)
        self._filling = False
        self.read()

    def reset(self) -> None:
        """Show the current value in every field."""
        self._filling = True
        for line in self._shown:
            line.field.edit.setText(line.shown)
        self.profile.show_curves(self._curves)
        self._filling = False
        self.typed()

    def read(self) -> Change | None:
        """Return what is typed otherwise; None where a value is unusable, with the reason at its field."""
        read = {key: line.read() for key, line in self._lines.items() if line in self._shown}
        epsilon, slack = read.get("epsilon", (None, True))[0], self._lines["slack"]
        slack.field.edit.setPlaceholderText("" if epsilon is None else number(epsilon / 2))
        if "slack" in read and read["slack"] == (None, True):
            read["slack"] = ((epsilon or 0.0) / 2, True)
        each: dict[str, Any] = {}
        for kind, lines in (("noise", self._noise), ("margins", self._margins)):
            own = {name: line.read() for name, line in lines.items()}
            read |= {f"{kind} of {name}": found for name, found in own.items()}
            each[kind] = {name: value for name, (value, _) in own.items() if value != lines[name].now}
        curves = self.profile.curves() if self._curves else ()
        if curves is None or not all(usable for _, usable in read.values()):
            return None
        given: dict[str, Any] = {key: read[key][0] for key in self._lines if key in read}
        given = {key: value for key, value in given.items() if value != self._lines[key].now}
        for key, value in given.items():
            given[key] = value if value is None or not RANGES[key].whole else int(value)
        if "delta" in given:
            given["delta"] = round(1 - given["delta"] / 100, 12)
        return Change(**given, **each, curves=curves if curves != self._curves else ())

    def refuse(self, error: AssayPilotError) -> bool:
        """Whether a refusal concerns one of the fields, which then shows it."""
        line: Line | None = self._lines.get(OPTIONS.get(error.option or "", ""))
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
        made = NoiseLine(self, name, "Assay noise", f"{name}: {tip}", Range(above=0.0))
        if several:
            made.caption.setText(f"SD of {_short(made, scale, 17)}")
        made.hint = lambda _: "SD"
        return made

    def _margin_line(self, scale: str) -> Line:
        name = f"Difference in {scale} that does not matter"
        tip = f"{name}: compounds that differ by no more are as good as equal here. {FOLDS}"
        made = Line(self, name, "", tip, Range(above=0.0))
        made.caption.setText(f"Equal in {_short(made, scale, 15)}")
        made.hint = lambda _: "or less"
        return made

    def _take_out(self, line: Line) -> None:
        for widget in (line.caption, line.field):
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()

    def _lay_out(self, keys: list[str]) -> None:
        """Show the lines of settings with these keys, those of margins before them, those of noise in between."""
        tolerances = [self._lines[key] for key in keys if key in ("epsilon", "slack", "delta")]
        others = [self._lines[key] for key in keys if key not in ("epsilon", "slack", "delta")]
        self._shown = [*self._margins.values(), *tolerances, *self._noise.values(), *others]
        for line in self._lines.values():
            if line not in self._shown:
                line.caption.hide()
                line.field.hide()
        before: QWidget | None = None
        for place, line in enumerate(self._shown):
            self._grid.addWidget(line.caption, place, 0)
            self._grid.addWidget(line.field, place, 1)
            line.caption.show()
            line.field.show()
            if before is not None:
                QWidget.setTabOrder(before, line.field.edit)
            before = line.field.edit
        self.profile.setVisible(bool(self._curves))
        if self._curves:
            self._grid.addWidget(self.profile, len(self._shown), 0, 1, 2)

    def typed(self) -> None:
        """Emit that something was typed."""
        if not self._filling:
            self.changed.emit()


def _short(line: Line, text: str, letters: int) -> str:
    """Return a text cut in its middle, so that it has the width of so many letters in a caption."""
    font = QFontMetrics(line.caption.font())
    return font.elidedText(text, Qt.TextElideMode.ElideMiddle, letters * font.averageCharWidth())


def _estimated(now: NoiseNow) -> str:
    """Return the estimate of unknown noise, in a few words."""
    if now.sd is None:
        return "no replicates yet"
    if not now.freedom:
        return f"estimated {now.sd:.2g}"
    most = f"at most {now.used:.2g} is used" if isfinite(now.used) else "too few replicates yet"
    return f"estimated {now.sd:.2g}, {most}"
