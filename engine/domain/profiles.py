"""Endpoints that are profiles: calculated from others, like a difference; the lab measures the parts.

A curve may also be of a property calculated from structures: it is known exactly and never measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Floats
from ..errors import AssayPilotError
from .desirability import Curve, Profile, desirability
from .endpoint import Endpoint
from .library import Library

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
