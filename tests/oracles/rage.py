"""RAGE's decisions from the paper, slowly: pseudo-inverses, all pairs in loops.

Written from Algorithm 1 with sigma, delta_t = delta / (t (t + 1)) and the slack of the design's statement; nothing of
the engine is used. Arms are rows of a matrix.
"""

import math

import numpy as np


def log_term(n_wanted, phase, delta):
    return math.log(n_wanted**2 * phase * (phase + 1) / delta)


def norm(y, v):
    """||y|| in the pseudo-inverse of V; infinite when y is not in its range."""
    if np.linalg.norm(y) == 0:
        return 0.0
    values, vectors = np.linalg.eigh(v)
    kept = values > 1e-9 * values[-1]
    inside = vectors[:, kept].T @ y
    if np.linalg.norm(y - vectors[:, kept] @ inside) > 1e-7 * np.linalg.norm(y):
        return math.inf
    return math.sqrt(float((inside**2 / values[kept]).sum()))


def rho(x, weights, z):
    """The squared value of weights over x for all differences of z."""
    v = (x * np.asarray(weights)[:, None]).T @ x
    return max(norm(a - b, v) ** 2 for i, a in enumerate(z) for b in z[:i])


def survivors(x, counts, means, active, spread):
    """Active rows that no active row beats, and the estimate; all of them looked at before any removal."""
    v = (x * counts[:, None]).T @ x
    theta = np.linalg.pinv(v, rcond=1e-10, hermitian=True) @ (x.T @ (counts * means))
    left = []
    for i in active:
        beaten = False
        for j in active:
            width = spread * norm(x[j] - x[i], v)
            if (x[j] - x[i]) @ theta > width:
                beaten = True
        if not beaten:
            left.append(i)
    return left, theta, v


def widest(x, v, left, spread):
    """The largest half-width of a difference of those left."""
    return max((spread * norm(x[i] - x[j], v) for i in left for j in left), default=0.0)
