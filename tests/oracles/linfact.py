"""LinFACT-G from the paper's section 4.1, slowly: indicator matrices, least squares by lstsq, one arm at a time.

Written from the text (Algorithms 1, 3 and 4; eq. 21, 24, 25) with sigma, slack and realised half-widths as the design
states them; nothing of the engine is used. Arms are rows of a matrix. Sets are Python sets of row numbers.
"""

import math
from dataclasses import dataclass, field

import numpy as np


def indicators(codes, sizes):
    """An intercept and one indicator per substituent."""
    x = np.zeros((len(codes), 1 + sum(sizes)))
    for i, row in enumerate(codes):
        x[i, 0] = 1.0
        start = 1
        for code, size in zip(row, sizes, strict=True):
            x[i, start + code] = 1.0
            start += size
    return x


def distinct(codes):
    """The first compound of each different row, in order of appearance, and the arm of every compound."""
    first, arm_of, seen = [], [], {}
    for i, row in enumerate(map(tuple, codes)):
        if row not in seen:
            seen[row] = len(first)
            first.append(i)
        arm_of.append(seen[row])
    return first, arm_of


def in_span(row, rows):
    """Whether a row is a combination of others."""
    if not len(rows):
        return False
    combination = np.linalg.lstsq(rows.T, row, rcond=1e-10)[0]
    return bool(np.linalg.norm(rows.T @ combination - row) <= 1e-7 * np.linalg.norm(row))


def norm(row, rows, counts):
    """||row||_{V^-1} for V = sum of count x x'; infinite when the row is not in the span of what was measured."""
    measured = [x for x, n in zip(rows, counts, strict=True) if n > 0]
    if not in_span(row, np.array(measured)):
        return math.inf
    v = sum(n * np.outer(x, x) for x, n in zip(rows, counts, strict=True) if n > 0)
    return math.sqrt(max(float(row @ np.linalg.pinv(v, rcond=1e-11, hermitian=True) @ row), 0.0))


def log_term(n_arms, phase, delta):
    return math.log(2 * n_arms * phase * (phase + 1) / delta)


def first_radius(sigma, n_arms, delta, slack):
    """The largest slack / 4 * 2^k (k >= 0), or 2^k, whose first phase takes at least 2 d measurements.

    d cancels: 2 d sigma^2 / C^2 log(4 K / delta) >= 2 d.
    """

    def enough(radius):
        return sigma**2 / radius**2 * log_term(n_arms, 1, delta) >= 1.0

    radius = slack / 4 if slack > 0 else 2.0**-40
    while enough(2 * radius):
        radius *= 2
    return radius


def measurements(weights, value, sigma, radius, n_arms, phase, delta):
    """T(a) = ceil(2 g(w) w(a) sigma^2 / C^2 log(2 K r (r+1) / delta)), eq. 21 with the achieved g and sigma."""
    return [
        math.ceil(2 * value * w * sigma**2 / radius**2 * log_term(n_arms, phase, delta)) if w > 0 else 0
        for w in weights
    ]


@dataclass
class Reference:
    """The algorithm with its sets; ``decide`` takes what returned of one phase and moves them."""

    x: np.ndarray
    epsilon: float
    slack: float
    delta: float
    sigma: float
    mode: str
    can_be_measured: list
    phase: int = 0
    good: set = field(default_factory=set)
    bad: set = field(default_factory=set)
    active: set = field(default_factory=set)
    lost: set = field(default_factory=set)

    def __post_init__(self):
        basis = self.x[self.can_be_measured]
        for i, row in enumerate(self.x):
            (self.active if in_span(row, basis) else self.lost).add(i)
        self.first = first_radius(self.sigma, len(self.x), self.delta, self.slack)

    def radius(self):
        """C_r of the phase to come."""
        radius = self.first / 2**self.phase
        return max(radius, self.slack / 4) if self.slack > 0 else radius

    def candidates(self):
        """Whom the phase measures among: active arms that can be had, all that can be had if those do not span."""
        rows = [i for i in self.can_be_measured if i in self.active]
        if all(in_span(self.x[i], self.x[rows]) for i in self.active):
            return rows
        return list(self.can_be_measured)

    def plan(self, rows, weights):
        """Measurements of each of the rows by eq. 21, and the g they were sized with."""
        value = max(norm(self.x[i], self.x[rows], weights) ** 2 for i in self.active)
        phase = self.phase + 1
        return measurements(weights, value, self.sigma, self.radius(), len(self.x), phase, self.delta), value

    def decide(self, counts, means, planned_radius=None):
        """What one phase's measurements (``counts`` and ``means`` of all arms) decide; None when there are none.

        ``planned_radius``: the promised radius, in planned mode with everything planned in.
        """
        measured = [i for i in range(len(self.x)) if counts[i] > 0]
        if not measured or not self.active:
            return None
        self.phase += 1
        rows = np.array([math.sqrt(counts[i]) * self.x[i] for i in measured])
        values = np.array([math.sqrt(counts[i]) * means[i] for i in measured])
        theta = np.linalg.lstsq(rows, values, rcond=1e-10)[0]
        factor = self.sigma * math.sqrt(2 * log_term(len(self.x), self.phase, self.delta))
        mean, half = {}, {}
        for i in self.active:
            size = norm(self.x[i], self.x[measured], [counts[j] for j in measured])
            mean[i] = float(self.x[i] @ theta) if math.isfinite(size) else 0.0
            half[i] = factor * size
            if self.mode == "planned" and planned_radius is not None:
                half[i] = planned_radius
        upper = max(mean[i] + half[i] for i in self.active) - self.epsilon
        lower = max(mean[i] - half[i] for i in self.active) - self.epsilon
        ins, outs, leavers, contradicted = set(), set(), set(), set()
        for i in self.active:
            if mean[i] + half[i] < lower:
                (contradicted if i in self.good else outs).add(i)
            elif i not in self.good:
                if self.slack > 0 and mean[i] - half[i] >= upper - self.slack:
                    ins.add(i)
                if self.slack == 0 and mean[i] - half[i] > upper:
                    ins.add(i)
        best_low = max(mean[i] - half[i] for i in self.active)
        for i in self.active & (self.good | ins):
            if mean[i] + half[i] < best_low:
                leavers.add(i)
        self.good |= ins
        self.bad |= outs
        decided = {
            "mean": mean,
            "half": half,
            "upper": upper,
            "lower": lower,
            "ins": ins,
            "outs": outs,
            "leavers": leavers,
            "contradicted": contradicted,
        }
        self.active = self.active - outs - leavers
        return decided

    @property
    def undecided(self):
        return set(range(len(self.x))) - self.good - self.bad - self.lost
