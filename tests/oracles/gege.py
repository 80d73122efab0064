"""GEGE and what it compares with, slowly: loops over pairs, lstsq for every estimate, nothing of the engine used.

Written from "Bandit Pareto Set Identification in a Multi-Output Linear Model" (eq. 1, Algorithms 2 and 3), with the
corrections the design states, and from the papers of EGE and APE. Means are ``mu[arm][endpoint]``, larger is better.
"""

import math

import numpy as np


def m(mu, i, j):
    return min(b - a for a, b in zip(mu[i], mu[j], strict=True))


def big_m(mu, i, j):
    return max(a - b for a, b in zip(mu[i], mu[j], strict=True))


def beats(mu, j, i):
    return all(b > a for a, b in zip(mu[i], mu[j], strict=True))


def pareto(mu):
    arms = range(len(mu))
    return [not any(beats(mu, j, i) for j in arms) for i in arms]


def gaps(mu):
    """Eq. 1 as it is written, over all j."""
    arms = range(len(mu))
    star = [max((m(mu, i, j) for j in arms if j != i), default=-math.inf) for i in arms]
    inside = pareto(mu)
    out = []
    for i in arms:
        if inside[i]:
            out.append(
                min(
                    (min(big_m(mu, i, j), max(big_m(mu, j, i), 0.0) + max(star[j], 0.0)) for j in arms if j != i),
                    default=math.inf,
                )
            )
        else:
            out.append(star[i])
    return out


def estimate(x, counts, values):
    """Means of all rows from weighted means of the measured ones, by lstsq; ||a||_{V^-1} by pinv, inf outside."""
    measured = [i for i in range(len(x)) if counts[i] > 0]
    root = np.sqrt([counts[i] for i in measured])
    rows = np.array([x[i] for i in measured])
    theta = np.linalg.lstsq(rows * root[:, None], np.array([values[i] for i in measured]) * root, rcond=1e-10)[0]
    v = np.linalg.pinv((rows * root[:, None] ** 2).T @ rows, rcond=1e-11, hermitian=True)
    norms = []
    for row in x:
        part = np.linalg.lstsq(rows.T, row, rcond=1e-10)[0]
        inside = np.linalg.norm(rows.T @ part - row) <= 1e-7 * np.linalg.norm(row)
        norms.append(math.sqrt(max(float(row @ v @ row), 0.0)) if inside else math.inf)
    return x @ theta, norms


def size(phase, epsilon, sigma, rank, arms, endpoints, delta, radii):
    """t_r of Algorithm 3."""
    share = 6 * delta / (math.pi**2 * phase**2)
    if radii == "simplified":
        return math.ceil(sigma**2 * rank * math.log(1 / share) / epsilon**2)
    kappa = 1 / 2 ** (phase + 2)
    main = 32 * (1 + 6 * kappa) * sigma**2 * rank / epsilon**2 * math.log(2 * endpoints * arms / share)
    return math.ceil(max(5 * rank / kappa**2, main))


def confidence_phase(mu, epsilon):
    """One round of Algorithm 3 on the estimates of the active arms: accepted, rejected."""
    inside, gap = pareto(mu), gaps(mu)
    accepted = {i for i in range(len(mu)) if inside[i] and gap[i] >= epsilon}
    rejected = {i for i in range(len(mu)) if not inside[i] and gap[i] >= epsilon / 2}
    left = set(range(len(mu))) - accepted - rejected
    return (accepted | left if len(left) == 1 else accepted), rejected


def bounds_phase(low, high, margin):
    """What boxes prove: in, out, and who of those that are in cannot beat any that is open. ``low[arm][endpoint]``."""
    arms = range(len(low))
    outs = {i for i in arms if any(all(a > b for a, b in zip(low[j], high[i], strict=True)) for j in arms)}
    ins = {
        i
        for i in arms
        if i not in outs
        and not any(
            all(a > b + margin for a, b in zip(high[j], low[i], strict=True)) for j in arms if j != i and j not in outs
        )
    }
    still = [i for i in arms if i not in outs and i not in ins]
    leaves = {i for i in ins if not any(all(a > b for a, b in zip(high[i], low[j], strict=True)) for j in still)}
    return ins, outs, leaves


def budget_round(mu, keep):
    """One round of Algorithm 2: accepted, rejected, kept; ties up to rounding by set, then sum, then place."""
    inside, gap = pareto(mu), gaps(mu)
    unit = 1e-9 * max((abs(v) for row in mu for v in row), default=1.0)
    unit = unit or 1.0
    order = sorted(
        range(len(mu)),
        key=lambda i: (
            round(gap[i] / unit) if gap[i] < math.inf else math.inf,
            not inside[i],
            -round(sum(mu[i]) / unit),
            i,
        ),
    )
    gone = order[keep:]
    return {i for i in gone if inside[i]}, {i for i in gone if not inside[i]}, set(order[:keep])


def rejects(arms, budget):
    """n_1, ..., n_(K-1) of EGE-SR: measurements of an arm that is still there after each round."""
    bar = 0.5 + sum(1 / i for i in range(2, arms + 1))
    return [math.ceil((budget - arms) / (bar * (arms + 1 - r))) for r in range(1, arms)]


def ape(mu, counts, constant, epsilon=0.0, sigma=1.0):
    """S, whether it stops, b and c of APE, by loops over pairs."""
    arms, endpoints = range(len(mu)), range(len(mu[0]))

    def beta(i, j):
        logs = sum(math.log(4 + math.log(counts[a])) for a in (i, j))
        return 2 * sigma * math.sqrt((constant + logs) * (1 / counts[i] + 1 / counts[j]))

    def upper(i, j):
        return max(mu[i][c] - mu[j][c] + beta(i, j) for c in endpoints)

    def lower(i, j):
        return max(mu[i][c] - mu[j][c] - beta(i, j) for c in endpoints)

    def least(i, j):
        return min(mu[j][c] - mu[i][c] - beta(i, j) for c in endpoints)

    h = [min(lower(i, j) + epsilon for j in arms if j != i) for i in arms]
    g = [max(least(i, j) for j in arms if j != i) for i in arms]
    inside = pareto(mu)
    stops = all(h[i] > 0 if inside[i] else max(g[i], h[i]) > 0 for i in arms)
    answer = {i for i in arms if inside[i] or g[i] <= 0}
    unsure = [i for i in arms if h[i] <= 0]
    if not unsure:
        return answer, stops, None, None
    b = max(unsure, key=lambda i: min(upper(i, j) for j in arms if j != i))
    c = min((j for j in arms if j != b), key=lambda j: lower(b, j))
    return answer, stops, b, c
