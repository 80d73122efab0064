"""Means of compounds under GSE's generalised linear models, from one stage's measurements."""

from __future__ import annotations

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import Features
from assaypilot.engine.models.glm import Link, fit_glm, mean_value

__all__ = ["MODELS", "link_of", "mean_of", "predictors"]


_LINKS: dict[str, Link] = {"linear": "identity", "logistic": "logit", "poisson": "log"}

MODELS = tuple(_LINKS)


def predictors(
    model: str, features: Features, measured: Ints, counts: Floats, means: Floats, rows: Ints, bound: float
) -> Floats:
    """The predictor x'theta of each row ``(len(rows),)`` by maximum likelihood (eq. 4) within the bound.

    The mean h(x'theta) rises with it, so it ranks alike, and keeps apart what rounding makes equal near 0 and 1.
    ``means`` are those of ``counts`` measurements each: shares for the logistic model, counts for Poisson; others are
    refused. The bound holds for measured compounds; it keeps the estimate finite where all values of one are alike.
    """
    low, high = float(means.min()), float(means.max())
    if (model != "linear" and low < 0) or (model == "logistic" and high > 1):
        what = "shares between 0 and 1" if model == "logistic" else "counts of 0 or more"
        raise AssayPilotError(
            f"the {model} model needs {what}, and a mean of {low if low < 0 else high:.4g} came back",
            option="--parameter model",
            mend="Choose model=linear for other values.",
        )
    estimate = fit_glm(features, measured, counts, means, _LINKS[model], bound)
    return features.times(estimate.theta, rows)


def link_of(model: str) -> Link:
    """The link of a model by its name."""
    return _LINKS[model]


def mean_of(model: str, predictor: Floats) -> Floats:
    """h(x'theta): the mean that a predictor stands for."""
    return mean_value(_LINKS[model], predictor)
