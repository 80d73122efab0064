"""The first events of a campaign: its library, endpoints, goal and history, checked before anything is written."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..domain.controls import refuse_compounds, resolved
from ..domain.derived import behind, check_differences, check_profiles, check_structures, with_noise
from ..domain.endpoint import Endpoint, Kind
from ..domain.library import Library
from ..domain.measurements import FEW_REPEATED, Measurement, Result, replicate_noise
from ..domain.noise import usual
from ..domain.stock import NOTHING_STATED, StockLine, StockTerms
from ..errors import AssayPilotError
from ..strategies.registry import check_parameters, choose, states_errors, with_link
from ..system import program_version
from . import codec
from .events import terms as setup
from .events.fold import Work
from .file.chain import as_parts
from .issued_rounds import Source
from .preconditions import check_campaign
from .replay import Ledger
from .results.intake import measurement, prepare
from .settings import Settings
from .stocked import stock_drafts


def creation(
    name: str,
    library: Library,
    endpoints: Sequence[Endpoint],
    settings: Settings,
    history: Sequence[Result],
    source: Source | None,
    mapping: Mapping[str, Any] | None,
    warnings: Sequence[str],
    stock: tuple[Sequence[StockLine], StockTerms] = ((), NOTHING_STATED),
) -> Work:
    """Return the events that make a campaign, with the parts they name and the state they lead to.

    Raises AssayPilotError when the table cannot be modelled, the assay noise is neither given nor in the replicates,
    or a setting, an endpoint or a value does not fit.
    """
    settings = _with_objectives(endpoints, settings)
    check_differences(endpoints)
    check_profiles(endpoints)
    check_structures(endpoints, library)
    needed = [k for k, e in enumerate(endpoints) if e.name in settings.objectives or e.limit is not None or e.curves]
    measured = [endpoints[k].name for k in behind(endpoints, needed)]
    series = states_errors(settings.strategy) and _kind(endpoints, settings) == "value"
    taken = prepare(partial(measurement, library, endpoints), endpoints, history, first_number=1)
    endpoints, notes = _with_noise(endpoints, taken.measurements, measured, settings, learned=series)
    endpoints = with_noise(endpoints)
    notes += _cautions(endpoints, settings, len(measured))
    settings = replace(settings, controls=resolved(settings.controls, endpoints, behind(endpoints, needed)))
    refuse_compounds(settings.controls, library)
    strategy, why = choose(
        settings.strategy,
        settings.goal,
        values=len(library) * len(measured),
        parameters=settings.parameters,
        kind=_kind(endpoints, settings),
    )
    settings = replace(settings, parameters=with_link(strategy.info, _kind(endpoints, settings), settings.parameters))
    if any(endpoint.noise_estimated for endpoint in endpoints):
        why = why.replace("normal with the stated SD", "normal")
    check_parameters(strategy, settings.parameters)
    if len(library) < 2:
        raise AssayPilotError(
            f"a campaign needs at least two compounds, got {len(library)}", mend="Add compounds to the table."
        )
    if taken.rejected:
        row, reason = taken.rejected[0]
        raise AssayPilotError(reason, row=row)
    created = {
        "name": name,
        "program": program_version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "warnings": [],
    }
    blob = library.encode()
    parts = as_parts(blob)
    (digest,) = parts
    drafts = [
        setup.CampaignCreated.draft(created),
        setup.LibraryAdded.draft(
            {
                "part": digest,
                "compounds": len(library),
                "sites": [[site.name, len(site.substituents)] for site in library.sites],
                "source": codec.source_to_json(source),
                "mapping": dict(mapping) if mapping else None,
            },
        ),
        setup.EndpointsDefined.draft({"endpoints": [e.as_json() for e in endpoints]}),
        setup.GoalSet.draft(
            {
                "settings": codec.settings_to_json(settings),
                "strategy": strategy.info.name,
                "strategy_version": strategy.info.version,
                "why": why,
            },
        ),
    ]
    if taken.measurements:
        measurements = [codec.value_to_json(m) for m in taken.measurements]
        drafts.append(setup.HistoryAdded.draft({"measurements": measurements, "source": codec.source_to_json(source)}))
    # The fold runs before anything is written, so what it refuses leaves no file behind.
    work = Work(Ledger(dict[str, bytes]().__getitem__))
    work.add(*drafts, parts=parts)
    if stock[0] or stock[1].stated:
        work.add(*stock_drafts(work.ledger, *stock, source=source))
    check_campaign(work.ledger)
    of_strategy = [f"{text[:1].upper()}{text[1:]}." for text in strategy.cautions(work.ledger.state.problem)]
    work.ledger.warnings = (*warnings, *notes, *of_strategy)
    work.drafts[0] = setup.CampaignCreated.draft(created | {"warnings": list(work.ledger.warnings)})
    return work


def _kind(endpoints: Sequence[Endpoint], settings: Settings) -> Kind:
    """Return the kind of the one endpoint that the goal is about; plain values where it is about several."""
    if settings.goal == "pareto":
        return "value"
    return next(endpoint.kind for endpoint in endpoints if endpoint.name == settings.objectives[0])


def _with_objectives(endpoints: Sequence[Endpoint], settings: Settings) -> Settings:
    """Return the settings with the endpoints the goal is about: those named, else all there are.

    AssayPilotError for a name of no endpoint or of two, for a goal about one endpoint that does not name which of
    several, and for trade-offs between fewer than two.
    """
    names = [endpoint.name for endpoint in endpoints]
    for place, name in enumerate(names):
        for other in names[:place]:
            # Results name their endpoint, in large or small letters.
            if name.casefold() == other.casefold():
                twice = f"endpoint {name} is named twice" + ("" if name == other else f" (as {other}, too)")
                raise AssayPilotError(twice, option="--endpoint", mend="Name it once.")
    found = objectives_of(settings.objectives or None, endpoints, settings.goal)
    if settings.goal != "pareto":
        return replace(settings, objective=found[0])
    if len(names) < 2:
        raise AssayPilotError(
            f"trade-offs need at least two endpoints, got {len(names)} ({names[0]})",
            option="--goal",
            mend="Name another endpoint, or ask for epsilon-best.",
        )
    return replace(settings, objectives=found or tuple(names))


def objectives_of(requested: Sequence[str] | None, endpoints: Sequence[Endpoint], goal: str) -> tuple[str, ...]:
    """Return the endpoints the goal is about: those named, else the only one.

    For trade-offs () means all of them.
    """
    from ..tables.endpoint_kinds import named

    names = [endpoint.name for endpoint in endpoints]
    if not names:
        raise AssayPilotError(
            "the table has no column of measured values, and no endpoint was named",
            option="--endpoint",
            mend='Say what will be measured, for example "pIC50;sd=0.2".',
        )
    if requested is None:
        if len(names) == 1:
            return (names[0],)
        if goal == "pareto":
            return ()
        raise AssayPilotError(
            f"there are {len(names)} endpoints: {', '.join(names)}",
            option="--objective",
            mend="Say which one the goal is about.",
        )
    found = named(requested, endpoints)
    if len(found) > 1 and goal != "pareto":
        raise AssayPilotError(
            f"the goal {goal} is about one endpoint, and {len(found)} were named: {', '.join(found)}",
            option="--objective",
            mend="Name one, or ask for trade-offs.",
        )
    return tuple(found)


def _cautions(endpoints: Sequence[Endpoint], settings: Settings, n_measured: int) -> list[str]:
    """Return cautions about valid settings that may be unintended; refuse invalid ones."""
    if settings.per_round < n_measured:
        raise AssayPilotError(
            f"a round of {settings.per_round} cannot hold one measurement of each of {n_measured} endpoints",
            option="--per-round",
            mend=f"Allow at least {n_measured}.",
        )
    notes = []
    exact = settings.goal == "pareto" and not settings.distance
    if exact and not any(e.epsilon for e in endpoints if e.name in settings.objectives):
        notes.append(
            "No tolerance (epsilon) was given: compounds that are almost equal may keep the set from "
            "ever being decided."
        )
    if settings.goal in ("best", "top") and not settings.softness:
        notes.append(
            "Without epsilon or slack two compounds that are almost equally good may keep the best from ever being "
            "decided."
        )
    return notes


_OF_EPSILON = 0.5
"""First guess of a noise that nothing is known of, in units of the difference that does not matter."""
_HARDLY_KNOWN = (
    " So few replicates give a rough estimate: the SD may be several times larger. Give your assay's own SD if you can."
)


def _with_noise(
    endpoints: Sequence[Endpoint],
    history: Sequence[Measurement],
    measured: Sequence[str],
    settings: Settings,
    *,
    learned: bool,
) -> tuple[list[Endpoint], list[str]]:
    """Return the endpoints with their noise, where it is known, and notes on noise that was not given.

    ``learned``: whether the model estimates an unknown noise with the rest, so that none has to be given.

    AssayPilotError when that of one that is ``measured`` is neither given nor in the replicates.
    """
    out, notes = [], []
    for position, endpoint in enumerate(endpoints):
        needed = endpoint.name in measured
        if endpoint.noise_sd is None and endpoint.of is None:
            own = [m for m in history if m.endpoint == position and m.usable]
            noise, compounds = replicate_noise(
                [m.compound for m in own],
                [m.value for m in own],
                [m.n for m in own],
                [endpoint.sd_to_model(m.entered.value, m.entered.sd) for m in own],
            )
            # Replicates that agree to the last digit do not inform the noise: rounded, or the same number twice.
            spread = max((abs(m.value) for m in own), default=0.0)
            if noise is not None and noise > max(1e-6 * spread, 1e-9):
                endpoint = replace(endpoint, noise_sd=noise)
                if needed and not endpoint.noise_estimated:
                    notes.append(
                        f"The assay noise (SD) of {endpoint.name}, {noise:.3g}, is estimated from the replicates of "
                        f"{compounds} compound{'' if compounds == 1 else 's'}."
                        + (_HARDLY_KNOWN if compounds < FEW_REPEATED else "")
                    )
            elif needed:
                guess = usual(endpoint, [m.value for m in own])
                if not learned and (guess is None or not endpoint.noise_estimated):
                    raise _unknown_noise(endpoint, measured, agree=compounds > 0)
                matters = endpoint.epsilon or (settings.distance if endpoint.name in settings.objectives else 0.0)
                sd = _OF_EPSILON * matters or 1.0 if guess is None else guess.noise_sd
                endpoint = replace(endpoint, noise_sd=sd, noise_estimated=True)
        if endpoint.noise_estimated and needed:
            notes.append(
                f"The assay noise (SD) of {endpoint.name} is not known: {endpoint.noise_sd:.3g} is taken at first. It "
                + (
                    "is estimated from replicates and from how well the values fit together; state it if you know it."
                    if learned
                    else "is estimated from replicates of the campaign, and decisions use an upper bound on it: that "
                    "takes more measurements, about 2.8 times as many with 32 degrees of freedom, 2 times with "
                    "64, 1.6 with 128. A known SD saves them."
                )
            )
        out.append(endpoint)
    return with_noise(out), notes


def _unknown_noise(endpoint: Endpoint, measured: Sequence[str], *, agree: bool) -> AssayPilotError:
    none = "replicates agree exactly" if agree else "no compound was measured twice"
    word = "unknown" if endpoint.is_log else "unknown:0.5, with a guess for the first plan"
    return AssayPilotError(
        f"the assay noise (SD) of {endpoint.name} is not known: none was given, and {none}",
        option="--sd" if len(measured) == 1 else "--endpoint",
        mend="Give the SD between independent measurements of one compound, for example 0.2; or say that "
        f"it is {word}, and it is estimated on the way.",
    )
