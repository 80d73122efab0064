"""Four-parameter logistic fits: the half-maximal concentration of each curve with its standard error.

The model is y = start + (end - start) / (1 + 10^(slope (c - x))) with x and c in log10 mol/L: ``start`` is the plateau
at low and ``end`` that at high concentration, so that the slope is positive whichever way the response runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import least_squares
from scipy.special import expit, stdtr, stdtrit

from ..arrays import Flags, Floats

Plateaus = Literal["free", "fixed"]

_LN10 = float(np.log(10.0))
_SLOPES = (0.2, 8.0)
"""Hill slopes beyond are no binding curve."""
_BEYOND = 2.0
"""How far beyond the tested concentrations an inflection is looked for, log10 units."""
_PLACES, _STARTS = 33, (0.6, 1.0, 1.8)
"""Inflections and slopes of the grid that a fit starts from."""
_OUTLIER = 0.01
"""Chance that a clean curve has a point flagged (Bonferroni over its points)."""
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
    """Degrees of freedom of the residuals."""
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


def fit_curve(
    x: Floats,
    y: Floats,
    *,
    fixed: tuple[float, float] | None = None,
    expected: tuple[float, float] | None = None,
) -> Fit:
    """Fit a curve: log10 concentrations in mol/L and responses, both ``(n,)``, more of them than parameters.

    ``fixed``: the plateaus (start, end) where they are not fitted. ``expected``: where they are expected, in percent
    effect; this matters only for a plateau that the points do not reach.
    """
    curve = _Curve(x, y, fixed)
    lower, upper = curve.bounds()
    scale = np.ones(len(lower))
    scale[: curve.free] = curve.range
    pull: Floats = np.zeros(2)
    """How much plateaus weigh that differ from the expected ones: noise SD over prior SD."""

    def residuals(parameters: Floats) -> Floats:
        own = curve.residuals(parameters)
        return own if expected is None else np.concatenate([own, pull * (parameters[:2] - expected)])

    def slopes(parameters: Floats) -> Floats:
        own = curve.jacobian(parameters)
        return own if expected is None else np.vstack([own, np.eye(2, len(parameters)) * pull[:, None]])

    def fitted(start: Floats) -> Any:
        clipped = np.clip(start, lower, upper)
        return least_squares(residuals, clipped, jac=slopes, bounds=(lower, upper), x_scale=scale)

    found = fitted(curve.guess(fixed))
    if expected is not None:
        noise = np.sqrt((curve.residuals(found.x) ** 2).sum() / max(len(x) - len(lower), 1))
        pull = noise / np.array(_PRIOR)
        starts = [found.x]
        if (np.abs(found.x[:2] - expected) > _FAR * np.array(_PRIOR)).any():
            starts.append(curve.guess(expected))
        found = min(map(fitted, starts), key=lambda fit: float(fit.cost))
    return _read_off(curve, found.x, slopes(found.x))


class _Curve:
    """Residuals and derivatives of a curve.

    Parameters: start and end plateau unless ``fixed``, then the inflection, then the logarithm of the slope.
    """

    def __init__(self, x: Floats, y: Floats, fixed: tuple[float, float] | None) -> None:
        self.x, self.y, self.fixed = x, y, fixed
        self.range = float(np.ptp(y)) or 1.0
        self.free = 2 if fixed is None else 0

    def parts(self, parameters: Floats) -> tuple[float, float, float, float]:
        """Return start, end, inflection and slope."""
        start, end, c, slope = parameters if self.fixed is None else (*self.fixed, *parameters)
        return float(start), float(end), float(c), float(np.exp(slope))

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the least and the largest value of each parameter."""
        plateau = np.full(self.free, np.inf)
        lower, upper = np.log(_SLOPES)
        return (
            np.array([*-plateau, self.x.min() - _BEYOND, lower]),
            np.array([*plateau, self.x.max() + _BEYOND, upper]),
        )

    def residuals(self, parameters: Floats) -> Floats:
        """Return the curve minus the response of each point, ``(n_points,)``."""
        start, end, c, slope = self.parts(parameters)
        return logistic(self.x, c, slope, start, end) - self.y

    def jacobian(self, parameters: Floats) -> Floats:
        """Return the derivatives of the residuals, ``(n_points, n_parameters)``."""
        start, end, c, slope = self.parts(parameters)
        away = self.x - c
        share = expit(_LN10 * slope * away)
        steep = (end - start) * share * (1.0 - share) * _LN10 * slope
        return np.column_stack([*([1.0 - share, share] if self.free else []), -steep, steep * away])

    def guess(self, ends: tuple[float, float] | None) -> Floats:
        """Return where the fit starts: the best of a grid of inflections and slopes.

        With ``ends`` the plateaus are those.
        """
        x, y = self.x, self.y
        at = np.repeat(np.linspace(x.min() - 0.5, x.max() + 0.5, _PLACES), len(_STARTS))
        slope = np.tile(_STARTS, _PLACES)
        share = expit(_LN10 * slope[:, None] * (x - at[:, None]))
        start, end = _plateaus(share, y) if ends is None else (np.full(len(at), p) for p in ends)
        error = ((start[:, None] + (end - start)[:, None] * share - y) ** 2).sum(axis=1)
        best = int(error.argmin())
        plateaus = [start[best], end[best]] if self.free else []
        return np.array([*plateaus, at[best], np.log(slope[best])])


def _plateaus(share: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the plateaus that fit best with each row of shares of the way from start to end."""
    centred = share - share.mean(axis=1, keepdims=True)
    spread = (centred**2).sum(axis=1)
    rise = np.divide(centred @ (y - y.mean()), spread, out=np.zeros(len(share)), where=spread > 1e-12)
    start = y.mean() - rise * share.mean(axis=1)
    return start, start + rise


def _read_off(curve: _Curve, parameters: Floats, slopes: Floats) -> Fit:
    """Return the fit with its standard error; ``slopes`` are the derivatives of all that was minimised."""
    residuals, jacobian = curve.residuals(parameters), curve.jacobian(parameters)
    freedom = len(residuals) - len(parameters)
    inverse = _inverse(slopes, curve.range)
    left = float((residuals**2).sum())
    leverage = np.clip(((jacobian @ inverse) * jacobian).sum(axis=1), 0.0, 1.0 - 1e-9)
    start, end, c, slope = curve.parts(parameters)
    squared = float(inverse[curve.free, curve.free])
    se = float(np.sqrt(squared * left / freedom)) if squared > 0.0 and freedom > 0 else np.inf
    se = se if se < _UNKNOWN else np.inf
    reach = float(stdtrit(freedom, 0.975)) * se if freedom > 0 else np.inf
    total = float(((curve.y - curve.y.mean()) ** 2).sum())
    return Fit(
        log_c50=c,
        slope=slope,
        start=start,
        end=end,
        se=se,
        low=c - reach,
        high=c + reach,
        freedom=freedom,
        r2=max(0.0, 1.0 - left / total) if total > 0.0 else 0.0,
        fitted=residuals + curve.y,
        outliers=_outliers(residuals, leverage, freedom),
        at_limit=not _SLOPES[0] * 1.001 < slope < _SLOPES[1] * 0.999,
    )


def _inverse(jacobian: Floats, size: float) -> Floats:
    """Return the inverse of J'J; 0 for parameters that no residual depends on."""
    product = jacobian.T @ jacobian
    norms = np.sqrt(np.diag(product))
    alive = norms > 1e-7 * size
    by = np.where(alive, norms, 1.0)
    inner = (product / np.outer(by, by))[np.ix_(alive, alive)]
    found = np.zeros_like(product)
    found[np.ix_(alive, alive)] = np.linalg.pinv(inner, rcond=1e-12, hermitian=True)
    scaled: Floats = found / np.outer(by, by)
    return scaled


def _outliers(residuals: Floats, leverage: Floats, freedom: int) -> Flags:
    """Return which points lie too far from the curve, by externally studentised residuals."""
    if freedom < 2:
        return np.zeros(len(residuals), dtype=bool)
    squares, total = residuals**2 / (1.0 - leverage), float((residuals**2).sum())
    others = np.maximum(total - squares, 1e-12 * total) / (freedom - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.sqrt(squares / others)
    chance = 2.0 * (1.0 - stdtr(freedom - 1, np.nan_to_num(t, nan=0.0, posinf=1e9)))
    return chance * len(residuals) < _OUTLIER
