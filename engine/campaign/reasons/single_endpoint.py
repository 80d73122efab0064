"""Why a compound is in, out or undecided where one endpoint decides: how far it is behind the best, and how surely."""

from __future__ import annotations

import math

import numpy as np

from ...strategies.protocol import IN, OUT, State
from ..replay import Ledger
from ..state import Status
from .gaps import Gap, Gaps
from .sentences import after, between, known_to, lies, more_measurements, needed_text

__all__ = ["OneEndpoint"]


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
            return "Nothing measured now tells about it", below
        open_ = lies(self._status, compound)
        if open_:
            return open_, below
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
        whom = f"{self._whom(gap)}, the hardest to tell it from"
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
