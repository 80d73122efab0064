"""Several sets of directions as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, Ints
from .directions import Directions

__all__ = ["Together"]


class Together:
    """The union of sets of directions in the same coordinates; a key is the set and the key in it."""

    def __init__(self, parts: Sequence[Directions]) -> None:
        if not parts or len({part.dimension for part in parts}) != 1:
            raise ValueError("at least one set of directions is needed, all in the same coordinates")
        self.parts = tuple(parts)
        self.n = sum(part.n for part in parts)
        self.dimension = parts[0].dimension

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Keys and values of the largest of all sets, largest first; ties go to the earlier set."""
        return self._largest([part.find(inverse, count) for part in self.parts], count)

    def some(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """The same quickly: large ones, but a larger one may be missed."""
        return self._largest([part.some(inverse, count) for part in self.parts], count)

    def average(self, inverse: Floats, sharpness: float) -> Floats:
        """An average of y y' over many directions of every set, each set counted alike."""
        parts = [part.average(inverse, sharpness) for part in self.parts]
        total: Floats = np.sum(parts, axis=0) / len(parts)
        return total

    def _largest(self, found: Sequence[tuple[Ints, Floats]], count: int) -> tuple[Ints, Floats]:
        width = max(keys.shape[1] for keys, _ in found)
        keys = np.concatenate(
            [
                np.column_stack(
                    [np.full(len(own), place), own, np.full((len(own), width - own.shape[1]), -1)],
                )
                for place, (own, _) in enumerate(found)
            ]
        ).astype(np.intp)
        values = np.concatenate([own for _, own in found])
        order = np.argsort(-values, kind="stable")[:count]
        return keys[order], values[order]

    def vectors(self, keys: Ints) -> Floats:
        """The directions of the keys."""
        out = np.empty((len(keys), self.dimension))
        for place, part in enumerate(self.parts):
            own = keys[:, 0] == place
            if own.any():
                inner = keys[own, 1:]
                out[own] = part.vectors(inner[:, (inner >= 0).all(axis=0)])
        return out

    def name(self, key: Ints) -> str:
        """What the direction is called in its own set."""
        inner = key[1:]
        return self.parts[int(key[0])].name(inner[inner >= 0])
