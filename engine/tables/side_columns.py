"""Columns that go with one of values: its relation, unit, n and SD, and the runs of the same measurement."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ..domain.endpoint import CONCENTRATIONS, Endpoint
from ..domain.noise import is_p_scale
from ..system.guarded import LONGEST_HEADER
from . import headers
from .column_roles import Claims
from .entries import Unreadable, read_entry
from .raw import RawTable, fold
from .values import Value, is_missing, parse_relation

_SAMPLED = 20_000


def sign_columns(raw: RawTable) -> tuple[str, ...]:
    """Return the columns in which every filled cell is a relation, and one of them more than ``=``.

    Whatever they are called.

    A value that is known only as a bound must not be read as exact because the lab calls its column of signs ``mod``.
    """
    return tuple(column for column in raw.columns if _has_signs(raw.column(column)))


def _has_signs(texts: Sequence[str]) -> bool:
    # Few texts repeat over many rows, so each is looked at once.
    filled = {text for text in dict.fromkeys(texts[:_SAMPLED]) if not is_missing(text)}
    if not filled or not all(len(text) <= 4 for text in filled):
        return False
    try:
        return any(parse_relation(text) != "=" for text in filled)
    except ValueError:
        return False


def names_people(raw: RawTable, column: str) -> bool:
    """Whether a column named like relations has few of them: Operator may be the person who measured."""
    texts = {text for text in raw.column(column)[:_SAMPLED] if not is_missing(text)}
    return headers.role_of(column) == "relation" and 2 * sum(map(_is_relation, texts)) < len(texts)


def _is_relation(text: str) -> bool:
    try:
        return bool(parse_relation(text))
    except ValueError:
        return False


def nearest(columns: Sequence[str], value: str, values: Collection[str], signs: Collection[str]) -> str | None:
    """Return the column of ``signs`` that belongs to one of ``values`` by its place; None without one.

    They precede their values, or all follow them where none precedes the first and one follows the last;
    only columns that belong to values are between.
    """
    place = {column: number for number, column in enumerate(columns)}
    places = [place[one] for one in values]
    after = [place[one] for one in signs if place[one] > max(places)]
    behind = bool(after) and all(place[one] > min(places) for one in signs)
    others = columns[place[value] + 1 :] if behind else columns[: place[value]][::-1]
    for other in others:
        if other in signs:
            return other
        if other in values or headers.role_of(other) is None:
            return None
    return None


def signs_column(columns: Sequence[str], value: str, values: Sequence[str], signs: Sequence[str]) -> str | None:
    """Return the column of ``signs`` that belongs to a column of values: by its name, else as its neighbour.

    ``values``: all columns of values.
    """
    named = [column for column in signs if any(_begins(fold(column), base) for base in headers.bases(value))]
    own = [c for c in named if not any(_names_better(c, other, value) for other in values)]
    if len(own) == 1:
        return own[0]
    if named:
        return None
    of_others = {c for c in signs for other in values if any(_begins(fold(c), base) for base in headers.bases(other))}
    free = [column for column in signs if column not in of_others]
    if len(values) == 1 and len(free) == 1:
        return free[0]
    return nearest(columns, value, values, free) if free else None


def _begins(text: str, base: str) -> bool:
    """Whether a folded header is a name with more behind or before it: ``btk ic50 mod`` of ``btk ic50``."""
    return bool(base) and (text.startswith((f"{base} ", f"{base}(")) or text.endswith(f" {base}"))


def _names_better(column: str, other: str, value: str) -> bool:
    """Whether a column of signs is named after a longer name of another column of values."""
    longest = max((len(base) for base in headers.bases(value) if _begins(fold(column), base)), default=0)
    return other != value and any(len(base) > longest and _begins(fold(column), base) for base in headers.bases(other))


def about_mean(column: str) -> str:
    """Return the note on a mean that is not read."""
    return f"Column {column} seems to be the mean of the runs next to it: the runs are read, the mean is not."


def standard_errors(columns: Iterable[str]) -> list[str]:
    """Return the columns of standard errors of means, by their headers."""
    named = (c for c in columns if "sem" in (headers.role_of(c), *(headers.role_within(c) or ())))
    return [column for column in named if not headers.is_of_fit(column)]


def about_errors(columns: Sequence[str]) -> str:
    """Return the note on standard errors of means, which are not read."""
    return (
        f"Not used, because a standard error is no SD: {', '.join(columns)}. The SD is the standard error times the "
        "square root of N; give that. A column that holds SDs is called so."
    )


def side_role(column: str, value: str) -> str | None:
    """Return the role of a side column of values by its header: ``IC50 SD`` is the sd of ``Mean IC50 (nM)``.

    So is ``SD pIC50``, in logarithms.
    """
    found = headers.role_within(column)
    if found is None:
        return None
    name, role = found
    bases = headers.bases(value)
    return role if name in bases or (role == "sd" and name.removeprefix("p").strip() in bases) else None


class Sides:
    """Finds the side columns of one of values, and takes them."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self.raw, self.taken = claims.raw, claims.taken
        self.signs = sign_columns(claims.raw)
        """Columns of relations, by their cells."""
        self.people = frozenset(column for column in claims.raw.columns if names_people(claims.raw, column))
        """Columns named like relations without any."""
        self._means = frozenset(map(headers.mean_of, claims.raw.columns)) - {""}
        """What columns hold the means of."""
        self.values: Sequence[str] = ()
        """Columns of values, once they are known."""

    def of(self, value: str, role: str, *, several: bool) -> str | None:
        """Return the side column of an endpoint.

        By its name, else the table's own for one endpoint, else a neighbour. N and SD belong to a column of means.
        """
        single = not headers.mean_of(value)
        if single and role in ("n", "sd") and not self._means.isdisjoint(_names_of(value)):
            return None
        for column in self.raw.columns:
            if column != value and (side_role(column, value) == role or self._shares_group(column, value, role)):
                self.taken.add(column)
                return column
        shared = [c for c in self._claims.free() if headers.role_of(c) == role and c not in self.people]
        if not several and shared:
            return shared[0]
        if role == "relation":
            # Sign columns of other values, already taken, show on which side all are.
            called = [c for c in self.raw.columns if headers.role_of(c) == role and c not in self.people]
            sign_column = signs_column(self.raw.columns, value, self.values, [*dict.fromkeys((*self.signs, *called))])
            if sign_column in self._claims.free():
                self.taken.add(sign_column)
                return sign_column
        if not several or role == "relation":
            return None
        place = self.raw.columns.index(value)
        for near in range(place + 1, place + 5):
            if not 0 <= near < len(self.raw.columns) or headers.role_of(self.raw.columns[near]) is None:
                break
            if self.raw.columns[near] in shared:
                self.taken.add(self.raw.columns[near])
                return self.raw.columns[near]
        return None

    def belongs_to_another(self, column: str) -> bool:
        """Whether a header is another column's with a side role behind it."""
        return any(other != column and side_role(column, other) is not None for other in self.raw.columns)

    def _shares_group(self, column: str, value: str, role: str) -> bool:
        """Whether ``EGFR SD`` follows ``EGFR IC50 (nM)``, before the next column of values."""
        found = headers.role_within(column)
        if found is None or found[1] != role or not fold(value).startswith(f"{found[0]} "):
            return False
        first, last = sorted(map(self.raw.columns.index, (value, column)))
        between = self.raw.columns[first + 1 : last]
        return all(headers.role_of(other) is not None or headers.role_within(other) is not None for other in between)


_RUN = re.compile(
    r"[\s_(\[,;-]*(?<![A-Za-z0-9])(?:(?:run|rep|repl|replicate|exp|expt|experiment|trial|measurement|determination|occasion)"
    r"[\s_.#=-]*|n\s*=?\s*|#\s*)0*(?P<number>[1-9]\d?)(?![A-Za-z0-9.,])[)\]]?",
    re.I,
)
"""The words for a run with its number, and the marks around them: `` run 2``, ``_rep1``, ``(n=3)``, ``#2``."""

_AGAIN = re.compile(r"(?P<name>.+?)(?:\.\d{1,2}| \(\d{1,2}\))")
"""The second name of a header that occurs twice."""
_ROWS_SAMPLED = 2_000
_FEWEST_EQUAL = 3
_EQUAL = 0.95
"""The share of rows in which a number must be the other's logarithm."""
_ROUNDED = 0.06
"""Logarithms are often given to one decimal."""


def run_number(header: str) -> tuple[str, str] | None:
    """Return a header without its run, and the run by its number or day: ``IC50 run 2 (nM)`` is 2 of ``IC50 (nM)``.

    None without.
    """
    found = list(_RUN.finditer(header)) if len(header) <= LONGEST_HEADER else []
    if len(found) > 1:
        return None
    if found:
        match = found[0]
        name = " ".join(f"{header[: match.start()]} {header[match.end() :]}".split()).strip(" _-,;:")
        run = match["number"]
    else:
        name, run = headers.without_date(header)
    return (name, run) if run and re.search(r"[A-Za-z%]", name) else None


_COUNTED = re.compile(r"(?P<name>.+?)[ #]+0*(?P<number>[1-9]\d?)")
UNNAMED = "Value"
"""The endpoint of runs without a name of their own: Replicate 1, Replicate 2."""


def counted(columns: Sequence[str], is_name: Callable[[str], bool]) -> dict[str, tuple[str, ...]]:
    """Return columns that count a name from 1 on, by that name: ``IC50_1 (nM)``, ``IC50_2 (nM)`` of ``IC50 (nM)``."""

    def part(column: str) -> tuple[str, str] | None:
        bare, unit = headers.split_unit(column)
        match = None if run_number(column) is not None else _COUNTED.fullmatch(bare.replace("_", " "))
        if match is None or not is_name(match["name"]):
            return None
        return f"{match['name']} ({unit})" if unit else match["name"], match["number"]

    found = _grouped(columns, part)
    return {name: tuple(of.values()) for name, of in found.items() if set(of) == set(map(str, range(1, len(of) + 1)))}


def bare_runs(columns: Sequence[str]) -> dict[str, str]:
    """Return columns that are called after a run and nothing else (Rep 1, Replicate 2), with their run."""
    found = _grouped(columns, lambda column: run_number(f"{UNNAMED} {column}") if not run_number(column) else None)
    return {column: run for run, column in found.get(UNNAMED, {}).items()}


def run_groups(columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return columns of two or more runs of one quantity, by their common name, in the table's order."""
    bare = bare_runs(columns)
    named = {name: tuple(of.values()) for name, of in _grouped(columns, run_number).items()}
    return counted(columns, headers.looks_like_activity) | named | ({UNNAMED: tuple(bare)} if bare else {})


def _grouped(columns: Sequence[str], part: Callable[[str], tuple[str, str] | None]) -> dict[str, dict[str, str]]:
    """Return columns by their common name and their run, two or more of a name; ``part``: both of a header, or None."""
    groups: dict[tuple[str, str], dict[str, str]] = {}
    names: dict[tuple[str, str], str] = {}
    twice = set()
    for column in columns:
        found = part(column)
        if found is None:
            continue
        name, run = found
        bare, unit = headers.split_unit(name)
        key = (fold(bare), unit)
        names.setdefault(key, name)
        if run in groups.setdefault(key, {}):
            twice.add(key)
        groups[key][run] = column
    return {names[key]: of for key, of in groups.items() if len(of) > 1 and key not in twice}


def once_each(
    raw: RawTable, found: Sequence[str], runs: Mapping[str, Sequence[str]], notes: list[str]
) -> list[tuple[str, str]]:
    """Names and (first) columns of what was measured, among columns of numbers; what is left aside is noted.

    Runs count together, by their common name; their mean and the logarithms of another column are left aside.
    """
    grouped = {name: columns for name, columns in runs.items() if set(columns) <= set(found)}
    of_run = {column: name for name, columns in grouped.items() for column in columns}
    named = {name for column in found for name in _names_of(column) if not headers.mean_of(column)}
    kept: dict[str, str] = {}
    for column in found:
        if column in of_run:
            kept.setdefault(of_run[column], column)
        elif any(_is_mean_of(column, name) for name in grouped):
            notes.append(about_mean(column))
        elif headers.mean_of(column) in named:
            notes.append(f"Column {column} holds means of values that another column has: it is not read.")
        elif (copied := copied_from(raw, column, found)) is not None:
            notes.append(
                f"Column {column} holds {copied[1].format(copied[0])}, and one of them is read; to use {column} "
                "instead, name it as an endpoint."
            )
        else:
            kept[column] = column
    again = [c for c in kept if (match := _AGAIN.fullmatch(c)) is not None and match["name"] in kept]
    if again:
        notes.append(
            f"The header of {', '.join(again)} stands twice: they are endpoints of their own. Columns called run 1, "
            "run 2 are measurements of one."
        )
    return list(kept.items())


def _is_mean_of(column: str, name: str) -> bool:
    """Whether a column is called as the runs together are: ``IC50 (nM)`` or ``Mean IC50 (nM)``."""
    bare, unit = headers.split_unit(name)
    called = fold(bare) in headers.bases(column) and headers.split_unit(column)[1] in ("", unit)
    return called or headers.is_mean(column)


def _names_of(column: str) -> tuple[str, str]:
    """Return the names that a column of the means of this one may use: ``ic50 (nm)`` and ``ic50``."""
    return fold(column), fold(headers.split_unit(column)[0])


def copied_from(raw: RawTable, column: str, others: Sequence[str]) -> tuple[str, str] | None:
    """Return the column of potencies that a column only repeats, and how: as their logarithms, or in another unit.

    Their cells decide: they agree in 95 % of the rows with exact numbers in both, and every row of the copy is filled
    in the other. Concentrations are no copy of logarithms; of two of a kind the first is none. None without a copy.
    """
    own = _scale(column)
    if own is None:
        return None
    for other in others:
        theirs = _scale(other)
        same_scale = theirs is not None and (own.transform == "log") == (theirs.transform == "log")
        if other == column or theirs is None or (same_scale and others.index(other) > others.index(column)):
            continue
        concentrations = own.transform == "log"
        if concentrations and (
            not same_scale or fold(headers.split_unit(other)[0]) != fold(headers.split_unit(column)[0])
        ):
            continue
        if is_p_scale(own) and theirs.transform == "log" and not theirs.unit:
            continue
        pairs = list(zip(raw.column(column), raw.column(other), strict=True))[:_ROWS_SAMPLED]
        read = [(_entry(own, a, raw), _entry(theirs, b, raw)) for a, b in pairs]
        if any(a is not None and b is None for a, b in read):
            continue
        exact = [(a.value, b.value) for a, b in read if a and b and a.relation == b.relation == "=" and b.unit is None]
        if len(exact) < _FEWEST_EQUAL:
            continue
        # A logarithm may be that of mol/L or of the bare number.
        for bare in (False, True) if headers.is_log_concentration(column) and not same_scale else (False,):
            if sum(abs(_log(a, own) - _log(b, theirs, bare=bare)) <= _ROUNDED for a, b in exact) >= _EQUAL * len(exact):
                return (
                    other,
                    "{} in another unit" if concentrations else _SAME if same_scale else "the logarithms of {}",
                )
    return None


_SAME = "the same logarithms as {}"


def _scale(column: str) -> Endpoint | None:
    """Return the endpoint of a column of potencies by its header, as concentration or logarithm; None for any other."""
    bare, unit = headers.split_unit(column)
    if is_p_scale(scale := Endpoint(bare)) or headers.is_log_concentration(column):
        return scale
    return Endpoint(column, unit, "log") if headers.looks_like_potency(bare, unit) else None


def _log(value: float, endpoint: Endpoint, *, bare: bool = False) -> float:
    """Return the logarithm of a value's concentration, in mol/L unless it is taken ``bare``.

    Of pIC50, of logIC50, of a concentration with its unit.
    """
    if endpoint.transform == "log":
        return math.log10(value * (1.0 if bare else CONCENTRATIONS.get(endpoint.unit, 1.0)))
    return -value if is_p_scale(endpoint) else value


def _entry(endpoint: Endpoint, text: str, raw: RawTable) -> Value | None:
    try:
        return read_entry(endpoint, text, raw.decimal)
    except Unreadable:
        return None
