"""The endpoint that a user described in a few words, with or without a column of a table."""

from __future__ import annotations

from collections.abc import Sequence

from assaypilot.engine.difference import find_parts
from assaypilot.engine.endpoint import Direction, Endpoint, Transform, normalise_unit
from assaypilot.engine.tables import headers
from assaypilot.engine.tables.options import EndpointSpec

__all__ = ["described", "without_column"]

_LIKE_A_LOGARITHM = 12
"""Above this no number is a p value of a concentration."""


def described(spec: EndpointSpec, bare: str, unit: str) -> tuple[Endpoint, list[str], list[str]]:
    """The endpoint with its scale and direction chosen where the user did not; what to note of it, and to warn of.

    ``bare``: its name without the unit.
    """
    notes: list[str] = []
    warnings: list[str] = []
    if spec.kind in ("yes-no", "count"):
        return _of_kind(spec), notes, warnings
    potency = headers.looks_like_potency(bare, unit)
    transform: Transform = spec.transform or ("log" if potency else "none")
    unknown = potency and not unit and spec.transform is None
    logarithm = not potency and headers.is_log_concentration(spec.name)
    # Without a unit the scale is log10 of the concentration itself, on which the potent compounds are low.
    direction: Direction = spec.direction or ("min" if unknown or logarithm else "max")
    endpoint = Endpoint(
        spec.name,
        unit,
        transform,
        direction,
        spec.sd,
        spec.wells_per_measurement,
        spec.epsilon,
        spec.limit,
        noise_estimated=spec.sd_estimated,
        noise_classes=spec.noise_classes,
    )
    better = "higher" if direction == "max" else "lower"
    if unknown:
        warnings.append(
            f"{spec.name} has no unit: it is modelled as {endpoint.scale_name}, {better} is better. "
            f'Give the unit for a pIC50-like scale, for example --endpoint "{spec.name};unit=nM".'
        )
    elif logarithm and spec.direction is None:
        warnings.append(
            f"{spec.name} is taken as the logarithm of a concentration: lower is better. If it is the negative one, "
            f'as pIC50 is: --endpoint "{spec.name};direction=max".'
        )
    elif endpoint.is_potency:
        potent = "more" if direction == "max" else "less"
        notes.append(
            f"{spec.name} in {unit} is modelled as {endpoint.scale_name} = -log10(mol/L): "
            f"{better} ({potent} potent) is better."
        )
    if endpoint.is_potency and unit == "nM" and endpoint.limit and 3 <= endpoint.limit.value <= _LIKE_A_LOGARITHM:
        # 5 is a usual pIC50 to stay below, and hardly ever a limit in nM.
        value, below = endpoint.limit.value, endpoint.limit.relation[0] == "<"
        warnings.append(
            f"The limit {endpoint.limit.text} of {spec.name} is in {unit}, as the values are. If "
            f"{endpoint.scale_name} {endpoint.limit.text} is meant, give limit={'>' if below else '<'}"
            f"{10 ** (9 - value):.0f}."
        )
    if endpoint.is_potency and spec.direction == "min":
        warnings.append(
            f"direction=min of {spec.name} is on the model scale: it looks for the lowest {endpoint.scale_name}, "
            f"that is the highest {bare} in {unit}, the least potent compounds. "
            "Leave direction out to look for the most potent."
        )
    return endpoint, notes, warnings


def without_column(spec: EndpointSpec, others: Sequence[Endpoint]) -> tuple[Endpoint, list[str]]:
    """The endpoint that comes to others with no column behind it, and what to warn of."""
    if spec.of is not None:
        of = find_parts(spec.name, spec.of, others)
        made = Endpoint(spec.name, direction=spec.direction or "max", epsilon=spec.epsilon, limit=spec.limit, of=of)
        return made, []
    bare, unit = headers.split_unit(spec.name)
    endpoint, _, warnings = described(spec, bare, unit if spec.unit is None else normalise_unit(spec.unit))
    return endpoint, warnings


def _of_kind(spec: EndpointSpec) -> Endpoint:
    """An endpoint of yes and no, or of counts."""
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
        noise_classes=spec.noise_classes,
        kind=spec.kind or "value",
        words=spec.words,
    )
