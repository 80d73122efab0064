"""Tables on their way between processes: few long texts instead of millions of short ones.

Unpickling a tuple of a million texts holds the interpreter for tenths of a second, and the window stands still
meanwhile. A column travels as texts of many cells each, and is cut up again piece by piece. Needs no Qt.
"""

from __future__ import annotations

import gc
import pickle
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags
from ..domain.library import Library
from ..domain.measurements import Result
from ..domain.stock import StockLine
from ..system.memory import without_collecting
from ..system.packing import Parcel, pack_texts, unpack_texts
from .importer import ImportedTable
from .raw import RawTable

RESULTS = 2_000
"""Values in one piece."""
MANY = 20_000
"""Values beyond which the collector leaves them alone."""

Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class RawParcel:
    """A table: everything but its cells in ``rest``."""

    rest: RawTable
    cells: tuple[Parcel, ...]


def pack_raw(raw: RawTable) -> RawParcel:
    """The table with its cells as few long texts."""
    return RawParcel(replace(raw, cells=()), tuple(map(pack_texts, raw.cells)))


def unpack_raw(parcel: RawParcel) -> RawTable:
    """The table."""
    return replace(parcel.rest, cells=tuple(map(unpack_texts, parcel.cells)))


@dataclass(frozen=True, slots=True)
class LibraryParcel:
    """A library: everything but its names in ``rest``, which has no compound."""

    rest: Library
    ids: Parcel
    smiles: Parcel | None
    codes: Codes
    measurable: Flags


def pack_library(library: Library) -> LibraryParcel:
    """The library with its names as few long texts."""
    smiles = None if library.smiles is None else pack_texts(library.smiles)
    rest = replace(library, ids=(), codes=library.codes[:0], measurable=library.measurable[:0], smiles=None)
    return LibraryParcel(rest, pack_texts(library.ids), smiles, library.codes, library.measurable)


def unpack_library(parcel: LibraryParcel) -> Library:
    """The library."""
    smiles = None if parcel.smiles is None else unpack_texts(parcel.smiles)
    ids = unpack_texts(parcel.ids)
    return replace(parcel.rest, ids=ids, codes=parcel.codes, measurable=parcel.measurable, smiles=smiles)


@dataclass(frozen=True, slots=True)
class ImportParcel:
    """What was imported."""

    rest: ImportedTable
    library: LibraryParcel
    listed: LibraryParcel | None
    """None where it is the library."""
    history: tuple[bytes, ...]
    """Pickled a few thousand at a time."""
    stock: tuple[bytes, ...] = ()
    """The same of what is said of stock."""


def pack_imported(imported: ImportedTable) -> ImportParcel:
    """What was imported; which row became which compound is left behind, the window does not ask."""
    library = pack_library(imported.library)
    listed = None if imported.listed is imported.library else pack_library(imported.listed)
    history = imported.history
    parts = tuple(pickle.dumps(history[start : start + RESULTS]) for start in range(0, len(history), RESULTS))
    stock = imported.stock
    said = tuple(pickle.dumps(stock[start : start + RESULTS]) for start in range(0, len(stock), RESULTS))
    rest = replace(imported, library=library.rest, listed=library.rest, of_row=(), history=(), stock=())
    return ImportParcel(rest, library, listed, parts, said)


def unpack_imported(parcel: ImportParcel) -> ImportedTable:
    """What was imported."""
    library = unpack_library(parcel.library)
    listed = library if parcel.listed is None else unpack_library(parcel.listed)
    history: list[Result] = []
    stock: list[StockLine] = []
    with without_collecting():
        for part in parcel.history:
            history += pickle.loads(part)  # from our own process, through its own pipe
            time.sleep(0)
        for part in parcel.stock:
            stock += pickle.loads(part)  # likewise
            time.sleep(0)
        if len(history) > MANY:
            # They hold no cycles and stay: looking through them again and again would stop the window each time.
            gc.freeze()
    return replace(parcel.rest, library=library, listed=listed, history=tuple(history), stock=tuple(stock))
