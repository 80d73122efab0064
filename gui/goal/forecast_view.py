"""A forecast: asked for a moment after the last key, in words and as a picture."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate.foresight import Foresight
from assaypilot.engine.system.progress import Cancelled, Report
from assaypilot.engine.text import many, percent

from ..plots.canvas import Canvas
from ..resources.theme import theme
from ..runtime.tasks import Latest, single_shot
from ..session.session import Session
from ..widgets.layout import STRETCH, column_of, empty, put
from ..widgets.text import Role, button, error_words, label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from assaypilot.engine.figures.rounds import Discovery
    from assaypilot.engine.simulate.forecast import Forecast, Spread


PAUSE = 350
"""Milliseconds without a further change before the simulation starts."""
SLOW = 3.0
"""Seconds after which the line above the foot of the window shows it, with Cancel."""
KEPT = 24
"""Remembered answers: earlier settings need no new simulation."""

Ask = Callable[[Report], Foresight]


class Forecasting(QObject):
    """Forecasts what some settings will take, off the window's thread; only the latest answer is emitted."""

    known = Signal(object)
    """The Foresight of the latest request."""
    refused = Signal(object)
    """Why there is none: an AssayPilotError, or Cancelled when the user stopped it."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._job = Latest()
        self._pending: tuple[Hashable, Ask] | None = None
        self._answers: OrderedDict[Hashable, Foresight] = OrderedDict()
        self._pause = single_shot(self, PAUSE, self._start)

    @property
    def busy(self) -> bool:
        """Whether an answer is to come."""
        return self._pending is not None

    def ask(self, key: Hashable, work: Ask) -> None:
        """Request a forecast, or emit a remembered one at once; equal keys mean equal answers."""
        if self._pending is not None and self._pending[0] == key:
            return
        self.stop()
        if key in self._answers:
            self._answers.move_to_end(key)
            self.known.emit(self._answers[key])
            return
        self._pending = (key, work)
        self._pause.start()

    def stop(self) -> None:
        """Drop the answer to the pending request."""
        self._pause.stop()
        self._pending = None
        self._job.drop()

    def forget(self) -> None:
        """Forget all answers, for another campaign."""
        self.stop()
        self._answers.clear()

    def _start(self) -> None:
        if self._pending is None:
            return
        key, work = self._pending

        def landed(found: Foresight) -> None:
            self._answers[key] = found
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)
            self._pending = None
            self.known.emit(found)

        def failed(error: Exception) -> None:
            self._pending = None
            self.refused.emit(error)

        self._job.start(
            self._session.look_ahead("Simulating what it will take", work, landed, failed, shown_after=SLOW)
        )


def span(spread: Spread, *, more: bool = False) -> str:
    """``384 to 672``, ``384 to 9,600 or more``, ``96``."""
    open_end = " or more" if more else ""
    return f"{spread.low:,}{open_end}" if spread.low >= spread.high else f"{spread.low:,} to {spread.high:,}{open_end}"


def discovery_of(name: str, found: Foresight) -> Discovery:
    """Return the forecast as a line of the discovery picture; only off the window's thread."""
    from assaypilot.engine.figures.rounds import Discovery

    curve = found.forecast.curve
    return Discovery(
        name,
        tuple(point.measurements for point in curve),
        tuple(point.found for point in curve),
        tuple(point.best_found for point in curve),
        found.budget,
    )


def discovery_words(found: Foresight) -> str:
    """Return what the picture of a forecast shows, for a screen reader.

    Empty where it shows only figures.
    """
    shares = [f"{percent(point.found)} by {point.measurements:,}" for point in found.forecast.curve]
    return f" Members found: {', '.join(shares)} measurements." if shares else ""


def headline(now: Foresight | None, tried: Foresight | None) -> str:
    """Return both totals: ``Now 384 to 672 measurements in all; with these settings 290 to 480.``."""
    if now is None and tried is None:
        return ""
    if tried is None:
        assert now is not None
        text = f"{_comes_to(now)}, in {_rounds(now.forecast)}."
        return text[:1].upper() + text[1:]
    if now is None:
        return f"With these settings {_comes_to(tried)}."
    same = now.forecast.measurements == tried.forecast.measurements and now.forecast.rounds == tried.forecast.rounds
    if same:
        return f"Now and with these settings {_comes_to(now)}: no difference."
    after = _comes_to(tried) if _falls_short(tried) or _falls_short(now) else _measurements(tried.forecast)
    return f"Now {_comes_to(now)}; with these settings {after}."


def forecast_lines(found: Foresight) -> list[tuple[str, str]]:
    """Captions and values, the same for all forecasts; only a budget adds some."""
    forecast = found.forecast
    rows = [
        ("Measurements", _middle(forecast.measurements, _measurements(forecast))),
        ("Rounds", _middle(forecast.rounds, span(forecast.rounds, more=forecast.open_ended))),
    ]
    following = forecast.next_round
    if following is not None and not forecast.curve:  # under the series model every result moves the answer
        first = "First decision" if not found.used else "Next decision"
        more = "more " if found.used else ""
        rows.append((first, f"after {following.measurements:,} {more}in {many(following.rounds, 'round')}"))
        if following.decided:
            caption = f"Decided {'next' if found.used else 'first'}"
            rows.append((caption, f"about {_about(following.decided)}{_last(following.ends)}"))
    rows.append(("All decided", _decided(found)))
    if forecast.budget is not None:
        spent = forecast.budget
        if spent.decides_nothing:
            rows.append(("At the end", f"nothing settled: {_about(spent.undecided)} undecided"))
        else:
            left = f"{spent.in_:,.0f} in, {spent.out:,.0f} out, {spent.undecided:,.0f} undecided"
            rows.append(("At the end", left))
    return rows


def how_known(found: Foresight) -> str:
    """Return the basis of the figures, and a better strategy for a budget that decides nothing."""
    forecast = found.forecast
    assumed = f" {forecast.assumed.rstrip('.')}." if forecast.assumed else ""
    return f"80 % ranges from {many(forecast.runs, 'simulation')}.{assumed}{_instead(found)}"


def _instead(found: Foresight) -> str:
    """Return the strategy that decides within a budget too small for any proof.

    Empty where there is no need of it.
    """
    spent = found.forecast.budget
    if spent is None or not spent.decides_nothing or found.goal != "epsilon-best":
        return ""
    return (
        f" A new campaign with the strategy Epsilon-best with a fixed budget decides all within {found.budget:,} "
        "measurements, by the estimates and with a weak guarantee."
    )


def expected_words(found: Foresight) -> str:
    """Return the text of the strip: ``384 to 672 expected in all``."""
    return f"{_measurements(found.forecast)} expected in all"


def _measurements(forecast: Forecast) -> str:
    return span(forecast.measurements, more=forecast.open_ended)


def _rounds(forecast: Forecast) -> str:
    spread = forecast.rounds
    if spread.low >= spread.high and not forecast.open_ended:
        return many(spread.low, "round")
    return f"{span(spread, more=forecast.open_ended)} rounds"


def _middle(spread: Spread, words: str) -> str:
    return words if spread.low >= spread.high else f"{words}, about {spread.middle:,}"


def _about(compounds: float) -> str:
    return many(round(compounds), "compound")


def _decided(found: Foresight) -> str:
    share = found.forecast.decided
    often = "never" if share < 0.005 else "every time" if share > 0.995 else f"{percent(share)} of the time"
    return often if found.budget is None else f"within the budget {often}"


def _last(chance: float) -> str:
    return f"; {percent(chance)} chance to be the last" if chance > 0.005 else ""


def _falls_short(found: Foresight) -> bool:
    """Whether the budget is usually spent before all is decided."""
    return found.forecast.budget is not None and found.forecast.decided < 0.5


def _comes_to(found: Foresight) -> str:
    """``384 to 672 measurements in all``, or the number undecided when the budget is spent."""
    spent = found.forecast.budget
    if spent is None or not _falls_short(found):
        return f"{_measurements(found.forecast)} measurements in all"
    return f"the budget of {found.budget:,} leaves about {round(spent.undecided):,} undecided"


NOW, TRIED = "now", "with these settings"
PICTURE = 158
"""Pixels of the picture: room for two rows, so that nothing jumps when the second one comes."""


class Outlooks(QWidget):
    """Two forecasts side by side; the second one only while other settings are tried."""

    wanted = Signal()
    """The forecast is to be made after all."""

    def __init__(self, now: str = NOW, without: tuple[str, ...] = ()) -> None:
        """``now``: name of the first forecast; ``without``: captions that are shown elsewhere."""
        super().__init__()
        self._name, self._without = now, without
        column = column_of(holder=self, spacing=10)
        self.words = label("", wrap=True, selectable=True)
        self.canvas = Canvas("Measurements expected, now and with these settings")
        self.canvas.reserve(PICTURE, fixed=True)
        self.again = button(
            "&Simulate", tip="Plays the campaign on, many times, with simulated results", then=self.wanted
        )
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnStretch(2, 1)
        self._lines: list[tuple[str, ...]] = []
        self.known = label("", "muted", wrap=True)
        put(column, self.words, self.canvas)
        column.addWidget(self.again, 0, Qt.AlignmentFlag.AlignLeft)
        put(column, self._grid, self.known, STRETCH)
        self.now: Foresight | None = None
        self.tried: Foresight | None = None
        self.trying = False
        self._message = ""
        self._working = self._old = False
        """Whether a simulation runs, and whether the forecast shown is of other settings."""
        self._show()

    def show_now(self, found: Foresight | None) -> None:
        """Show the forecast of the campaign's settings; None while it is not known."""
        self.now, self._message, self._old = found, "", False
        self._show()

    def outdate(self) -> None:
        """Let the forecast of other settings fade until the new one is there."""
        self._old, self._message = True, ""
        self._show()

    def show_tried(self, found: Foresight | None, *, trying: bool) -> None:
        """Show the forecast of other settings; ``trying``: some are typed, with a forecast or not."""
        self.tried, self.trying, self._message = found, trying, ""
        self._show()

    def work(self, working: bool) -> None:
        """Show whether it is being simulated."""
        self._working = working
        if working:
            self._message = ""
            self.again.hide()
            self._show()

    def refuse(self, text: str, *, again: bool) -> None:
        """Show why there is no forecast; ``again``: offer to repeat it."""
        self._message, self._working = text, False
        self._show()
        self.again.setVisible(again)

    def refuse_because(self, error: Exception) -> None:
        """Show why there is no forecast: it was stopped, or it cannot be made."""
        if isinstance(error, Cancelled):
            self.refuse("Stopped; it is not known what this will take.", again=True)
            return
        words = " ".join(error_words(error)) if isinstance(error, AssayPilotError) else ""
        self.refuse(f"This cannot be forecast. {words}".strip(), again=False)

    def table(self) -> str:
        """Return the figures, tab-separated: captions, now, and with other settings where some are tried."""
        return "\n".join(map("\t".join, self._lines))

    # ------------------------------------------------------------------ inside

    def _show(self) -> None:
        now, tried = self.now, self.tried if self.trying else None
        self.again.hide()
        text = self._message or ("" if self._old else headline(now, tried))
        if not text:
            text = "Simulating…" if self._working else ""
        elif not self._message and self.trying and tried is None and now is not None:
            text = f"Now {text[:1].lower()}{text[1:]}"
        self.words.setText(text)
        self._show_rows(now, tried)
        both = ((self._name, now), (TRIED, tried))
        rows = [(name, found) for name, found in both if found is not None and found.forecast.curve]
        self.canvas.setVisible(bool(rows) and not self._old)
        if rows and not self._old:
            keeps = self.canvas.sizePolicy()
            keeps.setRetainSizeWhenHidden(True)  # the parts below do not jump with each key
            self.canvas.setSizePolicy(keeps)
            self.canvas.show_figure(partial(_drawn, tuple(rows)))
            self.canvas.setAccessibleDescription(text + discovery_words(rows[-1][1]))
        found = tried or now
        self.known.setText("" if found is None else how_known(found))

    def _show_rows(self, now: Foresight | None, tried: Foresight | None) -> None:
        left, right = ({} if one is None else dict(forecast_lines(one)) for one in (now, tried))
        captions = [one for one in dict.fromkeys((*left, *right)) if one not in self._without]
        lines: list[tuple[str, ...]] = [("", self._name, TRIED)] if self.trying and captions else []
        none = "\N{HORIZONTAL ELLIPSIS}" if self._working else "\N{EN DASH}"
        lines += [(caption, left.get(caption, none), right.get(caption, none)) for caption in captions]
        self._lines = [line if self.trying else line[:2] for line in lines]
        empty(self._grid)
        for row, line in enumerate(self._lines):
            head = row == 0 and self.trying
            for column, text in enumerate(line):
                differs = column == 2 and tried is not None and now is not None and line[1] != text
                role: Role = "muted" if head or column == 0 else "heading" if differs else ""
                one = label(text, role, wrap=column > 0, selectable=column > 0)
                one.setEnabled(column == 0 or not self._old)
                self._grid.addWidget(one, row, column, Qt.AlignmentFlag.AlignTop)
                one.show()


def _drawn(rows: tuple[tuple[str, Foresight], ...], size: tuple[float, float], dpi: float) -> Figure:
    from assaypilot.engine.figures.rounds import discovery_plot

    curves = [discovery_of(name, found) for name, found in rows]
    return discovery_plot(curves, palette=theme().colours.figure, size=size, dpi=dpi)
