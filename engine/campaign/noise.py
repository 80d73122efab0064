"""Assay noise that is not known: its estimate from the replicates of a campaign, and what is used in its place.

Decisions on an endpoint of *estimated* noise use an upper bound on its SD instead of the SD itself, at every phase. A
tenth of delta is for that bound, nine tenths are for the decisions; more than one such endpoint is refused. Where sigma
<= bound, every half-width is at least as large as with sigma itself. Every walk of ``adaptive`` is then shorter by the
same factor in all its steps, so it passes a (positive) limit only where the true one does. So a wrong decision has a
probability of at most 0.9 delta + 0.1 delta, whatever guess the first plan used.

**What counts.** Contrasts between values of one compound in one phase: those are normal with the noise's SD, and
nothing else, whatever was known when the phase was planned. Values of different phases are not compared: what is
measured again depends on what was found. Of the table's history all values of a compound count as one phase: they were
there before. Values excluded, withdrawn, known only as a bound, or unrequested never count. Of a mean of n
determinations with an SD of its own the n - 1 degrees of freedom count, where all n were requested.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..domain.derived import with_noise
from ..domain.endpoint import Endpoint
from ..domain.measurements import Measurement, pure_error
from ..models.sd_bound import LAST, OF_DECISIONS, TARGET, planning_sd, upper_sd
from ..strategies.protocol import BOUNDLESS, Decision, State
from . import series

if TYPE_CHECKING:
    from .replay import Ledger


@dataclass(frozen=True, slots=True)
class Spread:
    """The noise of an endpoint by the replicates up to a phase."""

    endpoint: int
    """Its position."""
    guess: float
    """The estimate given at the start; plans rest on it, decisions do not."""
    squares: float
    """Sum of squares of the contrasts between values of one compound in one phase."""
    freedom: int
    """Their degrees of freedom."""
    alpha: float
    """How often the bound may be too small, at all numbers of degrees of freedom together."""

    @property
    def sd(self) -> float | None:
        """The estimate; None without any replicates."""
        return math.sqrt(self.squares / self.freedom) if self.freedom else None

    @property
    def used(self) -> float:
        """The upper bound that decisions use; infinite while it is unknown."""
        return upper_sd(self.squares, self.freedom, self.alpha)

    @property
    def planned(self) -> float:
        """The SD that plans use."""
        return planning_sd(self.guess, self.squares, self.freedom, self.alpha)

    @property
    def shown(self) -> float:
        """The estimate, or the guess before there are enough replicates to trust it more."""
        return self.sd if self.sd and self.freedom >= _TRUSTED else self.guess


_TRUSTED = 6
"""Degrees of freedom from which an estimate is shown, and used for what only informs, instead of the guess."""


def estimated(ledger: Ledger) -> tuple[int, ...]:
    """Return the positions of the measured endpoints whose noise is not known."""
    if ledger.calibrated:
        return ()  # the series model estimates it with the rest
    return tuple(k for k in ledger.measured if ledger.endpoints[k].noise_estimated)


def informs_noise(ledger: Ledger, m: Measurement) -> bool:
    """Return whether a value of the table is of an endpoint of unknown noise: decisions rest on its replicates."""
    return m.round == 0 and m.endpoint in estimated(ledger)


def of_decisions(ledger: Ledger) -> float:
    """Return the share of delta that is for decisions."""
    return OF_DECISIONS if estimated(ledger) else 1.0


def spreads(ledger: Ledger, phase: int) -> tuple[Spread, ...]:
    """Return the noise of each endpoint with unknown noise, by the history and the phases up to one."""
    unknown = estimated(ledger)
    if not unknown:
        return ()
    alpha = (1.0 - OF_DECISIONS) * ledger.settings.delta
    groups = [[(m, m.n) for m in ledger.measurements if m.round == 0], *map(ledger.counting, range(1, phase + 1))]
    out: list[Spread] = []
    for k in unknown:
        squares, freedom = _contrasts(ledger, k, groups)
        out.append(Spread(k, ledger.endpoints[k].noise_sd or 1.0, squares, freedom, alpha))
    return tuple(out)


def _contrasts(ledger: Ledger, position: int, groups: Sequence[Sequence[tuple[Measurement, int]]]) -> tuple[float, int]:
    """Return squares and degrees of freedom of the values of each compound in one phase, up to ``LAST``."""
    squares, freedom = 0.0, 0
    for group in groups:
        own: dict[int, list[Measurement]] = {}
        for m, filled in group:
            if m.endpoint != position:
                continue
            # More determinations than requested may have been made because of the first ones.
            if m.usable and filled == m.n:
                own.setdefault(m.compound, []).append(m)
        for values in own.values():
            more, degrees = _of_compound(ledger.endpoints[position], values)
            # Their number for a compound was fixed before they came.
            if freedom + degrees <= LAST:
                squares, freedom = squares + more, freedom + degrees
    return squares, freedom


def _of_compound(endpoint: Endpoint, values: Sequence[Measurement]) -> tuple[float, int]:
    """Return squares and degrees of freedom of the values of one compound in one phase."""
    if len(values) == 1 and values[0].n == 1:
        return 0.0, 0
    sds = [endpoint.sd_to_model(m.entered.value, m.entered.sd) for m in values]
    squares, freedom, _ = pure_error([0] * len(values), [m.value for m in values], [m.n for m in values], sds)
    return squares, freedom


def to_decide(ledger: Ledger, state: State, phase: int) -> State:
    """Return the state with the noise that a phase is decided by; as it was where all noise is known."""
    found = spreads(ledger, phase)
    return _with(ledger, state, {one.endpoint: one.used for one in found}) if found else state


def decided(state: State, decision: Decision | None) -> Decision | None:
    """Return the decision, infinite bounds where nothing was known of an endpoint's noise."""
    nowhere = np.array(state.problem.noise) >= BOUNDLESS
    if decision is None or not nowhere.any():
        return decision
    low, high = decision.low.copy(), decision.high.copy()
    low[nowhere] = np.where(np.isnan(low[nowhere]), np.nan, -np.inf)
    high[nowhere] = np.where(np.isnan(high[nowhere]), np.nan, np.inf)
    return replace(decision, low=low, high=high)


def to_plan(ledger: Ledger, found: Sequence[Spread], state: State) -> State:
    """Return the state with the noise that the next phase is planned by.

    And how many of its measurements should be repeats. ``found``: the result of ``known``.
    """
    if not found:
        return state
    after = _with(ledger, state, {one.endpoint: one.planned for one in found})
    repeats = max(max(TARGET - one.freedom, 0) for one in found)
    return replace(after, problem=replace(after.problem, repeats=repeats))


def _with(ledger: Ledger, state: State, instead: Mapping[int, float]) -> State:
    own = (instead.get(k, noise) for k, noise in zip(ledger.goal_endpoints, state.problem.noise, strict=True))
    return replace(state, problem=replace(state.problem, noise=tuple(min(sd, BOUNDLESS) for sd in own)))


def to_json(found: Sequence[Spread]) -> list[dict[str, Any]]:
    """Return what a decision used, as an event keeps it."""
    return [asdict(one) | {"used": one.used if math.isfinite(one.used) else None} for one in found]


def from_json(data: Sequence[Mapping[str, Any]]) -> tuple[Spread, ...]:
    """Return what ``to_json`` wrote."""
    return tuple(Spread(**{name: one[name] for name in Spread.__slots__}) for one in data)


def known(ledger: Ledger) -> tuple[Spread, ...]:
    """Return what the last decision used, by the log; before the first one, by the history."""
    if not estimated(ledger):
        return ()
    return ledger.spreads[max(ledger.spreads)] if ledger.spreads else spreads(ledger, 0)


def informing(ledger: Ledger) -> tuple[Endpoint, ...]:
    """Return the endpoints with the noise that estimates and probabilities use: the estimate where it is not known."""
    found = {one.endpoint: one.shown for one in known(ledger)}
    if ledger.calibrated and any(endpoint.noise_estimated for endpoint in ledger.endpoints):
        learned = series.knowledge(ledger, ledger.current())
        if learned is not None:
            sds = dict(zip(ledger.modelled, learned.noise.tolist(), strict=True))
            found = {k: sd for k, sd in sds.items() if ledger.endpoints[k].noise_estimated}
    if not found:
        return ledger.endpoints
    return tuple(with_noise([replace(e, noise_sd=found.get(k, e.noise_sd)) for k, e in enumerate(ledger.endpoints)]))


def sentence(ledger: Ledger, one: Spread) -> str:
    """Return ``assay noise of pIC50 estimated: 0.21 from 34 degrees of freedom, at most 0.27 is used``."""
    name = ledger.endpoints[one.endpoint].scale_name
    if one.sd is None:
        return f"assay noise of {name} not known yet ({one.guess:.2g} is a guess for the first plan)"
    used = f"at most {one.used:.2g} is used" if math.isfinite(one.used) else "too few to decide anything"
    if one.sd == 0:
        used = "which decides nothing: measurements made independently never all agree exactly"
    degrees = f"{one.freedom:,} degree{'' if one.freedom == 1 else 's'} of freedom"
    return f"assay noise of {name} estimated: {one.sd:.2g} from {degrees}, {used}"
