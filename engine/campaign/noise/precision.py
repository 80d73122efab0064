"""What a measurement of each compound is worth where the assay noise differs by class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.campaign.counting import Books

__all__ = ["of_arms", "of_compounds"]

Floats = NDArray[np.float64]


def of_arms(books: Books, positions: Sequence[int]) -> Floats | None:
    """``(n_positions, n_arms)``, how many measurements of the largest SD one of each arm is worth; None: 1 each."""
    if all(books.endpoints[k].noise_classes is None for k in positions):
        return None
    return np.stack([of_compounds(books, k)[books.first] for k in positions])


def of_compounds(books: Books, position: int) -> Floats:
    """``(n_compounds,)``, the same of one endpoint."""
    own = books.endpoints[position].noise_classes
    return np.ones(len(books.library)) if own is None else own.precision(books.library)
