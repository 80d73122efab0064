"""Typed or pasted results: one or several values, each with relation, unit, n and SD, read as tables are."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QLocale

from assaypilot.engine.campaign.cautions import of_unplanned
from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint, Relation, normalise_unit
from assaypilot.engine.domain.kinds import word_of
from assaypilot.engine.domain.measurements import Measurement, Result
from assaypilot.engine.domain.noise import is_p_scale
from assaypilot.engine.tables.entries import Unreadable, no_p_value, read_entry
from assaypilot.engine.tables.values import Value, narrow, quoted

from .round_columns import of_round

_BETWEEN = re.compile("[;；]")
_NUMBER = re.compile(r"\d[\d.,]*")


class Question(ValueError):
    """An entry that can be read, but hardly is what was meant; ``suggestion`` is what to type instead."""

    def __init__(self, text: str, suggestion: str) -> None:
        super().__init__(text)
        self.suggestion = suggestion


def user_decimal() -> str:
    """Return the decimal mark of the user's locale: a comma or a point."""
    return "," if QLocale().decimalPoint() == "," else "."


def parts_of(text: str) -> list[str]:
    """Return the parts between the semicolons, of either width, of a text that may hold several values."""
    return [part.strip() for part in _BETWEEN.split(text)]


def parse_entry(text: str, endpoint: Endpoint, decimal: str = ".") -> Value:
    """One value: ``7.62``, ``7,62``, ``>10000 nM``, ``7.6 (n=3, sd=0.2)``; ValueError (or Question) names the problem.

    ``decimal``: the user's decimal mark; a number that can be read in two ways is refused, never guessed at.
    """
    text = narrow(text).strip()
    try:
        found = read_entry(endpoint, text, decimal)
    except Unreadable as error:
        raise ValueError(error.reason) from None
    if found is None:
        raise ValueError(f"{quoted(text)} is no value")
    why = no_p_value(endpoint, found)
    if why is not None and found.value > 0:
        number = f"{found.value:g}"
        raise Question(f"{number} is no {endpoint.name}. {number} nM?", _NUMBER.sub(r"\g<0> nM", text, count=1))
    if why is not None:
        raise ValueError(why)
    return found


def shown_entry(entry: Value, endpoint: Endpoint) -> str:
    """Return what will be kept, as the round's cell shows it."""
    return _text(entry.value, entry.relation, entry.unit, entry.n or 1, entry.sd, endpoint)


def result_of(entry: Value, compound: str, endpoint: Endpoint) -> Result:
    """Return the entry as a campaign records it; a converted value keeps the typed text."""
    value, relation, n = entry.value, entry.relation, entry.n or 1
    return Result(compound, value, endpoint.name, relation, entry.unit, n, entry.sd, comment=entry.note)


def in_their_cells(
    results: Sequence[Result],
    status: Status,
    shown: Round,
    *,
    cells: Sequence[int] = (),
    there: Mapping[tuple[int, int], Sequence[Measurement]] | None = None,
) -> list[Result]:
    """Results of compounds of a round as a campaign records them, each with its round and replicate.

    The replicate is the first free one, as on the work list. So the same list read later adds nothing, while the same
    value typed again is a further measurement. A value beyond the request has neither round nor replicate: it may be
    a late one of an earlier round.
    ``cells``: where each of them was typed, counted from 0. ``there``: the round's values, if gathered before.
    """
    there = in_round(status, shown) if there is None else there
    places = {endpoint.name: place for place, endpoint in enumerate(status.endpoints)}
    made: list[Result] = []
    added: dict[tuple[int, int], list[Result]] = {}
    for at, result in enumerate(results):
        compound, endpoint = status.library.find(result.compound), places[result.endpoint or ""]
        if compound is not None:
            own, before = there.get((compound, endpoint), ()), added.setdefault((compound, endpoint), [])
            number = cells[at] + 1 if at < len(cells) else 0
            again = _measured_again(number, result, own, shown)
            if not again:
                number = _free_replicate([*(m.entered for m in own), *before], shown, number)
            if again or number <= requested_of(shown, compound, endpoint):
                result = replace(result, round=shown.number, replicate=str(number))
            before.append(result)
        made.append(result)
    return made


def _measured_again(number: int, result: Result, own: Sequence[Measurement], shown: Round) -> bool:
    """Whether a value takes the place of one that was left out, as the same replicate; the same value would not."""
    there = [m for m in own if m.entered.round == shown.number and m.entered.replicate.strip() == str(number)]
    out = all(m.excluded is not None and m.entered.value != result.value for m in there)
    return bool(there) and out and result.n == 1


def requested_of(shown: Round, compound: int, endpoint: int) -> int:
    """Return the number of measurements of an endpoint that a round requests of a compound."""
    if shown.state == "withdrawn" or endpoint not in shown.endpoints:
        return 0
    place = shown.endpoints.index(endpoint)
    return next((item.of(place) for item in shown.items if item.compound == compound), 0)


def in_round(status: Status, shown: Round) -> dict[tuple[int, int], list[Measurement]]:
    """Return what a round has, by compound and endpoint."""
    found: dict[tuple[int, int], list[Measurement]] = {}
    for one in status.measurements:
        if of_round(one, shown):
            found.setdefault((one.compound, one.endpoint), []).append(one)
    return found


def _free_replicate(own: Sequence[Result], shown: Round, wanted: int) -> int:
    """Return the replicate that is ``wanted`` if it is free in a round, else the first; excluded values keep theirs."""
    numbered: set[int] = set()
    silent = 0
    for result in own:
        if result.round == shown.number and result.replicate.strip().isdecimal():
            first = int(result.replicate)
            numbered.update(range(first, first + result.n))
        else:
            silent += result.n
    # Values without a replicate have taken the first free ones.
    free = next(itertools.islice((n for n in itertools.count(1) if n not in numbered), silent, None))
    return wanted if wanted >= free and wanted not in numbered else free


def entered_text(measurement: Measurement, endpoint: Endpoint) -> str:
    """Return a measurement as the round's cell shows it: in the unit it was entered in, as corrected if it was."""
    entered = measurement.entered
    unit = entered.unit
    value, relation = entered.value, entered.relation
    if measurement.corrected is not None:
        value, unit = endpoint.from_model(measurement.value), None
        relation = endpoint.relation_on_model(measurement.relation)  # its own inverse
    return _text(value, relation, unit, measurement.n, entered.sd, endpoint)


def as_first_entered(measurement: Measurement, endpoint: Endpoint) -> str:
    """Return the entered text of a measurement, without later corrections."""
    entered = measurement.entered
    return _text(entered.value, entered.relation, entered.unit, measurement.n, entered.sd, endpoint)


def _text(value: float, relation: Relation, unit: str | None, n: int, sd: float | None, endpoint: Endpoint) -> str:
    if endpoint.kind == "yes-no" and n > 1:
        return f"{round(value * n)}/{n}"
    text = word_of(endpoint, value) or f"{'' if relation == '=' else relation}{value:.6g}"
    if is_p_scale(endpoint) and round(value, 2) != value:
        text = f"{'' if relation == '=' else relation}{value:.2f}"
    if unit and normalise_unit(unit) != endpoint.unit:
        text += f" {unit}"
    if n > 1:
        text += f" (n={n}{'' if sd is None else f', sd={sd:g}'})"
    return text


def line_of(compound: int, shown: Round) -> int | None:
    """Return the line of a compound in a round; None when it is not in it."""
    return next((n for n, item in enumerate(shown.items) if item.compound == compound), None)


def place_note(
    compound: int,
    endpoint: int,
    status: Status,
    shown: Round | None,
    there: Mapping[tuple[int, int], Sequence[Measurement]],
) -> str:
    """Return the notes on a value's target cell, with the endpoint's name if there are several."""
    several = f"{status.endpoints[endpoint].name}, " if len(status.endpoints) > 1 else ""
    does = of_unplanned(calibrated=status.guarantee.calibrated)
    if shown is None or shown.state == "withdrawn" or endpoint not in shown.endpoints:
        return f"{several}not requested: {does}"
    line = line_of(compound, shown)
    if line is None:
        return f"{several}not in this round: {does}"
    known = [
        entered_text(one, status.endpoints[endpoint])
        for one in there.get((compound, endpoint), ())
        if one.excluded is None
    ]
    others = f", in addition to {'; '.join(known)}" if known else ""
    late = f", late for round {shown.number}" if shown.state == "closed" else ""
    return f"{several}line {line + 1}{others}{late}"
