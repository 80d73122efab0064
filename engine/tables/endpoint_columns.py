"""The endpoints of a table: the columns of their values, and the properties of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..domain.derived import check_differences, in_words
from ..domain.endpoint import CONCENTRATIONS, Endpoint, normalise_unit
from ..domain.noise import is_p_scale
from ..errors import AssayPilotError
from . import headers
from .classes import about_kind, about_unread, about_words, classes_of, is_result, with_kind, words_of
from .column_roles import SAMPLED, Claims, is_condition
from .endpoint_kinds import described, is_of_reaction, kind_of, of_reactions, without_column
from .normalise import doses, is_dose, points_in_columns
from .options import SIDES, EndpointColumn, EndpointSpec
from .raw import fold
from .side_columns import Sides, about_errors, once_each, run_groups, standard_errors
from .values import is_missing, parse_value

_MOST_NAMES = 60
_VALUES = re.compile(r"\b(?:value|result|wert|messwert|ergebnis)$")
_FEWEST_EQUAL = 6
"""Numbers from which a column that repeats one is no result but a setting, such as a pH."""


def _repeats_one(column: str, numbers: Sequence[str]) -> bool:
    return len(numbers) >= _FEWEST_EQUAL and len(set(numbers)) == 1 and not headers.looks_like_activity(column)


_CLASSES = "classes"
"""They have a note of their own."""
_CONDITION = "a condition of the reaction"
_OF_SUBSTITUENTS = "the same wherever a substituent is"
_ASIDE: dict[str, Callable[[str, Sequence[str], Sequence[str]], bool]] = {
    "more text than numbers": lambda column, numbers, _: not numbers and not headers.looks_like_activity(column),
    _CLASSES: lambda column, _, texts: bool(classes_of(column, texts)),
    "looks computed": lambda column, *_: headers.is_property(column),
    "how rows are handled": lambda column, *_: headers.is_about_rows(column),
    "the concentration tested": lambda column, *_: is_dose(column),
    "a detail of a fit": lambda column, *_: headers.is_of_fit(column),
    "the same number everywhere": lambda column, numbers, _: _repeats_one(column, numbers),
    "row numbers or ids": lambda column, numbers, _: bool(numbers) and headers.is_row_number(column, list(numbers)),
}
"""Kinds of columns of numbers that are endpoints only if named, by header, numbers and texts; the first fits."""


class Endpoints:
    """Finds the columns of values, within the user's specifications of endpoints, and takes them."""

    def __init__(self, claims: Claims, given: Sequence[EndpointSpec]) -> None:
        self._claims = claims
        self.raw, self.taken, self.notes, self.warnings = claims.raw, claims.taken, claims.notes, claims.warnings
        self._given = given
        self.specs = tuple(spec for spec in given if spec.of is None)
        self.sides = Sides(claims)
        self.runs = run_groups(claims.raw.columns)
        """Columns of runs by what they are runs of."""

    def take_named(self) -> None:
        """Take the columns that the user names, so that no convention takes them away."""
        for spec in self.specs:
            column = self._value_column(spec)
            if column is not None and column not in self.taken:
                self.taken.add(column)

    def found(self) -> tuple[str | None, list[EndpointColumn]]:
        """Return the endpoint column of a table with one row per measurement (None otherwise), and the endpoints."""
        specs = self.specs
        for spec in self._given:
            if sum(other.name == spec.name for other in self._given) > 1:
                raise AssayPilotError(f"endpoint {spec.name} is named twice", option="--endpoint", mend="Name it once.")
        name_column = self._claims.any_of(headers.ENDPOINT_NAME) or self._column_of_names()
        value = self._claims.any_of(headers.VALUE)
        if value is None and name_column is not None:
            value = self._column_of_values()
        if value is not None and name_column is not None:
            self.taken.update((value, name_column))
            return name_column, self._one_row_each(value, name_column)
        if specs:
            chosen = [(spec, self._value_column(spec)) for spec in specs]
        else:
            chosen = [
                (EndpointSpec(name), column)
                for name, column in once_each(self.raw, self._numeric_columns(), self.runs, self.notes)
            ]
            if chosen:
                named = ", ".join(spec.name for spec, _ in chosen)
                self.notes.append(f"Taken as endpoints, because their columns hold numbers: {named}.")
            else:
                chosen = [(EndpointSpec(column), column) for column in self._worded_columns()]
        for spec, column in chosen:
            if column is None:
                self._warn_of_no_column(spec)
        self._warn_of_unread([column for _, column in chosen if column is not None])
        self.sides.values = [column for _, column in chosen if column is not None]
        plain = [column for column in self._claims.free() if headers.role_of(column) is None]
        for column in plain:
            if note := about_words(column, self.raw.column(column)):
                self.notes.append(note)
                self._claims.reported.add(column)
        several = sum(column is not None for _, column in chosen) > 1
        columns = [self._endpoint(spec, column, several) for spec, column in chosen]
        used = {side for column in columns for side in column.sides.values()}
        lost = [
            column
            for column in self._claims.free()
            if (headers.role_of(column) in SIDES or column in self.sides.signs)
            and column not in used
            and column not in self.sides.people
        ]
        errors = standard_errors(self._claims.free())
        if errors and columns:
            self._claims.reported.update(errors)
            self.warnings.append(about_errors(errors))
        if lost and columns:
            self._claims.reported.update(lost)
            self.warnings.append(
                f"Not used, because it is not clear to which endpoint they belong: {', '.join(lost)}. "
                'Name them like the endpoint, for example "IC50 SD".'
            )
        return None, columns

    def differences(self, measured: Sequence[Endpoint]) -> list[EndpointColumn]:
        """Return the endpoints that are differences of two ``measured`` ones; they have no columns of their own."""
        found = []
        for spec in self._given:
            if spec.of is None:
                continue
            if self.raw.find(spec.name) is not None or any(fold(one.name) == fold(spec.name) for one in measured):
                raise AssayPilotError(
                    f"{spec.name} is to be calculated as {spec.of}, and the table has values of that name",
                    file=self.raw.file,
                    option="--endpoint",
                    mend="Give the difference another name: its values are never read.",
                )
            whole, _ = without_column(spec, measured)
            both = [*measured, whole]
            check_differences(both)
            self.notes.append(
                f"{spec.name} is calculated as {in_words(both, len(measured))}: "
                f"{'higher' if whole.direction == 'max' else 'lower'} is better."
            )
            found.append(EndpointColumn(whole))
        return found

    def _one_row_each(self, value: str, name_column: str) -> list[EndpointColumn]:
        """Return the endpoints of a table with one row per measurement, by the texts in its endpoint column."""
        order = list(dict.fromkeys(text for text in self.raw.column(name_column) if not is_missing(text)))
        specs = {fold(spec.name): spec for spec in self.specs}
        sides: dict[str, Any] = {role: self._claims.role(role) for role in SIDES}
        self._find_sides(sides)
        columns = []
        fits = [text for text in order if headers.is_of_fit(text) and fold(text) not in specs]
        if fits and not self.specs:
            self.notes.append(f"Details of fits in column {name_column} are not read: {', '.join(fits)}.")
        for text in order:
            spec = specs.pop(fold(text), None)
            if spec is None and (self.specs or text in fits):
                continue
            spec = spec or EndpointSpec(text)
            bare, unit = headers.split_unit(text)
            if spec.unit is not None:
                unit = normalise_unit(spec.unit)
            elif not unit and sides["unit"] is not None:
                unit = self._commonest(sides["unit"], name_column, text)
            cells = zip(self.raw.column(value), self.raw.column(name_column), strict=True)
            own = tuple(cell for cell, name in cells if name == text)
            columns.append(replace(self._described(spec, bare, unit, own), value=value, only=text, **sides))
        columns += [self._endpoint(spec, None, several=True) for spec in specs.values()]
        self.notes.append(
            f"Each row is one measurement: {name_column} says of what "
            f"({', '.join(one.only for one in columns if one.only)}), {value} holds the value."
        )
        return columns

    def _column_of_names(self) -> str | None:
        """Return the column whose few texts are names of what is measured (IC50, Solubility), under any header."""
        for column in self._claims.free():
            texts = list(dict.fromkeys(text for text in self.raw.column(column) if not is_missing(text)))
            if not 0 < len(texts) <= _MOST_NAMES or headers.role_of(column) is not None or self._claims.numbers(column):
                continue
            known = sum(
                headers.looks_like_activity(text) or bool(kind_of(*headers.split_unit(text)).better) for text in texts
            )
            if 2 * known > len(texts) and self._column_of_values() is not None:
                return column
        return None

    def _column_of_values(self) -> str | None:
        """Return the first free column of numbers that is called a value or a result."""
        return next(
            (
                column
                for column in self._claims.free()
                if _VALUES.search(fold(column)) is not None
                and headers.role_of(column) is None
                and self._claims.numbers(column)
            ),
            None,
        )

    def _find_sides(self, sides: dict[str, Any]) -> None:
        """Add the relation and the unit of each row, by the cells of columns, where no header names them."""
        if sides["relation"] is None:
            sides["relation"] = next((c for c in self._claims.free() if c in self.sides.signs), None)
        if sides["unit"] is None:
            for column in self._claims.free():
                texts = {text for text in self.raw.column(column)[:SAMPLED] if not is_missing(text)}
                if texts and all(map(headers.is_unit, texts)):
                    sides["unit"] = column
                    break
        self.taken.update(filter(None, (sides["relation"], sides["unit"])))

    def _endpoint(self, spec: EndpointSpec, column: str | None, several: bool) -> EndpointColumn:
        """Return the endpoint a spec describes, what it leaves open being read from the header and a unit column."""
        bare, header_unit = headers.split_unit(column or spec.name)
        sides: dict[str, Any] = dict.fromkeys(SIDES)
        called, runs = next(
            ((name, runs) for name, runs in self.runs.items() if column in runs and self._calls(spec, name)), ("", ())
        )
        if runs:
            header_unit = headers.split_unit(called)[1]  # (run 1) is no unit
        if column is not None and runs:
            # Columns next to runs (n, SD, relation) belong to their mean, or to one of them.
            sides["unit"] = self.sides.of(column, "unit", several=several)
            self.taken.update(runs)
            self.notes.append(f"{spec.name}: {', '.join(runs)} are its runs, each a measurement of its own.")
        elif column is not None:
            sides = {role: self.sides.of(column, role, several=several) for role in SIDES}
            if fold(column) != fold(spec.name):
                self.notes.append(f"The values of {spec.name} are in column {column}.")
        unit = header_unit if spec.unit is None else normalise_unit(spec.unit)
        if header_unit not in ("", unit):
            self.warnings.append(
                f"{spec.name}: its header says {header_unit}, and its values are read in {unit}, as stated."
            )
        if not unit and sides["unit"] is not None:
            unit = self._commonest(sides["unit"])
        elif not unit and spec.unit is None and column is not None and spec.transform != "none":
            unit = self._unit_in_cells(column)
        bare = headers.split_unit(spec.name)[0] if runs else bare
        texts = () if column is None else self.raw.column(column)
        return replace(self._described(spec, bare, unit, texts), value=column, further=tuple(runs[1:]), **sides)

    def _described(self, spec: EndpointSpec, bare: str, unit: str, texts: Sequence[str]) -> EndpointColumn:
        """Return the endpoint with its scale and direction chosen where the user did not; notes on it are kept.

        ``texts``: of its values.
        """
        found = described(with_kind(spec, texts), bare, unit, self._claims.values(texts))
        self.notes += [*found.notes, *filter(None, [about_kind(found.column.endpoint, texts)])]
        self.warnings += found.warnings
        return found.column

    def _value_column(self, spec: EndpointSpec) -> str | None:
        """Return the column a spec names: its header, else the only header that is its name with a (fitting) unit."""
        column = self.raw.find(spec.name)
        if column is not None:
            return column
        unit = normalise_unit(spec.unit or "")
        of_runs = {column for runs in self.runs.values() for column in runs}
        parts = [(header, *headers.split_unit(header)) for header in self.raw.columns if header not in of_runs]
        near = [header for header, bare, own in parts if own and fold(bare) == fold(spec.name) and unit in ("", own)]
        if not near:
            near = [runs[0] for name, runs in self.runs.items() if self._calls(spec, name)]
        return near[0] if len(near) == 1 else None

    @staticmethod
    def _calls(spec: EndpointSpec, name: str) -> bool:
        """Whether a spec names runs by what they have in common, with or without the unit."""
        bare, own = headers.split_unit(name)
        return fold(spec.name) == fold(name) or (
            fold(spec.name) == fold(bare) and normalise_unit(spec.unit or "") in ("", own)
        )

    def _numeric_columns(self) -> list[str]:
        """Return the free columns of measured numbers; they are taken, and the kinds of others are noted."""
        found: list[str] = []
        aside: dict[str, list[str]] = {}
        of_curves = doses(self.raw.columns)
        with_conditions = of_reactions(self.raw)
        for column in self._claims.free():
            if column in of_curves or self._is_side(column):
                continue
            texts, numbers = self.raw.column(column), self._claims.numbers(column)
            if numbers or any(map(self._claims.is_number, texts[:SAMPLED])):
                kind = next((what for what, matches in _ASIDE.items() if matches(column, numbers, texts)), None)
                if kind is None and with_conditions and is_condition(column) and not is_of_reaction(column):
                    kind = _CONDITION
                if kind is None and self._claims.is_of_substituents(column):
                    kind = _OF_SUBSTITUENTS
                (found if kind is None else aside.setdefault(kind, [])).append(column)
        for kind in (*_ASIDE, _CONDITION, _OF_SUBSTITUENTS):
            columns = aside.get(kind, []) if kind != _CLASSES else []
            if columns:
                self.notes.append(
                    f"Not read as values: {', '.join(columns)} ({kind}). To use one, name it as an endpoint."
                )
            self._claims.reported.update(columns)
        if of_curves:
            self._claims.reported.update(of_curves)
            self.warnings.append(f"{points_in_columns(of_curves)} To use one as it is, name it as an endpoint.")
        self.taken.update(found)
        return found

    def _is_side(self, column: str) -> bool:
        """Whether a header shows that its column belongs to one of values: its SD, its n, a relation."""
        if headers.role_of(column) is not None or self.sides.belongs_to_another(column):
            return True
        within = headers.role_within(column)
        return (
            within is not None
            and within[1] != "unit"
            and any(other != column and fold(other).startswith(f"{within[0]} ") for other in self.raw.columns)
        )

    def _worded_columns(self) -> list[str]:
        """Return and take the free columns of results in words (active, inactive), else the first of yes and no."""
        free = [column for column in self._claims.free() if headers.role_of(column) is None]
        worded = [(column, words) for column in free if (words := words_of(self.raw.column(column))) is not None]
        found = [column for column, words in worded if is_result(words)] or [column for column, _ in worded][:1]
        self.taken.update(found)
        return found

    def _warn_of_unread(self, named: Sequence[str]) -> None:
        """Warn of columns that should have values and have classes or the like."""
        free = [column for column in self._claims.free() if headers.role_of(column) is None]
        free = [column for column in free if column not in self.sides.signs]
        free = [column for column in free if not self.sides.belongs_to_another(column)]
        warnings = about_unread(self.raw, [*named, *free])
        self.warnings += warnings.values()
        self.taken.update(warnings)

    def _warn_of_no_column(self, spec: EndpointSpec) -> None:
        """Warn that an endpoint has no values in the table, if the table has potencies under other names."""
        others = [
            column
            for column in self._claims.free()
            if headers.looks_like_activity(column) and self._claims.numbers(column)
        ]
        others = [column for column in others if all(self._value_column(spec) != column for spec in self.specs)]
        if others:
            self._claims.reported.update(others)
            self.warnings.append(
                f"No column is called {spec.name}: it starts without values. If its values are in "
                f"{' or '.join(others)}, call the endpoint so."
            )

    def _unit_in_cells(self, column: str) -> str:
        """Return the unit of most numbers of a column, all concentrations counting as one; "" when most have none."""
        if is_p_scale(Endpoint(column)):
            return ""  # a concentration there is converted, one by one
        units: Counter[str] = Counter()
        for text in self.raw.column(column)[:SAMPLED]:
            if not is_missing(text) and self._claims.is_number(text):
                units[normalise_unit(parse_value(text, self.raw.decimal).unit or "")] += 1
        found, count = units.most_common(1)[0] if units else ("", 0)
        molar = Counter({unit: number for unit, number in units.items() if unit in CONCENTRATIONS})
        if molar.total() > count:
            (found, most), count = molar.most_common(1)[0], molar.total()
            self.notes.append(
                f"{column}: its cells are in {', '.join(molar)}; all are compared in {found}, the unit of {most:,}."
            )
        if 2 * count <= units.total():
            return ""
        if found and units[""]:
            self.warnings.append(
                f"{column}: {units[found]:,} of its values are in {found}; "
                f"{units['']:,} without a unit taken as such, too."
            )
        return found

    def _commonest(self, column: str, where: str | None = None, only: str | None = None) -> str:
        """Return the unit that most rows of a unit column have, of those where another column is ``only``."""
        texts = self.raw.column(column)
        if where is not None:
            texts = tuple(text for text, name in zip(texts, self.raw.column(where), strict=True) if name == only)
        found = Counter(normalise_unit(text) for text in texts if not is_missing(text))
        return found.most_common(1)[0][0] if found else ""
