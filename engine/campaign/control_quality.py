"""Control quality: mean and spread of the controls of every plate, and whether rounds or plates have drifted.

Where plates differ a proof ends, which assumes no such effect; the series model takes them as data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Floats
from ..domain.measurements import Measurement
from . import phrases

if TYPE_CHECKING:
    from .replay import Ledger


Plate = tuple[int, str]
"""Round, and the plate's name there in small letters."""

_DRIFT = 0.05
"""Chance of calling anything drift in an endpoint while there is none, all comparisons together."""
_WIDE = 0.01
"""Chance of saying of any plate that its controls scatter more than the assay noise while none does."""


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
    wide: bool
    """Whether they scatter more than the assay noise explains."""


@dataclass(frozen=True, slots=True)
class Quality:
    """The readings of the controls of a campaign."""

    plates: tuple[PlateLine, ...] = ()
    drift: tuple[str, ...] = ()
    """Sentences about rounds and plates whose controls differ by more than the assay noise."""


def quality(ledger: Ledger) -> Quality:
    """Return the control quality at the ledger's head."""
    if not ledger.settings.controls:
        return Quality()
    nominal = nominals(ledger)
    usable = [r for r in ledger.readings if r.usable]
    lines, drifts = [], []
    for k, endpoint in enumerate(ledger.endpoints):
        own = [r for r in usable if r.endpoint == k]
        above = np.array([r.value - nominal[r.compound, k] for r in own])
        groups: dict[Plate, list[int]] = {}
        for place, r in enumerate(own):
            groups.setdefault(_plate(r), []).append(place)
        for plate, places in sorted(groups.items()):
            some = [own[place] for place in places]
            lines.append(_line(plate[0], _name(some[0]), k, some, above[places], endpoint.noise_sd))
        if endpoint.noise_sd is not None and own:
            names = {plate: _name(own[places[0]]) for plate, places in groups.items()}
            weights = np.array([float(r.n) for r in own])
            texts = drift([_plate(r) for r in own], names, above, weights, endpoint.noise_sd)
            effect = "the series model allows for it" if ledger.calibrated else "a proof covers no such effect"
            drifts += [f"{endpoint.name}: {text}; {effect}" for text in texts]
    n_wide = sum(line.sd is not None for line in lines)
    lines = [replace(line, wide=line.wide and _p_wide(ledger, line) * n_wide < _WIDE) for line in lines]
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


def _plate(reading: Measurement) -> Plate:
    """Return the plate of a reading; those that name none share one with all such of their round."""
    return reading.entered.round or reading.round, reading.entered.plate.strip().casefold()


def _name(reading: Measurement) -> str:
    text = reading.entered.plate.strip()
    return f"plate {text}" if text else f"round {reading.entered.round or reading.round} without a plate"


def _line(
    number: int, name: str, endpoint: int, readings: Sequence[Measurement], above: Floats, noise: float | None
) -> PlateLine:
    weights = np.array([float(r.n) for r in readings])
    mean = float(weights @ above / weights.sum())
    centred, freedom = above.copy(), len(above)
    for control in {r.compound for r in readings}:
        own = np.array([r.compound == control for r in readings])
        centred[own] -= weights[own] @ above[own] / weights[own].sum()
        freedom -= 1
    sd = math.sqrt(float(weights @ centred**2) / freedom) if freedom > 0 else None
    return PlateLine(number, name, endpoint, int(weights.sum()), mean, sd, sd is not None and noise is not None)


def _p_wide(ledger: Ledger, line: PlateLine) -> float:
    """Return the chance of so wide a scatter; its degrees of freedom are those of one control, at most a few off."""
    from scipy.special import chdtrc

    noise = ledger.endpoints[line.endpoint].noise_sd
    if line.sd is None or noise is None:
        return 1.0
    freedom = max(line.n - 1, 1)
    return float(chdtrc(freedom, freedom * (line.sd / noise) ** 2))


@dataclass(frozen=True, slots=True)
class _Found:
    """One comparison: ``controls read 0.31 lower`` where, and how surely."""

    where: str
    order: tuple[int, str]
    difference: float
    p: float


def drift(
    plates: Sequence[Plate], names: Mapping[Plate, str], above: Floats, weights: Floats, noise: float
) -> list[str]:
    """Return in a sentence what of rounds and plates differs by more than the noise; empty where nothing does.

    ``above`` nominal ``(m,)`` with their ``weights``. Each round against those before it, and each plate against the
    others of its round: normal tests, at 0.05 together (Holm 1979). P values are those after Holm.
    """
    rounds = np.array([plate[0] for plate in plates])
    sides = [
        (f"in round {number} than before", (number, ""), rounds == number, rounds < number)
        for number in np.unique(rounds)[1:].tolist()
    ]
    for plate in sorted(set(plates)):
        here = np.array([other == plate for other in plates])
        where = f"on {names[plate]} than in the rest of round {plate[0]}"
        sides.append((where, plate, here, (rounds == plate[0]) & ~here))
    tests = []
    for where, order, one, other in sides:
        if one.any() and other.any():
            share = weights * one / weights[one].sum() - weights * other / weights[other].sum()
            difference, sd = float(share @ above), noise * math.sqrt(float((share**2 / weights).sum()))
            tests.append(_Found(where, order, difference, _two_sided(difference / sd)))
    found = _surprising(tests)
    if not found:
        return []
    equal, highest = "=" if len(found) == 1 else "at most", max(one.p for one in found)
    p = "p < 0.0001" if highest < 1e-4 else f"p {equal} {highest:.2g}"
    shifts = [f"{abs(one.difference):.2f} {'higher' if one.difference > 0 else 'lower'} {one.where}" for one in found]
    return [f"controls read {phrases.names(shifts, sep='; ')} ({p}): drift"]


def _two_sided(z: float) -> float:
    from scipy.special import ndtr

    return 2.0 * float(ndtr(-abs(z)))


def _surprising(tests: Sequence[_Found]) -> list[_Found]:
    """Those that differ, all of them together at ``_DRIFT``, with their p values after Holm, in order of rounds."""
    found, highest = [], 0.0
    for place, one in enumerate(sorted(tests, key=lambda test: (test.p, -abs(test.difference)))):
        highest = max(highest, min(1.0, one.p * (len(tests) - place)))
        if highest >= _DRIFT:
            break
        found.append(replace(one, p=highest))
    return sorted(found, key=lambda one: one.order)
