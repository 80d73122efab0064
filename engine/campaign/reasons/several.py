"""Why a compound is in, out or undecided among trade-offs: who beats it, who may, and by how much in which endpoint."""

from __future__ import annotations

import numpy as np

from ...arrays import Flags, Floats, Ints
from ...domain.endpoint import Endpoint
from ...strategies.protocol import IN, OUT, State
from ...text.signed import signed
from ..phrases import joined, many, names
from ..replay import Ledger
from ..state import Status
from .sentences import after, known_to, more_measurements, needed_text


class SeveralEndpoints:
    """The reasons of a campaign for the best trade-offs."""

    def __init__(self, ledger: Ledger, state: State, status: Status) -> None:
        self._ledger, self._state, self._status = ledger, state, status
        self._goal: list[Endpoint] = [status.endpoints[place] for place in status.goal_endpoints]
        self._everywhere = "both" if len(self._goal) == 2 else "all endpoints"
        self._margins = np.array(status.margins)
        self._by = f" by more than {self._margin_text()}" if self._margins.any() else ""
        self._estimate, self._low, self._high = self._toward_better()

    def why(self, compound: int, code: int) -> tuple[str, str]:
        """How a compound came to stand where it does, and what would decide it."""
        if code == OUT:
            return self._put_out(compound), ""
        if code == IN:
            return self._taken_in(compound), ""
        if not np.isfinite(self._low[:, compound]).all():
            text = "No phase has been decided yet that bounds it: bounds come with the next decision."
            return text, known_to(self._status).strip()
        return self._undecided(compound)

    # ------------------------------------------------------------------ decided

    def _put_out(self, compound: int) -> str:
        """Who was certainly better when it was decided, and by how much at least."""
        ledger, arm = self._ledger, int(self._ledger.arm_of[compound])
        phase = int(self._state.decided_in_phase[arm])
        decision = ledger.estimates[phase]
        lead = decision.low - decision.high[:, [arm]]
        with np.errstate(invalid="ignore"):
            sure = np.flatnonzero((lead > 0).all(axis=0))
        if not sure.size:
            return f"{after(ledger, phase)} another compound was certainly better in {self._everywhere}."
        strongest = int(sure[int(np.argmax(lead[:, sure].min(axis=0)))])
        least = joined([f"{value:.2f} in {one.scale_name}" for value, one in zip(lead[:, strongest], self._goal,
                                                                                strict=True)])  # fmt: skip
        more = f", and so {'was' if sure.size == 2 else 'were'} {sure.size - 1:,} more" if sure.size > 1 else ""
        name = ledger.library.ids[ledger.first[strongest]]
        return f"{after(ledger, phase)} {name} was certainly better in {self._everywhere}, by at least {least}{more}."

    def _taken_in(self, compound: int) -> str:
        arm = int(self._ledger.arm_of[compound])
        when = after(self._ledger, int(self._state.decided_in_phase[arm]))
        text = f"No other compound can be better in {self._everywhere}{self._by}. {when} that was proven."
        rival = self._nearest(compound, np.flatnonzero(self._others(compound)))
        return text if rival is None else f"{text} {self._against(compound, rival)}"

    # ------------------------------------------------------------------ undecided

    def _undecided(self, compound: int) -> tuple[str, str]:
        low, high = self._low, self._high
        open_ = self._others(compound)
        may = open_ & (high > low[:, [compound]] + self._margins[:, None]).all(axis=0)
        rivals = np.flatnonzero(may)
        if not rivals.size:
            return "By the bounds shown no compound can be better; the bounds that decide are wider.", known_to(
                self._status
            ).strip()
        lead = (self._estimate[:, rivals] - self._estimate[:, [compound]]).min(axis=0)
        nearest = rivals[np.argsort(-lead, kind="stable")]
        ids = self._status.library.ids
        count = f"{many(rivals.size, 'compound')} may still be better in {self._everywhere}{self._by}"
        rival = int(nearest[0])
        text = f"{count}: {names([ids[int(one)] for one in nearest])}. {self._against(compound, rival)}"
        text += " It is out once one of them is certainly better, and in once none can be."
        return text, self._needed(compound, rival) or known_to(self._status).strip()

    def _needed(self, compound: int, rival: int) -> str:
        """How well the difference from a rival must be known, in the endpoint that settles it first."""
        ahead = self._estimate[:, rival] - self._estimate[:, compound]
        half = (self._high - self._low)[:, [compound, rival]].sum(axis=1) / 2
        to_in = self._margins - ahead
        place = int(to_in.argmax())
        needed = float(to_in[place])
        if float(ahead.min()) > needed:
            place = int(ahead.argmin())
            needed = float(ahead[place])
        if needed < 0.005 or not self._ledger.estimates:
            return ""
        last = self._ledger.estimates[max(self._ledger.estimates)]
        if "counts" in last.memory:  # decided by walks of differences, which are narrower than the bounds of means
            return ""
        measured = last.numbers.get("measurements", 0.0) * self._ledger.per_sample
        more = more_measurements(self._status, float(half[place]), needed, measured, pooled=False)
        name = self._status.library.ids[rival]
        what = f"The difference from {name} in {self._goal[place].scale_name}"
        return needed_text(self._status, what, float(half[place]), needed, more)

    # ------------------------------------------------------------------ parts

    def _others(self, compound: int) -> Flags:
        open_: Flags = self._status.candidates.status <= IN
        open_ = open_ & np.isfinite(self._estimate).all(axis=0)
        open_[compound] = False
        return open_

    def _nearest(self, compound: int, rivals: Ints) -> int | None:
        """Return the one that comes nearest to beating a compound, by estimate."""
        if not rivals.size:
            return None
        lead = (self._estimate[:, rivals] - self._estimate[:, [compound]] - self._margins[:, None]).min(axis=0)
        return int(rivals[int(lead.argmax())])

    def _toward_better(self) -> tuple[Floats, Floats, Floats]:
        """Estimates and bounds ``(n_endpoints, n)`` of the goal's endpoints, turned so that larger is better."""
        known = self._status.candidates
        rows: tuple[list[Floats], list[Floats], list[Floats]] = ([], [], [])
        for one in self._goal:
            low, high = known.lows[one.name], known.highs[one.name]
            rows[0].append(one.sign * known.estimates[one.name])
            rows[1].append(low if one.sign > 0 else -high)
            rows[2].append(high if one.sign > 0 else -low)
        first, low_rows, high_rows = (np.array(part) for part in rows)
        return first, low_rows, high_rows

    def _against(self, compound: int, rival: int) -> str:
        """How a compound stands beside another, endpoint by endpoint, with the bounds of each difference."""
        parts = []
        for row, one in enumerate(self._goal):
            ahead = float(self._estimate[row, rival] - self._estimate[row, compound])
            least = float(self._low[row, rival] - self._high[row, compound])
            most = float(self._high[row, rival] - self._low[row, compound])
            bounds = f" (bounds {signed(least)} to {signed(most)})" if np.isfinite([least, most]).all() else ""
            parts.append(f"{abs(ahead):.2f} {'better' if ahead >= 0 else 'worse'} in {one.scale_name}{bounds}")
        return f"{self._status.library.ids[rival]} is by estimate {joined(parts)}."

    def _margin_text(self) -> str:
        """Return the differences that do not matter."""
        margins = self._status.margins
        if len(set(margins)) == 1:
            return f"{margins[0]:g}"
        return joined([f"{margin:g} in {one.scale_name}" for margin, one in zip(margins, self._goal, strict=True)])
