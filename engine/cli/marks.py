"""Columns of a table that say something about each compound: yes or no, or a price."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import Flags, Floats
from ..domain.library import Library
from ..errors import AssayPilotError
from ..tables.importer import NO, YES
from ..tables.raw import RawTable
from ..tables.values import is_missing, parse_number, quoted

__all__ = ["flags", "prices"]


def flags(raw: RawTable, of_row: Sequence[str | None], library: Library, column: str | None, option: str) -> Flags:
    """Which compounds a column of yes and no marks, ``(n,)``; all False without a column, blank is no.

    A compound of several rows is marked when one of them is. AssayPilotError for any other word.
    """
    marked = np.zeros(len(library), dtype=bool)
    if column is None:
        return marked
    name = _column(raw, column, option)
    for row, text, compound in zip(raw.rows, raw.column(name), of_row, strict=True):
        word = text.casefold()
        if word not in YES and word not in NO and not is_missing(text):
            raise AssayPilotError(
                f"{quoted(text)} is neither yes nor no", file=raw.file, row=row, column=name, mend="Write yes or no."
            )
        place = None if compound is None else library.find(compound)
        if place is not None and word in YES:
            marked[place] = True
    return marked


def prices(raw: RawTable, of_row: Sequence[str | None], library: Library, column: str, option: str) -> Floats:
    """Return what each compound costs, ``(n,)``, NaN for compounds that no row lists.

    AssayPilotError for a cell that is no number of 0 or more, and for two prices of one compound.
    """
    name = _column(raw, column, option)
    found = np.full(len(library), math.nan)
    for row, text, compound in zip(raw.rows, raw.column(name), of_row, strict=True):
        place = None if compound is None else library.find(compound)
        if place is None:
            continue
        try:
            price = parse_number(text, raw.decimal)
        except ValueError as error:
            raise AssayPilotError(
                "the price is missing" if is_missing(text) else str(error),
                file=raw.file,
                row=row,
                column=name,
                mend="Write what it costs to make this compound, 0 if it is there already.",
            ) from None
        if not (math.isfinite(price) and price >= 0):
            raise AssayPilotError(
                f"{quoted(text)} is no price",
                file=raw.file,
                row=row,
                column=name,
                mend="Write what it costs to make this compound, 0 if it is there already.",
            )
        if not math.isnan(found[place]) and found[place] != price:
            raise AssayPilotError(
                f"{compound} has two prices, {found[place]:g} and {price:g}",
                file=raw.file,
                row=row,
                column=name,
                mend="Give each compound one.",
            )
        found[place] = price
    return found


def _column(raw: RawTable, wanted: str, option: str) -> str:
    name = raw.find(wanted.strip())
    if name is None:
        raise AssayPilotError(
            f"there is no column {wanted!r}; the columns are {', '.join(raw.columns)}",
            file=raw.file,
            option=option,
            mend="Name one of them.",
        )
    return name
