"""How well an additive model describes what was measured: R2, leave-one-out Q2 and predictions, residual SD."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Floats, Ints
from ..domain.elimination import Eliminated, Solver
from ..domain.features import SiteFeatures

if TYPE_CHECKING:
    from .ols import Estimate

LEVERAGE_ONE = 1e-6
"""A row whose leverage is this close to 1 is fitted exactly: nothing else predicts it."""


@dataclass(frozen=True, slots=True)
class AdditiveFit:
    """Figures of one endpoint's additive (Free-Wilson) fit, each row counted once."""

    rows: int
    """Rows with a value."""
    rank: int
    """The dimension of their features."""
    r2: float | None
    """1 - residual / total sum of squares; None when all values are equal or there is no row."""
    q2: float | None
    """Leave-one-out: 1 - sum (e / (1 - h))^2 / sum (y - mean of the others)^2 over rows with leverage h < 1."""
    residual_sd: float | None
    """Residual SD with rows - rank degrees of freedom; None when there are none."""
    leverage_one: int
    """Rows that are fitted exactly, because a direction of the model is seen in them alone."""

    def as_json(self) -> dict[str, float | int | None]:
        """Return the figures by name."""
        return asdict(self)


def additive_fit(features: SiteFeatures, rows: Ints, values: Floats) -> AdditiveFit:
    """Return the figures of the unweighted least-squares fit of one value per row (a compound's mean, model scale).

    ``rows`` are row numbers of ``features``, ``values`` the ``(m,)`` values. Rows of equal features (two compounds
    with equal substituents) stay rows of their own.
    """
    y = np.asarray(values, dtype=float)
    if not len(y):
        return AdditiveFit(0, 0, None, None, None, 0)
    return figures_of(Solver(Eliminated(features.columns(rows), features.n_columns), np.ones(len(y))), y)


def figures_of(solver: Solver, y: Floats) -> AdditiveFit:
    """Return the figures of the fit to one value ``(m,)`` per row, at least one, each of weight 1 in the ``solver``."""
    n, rank = len(y), solver.table.rank
    residuals = y - solver.fitted(y)
    leverage = solver.leverage
    exact = leverage > 1.0 - LEVERAGE_ONE
    residuals[exact] = 0.0
    total = float(((y - y.mean()) ** 2).sum())
    # Below this a spread is rounding of the values themselves.
    flat = n * (1e-12 * max(1.0, float(np.abs(y).max()))) ** 2
    squares = float((residuals**2).sum())
    freedom = n - rank
    free = ~exact
    q2 = None
    if free.any() and n > 1:
        press = float(((residuals[free] / (1.0 - leverage[free])) ** 2).sum())
        # y - mean of the others = (y - mean) n / (n - 1)
        alone = float((((y[free] - y.mean()) * n / (n - 1)) ** 2).sum())
        q2 = 1.0 - press / alone if alone > flat else None
    return AdditiveFit(
        rows=n,
        rank=rank,
        r2=1.0 - squares / total if total > flat else None,
        q2=q2,
        residual_sd=float(np.sqrt(squares / freedom)) if freedom > 0 else None,
        leverage_one=int(exact.sum()),
    )


def leave_one_out(fit: Estimate, rows: Ints, means: Floats, counts: Floats) -> Floats:
    """Return the prediction ``(m,)`` of each measured row from the other rows; NaN where they do not predict it.

    ``fit`` is that to the ``means`` ``(m,)``, model scale, ``counts`` the determinations behind each: a row is left out
    with all of them. y - e / (1 - h) with the leverage h (Cook and Weisberg 1982, section 2.2): one fit serves all.
    """
    if not len(rows):
        return np.zeros(0)
    leverage = np.minimum(fit.features.quadratic(fit.covariance, rows) * counts, 1.0)
    alone = leverage > 1.0 - LEVERAGE_ONE
    room = np.where(alone, 1.0, 1.0 - leverage)
    return np.where(alone, np.nan, means - (means - fit.means(rows)) / room)
