"""The columns of a round, with a cell for each measurement, and which value belongs into which cell."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication

from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.kinds import yes_of
from assaypilot.engine.domain.measurements import Measurement
from assaypilot.engine.export.shortlist import decimals_of
from assaypilot.engine.tables.entries import shown as shown_number

from ..library.library_rows import id_column, site_columns, structure_column
from ..resources.theme import theme
from ..tables.rows import Column, numbers, two_lines, words

if TYPE_CHECKING:
    from assaypilot.engine.campaign.issued_rounds import RoundItem
    from assaypilot.engine.campaign.state import Status
    from assaypilot.engine.domain.plates import Layout

    from .round_rows import RoundModel


MOST_SLOTS = 64
"""Cells of one line and endpoint; a replicate with a higher number takes the first free one."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The content of one cell."""

    kept: Measurement | None = None
    """The measurement that is in use here."""
    within: Measurement | None = None
    """A mean in an earlier cell that includes this measurement."""
    excluded: tuple[Measurement, ...] = ()
    """Those that stood here and were left out; another one can be typed in their place."""

    @property
    def empty(self) -> bool:
        """Whether it contains no used value."""
        return self.kept is None and self.within is None

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """All that were entered here, those left out first."""
        return self.excluded if self.kept is None else (*self.excluded, self.kept)


EMPTY = Slot()


def is_late(one: Measurement, shown: Round) -> bool:
    """Whether a measurement belongs to a round, but came in after that was closed."""
    return one.entered.round == shown.number != one.round


def of_round(one: Measurement, shown: Round) -> bool:
    """Whether the list of a round contains a measurement: one that came during it, or belongs to it.

    One that came during this round, but belongs to an earlier one decided without it, is in that one's list.
    """
    if one.withdrawn or one.round == 0:
        return False
    elsewhere = one.entered.round not in (None, shown.number) and not one.counted
    return is_late(one, shown) or (one.round == shown.number and not elsewhere)


def fill_slots(values: Sequence[Measurement], shown: Round, requested: int) -> list[Slot]:
    """Return the cells of one line and endpoint: one for each requested measurement, more where more came.

    A value with a replicate goes into that cell, any other into the first that is free; a mean of several
    covers as many of the requested cells. An excluded value leaves its cell to the next one.
    """
    slots: list[Slot] = [EMPTY] * requested
    for one in sorted(values, key=lambda one: (_named(one, shown) is None, one.number)):
        at = _place(one, slots, _named(one, shown))
        slots += [EMPTY] * (at + 1 - len(slots))
        if one.excluded is not None:
            slots[at] = replace(slots[at], excluded=(*slots[at].excluded, one))
            continue
        slots[at] = replace(slots[at], kept=one)
        for further in range(at + 1, min(at + one.n, requested)):
            if slots[further].empty:
                slots[further] = replace(slots[further], within=one)
    return slots


def _place(one: Measurement, slots: Sequence[Slot], named: int | None) -> int:
    """Return the cell of a value: the one it names, else the first where nothing was, else one that was left."""
    if named is not None and (one.excluded is not None or named >= len(slots) or slots[named].empty):
        return named
    untouched = (n for n, slot in enumerate(slots) if slot.empty and not slot.excluded)
    left = (n for n, slot in enumerate(slots) if slot.empty)
    return next(untouched, next(left, len(slots)))


def _named(one: Measurement, shown: Round) -> int | None:
    """Return the cell that a value names by its replicate."""
    text = one.entered.replicate.strip()
    if one.entered.round != shown.number or not (text.isascii() and text.isdigit()):
        return None
    return int(text) - 1 if 1 <= int(text) <= MOST_SLOTS else None


def mean_text(values: Sequence[Measurement], endpoint: Endpoint) -> str:
    """``7.47 (n = 2, SD 0.03)`` of the values in use, the mean of potencies by their logarithms; empty without any."""
    used = [one for one in values if one.excluded is None and not one.withdrawn]
    if endpoint.kind == "yes-no" and used:
        n = sum(one.n for one in used)
        return f"{round(sum(one.n * one.value for one in used)):,} of {n:,} {yes_of(endpoint)}"
    found = shown_number([(one.relation, one.value) for one in used], [one.n for one in used]) if used else ()
    if not found:
        return ""
    n = sum(one.n for one in used)
    scale = "" if endpoint.transform == "none" else f"{endpoint.scale_name} "
    numbers = " ".join(f"{'' if relation == '=' else relation}{value:.2f}" for relation, value in found)
    exact = [one for one in used if one.relation == "="]
    spread = _spread(exact, endpoint)
    return f"{scale}{numbers} (n = {n}{'' if spread is None else f', SD {spread:.2f}'})"


def _spread(exact: Sequence[Measurement], endpoint: Endpoint) -> float | None:
    """Return the SD of single values, of means within and between; None when it is not known."""
    n = sum(one.n for one in exact)
    if n < 2 or any(one.n > 1 and one.entered.sd is None for one in exact):
        return None
    mean = sum(one.n * one.value for one in exact) / n
    total = 0.0
    for one in exact:
        total += one.n * (one.value - mean) ** 2
        if one.n > 1:
            own = endpoint.sd_to_model(endpoint.from_model(one.value), one.entered.sd)
            if own is None:
                return None
            total += (one.n - 1) * own**2
    return math.sqrt(total / (n - 1))


NARROW_PICTURE = 88
"""Pixels of a structure: cells and reasons need the rest of the room."""
LONGEST_PART = 16
"""Letters of the wells on one plate that are shown in one line."""
LONGEST_UNIT = 14
"""Letters of an endpoint that are shown above its cells."""
FRAME, HEADER = 34, 18
"""Pixels around the text of a cell that is framed, and of a header."""
RESULT = "result"
"""Key of the first column of results."""
STRUCK = Qt.ItemDataRole.UserRole + 10
"""Role of a text that is shown struck through: an excluded value, or the one before a correction."""


def result_key(place: int, at: int = 0) -> str:
    """Key of a column of results: of an endpoint, by its place among the round's, and of its 1st, 2nd ... value."""
    key = RESULT if place == 0 else f"{RESULT}-{place}"
    return key if at == 0 else f"{key}.{at + 1}"


def result_cell(key: str) -> tuple[int, int] | None:
    """Endpoint and place of the value of a column of results; None for any other column."""
    name, _, number = key.partition(".")
    at = int(number) - 1 if number else 0
    if name == RESULT:
        return 0, at
    return (int(name.removeprefix(f"{RESULT}-")), at) if name.startswith(f"{RESULT}-") else None


def result_place(key: str) -> int | None:
    """Return the endpoint of a column, by its place among the round's; None for a column without results."""
    cell = result_cell(key)
    return None if cell is None else cell[0]


def round_columns(model: RoundModel, status: Status, layout: Layout | None) -> list[Column]:
    """Return the columns of the round that a model shows."""
    library, shown = status.library, model.round
    assert shown is not None
    items = shown.items
    at = [item.compound for item in items]
    places = np.array(at, dtype=np.intp)

    def moved(column: Column) -> Column:
        """Return a column of the library at the round's compounds."""
        rank, smiles, tip = column.rank, column.smiles, column.cell_tip
        return Column(
            column.key,
            column.title,
            lambda row: column.text(at[row]),
            None if rank is None else lambda: rank()[places],
            smiles=None if smiles is None else lambda row: smiles(at[row]),
            cell_tip=None if tip is None else lambda row: tip(at[row]),
            width=min(column.width, NARROW_PICTURE),
            soft=column.soft,
        )

    structure, groups = structure_column(library), site_columns(library)
    crowded = structure and (model.cells > 2 or any(column.smiles is not None for column in groups))
    several = len(model.endpoints) > 1
    why = Column("why", "Why", lambda row: items[row].reason, tip="Why the compound was picked", wish=250)
    results = [_result_column(model, place, n) for n in range(model.cells) for place in range(len(model.endpoints))]
    return [
        Column("line", "#", lambda row: str(row + 1), lambda: np.arange(len(items)), number=True, tip="Rank"),
        *map(moved, structure),
        moved(id_column(library)),
        *(() if crowded else map(moved, groups)),
        Column(
            "state",
            "Back",
            model.state,
            lambda: np.array([] if model.round is None else [sum(back) for back in model.round.back], dtype=np.int64),
            width=_at_least(36, "0 of 4", HEADER),
            tip="Independent determinations that came back, of those asked for"
            + (" of all endpoints" if several else ""),
            cell_tip=model.state_tip,
        ),
        *_stock(status, at),
        *([] if layout is None else [_wells(layout, at)]),
        _expected(status, items, several=several),
        *results,
        *(_means(model) if model.cells > 1 else []),  # of one cell the mean is its value
        *(() if model.cells > 2 else [why]),  # the panel shows it, too
    ]


def _result_column(model: RoundModel, place: int, at: int) -> Column:
    """Return the cells of the first, second ... measurement of one endpoint."""
    several, cells = len(model.endpoints) > 1, model.cells > 1
    unit = _entry_unit(model, place)
    name = unit if several or cells else f"Result ({unit})"
    tip = f"Results of {model.endpoints[place].name}. " if several else ""
    if cells:
        tip += f"The {_ordinal(at)} measurement of each line. "
    title = f"{textwrap.shorten(unit, LONGEST_UNIT, placeholder=' …')}\n{_ordinal(at)}" if cells else two_lines(name)
    headed = _at_least(0, title.partition("\n")[0], HEADER)
    least = 78 if cells else 102 if several else 112
    return Column(
        result_key(place, at),
        title,
        lambda row: model.result_text(row, place, at),
        number=True,
        kind=lambda row: model.result_kind(row, place, at),
        cell_tip=lambda row: model.result_tip(row, place, at),
        tip=f"{tip}Also > 10000 nM, 35 nM, or a mean of several: 7.6 (n=3, sd=0.2)",
        width=max(_at_least(least, "00"), headed if cells else 0),
        wish=134 if not cells else 102 if model.cells < 3 else 0,
        name=f"{name}, {_ordinal(at)}" if cells else name,
    )


def _at_least(pixels: int, text: str, around: int = FRAME) -> int:
    """Pixels of a column that shows a text with so many around it, before they grow with the size of the text."""
    whole = QFontMetrics(QGuiApplication.font()).horizontalAdvance(text) + around
    return max(pixels, round(whole / theme().scale))


def _ordinal(at: int) -> str:
    return {0: "1st", 1: "2nd", 2: "3rd"}.get(at, f"{at + 1}th")


def _means(model: RoundModel) -> list[Column]:
    """Return what each endpoint of a line comes to."""
    several = len(model.endpoints) > 1

    def text(row: int, place: int) -> str:
        endpoint = model.endpoints[place]
        return mean_text(model.values_of(row, place), endpoint).removeprefix(f"{endpoint.scale_name} ")

    def short(row: int, place: int) -> str:
        """Return ``7.47 (2)``, as on Candidates; the tip has the SD."""
        mean, n, spread = text(row, place).partition(" (n = ")
        return f"{mean} ({spread.rstrip(')').partition(',')[0]})" if n else mean

    def title(endpoint: Endpoint) -> str:
        named = several or endpoint.transform != "none"
        return f"Mean (n)\n{textwrap.shorten(endpoint.scale_name, 18, placeholder=' …')}" if named else "Mean\n(n)"

    return [
        Column(
            f"mean-{place}",
            title(endpoint),
            lambda row, place=place: short(row, place),  # type: ignore[misc]  # bound early
            number=True,
            cell_tip=lambda row, place=place: text(row, place),  # type: ignore[misc]  # bound early
            width=max(_at_least(0, line, HEADER) for line in ("7.47 (2)", *title(endpoint).split("\n"))),
            tip="Mean, number and SD of the returned determinations. Potencies are averaged as "
            "logarithms; excluded values are left out",
            name=f"Mean of {endpoint.name}" if several else "",
        )
        for place, endpoint in enumerate(model.endpoints)
    ]


def _entry_unit(model: RoundModel, place: int) -> str:
    name, unit = model.endpoints[place].name, model.endpoints[place].unit
    return name if not unit or unit in name else f"{name}, {unit}"


def _wells(layout: Layout, at: Sequence[int]) -> Column:
    """Return the wells of the measurements of each line, on the plates of all endpoints."""
    stand: dict[int, dict[str, list[str]]] = {}
    ranges: dict[int, list[str]] = {}
    for plate in layout.plates:
        for one in plate.placed:
            stand.setdefault(one.compound, {}).setdefault(plate.name.rpartition("-")[2], []).append(one.well)
            ranges.setdefault(one.compound, []).append(f"{plate.name} {one.range}, measurement {one.replicate}")

    def text(compound: int) -> str:
        named = len(layout.plates) > 1
        parts = stand.get(compound, {}).items()
        # A line breaks between plates, not within the wells of one.
        if not named:
            return "; ".join(", ".join(wells) for _, wells in parts)
        return "; ".join(f"{plate} {', '.join(wells)}".replace(" ", "\u00a0") for plate, wells in parts)

    texts = [text(compound) for compound in at]
    longest = max((part for text in texts for part in text.split("; ")), key=len, default="")
    tips = ["\n".join(ranges.get(compound, ())) for compound in at]
    return words(
        "wells",
        "Wells",
        texts,
        tip="Where the measurements stand on the plates of the last work list; the first well of each",
        cell_tip=tips.__getitem__,
        width=_at_least(0, longest) if len(longest) <= LONGEST_PART else 0,
        soft=len(longest) > LONGEST_PART,
    )


def _stock(status: Status, at: Sequence[int]) -> list[Column]:
    """Return columns of the cost and the days of making each compound, from the stock lists.

    A column without any value is left out.
    """
    if status.stock is None:
        return []
    costs, leads = status.stock.costs_and_days(at)
    wanted = (
        ("cost", f"Cost\n{status.stock.currency}", costs, "What making the compound costs, as the stock list says"),
        ("lead", "Lead time\ndays", leads, "How many days making the compound takes, as the stock list says"),
    )
    return [
        numbers(key, title, np.array(amounts, dtype=float), ",.10g", tip=tip, width=_at_least(0, "00,000"), soft=True)
        for key, title, amounts, tip in wanted
        if amounts
    ]


def _expected(status: Status, items: Sequence[RoundItem], *, several: bool) -> Column:
    """Return what was expected of the objective."""
    digits = decimals_of(status)

    def text(row: int) -> str:
        item = items[row]
        if item.expected is None:
            return "–"
        if item.low is None or item.high is None:
            return f"{item.expected:.{digits}f}"
        return f"{item.expected:.{digits}f} ± {(item.high - item.low) / 2:.{digits}f}"

    scale = status.endpoints[status.objective].scale_name
    return Column(
        "expected",
        f"Expected\n{textwrap.shorten(scale, 18, placeholder=' …')}" if several else "Expected",
        text,
        lambda: np.array([np.nan if item.expected is None else item.expected for item in items]),
        number=True,
        tip=f"What was expected{f' of {scale}' if several else ''} when the round was issued, with its 95 % interval; "
        "– before any measurement",
    )
