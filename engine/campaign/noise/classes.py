"""Noise that differs by class of compounds, in a campaign: which SD each has, and who counts by it.

``adaptive`` weighs each measurement by the precision of its class (``strategies.adaptive.classes``). All other
strategies, and limits, take the largest SD of all classes for every compound: their half-widths are then at least what
they would be with the SDs of the classes, so what is promised holds, with more measurements than it takes. Estimates
and probabilities, which only inform, are weighed by class under all of them.

**Beside plates** (batches, days) with stated SDs a control is worth as much as a compound of no class: the SD that was
stated for all others is its own.

Where nobody knows the SDs what was said of them are guesses, and ``by_class`` has what is decided by: with ``adaptive``
alone, whose plans see to it that each class becomes known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from assaypilot.engine.campaign.asking import Terms
from assaypilot.engine.campaign.noise.precision import of_compounds
from assaypilot.engine.campaign.words import joined, names
from assaypilot.engine.difference import with_noise
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.library import Library
from assaypilot.engine.models.sd_classes import MOST_CLASSES
from assaypilot.engine.noise_classes import NoiseClasses
from assaypilot.engine.strategies.protocol import StrategyInfo

__all__ = [
    "at_most",
    "check",
    "columns",
    "given",
    "of_more",
    "otherwise",
    "resolved",
    "unknown_by_class",
    "with_largest",
    "with_more",
]


def resolved(
    library: Library, endpoints: Sequence[Endpoint], measured: Sequence[str]
) -> tuple[list[Endpoint], list[str]]:
    """The endpoints with the largest SD of their classes, and what to say of it; AssayPilotError for unknown classes.

    Of an endpoint that nobody measures classes are dropped.
    """
    out = [
        with_largest(library, one if one.name in measured else replace(one, noise_classes=None)) for one in endpoints
    ]
    notes = [
        _UNKNOWN.format(one.scale_name, _listed(one.noise_classes))
        if one.noise_estimated
        else f"The assay noise (SD) of {one.scale_name} differs: {one.noise_text}."
        for one in out
        if one.noise_classes is not None
    ]
    return with_noise(out), notes


_UNKNOWN = (
    "The assay noise (SD) of {} differs by class, and nobody knows it: {} are estimated apart. Replicates are planned "
    "in each class until it is known."
)


def _listed(own: NoiseClasses) -> str:
    """``compounds with Ph at R1, with tBu at R1 and of all others``."""
    return f"compounds {joined([own.who(one) for one in (*own.classes[1:], None)])}"


def with_largest(library: Library, endpoint: Endpoint) -> Endpoint:
    """The endpoint with the largest SD of its classes as its own; as it is without classes, or where no SD was said."""
    own = endpoint.noise_classes
    if own is None or endpoint.noise_sd is None:
        return replace(endpoint, noise_classes=None)
    if endpoint.noise_estimated:
        own = own.spread_out(library)
    else:
        own.check_stated(endpoint.name)
    own.check(library)
    if own.other is None:
        own = own.with_other(endpoint.noise_sd)
    own.check_comparable(endpoint.name)
    if endpoint.noise_estimated:
        own = own.with_guesses(own.guesses)
        _check_unknown(library, own)
    return replace(endpoint, noise_sd=own.largest, noise_classes=own)


def given(ledger: Terms, endpoint: Endpoint, before: Endpoint) -> Endpoint:
    """The endpoint as it is after a change gave it classes, or took them; AssayPilotError where they cannot be."""
    own, known = endpoint.noise_classes, before.noise_classes
    if own is None:
        return endpoint
    if endpoint.noise_estimated and ledger.seen():
        raise AssayPilotError(
            f"the assay noise (SD) of {endpoint.name} by class is not known, and results were seen",
            option="--noise-class",
            mend="Give the SDs; or begin a new campaign with the measurements so far as its history.",
        )
    if known is not None and known.compounds and known.site == own.site and not own.compounds:
        named = [name for name, _ in own.sds]
        missing = next((name for name in named if name not in dict(known.sds)), None)
        if missing is not None:
            raise AssayPilotError(
                f"the campaign does not know which compounds are {missing} in {own.site}",
                option="--noise-class",
                mend=f"Name some of: {', '.join(name for name, _ in known.sds)}.",
            )
        own = replace(own, compounds=tuple(pair for pair in known.compounds if pair[1] in named))
    return with_largest(ledger.library, replace(endpoint, noise_classes=own))


def _check_unknown(library: Library, own: NoiseClasses) -> None:
    """Nothing; AssayPilotError where classes that nobody knows the SDs of are one, or too many."""
    there = np.unique(own.codes(library))
    if len(there) < 2:
        raise AssayPilotError(
            f"all compounds are of one class, {own.who(own.classes[int(there[0])])}" if len(there) else "no compounds",
            option="--noise-class",
            mend="Leave it out: --sd unknown takes one noise for all.",
        )
    if len(own.sds) > MOST_CLASSES:
        raise AssayPilotError(
            f"{own.site} has {len(own.sds):,} classes, and each needs replicates of its own to become known",
            option="--noise-class",
            mend=f'Name those that scatter differently, {MOST_CLASSES} at most: "{own.site}: '
            f'{own.sds[0][0]}, {own.sds[1][0]}"; or use a column with a few words.',
        )


def otherwise(strategy: StrategyInfo, endpoints: Sequence[Endpoint]) -> list[str]:
    """That a strategy does not weigh by class, in a sentence; empty where it does, and without classes."""
    if strategy.by_class or all(one.noise_classes is None for one in endpoints):
        return []
    return [f"{strategy.name} uses the largest SD for all compounds; adaptive weighs each by its own."]


def check(ledger: Terms) -> None:
    """Nothing; AssayPilotError where noise that differs cannot be decided by."""
    named = [e for k, e in enumerate(ledger.endpoints) if e.noise_classes is not None and k in ledger.measured]
    if not named:
        return
    name = named[0].name
    if any(e.noise_estimated for e in named) and not ledger.strategy.info.by_class:
        raise unknown_by_class(ledger.strategy.info.name)
    if ledger.settings.blocks != "none" and any(e.noise_estimated for e in named):
        raise AssayPilotError(
            f"nobody knows the SDs of {name} by class, and {ledger.settings.blocks} effects are taken out beside SDs "
            "that are stated, or one that nobody knows",
            option="--noise-class",
            mend="Give the SDs, or leave the classes out; or leave --blocks out.",
        )
    parts = {part for e in ledger.endpoints if e.of is not None for part in e.of}
    if any(e.name in parts and e.noise_estimated for e in named):
        raise AssayPilotError(
            f"{name} is part of a difference, and nobody knows its SDs by class",
            option="--noise-class",
            mend="Give the SDs, or leave the classes out.",
        )
    for k in ledger.measured:
        classes = ledger.endpoints[k].noise_classes
        # The same SD in two classes is one, where it is stated.
        apart = classes is not None and ledger.endpoints[k].noise_estimated
        worth = classes.codes(ledger.library) if classes is not None and apart else of_compounds(ledger, k)
        twin = np.flatnonzero(worth != worth[ledger.first][ledger.arm_of])
        if len(twin):
            one, other = ledger.library.ids[int(ledger.first[ledger.arm_of[twin[0]]])], ledger.library.ids[int(twin[0])]
            raise AssayPilotError(
                f"{one} and {other} have the same substituents, and the noise of {ledger.endpoints[k].name} is said to "
                "differ between them",
                option="--noise-class",
                mend="Give them one class: the model takes them for one compound.",
            )
    if ledger.coarse:
        raise AssayPilotError(
            f"{name} has few values (yes and no, or counts), whose scatter follows from their means",
            option="--noise-class",
            mend="Leave it out.",
        )


def unknown_by_class(strategy: str) -> AssayPilotError:
    """The refusal of a strategy that cannot decide by SDs that nobody knows and that differ by class."""
    return AssayPilotError(
        f"{strategy} has no bounds for SDs that nobody knows and that differ by class",
        option="--strategy",
        mend="Choose adaptive, or give the SDs; or leave the classes out.",
    )


def columns(endpoints: Sequence[Endpoint]) -> tuple[str, ...]:
    """The columns that name classes of noise, each once."""
    own = (one.noise_classes for one in endpoints)
    return tuple(dict.fromkeys(one.site for one in own if one is not None and one.compounds))


def with_more(endpoints: Sequence[Endpoint], told: Mapping[str, Sequence[Sequence[str]]]) -> tuple[Endpoint, ...]:
    """The endpoints, more compounds in classes: by column the ids, and what it says of them where that is a class."""
    found = []
    for one in endpoints:
        own = one.noise_classes
        if own is not None and own.compounds and own.site in told:
            named = {name for name, _ in own.sds}
            more = tuple((name, word) for name, word in told[own.site] if word in named)
            one = replace(one, noise_classes=replace(own, compounds=(*own.compounds, *more)))
        found.append(one)
    return tuple(found)


def of_more(endpoints: Sequence[Endpoint], new: Sequence[str], told: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Whose noise new compounds have, in sentences, where a column says it; empty where none does."""
    lines = []
    for one in endpoints:
        own = one.noise_classes
        if own is None or not own.compounds:
            continue
        if own.site not in told:
            lines.append(
                f"Nothing says the {own.site} of the new compounds: for the assay noise (SD) of {one.scale_name} they "
                "count among all others."
            )
            continue
        words = [told[own.site].get(name, "") for name in new]
        counted = [f"{words.count(name):,} {own.who(name)}" for name, _ in own.sds if name in words]
        rest = sum(word not in dict(own.sds) for word in words)
        unknown = sorted({word for word in words if word and word not in dict(own.sds)})
        why = f" ({names(unknown)} being no class of its own)" if unknown else ""
        counted += [f"{rest:,} among all others{why}"] if rest else []
        lines.append(f"The assay noise (SD) of {one.scale_name} of the new compounds: {joined(counted)}.")
    return lines


def at_most(ledger: Terms, endpoint: Endpoint) -> str:
    """The SD that decisions take the noise to be at most: ``0.2``, or by class where they go by classes."""
    if endpoint.noise_classes is None:
        return f"{endpoint.noise_sd or 0.0:.4g}"
    if ledger.strategy.info.by_class:
        return endpoint.noise_classes.in_words
    return f"{endpoint.noise_sd or 0.0:.4g} (the largest of {endpoint.noise_classes.in_words})"
