"""Endpoints that are calculated and never measured: differences, such as a selectivity, and profiles of several.

A profile is the score of desirability curves (see ``desirability``), of measured endpoints and calculated properties.

A difference lives on the model scale, pIC50(target) - pIC50(off-target). It is a pure function of its two parts at the
point where counts and means are made; everything behind that point takes it for one more endpoint. What the lab
measures, and what is entered, are the parts.

Its noise: one measurement of each part gives a difference of variance sd_a^2 + sd_b^2, their errors being independent
of each other (where they rise and fall together it is smaller). Means of n_a and n_b measurements have a difference of
variance sd_a^2 / n_a + sd_b^2 / n_b, which is that of

    n = (sd_a^2 + sd_b^2) / (sd_a^2 / n_a + sd_b^2 / n_b)

pairs: the effective count (Kish), n_a where both are equal, 0 where one is missing. It is made of counts alone, never
of values, so it is like any count that is fixed before the values.

A difference in a goal with one of its own parts has errors correlated with that part's. Decisions allow
for that: the error probability is shared out among endpoints by a union bound (a factor d in the logarithm of GEGE),
which needs no independence between them, and what one endpoint's bounds promise rests on that endpoint's own errors
alone. The posterior probability of being a trade-off does take the endpoints as independent; it informs and never
decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Floats
from ..errors import AssayPilotError
from .desirability import Curve, Profile, desirability
from .endpoint import Endpoint
from .library import Library
from .measurements import Pooled

PROFILE = "Desirability"
"""The name of the endpoint that a profile is."""
PROPERTIES = ("MW", "cLogP", "TPSA", "HBD", "Rotatable bonds")
"""Properties that can be part of a profile; an endpoint of the same name takes the place of one."""

Known = Callable[[str], Floats]
"""The values of a property by its name, one per compound or arm, NaN where there is no structure."""


def profile_endpoint(curves: Sequence[Curve], endpoints: Sequence[Endpoint]) -> Endpoint:
    """Return the endpoint that is a profile of some of the others; names may be in small or large letters.

    A curve of ``pIC50`` where the endpoint is an IC50 has values of that scale. AssayPilotError for a curve of what is
    neither measured nor calculated, for two of one, and where the name is taken.
    """
    measured = [endpoint for endpoint in endpoints if endpoint.of is None]
    own = {e.name.casefold(): e for e in measured}
    scales = {e.scale_name.casefold(): e for e in measured}
    properties = {name.casefold(): name for name in PROPERTIES}
    found = []
    for curve in curves:
        spelling = curve.endpoint.casefold()
        endpoint, name = own.get(spelling), properties.get(spelling)
        if endpoint is None and spelling in scales:
            endpoint = scales[spelling]
            curve = replace(curve, values=tuple(map(endpoint.from_model, curve.values)))
        if endpoint is not None:
            name = endpoint.name
        if name is None:
            choice = ", ".join(dict.fromkeys((*(endpoint.name for endpoint in measured), *PROPERTIES)))
            raise AssayPilotError(
                f"{curve.endpoint!r} is neither a measured endpoint nor a property",
                option="--profile",
                mend=f"Choose among: {choice}.",
            )
        found.append(replace(curve, endpoint=name))
    names = [endpoint.name for endpoint in measured]
    order = list(dict.fromkeys((*names, *PROPERTIES)))
    found.sort(key=lambda curve: order.index(curve.endpoint))
    parts = tuple(curve.endpoint for curve in found if curve.endpoint in names)
    whole = Endpoint(PROFILE, of=parts, curves=tuple(found))
    check_profiles([*endpoints, whole])
    return whole


def check_profiles(endpoints: Sequence[Endpoint]) -> None:
    """Raise AssayPilotError for two profiles, for one without an endpoint, and for curves that cannot be."""
    profiles = [endpoint for endpoint in endpoints if endpoint.curves]
    if len(profiles) > 1:
        raise AssayPilotError("a campaign has one profile", option="--profile", mend="Put all curves into one.")
    by_name = {endpoint.name: endpoint for endpoint in endpoints}
    for profile in profiles:
        names = [curve.endpoint for curve in profile.curves]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise AssayPilotError(f"{twice[0]} has two curves", option="--profile", mend="Give it one.")
        if not profile.of:
            raise AssayPilotError(
                "the profile has no curve of a measured endpoint", option="--profile", mend="Add one: it is measured."
            )
        for name in names:
            part = by_name.get(name)
            if name in PROPERTIES and name not in profile.of:
                continue
            if part is None or part.of is not None or part.kind != "value":
                what = "no endpoint" if part is None else "no measured plain value"
                raise AssayPilotError(
                    f"the profile has a curve of {name}, which is {what}", option="--profile", mend="Leave it out."
                )
        try:
            profile_of(endpoints, endpoints.index(profile))
        except AssayPilotError as error:
            raise AssayPilotError(
                f"a value of a curve cannot be: {error.message}",
                option="--profile",
                mend="Give it as values are entered.",
            ) from error


def check_structures(endpoints: Sequence[Endpoint], library: Library) -> None:
    """Raise AssayPilotError for a profile with a calculated property where no compound has a structure."""
    calculated = [name for endpoint in endpoints for name in calculated_parts(endpoint)]
    if calculated and not any(library.smiles or ()):
        raise AssayPilotError(
            f"{calculated[0]} is calculated from structures, and no compound has one",
            option="--profile",
            mend="Leave its curve out, or take a table with structures.",
        )


def calculated_parts(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the names of the properties that a profile has curves of; none for any other endpoint."""
    return tuple(curve.endpoint for curve in endpoint.curves if curve.endpoint not in (endpoint.of or ()))


def profile_of(endpoints: Sequence[Endpoint], position: int, known: Known | None = None) -> Profile:
    """Return the profile that an endpoint is, its places being positions among the endpoints.

    ``known``: the calculated properties; without it the profile has its endpoints alone.
    """
    names, whole = [endpoint.name for endpoint in endpoints], endpoints[position]
    calculated = calculated_parts(whole)
    measured = [curve for curve in whole.curves if curve.endpoint not in calculated]
    others = [curve for curve in whole.curves if curve.endpoint in calculated]
    parts = tuple(names.index(curve.endpoint) for curve in measured)
    corners = tuple(
        tuple(endpoints[part].sign * endpoints[part].to_model(value) for value in curve.values)
        for part, curve in zip(parts, measured, strict=True)
    )
    total = sum(curve.weight for curve in whole.curves)
    weights = tuple(curve.weight / total for curve in (*measured, *others))
    found = None
    if others and known is not None:
        # A compound without a structure meets no curve of a property.
        found = np.nan_to_num(np.array([desirability(known(curve.endpoint), curve.values) for curve in others]))
    return Profile(position, parts, corners, weights, found)


_MINUS = "-\N{MINUS SIGN}\N{EN DASH}"
_EXAMPLE = "For example Selectivity = pIC50 - hERG."


def parts(endpoints: Sequence[Endpoint], position: int) -> tuple[int, ...]:
    """Return the positions of the endpoints that are measured for one: its own, or those of its parts."""
    of = endpoints[position].of
    if of is None:
        return (position,)
    names = [endpoint.name for endpoint in endpoints]
    return tuple(names.index(name) for name in of)


def behind(endpoints: Sequence[Endpoint], positions: Sequence[int]) -> tuple[int, ...]:
    """Return the positions of all endpoints that are measured for these, each once, in their order."""
    return tuple(dict.fromkeys(part for position in positions for part in parts(endpoints, position)))


def pooled_of(
    endpoints: Sequence[Endpoint], position: int, measured: Callable[[int], Pooled], known: Known | None = None
) -> Pooled:
    """Return counts and means of an endpoint.

    ``measured`` gives those of one that is measured, by its position; ``known`` the properties of a profile.
    """
    own = parts(endpoints, position)
    if endpoints[position].of is None:
        return measured(position)
    if endpoints[position].curves:
        return _scores(endpoints, position, [measured(part) for part in own], known)
    first, second = (endpoints[part].noise_sd for part in own)
    return difference(measured(own[0]), measured(own[1]), (first, second))


def difference(first: Pooled, second: Pooled, sds: tuple[float | Floats | None, float | Floats | None]) -> Pooled:
    """Return effective counts and means of the first minus the second, per arm; count and mean 0 where one is missing.

    ``sds``: the noise of one measurement of each, for all or ``(n_arms,)``; taken as equal where one is not known.
    """
    known = [np.asarray(sd, dtype=np.float64) for sd in sds if sd is not None]
    a, b = (known[0] ** 2, known[1] ** 2) if len(known) == 2 else (np.ones(()), np.ones(()))
    both = (first.counts > 0) & (second.counts > 0)
    scatter = a * second.counts + b * first.counts
    pairs = np.divide((a + b) * first.counts * second.counts, scatter, out=np.zeros(len(both)), where=both)
    # Exact, so that a phase that returned whole is seen to be whole.
    counts = np.where(first.counts == second.counts, first.counts, pairs)
    return Pooled(counts, np.where(both, first.means - second.means, 0.0))


def _scores(endpoints: Sequence[Endpoint], position: int, of_parts: Sequence[Pooled], known: Known | None) -> Pooled:
    """Return the scores of compounds of which every part of a profile was measured, with the smallest count."""
    profile = profile_of(endpoints, position, known)
    counts = np.min([one.counts for one in of_parts], axis=0)
    signs = [endpoints[part].sign for part in profile.parts]
    values = np.array([sign * one.means for sign, one in zip(signs, of_parts, strict=True)])
    return Pooled(counts, np.where(counts > 0, profile.score(values), 0.0))


def with_noise(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    """Return the endpoints, those that are calculated with the noise that their parts give them.

    None where that of a part is not known.
    """
    out = []
    for position, endpoint in enumerate(endpoints):
        if endpoint.of is not None:
            known = [sd for part in parts(endpoints, position) if (sd := endpoints[part].noise_sd) is not None]
            if len(known) < len(endpoint.of):
                sd = None
            else:
                sd = profile_of(endpoints, position).noise(known) if endpoint.curves else math.hypot(*known)
            endpoint = replace(endpoint, noise_sd=sd)
        out.append(endpoint)
    return out


def in_words(endpoints: Sequence[Endpoint], position: int) -> str:
    """Return how an endpoint is calculated: ``pIC50 - phERG``, ``pIC50:6..8, phERG:6..5``; empty for a measured one."""
    if endpoints[position].of is None:
        return ""
    if endpoints[position].curves:
        return ", ".join(curve.text for curve in endpoints[position].curves)
    return " - ".join(endpoints[part].scale_name for part in parts(endpoints, position))


def find_parts(name: str, text: str, endpoints: Sequence[Endpoint]) -> tuple[str, str]:
    """Return the names of the two endpoints that a text like ``pIC50 - hERG`` subtracts from each other.

    Names may contain minus signs and blanks of their own: every minus is tried, and one must split the text into two
    endpoints (by name, or by what they are modelled as). AssayPilotError when none does, or more than one.
    """
    known: dict[str, list[str]] = {}
    for endpoint in endpoints:
        for spelling in dict.fromkeys(map(_plain, (endpoint.name, endpoint.scale_name))):
            known.setdefault(spelling, []).append(endpoint.name)
    found: list[tuple[str, str]] = []
    for minus in re.finditer(f"[{_MINUS}]", text):
        first, second = (known.get(_plain(side), []) for side in (text[: minus.start()], text[minus.end() :]))
        found += [(a, b) for a in first for b in second]
    found = list(dict.fromkeys(found))
    if not found:
        named = ", ".join(endpoint.name for endpoint in endpoints) or "none"
        raise AssayPilotError(
            f"{name} must be one endpoint minus another, and {text!r} is not; the endpoints are: {named}",
            option="--endpoint",
            mend=_EXAMPLE,
        )
    if len(found) > 1:
        readings = " and as ".join(f"{a!r} minus {b!r}" for a, b in found)
        raise AssayPilotError(
            f"{name} can be read as {readings}", option="--endpoint", mend="Give one of the columns another name."
        )
    return found[0]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def check_differences(endpoints: Sequence[Endpoint]) -> None:
    """Raise AssayPilotError for a difference of what is not measured, is one endpoint, or is no logarithm."""
    by_name = {endpoint.name: endpoint for endpoint in endpoints}
    for whole in endpoints:
        if whole.of is None or whole.curves:
            continue
        for name in whole.of:
            if name not in by_name:
                named = ", ".join(endpoint.name for endpoint in endpoints if endpoint.of is None)
                raise AssayPilotError(
                    f"{whole.name} is made of {name}, which is no endpoint; there are {named}",
                    option="--endpoint",
                    mend=_EXAMPLE,
                )
            if by_name[name].of is not None:
                raise AssayPilotError(
                    f"{whole.name} is made of {name}, which is a difference itself",
                    option="--endpoint",
                    mend="Name two endpoints that are measured.",
                )
        first, second = (by_name[name] for name in whole.of)
        if first is second:
            raise AssayPilotError(
                f"{whole.name} is {first.name} minus itself", option="--endpoint", mend="Name two endpoints."
            )
        _check_scales(whole.name, first, second)


def _check_scales(name: str, first: Endpoint, second: Endpoint) -> None:
    for part, other in ((first, second), (second, first)):
        if not part.is_log:
            raise AssayPilotError(
                f"{name} needs two endpoints on a log scale, and {part.name} is not known to be on one",
                option="--endpoint",
                mend=f"Give the unit of {part.name}: log where its values are logarithms, for example nM where they "
                "are concentrations.",
            )
        if part.transform == "log" and not part.unit and not (other.transform == "log" and not other.unit):
            raise AssayPilotError(
                f"{name} subtracts {second.scale_name} from {first.scale_name}, and without a unit {part.name} may be "
                "a concentration, whose logarithm counts the other way round",
                option="--endpoint",
                mend=f"Give the unit of {part.name}, for example nM.",
            )
