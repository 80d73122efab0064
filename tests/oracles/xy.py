"""XY designs as the RAGE paper makes them: Frank-Wolfe with steps 2 / (k + 2) (Fiez et al. 2019, appendix F)."""

import time

import numpy as np


def pairs(rows):
    """All differences of the rows."""
    first, second = np.triu_indices(len(rows), 1)
    return np.asarray(rows)[first] - np.asarray(rows)[second]


def worst(rows, directions, weights):
    """The largest y'V(w)^-1 y, by a pseudo-inverse; inf when some direction is not estimable."""
    information = rows.T @ (rows * np.asarray(weights)[:, None])
    inverse = np.linalg.pinv(information, rcond=1e-9, hermitian=True)
    outside = directions - directions @ inverse @ information
    if np.abs(outside).max() > 1e-6 * max(1.0, np.abs(directions).max()):
        return np.inf
    return float(np.einsum("ij,jk,ik->i", directions, inverse, directions).max())


def frank_wolfe(rows, directions, *, seconds=None, steps=5000, clock=time.process_time):
    """The weights after the steps or seconds: each step goes 2 / (k + 2) towards the row of the steepest descent."""
    n = len(rows)
    w = np.full(n, 1.0 / n)
    best, best_w = np.inf, w
    begun = clock()
    k = 0
    while k < steps if seconds is None else clock() - begun < seconds:
        inverse = np.linalg.pinv(rows.T @ (rows * w[:, None]), hermitian=True)
        variances = np.einsum("ij,ij->i", directions @ inverse, directions)
        y = directions[np.argmax(variances)]
        if variances.max() < best:
            best, best_w = float(variances.max()), w
        steepest = int(np.argmax((rows @ (inverse @ y)) ** 2))
        step = 2.0 / (k + 2.0)
        w = (1.0 - step) * w if k else w * (1.0 - 1.0 / n)
        w[steepest] += step if k else 1.0 / n
        w /= w.sum()
        k += 1
    return best_w, best, k
