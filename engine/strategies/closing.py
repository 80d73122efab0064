"""How far values known only as bounds can be from what other compounds say of them, in the same phase.

A bound leaves a latent value open to one side. But effects add up: the latent means l of the m cells of a phase, with n
measurements each, have residuals from their own least squares whose squares, weighted by n, are sigma^2 times a
chi-square with m - d degrees of freedom (d: the rank), given all that was before the phase and whatever the values. So

    R(l) <= q sigma^2,  q the quantile of chi-square at 1 - eta / (r (r + 1)) in phase r,

in all phases together but for a probability of eta. With delta the latent means of the cells that are not told, minus
the bounds they were given, R is R_min + (delta - c)'Q(delta - c), Q = N_C - N_C X_C V^-1 X_C' N_C, and delta lies in an
ellipsoid around c, which is what the other cells predict. A combination b'delta is then at least

    b'c - sqrt(q sigma^2 - R_min) sqrt(b' Q^-1 b),

and has no end only where nobody else tells of these cells (b outside the range of Q). Whatever follows from that for a
step of a walk is right on that event, for all directions at once, however they were chosen: nothing else is spent. With
an upper bound on sigma in its place it is right where that bound is. Where R_min alone is above its limit (effects do
not add up, or the event failed) nothing is closed.

**What eta is.** Of the K compounds that ``adaptive`` tests for being put in, each at one level, the best cannot be put
in wrongly: that level is never spent. Half of it is eta; what steps without an end take (``censored``) is far less than
the other half.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.features import Features
from assaypilot.engine.models.ols import Estimate

__all__ = ["Ball", "closed"]


_MOST_CELLS = 200
"""Cells known only as bounds beyond which a phase is left open."""
_MOST_WORK, _MOST_HELD = 1_000_000_000, 20_000_000
"""Multiplications, and numbers held, for one set of combinations beyond which they are left open."""
_TOLD = 1e-9
"""Share of a cell's own weight below which Q knows nothing in a direction."""


class Ball(NamedTuple):
    """Where the means of k cells lie that are known only as bounds, relative to the values they were given."""

    centre: Floats
    """``(k,)``, what the other cells predict."""
    root: Floats
    """``(k, k)``: root root' is the inverse of Q, where it has one."""
    untold: Floats
    """``(k, j)``, directions that nobody else tells of."""
    radius: float

    @property
    def turned(self) -> Ball:
        """The same of everything with its sign turned."""
        return self._replace(centre=-self.centre)

    def affords(self, combinations: int) -> bool:
        """Whether so many combinations take no longer than a plan may."""
        each = len(self.root)
        return combinations * each * each <= _MOST_WORK and combinations * each <= _MOST_HELD

    def below(self, shares: Floats) -> Floats:
        """``(m,)``, how far below 0 combinations ``(k, m)`` of these may be, at least 0; infinite where untold."""
        reach = self.radius * np.sqrt(np.einsum("ij,ij->j", *[self.root.T @ shares] * 2))
        found: Floats = np.maximum(reach - self.centre @ shares, 0.0)
        if self.untold.shape[1]:
            sizes = np.sqrt(np.einsum("ij,ij->j", shares, shares))
            open_ = np.abs(self.untold.T @ shares).max(axis=0) > 1e-6 * sizes
            found[open_ & (sizes > 0)] = np.inf
        return found


def closed(
    features: Features, cells: tuple[Ints, Floats, Floats], which: Ints, whole: Estimate, sigma: float, level: float
) -> Ball | None:
    """Where the means of some cells of a phase lie; None where nothing can be said.

    ``cells``: arm, count and mean of each, ``whole`` the least-squares estimate by these; ``which``: places of those
    that are known only as bounds, which have the bound as their mean; ``level``: how often that may be wrong.
    """
    from scipy.special import chdtri

    arms, counts, means = cells
    freedom = len(arms) - whole.rank
    if not 0 < len(which) <= _MOST_CELLS or freedom <= 0 or level <= 0:
        return None
    left = means - whole.means(arms)
    squares = float(counts @ (left * left))
    x, n = features.dense(arms[which]), counts[which]
    precise = np.diag(n) - (n[:, None] * (x @ whole.covariance @ x.T)) * n
    slope = n * left[which]
    values, vectors = np.linalg.eigh(precise / np.sqrt(n) / np.sqrt(n)[:, None])
    told = values > _TOLD
    # In units in which each cell weighs 1; moving along what is told lowers the squares to the least there are.
    inside = vectors[:, told] / np.sqrt(values[told])
    along = inside.T @ (slope / np.sqrt(n))
    room = float(chdtri(freedom, level)) * sigma * sigma - (squares - float(along @ along))
    if room < 0:
        return None
    root = np.zeros((len(which), len(which)))
    root[:, : int(told.sum())] = inside / np.sqrt(n)[:, None]
    centre = -(inside @ along) / np.sqrt(n)
    return Ball(centre, root, vectors[:, ~told] / np.sqrt(n)[:, None], math.sqrt(room))
