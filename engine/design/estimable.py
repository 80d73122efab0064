"""Directions that no candidate can tell anything about are refused, by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Ints
from ..domain.features import OUTSIDE_TOLERANCE, ProjectedFeatures
from ..errors import AssayPilotError

__all__ = ["Named", "refuse_apart", "refuse_outside"]


_NAMED = 3
"""How many offenders a refusal names."""


class Named:
    """Positions in words: the names given, or their number."""

    def __init__(self, names: Sequence[str] | None, n: int) -> None:
        if names is not None and len(names) != n:
            raise ValueError("one name per row is needed")
        self.names = names

    def __call__(self, position: int) -> str:
        """The name of the row at the position."""
        return f"row {position + 1}" if self.names is None else self.names[position]


def refuse_outside(outside: Ints, name: Callable[[int], str]) -> None:
    """Raise when directions have a part that no candidate can tell anything about."""
    if len(outside):
        raise AssayPilotError(
            f"{_list(outside, name)} cannot be estimated from the compounds that can be measured",
            mend="Leave them out, or allow compounds to be measured that share their substituents.",
        )


def refuse_apart(table: ProjectedFeatures, other: ProjectedFeatures | None, name: Callable[[int], str]) -> None:
    """Raise when rows differ from the first (of ``other``) by something no candidate can tell anything about.

    A compound that cannot be estimated may still be compared with one that lacks the same.
    """
    features = table.features
    if table.rank == features.n_columns:
        return
    complement = np.eye(features.n_columns) - table.basis @ table.basis.T
    reference = (table if other is None else other).rows[:1]
    first = features.dense(reference)[0]
    lengths = features.quadratic(np.eye(features.n_columns), table.rows)
    rest = features.quadratic(complement, table.rows)
    rest += float(first @ complement @ first) - 2.0 * features.times(complement @ first, table.rows)
    scale = np.maximum(lengths, float(first @ first))
    refuse_outside(np.flatnonzero(rest > OUTSIDE_TOLERANCE**2 * np.maximum(scale, 1e-300)), name)


def _list(positions: Ints, name: Callable[[int], str]) -> str:
    told = ", ".join(name(int(i)) for i in positions[:_NAMED])
    more = len(positions) - _NAMED
    return told if more <= 0 else f"{told} and {more:,} more"
