"""One number to show for several values of a compound, some of them bounds."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.endpoint import Relation

Shown = tuple[Relation, float]
"""A number and how the truth relates to it."""


def shown(values: Sequence[Shown], weights: Sequence[float] | None = None) -> tuple[Shown, ...]:
    """Return what to show for the values of one compound, on the scale they are averaged on; for display alone.

    The rule of the CDD Vault (Collaborative Drug Discovery): ``<x`` is left out unless x is at or below every exact
    value, ``>x`` unless it is at or above; what remains is averaged, and a bound among it makes the mean a bound.
    Bounds without exact values: the tightest of each kind, so that ``>5`` and ``<10`` are two. Potencies are averaged
    as logarithms: give values and relations on that scale. ``weights``: determinations behind each value.
    """
    counts = [1.0] * len(values) if weights is None else list(weights)
    exact = [value for relation, value in values if relation == "="]
    if not exact:
        below = [value for relation, value in values if relation == "<"]
        above = [value for relation, value in values if relation == ">"]
        bounds: list[Shown] = [(">", max(above))] if above else []
        return (*bounds, ("<", min(below))) if below else tuple(bounds)
    low, high = min(exact), max(exact)
    under = {place for place, (relation, value) in enumerate(values) if relation == "<" and value <= low}
    over = {place for place, (relation, value) in enumerate(values) if relation == ">" and value >= high}
    # Bounds on both sides pull the mean both ways; then only what is exact says where it is.
    bound = set() if under and over else under | over
    kept = [place for place, (relation, _) in enumerate(values) if relation == "=" or place in bound]
    weight = sum(counts[place] for place in kept)
    mean = sum(counts[place] * values[place][1] for place in kept) / weight
    return ((values[min(bound)][0] if bound else "=", mean),)
