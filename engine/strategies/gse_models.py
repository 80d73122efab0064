"""Means of compounds under GSE's generalised linear models, from one stage's measurements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import Features, span_basis

__all__ = ["MODELS", "mean_of", "predictors"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

MODELS = ("linear", "logistic", "poisson")

_RIDGE = 1e-4
"""Information, in measurements, added to every effect: it keeps the estimate finite where all values of a compound are
0 or all are 1, and is nothing beside a single measurement."""
_STEPS = 100
_CLOSE = 1e-10
_LARGEST = 30.0
"""Predictors beyond this are 0 or 1, or no count that a well could show, in this precision."""


def predictors(model: str, features: Features, measured: Ints, counts: Floats, means: Floats, rows: Ints) -> Floats:
    """The predictor x'theta of each row ``(len(rows),)`` by maximum likelihood (eq. 4), iteratively reweighted.

    The mean h(x'theta) rises with it, so it ranks alike, and keeps apart what rounding makes equal near 0 and 1.

    ``means`` are those of ``counts`` measurements each: shares for the logistic model, counts for Poisson. Refuses
    values that the model cannot have. A trace of ridge makes the estimate unique and finite.
    """
    low, high = float(means.min()), float(means.max())
    if low < 0 or (model == "logistic" and high > 1):
        what = "shares between 0 and 1" if model == "logistic" else "counts of 0 or more"
        raise AssayPilotError(
            f"the {model} model needs {what}, and a mean of {low if low < 0 else high:.4g} came back",
            option="--parameter model",
            mend="Choose model=linear for other values.",
        )
    basis = span_basis(features, measured)
    x = features.dense(measured) @ basis
    theta = np.zeros(x.shape[1])
    value = _objective(model, x, counts, means, theta)
    for _ in range(_STEPS):
        mean, slope = _mean(model, x @ theta)
        gradient = x.T @ (counts * (means - mean)) - _RIDGE * theta
        information = (x * (counts * slope)[:, None]).T @ x + _RIDGE * np.eye(len(theta))
        step = np.linalg.solve(information, gradient)
        gain = float(gradient @ step)
        if gain <= _CLOSE:
            break
        # Newton steps of a concave likelihood, halved until they gain.
        size = 1.0
        while size > 1e-9:
            tried = _objective(model, x, counts, means, theta + size * step)
            if tried >= value + 1e-4 * size * gain:
                break
            size /= 2.0
        else:
            break
        theta = theta + size * step
        value = tried
    return features.times(basis @ theta, rows)


def mean_of(model: str, predictor: Floats) -> Floats:
    """h(x'theta): the mean that a predictor stands for."""
    return predictor if model == "linear" else _mean(model, predictor)[0]


def _mean(model: str, predictor: Floats) -> tuple[Floats, Floats]:
    """The mean h and its derivative."""
    bounded = np.clip(predictor, -_LARGEST, _LARGEST)
    if model == "poisson":
        mean = np.exp(bounded)
        return mean, mean
    mean = 1.0 / (1.0 + np.exp(-bounded))
    return mean, mean * (1.0 - mean)


def _objective(model: str, x: Floats, counts: Floats, means: Floats, theta: Floats) -> float:
    """The penalised log-likelihood, up to a constant."""
    predictor = x @ theta
    total = np.exp(np.minimum(predictor, 600.0)) if model == "poisson" else np.logaddexp(0.0, predictor)
    return float(counts @ (means * predictor - total) - 0.5 * _RIDGE * theta @ theta)
