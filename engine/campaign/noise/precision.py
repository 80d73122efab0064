"""What a measurement of each compound is worth where the assay noise differs by class.

Of a difference of two endpoints the noise is that of a measurement of each: the squares of both SDs of the compound's
classes add up. The largest SD is then that of both largest together, which no compound need have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assaypilot.engine.arrays import Floats
from assaypilot.engine.campaign.counting import Books
from assaypilot.engine.difference import parts
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.library import Library

__all__ = ["differs", "of_arms", "of_compounds", "of_control", "of_controls", "sd_of_controls", "worth"]


def of_arms(books: Books, positions: Sequence[int]) -> Floats | None:
    """``(n_positions, n_arms)``, how many measurements of the largest SD one of each arm is worth; None: 1 each."""
    if not any(differs(books.endpoints, k) for k in positions):
        return None
    return np.stack([of_compounds(books, k)[books.first] for k in positions])


def of_controls(books: Books, positions: Sequence[int]) -> tuple[float, ...]:
    """The same of a control on a plate, by endpoint; empty where all measurements are worth as much."""
    if books.settings.blocks == "none" or not any(differs(books.endpoints, k) for k in positions):
        return ()
    return tuple(of_control(books.endpoints[k]) for k in positions)


def of_control(endpoint: Endpoint) -> float:
    """How many measurements of the largest SD one of a control is worth: it scatters like compounds of no class."""
    own = endpoint.noise_classes
    return 1.0 if own is None else (own.largest / own.guesses[0]) ** 2


def sd_of_controls(endpoint: Endpoint) -> float | None:
    """The SD between readings of a control: that of compounds of no class; None where it is not known."""
    return endpoint.noise_sd if endpoint.noise_classes is None else endpoint.noise_classes.guesses[0]


def of_compounds(books: Books, position: int) -> Floats:
    """``(n_compounds,)``, the same of one endpoint."""
    return worth(books.endpoints, books.library, position)


def differs(endpoints: Sequence[Endpoint], position: int) -> bool:
    """Whether the noise of an endpoint, or of one that it is the difference of, differs by class."""
    return any(endpoints[part].noise_classes is not None for part in parts(endpoints, position))


def worth(endpoints: Sequence[Endpoint], library: Library, position: int) -> Floats:
    """``(n_compounds,)``, how many measurements of the largest SD one of each compound is worth, by such endpoints."""
    own = parts(endpoints, position)
    classes = endpoints[own[0]].noise_classes
    if not differs(endpoints, position):
        return np.ones(len(library))
    if len(own) == 1 and classes is not None:
        return classes.precision(library)
    squares = np.zeros(len(library))
    for part in own:
        classes, sd = endpoints[part].noise_classes, endpoints[part].noise_sd or 0.0
        squares += (np.full(len(library), sd) if classes is None else classes.of(library)) ** 2
    largest = sum((endpoints[part].noise_sd or 0.0) ** 2 for part in own)
    return np.asarray(largest / squares, dtype=np.float64)
