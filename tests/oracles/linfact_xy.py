"""LinFACT-XY from the paper's section 4.1, slowly: one pair at a time (Algorithms 2 and 3, eq. 22, 23).

``tight``: differences within 2 C_r, log(K (K-1) r (r+1) / delta). ``as printed``: within C_r, twice that in the log,
and the printed rule, which takes 2 C_r for a compound against itself, too. Nothing of the engine is used.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from tests.oracles.linfact import in_span


def log_term(n_arms, phase, delta, printed):
    return math.log((2 if printed else 1) * n_arms * (n_arms - 1) * phase * (phase + 1) / delta)


def difference_norm(first, second, rows, counts):
    """||first - second||_{V^-1}; infinite when the difference is not in the span of what was measured."""
    y = first - second
    if np.linalg.norm(y) <= 1e-12:
        return 0.0
    measured = np.array([x for x, n in zip(rows, counts, strict=True) if n > 0])
    if not in_span(y, measured):
        return math.inf
    v = sum(n * np.outer(x, x) for x, n in zip(rows, counts, strict=True) if n > 0)
    return math.sqrt(max(float(y @ np.linalg.pinv(v, rcond=1e-11, hermitian=True) @ y), 0.0))


def worst_difference(x, arms, counts):
    """The largest ||a_i - a_j||_{V^-1} over pairs of the arms."""
    return max((difference_norm(x[i], x[j], x, counts) for i in arms for j in arms if i < j), default=0.0)


def first_radius(sigma, n_arms, delta, slack, printed):
    """The largest slack / 4 * 2^k (k >= 0), or 2^k, whose first phase takes at least 2 d by a design of value 2 d."""

    def enough(radius):
        width = radius if printed else 2 * radius
        return 2 * 2 * sigma**2 / width**2 * log_term(n_arms, 1, delta, printed) >= 2.0

    radius = slack / 4 if slack > 0 else 2.0**-40
    while enough(2 * radius):
        radius *= 2
    return radius


@dataclass
class Reference:
    """The sets; ``decide`` takes what returned of one phase and moves them."""

    x: np.ndarray
    epsilon: float
    slack: float
    delta: float
    sigma: float
    mode: str
    printed: bool
    phase: int = 0
    good: set = field(default_factory=set)
    bad: set = field(default_factory=set)
    active: set = field(default_factory=set)

    def __post_init__(self):
        if not self.active:
            self.active = set(range(len(self.x)))
        self.first = first_radius(self.sigma, len(self.x), self.delta, self.slack, self.printed)

    def radius(self):
        radius = self.first / 2**self.phase
        return max(radius, self.slack / 4) if self.slack > 0 else radius

    def decide(self, counts, means, planned_radius=None):
        """What the phase decides, and for each arm how far behind the best it is at least and at most."""
        measured = [i for i in range(len(self.x)) if counts[i] > 0]
        if not measured:
            return None
        self.phase += 1
        rows = np.array([math.sqrt(counts[i]) * self.x[i] for i in measured])
        theta = np.linalg.lstsq(rows, np.array([math.sqrt(counts[i]) * means[i] for i in measured]), rcond=1e-10)[0]
        mean = self.x @ theta
        factor = self.sigma * math.sqrt(2 * log_term(len(self.x), self.phase, self.delta, self.printed))

        def half(i, j):
            own = factor * difference_norm(self.x[i], self.x[j], self.x, counts)
            if planned_radius is not None and own <= 2 * planned_radius * (1 + 1e-9):
                return 2 * planned_radius
            return own

        least, most, known = {}, {}, {}
        estimable = {i for i in self.active if in_span(self.x[i], self.x[measured])}
        for i in self.active:
            others = [j for j in self.active if j != i]
            itself = 2 * planned_radius if self.printed and planned_radius is not None else 0.0
            least[i] = max([0.0] + [mean[j] - mean[i] - half(i, j) for j in others])
            most[i] = max([itself] + [mean[j] - mean[i] + half(i, j) for j in others])
            known[i] = max([itself] + [mean[j] - mean[i] + half(i, j) for j in others if j in estimable])
        outs, ins, leavers, contradicted = set(), set(), set(), set()
        for i in self.active:
            if least[i] > self.epsilon:
                (contradicted if i in self.good else outs).add(i)
            elif i not in self.good and most[i] <= self.epsilon + self.slack:
                ins.add(i)
        for i in self.active & (self.good | ins):
            if least[i] > 0:
                leavers.add(i)
        self.good |= ins
        self.bad |= outs
        top = max((mean[i] for i in estimable), default=0.0)
        low = {i: top - known[i] for i in estimable}
        high = {i: top - least[i] for i in estimable}
        self.active = self.active - outs - leavers
        return {"ins": ins, "outs": outs, "leavers": leavers, "contradicted": contradicted, "low": low, "high": high}
