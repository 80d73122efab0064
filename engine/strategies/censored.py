"""Values known only as a bound: what they leave open of an estimate, and how walks go on all the same.

A result like ``>10000`` stands for a latent value, what the assay would have shown without its limit, which is known to
lie in an interval. Least squares over latent values is as exact as ever: a difference is a linear combination of the
means of cells, and each coefficient's sign picks the end of a cell's interval that makes it least. So a step of a walk
is at least its worst case, whatever the latent values are, and a walk of worst cases that passes its limit is passed by
the latent walk, at every look and for every choice made on the way. No step may be left out because a value was
censored: that would select by values.

**Which cells count for what.** Weights may be anything that is fixed before a phase. Cells that are expected near a
limit or beyond it (``shy_cells``, by the phases before) are used only for what no others tell: first an estimate from
the others, then the effects that only shy cells carry from what is left of these, the less shy ones before the others.
So a bound there opens nothing else, and a compound behind a limit has its own cells with the sign whose end is known.

**What other cells say.** Effects add up, so that the other cells of a phase tell about where a value beyond its bound
is: ``closing`` gives an end to most open intervals, for an eta of its own. Without one, or where that end is farther:

**Steps without an end.** Where the interval is open the worst case has no end. So a latent step below -4 standard
errors is counted as -4, always: the walk of such steps passes a limit with hardly more probability than the one of
whole steps, because a walk that is helped by it has to make up for 4 standard errors and to reach its limit all the
same. By numerical integration the excess is below 10^-5 of each level (see the tests). For all epsilon-best compounds
that is covered: of K compounds tested at one level for being put in, the best one cannot be put in wrongly, and for K
above 45,000 levels are so small that the excess is far less. Elsewhere it is less than 10^-5 of delta.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.features import Features, outside_span, span_basis
from assaypilot.engine.models.ols import Estimate
from assaypilot.engine.strategies.closing import Ball
from assaypilot.engine.strategies.designs import fit, table

__all__ = [
    "LEAST_STEP",
    "Doubt",
    "apart",
    "beside",
    "doubted",
    "fit_imputed",
    "in_steps",
    "shy_cells",
    "shyness",
    "weights_of",
]

Small = NDArray[np.int8]

LEAST_STEP = -4.0
"""What a step counts that is less, or that a bound leaves open; in standard errors."""
_NONE = 1e-9
"""Coefficients this small beside the largest of their cell are none: an open interval must not count for rounding."""
_IMPUTED = 30
"""Rounds of estimating what censored cells may have been; to plan by."""
_NEAR = (2.5, 1.5, 0.5)
"""Noise SDs between an expected mean and a limit, below which a compound is shy: the less, the shyer."""
_RISK, _LIKELY = 0.25, 0.5
"""The chance of any bound among the cells of a phase that count first, and that of one cell that counts last."""
_ALIKE = 3
"""Shy compounds measured for what any of them tells: replicates of one are limited."""
_AT_ONCE = 4096
"""Shy compounds looked at together."""
_INSIDE = 1e-9
"""Squared share of a row's length that is no part outside a span, but rounding."""


class Doubt(NamedTuple):
    """What an estimate leaves open, because k of its cells are known only to lie in an interval."""

    theta: Floats
    """``(n_columns, k)``: how the estimate moves with the mean of each of these cells."""
    below: Floats
    """``(k,)``, how far the mean of each may lie below the value it was given, at most 0; minus infinity when open."""
    above: Floats
    ball: Ball | None = None
    """What the other cells say of these, where they say it; see ``closing``."""

    def least(self, coefficients: list[Floats]) -> Floats:
        """How far below its estimate a combination may lie, at least 0; ``coefficients`` has one array per cell."""
        total = np.zeros(coefficients[0].shape)
        # Of cells that are open to the side that counts, how much each does.
        open_: list[Floats] | None = [] if self.ball is not None and self.ball.affords(total.size) else None
        for share, below, above in zip(coefficients, self.below, self.above, strict=True):
            scale = _NONE * max(float(np.abs(share).max(initial=0.0)), 1e-3)
            without = np.zeros(share.shape)
            for sign, end in ((1.0, -below), (-1.0, above)):
                told = sign * share > scale
                if np.isinf(end) and open_ is not None:
                    without[told] = share[told]
                elif end > 0 and told.any():
                    total[told] += sign * share[told] * end
            if open_ is not None:
                open_.append(without.ravel())
        if self.ball is not None and open_ is not None:
            total += self.ball.below(np.array(open_)).reshape(total.shape)
        return total

    def of_rows(self, features: Features, rows: Ints | None) -> list[Floats]:
        """The coefficient of each cell in the means of rows."""
        return [features.times(column, rows) for column in self.theta.T]

    @property
    def turned(self) -> Doubt:
        """The same of everything with its sign turned: ``least`` then says how far above."""
        return Doubt(self.theta, -self.above, -self.below, None if self.ball is None else self.ball.turned)


def doubted(
    weights: Floats, means: Floats, low: Floats, high: Floats, ball: Callable[[Ints], Ball | None] | None = None
) -> Doubt | None:
    """What an estimate leaves open whose cells have these means, each somewhere between two ends; None for nothing.

    ``weights`` ``(n_columns, m)``: how it moves with each cell; ``ball``: what others say of some cells, by place.
    """
    cells = np.flatnonzero((low < means) | (high > means))
    if not len(cells):
        return None
    told = None if ball is None else ball(cells)
    return Doubt(weights[:, cells], low[cells] - means[cells], high[cells] - means[cells], told)


def apart(found: Estimate, means: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """How far below its least-squares mean each row's may lie, and how far above, as cells lie between two ends."""
    rows = np.arange(found.features.n_rows)
    if not ((low < means) | (high > means)).any():
        return np.zeros(len(rows)), np.zeros(len(rows))
    doubt = doubted(weights_of(found, len(means)), means, low, high)
    assert doubt is not None
    shares = doubt.of_rows(found.features, rows)
    return doubt.least(shares), doubt.turned.least(shares)


def weights_of(found: Estimate, n_cells: int) -> Floats:
    """How a least-squares estimate moves with each of its cells, ``(n_columns, n_cells)``."""
    return found.of_values(np.eye(n_cells)).theta


def in_steps(features: Features, cells: tuple[Ints, Floats, Floats], shy: Small) -> tuple[Estimate, Floats]:
    """The estimate in which shy cells count only for what less shy ones do not tell, and how it moves with each cell.

    Unbiased, for any shyness that does not depend on the values. ``cells``: arm, count and mean of each.
    """
    arms, counts, means = cells
    whole = fit(features, arms, counts, means)
    steps = np.unique(shy)
    if len(steps) < 2:
        return whole, weights_of(whole, len(arms))
    x = features.dense(arms)
    now = shy == steps[0]
    weights = np.zeros((features.n_columns, len(arms)))
    weights[:, now] = weights_of(fit(features, arms[now], counts[now], means[now]), int(now.sum()))
    basis = span_basis(features, arms[now])
    for step in steps[1:]:
        now = shy == step
        rest = _rest(x[now], basis)
        root = np.sqrt(counts[now])[:, None]
        _, sizes, directions = np.linalg.svd(root * rest, full_matrices=False)
        new = directions[sizes > _INSIDE * float(np.linalg.norm(root * x[now]))]
        if len(new):
            # Directions that no cell before tells, from what is left of these cells.
            inside = rest @ new.T
            second = new.T @ np.linalg.solve((inside * root).T @ (inside * root), (inside * root * root).T)
            weights -= second @ (x[now] @ weights)
            weights[:, now] += second
            basis = np.hstack([basis, new.T])
    return whole.weighted(weights, counts, means), weights


def fit_imputed(
    features: Features, cells: tuple[Ints, Floats, Floats], low: Floats, high: Floats, sigma: float
) -> Estimate:
    """The estimate from cells (arm, count, mean) with censored ones at what they are expected to be: to plan by.

    By expectation and maximisation for normal values, each cell's mean being one (Dempster, Laird and Rubin, JRSS B 39,
    1977); it decides nothing.
    """
    arms, counts, means = cells
    censored = np.flatnonzero((low < means) | (high > means))
    values = means.copy()
    found = fit(features, arms, counts, values)
    sd = sigma / np.sqrt(counts[censored])
    for _ in range(_IMPUTED if len(censored) else 0):
        at = found.means(arms[censored])
        values[censored] = at + sd * _truncated_mean((low[censored] - at) / sd, (high[censored] - at) / sd)
        found = found.of_values(values)
    return found


def _truncated_mean(a: Floats, b: Floats) -> Floats:
    """The mean of a standard normal variable known to lie between two ends, either of which may be infinite."""
    # Mirrored where both ends are above 0, so that differences of probabilities keep their digits.
    mirrored = a > 0
    left, right = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    upper, lower = log_ndtr(right), log_ndtr(left)
    mass = upper + np.log1p(-np.exp(np.minimum(lower - upper, -1e-12)))
    density = np.exp(-0.5 * left * left - mass) - np.exp(-0.5 * right * right - mass)
    mean = np.clip(density / np.sqrt(2.0 * np.pi), left, right)
    return np.asarray(np.where(mirrored, -mean, mean), dtype=np.float64)


def shyness(planned: Estimate, limits: tuple[float, float], sigma: float) -> Small:
    """``(n_arms,)``, how likely the values of each are to be known only as bounds, by what is planned by; 0: hardly.

    ``limits``: below the first, or above the second, values were not told.
    """
    means: Floats = planned.means()
    between: Floats = np.minimum(means - limits[0], limits[1] - means) / sigma
    between[~planned.estimable()] = np.inf
    found: Small = (between[:, None] < np.array(_NEAR)).sum(axis=1).astype(np.int8)
    return found


def shy_cells(planned: Estimate, limits: tuple[float, float], sigma: float, cells: tuple[Ints, Floats]) -> Small:
    """The same of the cells of a phase, arm and count of each: 0 for all that are likely to come without any bound."""
    arms, counts = cells
    means = planned.means(arms)
    chance = ndtr((limits[0] - means) / sigma) + ndtr((means - limits[1]) / sigma)
    chance = np.where(planned.estimable(arms), -np.expm1(counts * np.log1p(-np.minimum(chance, 1.0 - 1e-9))), 0.0)
    found = np.where(chance < _LIKELY, 1, 2).astype(np.int8)
    order = np.argsort(chance, kind="stable")
    found[order[np.cumsum(chance[order]) <= _RISK]] = 0
    return found


def beside(features: Features, measurable: Flags, shy: Small, means: Floats, asked: tuple[Ints, Ints]) -> Flags:
    """Which arms to measure, where some would only give one more bound: those, too, that nobody else can stand for.

    ``asked``: pairs of arms whose differences are to be told; of what only shy arms tell of them, the least shy do.
    ``means`` ``(n_arms,)``, what is expected of each.
    """
    kept: Flags = measurable & (shy == shy[measurable].min(initial=0 if not measurable.any() else len(_NEAR)))
    basis = table(features, np.flatnonzero(kept)).basis
    others = np.flatnonzero(measurable & ~kept)
    others = others[outside_span(features, basis, others)]
    others = others[np.lexsort((-means[others], shy[others]))]
    open_ = _rest(features.dense(asked[0]) - features.dense(asked[1]), basis)
    for start in range(0, len(others), _AT_ONCE):
        block = others[start : start + _AT_ONCE]
        rest = _rest(features.dense(block), basis)
        while open_.any():
            lengths = (rest * rest).sum(axis=1)
            useful = np.flatnonzero(np.abs(rest @ open_.T).max(axis=1) > _INSIDE)
            if not len(useful):
                break
            new = rest[useful[0]] / np.sqrt(lengths[useful[0]])
            alike = (rest @ new) ** 2 >= (1.0 - _INSIDE) * lengths
            kept[block[useful[alike[useful]][:_ALIKE]]] = True
            basis = np.hstack([basis, new[:, None]])
            rest, open_ = _rest(rest, new[:, None]), _rest(open_, new[:, None])
    return kept


def _rest(x: Floats, basis: Floats) -> Floats:
    """The part of rows outside a span; 0 where it is nothing but rounding."""
    rest: Floats = x - (x @ basis) @ basis.T
    rest[(rest * rest).sum(axis=1) <= _INSIDE * (x * x).sum(axis=1)] = 0.0
    return rest
