"""Four-parameter logistic fits: the half-maximal concentration of each curve with its standard error.

The model is y = start + (end - start) / (1 + 10^(slope (c - x))) with x and c in log10 mol/L: ``start`` is the plateau
at low and ``end`` that at high concentration, so that the slope is positive whichever way the response runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import csr_array
from scipy.special import expit, stdtr, stdtrit

from ..arrays import Flags, Floats, Ints

Plateaus = Literal["free", "shared", "fixed"]

_LN10 = float(np.log(10.0))
_SLOPES = (0.2, 8.0)
"""Hill slopes beyond are no binding curve."""
_BEYOND = 2.0
"""How far beyond the tested concentrations an inflection is looked for, log10 units."""
_PLACES, _STARTS = 33, (0.6, 1.0, 1.8)
"""Inflections and slopes of the grid that a fit starts from."""
_OUTLIER = 0.01
"""Chance that a clean curve has a point flagged (Bonferroni over its points)."""
_TO_SD = 1.4826
"""The SD of normal values over their median absolute deviation."""
_SOFT = 1.5
"""SDs of residuals from which the robust loss grows more slowly than the square."""
_PRIOR = (10.0, 30.0)
"""SDs of the start and end plateau about 0 and 100 % effect before a curve is seen; controls fix the first better."""
_FAR = 3.0
"""Prior SDs of a plateau of the free fit from which another start is tried, too."""
_UNKNOWN = 5.0
"""Standard error, in log10 units, above which a fit determines nothing."""


@dataclass(frozen=True, slots=True)
class Fit:
    """One fitted curve."""

    log_c50: float
    """log10 of the half-maximal concentration in mol/L."""
    slope: float
    start: float
    """Plateau at low concentration."""
    end: float
    """Plateau at high concentration."""
    se: float
    """Standard error of ``log_c50``; infinite where the points do not determine it."""
    low: float
    """Lower end of the 95 % interval of ``log_c50``, by Student's t."""
    high: float
    freedom: int
    """Degrees of freedom of the residuals, those of all curves where plateaus are shared."""
    r2: float
    """Share of the variance that the curve explains; 0 for a constant response."""
    fitted: Floats
    """``(n,)``, the curve at the points."""
    outliers: Flags
    """``(n,)``, points too far from the curve to belong to it."""
    at_limit: bool
    """Whether the slope ended at one of its limits."""

    def at(self, x: Floats) -> Floats:
        """Return the curve at log10 concentrations."""
        return logistic(x, self.log_c50, self.slope, self.start, self.end)


def logistic(x: Floats, log_c50: float, slope: float, start: float, end: float) -> Floats:
    """Return the four-parameter logistic at log10 concentrations ``x``."""
    return start + (end - start) * expit(_LN10 * slope * (x - log_c50))


def fit_curves(
    curves: Sequence[tuple[Floats, Floats]],
    *,
    plateaus: Plateaus = "free",
    levels: tuple[float, float] | None = None,
    expected: bool = False,
    robust: bool = False,
) -> list[Fit]:
    """Fit each curve ``(x, y)``: log10 concentrations in mol/L and responses, both ``(n,)``.

    ``plateaus``: free, one pair shared by all curves, or fixed at ``levels`` (start, end); shared ones begin there.
    ``expected``: free plateaus are expected near ``levels``, in percent effect. This matters only for a plateau that
    the points do not reach. ``robust`` gives points far from the curve less weight (soft L1 loss). Each curve needs
    more points than parameters.
    """
    if not curves:
        return []
    if plateaus == "shared":
        ends = levels or _ends(curves)
        return _fitted(_Problem(curves, None, ends), robust)
    given = levels if plateaus == "fixed" else None
    prior = levels if expected and plateaus == "free" else None
    return [_fitted(_Problem([curve], given, given, prior), robust)[0] for curve in curves]


def _ends(curves: Sequence[tuple[Floats, Floats]]) -> tuple[float, float]:
    """Return rough shared plateaus: the extremes of all responses, ordered as most curves run."""
    y = np.concatenate([responses for _, responses in curves])
    low, high = map(float, np.quantile(y, (0.02, 0.98)))
    rise = sum(float((x - x.mean()) @ responses) for x, responses in curves)
    return (low, high) if rise >= 0.0 else (high, low)


class _Problem:
    """Residuals and derivatives of curves with one pair of plateaus.

    Parameters: start and end plateau unless ``given``, then the inflection of each curve, then the logarithm of each
    slope.
    """

    def __init__(
        self,
        curves: Sequence[tuple[Floats, Floats]],
        given: tuple[float, float] | None,
        ends: tuple[float, float] | None,
        prior: tuple[float, float] | None = None,
    ) -> None:
        self.curves, self.given, self.ends = curves, given, ends
        self.n = len(curves)
        self.of: Ints = np.repeat(np.arange(self.n), [len(x) for x, _ in curves])
        self.x = np.concatenate([x for x, _ in curves])
        self.y = np.concatenate([y for _, y in curves])
        self.range = float(np.ptp(self.y)) or 1.0
        self.free = 2 if given is None else 0
        self.prior = prior
        self.pull: Floats = np.zeros(2)
        """How much plateaus weigh that differ from the prior: noise SD over prior SD."""

    def parts(self, parameters: Floats) -> tuple[float, float, Floats, Floats]:
        """Return start, end, and the inflection and slope of each curve."""
        start, end = parameters[:2] if self.given is None else self.given
        rest = parameters[self.free :]
        return float(start), float(end), rest[: self.n], np.exp(rest[self.n :])

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the least and the largest value of each parameter."""
        sides = []
        for sign, slope in zip((-1.0, 1.0), _SLOPES, strict=True):
            edge = [float((sign * x).max() * sign + sign * _BEYOND) for x, _ in self.curves]
            sides.append(np.concatenate([np.full(self.free, sign * np.inf), edge, np.full(self.n, np.log(slope))]))
        return sides[0], sides[1]

    def residuals(self, parameters: Floats) -> Floats:
        """Return the curve minus the response of each point, ``(n_points,)``."""
        start, end, c, slope = self.parts(parameters)
        share = expit(_LN10 * slope[self.of] * (self.x - c[self.of]))
        found: Floats = start + (end - start) * share - self.y
        return found

    def jacobian(self, parameters: Floats) -> Any:
        """Return the derivatives of the residuals, ``(n_points, n_parameters)``, sparse for several curves."""
        start, end, c, slope = self.parts(parameters)
        away = self.x - c[self.of]
        share = expit(_LN10 * slope[self.of] * away)
        steep = (end - start) * share * (1.0 - share) * _LN10 * slope[self.of]
        values = [*([1.0 - share, share] if self.free else []), -steep, steep * away]
        if self.n == 1:
            return np.column_stack(values)
        columns = [
            *(np.full(len(self.x), k) for k in range(self.free)),
            self.free + self.of,
            self.free + self.n + self.of,
        ]
        rows = np.tile(np.arange(len(self.x)), len(values))
        shape = (len(self.x), self.free + 2 * self.n)
        return csr_array((np.concatenate(values), (rows, np.concatenate(columns))), shape=shape)

    def penalised(self, parameters: Floats) -> Floats:
        """Return the residuals of the points, and of the plateaus where they have a prior."""
        if self.prior is None:
            return self.residuals(parameters)
        return np.concatenate([self.residuals(parameters), self.pull * (parameters[:2] - self.prior)])

    def slopes(self, parameters: Floats) -> Any:
        """Return the derivatives of the penalised residuals."""
        if self.prior is None:
            return self.jacobian(parameters)
        return np.vstack([self.jacobian(parameters), np.eye(2, len(parameters)) * self.pull[:, None]])

    def guess(self, ends: tuple[float, float] | None) -> Floats:
        """Return where the fit starts: the best of a grid of inflections and slopes, for each curve.

        With ``ends`` the plateaus are those.
        """
        c, log_slope, plateaus = np.empty(self.n), np.empty(self.n), ends
        for k, (x, y) in enumerate(self.curves):
            at = np.repeat(np.linspace(x.min() - 0.5, x.max() + 0.5, _PLACES), len(_STARTS))
            slope = np.tile(_STARTS, _PLACES)
            share = expit(_LN10 * slope[:, None] * (x - at[:, None]))
            start, end = _plateaus(share, y) if ends is None else (np.full(len(at), p) for p in ends)
            error = ((start[:, None] + (end - start)[:, None] * share - y) ** 2).sum(axis=1)
            best = int(error.argmin())
            c[k], log_slope[k] = at[best], np.log(slope[best])
            if ends is None:
                plateaus = float(start[best]), float(end[best])
        return np.concatenate([() if plateaus is None or not self.free else plateaus, c, log_slope])


def _plateaus(share: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the plateaus that fit best with each row of shares of the way from start to end."""
    centred = share - share.mean(axis=1, keepdims=True)
    spread = (centred**2).sum(axis=1)
    rise = np.divide(centred @ (y - y.mean()), spread, out=np.zeros(len(share)), where=spread > 1e-12)
    start = y.mean() - rise * share.mean(axis=1)
    return start, start + rise


def _fitted(problem: _Problem, robust: bool) -> list[Fit]:
    """Fit the curves of a problem."""
    lower, upper = problem.bounds()
    scale = np.ones(len(lower))
    scale[: problem.free] = problem.range
    options: dict[str, Any] = {"jac": problem.slopes, "bounds": (lower, upper), "x_scale": scale}
    found = least_squares(problem.penalised, np.clip(problem.guess(problem.ends), lower, upper), **options)
    if problem.prior is not None:
        noise = np.sqrt((problem.residuals(found.x) ** 2).sum() / max(len(problem.x) - len(lower), 1))
        problem.pull = noise / np.array(_PRIOR)
        starts = [found.x]
        if (np.abs(found.x[:2] - problem.prior) > _FAR * np.array(_PRIOR)).any():
            starts.append(np.clip(problem.guess(problem.prior), lower, upper))
        fits = [least_squares(problem.penalised, start, **options) for start in starts]
        found = min(fits, key=lambda fit: float(fit.cost))
    soft = _SOFT * _TO_SD * float(np.median(np.abs(problem.residuals(found.x))))
    weights = np.ones(len(problem.x))
    if robust and soft > 1e-9 * problem.range:
        found = least_squares(problem.penalised, found.x, loss="soft_l1", f_scale=soft, **options)
        weights = 1.0 / np.sqrt(1.0 + (problem.residuals(found.x) / soft) ** 2)
    return _read_off(problem, found.x, weights)


def _read_off(problem: _Problem, parameters: Floats, weights: Floats) -> list[Fit]:
    """Return the fits with their standard errors; ``weights`` of the points are all 1 for least squares."""
    residuals, jacobian = problem.residuals(parameters), problem.jacobian(parameters)
    freedom = len(residuals) - len(parameters)
    inverse = _inverse(problem.slopes(parameters), problem.range)
    # For M-estimators (Huber 1981, eq. 7.6.5) the sum of squared influences over the squared mean of their derivative.
    influence = float(((weights * residuals) ** 2).sum())
    variance = influence / max(freedom, 1) / float((weights**3).mean()) ** 2 if freedom > 0 else np.inf
    leverage = np.clip(np.asarray((jacobian @ inverse) * _dense(jacobian)).sum(axis=1), 0.0, 1.0 - 1e-9)
    outliers = _outliers(residuals, leverage, freedom, None if (weights == 1.0).all() else variance)
    start, end, c, slope = problem.parts(parameters)
    places = problem.free + np.arange(problem.n)
    squared = np.diag(inverse)[places]
    quantile = float(stdtrit(freedom, 0.975)) if freedom > 0 else np.inf
    fits = []
    for k, (_, y) in enumerate(problem.curves):
        own = problem.of == k
        se = float(np.sqrt(squared[k] * variance)) if squared[k] > 0.0 and freedom > 0 else np.inf
        se = se if se < _UNKNOWN else np.inf
        total = float(((y - y.mean()) ** 2).sum())
        left = float((residuals[own] ** 2).sum())
        fits.append(
            Fit(
                log_c50=float(c[k]),
                slope=float(slope[k]),
                start=start,
                end=end,
                se=se,
                low=float(c[k]) - quantile * se,
                high=float(c[k]) + quantile * se,
                freedom=freedom,
                r2=max(0.0, 1.0 - left / total) if total > 0.0 else 0.0,
                fitted=residuals[own] + y,
                outliers=outliers[own],
                at_limit=not _SLOPES[0] * 1.001 < slope[k] < _SLOPES[1] * 0.999,
            )
        )
    return fits


def _dense(jacobian: Any) -> Floats:
    return jacobian if isinstance(jacobian, np.ndarray) else jacobian.toarray()


def _inverse(jacobian: Any, size: float) -> Floats:
    """Return the inverse of J'J; 0 for parameters that no residual depends on."""
    product = jacobian.T @ jacobian
    product = _dense(product)
    norms = np.sqrt(np.diag(product))
    alive = norms > 1e-7 * size
    by = np.where(alive, norms, 1.0)
    inner = (product / np.outer(by, by))[np.ix_(alive, alive)]
    found = np.zeros_like(product)
    found[np.ix_(alive, alive)] = np.linalg.pinv(inner, rcond=1e-12, hermitian=True)
    scaled: Floats = found / np.outer(by, by)
    return scaled


def _outliers(residuals: Floats, leverage: Floats, freedom: int, variance: float | None) -> Flags:
    """Return which points lie too far from the curve.

    By externally studentised residuals, or by ``variance`` where a robust fit gives one that far points hardly raise.
    """
    if freedom < 2:
        return np.zeros(len(residuals), dtype=bool)
    squares, total = residuals**2 / (1.0 - leverage), float((residuals**2).sum())
    others = np.maximum(total - squares, 1e-12 * total) / (freedom - 1) if variance is None else variance
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.sqrt(squares / others)
    chance = 2.0 * (1.0 - stdtr(freedom - 1, np.nan_to_num(t, nan=0.0, posinf=1e9)))
    return chance * len(residuals) < _OUTLIER
