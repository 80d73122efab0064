"""The library table: each compound, what was known of it before, and whether it is available."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Floats
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.chemistry.calculated import properties_of
from assaypilot.engine.chemistry.names import pictures, site_names
from assaypilot.engine.domain.derived import pooled_of
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Measurement, Pooled, pool
from assaypilot.engine.domain.stock import TO_MAKE
from assaypilot.engine.tables.entries import Shown, shown

from ..tables.ordering import Ranks, text_ranks
from ..tables.properties import Calculated, property_columns
from ..tables.rows import Coded, Column, RowsModel, numbers, two_lines

STRUCTURE_WIDTH, STRUCTURE_WISH = 104, 150
"""Pixels of a column of structures, and where there is room."""
_DRAWN = 14
"""Letters of a substituent's name beyond which it is drawn."""


def structure_column(library: Library) -> list[Column]:
    """Return the column of pictures, or none where no structure is known."""
    smiles = library.smiles
    if smiles is None or not any(smiles):
        return []
    return [
        Column(
            "structure",
            "Structure",
            lambda row: "",
            smiles=lambda row: smiles[row],
            cell_tip=lambda row: smiles[row],
            width=STRUCTURE_WIDTH,
            wish=STRUCTURE_WISH,
        )
    ]


class _Names:
    """The order of the names of recent libraries: a campaign keeps its library."""

    kept: list[tuple[Sequence[str], Ranks]]

    def __init__(self) -> None:
        self.kept = []

    def ranks(self, ids: Sequence[str]) -> Ranks:
        """Return the place of each name in alphabetical order."""
        for known, ranks in self.kept:
            if known is ids:
                return ranks
        found = text_ranks(ids)
        self.kept = [*self.kept[-1:], (ids, found)]
        return found


_names = _Names()


def id_column(library: Library) -> Column:
    """Return the column of ids."""
    ids = library.ids
    return Column("id", "ID", lambda row: ids[row], lambda: _names.ranks(ids))


def coded_column(column: Column, coded: Coded, order: Ranks | None = None) -> Column:
    """Return a column of few different texts, with ``text``, ``rank`` and ``coded`` taken from them.

    ``order``: the sort keys of the texts, where they are not ordered by the alphabet.
    """
    codes, texts = coded.codes, coded.texts
    return replace(
        column,
        text=lambda row: texts[codes[row]],
        rank=lambda: (text_ranks(texts) if order is None else order)[codes],
        coded=lambda: coded,
    )


def drawn_labels(library: Library, site: int) -> list[str]:
    """Return the structure of each substituent of a site that is drawn since its name is long; else an empty text."""
    labels = library.sites[site].substituents
    names = site_names(labels)
    long = any(len(name) > _DRAWN for name in names)
    return [  # building blocks are drawn all or none, since their names begin the same way
        structure if len(name) > _DRAWN or (long and structure and "*" not in label) else ""
        for label, name, structure in zip(labels, names, pictures(library, site), strict=True)
    ]


def site_columns(library: Library) -> list[Column]:
    """One column per site, sorted by label."""

    def column(place: int) -> Column:
        site = library.sites[place]
        labels, codes = site.substituents, library.codes[:, place]
        names, drawn = site_names(labels), drawn_labels(library, place)
        column = Column(
            f"site{place}",
            site.name,
            str,
            smiles=(lambda row: drawn[codes[row]]) if any(drawn) else None,
            cell_tip=lambda row: labels[codes[row]],
            width=STRUCTURE_WIDTH if any(drawn) else 0,
            wish=STRUCTURE_WISH if any(drawn) else 0,
            soft=True,
        )
        return coded_column(column, Coded(codes, names))

    return [column(place) for place in range(len(library.sites))]


class LibraryModel(RowsModel):
    """All compounds of a campaign, one row each."""

    def show(self, status: Status, properties: Calculated | None = None) -> None:
        """Show a campaign's library, and the calculated properties."""
        library = status.library
        measured = status.candidates.measured
        state = availability(status)
        # Unavailable compounds come after available ones, whether they were made or not.
        there = np.maximum((measured > 0).astype(np.int8), np.where(state > 0, state + np.int8(1), np.int8(0)))
        words = Coded(there, ("", "made", "unavailable", "not in the lab's list"))
        if status.stock is not None:
            words = _stocked(status, there)
        columns = [
            id_column(library),
            *structure_column(library),
            *site_columns(library),
            *_history(status),
            Column(
                "measured",
                "Measured",
                lambda row: str(int(measured[row])) if measured[row] else "",
                lambda: measured,
                number=True,
                tip="Usable measurements, those of the table included",
            ),
            coded_column(
                Column(
                    "available",
                    "Available",
                    str,
                    tip="Made: measured at least once",
                    kind=lambda row: "muted" if state[row] else None,
                ),
                words,
                np.arange(len(words.texts)),
            ),
            *stock_columns(status),
            *property_columns(status, properties),
        ]
        self.fill(columns, len(library))


def _stocked(status: Status, there: NDArray[np.int8]) -> Coded:
    """Return the availability of every compound on a list; one that was made stays "made" when it is used up."""
    assert status.stock is not None
    texts = ("in stock", "to be made", "made, to be made again", "unavailable", "not in the lab's list")
    codes = np.where(there >= 2, there + np.int8(1), np.int8(0))
    to_make = (there < 2) & (status.stock.state == TO_MAKE)
    codes[to_make] = 1 + (there[to_make] == 1)
    return Coded(codes.astype(np.int8), texts)


def stock_columns(status: Status) -> list[Column]:
    """Return the cost and the days of making each compound to be made; none where no list states them."""
    stock = status.stock
    if stock is None:
        return []

    def column(key: str, title: str, values: Floats, tip: str) -> Column:
        return numbers(key, title, np.where(stock.state == TO_MAKE, values, np.nan), ",.10g", tip=tip)

    return [
        column("cost", f"Cost ({stock.currency})", stock.cost, "Of making it"),
        column("lead", "Lead (days)", stock.lead, "How long making it takes"),
    ]


def _history(status: Status) -> list[Column]:
    """Return the values that the table had, with a column for each measured endpoint that has some."""

    def column(position: int) -> Column | None:
        known = history_shown(status, position)
        if not known:
            return None
        levels = np.full(len(status.library), np.nan)
        levels[list(known)] = [values[0][1] for values in known.values()]
        endpoint = status.endpoints[position]
        return Column(
            "history" if position == status.objective else f"history-{endpoint.name}",
            two_lines(f"{endpoint.scale_name} before"),
            lambda row: ", ".join(f"{relation.strip('=')}{value:.2f}" for relation, value in known.get(row, ())),
            lambda: levels,
            number=True,
            tip="Mean of what the table already had; a proof does not decide by it. Where some values are bounds "
            "(< or >), only those that say more than the exact ones are in it; estimates do not use them",
            name=f"{endpoint.scale_name} before",
        )

    return [made for position in status.measured_endpoints if (made := column(position)) is not None]


def history_shown(status: Status, endpoint: int) -> dict[int, tuple[Shown, ...]]:
    """Return an endpoint's values before the campaign, model scale, for each compound that has some.

    One number with its relation, by the rule for mixed bounds; two where there are only bounds, one on each side.
    """
    entries: dict[int, list[Measurement]] = {}
    for one in status.measurements:
        if one.round == 0 and one.endpoint == endpoint and one.excluded is None and not one.withdrawn:
            entries.setdefault(one.compound, []).append(one)
    return {
        compound: shown([(one.relation, one.value) for one in own], [one.n for one in own])
        for compound, own in entries.items()
    }


def history_means(status: Status, endpoint: int) -> Floats:
    """Return each compound's mean of the exact values before the campaign, model scale.

    NaN without any.
    """

    def of_measured(place: int) -> Pooled:
        used = [one for one in status.measurements if one.round == 0 and one.usable and one.endpoint == place]
        return pool((m.compound for m in used), (m.value for m in used), (m.n for m in used), len(status.library))

    found = pooled_of(status.endpoints, endpoint, of_measured, properties_of(status.library))
    return np.where(found.counts > 0, found.means, np.nan)


def availability(status: Status) -> NDArray[np.int8]:
    """0: available; 1: noted as unavailable; 2: unavailable by the table."""
    state = np.where(status.library.measurable, np.int8(0), np.int8(2))
    if status.unavailable:
        state[sorted(status.unavailable)] = 1
    return state
