"""LinFACT-MIS from the paper's section 5, slowly: pseudo-inverses, one arm at a time, the projection by cvxpy.

Two estimators: least squares with b_i = L (1 + sum N(a) |a_i' V^-1 a|), and eq. 30 with eq. 33's radius and
b = L (sqrt(T max ||a||^2) + 2). Nothing of the engine is used.
"""

import math

import cvxpy as cp
import numpy as np

from tests.oracles.linfact import in_span, norm


def log_term(n_arms, phase, delta, estimator, rank):
    """What 2 sigma^2 / C^2 is multiplied with: eq. 21, or eq. 33 (8 = 2 * 4)."""
    if estimator == "ols":
        return math.log(2 * n_arms * phase * (phase + 1) / delta)
    return 4 * (rank * math.log(6) + math.log(n_arms * phase * (phase + 1) / delta))


def bias(row, x, counts, error):
    """How far deviations of at most ``error`` can move the least-squares mean of a row from its true mean."""
    v = sum(n * np.outer(a, a) for a, n in zip(x, counts, strict=True) if n > 0)
    inverse = np.linalg.pinv(v, rcond=1e-11, hermitian=True)
    return error * (1 + sum(n * abs(float(row @ inverse @ a)) for a, n in zip(x, counts, strict=True)))


def project(x, counts, means, error, largest):
    """The means of all arms closest to the measured ones among those the model allows (eq. 30)."""
    theta, deviation = cp.Variable(x.shape[1]), cp.Variable(len(x))
    mu = x @ theta + deviation
    limits = [cp.abs(deviation) <= error]
    if math.isfinite(largest):
        limits.append(cp.abs(mu) <= largest)
    cp.Problem(cp.Minimize(cp.sum(cp.multiply(counts, cp.square(mu - means)))), limits).solve(solver="CLARABEL")
    return np.asarray(mu.value)


def bounds(x, counts, means, active, *, error, sigma, delta, phase, estimator, largest=math.inf):
    """The mean and half-width of every active arm by one phase's measurements; (0, inf) where nothing is known."""
    measured = [i for i in range(len(x)) if counts[i] > 0]
    rows = np.array([math.sqrt(counts[i]) * x[i] for i in measured])
    plain = np.linalg.lstsq(rows, np.array([math.sqrt(counts[i]) * means[i] for i in measured]), rcond=1e-10)[0]
    rank = np.linalg.matrix_rank(rows, tol=1e-9)
    factor = sigma * math.sqrt(2 * log_term(len(x), phase, delta, estimator, rank))
    sizes = {i: norm(x[i], x[measured], [counts[j] for j in measured]) for i in active}
    known = [i for i in active if in_span(x[i], x[measured])]
    out = dict.fromkeys(active, (0.0, math.inf))
    if estimator == "ols":
        for i in known:
            own = bias(x[i], x[measured], [counts[j] for j in measured], error)
            out[i] = float(x[i] @ plain), factor * sizes[i] + own
        return out
    own = error * (math.sqrt(sum(counts) * max(sizes[i] ** 2 for i in known)) + 2)
    mu = project(x, counts, means, error, largest)
    again = np.array([math.sqrt(counts[i]) * mu[i] for i in measured])
    theta = np.linalg.lstsq(rows, again, rcond=1e-10)[0]
    for i in known:
        best = mu[i] if i in measured else float(x[i] @ theta)
        centre = float(x[i] @ plain)
        best = min(max(best, centre - error), centre + error)
        out[i] = min(max(best, -largest), largest), factor * sizes[i] + own
    return out


def sort(bounded, epsilon, slack):
    """(good, bad) of mean and half-width per arm, as Algorithm 3 has it."""
    upper = max(m + h for m, h in bounded.values()) - epsilon
    lower = max(m - h for m, h in bounded.values()) - epsilon
    bad = {i for i, (m, h) in bounded.items() if m + h < lower}
    good = {
        i for i, (m, h) in bounded.items() if i not in bad and (m - h >= upper - slack if slack > 0 else m - h > upper)
    }
    return good, bad
