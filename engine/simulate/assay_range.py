"""A simulated assay with a range: values beyond it come back as bounds, as ``>10000`` does from a lab."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate.instances import Drawn
from assaypilot.engine.strategies.protocol import Allocation, Outcome

__all__ = ["AssayRange", "parse_range", "sample_within"]


@dataclass(frozen=True, slots=True)
class AssayRange:
    """Below ``low`` and above ``high`` (model scale, larger is better) only that is known of a value."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def turned(self) -> AssayRange:
        """The same where smaller is better, and values are turned around."""
        return AssayRange(-self.high, -self.low)


def parse_range(text: str) -> AssayRange:
    """What ``5..9``, ``5..`` or ``..9`` says; AssayPilotError for any other text."""
    low, dots, high = text.strip().partition("..")
    try:
        found = AssayRange(*(float(part) if part.strip() else edge for part, edge in ((low, -np.inf), (high, np.inf))))
    except ValueError:
        found = AssayRange(math.nan)
    if not dots or not found.low < found.high or not (math.isfinite(found.low) or math.isfinite(found.high)):
        raise AssayPilotError(
            f"an assay's range is two numbers with .. between, the lower first, got {text!r}",
            option="--assay-range",
            mend="For example 5..9, or 5.. where it has no upper end, on the model scale (pIC50).",
        )
    return found


def sample_within(
    drawn: Drawn, allocation: Allocation, rng: np.random.Generator, spent: int, ends: AssayRange, *, takes: bool
) -> Outcome:
    """What comes back of a phase: every value on its own, those beyond the range as the bound itself.

    ``takes``: whether the strategy takes bounds in; else they are left out, as a campaign leaves them out.
    """
    n_endpoints, n_arms = drawn.truth.shape
    arms = np.repeat(allocation.arms, allocation.counts.astype(np.intp))
    counts, sums = np.zeros((n_endpoints, n_arms)), np.zeros((n_endpoints, n_arms))
    beneath, beyond = np.zeros((n_endpoints, n_arms), dtype=bool), np.zeros((n_endpoints, n_arms), dtype=bool)
    for k, sd in enumerate(drawn.noise):
        values = drawn.expected[k, arms] + sd * rng.standard_normal(len(arms))
        under, over = values < ends.low, values > ends.high
        kept = np.ones(len(arms), dtype=bool) if takes else ~(under | over)
        counts[k] = np.bincount(arms[kept], minlength=n_arms)
        sums[k] = np.bincount(arms[kept], np.clip(values, ends.low, ends.high)[kept], n_arms)
        beneath[k, arms[under & kept]] = True
        beyond[k, arms[over & kept]] = True
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    if not (beneath.any() or beyond.any()):
        return Outcome(allocation, counts, means, spent)
    low, high = np.where(beneath, -np.inf, means), np.where(beyond, np.inf, means)
    return Outcome(allocation, counts, means, spent, low=low, high=high)
