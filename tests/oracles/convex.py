"""Designs by a general convex solver (cvxpy, Clarabel), in raw features and without inverses.

y'V^-1 y <= t exactly when y = sum of h_i x_i with sum of h_i^2 / w_i <= t: rotated cones (Sagnol 2011, J. Statist.
Plann. Inference 141), which hold for singular V and features of deficient rank as they are.
"""

import warnings

import cvxpy as cp
import numpy as np


def minimax(rows, directions, *, upper=None):
    """The least worst y'V(w)^-1 y over the directions, and weights that reach it; None when the solver is not sure.

    ``upper`` bounds the weights.
    """
    x, y = np.asarray(rows, dtype=float), np.asarray(directions, dtype=float)
    n, m = len(x), len(y)
    size = np.sqrt((y**2).sum(axis=1).max())
    y = y / size
    # Rows of one length, so that the solver sees numbers of one size; the weights are unaffected.
    lengths = np.maximum(np.sqrt((x**2).sum(axis=1)), 1e-9)
    w = cp.Variable(n)
    shares, t = cp.Variable((n, m)), cp.Variable()
    h = cp.Variable((n, m))
    told = (x / lengths[:, None]).T @ h
    # V = sum of w x x' = sum of (w l^2) (x/l)(x/l)': the cones see w l^2.
    heavy = cp.multiply(lengths**2, w)
    wide = cp.reshape(heavy, (n, 1), order="C") @ np.ones((1, m))
    cones = cp.SOC(
        cp.vec(shares + wide, order="F"),
        cp.vstack([cp.vec(2.0 * h, order="F"), cp.vec(shares - wide, order="F")]),
        axis=0,
    )
    total = cp.sum(shares, axis=0)
    constraints = [told == y.T, cones, total <= t, cp.sum(w) == 1, w >= 0.0]
    if upper is not None:
        constraints.append(w <= np.broadcast_to(upper, n))
    problem = cp.Problem(cp.Minimize(t), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the status says the same
        problem.solve(solver=cp.CLARABEL)
    if problem.status != "optimal":
        return None, None
    return float(t.value) * size**2, np.maximum(w.value, 0.0)


def pairs(rows):
    """All differences of the rows."""
    first, second = np.triu_indices(len(rows), 1)
    return np.asarray(rows)[first] - np.asarray(rows)[second]


def log_det(coordinates, *, upper=None):
    """The largest log det V(w) over rows in coordinates of full column rank; None when the solver is not sure."""
    x = np.asarray(coordinates, dtype=float)
    n = len(x)
    # In coordinates in which even weights are the identity; the shift of log det is given back.
    gram = x.T @ x / n
    values, vectors = np.linalg.eigh(gram)
    to_even = vectors / np.sqrt(values)
    z = x @ to_even
    w = cp.Variable(n)
    information = z.T @ cp.diag(w) @ z
    constraints = [cp.sum(w) == 1, w >= 0.0]
    if upper is not None:
        constraints.append(w <= np.broadcast_to(upper, n))
    problem = cp.Problem(cp.Maximize(cp.log_det((information + information.T) / 2)), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        problem.solve(solver=cp.CLARABEL)
    if problem.status != "optimal":
        return None
    return float(problem.value) + float(np.log(values).sum())
