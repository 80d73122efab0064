"""Generalised linear models slowly: the likelihood as it is written, maximised by a general solver within bounds."""

import math

import cvxpy as cp
import numpy as np


def mean(link, u):
    """m(u), one number at a time."""
    if link == "logit":
        return 1 / (1 + math.exp(-u)) if u >= 0 else math.exp(u) / (1 + math.exp(u))
    return math.exp(u) if link == "log" else u


def slope(link, u, h=1e-5):
    """m'(u) by a central difference."""
    return (mean(link, u + h) - mean(link, u - h)) / (2 * h)


def log_likelihood(link, x, counts, means, theta):
    """Of the measurements' sum, less what does not depend on theta (eq. 37, 38)."""
    total = 0.0
    for row, n, y in zip(x, counts, means, strict=True):
        u = float(row @ theta)
        b = {
            "logit": lambda u: math.log1p(math.exp(-abs(u))) + max(u, 0),
            "log": math.exp,
            "identity": lambda u: u * u / 2,
        }
        total += n * (y * u - b[link](u))
    return total


def maximised(link, x, counts, means, bound):
    """The linear predictors x theta of the largest likelihood with all of them within the bound, by cvxpy."""
    theta = cp.Variable(x.shape[1])
    u = x @ theta
    b = {"logit": cp.logistic, "log": cp.exp, "identity": lambda v: cp.square(v) / 2}[link]
    objective = cp.Maximize(counts @ (cp.multiply(means, u) - b(u)))
    limits = [] if link == "identity" else [cp.abs(u) <= bound]
    cp.Problem(objective, limits).solve(solver="CLARABEL")
    return x @ theta.value


def least_slope(link, bound, steps=20001):
    """The least slope over a grid."""
    return min(slope(link, u) for u in np.linspace(-bound, bound, steps))
