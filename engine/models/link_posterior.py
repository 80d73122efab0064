"""The posterior behind a link: what is likely of yes and no, or of counts, for people to read; it never decides.

A proper prior keeps chances from 0 and 1 where few values are known, so that intervals are as wide as they should be.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.features import Features
from assaypilot.engine.models.glm import Link, curvature, mean_value
from assaypilot.engine.models.likelihood_set import Data, Prior, likelihood_set
from assaypilot.engine.models.posterior import Posterior

__all__ = ["link_posterior", "working_values"]


_LEVEL, _SPREAD = 1.5, 1.5
"""The SD of the mean of all compounds, and of compounds around it, that is expected on the link's scale."""
_LEAST_COUNT = 0.1
_LEAST_SLOPE = 1e-4


def link_posterior(features: Features, measured: Ints, counts: Floats, means: Floats, link: Link) -> Posterior:
    """A normal posterior of the effects on the link's scale, after ``counts`` measurements of rows with these means.

    The normal distribution next to the posterior (variational Bayes). Prior: the intercept around the mean of the
    data, effects around 0 with an SD that makes compounds differ by about 1.5 on the scale. Sigma is 1.
    """
    overall = float(counts @ means / counts.sum())
    if link == "logit":
        share = min(max(overall, 0.02), 0.98)
        centre = float(np.log(share / (1.0 - share)))
    else:
        centre = float(np.log(max(overall, _LEAST_COUNT)))
    p = features.n_columns
    mean = np.zeros(p)
    mean[0] = centre
    # Every row has a one in column 0 and as many others as there are sites.
    others = max(int(round(float(np.mean(features.quadratic(np.eye(p), measured)))) - 1), 1)
    variances = np.full(p, _SPREAD**2 / others)
    variances[0] = _LEVEL**2
    prior = Prior(mean, np.diag(1.0 / variances), -float(np.log(variances).sum()))
    found = likelihood_set(Data(features.dense(measured), counts, means, link), prior, 0.5)
    factor: Floats = cholesky(np.linalg.inv(found.covariance), lower=True)
    return Posterior(features, found.centre, factor, 1.0)


def working_values(
    features: Features, measured: Ints, counts: Floats, means: Floats, link: Link
) -> tuple[Floats, Floats]:
    """Normal values on the link's scale that say what these do: how many of SD 1 they are worth, and their means.

    By the slope and the remainder at the posterior's mean, as in one step of Newton's method.
    """
    predictors = link_posterior(features, measured, counts, means, link).means(measured)
    slopes = np.maximum(curvature(link, predictors), _LEAST_SLOPE)
    return counts * slopes, predictors + (means - mean_value(link, predictors)) / slopes
