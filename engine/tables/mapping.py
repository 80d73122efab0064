"""The mapping of a table by the conventions of the field, within the user's options."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ..errors import AssayPilotError
from ..system.progress import Report, silent
from ..text import listed
from . import headers
from .assays import by_assay, counted_together
from .column_roles import (
    Claims,
    NoSites,
    core_column,
    could_be_site,
    drawn_sites,
    factors,
    likely_sites,
    numbered_sites,
    structure_columns,
)
from .compound_columns import find_ids, find_structures
from .endpoint_columns import Endpoints
from .entries import is_marked, quality_column
from .options import ROLES, EndpointColumn, Reading, TableMapping, TableOptions
from .products import is_usual
from .raw import RawTable, fold
from .stock import STOCK_ROLES, matches_role
from .structures import find_cores

_SHOWN_LEFT = 12
"""How good a compound without a number is."""
_FOUND = {
    "excluded": "says which values failed; these are shown and not used",
    "available": "says which compounds are available",
    **STOCK_ROLES,
}
"""Notes on the column of a role."""


def propose(
    raw: RawTable, options: TableOptions | None = None, report: Report = silent, *, find_core: bool = True
) -> TableMapping:
    """Return which column is what, and name each choice that the user may want to change.

    AssayPilotError when a named column is absent, or the sites cannot be found: then NoSites, also
    where only a core could give them and ``find_core`` is False.
    """
    return _Proposal(raw, options or TableOptions(), report, find_core=find_core).mapping()


class _Proposal:
    """One pass over the headers, in which every column is taken at most once."""

    def __init__(self, raw: RawTable, options: TableOptions, report: Report, *, find_core: bool) -> None:
        self.raw = raw
        self._report, self._find_core = report, find_core
        self.options = options
        self._claims = Claims(raw)
        self.taken, self.notes, self.warnings = self._claims.taken, self._claims.notes, self._claims.warnings
        self.endpoints = Endpoints(self._claims, options.endpoints)

    def mapping(self) -> TableMapping:
        options = self.options
        # What the user names comes first, so that no convention takes it away.
        id_column = self._claims.named(options.id or None, "--id")
        smiles = self._claims.named(options.smiles or None, "--smiles")
        available = self._claims.named(options.available, "--available")
        named = {role: getattr(options, role) for role in STOCK_ROLES}
        stock: dict[str, Any] = {role: self._stock_named(role, name) if name else None for role, name in named.items()}
        sites = tuple(self._claims.named(name, "--sites") or name for name in options.sites)
        if len(set(sites)) != len(sites):
            raise AssayPilotError("a site is named twice", option="--sites", mend="Name each column once.")
        self.endpoints.take_named()
        self._leave_own_columns()
        if options.smiles is None:
            smiles = find_structures(self._claims)
        cores = self._cores()
        if not sites and not cores:
            sites = self._known_sites()
        if options.id is None:
            id_column = find_ids(self._claims, smiles, sites, sure=True)
        if not sites and not cores:
            sites = self._factors(smiles, id_column)
        self._claims.sites = sites
        self._refuse_sites_across()
        refusal = None
        if not sites and not cores:
            candidates = likely_sites(self.raw, self._claims.free(), self._claims.numbers)
            refusal = self._without_sites(smiles, candidates)
            if smiles is None or not self._find_core:
                raise refusal
        roles: dict[str, Any] = {role: self._claims.role(role) for role in ROLES}
        excluded = self._claims.role("excluded") or self._noted("excluded")
        available = available or self._noted("available")
        for role in STOCK_ROLES:
            if named[role] is None:
                stock[role] = self._noted(role)
        self._note_all_made(stock, named)
        if id_column is None and options.id is None:
            id_column = find_ids(self._claims, smiles, sites, sure=False)
        if id_column is None:
            made = "they are made from the substituents" if sites else "the structures are numbered"
            self.notes.append(f"There is no column with ids; {made}.")
        structures = self._substituents(sites)
        endpoint_column, columns = self.endpoints.found()
        key = smiles or id_column
        keys: Sequence[Hashable] = list(zip(*map(self.raw.column, sites), strict=True))
        if key is not None:
            keys = self.raw.column(key)
        assay_column, split = by_assay(self._claims, columns, keys, options.assays, endpoint_column)
        columns = list(split)
        if refusal is not None and smiles is not None:
            cores = self._core_of(smiles, columns, refusal)
        columns += self.endpoints.differences([column.endpoint for column in columns])
        counted_together(self._claims, columns, endpoint_column, keys)
        self._note_unused()
        mapping = TableMapping(
            sites=sites,
            endpoints=tuple(columns),
            id=id_column,
            smiles=smiles,
            endpoint_column=endpoint_column,
            assay_column=assay_column,
            available=available,
            excluded=excluded,
            cores=cores,
            structures=structures,
            **{one.name: getattr(options, one.name) for one in fields(Reading)},
            **roles,
            **stock,
        ).with_noise(options.sd)
        return replace(mapping, notes=tuple(self.notes), warnings=tuple(self.warnings))

    def _refuse_sites_across(self) -> None:
        """Refuse a table whose columns of numbers are all called after substituents: Me IC50, Et IC50."""
        names = [column for column in self._claims.free() if self._claims.numbers(column)]
        names = [column for column in names if headers.role_of(column) is None and not headers.is_property(column)]
        labels = [next(filter(is_usual, name.split()), "") for name in names]
        if len(set(labels)) > 1 and all(labels) and not self.options.endpoints:
            raise AssayPilotError(
                f"the columns {listed(names, _SHOWN_LEFT)} are called after substituents, as if a site stood across",
                file=self.raw.file,
                mend="Make one table for each value, its name above and R1 \\ R2 in its corner, or give each compound "
                "a row.",
            )

    def _stock_named(self, role: str, name: str) -> str | None:
        """Return the column of stock, cost or time that a user names; AssayPilotError for one of substituents."""
        column = self._claims.named(name, f"--{role}")
        site = column is not None and headers.SITE.fullmatch(fold(column)) is not None
        if column is not None and site and not matches_role(role, self.raw.column(column), self.raw.decimal):
            raise AssayPilotError(
                f"column {column} holds substituents, and nothing that {STOCK_ROLES[role]}",
                option=f"--{role}",
                mend="Name the column of the table that does.",
            )
        return column

    def _note_all_made(self, stock: Mapping[str, str | None], named: Mapping[str, str | None]) -> None:
        """Warn of the meaning of a column of cost or time without one of stock."""
        found = [role for role in ("cost", "lead") if stock[role] and named[role] is None]
        if found and not stock["stock"]:
            self.warnings.append(
                f"No column says what is in stock, so by column {stock[found[0]]} every compound has to be made before "
                "it is measured. If they are at hand, say that no column is of cost or time."
            )

    def _leave_own_columns(self) -> None:
        """Take the columns of our own exports that are not values of compounds."""
        left = [column for column in headers.export_columns(self.raw.columns) if column not in self.taken]
        if left:
            self.taken.update(left)
            self.notes.append(
                "This is a shortlist that AssayPilot wrote; its estimates are no measurements, and what else it says "
                "of a campaign (status, bounds, probabilities) is not read."
            )

    def _note_unused(self) -> None:
        """Note the unused columns with texts, and how to use a site among them."""
        left = [
            column
            for column in self._claims.free()
            if column not in self._claims.reported
            and (headers.role_of(column) is None or column in self.endpoints.sides.people)
            and headers.CORE.fullmatch(fold(column)) is None
            and any(self.raw.column(column))
        ]
        if not left:
            return
        note = f"Not used: column{'' if len(left) == 1 else 's'} {listed(left, _SHOWN_LEFT)}."
        sites = [] if self.options.cores else [c for c in left if could_be_site(self.raw, c, self._claims.numbers)]
        if sites:
            note += f" If {' or '.join(sites[:3])} is a site, too, name all of them as sites."
        self.notes.append(note)

    def _noted(self, role: str) -> str | None:
        """Return the column of a role whose finding is noted; it is taken."""
        if role == "excluded":
            column = quality_column(self.raw, self._claims.free())
        else:
            column = self._claims.any_of(headers.ROLES[role])
        if column is None or (
            role in STOCK_ROLES and not matches_role(role, self.raw.column(column), self.raw.decimal)
        ):
            return None
        self.taken.add(column)
        many = f": {sum(map(is_marked, self.raw.column(column)))}" if role == "excluded" else ""
        self.notes.append(f"Column {column} {_FOUND[role]}{many}.")
        return column

    def _cores(self) -> tuple[str, ...]:
        """Return the cores in one spelling; columns of sites are then left alone."""
        if not self.options.cores:
            return ()
        if self.options.sites:
            raise AssayPilotError(
                "sites are either columns or made from structures",
                option="--core",
                mend="Give a core or columns of sites, not both; a site of the core can be left out.",
            )
        from ..chemistry.cores import read_cores

        self.taken.update(column for column in self._claims.free() if headers.SITE.fullmatch(fold(column)))
        return tuple(core.smiles for core in read_cores(self.options.cores))

    def _known_sites(self) -> tuple[str, ...]:
        """Return the sites by their headers, or by the attachment points in their cells; they are taken."""
        free = self._claims.free()
        found = headers.export_sites(self.raw.columns) or numbered_sites(self.raw, free) or self.raw.sites
        drawn = () if found else drawn_sites(self.raw, free)
        if drawn:
            self.notes.append(f"The sites are the columns whose cells have attachment points: {', '.join(drawn)}.")
        sites = found or drawn
        core = core_column(self.raw, [column for column in free if column not in sites], sites)
        if core is not None:
            sites = (core, *sites)
            self.notes.append(f"Column {core} is a site, as compounds differ in it.")
        self.taken.update(sites)
        return sites

    def _factors(self, smiles: str | None, id_column: str | None) -> tuple[str, ...]:
        """Return the columns of a factorial, which are named and taken; () where there is none."""
        key = smiles or id_column
        keys = None if key is None else self.raw.column(key)
        found, repeated = factors(self.raw, self._claims.free(), self._claims.numbers, keys)
        if found:
            self.taken.update(found)
            self.taken.update(repeated)
            drawn = {column for _, column in structure_columns(self.raw, found, list(repeated))}
            left = [column for column in repeated if column not in drawn]
            self.taken.difference_update(drawn)
            also = f" Not used, as they say the same: {', '.join(left)}." if left else ""
            self.warnings.append(
                f"No column is called R1, R2, ...; the sites are {', '.join(found)}, whose levels together "
                f"distinguish the compounds. If others are, name these.{also}"
            )
        return found

    def _substituents(self, sites: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Return the columns with the structures of named substituents, by site; they are named and taken."""
        found = structure_columns(self.raw, sites, self._claims.free())
        if found:
            self.taken.update(column for _, column in found)
            note = ", ".join(f"{site} from {column}" for site, column in found)
            self.notes.append(f"Structures of substituents: {note}; those that look alike are expected to act alike.")
        return found

    def _core_of(self, smiles: str, columns: Sequence[EndpointColumn], refusal: NoSites) -> tuple[str, ...]:
        """Return the core that the structures share, the best compounds first, which is named.

        ``refusal`` without one.
        """
        found = find_cores(self.raw, smiles, columns, self._report)
        if not found.taken:
            raise self._without_sites(smiles, refusal.candidates, found.why)
        self.warnings.append(found.sentence)
        return tuple(one.smiles for one in found.taken)

    def _without_sites(self, smiles: str | None, candidates: tuple[str, ...], why: str = "") -> NoSites:
        """Return the refusal of a table without sites of its compounds."""
        message = "there is no site column (R1, R2, ...)"
        if smiles is not None:
            message += f", and {why or 'the structures share no core'}"
        shown = f", for example {', '.join(candidates)}" if candidates else ""
        mend = f"Name the columns with the substituents{shown}"
        mend += ", or give the core of the structures." if smiles is not None else "."
        refusal = NoSites(message, file=self.raw.file, option="--sites", mend=mend)
        refusal.candidates = candidates
        return refusal
