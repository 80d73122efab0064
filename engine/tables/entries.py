"""One measured value as a row gives it: number, relation, unit, n and SD, checked against its endpoint."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..domain import kinds
from ..domain.endpoint import CONCENTRATIONS, Endpoint, Relation, UnitMismatch, normalise_unit
from ..domain.measurements import Result
from ..domain.p_scale import is_p_scale, unusual
from ..errors import AssayPilotError
from .doubtful_values import is_marked
from .headers import split_unit
from .values import Value, is_missing, parse_number, parse_relation, parse_value, quoted

_FOOTNOTED = re.compile(r"(?:n\.?[dt]\.?|not (?:tested|determined))\s*(?:[a-h]|[ᵃᵇᶜᵈᵉ*†‡§¶]+)", re.I)
"""A word for no value with the letter of a footnote behind it, as tables of papers have it: NTc, n.d.*."""
_MARKS = "*†‡§¶"
_N_OF_M = re.compile(r"(\d{1,6})\s*(?:of|/|von)\s*\d{1,6}", re.I)
_SHARE = re.compile(r"(\d{1,6})\s*/\s*(\d{1,6})")
_CODES = frozenset({-999.0, -9999.0, -99999.0, -999999.0, -999.99, -9999.99})
"""What programs write where there is no value."""
_FLIPPED: dict[Relation, Relation] = {"=": "=", "<": ">", ">": "<"}


class Unreadable(ValueError):
    """Why a value cannot be used, and which part of it: value, relation, unit, n or sd."""

    def __init__(self, reason: str, part: str = "value") -> None:
        super().__init__(reason)
        self.reason = reason
        self.part = part


@dataclass(frozen=True, slots=True)
class Entry:
    """A usable value in the endpoint's entry unit, or in ``unit`` when that is given."""

    value: float
    relation: Relation = "="
    unit: str | None = None
    n: int = 1
    sd: float | None = None
    note: str = ""
    """How it was written, when it was converted while reading, or not all of it was used."""
    rest: str = ""
    """What stands behind the value in its cell and is not used, because it can mean several things."""


def as_result(entry: Entry, compound: str, endpoint: Endpoint, row: int, beside: Mapping[str, str]) -> Result:
    """Return a value with what stands ``beside`` it in its row, by role."""
    places: dict[str, Any] = {role: beside[role] for role in ("replicate", "date", "plate", "well", "batch")}
    return Result(
        compound=compound,
        value=entry.value,
        endpoint=endpoint.name,
        relation=entry.relation,
        unit=entry.unit,
        n=entry.n,
        sd=entry.sd,
        comment="; ".join(filter(None, (beside["comment"], entry.note))),
        excluded=is_marked(beside["excluded"]),
        row=row,
        **places,
    )


def doubt(endpoint: Endpoint, entry: Entry) -> str | None:
    """Return a question about a bare number that is hardly one of this endpoint's scale (35 in a pIC50 cell).

    Else None.
    """
    bare = entry.unit is None and (entry.rest or not entry.note)
    return unusual(endpoint, entry.value) if bare else None


def left_behind(column: str, found: Sequence[tuple[int | None, str]]) -> str:
    """Return what to say of values of a column with something behind them that is not used: row and text of each.

    Or "".
    """
    if not found:
        return ""
    marks = all(text[0] in _MARKS for _, text in found)
    what = "a mark" if marks else "something, such as a spread that may be an SD or a standard error,"
    row, text = found[0]
    also = f", and {len(found) - 1:,} more" if len(found) > 1 else ""
    mend = "" if marks else " An SD is used from a column SD."
    return f"{column}: {what} stands behind a value and is not used ({text!r} in row {row}{also}).{mend}"


def read_entry(
    endpoint: Endpoint, text: str, decimal: str = ".", *, relation: str = "", unit: str = "", n: str = "", sd: str = ""
) -> Entry | None:
    """Return the value in a cell with what its row says beside it; None when there is no value (yet).

    Raises Unreadable. A relation or unit inside the cell goes before the row's own. A concentration entered for a
    pIC50-like endpoint is converted, and noted.
    """
    word = kinds.said(endpoint, text)
    if word is None and (is_missing(text) or _FOOTNOTED.fullmatch(text.strip())):
        return None
    try:
        found = Value(word) if word is not None else parse_share(endpoint, text) or parse_value(text, decimal)
    except ValueError as error:
        raise Unreadable(_no_value(endpoint, text, error)) from None
    if found.value in _CODES and found.relation == "=" and found.unit is None:
        raise Unreadable(f"{quoted(text)} looks like a code for no value; leave the cell empty")
    said = found.relation
    # A question mark is no value yet, but beside a value it is a doubt.
    if said == "=" and relation and (relation == "?" or not is_missing(relation)):
        try:
            said = parse_relation(relation)
        except ValueError as error:
            raise Unreadable(str(error), "relation") from None
    own = found.unit if found.unit is not None else (None if is_missing(unit) else unit)
    value, note = found.value, ""
    if own is not None and is_p_scale(endpoint) and normalise_unit(own) in CONCENTRATIONS:
        if value <= 0:
            asked = ": is it below the limit of quantitation? Then write < and that limit" if value == 0 else ""
            raise Unreadable(f"{value:g} has no logarithm{asked or ' (must be > 0)'}")
        note = f"entered as {' '.join(text.split())}" + ("" if found.unit is not None else f" {own.strip()}")
        if found.sd is not None or not is_missing(sd):
            # The SD of a concentration is none of its logarithm.
            spread = f"{found.sd:g}" if found.sd is not None else " ".join(sd.split())
            note, sd, found = f"{note}; its SD ({spread}) is not used", "", replace(found, sd=None)
        value, said, own = -math.log10(value * CONCENTRATIONS[normalise_unit(own)]), _FLIPPED[said], None
    elif own is not None and normalise_unit(own) in ("", endpoint.unit or split_unit(endpoint.name)[1]):
        # The header's unit is that of the values only as long as the endpoint was not given another one.
        own = None
    if said != "=" and endpoint.kind != "value":
        raise Unreadable(f"{quoted(text)} is a bound, and {endpoint.name} takes values only")
    try:
        endpoint.to_model(value, own)
    except AssayPilotError as error:
        part = "unit" if isinstance(error, UnitMismatch) and found.unit is None else "value"
        raise Unreadable(error.message, part) from None
    if found.rest and not note:
        note = f"entered as {' '.join(text.split())}"
    return Entry(
        value,
        said,
        own,
        _count(n, decimal) if found.n is None else found.n,
        _spread(sd, decimal) if found.sd is None else found.sd,
        note,
        found.rest,
    )


def is_empty(endpoint: Endpoint | None, text: str) -> bool:
    """Whether a cell has no value (yet): what it says is no word of the endpoint, ``-`` being one of some."""
    nothing = is_missing(text) or _FOOTNOTED.fullmatch(text.strip()) is not None
    return nothing and (endpoint is None or kinds.said(endpoint, text) is None)


def parse_share(endpoint: Endpoint, text: str) -> Value | None:
    """Return the share that ``3/5`` says of a yes-or-no endpoint, three of five; None for any other text."""
    match = _SHARE.fullmatch(text.strip()) if endpoint.kind == "yes-no" else None
    if match is None or not 0 <= int(match[1]) <= int(match[2]) or int(match[2]) < 1:
        return None
    return Value(int(match[1]) / int(match[2]), n=int(match[2]))


def _no_value(endpoint: Endpoint, text: str, error: ValueError) -> str:
    """Return why a text is no value; for yes or no, with the words that would be."""
    if endpoint.kind != "yes-no":
        return str(error)
    return f"{quoted(text)} is neither {' nor '.join(endpoint.words or ('1', '0'))}"


def _count(text: str, decimal: str) -> int:
    if is_missing(text):
        return 1
    if (of := _N_OF_M.fullmatch(text.strip())) is not None:
        text = of[1]  # two of three runs gave a value
    try:
        number = parse_number(text, decimal)
    except ValueError as error:
        raise Unreadable(f"n: {error}", "n") from None
    if number < 1 or number != int(number):
        raise Unreadable(f"n must be a whole number of 1 or more, got {quoted(text)}", "n")
    return int(number)


def _spread(text: str, decimal: str) -> float | None:
    if is_missing(text):
        return None
    try:
        number = parse_number(text, decimal)
    except ValueError as error:
        raise Unreadable(f"SD: {error}", "sd") from None
    if number < 0:
        raise Unreadable(f"SD must not be negative, got {quoted(text)}", "sd")
    return number
