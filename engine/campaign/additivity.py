"""What the measurements of a campaign say about the sum of effects, after every result and so before every decision.

Nothing is stored: it is worked out from the values there are, pooled over phases and history, and is true at that
moment. So a guarantee that rests on additivity is void from the first value that contradicts it, the first decision
included.

**The rule.** Additivity is contradicted when the lack of fit against the stated noise has p < SURE (over the measured
endpoints together), and tau, the SD of compounds' own deviations, is surely (95 %) above SHARE of the softness of what
is asked: less of it hardly moves an answer. Where replicates speak against the stated noise (p < NOISE), it takes the
same p of the lack of fit against the replicates: a noise that was stated too small is no cliff. With a stated model
error (LinFACT-MIS) what is contradicted is that error, however deviations are distributed.

**What voiding does to "wrong at most".** That probability is of a promise that is made *and* wrong, where effects add
up, over all campaigns: taking some promises back for what the values look like can only make it smaller. It is not the
share of wrong ones among the promises that are left. That is at most 1 / (1 - v) times as large, v being how often an
additive table loses its promise: about SURE at each look. Where effects do not add up nothing was promised, and what is
not noticed is not covered.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr

from ..arrays import Floats, Ints
from ..domain.features import Features, SiteFeatures
from ..domain.interactions import pair_name
from ..domain.measurements import Measurement, determinations, pool, pure_error
from ..models.additivity import BOUND, Additivity, additivity, deviation_bound
from ..models.beyond_model import Beyond, beyond_model
from ..models.interactions import Interaction, interactions
from ..models.ols import Estimate, least_squares
from ..models.tobit import Cells
from ..strategies.designs import remembered
from ..text.percentages import percent
from . import noise as assay_noise
from .bookkeeping import spanned
from .censoring import bounds_at
from .findings import Deviations

if TYPE_CHECKING:
    from ..strategies.protocol import State
    from .replay import Ledger

__all__ = ["NOISE", "SHARE", "SURE", "at_once", "deviations", "spread_out", "tolerance"]

SURE = 1e-3
"""p of a lack of fit below which additivity counts as contradicted, where tau is large enough to matter."""
_IMPUTED = 30
"""Rounds of estimating what values known only as bounds may have been."""
SHARE = 0.125
"""Tau below this share of the softness of what is asked hardly moves an answer (tests/published, REPORT-additivity)."""
DOUBT = 0.05
"""The same below which it is said to be in doubt, where such a tau is not excluded; that voids nothing."""
NOISE = 0.01
"""p below which replicates speak against the stated noise."""
_FEWEST = 6
"""Degrees of freedom of replicates below which they are not asked: one wrong value would speak for all of them."""
_NAMED = 3
_SINGLE = 3.0
"""SDs of deviations that one compound's own is taken to be at most, where a tau is compared with one compound."""
_WITHIN = 3.0
"""Noise SDs from a bound at which values of a compound are hardly ever cut."""
_SIZE = 4096


def tolerance(ledger: Ledger, endpoint: int) -> float:
    """Return what a deviation is compared with: the softness of what is asked.

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
    """Return what the values say of every endpoint that is measured and modelled as a sum of effects.

    At this moment.
    """
    return tuple(_judged(ledger, k) for k in ledger.measured if k not in ledger.coarse)


def spread_out(ledger: Ledger, state: State) -> State:
    """Return the state in which the next phase is planned: of one compound no more than tells something.

    Beyond about sigma^2 / tau^2 measurements of a compound its own deviation is what is left, which none of them makes
    smaller, so the same measurements go to more compounds. The cap rests on earlier values alone, as all of a plan may.
    """
    capacity, most = state.problem.capacity, _most_replicates(ledger)
    if capacity is None or most is None:
        return state
    if state.problem.repeats:
        most = max(most, 2)  # noise that is not known is learnt from pairs
    # Where there are few compounds to spread over, a round is filled all the same.
    most = max(most, math.ceil(capacity.per_round / max(1, int(state.problem.measurable.sum()))))
    if most >= capacity.max_replicates:
        return state
    return replace(state, problem=replace(state.problem, capacity=replace(capacity, max_replicates=most)))


def at_once(counts: Ints, per_round: int, usual: int, most: int) -> int:
    """Measurements of one compound in a round: at most ``most`` where that costs no further round, never above usual.

    ``counts`` are those of a phase, ``usual`` what the lab allows.
    """
    rounds = max(1, math.ceil(int(counts.sum()) / per_round))
    return min(usual, max(most, math.ceil(int(counts.max(initial=1)) / rounds)))


def _most_replicates(ledger: Ledger) -> int | None:
    """Measurements of one compound beyond which they tell next to nothing more; None while tau is not known.

    By the lower bound of tau, so that it rests on deviations that are surely there; of several endpoints the one that
    gains longest.
    """
    caps = [_cap(told) for told in deviations(ledger)]
    known = [cap for cap in caps if cap is not None]
    return max(known) if known and len(known) == len(caps) else None


def _cap(told: Deviations) -> int | None:
    """Return the same of one endpoint: sigma^2 / tau^2."""
    tau = told.found.tau_low
    return max(1, round((told.noise_sd / tau) ** 2)) if tau > 0.0 else None


def _judged(ledger: Ledger, endpoint: int) -> Deviations:
    """Return the deviations in one endpoint."""
    own = _determined(ledger, endpoint)
    sd, shown = _noise(ledger, endpoint)
    own = _uncut(ledger, endpoint, own, shown)
    features, arms, rows, means, counts = _values(ledger, endpoint, own)
    found = _found(features, arms, means, counts, sd)
    if shown != sd:
        # With a noise that is not known, what speaks against additivity rests on its upper bound; how large deviations
        # may be, on its estimate.
        likely = _found(features, arms, means, counts, shown)
        found = replace(found, tau=likely.tau, tau_high=likely.tau_high, tau_safe=likely.tau_safe)
    stated = ledger.settings.parameters.get("model_error")
    error = float(stated) if isinstance(stated, int | float) and not isinstance(stated, bool) else None
    doubt = _replicates(ledger, endpoint, own)
    against = _contradicted(found, error, SHARE * tolerance(ledger, endpoint), SURE / len(ledger.measured))
    if against and doubt is not None:
        against = _beyond_replicates(found, sd, doubt) < SURE
    beyond = () if error is not None else _beyond(ledger, endpoint, own, max(sd, doubt[0] if doubt else 0.0))
    pairs: tuple[Interaction, ...] = ()
    if against and features is ledger.features:
        pairs = remembered(
            "interactions",
            ledger.features,
            (arms, means, counts, sd, np.array(rows)),
            _SIZE,
            lambda: interactions(ledger.library, rows, means, counts, sd),
        )
    new = {m.compound for m in own if m.round > 0}
    told = Deviations(
        endpoint=ledger.endpoints[endpoint].scale_name,
        verdict="contradicted" if against or beyond else "not contradicted" if found.freedom else "not judged",
        found=found,
        compounds=tuple(rows.tolist()),
        before=len(set(rows.tolist()) - new),
        noise_sd=sd,
        replicates=doubt,
        model_error=error,
        largest=deviation_bound(found, len(ledger.library)),
        pairs=pairs,
        sentence="",
        beyond=beyond,
    )
    cap = _cap(told)
    spread = ""
    if cap is not None and cap < ledger.settings.max_replicates:
        most = "1 measurement" if cap == 1 else f"{cap:,} measurements"
        spread = f"Rounds plan at most {most} of a compound: more of one say little of the others."
    offers = _offers(ledger, told) if told.contradicted else ()
    sentence = _sentence(ledger, endpoint, told)
    if any(m.n != m.entered.n for m in own):
        sentence += " The SDs that came with means are far below the stated noise, as within one run: each counts once."
    return replace(told, sentence=sentence, offers=offers, spread=spread)


def _determined(ledger: Ledger, endpoint: int) -> list[Measurement]:
    """Its usable values, each with its independent determinations alone."""
    told = ledger.endpoints[endpoint]
    own = [m for m in ledger.measurements if m.endpoint == endpoint and m.usable]
    sds = [told.sd_to_model(m.entered.value, m.entered.sd) for m in own]
    counts = determinations([m.n for m in own], sds, None if told.noise_estimated else told.noise_sd)
    return [m if m.n == count else replace(m, n=count) for m, count in zip(own, counts, strict=True)]


def _noise(ledger: Ledger, endpoint: int) -> tuple[float, float]:
    """Return the noise SD that a lack of fit is tested against, and the one that is likely.

    That stated, where it was.
    """
    stated = ledger.endpoints[endpoint].noise_sd or 0.0
    upto = len(ledger.phases) + (ledger.under_way is not None)
    own = [one for one in assay_noise.spreads(ledger, upto) if one.endpoint == endpoint]
    if not own:
        return stated, stated
    return (own[0].used if math.isfinite(own[0].used) else 0.0), own[0].shown


def _uncut(ledger: Ledger, endpoint: int, own: list[Measurement], sd: float) -> list[Measurement]:
    """Return the values of compounds that are expected well within every bound that was met; all where none was.

    Nearer ones came as numbers only where the noise took them within, which looks like a deviation. Expected by all
    values, those known only as bounds with them, so that it hardly depends on the compound's own noise; without bounds
    that exact values of others speak against, or one cliff would take all of its neighbours along.
    """
    every = [m for m in ledger.measurements if m.endpoint == endpoint and m.excluded is None and not m.withdrawn]
    cut = [m for m in every if m.relation != "="]
    if not cut:
        return own
    odd = {one.row for one in _by_others(ledger, endpoint, own, max(sd, 1e-9)) if one.p < DOUBT}
    kept = [(m, m.n) for m in every if m.relation == "=" or int(ledger.arm_of[m.compound]) not in odd]
    told = spanned(ledger.endpoints, endpoint, kept, ledger.arm_of)
    at = np.flatnonzero(told.counts > 0)
    cells = (at, told.counts[at], told.means[at])
    expected = _imputed(ledger.features, cells, told.low[at], told.high[at], max(sd, 1e-9)).means()
    floor = max((m.value for m in cut if m.relation == "<"), default=-math.inf) + _WITHIN * sd
    ceiling = min((m.value for m in cut if m.relation == ">"), default=math.inf) - _WITHIN * sd
    return [m for m in own if floor <= expected[ledger.arm_of[m.compound]] <= ceiling]


def _beyond(ledger: Ledger, endpoint: int, own: list[Measurement], sd: float) -> tuple[Beyond, ...]:
    """Return the compounds whose bounds contradict additivity; ``own``: the exact values that no bound cut.

    By the same p as a lack of fit, and a distance of at least three times the tau that would contradict it.
    """
    least = _SINGLE * SHARE * tolerance(ledger, endpoint)
    return tuple(
        one._replace(row=int(ledger.first[one.row]))
        for one in _by_others(ledger, endpoint, own, sd)
        if one.p < SURE / len(ledger.measured) and one.least > least
    )


def _by_others(ledger: Ledger, endpoint: int, own: list[Measurement], sd: float) -> tuple[Beyond, ...]:
    """Return the arms of which only bounds are known beside what exact values ``own`` of others predict."""
    found = bounds_at(ledger, endpoint)
    if found is None:
        return ()
    told = pool(
        (int(ledger.arm_of[m.compound]) for m in own),
        (m.value for m in own),
        (m.n for m in own),
        ledger.n_arms,
    )
    rows = np.flatnonzero(told.counts > 0)
    return beyond_model(ledger.features, Cells(rows, told.counts[rows], told.means[rows]), found, sd)


def _values(ledger: Ledger, endpoint: int, own: list[Measurement]) -> tuple[SiteFeatures, Ints, Ints, Floats, Floats]:
    """Return the features that are to explain the values, their rows there, the compounds.

    And means and counts ``(m,)``.
    """
    pooled = pool((m.compound for m in own), (m.value for m in own), (m.n for m in own), len(ledger.library))
    rows: Ints = np.flatnonzero(pooled.counts > 0)
    return ledger.features, ledger.arm_of[rows], rows, pooled.means[rows], pooled.counts[rows]


def _found(features: SiteFeatures, arms: Ints, means: Floats, counts: Floats, sd: float) -> Additivity:
    """Return what the means of the measured arms say, against a noise."""
    return remembered(
        "additivity",
        features,
        (arms, means, counts, sd, SURE),
        _SIZE,
        lambda: additivity(features, arms, means, counts, sd, sure=SURE),
    )


def _contradicted(found: Additivity, error: float | None, least: float, sure: float) -> bool:
    if found.p is None:
        return False
    if error is not None:
        return found.error_sure > error
    return found.p < sure and found.tau_low > least


def _replicates(ledger: Ledger, endpoint: int, own: list[Measurement]) -> tuple[float, int] | None:
    """SD and degrees of freedom of replicates, where they scatter more than the stated noise; else None."""
    sds = (ledger.endpoints[endpoint].sd_to_model(m.entered.value, m.entered.sd) for m in own)
    squares, freedom, _ = pure_error((m.compound for m in own), (m.value for m in own), (m.n for m in own), sds)
    stated = ledger.endpoints[endpoint].noise_sd
    if freedom < _FEWEST or not stated or ledger.endpoints[endpoint].noise_estimated:
        return None
    from scipy.special import chdtrc

    return ((squares / freedom) ** 0.5, freedom) if chdtrc(freedom, squares / stated**2) < NOISE else None


def _beyond_replicates(found: Additivity, stated: float, replicates: tuple[float, int]) -> float:
    """Return the p of the lack of fit against replicates instead of the stated noise (F)."""
    if found.p is None:
        return 1.0
    from scipy.special import chdtri, fdtrc

    sd, freedom = replicates
    # The sum of squares over the stated variance, from its own p: what is needed is nothing else.
    ratio = float(chdtri(found.freedom, max(found.p, 1e-300))) / found.freedom * (stated / sd) ** 2
    return float(fdtrc(found.freedom, freedom, ratio))


def _sentence(ledger: Ledger, endpoint: int, told: Deviations) -> str:
    """Return what was found, for people."""
    found, several = told.found, len(ledger.measured) > 1
    of = f" in {told.endpoint}" if several else ""
    if told.beyond:
        return _of_bounds(ledger, told, of)
    if not found.freedom or found.p is None:
        return f"Whether effects add up{of} cannot be judged yet: no measured compound is compared with others."
    those = f"{found.compared:,} compounds that others tell of"
    chance = "p < 0.0001" if found.p < 1e-4 else f"p {found.p:.2g}"
    if told.contradicted:
        how = (
            f"compounds{of} deviate from the sum of their substituents' effects by more than the assay noise explains "
            f"({chance}): their own deviations (tau) have an SD of {found.tau:.2g}, at least {found.tau_low:.2g} (95 %)"
        )
        if told.model_error is not None:
            how = (
                f"some compound{of} deviates from the sum of its substituents' effects by more than the stated "
                f"{told.model_error:g}: by at least {found.error_low:.2g} (95 %)"
            )
        return f"{how}{_most(ledger, told)}"
    tail = ""
    if told.replicates is not None:
        tail = (
            f" Replicates scatter more than the stated noise (SD {told.replicates[0]:.2g} instead of "
            f"{told.noise_sd:.2g})."
        )
    if found.p < SURE:
        return (
            f"Own deviations of compounds{of} (tau) are there ({chance}), with an SD of {found.tau:.2g}, at most "
            f"{found.tau_high:.2g} (95 %); none of {those} lies more than {found.seen:.2g} from the fit of "
            f"them all{_most(ledger, told)}.{tail}"
        )
    matters = _mattering(ledger, endpoint, told)
    if matters and found.p < DOUBT:
        return (
            f"Whether effects add up{of} is in doubt ({chance}): own deviations (tau) of {those} look like an SD of "
            f"{found.tau:.2g}, at most {found.tau_high:.2g} (95 %){matters}{_most(ledger, told)}.{tail}"
        )
    if found.tau_high > tolerance(ledger, endpoint):
        # Deviations as large as what is asked for would not be noticed: that is no word for additivity.
        return (
            f"Whether effects add up{of} cannot be judged well yet: {those} leave room for own deviations (tau) with "
            f"an SD up to {found.tau_high:.2g}{_most(ledger, told)}.{tail}"
        )
    least = (
        f"own deviations (tau) have an SD of {found.tau_high:.2g} at most (95 %)"
        if found.tau_high > 0.0
        else "they scatter no more than the noise alone would make them"
    )
    return (
        f"Additivity: none of {those} lies more than {found.seen:.2g} from the fit of them all{of}, noise included; "
        f"{least}{matters}{_most(ledger, told)}.{tail}"
    )


def _of_bounds(ledger: Ledger, told: Deviations, of: str) -> str:
    """Which values known only as bounds contradict additivity."""
    each = [
        f"{ledger.library.ids[one.row]} ({'<' if one.sign > 0 else '>'}{one.limit:.2f}, predicted {one.predicted:.2f})"
        for one in told.beyond
    ]
    more = f" and {len(each) - _NAMED:,} more" if len(each) > _NAMED else ""
    return (
        f"values{of} known only as bounds lie farther from what the other compounds predict than the assay noise "
        f"explains: {', '.join(each[:_NAMED])}{more}"
    )


def _mattering(ledger: Ledger, endpoint: int, told: Deviations) -> str:
    """From what tau on an answer is wrong more often than stated, where these values do not exclude it; else empty.

    With a stated model error the strategy allows for deviations itself.
    """
    most = SHARE * tolerance(ledger, endpoint)
    if told.model_error is not None or not told.found.tau_high > most:
        return ""
    return f"; from an SD of about {most:.2g} on they would make answers wrong more often than stated"


def _most(ledger: Ledger, told: Deviations) -> str:
    """Return the compounds that deviate most, behind a comma; empty when none is sure to."""
    sure = told.sure_cliffs
    if not sure:
        return ""
    each = [
        f"{ledger.library.ids[told.compounds[one.place]]} ({abs(one.off):.2g} {'below' if one.off < 0 else 'above'})"
        for one in sure
    ]
    more = f" and {len(each) - _NAMED:,} more" if len(each) > _NAMED else ""
    return f"; farthest from what the others predict: {', '.join(each[:_NAMED])}{more}"


def _offers(ledger: Ledger, told: Deviations) -> tuple[str, ...]:
    """Return what can be done when effects do not add up, the most promising first."""
    found = [
        f"Take {pair_name(pair.sites)} together, in a new campaign with these values as its history: that explains "
        f"{percent(pair.explained)} of what the model leaves, with {pair.rank_after} unknowns instead of "
        f"{pair.rank_before}."
        for pair in [one for one in told.pairs if one.worth][:2]
    ]
    if told.pairs and not found:
        found.append("No single pair of sites explains it: this table is not additive in general.")
    if ledger.settings.goal == "epsilon-best" and not ledger.limited and not told.beyond:
        found.append(
            f"Use LinFACT-MIS with a model error of {told.largest:.2g}, the largest deviation that these values "
            f"support ({percent(1 - BOUND, 6)}, if deviations scatter normally): it decides what can be decided at "
            "that error, and says what cannot."
        )
    found.append(f"{'Or go' if found else 'Go'} on with best estimates, and confirm what is in by measuring it.")
    return tuple(found)


def _imputed(
    features: Features, cells: tuple[Ints, Floats, Floats], low: Floats, high: Floats, sigma: float
) -> Estimate:
    """Return the estimate from cells (arm, count, mean) with censored ones at what they are expected to be: to plan by.

    By expectation and maximisation for normal values, each cell's mean being one (Dempster, Laird and Rubin, JRSS B 39,
    1977); it decides nothing.
    """
    arms, counts, means = cells
    censored = np.flatnonzero((low < means) | (high > means))
    values = means.copy()
    found = least_squares(features, arms, counts, values)
    sd = sigma / np.sqrt(counts[censored])
    for _ in range(_IMPUTED if len(censored) else 0):
        at = found.means(arms[censored])
        values[censored] = at + sd * _truncated_mean((low[censored] - at) / sd, (high[censored] - at) / sd)
        found = found.of_values(values)
    return found


def _truncated_mean(a: Floats, b: Floats) -> Floats:
    """Return the mean of a standard normal variable known to lie between two ends, either of which may be infinite."""
    # Mirrored where both ends are above 0, so that differences of probabilities keep their digits.
    mirrored = a > 0
    left, right = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    upper, lower = log_ndtr(right), log_ndtr(left)
    mass = upper + np.log1p(-np.exp(np.minimum(lower - upper, -1e-12)))
    density = np.exp(-0.5 * left * left - mass) - np.exp(-0.5 * right * right - mass)
    mean = np.clip(density / np.sqrt(2.0 * np.pi), left, right)
    return np.asarray(np.where(mirrored, -mean, mean), dtype=np.float64)
