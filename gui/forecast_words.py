"""What a forecast says, in the words of the Goal page and of the wizard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assaypilot.engine.campaign.phrases import many
from assaypilot.engine.text.percentages import percent

from .foresight import Foresight

if TYPE_CHECKING:
    from assaypilot.engine.figures.discovery import Discovery
    from assaypilot.engine.figures.reach import Reach
    from assaypilot.engine.simulate.forecast import Forecast, Spread

__all__ = [
    "discovery_of",
    "discovery_words",
    "expected_words",
    "forecast_lines",
    "headline",
    "how_known",
    "reach_of",
    "span",
]


def span(spread: Spread, *, more: bool = False) -> str:
    """``384 to 672``, ``384 to 9,600 or more``, ``96``."""
    open_end = " or more" if more else ""
    return f"{spread.low:,}{open_end}" if spread.low >= spread.high else f"{spread.low:,} to {spread.high:,}{open_end}"


def reach_of(name: str, found: Foresight) -> Reach:
    """The forecast as a row of the picture; only off the window's thread, because it loads matplotlib."""
    from assaypilot.engine.figures.reach import Reach

    spread = found.forecast.measurements
    return Reach(name, spread.low, spread.middle, spread.high, found.forecast.open_ended, found.budget)


def discovery_of(name: str, found: Foresight) -> Discovery:
    """The forecast as a line of the picture of what is found; only off the window's thread."""
    from assaypilot.engine.figures.discovery import Discovery

    curve = found.forecast.curve
    return Discovery(
        name,
        tuple(point.measurements for point in curve),
        tuple(point.found for point in curve),
        tuple(point.best_found for point in curve),
        found.budget,
    )


def discovery_words(found: Foresight) -> str:
    """What the picture of a forecast shows, for those who cannot see it; empty where it shows no more than figures."""
    shares = [f"{percent(point.found)} by {point.measurements:,}" for point in found.forecast.curve]
    return f" Members found: {', '.join(shares)} measurements." if shares else ""


def headline(now: Foresight | None, tried: Foresight | None) -> str:
    """What both come to: ``Now 384 to 672 measurements in all; with these settings 290 to 480.``."""
    if now is None and tried is None:
        return ""
    if tried is None:
        assert now is not None
        said = f"{_comes_to(now)}, in {_rounds(now.forecast)}."
        return said[:1].upper() + said[1:]
    if now is None:
        return f"With these settings {_comes_to(tried)}."
    same = now.forecast.measurements == tried.forecast.measurements and now.forecast.rounds == tried.forecast.rounds
    if same:
        return f"Now and with these settings {_comes_to(now)}: no difference."
    after = _comes_to(tried) if _falls_short(tried) or _falls_short(now) else _measurements(tried.forecast)
    return f"Now {_comes_to(now)}; with these settings {after}."


def forecast_lines(found: Foresight) -> list[tuple[str, str]]:
    """Captions and values, alike for any two forecasts but for what only a budget says."""
    forecast = found.forecast
    rows = [
        ("Measurements", _middle(forecast.measurements, _measurements(forecast))),
        ("Rounds", _middle(forecast.rounds, span(forecast.rounds, more=forecast.open_ended))),
    ]
    following = forecast.next_round
    if following is not None:
        first = "First decision" if not found.used else "Next decision"
        more = "more " if found.used else ""
        rows.append((first, f"after {following.measurements:,} {more}in {many(following.rounds, 'round')}"))
        if following.decided:  # the series model decides none by itself: all statuses move
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
    """What the figures stand on, and what a budget that settles nothing could be spent on instead."""
    forecast = found.forecast
    said = f" {forecast.assumed.rstrip('.')}." if forecast.assumed else ""
    return f"The ranges hold 8 times in 10, by {many(forecast.runs, 'simulated campaign')}.{said}{_instead(found)}"


def _instead(found: Foresight) -> str:
    """The strategy that decides with a budget with which nothing can be proven; empty where there is no need of it."""
    spent = found.forecast.budget
    if spent is None or not spent.decides_nothing or found.goal != "epsilon-best":
        return ""
    return (
        f" A new campaign with the strategy Epsilon-best with a fixed budget decides all within {found.budget:,} "
        "measurements, by the estimates and with a weak guarantee."
    )


def expected_words(found: Foresight) -> str:
    """What the strip says: ``384 to 672 expected in all``."""
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
    """``384 to 672 measurements in all``, or what is open when the budget is spent."""
    spent = found.forecast.budget
    if spent is None or not _falls_short(found):
        return f"{_measurements(found.forecast)} measurements in all"
    return f"the budget of {found.budget:,} leaves about {round(spent.undecided):,} undecided"
