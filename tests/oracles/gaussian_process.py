"""The series model, slowly: covariances by loops over compounds, textbook formulas, nothing of the engine used.

A value is mean + site effects + pair effects + own deviation (Rasmussen and Williams 2006, chapter 2). A measurement
adds the shift of its group and noise. ``parts``: triples of sites, variance and whether similar substituents share.
"""

import itertools
import math

import numpy as np


def value_covariance(left, right, parts, own, flat, similarity):
    """Covariance of the values of compounds; ``left`` and ``right`` are lists of (arm, codes)."""
    out = np.empty((len(left), len(right)))
    for i, (arm, a) in enumerate(left):
        for j, (other, b) in enumerate(right):
            total = flat
            for sites, variance, similar in parts:
                product = 1.0
                for site in sites:
                    known = similar and similarity[site] is not None
                    product *= similarity[site][a[site]][b[site]] if known else float(a[site] == b[site])
                total += variance * product
            out[i, j] = total + (own if arm == other else 0.0)
    return out


def row_covariance(rows, shifts, shift_variances, noise):
    """What measurements add to the covariance of their values: shared shifts and independent noise."""
    out = np.diag(np.asarray(noise, dtype=float))
    for groups, variance in zip(shifts, shift_variances, strict=True):
        for i, j in itertools.product(range(len(rows)), repeat=2):
            if groups[i] >= 0 and groups[i] == groups[j]:
                out[i, j] += variance
    return out


def condition(prior, cross, seen, residual):
    """Mean and covariance of a Gaussian given others: ``cross`` with those, ``seen`` theirs."""
    gain = cross @ np.linalg.inv(seen)
    return gain @ residual, prior - gain @ cross.T


def log_density(residual, seen):
    """Log density of a zero-mean Gaussian, without its constant."""
    return -0.5 * float(residual @ np.linalg.solve(seen, residual)) - 0.5 * float(np.linalg.slogdet(seen)[1])


def normal(x, mean=0.0, sd=1.0):
    return math.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * math.sqrt(2.0 * math.pi))


def cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def within(mean, variance, low, high, noise, steps=20_001):
    """Mean and variance of a normal variable whose noisy measurement lies between limits, by quadrature."""
    sd, error = math.sqrt(variance), math.sqrt(noise)
    grid = np.linspace(mean - 12 * sd, mean + 12 * sd, steps)
    weight = np.array([normal(x, mean, sd) * (cdf((high - x) / error) - cdf((low - x) / error)) for x in grid])
    weight /= weight.sum()
    center = float(weight @ grid)
    return center, float(weight @ (grid - center) ** 2)


def membership(goal, draws, epsilon=None, slack=0.0, threshold=None, count=1):
    """Members and acceptable compounds draw by draw; ``draws[endpoint][draw][compound]``."""
    member, acceptable = [], []
    for values in zip(*draws, strict=True):
        first = list(values[0])
        if goal == "epsilon-best":
            top = max(first)
            member.append([top - value <= epsilon for value in first])
            acceptable.append([top - value <= epsilon + slack for value in first])
        elif goal == "best":
            top = max(first)
            member.append([value == top for value in first])
            acceptable.append([top - value <= slack for value in first])
        elif goal == "top":
            last = sorted(first, reverse=True)[min(count, len(first)) - 1]
            member.append([value >= last for value in first])
            acceptable.append([value >= last - slack for value in first])
        elif goal == "threshold":
            member.append([value > threshold + slack for value in first])
            acceptable.append([value > threshold - slack for value in first])
        else:
            points = list(zip(*values, strict=True))
            ahead = [[min(q - p for p, q in zip(a, b, strict=True)) for b in points] for a in points]
            member.append([max(row) <= 0.0 for row in ahead])
            acceptable.append([max(row) <= slack for row in ahead])
    return np.array(member), np.array(acceptable)


def left_variance(values, cross, spread, weight, noise, counts):
    """Weighted variance of margins after measurements, by exact conditioning on all of them at once."""
    arms = [arm for arm, count in enumerate(counts) for _ in range(count)]
    total = 0.0
    seen = np.array([[values[a][b] for b in arms] for a in arms]) + noise * np.eye(len(arms))
    for j, variance in enumerate(spread):
        column = np.array([cross[a][j] for a in arms])
        total += weight[j] * (variance - (column @ np.linalg.solve(seen, column) if arms else 0.0))
    return total
