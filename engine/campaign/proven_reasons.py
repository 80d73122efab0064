"""Why a compound is in, out or undecided under a strategy that proves: its rivals, and where its estimate is.

The text rests on the estimates and bounds of means that decisions stored, on the strategy's scale, where larger is
better. A strategy that decides by differences or walks bounds those more narrowly than two means do.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Floats
from ..strategies.protocol import IN, OUT, State
from .phrases import joined, many, names
from .replay import Ledger
from .state import Status


class ProvenReasons:
    """The reasons of a campaign at one moment, for one endpoint or for trade-offs between several."""

    def __init__(self, ledger: Ledger, state: State, status: Status) -> None:
        self._ledger, self._state, self._status = ledger, state, status
        settings = ledger.settings
        self._goal = [status.endpoints[place] for place in status.goal_endpoints]
        self._trade_offs = settings.goal == "pareto"
        near = settings.distance if settings.goal == "epsilon-best" else 0.0
        far = status.margins if self._trade_offs else (near + settings.softness,)
        self._near: Floats = np.full(len(far), near)
        """Surely farther behind another than this, in every endpoint, is out."""
        self._far: Floats = np.array(far)
        """Surely no farther behind any other than this is in."""
        self._low, self._high = _bounds(ledger)
        self._everywhere = ""
        if self._trade_offs:
            self._everywhere = f" in {'both' if len(self._goal) == 2 else 'all endpoints'}"

    def why(self, compound: int, code: int) -> tuple[str, str]:
        """Return how a compound got its status, and what would decide it."""
        arm = int(self._ledger.arm_of[compound])
        phase = int(self._state.decided_in_phase[arm])
        when = f"After round {self._ledger.phases[phase - 1].round}" if code in (IN, OUT) else ""
        where, decide = self._where(compound, soft=code != OUT), ""
        if code == OUT:
            why = f"{when} {self._put_out(arm, phase)}"
        elif code == IN:
            by = f" by more than {self._distance(self._far)}" if self._far.any() else ""
            why = f"No other compound can be better{self._everywhere}{by}. {when} that was proven."
        else:
            why, decide = self._undecided(arm), known_to(self._status).strip() or "The next decision may settle it."
        return f"{where}{why}", decide

    def _where(self, compound: int, *, soft: bool) -> str:
        """Return where the estimate is relative to the cutoff, with a space behind; empty for trade-offs."""
        if self._trade_offs:
            return ""
        known, settings = self._status.candidates, self._ledger.settings
        below = self._goal[0].sign * (known.cutoff - float(known.estimate[compound]))
        if math.isnan(below):
            return "No current measurement informs it. "
        if settings.goal == "best":
            behind = f"By estimate it lies {below:.2f} behind the best, {known.cutoff:.2f}. "
            return behind if below > 1e-9 else "It has the best estimate. "
        side = "outside" if below > 0 else "inside"
        text = f"By estimate it lies {abs(below):.2f} {side} the cutoff at {known.cutoff:.2f}. "
        zone = soft and 0 < below <= settings.softness
        return f"{text}It is in the soft zone, where in and out are both right answers. " if zone else text

    def _put_out(self, arm: int, phase: int) -> str:
        """Return which rival was certainly better when an arm was decided, and by how much at least."""
        decision = self._ledger.estimates[phase]
        with np.errstate(invalid="ignore"):
            lead = decision.low - decision.high[:, [arm]]
            sure = np.flatnonzero((lead > self._near[:, None] - 1e-9).all(axis=0))
        if not sure.size:
            return "it was decided to be out, by bounds of differences that are narrower than those shown."
        strongest = int(sure[int(np.argmax(lead[:, sure].min(axis=0)))])
        least = self._in_each(lead[:, strongest])
        limit = f": more than {self._distance(self._near)} is out" if self._near.any() else ""
        return f"{self._name(strongest)} was certainly better{self._everywhere}, by at least {least}{limit}."

    def _undecided(self, arm: int) -> str:
        """Return which rivals may still be better."""
        if not np.isfinite(self._low[:, arm]).all():
            return "No decision has bounded it yet."
        may = (self._state.status <= IN) & (self._high > self._low[:, [arm]] + self._far[:, None]).all(axis=0)
        may[arm] = False
        rivals = np.flatnonzero(may)
        if not rivals.size:
            return "By the bounds shown no compound can be better; the bounds that decide are wider."
        nearest = rivals[np.argsort(-self._high[:, rivals].min(axis=0), kind="stable")]
        by = f" by more than {self._distance(self._far)}" if self._far.any() else ""
        count = f"{many(rivals.size, 'compound')} may still be better{self._everywhere}{by}"
        return f"{count}: {names([self._name(int(one)) for one in nearest])}."

    def _in_each(self, values: Floats) -> str:
        """Return a number for each endpoint of the goal, with its name where there are several."""
        scales = [f" in {one.scale_name}" if self._trade_offs else "" for one in self._goal]
        return joined([f"{value:.2f}{scale}" for value, scale in zip(values, scales, strict=True)])

    def _distance(self, each: Floats) -> str:
        if not self._trade_offs:
            return self._ledger.far(float(each[0]))
        return f"{each[0]:g}" if len(set(each.tolist())) == 1 else self._in_each(each)

    def _name(self, arm: int) -> str:
        return self._ledger.library.ids[int(self._ledger.first[arm])]


def _bounds(ledger: Ledger) -> tuple[Floats, Floats]:
    """Return the bounds ``(n_endpoints, n_arms)`` of the last decision that bounded each arm; else NaN."""
    found = np.full((2, len(ledger.goal_endpoints), ledger.n_arms), np.nan)
    for decision in ledger.estimates.values():
        bounds = np.array([decision.low, decision.high])
        bounded = np.isfinite(bounds).all(axis=(0, 1))
        found[:, :, bounded] = bounds[:, :, bounded]
    return found[0], found[1]


def known_to(status: Status) -> str:
    """Return when the next decision comes, with a space in front; empty when none is under way."""
    if status.phase is None or status.phase.outstanding <= 0:
        return ""
    return f" The next decision comes after about {many(status.phase.outstanding, 'more measurement')}."
