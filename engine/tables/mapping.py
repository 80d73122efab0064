"""The mapping of a table by the conventions of the field, within what the user said."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables import headers, own
from assaypilot.engine.tables.claims import SAMPLED, Claims
from assaypilot.engine.tables.endpoint_columns import Endpoints
from assaypilot.engine.tables.mixed import counted_together
from assaypilot.engine.tables.options import TableMapping, TableOptions
from assaypilot.engine.tables.quality import quality_column
from assaypilot.engine.tables.raw import RawTable, fold
from assaypilot.engine.tables.site_columns import NoSites, could_be_site, likely_sites, numbered_sites
from assaypilot.engine.tables.stock import STOCK_ROLES, speaks_of
from assaypilot.engine.tables.values import is_missing

__all__ = ["propose"]

_SHOWN_LEFT = 12
_CORE = re.compile(r"core|scaffold|(?:structure|smiles) of core")
_NEARLY_UNIQUE = 0.9


def propose(raw: RawTable, options: TableOptions | None = None) -> TableMapping:
    """Which column is what; AssayPilotError when a named column is absent or there is no site column."""
    return _Proposal(raw, options or TableOptions()).mapping()


class _Proposal:
    """One pass over the headers, in which every column is taken at most once."""

    def __init__(self, raw: RawTable, options: TableOptions) -> None:
        self.raw = raw
        self.options = options
        self._claims = Claims(raw)
        self.taken, self.notes, self.warnings = self._claims.taken, self._claims.notes, self._claims.warnings
        self.endpoints = Endpoints(self._claims, options.endpoints)

    def mapping(self) -> TableMapping:
        options = self.options
        # What the user names comes first, so that no convention takes it away.
        id_column = self._claims.named(options.id, "--id")
        smiles = self._claims.named(options.smiles, "--smiles")
        available = self._claims.named(options.available, "--available")
        asked = {role: getattr(options, role) for role in STOCK_ROLES}
        stock = {role: self._stock_named(role, name) if name else None for role, name in asked.items()}
        sites = tuple(self._claims.named(name, "--sites") or name for name in options.sites)
        if len(set(sites)) != len(sites):
            raise AssayPilotError("a site is named twice", option="--sites", mend="Name each column once.")
        self.endpoints.take_named()
        self._leave_what_we_said()
        if smiles is None:
            smiles = self._structures()
        cores = self._cores()
        if not sites and not cores:
            sites = self._site_columns(smiles)
        if id_column is None:
            id_column = self._claims.first(headers.IDS)
        roles = {role: self._claims.role(role) for role in ("replicate", "date", "plate", "well", "batch", "comment")}
        excluded = self._claims.role("excluded") or self._failed()
        if available is None:
            available = self._claims.role("available")
            if available is not None:
                self.notes.append(f"Column {available} says which compounds can be had for a measurement.")
        for role in STOCK_ROLES:
            if asked[role] is None:
                stock[role] = self._stock_column(role)
        self._say_all_is_made(stock, asked)
        if id_column is None:
            id_column = self._unique_text_column()
        endpoint_column, columns = self.endpoints.found()
        columns += self.endpoints.differences([column.endpoint for column in columns])
        together = counted_together(self.raw, self.taken, columns, endpoint_column)
        self.warnings += [] if together is None else [together]
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

    def _stock_named(self, role: str, name: str) -> str | None:
        """The column of stock, cost or time that a user names; AssayPilotError for one of substituents."""
        column = self._claims.named(name, f"--{role}")
        site = column is not None and headers.SITE.fullmatch(fold(column)) is not None
        if column is not None and site and not speaks_of(role, self.raw.column(column), self.raw.decimal):
            raise AssayPilotError(
                f"column {column} holds substituents, and nothing that {STOCK_ROLES[role]}",
                option=f"--{role}",
                mend="Name the column of the table that does.",
            )
        return column

    def _say_all_is_made(self, stock: Mapping[str, str | None], asked: Mapping[str, str | None]) -> None:
        """Nothing; says what it means that a column of cost or time was found and none of stock."""
        found = [role for role in ("cost", "lead") if stock[role] and asked[role] is None]
        if found and not stock["stock"]:
            options = " ".join(f"--{role}=" for role in found)
            self.warnings.append(
                f"No column says what is in stock, so by column {stock[found[0]]} every compound has to be made before "
                f"it is measured. If they are at hand: {options}."
            )

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
            for column in self._claims.free()
            if column not in told and headers.role_of(column) is None and not _CORE.fullmatch(fold(column))
        ]
        left = [column for column in left if any(map(bool, self.raw.column(column)))]
        if not left:
            return
        shown = ", ".join(left[:_SHOWN_LEFT]) + (
            f" and {len(left) - _SHOWN_LEFT} more" if len(left) > _SHOWN_LEFT else ""
        )
        said = f"Not used: column{'' if len(left) == 1 else 's'} {shown}."
        sites = [] if self.options.cores else [c for c in left if could_be_site(self.raw, c, self._claims.numbers)]
        if sites:
            said += f" If {' or '.join(sites[:3])} is a site, too, name all of them with --sites."
        self.notes.append(said)

    def _structures(self) -> str | None:
        """The column of structures by its name, unless ids stand in it (Molecule: A-1, A-2); it is taken."""
        column = self._claims.first(headers.STRUCTURES)
        if column is None or "smiles" in fold(column) or not self._holds_names(column):
            return column
        found = self._structures()
        self.taken.discard(column)
        return found

    def _holds_names(self, column: str) -> bool:
        """Whether hardly a text of a column can be a SMILES, while all of them are different, as ids are."""
        texts = [text for text in self.raw.column(column)[:SAMPLED] if not is_missing(text)]
        shaped = sum(headers.SMILES_SHAPE.match(text) is not None for text in texts)
        return len(texts) > 1 and 10 * shaped < len(texts) and len(set(texts)) >= _NEARLY_UNIQUE * len(texts)

    def _failed(self) -> str | None:
        """The column that says which rows failed a check of quality, which is said; it is taken."""
        column = quality_column(self.raw, self._claims.free())
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

        self.taken.update(column for column in self._claims.free() if headers.SITE.fullmatch(fold(column)))
        return tuple(core.smiles for core in read_cores(self.options.cores))

    def _site_columns(self, smiles: str | None) -> tuple[str, ...]:
        exported = own.sites(self.raw.columns)
        if exported:
            self.taken.update(exported)
            return exported
        found = numbered_sites(self.raw, self._claims.free())
        if not found:
            candidates = likely_sites(self.raw, self._claims.free(), self._claims.numbers)
            message = "there is no site column (R1, R2, ...)"
            if smiles is not None and not candidates:
                message += ", and no core to take the structures apart with"
            shown = shlex.quote(",".join(candidates)) if candidates else "COLUMN,COLUMN"
            mend = f"Name the columns with the substituents: --sites {shown}."
            if smiles is not None:
                mend = f"{mend[:-1]}, or give the core of the structures: --core SMILES."
            refusal = NoSites(message, file=self.raw.file, option="--sites", mend=mend)
            refusal.candidates = candidates
            raise refusal
        self.taken.update(found)
        return found

    def _unique_text_column(self) -> str | None:
        """The leftmost free text column with hardly a repetition, which is said; None: ids are made."""
        for column in self._claims.free():
            if fold(column) in ("core", "scaffold") or headers.role_of(column) is not None:
                continue
            texts = [text for text in self.raw.column(column) if not is_missing(text)]
            if len(texts) < len(self.raw) or self._claims.numbers(column):
                continue
            if len(set(texts)) >= _NEARLY_UNIQUE * len(texts) and len(texts) > 1:
                self.taken.add(column)
                self.notes.append(f"No column is called ID; column {column} was taken for the ids.")
                return column
        for column in self._claims.free():
            numbers = self.raw.column(column)
            if fold(column) in headers.NUMBERS and all(numbers) and len(set(numbers)) == len(numbers) > 1:
                self.taken.add(column)
                self.notes.append(f"No column is called ID; column {column} was taken for the ids.")
                return column
        made = "the structures are numbered" if self.options.cores else "they are made from the substituents"
        self.notes.append(f"There is no column with ids; {made}.")
        return None
