"""The mapping of a table by the conventions of the field, within what the user said."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from assaypilot.engine.difference import check_differences, find_parts, in_words
from assaypilot.engine.endpoint import Endpoint, normalise_unit
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables import headers, own
from assaypilot.engine.tables.described import described
from assaypilot.engine.tables.entries import is_p_scale
from assaypilot.engine.tables.options import (
    Blank,
    EndpointColumn,
    EndpointSpec,
    TableMapping,
    TableOptions,
    parse_endpoint_spec,
)
from assaypilot.engine.tables.quality import quality_column
from assaypilot.engine.tables.raw import RawTable, fold
from assaypilot.engine.tables.runs import once_each, run_groups
from assaypilot.engine.tables.signs import sign_columns, signs_beside
from assaypilot.engine.tables.site_columns import could_be_site, likely_sites, numbered_sites
from assaypilot.engine.tables.stock import STOCK_ROLES, speaks_of
from assaypilot.engine.tables.values import is_missing, parse_value
from assaypilot.engine.tables.yes_no import about_kind, about_words, is_result, with_kind, words_of

__all__ = [
    "Blank",
    "EndpointColumn",
    "EndpointSpec",
    "TableMapping",
    "TableOptions",
    "parse_endpoint_spec",
    "propose",
]

_SAMPLED = 2000
_SHOWN_LEFT = 12
_CORE = re.compile(r"core|scaffold|(?:structure|smiles) of core")
_NEARLY_UNIQUE = 0.9
_SIDES = ("relation", "unit", "n", "sd")


def propose(raw: RawTable, options: TableOptions | None = None) -> TableMapping:
    """Which column is what; AssayPilotError when a named column is absent or there is no site column."""
    return _Proposal(raw, options or TableOptions()).mapping()


class _Proposal:
    """One pass over the headers, in which every column is taken at most once."""

    def __init__(self, raw: RawTable, options: TableOptions) -> None:
        self.raw = raw
        self.options = options
        self.specs = tuple(spec for spec in options.endpoints if spec.of is None)
        self.taken: set[str] = set()
        self.notes: list[str] = []
        self.warnings: list[str] = []
        self.signs = sign_columns(raw)
        """Columns of relations, by what stands in them."""
        self.values: list[str] = []
        """Columns of values, once they are known."""
        self.runs = run_groups(raw.columns)
        """Columns of runs by what they are runs of."""

    def mapping(self) -> TableMapping:
        options = self.options
        # What the user names comes first, so that no convention takes it away.
        id_column = self._named(options.id, "--id")
        smiles = self._named(options.smiles, "--smiles")
        available = self._named(options.available, "--available")
        asked = {role: getattr(options, role) for role in STOCK_ROLES}
        stock = {role: self._stock_named(role, name) if name else None for role, name in asked.items()}
        sites = tuple(self._named(name, "--sites") or name for name in options.sites)
        if len(set(sites)) != len(sites):
            raise AssayPilotError("a site is named twice", option="--sites", mend="Name each column once.")
        for spec in self.specs:
            column = self._value_column(spec)
            if column is not None and column not in self.taken:
                self.taken.add(column)
        self._leave_what_we_said()
        if smiles is None:
            smiles = self._structures()
        cores = self._cores()
        if not sites and not cores:
            sites = self._site_columns(smiles)
        if id_column is None:
            id_column = self._first(headers.IDS)
        roles = {role: self._role(role) for role in ("replicate", "date", "plate", "well", "batch", "comment")}
        excluded = self._role("excluded") or self._failed()
        if available is None:
            available = self._role("available")
            if available is not None:
                self.notes.append(f"Column {available} says which compounds can be had for a measurement.")
        for role in STOCK_ROLES:
            if asked[role] is None:
                stock[role] = self._stock_column(role)
        if id_column is None:
            id_column = self._unique_text_column()
        endpoint_column, columns = self._endpoints()
        columns += self._differences([column.endpoint for column in columns])
        self._say_what_is_left()
        mapping = (
            TableMapping(
                sites=sites,
                endpoints=tuple(columns),
                id=id_column,
                smiles=smiles,
                endpoint_column=endpoint_column,
                available=available,
                stock=stock["stock"],
                cost=stock["cost"],
                lead=stock["lead"],
                excluded=excluded,
                replicate=roles["replicate"],
                date=roles["date"],
                plate=roles["plate"],
                well=roles["well"],
                batch=roles["batch"],
                comment=roles["comment"],
                blank=options.blank,
                product=options.product,
                only_listed=options.only_listed,
                cores=cores,
                merge=options.merge,
                min_seen=options.min_seen,
                drop_sites=options.drop_sites,
                joined=options.joined,
                interactions=options.interactions,
            )
            .with_noise(options.sd)
            .with_classes(options.noise_classes)
        )
        return replace(mapping, notes=tuple(self.notes), warnings=tuple(self.warnings))

    # ------------------------------------------------------------------ single columns

    def _named(self, name: str | None, option: str) -> str | None:
        if name is None:
            return None
        column = self.raw.find(name.strip())
        if column is None:
            raise AssayPilotError(
                f"there is no column {name!r}; the columns are {', '.join(self.raw.columns)}",
                file=self.raw.file,
                option=option,
                mend="Name one of them.",
            )
        self.taken.add(column)
        return column

    def _stock_named(self, role: str, name: str) -> str | None:
        """The column of stock, cost or time that a user names; AssayPilotError for one of substituents."""
        column = self._named(name, f"--{role}")
        site = column is not None and headers.SITE.fullmatch(fold(column)) is not None
        if column is not None and site and not speaks_of(role, self.raw.column(column), self.raw.decimal):
            raise AssayPilotError(
                f"column {column} holds substituents, and nothing that {STOCK_ROLES[role]}",
                option=f"--{role}",
                mend="Name the column of the table that does.",
            )
        return column

    def _leave_what_we_said(self) -> None:
        """Nothing; takes the columns of our own exports that are no values of compounds."""
        left = [column for column in own.said(self.raw.columns) if column not in self.taken]
        if left:
            self.taken.update(left)
            self.notes.append(
                "This is a shortlist that AssayPilot wrote; its estimates are no measurements, and what else it says "
                "of a campaign (status, bounds, probabilities) is not read."
            )

    def _say_what_is_left(self) -> None:
        """Nothing; names the columns with texts that nothing uses, and how a site among them would be."""
        told = "\n".join((*self.notes, *self.warnings))
        left = [
            column
            for column in self._free()
            if column not in told and headers.role_of(column) is None and not _CORE.fullmatch(fold(column))
        ]
        left = [column for column in left if any(map(bool, self.raw.column(column)))]
        if not left:
            return
        shown = ", ".join(left[:_SHOWN_LEFT]) + (
            f" and {len(left) - _SHOWN_LEFT} more" if len(left) > _SHOWN_LEFT else ""
        )
        said = f"Not used: column{'' if len(left) == 1 else 's'} {shown}."
        sites = [] if self.options.cores else [c for c in left if could_be_site(self.raw, c, self._numbers)]
        if sites:
            said += f" If {' or '.join(sites[:3])} is a site, too, name all of them with --sites."
        self.notes.append(said)

    def _free(self) -> list[str]:
        return [column for column in self.raw.columns if column not in self.taken]

    def _first(self, names: tuple[str, ...]) -> str | None:
        """The first free column with one of the names, the surest name first; it is taken."""
        for name in names:
            for column in self._free():
                if fold(column) == name:
                    self.taken.add(column)
                    return column
        return None

    def _structures(self) -> str | None:
        """The column of structures by its name, unless ids stand in it (Molecule: A-1, A-2); it is taken."""
        column = self._first(headers.STRUCTURES)
        if column is None or "smiles" in fold(column) or not self._holds_names(column):
            return column
        found = self._structures()
        self.taken.discard(column)
        return found

    def _holds_names(self, column: str) -> bool:
        """Whether hardly a text of a column can be a SMILES, while all of them are different, as ids are."""
        texts = [text for text in self.raw.column(column)[:_SAMPLED] if not is_missing(text)]
        shaped = sum(headers.SMILES_SHAPE.match(text) is not None for text in texts)
        return len(texts) > 1 and 10 * shaped < len(texts) and len(set(texts)) >= _NEARLY_UNIQUE * len(texts)

    def _role(self, role: str) -> str | None:
        return self._first(headers.ROLES[role])

    def _failed(self) -> str | None:
        """The column that says which rows failed a check of quality, which is said; it is taken."""
        column = quality_column(self.raw, self._free())
        if column is not None:
            self.taken.add(column)
            self.notes.append(f"Column {column} says which values failed; these are shown and not used.")
        return column

    def _stock_column(self, role: str) -> str | None:
        """A column that is called as one of stock, cost or time is, where most of its cells can be read so."""
        column = next(
            (name for name in map(self.raw.find, headers.ROLES[role]) if name not in {None, *self.taken}), None
        )
        if column is None or not speaks_of(role, self.raw.column(column), self.raw.decimal):
            return None
        self.taken.add(column)
        self.notes.append(f"Column {column} {STOCK_ROLES[role]}.")
        return column

    def _cores(self) -> tuple[str, ...]:
        """The cores in one spelling; columns of sites are then left alone."""
        if not self.options.cores:
            return ()
        if self.options.sites:
            raise AssayPilotError(
                "sites are either columns or made from structures",
                option="--core",
                mend="Give --core or --sites, not both; a site of the core is left out with --drop-site.",
            )
        from assaypilot.engine.chemistry.cores import read_cores

        self.taken.update(column for column in self._free() if headers.SITE.fullmatch(fold(column)))
        return tuple(core.smiles for core in read_cores(self.options.cores))

    def _site_columns(self, smiles: str | None) -> tuple[str, ...]:
        exported = own.sites(self.raw.columns)
        if exported:
            self.taken.update(exported)
            return exported
        found = numbered_sites(self.raw, self._free())
        if not found:
            candidates = likely_sites(self.raw, self._free(), self._numbers)
            message = "there is no site column (R1, R2, ...)"
            if smiles is not None and not candidates:
                message += ", and no core to take the structures apart with"
            shown = shlex.quote(",".join(candidates)) if candidates else "COLUMN,COLUMN"
            mend = f"Name the columns with the substituents: --sites {shown}."
            if smiles is not None:
                mend = f"{mend[:-1]}, or give the core of the structures: --core SMILES."
            raise AssayPilotError(message, file=self.raw.file, option="--sites", mend=mend)
        self.taken.update(found)
        return found

    def _unique_text_column(self) -> str | None:
        """The leftmost free text column with hardly a repetition, which is said; None: ids are made."""
        for column in self._free():
            if fold(column) in ("core", "scaffold") or headers.role_of(column) is not None:
                continue
            texts = [text for text in self.raw.column(column) if not is_missing(text)]
            if len(texts) < len(self.raw) or self._numbers(column):
                continue
            if len(set(texts)) >= _NEARLY_UNIQUE * len(texts) and len(texts) > 1:
                self.taken.add(column)
                self.notes.append(f"No column is called ID; column {column} was taken for the ids.")
                return column
        for column in self._free():
            numbers = self.raw.column(column)
            if fold(column) in headers.NUMBERS and all(numbers) and len(set(numbers)) == len(numbers) > 1:
                self.taken.add(column)
                self.notes.append(f"No column is called ID; column {column} was taken for the ids.")
                return column
        self.notes.append("There is no column with ids; they are made from the substituents.")
        return None

    def _numbers(self, column: str) -> list[str]:
        """The texts of a column that are numbers, when at least half of its filled cells are."""
        texts = [text for text in self.raw.column(column)[:_SAMPLED] if not is_missing(text)]
        numbers = [text for text in texts if self._is_number(text)]
        if not texts and len(self.raw) > _SAMPLED:
            rest = self.raw.column(column)[_SAMPLED:]
            numbers = [text for text in rest if not is_missing(text) and self._is_number(text)][:_SAMPLED]
            texts = numbers
        return numbers if numbers and 2 * len(numbers) >= len(texts) else []

    def _is_number(self, text: str) -> bool:
        try:
            unit = parse_value(text, self.raw.decimal).unit
        except ValueError:
            return False
        # "3 Me" is a label; a column of numbers has a unit of concentration or none, or per cent.
        return unit is None or unit.startswith("%") or headers.looks_like_concentration(unit)

    # ------------------------------------------------------------------ endpoints

    def _endpoints(self) -> tuple[str | None, list[EndpointColumn]]:
        """The endpoint column of a table with one row per measurement (None otherwise), and the endpoints."""
        specs = self.specs
        for spec in self.options.endpoints:
            if sum(other.name == spec.name for other in self.options.endpoints) > 1:
                raise AssayPilotError(f"endpoint {spec.name} is named twice", option="--endpoint", mend="Name it once.")
        value = self._any_of(headers.VALUE)
        name_column = self._any_of(headers.ENDPOINT_NAME)
        if value is not None and name_column is not None:
            self.taken.update((value, name_column))
            return name_column, self._one_row_each(value, name_column)
        if specs:
            wanted = [(spec, self._value_column(spec)) for spec in specs]
        else:
            wanted = [
                (EndpointSpec(name), column)
                for name, column in once_each(self.raw, self._numeric_columns(), self.runs, self.notes)
            ]
            if wanted:
                named = ", ".join(spec.name for spec, _ in wanted)
                self.notes.append(f"Taken as endpoints, because their columns hold numbers: {named}.")
            else:
                wanted = [(EndpointSpec(column), column) for column in self._worded_columns()]
        for spec, column in wanted:
            if column is None:
                self._say_without_column(spec)
        self.values = [column for _, column in wanted if column is not None]
        plain = [column for column in self._free() if headers.role_of(column) is None]
        self.notes += filter(None, [about_words(column, self.raw.column(column)) for column in plain])
        several = sum(column is not None for _, column in wanted) > 1
        columns = [self._endpoint(spec, column, several) for spec, column in wanted]
        used = {side for column in columns for side in (column.relation, column.unit, column.n, column.sd)}
        lost = [
            column
            for column in self._free()
            if (headers.role_of(column) in _SIDES or column in self.signs) and column not in used
        ]
        errors = [column for column in self._free() if self._is_sem(column)]
        if errors and columns:
            self.warnings.append(
                f"Not used, because a standard error is no SD: {', '.join(errors)}. "
                "The SD is the standard error times the square root of N; give that."
            )
        if lost and columns:
            self.warnings.append(
                f"Not used, because it is not clear to which endpoint they belong: {', '.join(lost)}. "
                'Name them like the endpoint, for example "IC50 SD".'
            )
        return None, columns

    def _differences(self, measured: Sequence[Endpoint]) -> list[EndpointColumn]:
        """The endpoints that are differences of two ``measured`` ones; no column holds their values."""
        found = []
        for spec in self.options.endpoints:
            if spec.of is None:
                continue
            if self.raw.find(spec.name) is not None or any(fold(one.name) == fold(spec.name) for one in measured):
                raise AssayPilotError(
                    f"{spec.name} is to be calculated as {spec.of}, and the table has values of that name",
                    file=self.raw.file,
                    option="--endpoint",
                    mend="Give the difference another name: its values are never read.",
                )
            of = find_parts(spec.name, spec.of, measured)
            whole = Endpoint(
                spec.name, direction=spec.direction or "max", epsilon=spec.epsilon, limit=spec.limit, of=of
            )
            both = [*measured, whole]
            check_differences(both)
            self.notes.append(
                f"{spec.name} is calculated as {in_words(both, len(measured))}: "
                f"{'higher' if whole.direction == 'max' else 'lower'} is better."
            )
            found.append(EndpointColumn(whole))
        return found

    def _is_sem(self, column: str) -> bool:
        """Whether a column holds standard errors of means."""
        within = headers.role_within(column)
        return headers.role_of(column) == "sem" or (within is not None and within[1] == "sem")

    def _any_of(self, names: tuple[str, ...]) -> str | None:
        return next((column for name in names for column in self._free() if fold(column) == name), None)

    def _numeric_columns(self) -> list[str]:
        """The free columns that hold measured numbers; they are taken."""
        found = []
        computed: list[str] = []
        fits: list[str] = []
        kept: list[str] = []
        for column in self._free():
            if headers.role_of(column) is not None or self._belongs_to_another(column):
                continue
            within = headers.role_within(column)
            if (
                within is not None
                and within[1] != "unit"
                and any(other != column and fold(other).startswith(f"{within[0]} ") for other in self.raw.columns)
            ):
                continue
            numbers = self._numbers(column)
            if not numbers and any(map(self._is_number, self.raw.column(column)[:_SAMPLED])):
                if not headers.looks_like_activity(column):
                    self.notes.append(
                        f"Column {column} holds more text than numbers; name it with --endpoint to use it."
                    )
                    continue
            elif not numbers:
                continue
            if headers.is_property(column):
                computed.append(column)
            elif headers.is_kept_beside(column):
                kept.append(column)
            elif headers.is_of_fit(column):
                fits.append(column)
            elif numbers and headers.is_row_number(column, numbers):
                self.notes.append(f"Column {column} looks like row numbers or ids; name it with --endpoint to use it.")
            else:
                found.append(column)
        kinds = (
            (computed, "looks like a computed property", "look like computed properties"),
            (fits, "looks like a detail of a fit", "look like details of fits"),
            (kept, "says how rows are handled", "say how rows are handled"),
        )
        for columns, one, several in kinds:
            if len(columns) == 1:
                self.notes.append(f"Column {columns[0]} {one}; name it with --endpoint to use it.")
            elif columns:
                self.notes.append(f"Columns {', '.join(columns)} {several}; name one with --endpoint to use it.")
        self.taken.update(found)
        return found

    def _worded_columns(self) -> list[str]:
        """The free columns that say results in words (active, inactive), else the first of yes and no; taken."""
        free = [column for column in self._free() if headers.role_of(column) is None]
        told = [(column, words) for column in free if (words := words_of(self.raw.column(column))) is not None]
        found = [column for column, words in told if is_result(words)] or [column for column, _ in told][:1]
        self.taken.update(found)
        return found

    def _say_without_column(self, spec: EndpointSpec) -> None:
        """Nothing; says that an endpoint has no values in the table, if the table has potencies under other names."""
        others = [column for column in self._free() if headers.looks_like_activity(column) and self._numbers(column)]
        others = [column for column in others if all(self._value_column(spec) != column for spec in self.specs)]
        if others:
            self.warnings.append(
                f"No column is called {spec.name}: it starts without values. If its values are in "
                f"{' or '.join(others)}, call the endpoint so."
            )

    def _value_column(self, spec: EndpointSpec) -> str | None:
        """The column a spec names: its header, else the only header that is its name with a (fitting) unit."""
        column = self.raw.find(spec.name)
        if column is not None:
            return column
        unit = normalise_unit(spec.unit or "")
        parts = [(header, *headers.split_unit(header)) for header in self.raw.columns]
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

    def _endpoint(self, spec: EndpointSpec, column: str | None, several: bool) -> EndpointColumn:
        """The endpoint a spec describes, what it leaves open being read from the header and a unit column."""
        bare, header_unit = headers.split_unit(column or spec.name)
        sides: dict[str, str | None] = dict.fromkeys(_SIDES)
        runs = next((runs for name, runs in self.runs.items() if column in runs and self._calls(spec, name)), ())
        if column is not None and runs:
            # What stands beside runs (n, SD, relation) is of their mean, or of one of them.
            sides["unit"] = self._side(column, "unit", several=several)
            self.taken.update(runs)
            self.notes.append(f"{spec.name}: {', '.join(runs)} are its runs, each a measurement of its own.")
        elif column is not None:
            sides = {role: self._side(column, role, several=several) for role in _SIDES}
            if fold(column) != fold(spec.name):
                self.notes.append(f"The values of {spec.name} are in column {column}.")
        unit = header_unit if spec.unit is None else normalise_unit(spec.unit)
        if not unit and sides["unit"] is not None:
            unit = self._commonest(sides["unit"])
        elif not unit and spec.unit is None and column is not None and spec.transform != "none":
            unit = self._unit_in_cells(column)
        bare = headers.split_unit(spec.name)[0] if runs else bare
        texts = () if column is None else self.raw.column(column)
        found = EndpointColumn(self._described(spec, bare, unit, texts), column, further=tuple(runs[1:]))
        return _beside(found, sides)

    def _unit_in_cells(self, column: str) -> str:
        """The unit that most numbers of a column have behind them, which is said; "" when most have none."""
        if is_p_scale(Endpoint(column)):
            return ""  # a concentration there is converted, one by one
        units: Counter[str] = Counter()
        for text in self.raw.column(column)[:_SAMPLED]:
            if not is_missing(text) and self._is_number(text):
                units[normalise_unit(parse_value(text, self.raw.decimal).unit or "")] += 1
        found, count = units.most_common(1)[0] if units else ("", 0)
        if 2 * count <= units.total():
            return ""
        if found and units[""]:
            self.warnings.append(
                f"{column}: {count:,} of its values are in {found}; {units['']:,} without a unit taken as such, too."
            )
        return found

    def _described(self, spec: EndpointSpec, bare: str, unit: str, texts: Sequence[str]) -> Endpoint:
        """The endpoint with its scale and direction chosen where the user did not, and what to say about it.

        ``texts``: of its values.
        """
        endpoint, notes, warnings = described(with_kind(spec, texts), bare, unit)
        self.notes += [*notes, *filter(None, [about_kind(endpoint, texts)])]
        self.warnings += warnings
        return endpoint

    def _one_row_each(self, value: str, name_column: str) -> list[EndpointColumn]:
        """The endpoints of a table with one row per measurement, by the texts in its endpoint column."""
        order = list(dict.fromkeys(text for text in self.raw.column(name_column) if not is_missing(text)))
        specs = {fold(spec.name): spec for spec in self.specs}
        sides = {role: self._role(role) for role in _SIDES}
        columns = []
        for text in order:
            spec = specs.pop(fold(text), None)
            if spec is None and self.specs:
                continue
            spec = spec or EndpointSpec(text)
            bare, unit = headers.split_unit(text)
            if spec.unit is not None:
                unit = normalise_unit(spec.unit)
            elif not unit and sides["unit"] is not None:
                unit = self._commonest(sides["unit"], name_column, text)
            cells = zip(self.raw.column(value), self.raw.column(name_column), strict=True)
            own = tuple(cell for cell, name in cells if name == text)
            found = EndpointColumn(self._described(spec, bare, unit, own), value, text)
            columns.append(_beside(found, sides))
        columns += [self._endpoint(spec, None, several=True) for spec in specs.values()]
        self.notes.append(
            f"Each row is one measurement: {name_column} says of what ({', '.join(order)}), {value} holds the value."
        )
        return columns

    def _commonest(self, column: str, where: str | None = None, only: str | None = None) -> str:
        """The unit that most rows of a unit column have, of those where another column says ``only``."""
        texts = self.raw.column(column)
        if where is not None:
            texts = tuple(text for text, name in zip(texts, self.raw.column(where), strict=True) if name == only)
        found = Counter(normalise_unit(text) for text in texts if not is_missing(text))
        return found.most_common(1)[0][0] if found else ""

    # ------------------------------------------------------------------ columns beside an endpoint

    def _side_role(self, column: str, value: str) -> str | None:
        """The role a header gives a column beside that of values: ``IC50 SD`` is the sd of ``Mean IC50 (nM)``."""
        found = headers.role_within(column)
        return found[1] if found is not None and found[0] in headers.bases(value) else None

    def _belongs_to_another(self, column: str) -> bool:
        """Whether a header is another column's with a side role behind it."""
        return any(other != column and self._side_role(column, other) is not None for other in self.raw.columns)

    def _shares_group(self, column: str, value: str, role: str) -> bool:
        """Whether ``EGFR SD`` stands behind ``EGFR IC50 (nM)``, before the next column of values."""
        found = headers.role_within(column)
        if found is None or found[1] != role or not fold(value).startswith(f"{found[0]} "):
            return False
        first, last = sorted(map(self.raw.columns.index, (value, column)))
        between = self.raw.columns[first + 1 : last]
        return all(headers.role_of(other) is not None or headers.role_within(other) is not None for other in between)

    def _side(self, value: str, role: str, *, several: bool) -> str | None:
        """The side column of an endpoint: by its name, else the table's own for one endpoint, else a neighbour."""
        for column in self.raw.columns:
            if column != value and (self._side_role(column, value) == role or self._shares_group(column, value, role)):
                self.taken.add(column)
                return column
        shared = [column for column in self._free() if headers.role_of(column) == role]
        if not several and shared:
            return shared[0]
        if role == "relation":
            free = self._free()
            signs = [column for column in self.signs if column in free]
            beside = signs_beside(self.raw.columns, value, self.values, signs)
            if beside is not None:
                self.taken.add(beside)
                return beside
        if not several:
            return None
        place = self.raw.columns.index(value)
        # A relation stands before its value as often as behind it; the others stand behind, up to four of them.
        places = (place - 1, place + 1) if role == "relation" else range(place + 1, place + 5)
        for near in places:
            if not 0 <= near < len(self.raw.columns) or headers.role_of(self.raw.columns[near]) is None:
                break
            if self.raw.columns[near] in shared:
                self.taken.add(self.raw.columns[near])
                return self.raw.columns[near]
        return None


def _beside(found: EndpointColumn, sides: dict[str, str | None]) -> EndpointColumn:
    """An endpoint's column with those beside it."""
    return replace(found, relation=sides["relation"], unit=sides["unit"], n=sides["n"], sd=sides["sd"])
