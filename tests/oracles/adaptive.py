"""``adaptive`` written plainly from its statement: dense matrices, every comparison and look by itself."""

import functools

import numpy as np
from scipy.stats import norm


@functools.cache
def plain_limits(alpha, expected, looks, points=3001):
    """c_1, c_2, ..: the share of alpha that each look spends grows as its square to 0.75 at the expected one.

    By the trapezoidal rule on an even grid, and bisection for each limit.
    """

    def spent(k):
        return 0.75 * (k / expected) ** 2 if k <= expected else 1 - 0.25 * expected / k

    places, weights, found = np.zeros(1), np.ones(1), []
    for k in range(1, looks + 1):
        share, low, high = alpha * (spent(k) - spent(k - 1)), -5.0, 60.0
        for _ in range(70):
            middle = (low + high) / 2
            if float(weights @ norm.sf(middle - places)) > share:
                low = middle
            else:
                high = middle
        found.append(high / np.sqrt(k))
        grid = np.linspace(-8 * np.sqrt(k), high, points)
        density = np.exp(-0.5 * (grid[:, None] - places) ** 2) @ weights / np.sqrt(2 * np.pi)
        step = np.full(points, grid[1] - grid[0])
        step[[0, -1]] /= 2
        places, weights = grid, density * step
    return np.array(found)


class Plain:
    """Who is out, not the best, or in after each phase, for all epsilon-best compounds."""

    def __init__(self, x, sigma, epsilon, slack, out_limits, in_limits, best_limits):
        """``best_limits``: c_1, c_2, ..; the same by ``out_limits`` of (near, all near, those not out: m) and
        ``in_limits`` of (near, all near: m), which compounds are near a border before the first step."""
        self.x, self.sigma = np.asarray(x, float), sigma
        self.epsilon, self.slack = epsilon, slack
        self.out_limits, self.in_limits, self.best_limits = out_limits, in_limits, best_limits
        n = len(self.x)
        self.phases = []
        self.out, self.into, self.not_best = np.zeros(n, bool), np.zeros(n, bool), np.zeros(n, bool)
        self.near = np.ones(n, bool)
        self.total = np.zeros((self.x.shape[1],) * 2), np.zeros(self.x.shape[1])

    def said(self, phase, i, j):
        """(difference i - j, its standard error) by one phase; None when it says nothing."""
        information, moment = phase
        y = self.x[i] - self.x[j]
        if not y.any():
            return None
        solved = np.linalg.lstsq(information, y, rcond=1e-10)[0]
        if np.abs(information @ solved - y).max() > 1e-7:
            return None
        return float(solved @ moment), self.sigma * float(np.sqrt(y @ solved))

    def crossed(self, steps, offset, limits):
        value, looks = 0.0, 0
        for step in steps:
            if step is None:
                continue
            looks += 1
            value += (step[0] + offset) / step[1]
            if value > limits[looks - 1] * np.sqrt(looks):
                return True
        return False

    def leader(self):
        """The best by all measurements so far of those that may be the best."""
        information, moment = self.total
        if not information.any():
            return None
        means = self.x @ np.linalg.lstsq(information, moment, rcond=1e-10)[0]
        may = ~self.out & ~self.not_best
        return int(np.flatnonzero(may)[np.argmax(means[may])])

    def near_border(self):
        """Who is at most one standard error from where a compound may be called either, by all so far."""
        information, moment = self.total
        led, near = self.leader(), []
        for row in self.x:
            y = self.x[led] - row
            told = self.said((information, moment), led, len(near))
            gap, error = told or (0.0, 0.0)
            low, high = self.epsilon, self.epsilon + self.slack
            near.append((bool(y.any()) and told is None) or low - error <= gap <= high + error)
        return np.array(near)

    def phase(self, counts, means, silent=False):
        """One more phase of all compounds' counts and means; a silent one is for the leader alone."""
        led = self.leader()
        information = self.x.T @ (self.x * counts[:, None])
        moment = self.x.T @ (counts * np.where(counts > 0, means, 0.0))
        if not silent:
            self.phases.append((information, moment, led))
        self.total = self.total[0] + information, self.total[1] + moment
        n = range(len(self.x))
        if not self.phases:
            self.near = self.near_border()

        def behind(m):
            return [None if led is None else self.said((a, b), led, m) for a, b, led in self.phases]

        self.not_best |= [self.crossed(behind(m), 0.0, self.best_limits) for m in n]
        open_before = ~self.out & ~self.into
        while True:
            new = []
            for m in n:
                limits = self.out_limits(self.near, ~self.out, m)
                if open_before[m] and not self.out[m] and self.crossed(behind(m), -self.epsilon, limits):
                    new.append(m)
            if not new:
                break
            self.out[new] = True
        rivals = [j for j in n if not self.out[j] and not self.not_best[j]]
        for i in n:
            if self.out[i] or self.into[i]:
                continue
            near = True
            for j in rivals:
                if not (self.x[i] - self.x[j]).any():
                    continue
                steps = [self.said((a, b), i, j) for a, b, _ in self.phases]
                near = near and self.crossed(steps, self.epsilon + self.slack, self.in_limits(self.near, i))
            self.into[i] = near
