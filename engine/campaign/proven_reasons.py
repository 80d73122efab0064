"""Why a compound is in, out or undecided under a strategy that proves: its rivals, and how sure each comparison is.

The text rests on the estimates and bounds of means that decisions stored, on the strategy's scale, where larger is
better. A strategy that decides by differences or walks bounds those more narrowly than two means do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import Flags, Floats
from ..domain.endpoint import Endpoint
from ..strategies.protocol import IN, OUT, State
from ..text.signed import signed
from .phrases import joined, many, names
from .replay import Ledger
from .state import Status


class ProvenReasons:
    """The reasons of a campaign at one moment, for one endpoint or for trade-offs between several."""

    def __init__(self, ledger: Ledger, state: State, status: Status) -> None:
        self._ledger, self._state, self._status = ledger, state, status
        settings = ledger.settings
        self._goal: list[Endpoint] = [status.endpoints[place] for place in status.goal_endpoints]
        self._trade_offs = settings.goal == "pareto"
        near = settings.distance if settings.goal == "epsilon-best" else 0.0
        far = status.margins if self._trade_offs else (near + settings.softness,)
        self._near: Floats = np.full(len(far), near)
        """Surely farther behind another than this, in every endpoint, is out."""
        self._far: Floats = np.array(far)
        """Surely no farther behind any other than this is in."""
        self._estimate, self._low, self._high = _bounds(ledger)
        self._everywhere = ""
        if self._trade_offs:
            self._everywhere = f" in {'both' if len(self._goal) == 2 else 'all endpoints'}"

    def why(self, compound: int, code: int) -> tuple[str, str]:
        """Return how a compound got its status, and what would decide it."""
        arm = int(self._ledger.arm_of[compound])
        if code == OUT:
            where, why, decide = self._where(compound, soft=False), self._put_out(arm), ""
        elif code == IN:
            where, why, decide = self._where(compound, soft=True), self._taken_in(arm), ""
        else:
            where = self._where(compound, soft=True)
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

    # ------------------------------------------------------------------ decided

    def _after(self, arm: int) -> tuple[int, str]:
        """Return the phase that decided an arm, and ``After round 2``."""
        phase = int(self._state.decided_in_phase[arm])
        return phase, f"After round {self._ledger.phases[phase - 1].round}"

    def _put_out(self, arm: int) -> str:
        """Return which rival was certainly better when it was decided, and by how much at least."""
        phase, when = self._after(arm)
        decision = self._ledger.estimates[phase]
        with np.errstate(invalid="ignore"):
            lead = decision.low - decision.high[:, [arm]]
            sure = np.flatnonzero((lead > self._near[:, None] - 1e-9).all(axis=0))
        if not sure.size:
            return f"{when} it was decided to be out, by bounds of differences that are narrower than those shown."
        strongest = int(sure[int(np.argmax(lead[:, sure].min(axis=0)))])
        least = self._in_each([f"{value:.2f}" for value in lead[:, strongest]])
        more = f", and so {'was' if sure.size == 2 else 'were'} {sure.size - 1:,} more" if sure.size > 1 else ""
        limit = f": more than {self._distance(self._near)} is out" if self._near.any() else ""
        return (
            f"{when} {self._name(strongest)} was certainly better{self._everywhere}, by at least {least}{more}{limit}."
        )

    def _taken_in(self, arm: int) -> str:
        text = f"No other compound can be better{self._everywhere}{self._by()}. {self._after(arm)[1]} that was proven."
        rivals = np.flatnonzero(self._others(arm))
        if not rivals.size:
            return text
        lead = (self._estimate[:, rivals] - self._estimate[:, [arm]] - self._far[:, None]).min(axis=0)
        return f"{text} {self._against(arm, int(rivals[int(lead.argmax())]))}"

    # ------------------------------------------------------------------ undecided

    def _undecided(self, arm: int) -> str:
        """Return which rival may still be better, and what would decide it."""
        if not np.isfinite(self._low[:, arm]).all():
            return "No decision has bounded it yet."
        may = (self._high > self._low[:, [arm]] + self._far[:, None]).all(axis=0)
        rivals = np.flatnonzero(self._others(arm) & may)
        if not rivals.size:
            return "By the bounds shown no compound can be better; the bounds that decide are wider."
        lead = (self._estimate[:, rivals] - self._estimate[:, [arm]]).min(axis=0)
        nearest = rivals[np.argsort(-lead, kind="stable")]
        count = f"{many(rivals.size, 'compound')} may still be better{self._everywhere}{self._by()}"
        surely = f" by more than {self._distance(self._near)}" if self._near.any() else ""
        text = f"{count}: {names([self._name(int(one)) for one in nearest])}. {self._against(arm, int(nearest[0]))}"
        return f"{text} It is out once one of them is shown to be better{surely}, and in once none can be."

    # ------------------------------------------------------------------ parts

    def _others(self, arm: int) -> Flags:
        """Return which other arms are not out and have bounds."""
        others: Flags = (self._state.status <= IN) & np.isfinite(self._low).all(axis=0)
        others[arm] = False
        return others

    def _against(self, arm: int, rival: int) -> str:
        """Return a rival compared with an arm, endpoint by endpoint, with the bounds of each difference."""
        ahead = self._estimate[:, rival] - self._estimate[:, arm]
        least, most = self._low[:, rival] - self._high[:, arm], self._high[:, rival] - self._low[:, arm]
        parts = [f"{abs(one):.2f} {'better' if one >= 0 else 'worse'}" for one in ahead]
        bounds = [f" (bounds {signed(low)} to {signed(high)})" for low, high in zip(least, most, strict=True)]
        return f"{self._name(rival)} is by estimate {self._in_each(parts, bounds)}."

    def _in_each(self, texts: Sequence[str], behind: Sequence[str] = ()) -> str:
        """Return a text for each endpoint of the goal, with its name where there are several."""
        scales = [f" in {one.scale_name}" if self._trade_offs else "" for one in self._goal]
        return joined([f"{a}{b}{c}" for a, b, c in zip(texts, scales, behind or [""] * len(texts), strict=True)])

    def _by(self) -> str:
        return f" by more than {self._distance(self._far)}" if self._far.any() else ""

    def _distance(self, each: Floats) -> str:
        if not self._trade_offs:
            return self._ledger.far(float(each[0]))
        texts = [f"{value:g}" for value in each]
        return texts[0] if len(set(texts)) == 1 else self._in_each(texts)

    def _name(self, arm: int) -> str:
        return self._ledger.library.ids[int(self._ledger.first[arm])]


def _bounds(ledger: Ledger) -> tuple[Floats, Floats, Floats]:
    """Return estimate and bounds ``(n_endpoints, n_arms)`` of the last decision that bounded each arm; else NaN."""
    found = np.full((3, len(ledger.goal_endpoints), ledger.n_arms), np.nan)
    for decision in ledger.estimates.values():
        bounds = np.array([decision.estimate, decision.low, decision.high])
        bounded = np.isfinite(bounds).all(axis=(0, 1))
        found[:, :, bounded] = bounds[:, :, bounded]
    return found[0], found[1], found[2]


def known_to(status: Status) -> str:
    """Return when the next decision comes, with a space in front; empty when none is under way."""
    if status.phase is None or status.phase.outstanding <= 0:
        return ""
    return f" The next decision comes after about {many(status.phase.outstanding, 'more measurement')}."
