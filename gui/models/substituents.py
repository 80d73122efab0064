"""The substituents of a table's sites with how often each occurs, and the steps by which a series was made smaller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .base import Column, RowsModel, text_ranks

__all__ = ["Substituent", "SubstituentsModel"]


@dataclass(frozen=True, slots=True)
class Substituent:
    """One substituent of a site."""

    site: str
    label: str
    """As the table has it."""
    shown: str
    drawn: str
    """SMILES for a picture; empty for a plain label."""
    count: int
    """Compounds that carry it."""


class SubstituentsModel(RowsModel):
    """Site, substituent, picture where it is a structure, compounds."""

    entries: tuple[Substituent, ...] = ()

    def show(self, entries: Sequence[Substituent]) -> None:
        """Take over the list."""
        kept = self.entries = tuple(entries)
        pictures = any(one.drawn for one in kept)
        columns = [
            Column("site", "Site", lambda row: kept[row].site, lambda: text_ranks([one.site for one in kept])),
            Column(
                "shown",
                "Substituent",
                lambda row: kept[row].shown,
                lambda: text_ranks([one.shown for one in kept]),
                cell_tip=lambda row: kept[row].shown,
                soft=True,
            ),
        ]
        if pictures:
            columns.append(
                Column("picture", "Structure", lambda row: "", smiles=lambda row: kept[row].drawn, width=130)
            )
        columns += [
            Column(
                "count",
                "Compounds",
                lambda row: f"{kept[row].count:,}",
                lambda: np.array([one.count for one in kept], dtype=np.int64),
                number=True,
            ),
            Column(
                "said",
                "",
                lambda row: "seen once" if kept[row].count == 1 else "",
                kind=lambda row: "muted",
            ),
        ]
        self.fill(columns, len(kept))

    def narrow(self, site: str, text: str) -> None:
        """Show one site (empty: all of them), and only what holds a text."""
        wanted = text.strip().casefold()
        if not site and not wanted:
            self.only(None)
            return
        self.only(
            np.fromiter(
                (site in ("", one.site) and wanted in f"{one.shown} {one.label}".casefold() for one in self.entries),
                dtype=bool,
                count=len(self.entries),
            )
        )
