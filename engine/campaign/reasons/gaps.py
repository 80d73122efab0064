"""How far a compound is behind the one it has to be compared with, and between which bounds: what decides about it.

Each family of strategies decides by bounds of its own, so each has its own way to tell them. On the strategy's scale,
larger is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ...arrays import Floats
from ...strategies.protocol import OUT, Decision, State
from ..noise import known as assay_noise
from ..noise import scatter
from ..replay import Ledger

__all__ = ["Basis", "Gap", "Gaps"]


_RIVALS = 60
"""Compounds that may be the best, by the estimate, that one is compared with."""

Basis = Literal["means", "behind", "walks", "informs"]
"""What bounds a difference: those of the two means, of the phase's differences, of the walks of all phases.

``informs``: nothing that decides, only the 95 % interval over everything measured.
"""


@dataclass(frozen=True, slots=True)
class Gap:
    """How far an arm is behind another."""

    rival: int | None
    """The arm it is compared with; None where the bounds are against the best, whoever that is."""
    behind: float
    """By estimate; negative when it is ahead."""
    least: float
    """Surely at least so far behind."""
    most: float
    """Surely at most so far behind."""
    basis: Basis
    half: float
    """How well that is known: half of the interval, of the mean itself where means are bounded."""

    @property
    def decides(self) -> bool:
        """Whether the bounds are what decisions are made by."""
        return self.basis != "informs"


class Gaps:
    """The gaps of the arms of one campaign at one moment, for goals about one endpoint."""

    def __init__(self, ledger: Ledger, state: State) -> None:
        self._ledger, self._state = ledger, state

    @cached_property
    def basis(self) -> Basis:
        """By what the campaign's strategy decides."""
        from ...strategies.linfact.linfact import LinFact
        from ...strategies.linfact.xy_optimal import LinFactXY, LinFactXYAsPrinted

        strategy: Any = self._ledger.strategy
        if isinstance(strategy, (LinFactXY, LinFactXYAsPrinted)):
            return "behind"
        if isinstance(strategy, LinFact):
            return "means"
        return "walks" if strategy.info.name == "adaptive" and "leaders" in self._state.memory else "informs"

    def now(self, arm: int) -> Gap | None:
        """How an arm stands; by the last decided phase where that bounded it. None when nothing tells."""
        bounded = [d for d in self._decisions if np.isfinite(d.high[0, arm]) and np.isfinite(d.low[0, arm])]
        if self.basis == "walks":
            return self._walked(self._state, arm, out=False) if bounded else None
        if self.basis == "informs":
            return self._informed(arm)
        return self._of(bounded[-1], arm) if bounded else None

    @property
    def measured(self) -> float:
        """Measurements that the last bounds rest on, of the objective."""
        if self.basis == "walks":
            return float(self._state.memory["counts"].sum())
        decisions = self._decisions
        return float(decisions[-1].numbers.get("measurements", 0.0)) if decisions else 0.0

    def then(self, arm: int, phase: int) -> Gap | None:
        """How an arm stood when a phase was decided; None where that cannot be told."""
        decision = self._ledger.estimates.get(phase)
        if decision is None:
            return None
        if self.basis == "walks":
            after = self._ledger.strategy.apply(self._ledger.before(phase), decision)
            return self._walked(after, arm, out=bool(after.status[arm] == OUT))
        return None if self.basis == "informs" else self._of(decision, arm)

    # ------------------------------------------------------------------ inside

    @property
    def _decisions(self) -> list[Decision]:
        return [self._ledger.estimates[phase] for phase in sorted(self._ledger.estimates)]

    def _of(self, decision: Decision, arm: int) -> Gap | None:
        estimate, low, high = decision.estimate[0], decision.low[0], decision.high[0]
        if not (np.isfinite(low[arm]) and np.isfinite(high[arm])):
            return None
        if self.basis == "behind":
            # Shown are the bounds below the best estimate of the phase.
            top = float(np.nanmax(estimate))
            least, most = top - float(high[arm]), top - float(low[arm])
            best = int(np.nanargmax(estimate))
            return Gap(best if best != arm else None, top - float(estimate[arm]), least, most, "behind",
                       (most - least) / 2)  # fmt: skip
        known = np.where(np.isfinite(low) & np.isfinite(high), low, -np.inf)
        known[arm] = -np.inf
        if not np.isfinite(known).any():
            return None
        rival = int(known.argmax())
        # Who was lost on the way may still be the best, with the last bounds.
        top = max(float(np.nanmax(np.where(np.isfinite(high), high, -np.inf))), float(low[rival]))
        if decision is self._decisions[-1] and self._state.lost.any():
            top = max(top, float(self._state.high[0, self._state.lost].max()))
        return Gap(
            rival, float(estimate[rival] - estimate[arm]), float(low[rival] - high[arm]), top - float(low[arm]),
            "means", float(high[arm] - low[arm]) / 2,
        )  # fmt: skip

    def _informed(self, arm: int) -> Gap | None:
        """Against the best estimate, by the 95 % interval over everything measured."""
        from ...models.ols import least_squares
        from .. import censoring
        from ..candidates import pooled

        ledger = self._ledger
        data = pooled(ledger, ledger.objective)
        measured = np.flatnonzero(data.counts > 0)
        noise = assay_noise.informing(ledger)[ledger.objective].noise_sd
        counted = censoring.fitted(ledger, ledger.objective)
        if (not len(measured) and counted is None) or noise is None or ledger.coarse:
            return None
        sign = ledger.endpoints[ledger.objective].sign
        if counted is None:
            fit = least_squares(ledger.features, measured, data.counts[measured], data.means[measured])
            found, told = fit.means(), fit.estimable()
        else:
            found, told = counted.means(), ~censoring.untold(ledger, ledger.objective)
        means = np.where(told & (self._state.status != OUT), sign * found, -np.inf)
        own = float(sign * found[arm])
        means[arm] = -np.inf
        if not np.isfinite(means).any():
            return None
        rival = int(means.argmax())
        if counted is None:
            half = 1.96 * noise * float(fit.difference_norm(rival, np.array([arm]))[0])
        else:
            apart = ledger.features.dense(np.array([rival]))[0] - ledger.features.dense(np.array([arm]))[0]
            half = 1.96 * counted.sigma * float(np.sqrt(apart @ counted.covariance @ apart))
        behind = float(means[rival]) - own
        return Gap(rival, behind, behind - half, behind + half, "informs", half) if np.isfinite(half) else None

    def _walked(self, state: State, arm: int, *, out: bool) -> Gap | None:
        """Against whoever it is hardest to show it near to, by the walks of all phases; ``out``: surely farthest from.

        Only those that may be the best count.
        """
        from ...strategies.adaptive.evidence import Evidence
        from ...strategies.adaptive.one import Adaptive, may_be_best

        problem, memory = state.problem, state.memory
        spreads = self._ledger.spreads.get(state.phase, ())
        used = scatter.bounds(self._ledger, spreads) if problem.estimated else {}
        sd = used.get(self._ledger.objective, problem.noise[0])
        evidence = Evidence(problem.features, memory, sd)
        if not evidence.n_phases:
            return None
        known, own = Adaptive().limits(state, evidence.n_phases), np.array([arm], dtype=np.intp)
        left = int(((state.status != OUT) & problem.wanted).sum())
        least = float(_lower(evidence.behind(own), known.outs(left))[0])
        may = np.flatnonzero(may_be_best(state, memory["not_best"]))
        may = may[(may != arm) & evidence.pooled.estimable(may)]
        rivals = may[np.argsort(-evidence.pooled.means(may), kind="stable")[:_RIVALS]]
        steps = evidence.pairs(own, rivals)
        most = -_lower(steps, known.ins())[0]
        told = np.isfinite(most)
        if not told.any():
            return None
        if out and evidence.leaders[-1] >= 0:
            who = int(evidence.leaders[-1])
            behind = float(evidence.pooled.means(np.array([who]))[0] - evidence.pooled.means(np.array([arm]))[0])
            return Gap(who, behind, least, float(most[told].max()), "walks", behind - least)
        hardest = int(np.where(told, most, -np.inf).argmax())
        precision = steps.precision[:, 0, hardest]
        behind = -float(steps.difference[:, 0, hardest] @ precision / precision.sum())
        return Gap(
            int(rivals[hardest]), behind, least, float(most[hardest]), "walks", max(float(most[hardest]) - behind, 0.0)
        )


def _lower(steps: Any, limits: Floats) -> Floats:
    """``(...)``: the highest lower bound that walks have had for their difference at any look; -inf without one."""
    from ...strategies.adaptive.evidence import at_look

    value = np.cumsum(steps.difference * steps.precision, axis=0)
    precision = np.cumsum(steps.precision, axis=0)
    looks = np.cumsum(steps.precision > 0, axis=0)
    told = steps.precision > 0
    height = at_look(limits, looks) * np.sqrt(looks)
    bounds = np.divide(value - height, precision, out=np.full(value.shape, -np.inf), where=told)
    found: Floats = bounds.max(axis=0)
    return found
