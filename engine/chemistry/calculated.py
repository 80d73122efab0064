"""The properties of a profile, calculated from the structures of a library."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..arrays import Floats
from ..domain.derived import PROPERTIES, Known
from ..domain.library import Library
from .properties import FIGURES, figures_of

_FIGURES = ("mw", "clogp", "tpsa", "hbd", "rotatable")
"""The figures of the properties, in their order."""
_PLACES = {name: FIGURES.index(figure) for name, figure in zip(PROPERTIES, _FIGURES, strict=True)}
_FEW = 40
"""Structures whose values the picture of a curve shows."""


def properties_of(library: Library) -> Known:
    """Return a function from name to the profile's property, ``(n_compounds,)``; values are computed on demand."""

    def known(name: str) -> Floats:
        values: Floats = _of_all(library.smiles or ("",) * len(library))[_PLACES[name]]
        return values

    return known


def some_values(name: str, smiles: Sequence[str]) -> list[float]:
    """Return a property of a few of the structures, evenly taken, for a picture of where its values are."""
    known = [text for text in smiles if text]
    chosen = known[:: max(1, -(-len(known) // _FEW))]
    values = [figures_of(text)[_PLACES[name]] for text in chosen]
    return [value for value in values if not np.isnan(value)]


@lru_cache(maxsize=4)
def _of_all(smiles: tuple[str, ...]) -> Floats:
    found: Floats = np.array([figures_of(text) for text in smiles], dtype=np.float64).T
    found.setflags(write=False)
    return found
