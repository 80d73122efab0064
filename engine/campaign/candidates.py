"""The state of every compound: estimates, deciding bounds, probabilities, and the values behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Floats, Ints
from ..domain.derived import parts, pooled_of
from ..domain.measurements import Pooled, pool
from ..models.glm import curvature, fit_glm, mean_value
from ..models.ols import least_squares
from ..models.posterior import Posterior, posterior, probability_within
from ..strategies.protocol import NOT_ESTIMABLE, UNDECIDED, State
from . import noise as assay_noise
from . import series
from .replay import Ledger
from .state import Candidates


def _linked(ledger: Ledger, endpoint: int, data: Pooled) -> Pooled:
    """Return the same evidence on the scale of the objective's link, where effects add up.

    A mean there, and its weight.

    The maximum of the likelihood and its curvature (Laplace), of values that scatter as the link's own kind does, so
    that their noise is 1: what a normal posterior can be made of.
    """
    link, bound = ledger.link
    measured = np.flatnonzero(data.counts > 0)
    if not _behind_link(ledger, endpoint) or not len(measured):
        return data
    fit = fit_glm(ledger.features, measured, data.counts[measured], data.means[measured], link, bound)
    predictors = fit.predictors(measured)
    counts, means = np.zeros(ledger.n_arms), np.zeros(ledger.n_arms)
    counts[measured] = data.counts[measured] * curvature(link, predictors)
    means[measured] = predictors
    return Pooled(counts, means)


def _behind_link(ledger: Ledger, endpoint: int) -> bool:
    return ledger.link[0] != "identity" and endpoint == ledger.objective


def shown_means(ledger: Ledger, endpoint: int, means: Floats) -> Floats:
    """Return the means as they are shown, model scale: those on a link's scale as the values they represent."""
    return mean_value(ledger.link[0], means) if endpoint == ledger.objective else means


def pooled(ledger: Ledger, endpoint: int) -> Pooled:
    """Return the exact values of an endpoint (or both parts of a difference), history too, per arm, model scale."""
    return pooled_of(ledger.endpoints, endpoint, lambda position: _measured(ledger, position), ledger.known)


def _measured(ledger: Ledger, position: int) -> Pooled:
    used = [m for m in ledger.measurements if m.endpoint == position and m.usable]
    return pool(
        (int(ledger.arm_of[m.compound]) for m in used), (m.value for m in used), (m.n for m in used), ledger.n_arms
    )


def posterior_of(ledger: Ledger, endpoint: int, data: Pooled | None = None) -> Posterior | None:
    """Return the posterior of an endpoint over everything measured (``data``); None before the first usable value.

    On the scale of the strategy's link, where it has one: see ``shown_means``.
    """
    data = pooled(ledger, endpoint) if data is None else data
    data = _linked(ledger, endpoint, data)
    measured = np.flatnonzero(data.counts > 0)
    noise = 1.0 if _behind_link(ledger, endpoint) else assay_noise.informing(ledger)[endpoint].noise_sd
    if not len(measured) or noise is None:
        return None
    return posterior(ledger.features, measured, data.counts[measured], data.means[measured], noise)


def _estimates(ledger: Ledger, endpoint: int, data: Pooled) -> Floats:
    """Fit least squares (maximum likelihood under a link) to everything usable, per arm; NaN outside its span."""
    data = _linked(ledger, endpoint, data)
    measured = np.flatnonzero(data.counts > 0)
    if not len(measured):
        return np.full(ledger.n_arms, np.nan)
    fit = least_squares(ledger.features, measured, data.counts[measured], data.means[measured])
    return np.where(fit.estimable(), fit.means(), np.nan)


def _last_bounds(phases: Sequence[tuple[Floats, Floats]], n_arms: int) -> tuple[Floats, Floats]:
    """Return per arm the bounds of the last phase that bounded it; NaN where none did."""
    low, high = np.full(n_arms, np.nan), np.full(n_arms, np.nan)
    for lower, upper in phases:
        here = np.isfinite(lower) & np.isfinite(upper)
        low[here], high[here] = lower[here], upper[here]
    return low, high


def _goal_bounds(ledger: Ledger, row: int) -> tuple[Floats, Floats]:
    """Return the deciding bounds of an endpoint of the goal, by its row there, on the endpoint's own side."""
    decisions = list(ledger.estimates.values())
    low, high = _last_bounds([(d.low[row], d.high[row]) for d in decisions], ledger.n_arms)
    position = ledger.goal_endpoints[row]
    if ledger.endpoints[position].sign < 0:
        return -high, -low
    return shown_means(ledger, position, low), shown_means(ledger, position, high)


def _evidence(ledger: Ledger) -> dict[str, Any]:
    """Return what the measurements of a campaign are, one entry per compound, as ``Candidates`` have it."""
    n, places = len(ledger.library), range(len(ledger.endpoints))
    usable = {k: np.zeros(n, dtype=np.intp) for k in places}
    bounded = {k: np.zeros(n, dtype=np.intp) for k in places}
    made = np.zeros(n, dtype=bool)
    under, over = ({k: np.full(n, np.nan) for k in places} for _ in range(2))
    for m in ledger.measurements:
        if m.withdrawn:
            continue
        made[m.compound] = True
        if m.excluded is None:
            if m.relation in ("<", "<="):
                under[m.endpoint][m.compound] = np.fmin(under[m.endpoint][m.compound], m.value)
            elif m.relation != "=":
                over[m.endpoint][m.compound] = np.fmax(over[m.endpoint][m.compound], m.value)
            (usable if m.relation == "=" else bounded)[m.endpoint][m.compound] += m.n
    for k in places:
        own = parts(ledger.endpoints, k)
        if ledger.endpoints[k].of is not None:
            usable[k] = np.min([usable[part] for part in own], axis=0)
    names = [endpoint.name for endpoint in ledger.endpoints]
    limits = ({names[k]: one for k, one in side.items() if not np.isnan(one).all()} for side in (under, over))
    return {
        "measured": np.min([usable[k] for k in ledger.goal_endpoints], axis=0),
        "censored": np.sum([bounded[k] for k in ledger.behind(ledger.goal_endpoints)], axis=0),
        "made": made,
        "measured_of": {names[k]: own for k, own in usable.items()},
        **dict(zip(("under", "over"), limits, strict=True)),
    }


def _probabilities(ledger: Ledger, views: Sequence[Posterior | None], here: Ints) -> tuple[Floats, Floats]:
    """P(in the goal's set) and P(acceptable) of the arms ``here``, from the posteriors of the goal's endpoints."""
    known = [view for view in views if view is not None]
    if len(known) < len(views):
        return np.full(len(here), np.nan), np.full(len(here), np.nan)
    settings = ledger.settings
    if settings.goal == "pareto":
        from ..models.posterior import probability_pareto

        signs = tuple(ledger.endpoints[k].sign for k in ledger.goal_endpoints)
        return probability_pareto(known, here, signs, ledger.margins, settings.seed)
    first = settings.distance if settings.goal == "epsilon-best" else 0.0
    margins = (first, first + settings.softness)
    sign = ledger.endpoints[ledger.objective].sign
    within, soft = probability_within(known[0], here, margins, sign, settings.seed)
    return within, soft


def build_candidates(ledger: Ledger, state: State) -> Candidates:
    """Return one entry per compound, at the ledger's head."""
    found = (_by_series if ledger.calibrated else _by_proof)(ledger, state)
    name = ledger.endpoints[ledger.objective].name
    own = {"estimate": found["estimates"][name], "low": found["lows"][name], "high": found["highs"][name]}
    return Candidates(**own, **found, **_evidence(ledger))


def _by_proof(ledger: Ledger, state: State) -> dict[str, Any]:
    """Return the estimates of least squares and the decisions for every compound."""
    arm_of, settings, endpoints = ledger.arm_of, ledger.settings, ledger.endpoints
    objective = ledger.objective
    here = np.flatnonzero(state.status != NOT_ESTIMABLE)

    def shown(values: Floats, arms: Ints | None = None) -> Floats:
        """Return per compound what is known per arm (or of some arms only); NaN for what cannot be estimated."""
        out = np.full(ledger.n_arms, np.nan)
        out[here] = values[here] if arms is None else values
        return out[arm_of]

    data = [pooled(ledger, k) for k in range(len(endpoints))]
    found = [_estimates(ledger, k, of_it) for k, of_it in enumerate(data)]
    views = {k: posterior_of(ledger, k, data[k]) for k in ledger.goal_endpoints}
    within, soft, post_low, post_high = (np.full(len(here), np.nan) for _ in range(4))
    if len(here):
        within, soft = _probabilities(ledger, [views[k] for k in ledger.goal_endpoints], here)
        view = views[objective]
        if view is not None:
            mean, spread = view.means(here), 1.96 * view.sds(here)
            post_low, post_high = (shown_means(ledger, objective, end) for end in (mean - spread, mean + spread))
    bounds = {endpoints[k].name: _goal_bounds(ledger, row) for row, k in enumerate(ledger.goal_endpoints)}
    sign, best = endpoints[objective].sign, np.nan
    if settings.goal != "pareto" and np.isfinite(found[objective][here]).any():
        best = np.nanmax(sign * found[objective][here])
    near = settings.distance if settings.goal == "epsilon-best" else 0.0
    round_of_phase = np.array([0, *(decided.round for decided in ledger.phases)])
    return {
        "status": state.status[arm_of],
        "decided_in_round": round_of_phase[state.decided_in_phase][arm_of],
        "probability_within_epsilon": shown(within, here),
        "probability_within_slack": shown(soft, here),
        "posterior_low": shown(post_low, here),
        "posterior_high": shown(post_high, here),
        "estimates": {e.name: shown(shown_means(ledger, k, found[k])) for k, e in enumerate(endpoints)},
        "cutoff": _cutoff(ledger, sign * (best - near)),
        "soft_cutoff": _cutoff(ledger, sign * (best - near - settings.softness)),
        "lows": {name: shown(low) for name, (low, _) in bounds.items()},
        "highs": {name: shown(high) for name, (_, high) in bounds.items()},
    }


def _by_series(ledger: Ledger, state: State) -> dict[str, Any]:
    """Return the estimates of the series model for every compound."""
    arm_of, settings, endpoints = ledger.arm_of, ledger.settings, ledger.endpoints
    known = series.knowledge(ledger, state)
    unknown = np.full(ledger.n_arms, np.nan)
    status = np.full(ledger.n_arms, UNDECIDED, dtype=np.int8) if known is None else known.status
    round_of_phase = np.array([0, *(decided.round for decided in ledger.phases)])
    decided_in = np.where(status == state.status, round_of_phase[state.decided_in_phase], ledger.last_closed)
    estimates, lows, highs = {}, {}, {}
    for position, endpoint in enumerate(endpoints):
        found = series.of_endpoint(ledger, known, position)
        if found is None:
            found = _estimates(ledger, position, pooled(ledger, position)), unknown, unknown
        estimate, low, high = (each[arm_of] for each in found)
        estimates[endpoint.name] = estimate
        if position in ledger.modelled:
            lows[endpoint.name], highs[endpoint.name] = low, high
    kept = [unknown] * (len(ledger.limited) + 1) if known is None else [*known.p_kept]
    objective, border = endpoints[ledger.objective], np.nan
    if settings.goal != "pareto" and known is not None:
        # The best are the best of those that probably keep every limit.
        keep = np.all(known.p_kept[: len(ledger.limited)] > 0.5, axis=0)[arm_of]
        means = objective.sign * estimates[objective.name]
        border = objective.sign * settings.border(means[keep] if keep.any() else means)
    return {
        "status": status[arm_of],
        "decided_in_round": np.where(status == UNDECIDED, 0, decided_in)[arm_of],
        "probability_within_epsilon": (unknown if known is None else known.p_member)[arm_of],
        "probability_within_slack": (unknown if known is None else known.p_acceptable)[arm_of],
        "posterior_low": lows[objective.name],
        "posterior_high": highs[objective.name],
        "estimates": estimates,
        "cutoff": border,
        "soft_cutoff": border - objective.sign * settings.softness,
        "lows": lows,
        "highs": highs,
        "probability_meets": {endpoints[k].name: kept[row][arm_of] for row, k in enumerate(ledger.limited)},
        "profile_met": kept[-1][arm_of] if any(endpoint.curves for endpoint in endpoints) else None,
    }


def _cutoff(ledger: Ledger, value: float) -> float:
    """Return a cutoff as it is shown."""
    return float(shown_means(ledger, ledger.objective, np.array([value]))[0])
