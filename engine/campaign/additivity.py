"""Whether the values of a campaign contradict the sum of effects that a proven strategy assumes.

Nothing is stored: additivity is tested on the present values, after every result and so before every decision.

**The test.** Additivity is contradicted under two conditions. The lack of fit against the assay noise has p < SURE,
over the measured endpoints together. And tau, the SD of compounds' own deviations, is surely (95 %) above SHARE of the
softness of the goal: less of it hardly moves an answer. With a stated model error (LinFACT-MIS) the test is of that
error, however deviations are distributed. It also finds a noise that was stated too small.

**What voiding does to "wrong at most".** That is the probability of a promise that is made *and* wrong, where effects
add up, over all campaigns. Withdrawing some promises because of the values can only make it smaller. An additive table
loses its promise with a probability of about SURE at each look. Where effects do not add up nothing was promised, and
an unnoticed deviation is not covered.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Floats, Ints
from ..domain.measurements import Measurement, determinations, pool
from ..models.additivity import Additivity, additivity
from ..strategies.designs import remembered
from . import noise as assay_noise
from .findings import Deviations

if TYPE_CHECKING:
    from .replay import Ledger


SURE = 1e-3
"""p of a lack of fit below which additivity counts as contradicted, where tau is large enough to matter."""
SHARE = 0.125
"""Tau below this share of the goal's softness hardly moves an answer (tests/published, REPORT-additivity)."""
_NAMED = 3
_SIZE = 4096


def tolerance(ledger: Ledger, endpoint: int) -> float:
    """Return what a deviation is compared with: the softness of the goal.

    Where nothing is soft, the assay noise.
    """
    settings = ledger.settings
    soft = settings.softness if endpoint in ledger.behind(ledger.goal_endpoints) else 0.0
    if settings.goal == "pareto":
        own = [
            margin
            for k, margin in zip(ledger.goal_endpoints, ledger.margins, strict=True)
            if endpoint in ledger.behind((k,))
        ]
        soft = min(own, default=0.0)
    return soft if soft > 0.0 else ledger.endpoints[endpoint].noise_sd or 0.0


def deviations(ledger: Ledger) -> tuple[Deviations, ...]:
    """Return the deviations of every endpoint that is measured and modelled as a sum of effects."""
    return tuple(_judged(ledger, k) for k in ledger.measured if k not in ledger.coarse)


def _judged(ledger: Ledger, endpoint: int) -> Deviations:
    """Return the deviations in one endpoint."""
    own = _used_values(ledger, endpoint)
    sd, shown = _noise(ledger, endpoint)
    pooled = pool((m.compound for m in own), (m.value for m in own), (m.n for m in own), len(ledger.library))
    rows: Ints = np.flatnonzero(pooled.counts > 0)
    means, counts = pooled.means[rows], pooled.counts[rows]
    found = _found(ledger, rows, means, counts, sd)
    if shown != sd:
        # With unknown noise, evidence against additivity rests on its upper bound; how large deviations
        # may be, on its estimate.
        likely = _found(ledger, rows, means, counts, shown)
        found = replace(found, tau=likely.tau, tau_high=likely.tau_high)
    stated = ledger.settings.parameters.get("model_error")
    error = float(stated) if isinstance(stated, int | float) and not isinstance(stated, bool) else None
    least = SHARE * tolerance(ledger, endpoint)
    against = found.p is not None and found.p < SURE / len(ledger.measured) and found.tau_low > least
    if error is not None:
        against = found.p is not None and found.error_sure > error
    result = Deviations(
        endpoint=ledger.endpoints[endpoint].scale_name,
        verdict="contradicted" if against else "not contradicted" if found.freedom else "not judged",
        found=found,
        compounds=tuple(rows.tolist()),
        noise_sd=sd,
        model_error=error,
        sentence="",
    )
    return replace(result, sentence=_sentence(ledger, result, least))


def _used_values(ledger: Ledger, endpoint: int) -> list[Measurement]:
    """Return the values that are tested, each with its independent determinations alone.

    Near a limit those alone came as numbers that the noise took within, which looks like a deviation. So those of the
    table are left out where one of them is a bound, and those of the campaign where a bound has ended its guarantee.
    """
    endpoint_used = ledger.endpoints[endpoint]
    every = [m for m in ledger.measurements if m.endpoint == endpoint and m.excluded is None and not m.withdrawn]
    cut = {m.round > 0 for m in every if m.relation != "=" and (m.round == 0 or m.counted > 0)}
    own = [m for m in every if m.usable and (m.round > 0) not in cut]
    sds = [endpoint_used.sd_to_model(m.entered.value, m.entered.sd) for m in own]
    counts = determinations([m.n for m in own], sds, None if endpoint_used.noise_estimated else endpoint_used.noise_sd)
    return [m if m.n == count else replace(m, n=count) for m, count in zip(own, counts, strict=True)]


def _noise(ledger: Ledger, endpoint: int) -> tuple[float, float]:
    """Return the noise SD that a lack of fit is tested against, and the one that is likely: that stated, if it was."""
    stated = ledger.endpoints[endpoint].noise_sd or 0.0
    upto = len(ledger.phases) + (ledger.under_way is not None)
    own = [one for one in assay_noise.spreads(ledger, upto) if one.endpoint == endpoint]
    if not own:
        return stated, stated
    return (own[0].used if math.isfinite(own[0].used) else 0.0), own[0].shown


def _found(ledger: Ledger, rows: Ints, means: Floats, counts: Floats, sd: float) -> Additivity:
    """Return the deviations of the means of measured compounds, against a noise."""
    arms = ledger.arm_of[rows]
    return remembered(
        "additivity",
        ledger.features,
        (arms, means, counts, sd, SURE),
        _SIZE,
        lambda: additivity(ledger.features, arms, means, counts, sd, sure=SURE),
    )


def _sentence(ledger: Ledger, fit: Deviations, least: float) -> str:
    """Return what was found, for people; ``least``: the SD of deviations from which they make answers wrong."""
    found = fit.found
    of = f" in {fit.endpoint}" if len(ledger.measured) > 1 else ""
    if not fit.contradicted:
        if not found.freedom or found.p is None:
            return f"Whether effects add up{of} cannot be judged yet: no measured compound is compared with others."
        matters = f", of which {least:.2g} would matter" if found.tau_high > least and fit.model_error is None else ""
        return (
            f"Effects of {found.compared:,} compounds{of} add up as far as their values show: own deviations have an "
            f"SD (tau) of {found.tau_high:.2g} at most (95 %){matters}."
        )
    most = [
        f"{ledger.library.ids[fit.compounds[one.place]]} ({abs(one.off):.2g} {'below' if one.off < 0 else 'above'})"
        for one in fit.sure_cliffs[:_NAMED]
    ]
    farthest = f"; farthest from what the others predict: {', '.join(most)}" if most else ""
    if fit.model_error is not None:
        return (
            f"effects{of} do not add up to within the stated {fit.model_error:g}: some compound deviates by at least "
            f"{found.error_low:.2g} (95 %){farthest}"
        )
    chance = "p < 0.0001" if (found.p or 0.0) < 1e-4 else f"p {found.p:.2g}"
    return (
        f"effects{of} do not add up ({chance}): own deviations of compounds have an SD (tau) of {found.tau:.2g}, at "
        f"least {found.tau_low:.2g} (95 %){farthest}"
    )
