"""Designs, slowly and plainly: dense matrices, pseudo-inverses and a general-purpose optimiser."""

import numpy as np
from scipy.optimize import minimize


def information(rows, weights):
    return sum(w * np.outer(x, x) for x, w in zip(rows, weights, strict=True))


def leverages(rows, weights, targets=None):
    """||z||^2 in the pseudo-inverse of V(w); inf for a z outside its span. Columns are scaled to length 1 first."""
    scale = np.maximum(np.abs(rows).max(axis=0), 1e-300)
    targets = None if targets is None else targets / scale
    rows = rows / scale
    inverse = np.linalg.pinv(information(rows, weights), rcond=1e-9, hermitian=True)
    out = []
    for z in rows if targets is None else targets:
        estimable = np.allclose(information(rows, weights) @ inverse @ z, z, atol=1e-6 * max(1.0, np.abs(z).max()))
        out.append(float(z @ inverse @ z) if estimable else np.inf)
    return np.array(out)


def coordinates(rows):
    """The rows in an orthonormal basis of their span."""
    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    return rows @ vectors[values > 1e-8 * values[0]].T


def multiplicative(x, steps):
    """D-optimal weights by w <- w * leverage / d (Silvey, Titterington and Torsney 1978)."""
    n, d = x.shape
    w = np.full(n, 1.0 / n)
    for _ in range(steps):
        w = w * np.einsum("ij,jk,ik->i", x, np.linalg.inv(x.T @ (x * w[:, None])), x) / d
        w /= w.sum()
    return w


def d_optimal(rows, upper=1.0):
    """D-optimal weights under a bound, and log det of V in the rows' span."""
    x = coordinates(np.asarray(rows, dtype=float))
    n = len(x)

    def lost(w):
        sign, value = np.linalg.slogdet(x.T @ (x * w[:, None]))
        return -value if sign > 0 else 1e6

    def slope(w):
        inverse = np.linalg.pinv(x.T @ (x * w[:, None]))
        return -np.einsum("ij,jk,ik->i", x, inverse, x)

    start = np.full(n, 1.0 / n) if upper < 1.0 else multiplicative(x, 200)
    found = minimize(
        lost,
        start,
        jac=slope,
        bounds=[(0.0, upper)] * n,
        constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda w: np.ones(n)}],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    w = np.clip(found.x, 0.0, upper)
    return w / w.sum(), -lost(w / w.sum())


def minimax(rows, targets, upper=1.0):
    """The least of max over targets of ||z||^2 in V(w)^-1, by the epigraph form from an even start."""
    joint = coordinates(np.vstack([rows, targets]))
    x, z = joint[: len(rows)], joint[len(rows) :]
    n = len(x)

    def worst(w):
        inverse = np.linalg.inv(x.T @ (x * w[:, None]))
        return np.einsum("ij,jk,ik->i", z, inverse, z)

    def rise(w):
        return -((z @ np.linalg.inv(x.T @ (x * w[:, None])) @ x.T) ** 2)

    start = np.full(n, 1.0 / n)
    found = minimize(
        lambda v: v[-1],
        np.append(start, worst(start).max()),
        jac=lambda v: np.append(np.zeros(n), 1.0),
        bounds=[(1e-9, upper)] * n + [(0.0, None)],
        constraints=[
            {"type": "eq", "fun": lambda v: v[:-1].sum() - 1.0, "jac": lambda v: np.append(np.ones(n), 0.0)},
            {
                "type": "ineq",
                "fun": lambda v: v[-1] - worst(v[:-1]),
                "jac": lambda v: np.column_stack([-rise(v[:-1]), np.ones(len(z))]),
            },
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    w = found.x[:-1] / found.x[:-1].sum()
    return float(worst(w).max())


def limited_minimax(x, upper):
    """An upper estimate of the least worst variance under bounds: the epigraph form from the middle of the bounds."""
    n = len(x)
    start = upper / upper.sum()

    def variances(w):
        inverse = np.linalg.inv(x.T @ (x * w[:, None]))
        return np.einsum("ij,jk,ik->i", x, inverse, x)

    def rise(w):
        return -((x @ np.linalg.inv(x.T @ (x * w[:, None])) @ x.T) ** 2)

    found = minimize(
        lambda v: v[-1],
        np.append(start, variances(start).max()),
        jac=lambda v: np.append(np.zeros(n), 1.0),
        bounds=[(0.0, high) for high in upper] + [(0.0, None)],
        constraints=[
            {"type": "eq", "fun": lambda v: v[:-1].sum() - 1.0, "jac": lambda v: np.append(np.ones(n), 0.0)},
            {
                "type": "ineq",
                "fun": lambda v: v[-1] - variances(v[:-1]),
                "jac": lambda v: np.column_stack([-rise(v[:-1]), np.ones(n)]),
            },
        ],
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-11},
    )
    w = np.clip(found.x[:-1], 0.0, upper)
    return min(float(variances(start).max()), float(variances(w / w.sum()).max()))
