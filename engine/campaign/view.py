"""From the ledger to what pages and reports show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.campaign import wording
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.campaign.state import STATUSES, Candidates, PhasePlan, Status
from assaypilot.engine.measurements import Pooled, pool
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.models.posterior import Posterior, posterior, probability_within
from assaypilot.engine.strategies.protocol import NOT_ESTIMABLE, State, StopReason

__all__ = ["build_status", "objective_posterior", "pooled"]

Floats = NDArray[np.float64]


def pooled(ledger: Ledger, endpoint: int) -> Pooled:
    """Everything usable of an endpoint, history included, per arm on the model scale."""
    used = [m for m in ledger.measurements if m.endpoint == endpoint and m.usable]
    return pool(
        (int(ledger.arm_of[m.compound]) for m in used), (m.value for m in used), (m.n for m in used), ledger.n_arms
    )


def objective_posterior(ledger: Ledger, data: Pooled | None = None) -> Posterior | None:
    """The posterior of the objective over everything measured (``data``); None before the first usable value."""
    data = pooled(ledger, ledger.objective) if data is None else data
    measured = np.flatnonzero(data.counts > 0)
    noise = ledger.endpoints[ledger.objective].noise_sd
    if not len(measured) or noise is None:
        return None
    return posterior(ledger.features, measured, data.counts[measured], data.means[measured], noise)


def build_status(ledger: Ledger, location_warnings: tuple[str, ...] = ()) -> Status:
    """Everything to show, at the ledger's head."""
    state = ledger.current()
    candidates = _candidates(ledger, state)
    counts = {name.replace(" ", "_"): int((candidates.status == code).sum()) for code, name in enumerate(STATUSES)}
    rounds = ledger.views()
    issued = ledger.open_round
    reasons = _finish(ledger, state)
    guarantee = wording.guarantee(ledger, counts, reasons)
    return Status(
        name=ledger.name,
        library=ledger.library,
        endpoints=ledger.endpoints,
        objective=ledger.objective,
        settings=ledger.settings,
        strategy=ledger.strategy.info.name,
        why=ledger.why,
        rounds=rounds,
        open_round=None if issued is None else rounds[-1],
        phase=_phase(ledger),
        phases_decided=len(ledger.phases),
        measurements=tuple(ledger.measurements),
        measurements_used=ledger.spent(),
        unavailable=frozenset(ledger.unavailable),
        candidates=candidates,
        counts=counts,
        finished=bool(reasons),
        finish_reason=reasons[0].text if reasons else None,
        goal_sentence=wording.goal_sentence(ledger),
        statement=wording.statement(ledger, counts, reasons, holds=guarantee.holds),
        guarantee=guarantee,
        warnings=(*location_warnings, *ledger.warnings, *wording.cautions(ledger)),
        head=ledger.head,
        events=ledger.sequence,
    )


def _finish(ledger: Ledger, state: State) -> tuple[StopReason, ...]:
    """Why nothing more is asked; empty while something is."""
    if ledger.under_way is not None or ledger.open_round is not None:
        return ()
    if (state.status == NOT_ESTIMABLE).all():
        return (StopReason("nothing measurable", "no compound that is left can be had"),)
    return ledger.strategy.stop(state)


def _phase(ledger: Ledger) -> PhasePlan | None:
    if ledger.under_way is None:
        return None
    allocation = ledger.under_way.allocation
    return PhasePlan(
        phase=allocation.phase,
        total=allocation.total,
        outstanding=sum(ledger.outstanding().values()),
        radius=allocation.radius,
        criterion=allocation.certificate.criterion,
        value=allocation.certificate.value,
        lower_bound=allocation.certificate.lower_bound,
    )


def _estimates(ledger: Ledger, data: Pooled) -> Floats:
    """Least squares over everything usable, per arm; NaN outside the span of what was measured."""
    measured = np.flatnonzero(data.counts > 0)
    if not len(measured):
        return np.full(ledger.n_arms, np.nan)
    fit = least_squares(ledger.features, measured, data.counts[measured], data.means[measured])
    return np.where(fit.estimable(), fit.means(), np.nan)


def _bounds(ledger: Ledger) -> tuple[Floats, Floats]:
    """Deciding bounds of the last decided phase that bounded each arm, on the endpoint's own side."""
    low, high = np.full(ledger.n_arms, np.nan), np.full(ledger.n_arms, np.nan)
    for phase in sorted(ledger.estimates):
        decision = ledger.estimates[phase]
        lower, upper = decision.low[0], decision.high[0]
        here = np.isfinite(lower) & np.isfinite(upper)
        low[here], high[here] = lower[here], upper[here]
    if ledger.endpoints[ledger.objective].sign < 0:
        low, high = -high, -low
    return low, high


def _candidates(ledger: Ledger, state: State) -> Candidates:
    arm_of = ledger.arm_of
    sign = ledger.endpoints[ledger.objective].sign
    lost = state.status == NOT_ESTIMABLE
    data = [pooled(ledger, k) for k in range(len(ledger.endpoints))]
    estimates = {
        endpoint.name: np.where(lost, np.nan, _estimates(ledger, of_it))[arm_of]
        for endpoint, of_it in zip(ledger.endpoints, data, strict=True)
    }
    estimate = estimates[ledger.settings.objective]
    nothing = np.full(ledger.n_arms, np.nan)
    within, soft, post_low, post_high = nothing, nothing.copy(), nothing.copy(), nothing.copy()
    view = objective_posterior(ledger, data[ledger.objective])
    here = np.flatnonzero(~lost)
    if view is not None and len(here):
        epsilon, slack = ledger.settings.epsilon, ledger.settings.softness
        within = within.copy()
        within[here], soft[here] = probability_within(
            view, here, (epsilon, epsilon + slack), sign, ledger.settings.seed
        )
        mean, spread = view.means(here), 1.96 * view.sds(here)
        post_low[here], post_high[here] = mean - spread, mean + spread
    low, high = _bounds(ledger)
    low[lost], high[lost] = np.nan, np.nan
    round_of_phase = np.array([0, *(decided.round for decided in ledger.phases)])
    n = len(ledger.library)
    measured, censored, made = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp), np.zeros(n, dtype=bool)
    for m in ledger.measurements:
        if m.withdrawn:
            continue
        made[m.compound] = True
        if m.endpoint == ledger.objective and m.excluded is None:
            (measured if m.relation == "=" else censored)[m.compound] += m.n
    best = np.nanmax(sign * estimate) if np.isfinite(estimate).any() else np.nan
    return Candidates(
        status=state.status[arm_of],
        decided_in_round=round_of_phase[state.decided_in_phase][arm_of],
        estimate=estimate,
        low=low[arm_of],
        high=high[arm_of],
        probability_within_epsilon=within[arm_of],
        probability_within_slack=soft[arm_of],
        measured=measured,
        censored=censored,
        made=made,
        posterior_low=post_low[arm_of],
        posterior_high=post_high[arm_of],
        estimates=estimates,
        cutoff=float(sign * (best - ledger.settings.epsilon)),
        soft_cutoff=float(sign * (best - ledger.settings.epsilon - ledger.settings.softness)),
    )
