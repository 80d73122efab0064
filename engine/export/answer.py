"""The picture of a campaign's answer that fits its goal: ranked intervals, or a front of two endpoints.

One for all: reports, slides and the window show the same, the window with one compound ringed and its own colours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from ..arrays import Flags, Floats
from ..campaign.state import Status
from ..figures.palette import LIGHT, Palette
from ..text import intervals_are, percent
from .measured import measured_means

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..figures.front import Axis, Spread
    from ..figures.ranked import Ranking, Spans


Shape = tuple[float, float]
Ends = tuple[float, float, float, float]
"""Between which the axes of a picture run: left, right, bottom, top."""
Frame = tuple[float, float, float, float]
"""The visible part of a picture's data: left, right, bottom, top; of a ranking the first two, ranks, count."""
Colours = Callable[[], Palette]

_MARKS = "Filled circles are in, diamonds undecided, hollow circles out."


def _light() -> Palette:
    return LIGHT


def picture_of(status: Status, selected: int | None = None, colours: Colours = _light) -> Picture:
    """Return the picture of a campaign's candidates, one of them ringed; ``colours`` is called at every drawing."""
    kind = RankedPicture if len(status.goal_endpoints) == 1 else FrontPicture
    return kind(status, selected, colours)


def around(moments: Iterable[Ends | None]) -> Ends | None:
    """Return fixed ends of axes that cover several moments of a campaign; None for none."""
    known = np.array([ends for ends in moments if ends is not None])
    if not known.size:
        return None
    least, most = known.min(axis=0), known.max(axis=0)
    return (float(least[0]), float(most[1]), float(least[2]), float(most[3]))


class Picture(ABC):
    """How to draw the candidates, on any thread, and which compound is where in what was drawn."""

    def __init__(self, status: Status, selected: int | None, colours: Colours) -> None:
        self.status, self.selected, self.colours = status, selected, colours
        self.within: Ends | None = None
        """The ends of the axes, where they are not to follow from what is drawn."""

        self.only: Flags | None = None
        """The compounds to draw; None: all."""
        self.frame: Frame | None = None
        """The part zoomed or moved to; None: the default for the data."""
        self.steady = False
        """Whether it stays where it is when another compound is selected."""
        self.view: Ranking | Spread | None = None
        """The view that was drawn last."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Description of the picture for people who do not see it."""

    def framed(self, frame: Frame | None, compound: int) -> Frame | None:
        """Return the frame moved to a compound where that is outside; unchanged otherwise."""
        return frame

    def zoomed(self, frame: Frame | None, x: float, y: float, factor: float) -> Frame | None:
        """Return the frame after zooming about a place of the data; ``factor`` below 1 shows less."""
        return frame

    def panned(self, frame: Frame | None, dx: float, dy: float) -> Frame | None:
        """Return the frame moved by so much of the data."""
        return frame

    def _shown_estimates(self, estimates: Floats) -> Floats:
        """Return the estimates, NaN for compounds that are not to be drawn."""
        return estimates if self.only is None else np.where(self.only, estimates, np.nan)

    @abstractmethod
    def draw(self, size: Shape, dpi: float) -> Figure:
        """Return the figure."""

    def near(self, x: float, y: float, reach: Shape) -> int | None:
        """Return the compound at a place of the data, or within ``reach`` of it; None before anything was drawn."""
        return None if self.view is None else self.view.near(x, y, reach)

    def place(self, compound: int, x: float) -> tuple[float, float] | None:
        """Return the place of a compound, the nearest to ``x`` of several; None where it is not drawn."""
        return None if self.view is None else self.view.place(compound, x)

    @property
    def along(self) -> list[int]:
        """The compounds drawn, as they follow each other from left to right."""
        return [] if self.view is None else self.view.along.tolist()

    @property
    def compounds(self) -> list[int]:
        """The compounds drawn."""
        return [] if self.view is None else self.view.compounds.tolist()

    def ends(self) -> Ends | None:
        """Return the ends of its axes as they follow from what is drawn; None where nothing is, or they do not."""
        return None

    @property
    def caption(self) -> str:
        """Description in a sentence or two; empty while nothing is drawn."""
        return self._caption() if np.isfinite(self._matrices()[0]).all(axis=0).any() else ""

    @abstractmethod
    def _caption(self) -> str: ...

    def _names(self) -> list[str]:
        return [self.status.endpoints[place].scale_name for place in self.status.goal_endpoints]

    def _axes(self) -> list[Axis]:
        from ..figures.front import Axis

        made = []
        for place in self.status.goal_endpoints:
            endpoint = self.status.endpoints[place]
            above = bool(np.isfinite(endpoint.highest))
            edge = None if endpoint.limit is None else float(endpoint.highest if above else endpoint.lowest)
            made.append(Axis(endpoint.scale_name, endpoint.sign, edge, endpoint.limit_text, above))
        return made

    def _matrices(self) -> tuple[Floats, Floats, Floats]:
        """Estimates, lower and upper bounds of the goal's endpoints, ``(n_endpoints, n)``."""
        known = self.status.candidates
        names = [self.status.endpoints[place].name for place in self.status.goal_endpoints]
        parts = (known.estimates, known.lows, known.highs)
        first, low, high = (np.array([part[name] for name in names]) for part in parts)
        return first, low, high


_FEWEST, _MOST = 5, 400
"""Compounds of a ranking shown at least and at most."""


class RankedPicture(Picture):
    """Intervals by rank, with the cutoff."""

    @property
    def _ranking(self) -> Ranking | None:
        return cast("Ranking | None", self.view)

    @property
    def name(self) -> str:
        """What it shows."""
        return "Compounds ranked by estimate, with intervals and the cutoff"

    def _caption(self) -> str:
        status = self.status
        best = "best" if status.endpoints[status.objective].sign > 0 else "lowest"
        these = intervals_are(status.guarantee.kind, decided=bool(status.phases_decided))
        return f"Compounds by estimated {self._names()[0]}, the {best} first, with {these}. {_MARKS}"

    def ends(self) -> Ends | None:
        """Those of the best compounds."""
        from ..figures.ranked import Cutoff, rank_compounds, ranked_ends

        known, sign = self.status.candidates, self.status.endpoints[self.status.objective].sign
        ranking = rank_compounds(known.estimate, known.status, sign=sign)
        if not ranking.total:
            return None
        return ranked_ends(ranking, self._spans(), Cutoff(known.cutoff, known.soft_cutoff))

    def framed(self, frame: Frame | None, compound: int) -> Frame | None:
        """Return the ranks around a compound where it is not among those drawn."""
        ranking = self._ranking
        if ranking is None or not ranking.total or ranking.place(compound) is not None:
            return frame
        rank = self._rank(compound)
        if rank is None:
            return frame
        wide = ranking.compounds.size
        return self._within(rank - wide // 2, wide)

    def _rank(self, compound: int) -> int | None:
        """Return the rank of a compound among those that are drawn somewhere, from 1."""
        known, sign = self.status.candidates, self.status.endpoints[self.status.objective].sign
        estimates = -sign * self._shown_estimates(known.estimate)
        own = estimates[compound]
        if not np.isfinite(own):
            return None
        before = np.count_nonzero(estimates < own) + np.count_nonzero(estimates[:compound] == own)
        return int(before) + 1

    def zoomed(self, frame: Frame | None, x: float, y: float, factor: float) -> Frame | None:
        """Return the ranks shown after zooming about rank ``x``."""
        ranking = self._ranking
        if ranking is None or not ranking.total:
            return frame
        before = ranking.compounds.size
        wide = int(np.clip(round(before * factor), _FEWEST, _MOST))
        if wide == before and factor > 1:
            wide = min(before + 1, _MOST)
        share = (x - ranking.first) / max(before - 1, 1)
        return self._within(round(x - share * (wide - 1)), wide)

    def panned(self, frame: Frame | None, dx: float, dy: float) -> Frame | None:
        """Return the ranks shown after moving by ``dx`` of them."""
        ranking = self._ranking
        if ranking is None or not ranking.total:
            return frame
        return self._within(ranking.first + round(dx), ranking.compounds.size)

    def _within(self, first: int, wide: int) -> Frame:
        total = 0 if self._ranking is None else self._ranking.total
        wide = min(wide, total)
        first = min(max(first, 1), total - wide + 1)
        return (float(first), float(first + wide - 1), 0.0, 0.0)

    def _bounds(self) -> tuple[Floats, Floats] | None:
        """Return the upper and lower bounds of compounds whose values are known only as bounds.

        None where there are none.
        """
        known, name = self.status.candidates, self.status.endpoints[self.status.objective].name
        if name not in known.under and name not in known.over:
            return None
        nothing, alone = np.full(len(known.estimate), np.nan), known.measured_of[name] == 0
        under, over = (np.where(alone, limits.get(name, nothing), np.nan) for limits in (known.under, known.over))
        return under, over

    def _spans(self) -> Spans:
        from ..figures.ranked import Spans as Drawn

        known = self.status.candidates
        return Drawn(
            known.estimate,
            known.low,
            known.high,
            known.status,
            (known.posterior_low, known.posterior_high),
            self._bounds(),
            self._measured(),
        )

    def _measured(self) -> Floats:
        """Return the measured means, ``(n,)``; NaN where there is none."""
        found = np.full(len(self.status.candidates.estimate), np.nan)
        for compound, one in measured_means(self.status, self.status.objective).items():
            found[compound] = np.nan if one.mean is None else one.mean
        return found

    def draw(self, size: Shape, dpi: float) -> Figure:
        """Return the figure."""
        from ..figures.ranked import Cutoff, rank_compounds, ranked_intervals

        status = self.status
        known, settings = status.candidates, status.settings
        endpoint = status.endpoints[status.objective]
        unit = f" {endpoint.scale_unit}" if endpoint.scale_unit else ""
        best = "lowest" if endpoint.sign < 0 else "best"
        near = settings.distance if settings.goal == "epsilon-best" else 0.0
        where = f"the estimate of the last of {settings.top}" if settings.goal == "top" else f"the {best} estimate"
        window = None if self.frame is None else (round(self.frame[0]), round(self.frame[1]))
        ranking = self.view = rank_compounds(
            self._shown_estimates(known.estimate),
            known.status,
            sign=endpoint.sign,
            selected=None if self.steady else self.selected,
            window=window,
        )
        return ranked_intervals(
            ranking,
            self._spans(),
            Cutoff(
                known.cutoff,
                known.soft_cutoff,
                f"within {near:g}{unit} of the {best} estimate" if near else where,
                f"soft zone {settings.softness:g}",
            ),
            quantity=endpoint.scale_name,
            selected=self.selected,
            ends=self.within if ranking.first == 1 and window is None else None,
            palette=self.colours(),
            size=size,
            dpi=dpi,
        )


class FrontPicture(Picture):
    """The first two endpoints of the goal against each other; where these are all, the front and its region."""

    @property
    def name(self) -> str:
        """What it shows."""
        against = " against ".join(self._names()[:2])
        return f"{against}, with the front and the region it lies in" if self._whole else against

    @property
    def _whole(self) -> bool:
        """Whether the goal is about no third endpoint."""
        return len(self.status.goal_endpoints) == 2

    def _caption(self) -> str:
        names = self._names()
        if not self._whole:
            return (
                f"Every compound by its estimated {names[0]} and {names[1]}; {' and '.join(names[2:])} "
                f"{'counts' if len(names) == 3 else 'count'}, too, and cannot be seen here. {_MARKS}"
            )
        return (
            f"Every compound by its estimated {' and '.join(self._names())}, with the front through the best "
            f"trade-offs and the region it lies in. {_MARKS}"
        )

    def ends(self) -> Ends | None:
        """Those of all compounds that have both estimates."""
        view = self._spread()
        return view.ends if view.compounds.size else None

    def zoomed(self, frame: Frame | None, x: float, y: float, factor: float) -> Frame | None:
        """Return the ends of the axes after zooming about a place."""
        left, right, bottom, top = frame or self.within or self.ends() or (0.0, 1.0, 0.0, 1.0)
        return (
            x + (left - x) * factor,
            x + (right - x) * factor,
            y + (bottom - y) * factor,
            y + (top - y) * factor,
        )

    def panned(self, frame: Frame | None, dx: float, dy: float) -> Frame | None:
        """Return the ends of the axes after moving."""
        left, right, bottom, top = frame or self.within or self.ends() or (0.0, 1.0, 0.0, 1.0)
        return (left + dx, right + dx, bottom + dy, top + dy)

    def _spread(self) -> Spread:
        from ..figures.front import spread

        marks = [axis.limit for axis in self._axes()[:2]]
        return spread(*self._matrices(), self.status.candidates.status, marks=marks)

    def _matrices(self) -> tuple[Floats, Floats, Floats]:
        """Those of the first two endpoints."""
        estimates, low, high = (part[:2] for part in super()._matrices())
        return np.array([self._shown_estimates(row) for row in estimates]), low, high

    def draw(self, size: Shape, dpi: float) -> Figure:
        """Return the figure."""
        from ..figures.front import front_plot

        axes, promise = self._axes(), self.status.guarantee
        sure = f"the true front lies in here, {percent(1 - promise.delta, 6)} sure"
        if not promise.holds:
            sure = "where the bounds put the front, without a guarantee"
        ends = self.within if self.frame is None else self.frame
        self.view = self._spread() if ends is None else replace(self._spread(), ends=ends)
        return front_plot(
            self.view, (axes[0], axes[1]), selected=self.selected, band_text=sure if self._whole else None,
            palette=self.colours(), size=size, dpi=dpi,
        )  # fmt: skip
