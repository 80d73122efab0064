"""Endpoints that are profiles: calculated from others, like a difference; the lab measures the parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import AssayPilotError
from .desirability import Curve, Profile
from .endpoint import Endpoint

PROFILE = "Desirability"
"""The name of the endpoint that a profile is."""


def profile_endpoint(curves: Sequence[Curve], endpoints: Sequence[Endpoint]) -> Endpoint:
    """Return the endpoint that is a profile of some of the others; names may be in small or large letters.

    AssayPilotError for a curve of what is no measured endpoint, for two of one, and where the name is taken.
    """
    measured = [endpoint for endpoint in endpoints if endpoint.of is None]
    own = {spelling.casefold(): e.name for e in measured for spelling in (e.scale_name, e.name)}
    found = []
    for curve in curves:
        name = own.get(curve.endpoint.casefold())
        if name is None:
            raise AssayPilotError(
                f"there is no measured endpoint {curve.endpoint!r} for the profile",
                option="--profile",
                mend=f"Choose among: {', '.join(endpoint.name for endpoint in measured)}.",
            )
        found.append(replace(curve, endpoint=name))
    whole = Endpoint(PROFILE, of=tuple(curve.endpoint for curve in found), curves=tuple(found))
    check_profiles([*endpoints, whole])
    return whole


def check_profiles(endpoints: Sequence[Endpoint]) -> None:
    """Raise AssayPilotError for two profiles, or for one whose curves are not one each of measured endpoints."""
    profiles = [endpoint for endpoint in endpoints if endpoint.curves]
    if len(profiles) > 1:
        raise AssayPilotError("a campaign has one profile", option="--profile", mend="Put all curves into one.")
    by_name = {endpoint.name: endpoint for endpoint in endpoints}
    for profile in profiles:
        names = [curve.endpoint for curve in profile.curves]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise AssayPilotError(f"{twice[0]} has two curves", option="--profile", mend="Give it one.")
        for name in names:
            part = by_name.get(name)
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


def profile_of(endpoints: Sequence[Endpoint], position: int) -> Profile:
    """Return the profile that an endpoint is, its places being positions among the endpoints."""
    names = [endpoint.name for endpoint in endpoints]
    curves = endpoints[position].curves
    parts = tuple(names.index(curve.endpoint) for curve in curves)
    corners = tuple(
        tuple(endpoints[part].sign * endpoints[part].to_model(value) for value in curve.values)
        for part, curve in zip(parts, curves, strict=True)
    )
    total = sum(curve.weight for curve in curves)
    return Profile(position, parts, corners, tuple(curve.weight / total for curve in curves))
