"""The data that a campaign gives the series model, and the model's estimates of every compound."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..domain.derived import Known, parts, profile_of
from ..domain.endpoint import Endpoint
from ..domain.measurements import Measurement
from ..models.gaussian_process.measured import Measured
from ..strategies.protocol import Calibrated, Knowledge, State
from ..text import probability

if TYPE_CHECKING:
    from .replay import Ledger


_LIKELY = 0.02
"""Probability of belonging to the answer from which that is why a compound is measured."""
_FEWEST = 2
"""Groups of a plate, day or batch, and values in a group, below which no shift is modelled."""
_MOST_CLASSES, _ENOUGH = 4, 12
"""Batches, such as assays that are pooled, up to which each may have a noise of its own, and values that show it."""


def informed(terms: Ledger, state: State) -> State:
    """Return the strategy's state with everything measured so far, history included."""
    assert isinstance(terms.strategy, Calibrated)
    return terms.strategy.inform(state, tuple(_measured(terms, position) for position in terms.modelled))


def knowledge(terms: Ledger, state: State) -> Knowledge | None:
    """Return what is known of every arm; ``state``: an informed one. None before the first value."""
    assert isinstance(terms.strategy, Calibrated)
    return terms.strategy.knowledge(state)


def series_reasons(terms: Ledger, state: State, compounds: Sequence[int], otherwise: Sequence[str]) -> list[str]:
    """Return why each compound is in a round, in a few words; ``otherwise`` where a new one is to inform."""
    state = informed(terms, state)
    known = knowledge(terms, state)
    if known is None:
        return list(otherwise)
    assert isinstance(terms.strategy, Calibrated)
    rows = terms.strategy.measured(state)
    measured = np.concatenate([rows[row].arms for row in state.problem.planned_rows])
    texts = []
    for arm, text in zip(terms.arm_of[np.asarray(compounds)].tolist(), otherwise, strict=True):
        chance = float(known.p_member[arm])
        again = arm in measured
        why = f"may be in (P {probability(chance)})" if chance >= _LIKELY else "informs about others" if again else text
        texts.append(f"repeat: {why}" if again else why)
    return texts


def of_endpoint(terms: Ledger, known: Knowledge | None, position: int) -> tuple[Floats, Floats, Floats] | None:
    """Return estimate and 95 % interval of an endpoint, on its own side; None where the model does not include it."""
    if known is None or position not in terms.modelled:
        return None
    row, sign = terms.modelled.index(position), terms.endpoints[position].sign
    if sign > 0:
        return known.estimate[row], known.low[row], known.high[row]
    return -known.estimate[row], -known.high[row], -known.low[row]


def _measured(terms: Ledger, position: int) -> Measured:
    key = (terms.settings.parameters.get("history"), terms.endpoints, id(terms.arm_of), position)
    now: tuple[Measurement, ...] = (*terms.measurements, *terms.readings)
    # Lists of the same objects are equal at once, so this costs a hundredth of gathering the values again.
    for known, measurements, _, found in tuple(_GATHERED):
        if known == key and measurements == now:
            return found
    used = used_by_model(terms.measurements, terms.settings.parameters)
    controls = Controls(terms.readings, terms.n_arms)
    found = measured_values(used, terms.endpoints, terms.arm_of, position, controls, terms.known)
    _GATHERED.appendleft((key, now, terms.arm_of, found))
    return found


_GATHERED: deque[tuple[Any, tuple[Measurement, ...], Ints, Measured]] = deque(maxlen=6)
"""The values gathered last, with what they were gathered from; ``arm_of`` is held so that no other takes its id."""


def used_by_model(measurements: Sequence[Measurement], parameters: Mapping[str, Any]) -> list[Measurement]:
    """Return the measurements that the series model counts: without the table's own values where these are shown."""
    earliest = 1 if parameters.get("history") == "shown" else 0
    return [m for m in measurements if m.round >= earliest]


@dataclass(frozen=True, slots=True)
class Controls:
    """Readings of controls: between plates, days or batches they differ only by the shifts of these."""

    readings: Sequence[Measurement]
    first: int
    """The arm of the first control, behind those of all compounds."""


def measured_values(
    measurements: Sequence[Measurement],
    endpoints: Sequence[Endpoint],
    arm_of: Ints,
    position: int,
    controls: Controls | None = None,
    known: Known | None = None,
) -> Measured:
    """Return the values of an endpoint, larger is better; of a calculated one those of compounds with all parts.

    ``arm_of``: ``(n_compounds,)`` the arm of every compound; ``known``: the properties of every arm, for a profile.
    """
    sign = endpoints[position].sign
    if endpoints[position].of is not None:
        n_arms, own = int(arm_of.max()) + 1, parts(endpoints, position)
        found = [_means(measured_values(measurements, endpoints, arm_of, part), n_arms) for part in own]
        counts = np.min([n for n, _ in found], axis=0)
        both = np.flatnonzero(counts > 0)
        means = np.array([mean[both] for _, mean in found])
        if endpoints[position].curves:
            values = profile_of(endpoints, position, known).among(both).score(means)
        else:
            signs = [endpoints[part].sign for part in own]
            values = sign * (signs[0] * means[0] - signs[1] * means[1])
        return Measured.exact(both, values, counts[both])
    used = [m for m in measurements if m.endpoint == position and m.excluded is None and not m.withdrawn]
    values = np.array([m.value if m.relation == "=" else np.nan for m in used])
    above = np.array([m.value if m.relation in (">", ">=") else -np.inf for m in used])
    below = np.array([m.value if m.relation in ("<", "<=") else np.inf for m in used])
    arms = arm_of[np.array([m.compound for m in used], dtype=np.intp)]
    counts = np.array([float(m.n) for m in used])
    of_controls: list[Measurement] = []
    if controls is not None and np.isfinite(values).any():
        of_controls, at, read = _controls(controls, position, float(np.nanmedian(values)))
        arms, values = np.concatenate([arms, at]), np.concatenate([values, read])
        counts = np.concatenate([counts, [float(one.n) for one in of_controls]])
        open_side = np.full(len(of_controls), np.inf)
        above, below = np.concatenate([above, -open_side]), np.concatenate([below, open_side])
    low, high = (above, below) if sign > 0 else (-below, -above)
    return Measured(arms, sign * values, counts, low, high, *_shifts([*used, *of_controls], arms))


def _controls(controls: Controls, position: int, middle: float) -> tuple[list[Measurement], Ints, Floats]:
    """Return the readings of the controls that were read more than once, their arms, and their values.

    Only differences between readings of a control are informative, so each control is centred on the compounds.
    """
    read = [one for one in controls.readings if one.endpoint == position and one.usable]
    of_each: dict[int, list[float]] = {}
    for one in read:
        of_each.setdefault(one.compound, []).append(one.value)
    informative = [one for one in read if len(of_each[one.compound]) > 1]
    arms = np.array([controls.first + one.compound for one in informative], dtype=np.intp)
    values = np.array([one.value - float(np.mean(of_each[one.compound])) + middle for one in informative])
    return informative, arms, values


def _means(measured: Measured, n_arms: int) -> tuple[Floats, Floats]:
    exact = np.isfinite(measured.values)
    arms, weights = measured.arms[exact], measured.counts[exact]
    counts = np.bincount(arms, weights, n_arms).astype(np.float64)
    sums = np.bincount(arms, weights * measured.values[exact], n_arms)
    return counts, sums / np.maximum(counts, 1.0)


def _batch(m: Measurement) -> str:
    return m.entered.batch


def _day(m: Measurement) -> str:
    """Return the day of a value; without a date that of its round, which an assay is run for."""
    return m.entered.date or (f"round {m.round}" if m.round else "")


_KINDS: tuple[Callable[[Measurement], str], ...] = (
    lambda m: m.entered.plate,
    _day,
    _batch,
)


def _shifts(used: Sequence[Measurement], arms: Ints) -> tuple[tuple[Ints, ...], int]:
    """Return the groups of values that may be shifted together: plate, day, batch, and the table of the start.

    And how many of them, the first ones, are differences from the mean of all values with a group.

    The values of the table also differ from the campaign's compound by compound, ``arms`` ``(n,)``: they come from
    another assay of unknown noise. So do those of a few large batches, all but the largest.
    """
    found = []
    own: list[Flags] = []
    for label in _KINDS:
        names = [label(m).strip() for m in used]
        groups = {name: names.count(name) for name in set(names) if name} if len(set(names)) > 1 else {}
        kept = sorted(name for name, n in groups.items() if n >= _FEWEST)
        if len(kept) >= _FEWEST:
            place = {name: position for position, name in enumerate(kept)}
            found.append(np.array([place.get(name, -1) for name in names], dtype=np.intp))
            if label is _batch and len(kept) <= _MOST_CLASSES:
                rarer = sorted(kept, key=lambda name: groups[name])[:-1]
                own += [np.array([one == name for one in names]) for name in rarer if groups[name] >= _ENOUGH]
    centred = len(found)
    history: Flags = np.array([m.round == 0 for m in used], dtype=bool)
    if history.any() and not history.all():
        found.append(np.where(history, 0, -1).astype(np.intp))
        own.append(history)
    return (*found, *(np.where(chosen, arms, -1).astype(np.intp) for chosen in own)), centred
