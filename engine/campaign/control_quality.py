"""Control quality: mean and spread of the controls of every plate, and whether plates differ by more than the noise.

Where plates differ a proof ends, which assumes no such effect; the series model takes them as data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..domain.measurements import Measurement

if TYPE_CHECKING:
    from .replay import Ledger


_DRIFT = 0.05
"""Chance of calling anything drift in an endpoint while there is none."""


@dataclass(frozen=True, slots=True)
class PlateLine:
    """The controls of one plate for one endpoint."""

    round: int
    name: str
    """``plate R1-P2``."""
    endpoint: int
    """Position among the campaign's endpoints."""
    n: int
    mean: float
    """How far they read above their nominal values, model scale."""
    sd: float | None
    """Between the values, each against its control's mean there; None below two."""


@dataclass(frozen=True, slots=True)
class Quality:
    """The readings of the controls of a campaign."""

    plates: tuple[PlateLine, ...] = ()
    drift: tuple[str, ...] = ()
    """A sentence on each endpoint whose plates differ by more than the assay noise."""


def quality(ledger: Ledger) -> Quality:
    """Return the control quality at the ledger's head."""
    if not ledger.settings.controls:
        return Quality()
    nominal = nominals(ledger)
    effect = "the series model allows for it" if ledger.calibrated else "a proof covers no such effect"
    lines: list[PlateLine] = []
    drifts = []
    for k, endpoint in enumerate(ledger.endpoints):
        plates: dict[tuple[int, str], list[Measurement]] = {}
        for r in ledger.readings:
            if r.usable and r.endpoint == k:
                # Readings that name no plate share one with all such of their round.
                plates.setdefault((r.entered.round or r.round, r.entered.plate.strip().casefold()), []).append(r)
        own = [_line(number, plates[number, name], nominal) for number, name in sorted(plates)]
        lines += own
        if endpoint.noise_sd is not None and (text := drift(own, endpoint.noise_sd)):
            drifts.append(f"{endpoint.name}: {text}; {effect}")
    return Quality(tuple(lines), tuple(drifts))


def nominals(ledger: Ledger) -> dict[tuple[int, int], float]:
    """Return what each control should read, by control and endpoint: as stated, else the mean of its first round."""
    found: dict[tuple[int, int], float] = {}
    for c, control in enumerate(ledger.settings.controls):
        for k, endpoint in enumerate(ledger.endpoints):
            value = control.nominal(endpoint.name)
            own = [r for r in ledger.readings if r.compound == c and r.endpoint == k and r.usable]
            if value is None and own:
                first = min(r.round for r in own)
                begun = [r for r in own if r.round == first]
                value = sum(r.n * r.value for r in begun) / sum(r.n for r in begun)
            if value is not None:
                found[c, k] = value
    return found


def _line(number: int, readings: Sequence[Measurement], nominal: Mapping[tuple[int, int], float]) -> PlateLine:
    text, endpoint = readings[0].entered.plate.strip(), readings[0].endpoint
    above = np.array([r.value - nominal[r.compound, endpoint] for r in readings])
    weights = np.array([float(r.n) for r in readings])
    centred, controls = above.copy(), {r.compound for r in readings}
    for control in controls:
        own = np.array([r.compound == control for r in readings])
        centred[own] -= np.average(above[own], weights=weights[own])
    freedom = len(above) - len(controls)
    return PlateLine(
        round=number,
        name=f"plate {text}" if text else f"round {number} without a plate",
        endpoint=endpoint,
        n=int(weights.sum()),
        mean=float(np.average(above, weights=weights)),
        sd=math.sqrt(float(weights @ centred**2) / freedom) if freedom > 0 else None,
    )


def drift(lines: Sequence[PlateLine], noise: float) -> str:
    """Return which plate's controls differ most from the others, where plates differ by more than the noise; else "".

    A chi-square test of equal means on all plates of one endpoint.
    """
    from scipy.special import chdtrc

    if len(lines) < 2:
        return ""
    n, means = (np.array([getattr(line, name) for line in lines], dtype=float) for name in ("n", "mean"))
    apart = means - np.average(means, weights=n)
    squares = n * (apart / noise) ** 2
    p = float(chdtrc(len(lines) - 1, squares.sum()))
    if p >= _DRIFT:
        return ""
    most = int(squares.argmax())
    line, difference = lines[most], float(apart[most])
    where = f"on {line.name} in round {line.round}" if line.name.startswith("plate") else f"in {line.name}"
    chance = "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
    side = "higher" if difference > 0 else "lower"
    return f"controls read {abs(difference):.2f} {side} {where} than on average ({chance}): drift"
