"""The worst variance of differences, straight from the definition."""

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
