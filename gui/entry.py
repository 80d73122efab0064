"""What somebody types or pastes as a result: one or several values, each with relation, unit, n and SD."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assaypilot.engine.campaign.state import Round, Status
from assaypilot.engine.endpoint import CONCENTRATIONS, Endpoint, Relation, normalise_unit
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.measurements import Measurement, Result
from assaypilot.engine.tables.values import is_missing, parse_value

__all__ = [
    "Entry",
    "Question",
    "entered_text",
    "is_p_scale",
    "parse_cells",
    "parse_entries",
    "parse_entry",
    "result_of",
    "results_in_round",
]

_MEAN = re.compile(r"^(?P<value>[^(]*)\((?P<rest>[^)]*)\)$")
_N = re.compile(r"^n\s*=?\s*(\d+)$", re.IGNORECASE)
_SD = re.compile(r"^sd\s*=?\s*(.+)$", re.IGNORECASE)

_P_SCALE = re.compile(r"(?<![A-Za-z0-9])p(IC|Ki|EC|Kd|XC|GI|AC)")

LARGEST_P = 14.0
"""A potency on the p scale beyond this is a concentration somebody forgot to convert (pIC50 14 is 10 fM)."""


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
    """As it was typed."""

    def shown(self, endpoint: Endpoint) -> str:
        """What will be kept, as the round's cell shows it."""
        return _text(self.value, self.relation, self.unit, self.n, self.sd, endpoint)


def is_p_scale(endpoint: Endpoint) -> bool:
    """Whether entered values are already -log10 of a concentration (pIC50, pKi ...)."""
    return endpoint.transform == "none" and _P_SCALE.search(endpoint.name) is not None


def parse_entries(text: str, endpoint: Endpoint) -> list[Entry]:
    """The values somebody types into a cell of a round, which asks for one per measurement, separated by semicolons.

    ValueError (or Question) says what cannot be read.
    """
    return [parse_entry(part.strip(), endpoint) for part in text.split(";") if not is_missing(part)]


def parse_cells(cells: Sequence[str], endpoint: Endpoint) -> list[Entry]:
    """The values of cells that were pasted, one each: what came as a table is read by the rules of tables.

    Several values in one cell may be anything (replicates, a range, two assays), so they are refused as an import
    refuses them. ValueError (or Question) says what cannot be read.
    """
    return [parse_entry(cell.strip(), endpoint) for cell in cells if not is_missing(cell)]


def parse_entry(text: str, endpoint: Endpoint) -> Entry:
    """One value: ``7.62``, ``>10000 nM``, ``7.6 (n=3, sd=0.2)``; ValueError (or Question) says what is wrong."""
    body, n, sd = text.strip(), 1, None
    mean = _MEAN.match(body)
    if mean is not None:
        body = mean["value"].strip()
        n, sd = _mean(mean["rest"], text)
    decimal = "," if "," in body and "." not in body else "."
    read = parse_value(body, decimal)
    unit = None if read.unit is None else normalise_unit(read.unit)
    value, relation = read.value, read.relation
    n, sd = read.n or n, sd if read.sd is None else read.sd
    if is_p_scale(endpoint):
        if unit is None and value > LARGEST_P:
            raise Question(f"{value:g} is no {endpoint.name}. {value:g} nM?", text.replace(body, f"{body} nM"))
        if unit in CONCENTRATIONS:
            # The campaign keeps the p scale; the relation turns around with the logarithm.
            measured = Endpoint(endpoint.name, unit, "log")
            value, relation, unit = _model(measured, value), measured.relation_on_model(relation), None
            sd = None  # that of a concentration is none of its logarithm; as it was typed it stays in the comment
    entry = Entry(value, relation, unit, n, sd, text.strip())
    _model(endpoint, value, unit)
    return entry


def result_of(entry: Entry, compound: str, endpoint: Endpoint, row: int | None = None) -> Result:
    """The entry as a campaign records it; what was typed stays beside a converted value."""
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
) -> list[Result]:
    """Entries for a compound of an open round as a campaign records them, each with its round and replicate.

    The replicate is the first that is free, as the rows of the work list are numbered, so that the same list read
    later is known to hold these values already, while the same value typed again is a further measurement. A value
    beyond what the round asks for says neither: it may be a late one of an earlier round. ``before``: results of the
    same paste that stand in front of these.
    """
    described = status.endpoints[endpoint]
    name = status.library.ids[compound]
    asked = _asked(shown, compound, endpoint)
    made = []
    free = _free_replicates(status, shown, compound, endpoint, before)
    for entry in entries:
        result = result_of(entry, name, described, row)
        number = next(free)
        for _ in range(min(entry.n, asked + 1) - 1):  # a mean stands for as many
            next(free)
        if number <= asked:
            result = replace(result, round=shown.number, replicate=str(number))
        made.append(result)
    return made


def _asked(shown: Round, compound: int, endpoint: int) -> int:
    """The highest replicate of an endpoint that the work list of an open round has for a compound."""
    if shown.state != "open" or endpoint not in shown.endpoints:
        return 0
    place = shown.endpoints.index(endpoint)
    return next((item.of(place) for item in shown.items if item.compound == compound), 0)


def _free_replicates(
    status: Status, shown: Round, compound: int, endpoint: int, before: Sequence[Result]
) -> Iterator[int]:
    """The replicates of a compound in a round that no value has yet, from 1; excluded values keep theirs."""
    own = [
        m.entered
        for m in status.measurements
        if m.round == shown.number and m.compound == compound and m.endpoint == endpoint and not m.withdrawn
    ]
    name, of_it = status.library.ids[compound], status.endpoints[endpoint].name
    own += [result for result in before if result.compound == name and result.endpoint == of_it]
    said: set[int] = set()
    silent = 0
    for result in own:
        if result.round == shown.number and result.replicate.strip().isdecimal():
            first = int(result.replicate)
            said.update(range(first, first + result.n))
        else:
            silent += result.n
    # Values that say no replicate have taken the first free ones.
    return itertools.islice((number for number in itertools.count(1) if number not in said), silent, None)


def entered_text(measurement: Measurement, endpoint: Endpoint) -> str:
    """A measurement as the round's cell shows it: in the unit it was entered in, as corrected if it was."""
    entered = measurement.entered
    unit = entered.unit
    value, relation = entered.value, entered.relation
    if measurement.corrected is not None:
        value, unit = endpoint.from_model(measurement.value), None
        relation = endpoint.relation_on_model(measurement.relation)  # its own inverse
    return _text(value, relation, unit, measurement.n, entered.sd, endpoint)


def _text(value: float, relation: Relation, unit: str | None, n: int, sd: float | None, endpoint: Endpoint) -> str:
    text = f"{'' if relation == '=' else relation}{value:.6g}"
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
