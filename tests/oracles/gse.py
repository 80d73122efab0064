"""GSE from the paper, slowly: stages, what stays, and maximum likelihood by a general-purpose minimiser.

Written from Algorithm 1 and eq. 1 and 4; nothing of the engine is used.
"""

import math

import numpy as np
from scipy.optimize import minimize


def stages(n, eta):
    """ceil(log_eta n) by counting, at least 1."""
    s = 0
    while eta**s < n * (1 - 1e-12):
        s += 1
    return max(s, 1)


def predictors(model, x, counts, means, bound):
    """x'theta of every row at the maximum of the likelihood, each measured one within the bound."""
    used = counts > 0
    a, n, y = x[used], counts[used], means[used]
    if model == "linear":
        root = np.sqrt(n)
        return x @ np.linalg.lstsq(a * root[:, None], y * root, rcond=1e-10)[0]
    basis = np.linalg.svd(a, full_matrices=False)
    z = basis[2][basis[1] > 1e-9 * basis[1][0]].T

    def loss(beta):
        u = a @ (z @ beta)
        total = np.logaddexp(0, u) if model == "logistic" else np.exp(np.minimum(u, 50))
        return float(n @ (total - y * u)) / n.sum()

    def slope(beta):
        u = a @ (z @ beta)
        mean = 1 / (1 + np.exp(-u)) if model == "logistic" else np.exp(np.minimum(u, 50))
        return z.T @ (a.T @ (n * (mean - y))) / n.sum()

    limits = {"type": "ineq", "fun": lambda beta: np.concatenate([bound - a @ z @ beta, bound + a @ z @ beta])}
    found = minimize(
        loss, np.zeros(z.shape[1]), jac=slope, constraints=[limits], method="SLSQP", options={"ftol": 1e-14}
    )
    return x @ (z @ found.x)


def stay(scores, active, eta, last):
    """The ceil(|A| / eta) of the active with the largest scores; after the last stage one."""
    keep = 1 if last else math.ceil(len(active) / eta)
    return sorted(sorted(active, key=lambda i: -scores[i])[:keep])
