"""How a table was understood: the report of ``assaypilot check``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..chemistry.names import short_names
from ..domain.derived import parts, pooled_of, with_noise
from ..domain.endpoint import Endpoint
from ..domain.features import SiteFeatures, span_rank
from ..domain.library import label_text
from ..domain.measurements import Pooled, Result, determinations, pool, pure_error
from ..domain.noise import usual
from ..models.additivity import Interaction, interactions
from ..models.diagnostics import AdditiveFit
from ..models.report import ModelReport, Noise, model_report
from ..text import percent, pick
from .importer import ImportedTable
from .options import EndpointColumn, TableMapping
from .raw import RawTable

_FEWEST = 8
"""Fewest degrees of freedom with which SDs are informative."""
_MUCH = 1.5
"""Ratio of the SD between rows to that within means above which the SD is reported."""
_FEWEST_BETWEEN = 4


def about_own_sds(endpoints: Sequence[Endpoint], history: Sequence[Result]) -> list[str]:
    """Return a hint for each endpoint without a stated noise whose means of N come with informative SDs.

    Replicates of one run share its day, plate and dilution. Their SD is smaller than that between runs. The residuals
    of an additive model look too large against it, and a mean of N counts as N measurements.
    """
    named = {result.endpoint for result in history if result.sd is not None}
    unstated = [e for e in endpoints if e.noise_sd is None and not e.noise_estimated and e.kind == "value"]
    return list(
        filter(None, [_about(e, [r for r in history if r.endpoint == e.name]) for e in unstated if e.name in named])
    )


def _about(endpoint: Endpoint, results: Sequence[Result]) -> str | None:
    exact = [result for result in results if result.relation == "=" and not result.excluded]
    values = [endpoint.to_model(r.value, r.unit) for r in exact]
    sds = [endpoint.sd_to_model(r.value, r.sd) for r in exact]
    times = [r.n for r in exact]
    squares, freedom, _ = pure_error(range(len(exact)), values, times, sds)
    if freedom < _FEWEST or squares <= 0.0:
        return None
    within = math.sqrt(squares / freedom)
    places = {name: place for place, name in enumerate(dict.fromkeys(r.compound for r in exact))}
    arms = [places[r.compound] for r in exact]
    squares, rows, _ = pure_error(arms, values, [1] * len(exact), [None] * len(exact))
    between = math.sqrt(squares / rows) if rows >= _FEWEST_BETWEEN else 0.0
    text = f"{endpoint.name}: the SDs of its means of N imply a noise of {within:.2g}. "
    if between > _MUCH * within:
        text += f"Rows of one compound differ by more, SD {between:.2g}. "
    return (
        f"{text}If they are of replicates within a run (one day, one plate), the noise from run to run is larger: "
        "additivity is judged too strictly, and a mean of N counts as N measurements. State the SD between runs."
    )


_LONGEST_LIST = 1000
_TEN = 10.0
_PAIRS = 2
"""Pairs of sites that are proposed at once."""
_EXPLAINED = 0.05
"""p of a lack of fit above which the noise explains what the sum of effects leaves."""

POOR_Q2 = 0.5
"""Below this a leave-one-out Q2 is commonly called not predictive."""


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    """Statistics of one endpoint from the history of a table."""

    endpoint: Endpoint
    measured: int
    """Exact values that are not excluded; of a difference the compounds with values of both parts."""
    censored: int
    """Values with < or >."""
    excluded: int
    noise_sd: float | None
    """The given noise, else that of the replicates, else None; model scale."""
    replicate_sd: float | None
    """The noise of the replicates, also where one is given."""
    replicate_groups: int
    """Compounds measured more than once."""
    report: ModelReport
    interactions: tuple[Interaction, ...]
    """Pairs of sites, tested whether they act together; the most telling first."""
    other_fit: AdditiveFit | None = None
    """The additive fit on the other scale, as it is or its logarithm, where the values allow both."""
    usual_sd: float | None = None
    """A usual noise for an endpoint of its kind, model scale, where nothing else gives one."""

    @property
    def fit(self) -> AdditiveFit:
        """The figures of the additive fit."""
        return self.report.fit


def endpoint_facts(imported: ImportedTable) -> tuple[EndpointFacts, ...]:
    """Return the facts of each endpoint, in order; every compound counts once in its fit, with its mean."""
    places = {name: place for place, name in enumerate(imported.library.ids)}
    by_endpoint: dict[str | None, list[Result]] = {endpoint.name: [] for endpoint in imported.endpoints}
    for result in imported.history:
        by_endpoint[result.endpoint].append(result)
    facts: list[EndpointFacts] = []
    data: list[Pooled] = []
    noises: list[Noise | None] = []
    for position, endpoint in enumerate(imported.endpoints):
        own = by_endpoint[endpoint.name]
        exact = [result for result in own if result.relation == "=" and not result.excluded]
        at = [places[result.compound] for result in exact]
        values = [endpoint.to_model(result.value, result.unit) for result in exact]
        sds = [_sd(endpoint, result) for result in exact]
        squares, freedom, groups = pure_error(at, values, [result.n for result in exact], sds)
        spread = math.sqrt(squares / freedom) if freedom else None
        stated = None if endpoint.noise_estimated else endpoint.noise_sd
        counts = determinations([result.n for result in exact], sds, stated)
        # Replicates that never differ (rounded values) do not estimate the noise, nor do those of one run.
        of_one_run = sum(counts) < sum(result.n for result in exact)
        noise = Noise(spread, freedom) if spread and not of_one_run else None
        if noise is None and endpoint.noise_sd is not None:
            noise = Noise(endpoint.noise_sd)
        noise_sd = endpoint.noise_sd if endpoint.noise_sd is not None else (spread or None)
        if endpoint.kind != "value":
            noise = None  # it differs with the mean
        if endpoint.kind == "count":
            # Effects of counts are factors; the least is what half a count would be.
            values = [math.log10(max(value, 0.5)) for value in values]
        pooled = pool(at, values, counts, len(imported.library))
        if endpoint.of is not None:
            known = [replace(fact.endpoint, noise_sd=fact.noise_sd) for fact in facts]
            noise = _noise_of_difference([noises[part] for part in parts([*known, endpoint], position)])
            noise_sd = with_noise([*known, endpoint])[-1].noise_sd
            pooled = pooled_of([*known, endpoint], position, data.__getitem__)
        other_fit = None
        raw = [result.value for result in exact]
        if raw and endpoint.kind == "value" and endpoint.of is None and _may_be_either(endpoint, raw):
            other = replace(endpoint, transform="none" if endpoint.transform == "log" else "log", limit=None)
            levels = [other.to_model(result.value, result.unit) for result in exact]
            there = pool(at, levels, counts, len(imported.library))
            places_there = np.flatnonzero(there.counts)
            other_fit = model_report(
                imported.library, places_there, there.means[places_there], there.counts[places_there], None, other.name
            ).fit
        data.append(pooled)
        noises.append(noise)
        rows = np.flatnonzero(pooled.counts)
        facts.append(
            EndpointFacts(
                endpoint=endpoint,
                usual_sd=None if noise_sd is not None or (found := usual(endpoint, values)) is None else found.noise_sd,
                measured=len(exact) if endpoint.of is None else len(rows),
                censored=sum(result.relation != "=" for result in own),
                excluded=sum(result.excluded for result in own),
                noise_sd=noise_sd,
                replicate_sd=spread,
                replicate_groups=groups,
                interactions=interactions(
                    imported.library,
                    rows,
                    pooled.means[rows],
                    pooled.counts[rows],
                    None if noise is None else noise.sd,
                ),
                report=model_report(
                    imported.library, rows, pooled.means[rows], pooled.counts[rows], noise, endpoint.scale_name
                ),
                other_fit=other_fit,
            )
        )
    return tuple(facts)


def _may_be_either(endpoint: Endpoint, values: Sequence[float]) -> bool:
    """Whether values are compared as they are or by factors with equal right: positive, no logarithms, ten-fold."""
    return not (endpoint.transform == "none" and endpoint.is_log) and 0 < _TEN * min(values) <= max(values)


def _noise_of_difference(both: Sequence[Noise | None]) -> Noise | None:
    """Return the noise of a difference, as sure as the less sure of its parts; None where one is not known."""
    first, second = both
    if first is None or second is None:
        return None
    freedoms = [one.freedom for one in (first, second) if one.freedom is not None]
    return Noise(math.hypot(first.sd, second.sd), min(freedoms, default=None))


def _sd(endpoint: Endpoint, result: Result) -> float | None:
    return endpoint.sd_to_model(result.value, result.sd)


def check_report(
    raw: RawTable, mapping: TableMapping, imported: ImportedTable, facts: Sequence[EndpointFacts] | None = None
) -> dict[str, Any]:
    """Return the JSON of ``check``: what was read, what was not used and why, and how additive the values are.

    ``facts`` are those of ``endpoint_facts`` when they are known already.
    """
    library = imported.library
    features = SiteFeatures.of(library)
    facts = endpoint_facts(imported) if facts is None else facts
    sites = []
    for position, site in enumerate(library.sites):
        counts = np.bincount(imported.listed.codes[:, position], minlength=len(site.substituents))
        listed = [
            {"label": label_text(label), "count": int(count)}
            for label, count in zip(site.substituents, counts, strict=True)
        ]
        labels = [label_text(label) for label in site.substituents]
        short = short_names(site.substituents) if any("*" in label for label in labels) else labels
        names = [{"label": label, "name": name} for label, name in zip(labels, short, strict=True)]
        sites.append({"name": site.name, "substituents": listed, "names": names})
    not_used = [problem.as_json() for problem in imported.not_used]
    return {
        **pick(raw, "file digest kind sheet encoding delimiter decimal read_as=described"),
        **pick(imported, "rows_read rows_used compounds"),
        "not_used": not_used[:_LONGEST_LIST],
        "not_used_count": len(not_used),
        "truncated": len(not_used) > _LONGEST_LIST,
        "unmatched": {
            "table": list(raw.unmatched[0][:_LONGEST_LIST]),
            "joined": list(raw.unmatched[1][:_LONGEST_LIST]),
        },
        "id_column": mapping.id,
        "smiles_column": mapping.smiles,
        "sites": sites,
        "endpoints": [_endpoint_json(*both) for both in zip(facts, mapping.endpoints, strict=True)],
        "library_size": library.n_combinations if library.partial else len(library),
        "aliases": [{"id": name, "also": other} for other, name in library.aliases],
        "combinations": library.n_combinations,
        "rank": span_rank(features),
        "max_rank": features.full_rank,
        "cores": [] if library.scaffold is None else list(library.scaffold.cores),
        "model_report": {fact.endpoint.name: fact.report.as_json() for fact in facts},
        "interactions": {fact.endpoint.name: [one.as_json() for one in fact.interactions] for fact in facts},
        "additive_fit": {fact.endpoint.name: _fit_json(fact.fit) for fact in facts},
        "warnings": [
            *imported.warnings,
            *about_own_sds(imported.endpoints, imported.history),
            *_fit_warnings(facts),
            *_sparse(facts),
            *_pairs(facts),
        ],
        "notes": list(imported.notes),
    }


def pairs_worth(fact: EndpointFacts) -> list[Interaction]:
    """Return the pairs of sites worth taking together, the most promising first.

    None where noise explains what is left.
    """
    return [pair for pair in fact.interactions if pair.worth and not (pair.lack_before or 0.0) > _EXPLAINED]


def _pairs(facts: Sequence[EndpointFacts]) -> list[str]:
    """Return pairs of sites worth an interaction, for each endpoint whose sum of effects leaves more than noise."""
    texts = []
    for fact in facts:
        for pair in pairs_worth(fact)[:_PAIRS]:
            q2 = [f"{value:.2f}" if value is not None else "none" for value in (pair.q2_before, pair.q2_after)]
            texts.append(
                f"{fact.endpoint.scale_name}: {pair.sites[0]} and {pair.sites[1]} act together (p "
                f"{max(pair.p, 1e-4):.1g}{' or less' if pair.p < 1e-4 else ''}); taken as one "
                f"interaction they explain {percent(pair.explained)} of what the sum of effects leaves. Q2 "
                f"{q2[0]} before, {q2[1]} after; {pair.rank_after:,} unknowns instead of {pair.rank_before:,}."
            )
    return texts


def _endpoint_json(fact: EndpointFacts, column: EndpointColumn) -> dict[str, Any]:
    endpoint = fact.endpoint
    return {
        **pick(endpoint, "name unit direction transform scale=scale_name"),
        **pick(fact, "measured censored excluded noise_sd replicate_groups"),
        "direction_why": column.direction_why,
        "scale_proposed": _scale_json(fact, column),
        "of": None if endpoint.of is None else list(endpoint.of),
    }


def _scale_json(fact: EndpointFacts, column: EndpointColumn) -> dict[str, str | None] | None:
    """Return the scale that is proposed, with the fit on it and on the other one; None where there is only one."""
    if not column.scale_why:
        return None
    here, there = fact.fit.q2, None if fact.other_fit is None else fact.other_fit.q2
    fits = ""
    if here is not None and there is not None:
        other = "as they are" if fact.endpoint.transform == "log" else "as logarithms"
        fits = f"; the additive fit has a Q2 of {here:.2f}, and {there:.2f} with the values {other}"
    return {"transform": fact.endpoint.transform, "why": column.scale_why + fits}


def _fit_json(fit: AdditiveFit) -> dict[str, float | int | None]:
    data = fit.as_json()
    return {key: data[key] for key in ("r2", "q2", "residual_sd", "leverage_one", "rows", "rank")}


def _sparse(facts: Sequence[EndpointFacts]) -> list[str]:
    """Return a note when most substituents were measured in a single compound; else nothing."""
    rare = [fact.endpoint.name for fact in facts if 2 * fact.fit.leverage_one > fact.fit.rows > 0]
    if not rare:
        return []
    return [
        f"Most compounds of {', '.join(rare)} carry a substituent that no other measured one has. The series model "
        "estimates such substituents from similar ones; nothing has to be left out."
    ]


def _fit_warnings(facts: Sequence[EndpointFacts]) -> list[str]:
    """Return warnings where the numbers put additivity in doubt or cannot test it."""
    warnings = []
    for fact in facts:
        fit, name = fact.fit, fact.endpoint.name
        if fit.rows and fit.leverage_one * 2 > fit.rows:
            warnings.append(
                f"{name}: {fit.leverage_one} of {fit.rows} compounds are fitted exactly, because a substituent of "
                "theirs occurs in no other measured compound; R² says little here."
            )
        # Single answers and counts scatter so much that none of them can be predicted well.
        if fit.q2 is not None and fit.q2 < POOR_Q2 and fact.endpoint.kind == "value":
            warnings.append(
                f"{name}: the additive model predicts left-out compounds poorly (Q2 {fit.q2:.2f}); "
                "a proof would assume that it is right."
            )
    return warnings
