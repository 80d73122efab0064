"""What an oracle takes that must show all compounds at once: the fairest yardstick of a strategy with one answer.

The oracle of ``simulate.baselines.oracle`` ends where each comparison would hold half of the time. But an answer is
made when all of them hold, and errors have to fall well for the least lucky one, too. Here the same oracle, which knows
the truth and measures by the design that is best for it from the first well on, ends when every compound is shown by
its values: half of the time with so many measurements.
"""

from dataclasses import dataclass

import numpy as np

from assaypilot.engine.design.criteria import nearly_inverse
from assaypilot.engine.simulate.baselines.oracle import oracle

DRAWS = 400
_UNLIKELY = 5.0
"""Comparisons that would still hold with so many standard errors more of bad luck are never the last ones."""


def all_at_once(candidates, theta, epsilon, slack, *, level, best_level, draws=DRAWS):
    """Median measurements, at a noise of 1, until all comparisons hold at once, each at ``level``.

    A compound in is compared with every rival that is not yet shown to be not the best, at ``best_level``; one in the
    soft zone may be shown to be out instead. Between looks nothing is lost: the noise of one draw is that of one set of
    measurements, scaled, so no limit for several looks is paid for.
    """
    known = oracle(candidates, theta, epsilon, slack=slack)
    half = np.linalg.cholesky(nearly_inverse(candidates.coordinates(known.support), known.weights))
    errors = candidates.coordinates() @ half
    means = candidates.times(theta)
    best = int(np.argmax(means))
    behind = means[best] - means
    ins = np.flatnonzero(known.called_in)
    rivals = np.flatnonzero((behind <= epsilon + slack) & (np.arange(len(means)) != best))
    first, second = (part.ravel() for part in np.meshgrid(ins, np.append(rivals, best), indexing="ij"))
    every, leader = np.arange(len(means)), np.full(len(means), best)
    within = _Comparisons.by(errors, first, second, means[first] - means[second] + epsilon + slack)
    outs = _Comparisons.by(errors, leader, every, behind - epsilon)
    refuted = _Comparisons.by(errors, leader[rivals], rivals, behind[rivals])
    none = np.zeros(len(means))
    hardest = max(within.needed(none, level).max(), outs.needed(none, level)[~known.called_in].max(initial=0.0))
    within = within.of(within.needed(none, level + _UNLIKELY) >= hardest)
    rng = np.random.default_rng(2102)
    found = []
    for _ in range(draws):
        noise = errors @ rng.standard_normal(errors.shape[1])
        out = outs.needed(noise, level)
        gone = np.full(len(means), np.inf)
        gone[rivals] = refuted.needed(noise, best_level)
        each = np.minimum(within.needed(noise, level), np.minimum(gone, out)[within.second])
        in_or_out = np.zeros(len(means))
        np.maximum.at(in_or_out, within.first, each)
        found.append(float(np.where(known.called_in, np.minimum(in_or_out, out), out).max()))
    return float(np.median(found))


@dataclass(frozen=True)
class _Comparisons:
    """mean(first) - mean(second), which is ``gap`` beyond its border; ``size``: its standard error at a noise of 1."""

    first: np.ndarray
    second: np.ndarray
    gap: np.ndarray
    size: np.ndarray

    @classmethod
    def by(cls, errors, first, second, gap):
        """By the errors of the means, a row of each."""
        return cls(first, second, gap, np.linalg.norm(errors[first] - errors[second], axis=1))

    def of(self, some):
        """These only."""
        return _Comparisons(self.first[some], self.second[some], self.gap[some], self.size[some])

    def needed(self, noise, level):
        """Measurements from which each holds: gap + error / sqrt(n) is at least ``level`` standard errors."""
        short = np.maximum(level * self.size - (noise[self.first] - noise[self.second]), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = (short / self.gap) ** 2
        return np.where(self.gap > 0, needed, np.where((self.gap == 0) & (short == 0), 0.0, np.inf))
