"""The contents of every export, in any format: the shortlist as on screen, all compounds, measurements and settings."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Ints
from ..campaign.state import Status
from ..system import program_version
from . import records
from .sheet import Cell, Column, Sheet
from .shortlist import (
    AVAILABILITY,
    CONFIRMED,
    EVIDENCE,
    Which,
    provenance,
    ranked,
    stock_columns,
    structure,
    table_of,
)

_WORDS: dict[Which, str] = {
    "in": "compounds that are in",
    "undecided": "compounds that are undecided",
    "out": "compounds that are out",
    "all": "all compounds",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The compounds and columns of the shortlist, in order."""

    which: Which = "in"
    """The compounds by status; when ``order`` is given it decides instead."""
    order: tuple[int, ...] | None = None
    """Exactly these compounds (positions in the library), in this order, as on screen; None: ranked."""
    columns: tuple[str, ...] | None = None
    """Headers of the shortlist in the order on screen; None: all.

    ID comes first. Evidence and availability come last, unless they are among them; so do cost and lead time (where a
    list gives them) and, after a confirmation round, its result: no row goes out without.
    """
    extra: tuple[Column, ...] = ()
    """Further columns, such as calculated properties, with a cell for each compound of the library.

    They follow the shortlist's own, with a number after a header that is taken; ``columns`` may name them.
    """


@dataclass(frozen=True, eq=False)
class Contents:
    """The data of every export of a campaign, at one head of its log. Can be pickled."""

    status: Status
    choice: Choice = Choice()
    program: str = "AssayPilot"
    """With its version."""
    exported: str = ""
    """Local date and time."""
    title: str = ""
    file: str = ""
    """Name of the campaign file, without its folder; empty when it is not known."""

    @cached_property
    def compounds(self) -> Ints:
        """``(n_chosen,)``, compounds of the shortlist as positions in the library, in the order of the export."""
        if self.choice.order is not None:
            return np.array(self.choice.order, dtype=np.intp)
        return ranked(self.status, self.choice.which)

    @cached_property
    def what(self) -> str:
        """The compounds of the shortlist, in words: ``12 of 960 compounds: those that are in``."""
        total, n = len(self.status.library), len(self.compounds)
        if self.choice.order is not None:
            return f"{n:,} of {total:,} compounds, chosen and sorted by hand"
        return f"{n:,} of {total:,} compounds: {_WORDS[self.choice.which]}"

    @cached_property
    def shortlist(self) -> Sheet:
        """One row per chosen compound with the chosen columns, evidence and availability in every one of them."""
        places: list[int] = self.compounds.tolist()
        extra = [Column(one.name, [one.cells[k] for k in places], one.digits) for one in self.choice.extra]
        whole = table_of(self.status, self.compounds).with_columns(extra)
        columns = self.choice.columns
        if columns is None:
            return whole
        chosen = dict.fromkeys(columns)
        first = [] if "ID" in chosen else ["ID"]
        stock = [column.name for column in stock_columns(self.status, [])]
        always = (EVIDENCE, AVAILABILITY, *stock, *((CONFIRMED,) if self.status.confirmation.rounds else ()))
        last = [name for name in always if name not in chosen]
        return whole.only([*first, *chosen, *last])

    @cached_property
    def shortlist_with_provenance(self) -> Sheet:
        """The shortlist with provenance columns at its end, in every row: for formats of one table."""
        rows = len(self.shortlist.rows)
        return self.shortlist.with_columns([Column(name, (cell,) * rows) for name, cell in self.provenance])

    @cached_property
    def everything(self) -> Sheet:
        """All compounds of the library, ranked, with all columns."""
        return table_of(self.status, ranked(self.status, "all"))

    @cached_property
    def measurements(self) -> Sheet:
        """One row per entry, in order of entry, those excluded or taken back included; see ``records``."""
        return records.measurements(self.status)

    @cached_property
    def rounds(self) -> Sheet:
        """One row per round: state, dates, measurements requested and returned."""
        return records.rounds(self.status)

    @cached_property
    def picks(self) -> Sheet:
        """One row per compound of each round: why it was picked, what was expected, what returned."""
        return records.picks(self.status)

    @cached_property
    def settings(self) -> Sheet:
        """Rows of (name, value): goal, endpoints, noise, guarantee, strategy, versions, date, head, file."""
        return records.settings(self.status, self.what, self.program, self.exported, self.file)

    @cached_property
    def provenance(self) -> tuple[tuple[str, Cell], ...]:
        """The provenance that a single row can carry, as (name, value)."""
        return provenance(self.status, program=self.program, exported=self.exported)

    def structure(self, compound: int) -> str:
        """Return the SMILES of a compound (a position in the library); empty when its structure is not known."""
        return structure(self.status, compound)


def contents(
    status: Status,
    choice: Choice | None = None,
    *,
    file: str = "",
    title: str = "",
    program: str = "",
    exported: str = "",
) -> Contents:
    """Return the contents of an export of a campaign now.

    Texts that are not given are filled in, the time with the local one.
    """
    now = datetime.datetime.now().astimezone()
    zone = f"{now:%z}"
    return Contents(
        status,
        choice or Choice(),
        program or f"AssayPilot {program_version()}",
        exported or f"{now:%Y-%m-%d %H:%M} {zone[:3]}:{zone[3:]}",
        title or status.name,
        file,
    )
