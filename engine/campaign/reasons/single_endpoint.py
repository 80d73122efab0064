"""Why a compound is in, out or undecided where one endpoint decides: how far it is behind the best, and how surely.

How far a compound is behind the one it has to be compared with, and between which bounds: what decides about it.

Each family of strategies decides by bounds of its own, so each has its own way to tell them. On the strategy's scale,
larger is better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ...arrays import Floats
from ...strategies.protocol import IN, OUT, Decision, State
from .. import noise as assay_noise
from ..replay import Ledger
from ..state import Status
from .sentences import after, between, known_to, more_measurements, needed_text


class OneEndpoint:
    """The reasons of a campaign for all epsilon-best compounds, or for the best one."""

    def __init__(self, ledger: Ledger, state: State, status: Status) -> None:
        self._ledger, self._state, self._status = ledger, state, status
        self._gaps = Gaps(ledger, state)
        settings = ledger.settings
        self._best = settings.goal == "best"
        self._near = 0.0 if self._best else settings.distance
        """Farther behind than this is out (not the best)."""
        self._far = self._near + settings.softness
        """No farther behind than this is in."""

    def why(self, compound: int, code: int) -> tuple[str, str]:
        """How a compound came to stand where it does, and what would decide it."""
        arm = int(self._ledger.arm_of[compound])
        where, below = self._where(compound)
        if code in (IN, OUT):
            phase = int(self._state.decided_in_phase[arm])
            said = self._put_out(arm, phase) if code == OUT else self._taken_in(arm, phase)
            zone = ", in the soft zone" if code == IN and not self._best and 0 < below <= self._far - self._near else ""
            return f"{where}{zone}. {said}", ""
        gap = self._gaps.now(arm)
        if gap is None:
            text = f"{where}. No phase has been decided yet that bounds it: bounds come with the next decision."
            return text, known_to(self._status).strip()
        soft = ""
        if not self._best and 0 < below <= self._ledger.settings.softness:
            soft = " It is in the soft zone, where in and out are both right answers."
        return f"{where}.{soft} {self._compared(gap)}", self._needed(gap) or known_to(self._status).strip()

    # ------------------------------------------------------------------ where it lies

    def _where(self, compound: int) -> tuple[str, float]:
        """Where the estimate lies beside the cutoff, and how far outside."""
        known = self._status.candidates
        sign = self._ledger.endpoints[self._ledger.objective].sign
        cutoff, own = (known.cutoff, float(known.estimate[compound]))
        below = sign * (cutoff - own)
        if math.isnan(below):
            return "No current measurement informs it", below
        if self._best:
            if below > 1e-9:
                return f"By estimate it lies {below:.2f} behind the best, {known.cutoff:.2f}", below
            return "It has the best estimate", below
        side = "outside" if below > 0 else "inside"
        return f"By estimate it lies {abs(below):.2f} {side} the cutoff at {known.cutoff:.2f}", below

    def _whom(self, gap: Gap) -> str:
        return "the best" if gap.rival is None else self._ledger.library.ids[self._ledger.first[gap.rival]]

    def _distance(self, value: float) -> str:
        return self._ledger.scale.far(value)

    def _value(self, turned: float) -> str:
        """Return a value on the strategy's scale, as it is shown."""
        ledger = self._ledger
        sign = ledger.endpoints[ledger.objective].sign
        return f"{float(ledger.scale.shown(np.array([sign * turned]))[0]):.2f}"

    # ------------------------------------------------------------------ decided

    def _taken_in(self, arm: int, phase: int) -> str:
        gap, settings = self._gaps.then(arm, phase), self._ledger.settings
        when = after(self._ledger, phase)
        zone = f" and the soft zone of {self._distance(settings.softness)}" if settings.softness > 0 else ""
        if gap is None or gap.most > self._far + 1e-9:
            if self._best and settings.softness > 0:
                could = f"no other could be more than {self._distance(self._far)} better"
                return f"{when} {could}, by the bounds of that time."
            return f"{when} it was decided to be in, by the bounds of that time."
        if gap.basis == "means" and not self._best:
            low = float(self._ledger.estimates[phase].low[0, arm])
            top, border = self._value(low + gap.most), self._value(low + gap.most - self._far)
            lower, _, beyond, highest, less = self._sides()
            border += f": the {highest} that any compound could be, {top}, {less} {self._distance(self._near)}{zone}"
            return f"{when} even its {lower} bound, {self._value(low)}, was not {beyond} {border}."
        allowed = f"{self._distance(self._near)}{zone}" if not self._best else self._distance(self._far)
        if gap.rival is None or gap.most < 0.005:
            ahead = max(gap.most, 0.0)
            could = f"more than {ahead:.2f} better than it" if ahead >= 0.005 else "better than it"
            return f"{when} no other compound could be {could}, by the bounds that decide; up to {allowed} is in."
        whom = f"{self._whom(gap)}, the hardest to distinguish from it"
        return f"{when} it was at most {gap.most:.2f} behind {whom}, by the bounds that decide; up to {allowed} is in."

    def _put_out(self, arm: int, phase: int) -> str:
        gap = self._gaps.then(arm, phase)
        when = after(self._ledger, phase)
        if gap is None or gap.least <= self._near - 1e-9:
            inside = np.flatnonzero(self._status.candidates.status == IN)
            if self._best and len(inside):
                name = self._ledger.library.ids[int(inside[0])]
                return f"{when} it was decided to be out; {name} is the one that is in."
            return f"{when} it was decided to be out, by the bounds of that time."
        if gap.basis == "means" and gap.rival is not None:
            decision = self._ledger.estimates[phase]
            high, reached = float(decision.high[0, arm]), float(decision.low[0, gap.rival])
            lower, upper, beyond, _, less = self._sides()
            border = (
                f"the {lower} bound of {self._whom(gap)}, {self._value(reached)}, {less} {self._distance(self._near)}"
            )
            lay = f"lay {beyond} {self._value(reached - self._near)}"
            return f"{when} even its {upper} bound, {self._value(high)}, {lay}: {border}."
        limit = f"more than {self._distance(self._near)} is out" if self._near else "so it is not the best"
        return f"{when} it was at least {gap.least:.2f} behind {self._whom(gap)} by the bounds that decide; {limit}."

    def _sides(self) -> tuple[str, str, str, str, str]:
        """Return the words for a maximum, or those for a minimum: the bound toward worse and toward better, .."""
        if self._ledger.endpoints[self._ledger.objective].sign > 0:
            return "lower", "upper", "below", "highest", "less"
        return "upper", "lower", "above", "lowest", "plus"

    # ------------------------------------------------------------------ undecided

    def _compared(self, gap: Gap) -> str:
        """Return the comparison that keeps a compound undecided."""
        by = "By the bounds of the last decision" if gap.decides else "By the 95 % interval, which decides nothing,"
        text = f"{by} it is {between(gap.least, gap.most)} {self._whom(gap)}".replace(", if at all", "")
        if self._best:
            return f"{text}: not the best once it is surely behind, and in once no other can be more than " \
                   f"{self._distance(self._far)} ahead."  # fmt: skip
        return f"{text}: surely more than {self._distance(self._near)} would put it out, surely no more than " \
               f"{self._distance(self._far)} in."  # fmt: skip

    def _needed(self, gap: Gap) -> str:
        """How much better it has to be known, and about what that takes."""
        if not gap.decides:
            return ""
        # Of being put out and being taken in, the one that is nearer.
        sides = [(gap.behind - gap.least, gap.behind - self._near), (gap.most - gap.behind, self._far - gap.behind)]
        half, needed = max(sides, key=lambda side: side[1] / max(side[0], 1e-9))
        what = "The difference"
        if gap.basis == "means":
            # The means of both compounds take a half of it each.
            half, needed, what = gap.half, needed / 2, "Its value"
        if needed < 0.005:
            return f"{what} lies so near to the border that no number of measurements is sure to settle it."
        if not math.isfinite(half):
            return ""
        measured = self._gaps.measured * self._ledger.per_sample
        more = more_measurements(self._status, half, needed, measured, pooled=gap.basis == "walks")
        return needed_text(self._status, what, half, needed, more)


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
        return "walks" if "leaders" in self._state.memory else "informs"

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
        from ..candidates import pooled

        ledger = self._ledger
        data = pooled(ledger, ledger.objective)
        measured = np.flatnonzero(data.counts > 0)
        noise = assay_noise.informing(ledger)[ledger.objective].noise_sd
        if not len(measured) or noise is None or ledger.coarse:
            return None
        sign = ledger.endpoints[ledger.objective].sign
        fit = least_squares(ledger.features, measured, data.counts[measured], data.means[measured])
        found = fit.means()
        means = np.where(fit.estimable() & (self._state.status != OUT), sign * found, -np.inf)
        own = float(sign * found[arm])
        means[arm] = -np.inf
        if not np.isfinite(means).any():
            return None
        rival = int(means.argmax())
        half = 1.96 * noise * float(fit.difference_norm(rival, np.array([arm]))[0])
        behind = float(means[rival]) - own
        return Gap(rival, behind, behind - half, behind + half, "informs", half) if np.isfinite(half) else None

    def _walked(self, state: State, arm: int, *, out: bool) -> Gap | None:
        """Against whoever it is hardest to show it near to, by the walks of all phases; ``out``: surely farthest from.

        Only those that may be the best count.
        """
        from ...strategies.adaptive.epsilon_best import Adaptive, may_be_best
        from ...strategies.adaptive.evidence import Evidence

        problem, memory = state.problem, state.memory
        spreads = self._ledger.spreads.get(state.phase, ())
        used = assay_noise.bounds(self._ledger, spreads) if problem.estimated else {}
        sd = used.get(self._ledger.objective, problem.noise[0])
        evidence = Evidence(problem.features, memory, sd)
        if not evidence.n_phases:
            return None
        known, own = Adaptive().limits(state, evidence.n_phases), np.array([arm], dtype=np.intp)
        left = (state.status != OUT) & problem.wanted
        least = float(_lower(evidence.behind(own), known.outs(own, left))[0])
        may = np.flatnonzero(may_be_best(state, memory["not_best"]))
        may = may[(may != arm) & evidence.pooled.estimable(may)]
        rivals = may[np.argsort(-evidence.pooled.means(may), kind="stable")[:_RIVALS]]
        steps = evidence.pairs(own, rivals)
        most = -_lower(steps, known.ins(own)[:, :, None])[0]
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
    alike = limits if limits.ndim == 1 else limits[:, None]
    height = at_look(alike, looks) * np.sqrt(looks)
    bounds = np.divide(value - height, precision, out=np.full(value.shape, -np.inf), where=told)
    found: Floats = bounds.max(axis=0)
    return found
