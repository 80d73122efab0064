"""Typed or pasted results: one or several values, each with relation, unit, n and SD."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QLocale

from assaypilot.engine.campaign.cautions import of_unplanned
from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import CONCENTRATIONS, Endpoint, Relation, normalise_unit
from assaypilot.engine.domain.kinds import word_of
from assaypilot.engine.domain.measurements import Measurement, Result
from assaypilot.engine.domain.noise import is_p_scale, is_unusual
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.entries import Unreadable, is_empty, read_entry
from assaypilot.engine.tables.values import narrow, parse_value

from .round_columns import of_round

_MEAN = re.compile(r"^(?P<value>[^(]*)\((?P<rest>[^)]*)\)$")
_N = re.compile(r"^n\s*=?\s*(\d+)$", re.IGNORECASE)
_SD = re.compile(r"^sd\s*=?\s*(.+)$", re.IGNORECASE)

_BETWEEN = re.compile("[;；]")
_LEADING = re.compile(r"[<>=≤≥~\s]*[+\-−]?(?P<number>\d(?:[\d.,'’\s]*\d)?)")
_GROUPED = re.compile(r"(?P<whole>\d{1,3}(?:(?P<mark>[.,'’\s])\d{3})(?:(?P=mark)\d{3})*)(?P<rest>[.,]\d+)?")
"""A number with thousands marks, or one that could be."""


class Question(ValueError):
    """An entry that can be read, but hardly is what was meant; ``suggestion`` is what to type instead."""

    def __init__(self, text: str, suggestion: str) -> None:
        super().__init__(text)
        self.suggestion = suggestion


@dataclass(frozen=True, slots=True)
class Entry:
    """One typed value, in the endpoint's entry unit or with its own."""

    value: float
    relation: Relation = "="
    unit: str | None = None
    n: int = 1
    sd: float | None = None
    text: str = ""
    """The typed text."""

    def shown(self, endpoint: Endpoint) -> str:
        """Return what will be kept, as the round's cell shows it."""
        return _text(self.value, self.relation, self.unit, self.n, self.sd, endpoint)


def user_decimal() -> str:
    """Return the decimal mark of the user's locale: a comma or a point."""
    return "," if QLocale().decimalPoint() == "," else "."


def decimal_of(cells: Iterable[str], usual: str = ".") -> str:
    """Return the decimal mark of cells that came together: the one that some show beyond doubt, else ``usual``."""
    seen = set()
    for cell in cells:
        found = _LEADING.match(cell.strip())
        number = "" if found is None else found["number"]
        grouped = _GROUPED.fullmatch(number)
        marks = [sign for sign in number if sign in ".,"]
        if len(marks) == 1 and (grouped is None or grouped["whole"].startswith("0")):
            seen.add(marks[0])
        elif grouped is not None and grouped["rest"]:
            seen.add(grouped["rest"][0])
    return seen.pop() if len(seen) == 1 else usual


def parts_of(text: str) -> list[str]:
    """Return the parts between the semicolons, of either width, of a text that may hold several values."""
    return [part.strip() for part in _BETWEEN.split(text)]


def parse_cells(cells: Sequence[str], endpoint: Endpoint, decimal: str = ".") -> list[Entry]:
    """Return the values of cells that were pasted, one each: what came as a table is read by the rules of tables.

    Several values in one cell may be anything (replicates, a range, two assays), so they are refused as an import
    refuses them. ValueError (or Question) names what is unreadable.
    """
    return [parse_entry(cell.strip(), endpoint, decimal) for cell in cells if not is_empty(endpoint, cell)]


def parse_entry(text: str, endpoint: Endpoint, decimal: str = ".") -> Entry:
    """One value: ``7.62``, ``7,62``, ``>10000 nM``, ``7.6 (n=3, sd=0.2)``; ValueError (or Question) names the problem.

    ``decimal``: the user's decimal mark; a thousands mark is refused, never guessed at.
    """
    text = narrow(text)
    if endpoint.kind != "value":
        return _of_kind(text, endpoint, decimal)
    body, n, sd = text.strip(), 1, None
    mean = _MEAN.match(body)
    if mean is not None:
        body = mean["value"].strip()
        n, sd = _mean(mean["rest"], text)
    _refuse_thousands(text, body, endpoint, decimal)
    read = parse_value(body, "," if "," in body and "." not in body else ".")
    unit = None if read.unit is None else normalise_unit(read.unit)
    value, relation = read.value, read.relation
    n, sd = read.n or n, sd if read.sd is None else read.sd
    if is_p_scale(endpoint):
        if unit is None and value > 0 and is_unusual(endpoint, value):
            raise Question(f"{value:g} is no {endpoint.name}. {value:g} nM?", text.replace(body, f"{body} nM"))
        if unit in CONCENTRATIONS:
            # The campaign keeps the p scale; the relation turns around with the logarithm.
            measured = Endpoint(endpoint.name, unit, "log")
            value, relation, unit = _model(measured, value), measured.relation_on_model(relation), None
            sd = None  # an SD of a concentration is none of its logarithm; the typed text stays in the comment
    entry = Entry(value, relation, unit, n, sd, text.strip())
    _model(endpoint, value, unit)
    return entry


def _of_kind(text: str, endpoint: Endpoint, decimal: str) -> Entry:
    """Return an answer in words, ``3/5`` or 1 and 0, or a count; ValueError names the problem."""
    body, n = text.strip(), None
    mean = _MEAN.match(body)
    if mean is not None:
        body = mean["value"].strip()
        n, _ = _mean(mean["rest"], text)
    try:
        read = read_entry(endpoint, body, decimal)
    except Unreadable as error:
        raise ValueError(error.reason) from None
    if read is None:
        raise ValueError(f"'{text}' is no value")
    return Entry(read.value, n=n or read.n or 1, text=text.strip())


def _refuse_thousands(text: str, body: str, endpoint: Endpoint, decimal: str) -> None:
    """Raise ValueError (or Question) for a number with thousands marks, or one that could be meant so."""
    leading = _LEADING.match(body)
    grouped = None if leading is None else _GROUPED.fullmatch(leading["number"])
    if leading is None or grouped is None or grouped["whole"].startswith("0"):
        return
    whole, mark, rest = grouped["whole"], grouped["mark"], grouped["rest"] or ""
    if rest[:1] == mark:
        return
    plain = re.sub(r"\D", "", whole)
    single = mark in ".," and whole.count(mark) == 1 and not rest
    bare = not any(sign.isalpha() or sign == "%" for sign in body[leading.end() :])
    if single and (mark == decimal or (bare and is_p_scale(endpoint))):
        return  # a decimal mark: a pIC50 of a thousand is not meant
    if single:
        raise ValueError(
            f"'{body}' can be read as {whole.replace(mark, '.')} or as {plain}; type it without the thousands mark"
        )
    meant = plain + rest.replace(",", ".")
    raise Question(f"'{body}' has a thousands mark. {meant}?", text.replace(leading["number"], meant, 1))


def result_of(entry: Entry, compound: str, endpoint: Endpoint, row: int | None = None) -> Result:
    """Return the entry as a campaign records it; a converted value keeps the typed text."""
    plain = entry.shown(endpoint)
    typed = "" if not entry.text or _same(entry.text, plain) else f"typed as {entry.text}"
    return Result(
        compound, entry.value, endpoint.name, entry.relation, entry.unit, entry.n, entry.sd, comment=typed, row=row
    )


def results_in_round(
    entries: Sequence[Entry],
    status: Status,
    shown: Round,
    compound: int,
    endpoint: int,
    *,
    row: int | None = None,
    before: Sequence[Result] = (),
    cells: Sequence[int] = (),
    there: Mapping[tuple[int, int], Sequence[Measurement]] | None = None,
) -> list[Result]:
    """Entries for a compound of a round as a campaign records them, each with its round and replicate.

    The replicate is the first free one, as on the work list. So the same list read later adds nothing, while the same
    value typed again is a further measurement. A value beyond the request has neither round nor replicate: it may be
    a late one of an earlier round.
    ``before``: earlier results of the same paste. ``cells``: where each of them was typed, counted from 0.
    ``there``: the round's values, if gathered before.
    """
    described = status.endpoints[endpoint]
    name = status.library.ids[compound]
    requested = requested_of(shown, compound, endpoint)
    made = []
    own = (in_round(status, shown) if there is None else there).get((compound, endpoint), ())
    taken = [m.entered for m in own]
    taken += [result for result in before if result.compound == name and result.endpoint == described.name]
    free = _free_replicates(taken, shown, 1 + len(entries) * (requested + 2))
    for at, entry in enumerate(entries):
        result = result_of(entry, name, described, row)
        typed = cells[at] + 1 if at < len(cells) else 0
        if _measured_again(typed, entry, own, shown):
            made.append(replace(result, round=shown.number, replicate=str(typed)))
            continue
        number = typed if typed in free else free[0]
        start = free.index(number)
        del free[start : start + max(1, min(entry.n, requested + 1 - start))]  # a mean counts as many
        if number <= requested:
            result = replace(result, round=shown.number, replicate=str(number))
        made.append(result)
    return made


def _measured_again(number: int, entry: Entry, own: Sequence[Measurement], shown: Round) -> bool:
    """Whether a value takes the place of one that was left out, as the same replicate; the same value would not."""
    there = [m for m in own if m.entered.round == shown.number and m.entered.replicate.strip() == str(number)]
    out = all(m.excluded is not None and m.entered.value != entry.value for m in there)
    return bool(there) and out and entry.n == 1


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


def _free_replicates(own: Sequence[Result], shown: Round, most: int) -> list[int]:
    """Return the first ``most`` free replicates of a compound in a round, from 1; excluded values keep theirs."""
    numbered: set[int] = set()
    silent = 0
    for result in own:
        if result.round == shown.number and result.replicate.strip().isdecimal():
            first = int(result.replicate)
            numbered.update(range(first, first + result.n))
        else:
            silent += result.n
    # Values without a replicate have taken the first free ones.
    free = (number for number in itertools.count(1) if number not in numbered)
    return list(itertools.islice(free, silent, silent + most))


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
    text = word_of(endpoint, value) or f"{'' if relation == '=' else relation}{value:.6g}"
    if is_p_scale(endpoint) and round(value, 2) != value:
        text = f"{'' if relation == '=' else relation}{value:.2f}"
    if unit and normalise_unit(unit) != endpoint.unit:
        text += f" {unit}"
    if n > 1:
        text += f" (n={n}{'' if sd is None else f', sd={sd:g}'})"
    return text


def _mean(text: str, whole: str) -> tuple[int, float | None]:
    n, sd = 1, None
    for part in filter(None, re.split(r"[,;\s]\s*(?=[nNsS±+])", text.strip())):
        if (match := _N.match(part.strip())) is not None and int(match[1]) >= 1:
            n = int(match[1])
        elif (match := _SD.match(part.strip())) is not None:
            sd = parse_value(match[1]).value
            if sd < 0:
                raise ValueError(f"an SD cannot be negative: '{part}'")
        else:
            raise ValueError(f"'{whole}' cannot be read; a mean is written 7.6 (n=3, sd=0.2)")
    return n, sd


def _model(endpoint: Endpoint, value: float, unit: str | None = None) -> float:
    try:
        return endpoint.to_model(value, unit)
    except AssayPilotError as error:
        raise ValueError(error.message) from None


def _same(typed: str, shown: str) -> bool:
    return typed.replace(" ", "").replace(",", ".") == shown.replace(" ", "")


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
