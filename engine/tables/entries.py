"""One measured value as a row gives it: number, relation, unit, n and SD, and what is doubtful about it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..domain import kinds
from ..domain.endpoint import CONCENTRATIONS, FLIPPED, Endpoint, Relation, UnitMismatch, normalise_unit
from ..domain.measurements import Result
from ..domain.noise import USUAL, is_p_scale, is_unusual
from ..errors import AssayPilotError
from ..text import percent
from . import headers
from .headers import split_unit
from .raw import CELLS, HEADERS, Problem, RawTable, fold
from .values import YES, Value, is_missing, parse_number, parse_relation, parse_value, quoted

_FOOTNOTED = re.compile(r"(?:n\.?[dt]\.?|not (?:tested|determined))\s*(?:[a-h]|[ᵃᵇᶜᵈᵉ*†‡§¶]+)", re.I)
"""A word for no value with the letter of a footnote behind it, as tables of papers have it: NTc, n.d.*."""
_MARKS = "*†‡§¶"
_N_OF_M = re.compile(r"(\d{1,6})\s*(?:of|/|von)\s*\d{1,6}", re.I)
_SHARE = re.compile(r"(\d{1,6})\s*/\s*(\d{1,6})")
_CODES = frozenset({-999.0, -9999.0, -99999.0, -999999.0, -999.99, -9999.99})
"""What programs write where there is no value."""


class Unreadable(ValueError):
    """Why a value cannot be used, and which part of it: value, relation, unit, n or sd."""

    def __init__(self, reason: str, part: str = "value") -> None:
        super().__init__(reason)
        self.reason = reason
        self.part = part


_TEXTS = ("replicate", "date", "plate", "well", "batch")
_ROUND_NAME = re.compile(r"(?:round|r)?[ _]?0*([1-9]\d{0,5})(?:[.,]0*)?", re.I)


@dataclass(slots=True)
class ValueReader:
    """Reads the values of one endpoint in one column of a table, and in the end asks about all of them."""

    endpoint: Endpoint
    column: str
    results: list[Result] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _behind: list[tuple[int, str]] = field(default_factory=list)
    """Row and text of what stands behind a value and is not used."""
    _impossible: int = 0

    def add(
        self,
        entry: Callable[[], Value | None],
        compound: str,
        row: int,
        beside: Mapping[str, str],
        sides: Mapping[str, str | None],
        where: str = "",
    ) -> None:
        """Add the value that ``entry`` reads from a row, or why it cannot be used.

        ``beside``: what stands beside it in its row, by role; ``sides``: its side columns by role; ``where``: its cell,
        where it is not its column.
        """
        try:
            found = entry()
        except Unreadable as error:
            self.problems.append(Problem(row, (sides.get(error.part) or self.column) + where, error.reason))
            return
        if found is None:
            return
        why = no_p_value(self.endpoint, found)
        if why is not None:
            self.problems.append(Problem(row, self.column, why))
            self._impossible += 1
            return
        if found.rest:
            self._behind.append((row, found.rest))
        texts: dict[str, Any] = {role: beside[role] for role in _TEXTS}
        issued = _ROUND_NAME.fullmatch(beside.get("round", "").strip())
        self.results.append(
            Result(
                compound=compound,
                value=found.value,
                endpoint=self.endpoint.name,
                relation=found.relation,
                unit=found.unit,
                n=found.n or 1,
                sd=found.sd,
                comment="; ".join(filter(None, (beside["comment"], found.note))),
                excluded=is_marked(beside["excluded"]),
                row=row,
                round=None if issued is None else int(issued[1]),
                **texts,
            )
        )

    def close(self) -> list[str]:
        """Take out what cannot be meant, and return the questions about all values."""
        endpoint = self.endpoint
        bare = [result for result in self.results if result.unit is None]
        if is_p_scale(endpoint) and self._impossible >= max(len(bare), 1):
            why = f"most of its column is no {endpoint.name}: give the unit, or call the column after what it holds"
            self.problems += [Problem(result.row, self.column, why) for result in bare]
            self.results = [result for result in self.results if result.unit is not None]
        self.results, of_logarithms = _with_log_sds(endpoint, self.results)
        asked = (of_logarithms, self._left_behind(), may_be_bounds(endpoint, self.results))
        return list(filter(None, (*asked, _another_scale(endpoint, self.results))))

    def _left_behind(self) -> str | None:
        """Return the note on what stands behind values; None without."""
        if not self._behind:
            return None
        marks = all(text[0] in _MARKS for _, text in self._behind)
        what = "a mark" if marks else "something, such as a spread that may be an SD or a standard error,"
        row, text = self._behind[0]
        also = f", and {len(self._behind) - 1:,} more" if len(self._behind) > 1 else ""
        mend = "" if marks else " An SD is used from a column SD."
        return f"{self.column}: {what} stands behind a value and is not used ({text!r} in row {row}{also}).{mend}"


def no_p_value(endpoint: Endpoint, entry: Value) -> str | None:
    """Return why a bare number cannot be one of a p scale (35 in a pIC50 cell); None where it can, or is none."""
    bare = entry.unit is None and (entry.rest or not entry.note)
    if not bare or not is_unusual(endpoint, entry.value):
        return None
    value = f"{entry.value:g}"
    return f"{value} is no {endpoint.name}" + (
        f": write {value} nM if it is a concentration" if entry.value > 0 else ""
    )


def read_entry(
    endpoint: Endpoint, text: str, decimal: str = ".", *, relation: str = "", unit: str = "", n: str = "", sd: str = ""
) -> Value | None:
    """Return the value in a cell with what its row says beside it; None when there is no value (yet).

    Raises Unreadable. A relation or unit inside the cell goes before the row's own. A concentration entered for a
    pIC50-like endpoint is converted, and noted.
    """
    word = kinds.class_value(endpoint, text)
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
        value, said, own = -math.log10(value * CONCENTRATIONS[normalise_unit(own)]), FLIPPED[said], None
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
    return Value(
        value,
        said,
        own,
        _count(n, decimal) if found.n is None else found.n,
        _spread(sd, decimal) if found.sd is None else found.sd,
        found.rest,
        note,
    )


def is_empty(endpoint: Endpoint | None, text: str) -> bool:
    """Whether a cell has no value (yet): what it says is no word of the endpoint, ``-`` being one of some."""
    nothing = is_missing(text) or _FOOTNOTED.fullmatch(text.strip()) is not None
    return nothing and (endpoint is None or kinds.class_value(endpoint, text) is None)


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


_FEWEST_BOUNDS = 3
_OFTEN = 0.05
_TIMES = 3
"""How many times as often as the next most frequent value the last one must occur."""
_ROUND = (1.0, 2.0, 2.5, 3.0, 5.0)
_P_ROUND = 0.05
"""How far the logarithm of a round concentration may be rounded: 4.7 for 20 uM."""


def may_be_bounds(endpoint: Endpoint, results: Sequence[Result]) -> str | None:
    """Return a question about a round concentration that is the least potent value, and is there strikingly often.

    Or None.

    Potencies alone: many labs write the highest concentration tested for what did nothing there. As an exact value it
    makes the inactive compounds look alike, and as potent as that.
    """
    log = is_p_scale(endpoint)
    if not (log or endpoint.is_potency) or endpoint.kind != "value":
        return None
    exact = [r for r in results if r.relation == "=" and r.unit is None and not r.excluded]
    if len(exact) < 2 * _FEWEST_BOUNDS:
        return None
    counts = Counter(result.value for result in exact)
    last = min(counts) if log else max(counts)
    times = counts.pop(last)
    often = max([_FEWEST_BOUNDS, _OFTEN * len(exact), *(_TIMES * n for n in counts.values() if n > 1)])
    if times < often or not _is_round(10 ** (9 - last) if log else last, _P_ROUND if log else 1e-9):
        return None
    text = f"{last:g}" if log or last < 1e6 else f"{last:.0f}"
    unit = f" {endpoint.unit}" if endpoint.unit else ""
    sign = "<" if log else ">"
    return (
        f"{times} values of {endpoint.name} are exactly {text}{unit}, and none is less potent. If that is the end of "
        f"the assay's range, write {sign}{text}: as exact values they say that these compounds are alike."
    )


def _is_round(concentration: float, within: float) -> bool:
    """Whether a concentration is one that people choose for the top of a curve: 1, 2, 3 or 5 times a power of ten."""
    if concentration <= 0 or not math.isfinite(concentration):
        return False
    log = math.log10(concentration)
    return any(abs(log - round(log - math.log10(step)) - math.log10(step)) <= within for step in _ROUND)


_FEWEST_COMPOUNDS = 3
"""Compounds whose values must all look so."""
_FRACTIONS = 1.2
"""Fractions of one end here: 120 % of an effect is measured now and then."""


def _another_scale(endpoint: Endpoint, results: Sequence[Result]) -> str | None:
    """Return a question about values of one endpoint that all look like those of another scale; None where they do not.

    Three compounds and more that all lie between 3 and 11 nM or µM, or at no effect above 1 %, are rare; 3 to 11 is
    where nearly every pIC50 lies, and 0 to 1 is how spreadsheets store per cents.
    """
    if len({r.compound for r in results}) < _FEWEST_COMPOUNDS or any(r.unit is not None for r in results):
        return None
    values = [r.value for r in results]
    low, high = min(values), max(values)
    lie = f"All {len(values)} values of {endpoint.name} lie between {low:g} and {high:g}: are they"
    inside = USUAL[0] <= low and high <= USUAL[1]
    if endpoint.transform == "log" and endpoint.unit in CONCENTRATIONS and inside:
        return f"{lie} {endpoint.scale_name} and not {endpoint.unit}? They were taken as {endpoint.unit}."
    if endpoint.transform == "log" and not endpoint.unit and inside and headers.looks_like_potency(endpoint.name):
        return (
            f"{lie} logarithms, p{endpoint.name}? They were taken as concentrations, of which the lowest is the most "
            f"potent. If they are logarithms, call the column p{endpoint.name}."
        )
    if endpoint.unit == "%" and low >= -_FRACTIONS and high <= _FRACTIONS and any(value % 1 for value in values):
        return f"{lie} fractions and not per cent? They were taken as per cent, at most {percent(high / 100.0, 4)}."
    return None


_PRECISE = 0.01
"""Log units: no assay has an SD as small, 2 % of the value."""
_LOG_SDS = (0.02, 1.5)
"""Where SDs of logarithms lie."""


def _with_log_sds(endpoint: Endpoint, results: Sequence[Result]) -> tuple[list[Result], str | None]:
    """Return results whose SDs can only be those of logarithms with the SDs of their values instead, and a note of it.

    An IC50 of 141 nM with an SD of 0.2 was measured within 0.2 log units, not within 0.2 nM.
    """
    with_sd = [result for result in results if result.sd and result.value > 0]
    if endpoint.transform != "log" or len(with_sd) < _FEWEST_COMPOUNDS:
        return list(results), None
    sds = sorted(result.sd or 0.0 for result in with_sd)
    spreads = sorted(endpoint.sd_to_model(result.value, result.sd) or 0.0 for result in with_sd)
    if spreads[len(sds) // 2] >= _PRECISE or not _LOG_SDS[0] <= sds[len(sds) // 2] or sds[-1] > _LOG_SDS[1]:
        return list(results), None
    note = (
        f"The SDs of {endpoint.name} are taken as those of logarithms: as SDs of the values they would be less than "
        f"{percent(_PRECISE * math.log(10.0))} of them."
    )
    changed = {id(result) for result in with_sd}
    return [
        replace(result, sd=(result.sd or 0.0) * result.value * math.log(10.0)) if id(result) in changed else result
        for result in results
    ], note


_FAILED = frozenset(CELLS["failed"])
_PASSED = frozenset(("", "-", *CELLS["passed"]))
_CALLED = HEADERS["quality"]
"""What columns of such a check are called, folded, the surest name first."""


def is_marked(text: str) -> bool:
    """Whether a cell says that the value beside it is not to be used."""
    word = text.strip().casefold()
    return word in YES or word in _FAILED


def quality_column(raw: RawTable, columns: Sequence[str]) -> str | None:
    """Return column of ``columns`` that says pass and fail of the rows and nothing else, where one at least failed."""
    for name in _CALLED:
        for column in columns:
            if fold(column) == name:
                words = {text.strip().casefold() for text in raw.column(column)}
                if words <= _PASSED | _FAILED and not words.isdisjoint(_FAILED):
                    return column
    return None


Shown = tuple[Relation, float]
"""A number and how the truth relates to it."""


def shown(values: Sequence[Shown], weights: Sequence[float] | None = None) -> tuple[Shown, ...]:
    """Return what to show for the values of one compound, on the scale they are averaged on; for display alone.

    The rule of the CDD Vault (Collaborative Drug Discovery): ``<x`` is left out unless x is at or below every exact
    value, ``>x`` unless it is at or above; what remains is averaged, and a bound among it makes the mean a bound.
    Bounds without exact values: the tightest of each kind, so that ``>5`` and ``<10`` are two. Potencies are averaged
    as logarithms: give values and relations on that scale. ``weights``: determinations behind each value.
    """
    counts = [1.0] * len(values) if weights is None else list(weights)
    exact = [value for relation, value in values if relation == "="]
    if not exact:
        below = [value for relation, value in values if relation == "<"]
        above = [value for relation, value in values if relation == ">"]
        bounds: list[Shown] = [(">", max(above))] if above else []
        return (*bounds, ("<", min(below))) if below else tuple(bounds)
    low, high = min(exact), max(exact)
    under = {place for place, (relation, value) in enumerate(values) if relation == "<" and value <= low}
    over = {place for place, (relation, value) in enumerate(values) if relation == ">" and value >= high}
    # Bounds on both sides pull the mean both ways; then only what is exact says where it is.
    bound = set() if under and over else under | over
    kept = [place for place, (relation, _) in enumerate(values) if relation == "=" or place in bound]
    weight = sum(counts[place] for place in kept)
    mean = sum(counts[place] * values[place][1] for place in kept) / weight
    return ((values[min(bound)][0] if bound else "=", mean),)
