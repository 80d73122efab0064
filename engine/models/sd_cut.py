"""Replicates for the assay noise, where some values are known only as bounds and so say nothing of their scatter.

Replicates that are all within the range of an assay scatter less near its end than they would without it: those that
would have been beyond are missing. At the end itself two values that both came are 0.6 of the SD from each other's
usual distance, and a bound on the SD by such pairs is too small, always. So what is near an end must not count, and
that must be told by something that says nothing of the scatter: the mean of a compound's values in a phase is
independent of the contrasts between them.

**The rule.** A cell (values of one compound in one phase) counts when all its values came and their mean is at least h
within every bound that was met, h being 4 SD or more. One of its values would be beyond only if it were 4 SD from the
mean of them all, 3 times in 100,000; so the contrasts that count are normal but for that, and nothing decides by it.

**h without the SD.** h is the least of seven, from an eighth of 4 guesses to 8 times that, at which the SD of what
counts then is at most h / 4; there is no such h by accident when the true SD is larger: cells that are cut at h from
their mean still scatter by 0.8 h. Each of the seven has its share of alpha, so that it does not matter which it is.
Without any nothing is known of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from assaypilot.engine.models.sd_bound import LAST

__all__ = ["Cell", "Cells", "far_within", "summed"]

_FAR = 4.0
"""SDs from a bound at which a cell is as good as never cut."""
_TIMES = tuple(2.0**k for k in range(-3, 4))
"""How many times the guess the SD may be, at most."""


class Cell(NamedTuple):
    """Values of one compound in one phase (and block), all of which came as numbers."""

    mean: float
    squares: float
    """Sum of squares of their contrasts."""
    freedom: int
    """Degrees of freedom of these."""


class Cells(NamedTuple):
    """Cells of an endpoint, and the bounds that were met on the way."""

    cells: Sequence[tuple[int, Cell]]
    """With the compound of each."""
    ends: tuple[float, float]
    """The highest value below which, and the lowest above which, something was known only as a bound."""

    @property
    def cut(self) -> bool:
        """Whether anything was."""
        return math.isfinite(self.ends[0]) or math.isfinite(self.ends[1])


def summed(cells: Sequence[Cell]) -> tuple[float, int]:
    """Squares and degrees of freedom of cells together, up to as many as are counted."""
    squares, freedom = 0.0, 0
    for cell in cells:
        # How many a compound brings was fixed before they came.
        if freedom + cell.freedom <= LAST:
            squares, freedom = squares + cell.squares, freedom + cell.freedom
    return squares, freedom


def far_within(
    cells: Sequence[Cell], ends: tuple[float, float], guess: float, alpha: float
) -> tuple[list[Cell], float]:
    """The cells that no bound cut, and their share of alpha; none where that cannot be told.

    ``ends``: the highest value below which, and the lowest above which, something was known only as a bound.
    """
    for times in _TIMES:
        far = _FAR * times * guess
        kept = [cell for cell in cells if ends[0] + far <= cell.mean <= ends[1] - far]
        squares, freedom = summed(kept)
        if freedom and math.sqrt(squares / freedom) * _FAR <= far:
            return kept, alpha / len(_TIMES)
    return [], alpha / len(_TIMES)
