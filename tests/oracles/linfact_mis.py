"""LinFACT-MIS from the paper's section 5, slowly: pseudo-inverses, one arm at a time.

Least squares with b_i = L (1 + sum N(a) |a_i' V^-1 a|). Nothing of the engine is used.
"""

import math

import numpy as np

from tests.oracles.linfact import in_span, norm


def log_term(n_arms, phase, delta):
    """What 2 sigma^2 / C^2 is multiplied with: eq. 21."""
    return math.log(2 * n_arms * phase * (phase + 1) / delta)


def bias(row, x, counts, error):
    """How far deviations of at most ``error`` can move the least-squares mean of a row from its true mean."""
    v = sum(n * np.outer(a, a) for a, n in zip(x, counts, strict=True) if n > 0)
    inverse = np.linalg.pinv(v, rcond=1e-11, hermitian=True)
    return error * (1 + sum(n * abs(float(row @ inverse @ a)) for a, n in zip(x, counts, strict=True)))


def bounds(x, counts, means, active, *, error, sigma, delta, phase):
    """The mean and half-width of every active arm by one phase's measurements; (0, inf) where nothing is known."""
    measured = [i for i in range(len(x)) if counts[i] > 0]
    rows = np.array([math.sqrt(counts[i]) * x[i] for i in measured])
    plain = np.linalg.lstsq(rows, np.array([math.sqrt(counts[i]) * means[i] for i in measured]), rcond=1e-10)[0]
    factor = sigma * math.sqrt(2 * log_term(len(x), phase, delta))
    sizes = {i: norm(x[i], x[measured], [counts[j] for j in measured]) for i in active}
    known = [i for i in active if in_span(x[i], x[measured])]
    out = dict.fromkeys(active, (0.0, math.inf))
    for i in known:
        own = bias(x[i], x[measured], [counts[j] for j in measured], error)
        out[i] = float(x[i] @ plain), factor * sizes[i] + own
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
