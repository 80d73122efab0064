"""Why a compound has its status, what would decide it, what was measured of it, and why it was picked or not.

In a chemist's words, for any compound at any moment; the numbers are those that decisions were made by.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..chemistry.names import site_names
from ..domain.endpoint import Endpoint
from ..domain.kinds import word_of
from ..domain.measurements import Measurement
from ..models.contributions import Contribution, SiteContributions, contributions
from ..models.ols import least_squares
from ..strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED
from ..text import joined, many, number
from .candidates import pooled
from .issued_rounds import Issued, RoundItem
from .replay import Ledger
from .state import Status


@dataclass(frozen=True, slots=True)
class Source:
    """Where the estimate of one endpoint comes from, as a sum, model scale."""

    endpoint: str
    """Name of its scale."""
    mean: float
    """Of the measurements."""
    contributions: tuple[Contribution, ...]
    """Of what the compound carries, per site: those of the SAR page; NaN where never measured."""
    rest: float
    """What the sum leaves: interactions, and what its own values add."""


_HEADINGS = {IN: "Why in", OUT: "Why out", UNDECIDED: "Why undecided"}


@dataclass(frozen=True, slots=True)
class OwnValue:
    """One measurement of a compound, as it is shown."""

    endpoint: str
    """Name of its scale."""
    value: str
    """On the model scale, with its relation, and as it was entered where that reads differently."""
    n: int
    when: str
    """``round 2``, or ``earlier`` for what was there before the campaign."""
    note: str
    """Why it is not used, or why it was corrected; empty for all others."""
    used: bool
    """Whether it enters the estimates."""
    left_out: bool
    """Whether it was excluded or taken back: to be struck through."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """All reasons about one compound."""

    heading: str
    """``Why in``, ``Why undecided``, .."""
    why: str
    """How it got its status, and by which bounds."""
    decide: str
    """What would decide it; empty when it is decided."""
    picked: str
    """Whether and why the current round, or the last one, includes it."""
    values: tuple[OwnValue, ...]
    """Everything measured of it, in order of entry."""
    sources: tuple[Source, ...]
    """Of each estimate that the goal is about; empty before the first value."""

    @property
    def open(self) -> bool:
        """Whether something about it is still to be found out."""
        return self.heading == "Why undecided"


class Reasons:
    """The reasons of one campaign at one moment; ``of`` takes milliseconds."""

    def __init__(self, ledger: Ledger, status: Status) -> None:
        self._ledger, self._status = ledger, status
        self._state = ledger.current()

    def of(self, compound: int) -> Reasoning:
        """Return the reasons about a compound, by its position in the library."""
        heading, why, decide = self._why(compound)
        sources = tuple(self._sources(compound))
        return Reasoning(heading, why, decide, self._picked(compound), self._values(compound), sources)

    # ------------------------------------------------------------------ why

    def _why(self, compound: int) -> tuple[str, str, str]:
        known, status = self._status.candidates, self._status
        code = int(known.status[compound])
        if code == NOT_ESTIMABLE:
            return "Not estimable", self._not_estimable(compound), ""
        goal = [status.endpoints[k].name for k in status.goal_endpoints]
        if code == UNDECIDED and np.isnan([known.estimates[name][compound] for name in goal]).any():
            return "Why undecided", f"No measurement informs it yet.{known_to(status)}", ""
        if self._ledger.calibrated:
            never = code == UNDECIDED and not known.measured[compound]
            return _HEADINGS[code], "", "A measurement of it is most informative." if never else ""
        return _HEADINGS[code], *self._proven(compound, code)

    @cached_property
    def _additive(self) -> list[tuple[int, float, tuple[SiteContributions, ...]]]:
        """Of each endpoint of the goal that was measured: its position, the mean, and contributions."""
        ledger, found = self._ledger, []
        for place in self._status.goal_endpoints:
            data, noise = pooled(ledger, place), self._status.endpoints[place].noise_sd
            arms = np.flatnonzero(data.counts > 0)
            if not arms.size:
                continue
            means, counts = data.means[arms], data.counts[arms]
            fit = least_squares(ledger.features, arms, counts, means)
            own = contributions(ledger.library, fit, ledger.first[arms], counts, np.nan if noise is None else noise)
            found.append((place, float(np.average(means, weights=counts)), own))
        return found

    def _sources(self, compound: int) -> Iterator[Source]:
        """Yield the parts of each estimate of a compound that is known."""
        codes = self._ledger.library.codes[compound].tolist()
        for place, mean, sites in self._additive:
            endpoint = self._status.endpoints[place]
            estimate = float(self._status.candidates.estimates[endpoint.name][compound])
            if not math.isnan(estimate):
                own = tuple(site.substituents[code] for site, code in zip(sites, codes, strict=True))
                known = [one.value for one in own if not math.isnan(one.value)]
                yield Source(endpoint.scale_name, mean, own, estimate - mean - sum(known))

    def _proven(self, compound: int, code: int) -> tuple[str, str]:
        """Return how a strategy that proves gave a compound its status, and what would decide it."""
        phase = int(self._state.decided_in_phase[self._ledger.arm_of[compound]])
        if code == UNDECIDED:
            return "", known_to(self._status).strip() or "The next decision may settle it."
        better = f"{'no other' if code == IN else 'another'} compound is better{self._by(code)}"
        return f"Decided after round {self._ledger.phases[phase - 1].round}: {better}.", ""

    def _by(self, code: int) -> str:
        """Return the distance from a better compound within which a compound is in, or beyond which it is out."""
        ledger, settings = self._ledger, self._ledger.settings
        if settings.goal == "pareto":
            soft = code == IN and any(ledger.margins)
            return " in every endpoint" + " by more than what does not matter" * soft
        near = settings.distance if settings.goal == "epsilon-best" else 0.0
        by = near + settings.softness if code == IN else near
        return f" by more than {ledger.far(by)}" if by else ""

    def _not_estimable(self, compound: int) -> str:
        """Return which of its substituents no available compound informs."""
        ledger, library = self._ledger, self._ledger.library
        can = ledger.available()
        missing = [
            f"{site.name} = {site_names(site.substituents)[code]}"
            for k, site in enumerate(library.sites)
            if not (library.codes[can, k] == (code := int(library.codes[compound, k]))).any()
        ]
        if missing:
            occur = "occurs" if len(missing) == 1 else "occur"
            return f"{joined(missing)} {occur} in no compound that can be measured, so nothing informs this one."
        return (
            "Its substituents occur in compounds that can be measured, but only together, so their "
            "separate effects cannot be estimated."
        )

    # ------------------------------------------------------------------ picked

    def _picked(self, compound: int) -> str:
        ledger = self._ledger
        standing = [one for one in ledger.rounds if one.state != "withdrawn"]
        if not standing:
            return "No round has been planned yet."
        issued = standing[-1]
        name = f"{'confirmation round' if issued.confirmation else 'round'} {issued.number}"
        if compound in self._requested:
            item, back = self._requested[compound]
            requested = sum(item.of(place) for place in range(ledger.per_sample))
            came = f"; {back:,} back so far" if issued.state == "open" else f"; {back:,} returned"
            return f"{name.capitalize()} asks for {many(requested, 'measurement')}: {item.reason}{came}."
        return f"Not in {name}: {self._left_aside(compound, issued)}."

    @cached_property
    def _requested(self) -> dict[int, tuple[RoundItem, int]]:
        """The items of the latest round, by compound, and how many measurements returned."""
        issued = [one for one in self._ledger.rounds if one.state != "withdrawn"][-1]
        returned = self._ledger.returned(issued)
        return {item.compound: (item, sum(back)) for item, back in zip(issued.items, returned, strict=True)}

    def _left_aside(self, compound: int, issued: Issued) -> str:
        """Return why a round does not include a compound."""
        ledger, known = self._ledger, self._status.candidates
        if compound in ledger.unavailable:
            return f"it is unavailable ({ledger.unavailable[compound]})"
        if not ledger.library.measurable[compound]:
            return "it is not among those that can be measured"
        if issued.confirmation:
            return "it was measured before" if known.status[compound] == IN else "only what is in is confirmed"
        decided = int(known.decided_in_round[compound])
        if decided and decided < issued.number and known.status[compound] == OUT:
            return f"it was out after round {decided}"
        ids, arm = ledger.library.ids, ledger.arm_of[compound]
        twins = [item.compound for item in issued.items if ledger.arm_of[item.compound] == arm]
        if twins:
            return f"{ids[twins[0]]} has the same substituents and is measured for both"
        if decided and decided < issued.number and self._state.left[arm]:
            return f"it was in after round {decided}, and is not needed to compare others with"
        if compound in ledger.planned(issued.phase):
            return "it comes in another round, for the same decision"
        return "other compounds are more informative about what is undecided"

    # ------------------------------------------------------------------ measurements

    @cached_property
    def _own(self) -> dict[int, list[Measurement]]:
        found: dict[int, list[Measurement]] = {}
        for m in self._ledger.measurements:
            found.setdefault(m.compound, []).append(m)
        return found

    def _values(self, compound: int) -> tuple[OwnValue, ...]:
        return tuple(
            _shown(m, self._ledger.endpoints, calibrated=self._ledger.calibrated) for m in self._own.get(compound, ())
        )


def _shown(m: Measurement, endpoints: Sequence[Endpoint], *, calibrated: bool) -> OwnValue:
    """Return how a value is shown; ``calibrated``: under the series model."""
    endpoint = endpoints[m.endpoint]
    value = word_of(endpoint, m.value) or f"{'' if m.relation == '=' else f'{m.relation} '}{m.value:.2f}"
    entered = f"{'' if m.entered.relation == '=' else m.entered.relation}{number(m.entered.value)}"
    unit = (m.entered.unit or endpoint.unit or "").strip()
    if endpoint.transform == "log" or m.corrected is not None:
        value += f" (entered {entered}{f' {unit}' if unit else ''})"
    notes = []
    if m.withdrawn:
        notes.append("undone")
    elif m.excluded is not None:
        notes.append(f"left out: {m.excluded}")
    elif m.relation != "=":
        notes.append("a bound" if calibrated or not m.counted else "a bound, decided by its limit")
    if m.corrected is not None:
        notes.append(f"corrected: {m.corrected}")
    when = f"round {m.round}" if m.round else "earlier"
    return OwnValue(
        endpoint.scale_name,
        value,
        m.n,
        when,
        "; ".join(notes),
        m.usable or (calibrated and m.excluded is None and not m.withdrawn),
        m.withdrawn or m.excluded is not None,
    )


def known_to(status: Status) -> str:
    """Return when the next decision comes, with a space in front; empty when none is under way."""
    if status.phase is None or status.phase.outstanding <= 0:
        return ""
    return f" The next decision comes after about {many(status.phase.outstanding, 'more measurement')}."
