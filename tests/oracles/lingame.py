"""LinGame, LinGame-C and the gap-index algorithms from their papers, slowly; nothing of the engine is used.

Arms are rows of a matrix in orthonormal coordinates of their span. Distances come from a general optimiser (SLSQP), the
algorithms from plain loops over arms and answers.
"""

import itertools
import math

import numpy as np
from scipy.optimize import minimize


def beta(t, log_error, *, d, length, eta, norm, sigma):
    """Eq. 4 for log(1 / delta), the norm counted in noise SDs; without a norm its term is missing."""
    bias = 0.0 if norm is None else math.sqrt(eta / 2) * norm / sigma
    return (math.sqrt(log_error + d / 2 * math.log(1 + t * length**2 / (eta * d))) + bias) ** 2


def closest(theta, metric, constraints, starts):
    """min |theta - lambda|^2_metric over y'lambda >= g for all (y, g): the least of SLSQP from several starts."""
    best = math.inf
    conditions = [
        {"type": "ineq", "fun": lambda v, y=y, g=g: y @ v - g, "jac": lambda v, y=y: y} for y, g in constraints
    ]
    for start in starts:
        found = minimize(
            lambda v: (v - theta) @ metric @ (v - theta),
            start,
            jac=lambda v: 2 * metric @ (v - theta),
            constraints=conditions,
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-14},
        )
        if all(y @ found.x - g >= -1e-7 for y, g in constraints):
            best = min(best, float(found.fun))
    return best


def alternatives(goal, x, means, answer, slack, epsilon=None, level=None):
    """Sets of half-spaces (y, g) under each of which the answer is wrong; ``answer`` is a set of rows."""
    rows = range(len(x))
    if goal == "best":
        (best,) = answer
        return [[(x[j] - x[best], slack)] for j in rows if j != best]
    if goal == "threshold":
        return [[(-x[i], slack - level)] if i in answer else [(x[i], level + slack)] for i in rows]
    wrong = [[(x[j] - x[i], epsilon + slack)] for i in answer for j in rows if j != i]
    return wrong + [[(x[m] - x[j], -epsilon) for j in rows if j != m] for m in rows if m not in answer]


def hedge_weights(losses, gap):
    """Exponential weights at rate ln(K) / Delta."""
    rate = math.log(len(losses)) / gap
    shares = [math.exp(-rate * (loss - min(losses))) for loss in losses]
    return np.array(shares) / sum(shares)


def hedge_gap(losses, gap, loss):
    """Delta after one more loss: weighted loss minus mix loss is added (AdaHedge)."""
    k, rate = len(losses), math.log(len(losses)) / gap
    weights = hedge_weights(losses, gap)
    mix = -math.log(sum(w * math.exp(-rate * (one - min(loss))) for w, one in zip(weights, loss, strict=True))) / rate
    return gap + max(0.0, float(weights @ loss) - mix - min(loss)) if k > 1 else gap


class BestArm:
    """Algorithms 1 and 2 for the best arm, one measurement a step; ``convex`` for Algorithm 2.

    Starts with ``first`` arms, one measurement each. Arms the leader surely beats are left out
    from then on, which is the only step that is not the paper's.
    """

    def __init__(self, x, first, *, delta, sigma, norm, eta, convex=False):
        self.x, self.delta, self.sigma, self.norm, self.eta = x, delta, sigma, norm, eta
        self.first, self.convex = list(first), convex
        k, self.d = x.shape
        self.length = max(np.linalg.norm(row) for row in x)
        self.values = [[] for _ in range(k)]
        self.alive = set(range(k))
        self.learners, self.gap, self.unseen = {}, 0.01, np.zeros(k)
        self.weights, self.owed = {}, {}

    def beta(self, t, log_error):
        return beta(t, log_error, d=self.d, length=self.length, eta=self.eta, norm=self.norm, sigma=self.sigma)

    def allows(self, arm):
        """Whether argmin N - W may be this arm (ties up to rounding); then it is taken for measured."""
        t = sum(map(len, self.values))
        if t < len(self.first):
            return arm == self.first[t]
        for i in self.weights:
            self.owed[i] = self.owed[i] + self.weights[i]
        most = max(owed.max() for owed in self.owed.values())
        tied = [i for i in self.weights if self.owed[i][arm] >= most - 1e-9]
        self.chosen = tied[0] if tied else None
        return bool(tied)

    def tell(self, arm, value):
        """One value; the best arm when it is certain, else None."""
        t = sum(map(len, self.values)) + 1
        self.values[arm].append(value)
        if t > len(self.first):
            self.owed[self.chosen][arm] -= 1
        if t < len(self.first):
            return None
        v = sum(len(ys) * np.outer(row, row) for row, ys in zip(self.x, self.values, strict=True))
        ridged = v + self.eta * np.eye(self.d)
        theta = np.linalg.solve(ridged, sum(sum(ys) * row for row, ys in zip(self.x, self.values, strict=True)))
        means = self.x @ theta
        best = max(self.alive, key=lambda a: means[a])
        reach = 2 * self.sigma**2 * self.beta(t, math.log(1 / self.delta))
        for a in sorted(self.alive - {best}):
            y = self.x[best] - self.x[a]
            if (y @ theta) ** 2 / (y @ np.linalg.inv(v) @ y) > reach:
                self.alive.discard(a)
        if self.alive == {best}:
            return best
        self.play(t, theta, means, best, ridged)
        return None

    def play(self, t, theta, means, best, ridged):
        k = len(self.x)
        h = self.beta(t, 3 * math.log(t))
        most = 4 * (self.length * self.norm / self.sigma) ** 2
        unsure = [math.sqrt(2 * h * (row @ np.linalg.inv(ridged) @ row)) for row in self.x]
        stay = np.array([-min(u**2, most) / 2 for u in unsure])
        if best not in self.learners:
            self.learners[best] = self.unseen.copy() if self.convex else np.zeros(k)
            if self.convex or not self.owed:
                counts = np.zeros(k)
                self.owed.setdefault(best if self.convex else 0, counts)
            if not self.convex:
                self.gaps = getattr(self, "gaps", {}) | {best: 0.01}
        if self.convex:
            answers = list(self.learners)
            losses = np.concatenate([self.learners[i] for i in answers])
            weights = hedge_weights(losses, self.gap)
            self.weights = {i: weights[n * k : n * k + k] for n, i in enumerate(answers)}
            moved = self.losses(theta, means, best, self.weights[best], unsure, most)
            loss = np.concatenate([moved if i == best else stay for i in answers])
            self.gap = hedge_gap(losses, self.gap, loss)
            for i in answers:
                self.learners[i] = self.learners[i] + (moved if i == best else stay)
            self.unseen += stay
            return
        weights = hedge_weights(self.learners[best], self.gaps[best])
        loss = self.losses(theta, means, best, weights, unsure, most)
        self.gaps[best] = hedge_gap(self.learners[best], self.gaps[best], loss)
        self.learners[best] = self.learners[best] + loss
        self.weights = {0: weights}

    def losses(self, theta, means, best, weights, unsure, most):
        """-U / 2 at nature's best response (Lemma 7, eq. 10), in units of the noise."""
        v = sum(w * np.outer(row, row) for row, w in zip(self.x, weights, strict=True))
        inverse = np.linalg.inv(v + 1e-8 * np.trace(v) / self.d * np.eye(self.d))
        squared = {}
        for j in sorted(self.alive - {best}):
            y = self.x[best] - self.x[j]
            squared[j] = (y @ theta) ** 2 / (y @ inverse @ y)
        j = min(squared, key=squared.get)
        y = self.x[best] - self.x[j]
        alternative = theta - (y @ theta) / (y @ inverse @ y) * inverse @ y
        far = [abs(row @ (theta - alternative)) / self.sigma + u for row, u in zip(self.x, unsure, strict=True)]
        return np.array([-min(f**2, most) / 2 for f in far])


def race_by_means(means, index, m):
    """m-LinGapE: leaders, weakest leader, challenger and how much better it can be; ``index(i, j)`` is B_ij."""
    order = sorted(range(len(means)), key=lambda i: -means[i])
    leaders, others = set(order[:m]), set(order[m:])
    excess, b, c = max((index(i, j), j, i) for i, j in itertools.product(others, leaders))
    return leaders, b, c, excess


def race_by_indices(means, index, m):
    """LinGIFA: leaders have the smallest m-th largest index against them."""
    k = len(means)
    against = [sorted((index(i, j) for i in range(k) if i != j), reverse=True)[m - 1] for j in range(k)]
    leaders = set(sorted(range(k), key=lambda j: against[j])[:m])
    b = max(leaders, key=lambda j: against[j])
    c = max(set(range(k)) - leaders, key=lambda i: index(i, b))
    return leaders, b, c, against[b]
