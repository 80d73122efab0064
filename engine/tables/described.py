"""The endpoint that a user described in a few words, with or without a column of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..domain.difference import find_parts
from ..domain.endpoint import Direction, Endpoint, Transform, normalise_unit
from . import headers
from .endpoint_kinds import PERCENT, Kind, kind_of, spans_decades
from .options import EndpointSpec
from .raw import fold

_LIKE_A_LOGARITHM = 12
"""Above this no number is a p value of a concentration."""
_LEAST_SPAN = 3.0
"""Largest over smallest value below which a logarithm changes nothing."""
_FULL = 130.0


@dataclass(frozen=True, slots=True)
class Described:
    """An endpoint, with the reasons for what was chosen for it."""

    endpoint: Endpoint
    direction_why: str = ""
    direction_known: bool = True
    """Whether the user or the name says which way is better."""
    scale_why: str = ""
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def described(spec: EndpointSpec, bare: str, unit: str, values: Sequence[float] = ()) -> Described:
    """Return the endpoint with its scale and direction chosen where the user did not.

    ``bare``: its name without the unit; ``values``: what its column holds, as numbers in the entry unit.
    """
    if spec.kind in ("yes-no", "count"):
        return Described(_plain(spec), "given with its kind")
    kind = kind_of(bare, unit, spec.name)
    if not unit and spec.unit is None and _in_per_cent(bare, values):
        unit = "%"
    transform, scale_why = _scale(spec, kind, bare, unit, values)
    endpoint = _plain(replace(spec, unit=unit, transform=transform, direction="max"))
    direction, why = _direction(spec, kind, endpoint)
    endpoint = replace(endpoint, direction=direction)
    found = Described(endpoint, why, spec.direction is not None or bool(kind.better), scale_why)
    _say(found, spec, kind, bare, values)
    return found


def _in_per_cent(bare: str, values: Sequence[float]) -> bool:
    """Whether a quantity without a unit is one that is given in per cent, by its name and its values."""
    return (
        PERCENT.search(fold(bare)) is not None and bool(values) and 1.5 < max(values) <= _FULL and min(values) >= -_FULL
    )


def _scale(spec: EndpointSpec, kind: Kind, bare: str, unit: str, values: Sequence[float]) -> tuple[Transform, str]:
    """Return the scale that is modelled, and why."""
    if spec.transform is not None:
        return spec.transform, "given"
    if headers.looks_like_potency(bare, unit) or (kind.potency and kind.scale == "log"):
        return "log", "potencies are compared by factors"
    positive = not values or min(values) > 0
    if kind.scale == "log" and positive and (not values or max(values) >= _LEAST_SPAN * min(values)):
        return "log", f"{kind.what} is compared by factors"
    if kind.scale == "" and unit != "%" and not Endpoint(bare).is_log and spans_decades(values):
        return "log", f"the values span decades ({min(values):.3g} to {max(values):.3g})"
    return (
        "none",
        f"{kind.what} is compared as it is" if kind.scale == "none" else "the values are compared as they are",
    )


def _direction(spec: EndpointSpec, kind: Kind, endpoint: Endpoint) -> tuple[Direction, str]:
    """Which way is better on the model scale, and why."""
    if spec.direction is not None:
        return spec.direction, "given"
    if not kind.better:
        return "max", "not known from its name: higher is taken as better"
    # -log10 of a concentration is high where the concentration is low.
    up = (kind.better == "high") != endpoint.is_potency
    why = f"{kind.what}: {'higher' if kind.better == 'high' else 'lower'} is better"
    if endpoint.is_potency:
        why += f", that is {'higher' if up else 'lower'} {endpoint.scale_name}"
    return ("max" if up else "min"), why


def _say(found: Described, spec: EndpointSpec, kind: Kind, bare: str, values: Sequence[float]) -> None:
    """Add what to note of an endpoint, and what to warn of, with the options that change it."""
    endpoint, notes, warnings = found.endpoint, found.notes, found.warnings
    name, unit, better = spec.name, endpoint.unit, "higher" if endpoint.direction == "max" else "lower"
    other = "min" if endpoint.direction == "max" else "max"
    change = f'--endpoint "{name};direction={other}"'
    target = kind.potency == "target"
    if endpoint.transform == "log" and target and not unit and spec.transform is None:
        warnings.append(
            f"{name} has no unit: it is modelled as {endpoint.scale_name}, {better} is better. "
            f'Give the unit for a pIC50-like scale, for example --endpoint "{name};unit=nM".'
        )
    elif headers.is_log_concentration(name) and spec.direction is None:
        warnings.append(
            f"{name} is taken as the logarithm of a concentration: {better} is better. If it is the negative one, "
            f"as pIC50 is: {change}."
        )
    elif endpoint.is_potency and target:
        potent = "more" if endpoint.direction == "max" else "less"
        notes.append(
            f"{name} in {unit} is modelled as {endpoint.scale_name} = -log10(mol/L): "
            f"{better} ({potent} potent) is better."
        )
    elif spec.direction is None and not found.direction_known:
        notes.append(f"{name}: which way is better is not known; higher is taken. If lower is better: {change}.")
    elif spec.direction is None and not (target or (endpoint.is_log and kind.better == "high")):
        notes.append(f"{name} is taken as {found.direction_why}. Otherwise: {change}.")
    if endpoint.transform == "log" and not target and spec.transform is None:
        notes.append(
            f'{name} is modelled as {endpoint.scale_name}, as {found.scale_why}. Otherwise: --endpoint "{name};'
            'transform=none".'
        )
    elif (
        kind.scale == "log" and endpoint.transform == "none" and spec.transform is None and values and min(values) <= 0
    ):
        zeros = sum(value <= 0 for value in values)
        warnings.append(
            f"{name} holds {zeros} value{'s' if zeros > 1 else ''} of 0 or less, so it is not modelled as a logarithm. "
            "Are they below the limit of quantitation? Then write < and that limit."
        )
    if endpoint.is_potency and unit == "nM" and endpoint.limit and 3 <= endpoint.limit.value <= _LIKE_A_LOGARITHM:
        # 5 is a usual pIC50 to stay below, and hardly ever a limit in nM.
        value, below = endpoint.limit.value, endpoint.limit.relation[0] == "<"
        warnings.append(
            f"The limit {endpoint.limit.text} of {name} is in {unit}, as the values are. If "
            f"{endpoint.scale_name} {endpoint.limit.text} is meant, give limit={'>' if below else '<'}"
            f"{10 ** (9 - value):.0f}."
        )
    if endpoint.is_potency and spec.direction == "min" and target:
        warnings.append(
            f"direction=min of {name} is on the model scale: it looks for the lowest {endpoint.scale_name}, "
            f"that is the highest {bare} in {unit}, the least potent compounds. "
            "Leave direction out to look for the most potent."
        )


def without_column(spec: EndpointSpec, others: Sequence[Endpoint]) -> tuple[Endpoint, list[str]]:
    """Return the endpoint that comes to others with no column behind it, and what to warn of."""
    if spec.of is not None:
        of = find_parts(spec.name, spec.of, others)
        made = Endpoint(spec.name, direction=spec.direction or "max", epsilon=spec.epsilon, limit=spec.limit, of=of)
        return made, []
    bare, unit = headers.split_unit(spec.name)
    found = described(spec, bare, unit if spec.unit is None else normalise_unit(spec.unit))
    return found.endpoint, found.warnings


def _plain(spec: EndpointSpec) -> Endpoint:
    """Return the endpoint as it was said, on the scale and with the direction that are usual where nothing was."""
    return Endpoint(
        spec.name,
        spec.unit or "",
        spec.transform or "none",
        spec.direction or "max",
        spec.sd,
        spec.wells_per_measurement,
        spec.epsilon,
        spec.limit,
        noise_estimated=spec.sd_estimated,
        kind=spec.kind or "value",
        words=spec.words,
    )
