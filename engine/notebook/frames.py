"""Between DataFrames and the engine's tables of texts, so that one reader understands files and frames alike."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..arrays import Ints
from ..errors import AssayPilotError
from ..tables.normalise import as_meant
from ..tables.opening import read_table as read_raw
from ..tables.raw import RawTable, visible

Table = pd.DataFrame | str | Path
"""A DataFrame, or the path of a file that holds a table."""

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
"""A text that means the same as a number: ``007`` is an id."""


def read_table(path: str | Path, *, sheet: str | None = None) -> pd.DataFrame:
    """Read a table as a campaign would: csv, tsv, workbooks, SD files, SMILES files and DataWarrior.

    Columns that hold nothing but numbers become numbers, empty cells NaN; all other cells stay texts, ``>10000`` and
    ``007`` too. ``frame.attrs["notes"]`` says what was assumed while reading. ``sheet`` names one of a workbook.
    AssayPilotError for what cannot be read.
    """
    raw = read_raw(path, sheet=sheet)
    frame = pd.DataFrame({name: _values(raw.column(name), raw.decimal) for name in raw.columns})
    frame.attrs["notes"] = list(raw.warnings)
    return frame


def raw_of(table: Table, *, sheet: str | None = None) -> RawTable:
    """Return the engine's table of a DataFrame or a file; rows of a frame are called as its index calls them.

    A named index counts as a column. AssayPilotError for a frame without columns, or with two of one name.
    """
    if not isinstance(table, pd.DataFrame):
        if not isinstance(table, str | Path):
            raise AssayPilotError(
                f"a table must be a DataFrame or a path, got {type(table).__name__}",
                mend="For example pd.DataFrame(x).",
            )
        return read_raw(table, sheet=sheet)
    frame = table.reset_index() if any(name is not None for name in table.index.names) else table
    columns = tuple(visible(str(name)).strip() for name in frame.columns)
    if not columns or not len(frame):
        raise AssayPilotError("the table is empty", mend="Give a DataFrame with a row for each compound.")
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise AssayPilotError(f"two columns are called {twice}", column=twice, mend="Give each a name of its own.")
    cells = tuple(tuple(map(text_of, frame.iloc[:, place])) for place in range(len(columns)))
    content = "\x1e".join("\x1f".join(texts) for texts in (columns, *cells))
    labels = frame.index
    named = labels.is_unique and all(isinstance(label, int | np.integer) and label >= 0 for label in labels)
    rows = tuple(int(label) for label in labels) if named else tuple(range(len(frame)))
    digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
    return as_meant(RawTable(columns, cells, rows, "text", "", ".", None, digest))


def plain(value: Any) -> Any:
    """Return a number of numpy as one of Python, which a file can keep; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def text_of(value: Any) -> str:
    """Return a cell as a person would type it: no text for missing values, numbers with all their digits."""
    if isinstance(value, str):
        return visible(value).strip()
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        number = float(value)
        if not np.isfinite(number):
            return "" if np.isnan(number) else str(number)
        return np.format_float_positional(number, trim="-")
    if value is None or value is pd.NaT or value is pd.NA:
        return ""
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat() if value == value.normalize() else value.isoformat()
    return visible(str(value)).strip()


def _values(texts: Iterable[str], decimal: str) -> list[Any]:
    """Return the cells of a column as numbers where all of them are, else as texts; None where empty."""
    kept = [text or None for text in texts]
    plain = [text if text is None else text.replace(decimal, ".") for text in kept]
    if not any(plain):
        return [np.nan] * len(kept)
    if not all(text is None or _NUMBER.fullmatch(text) for text in plain):
        return kept
    whole = all(text is not None and text.lstrip("-").isdigit() and len(text) < 16 for text in plain)
    return [int(text) if whole and text is not None else np.nan if text is None else float(text) for text in plain]


class Coding:
    """Substituents of some sites as codes; labels that were not seen before get codes of their own."""

    def __init__(self, labels: Sequence[Sequence[str]] = ()) -> None:
        self.labels = [list(own) for own in labels]

    def codes(self, columns: Sequence[Iterable[str]]) -> Ints:
        """Return ``(n, n_sites)`` codes of the labels in columns, one column per site."""
        coded = []
        for site, texts in enumerate(columns):
            while len(self.labels) <= site:
                self.labels.append([])
            known = {label: code for code, label in enumerate(self.labels[site])}
            coded.append([known.setdefault(text, len(known)) for text in texts])
            self.labels[site] = list(known)
        return np.array(coded, dtype=np.intp).T

    @property
    def sizes(self) -> list[int]:
        """Substituents per site."""
        return [len(own) for own in self.labels]
