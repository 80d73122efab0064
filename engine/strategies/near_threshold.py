"""Phases of ``epsilon-best-fixed-budget``: all compounds equally first, then those near the threshold."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from ..arrays import Floats, Ints
from ..design import apportion, round_design
from ..design.criteria import Design
from ..errors import AssayPilotError
from ..system.progress import Report
from .designs import g_design, table
from .protocol import Allocation, Certificate, State

_GAP = 0.01
_STEPS = 40
"""Multiplicative steps of a design."""
_MOVES = 300
"""Measurements that are moved at most, one at a time, once there are whole ones."""
_REFRESH = 10
"""Moves after which it is looked again which compounds matter."""
_TINY = 1e-3
"""Added to all weights at every step, so that no compound is lost for good."""
_COUNTS = 1e-6
"""Share of all slopes below which a compound's is left out."""
_STEP = 0.02
"""Of the slope of a probability by its variance, relative."""
_MOST_CANDIDATES = 5_000
"""Compounds that a design chooses from, and compounds that it is made for."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(11)


def wrong(beyond: Floats, half: float, now: Floats, then: Floats) -> Floats:
    """Return the probability of deciding each compound wrongly at the end, as seen now.

    ``beyond``: how far its estimate is from the middle of a soft zone, of half-width ``half``; ``now`` and ``then``:
    the variance of that estimate, and of the one at the end. What the one at the end will be is normal about the one
    now, with the variance between; it is wrong when it is off by its own distance from the middle and ``half`` more.
    Eleven nodes: to within about a third, enough to rank compounds by how much they matter.
    """
    moved = np.sqrt(np.maximum(now - then, 0.0))
    later = np.abs(beyond[:, None] + moved[:, None] * _NODES)
    off: Floats = ndtr(-(later + half) / np.sqrt(then)[:, None]) @ _WEIGHTS / _WEIGHTS.sum()
    return off


def even_phase(state: State, size: int, report: Report) -> Allocation:
    """Design for every mean (G-optimal); with fewer measurements than effects, for the most informative compounds."""
    plan = g_design(state.problem.features, np.flatnonzero(state.problem.measurable), gap=_GAP, report=report)
    if size < plan.candidates.rank:
        few = np.argsort(-plan.design.weights, kind="stable")[:size]
        return _issued(
            state, plan.candidates.rows[plan.design.support[few]], np.ones(len(few), dtype=np.intp), "g", plan.design
        )
    most = _most(state, size)
    try:
        rounded = round_design(plan.design, plan.candidates, size, method="exchange", most=most, report=report)
    except AssayPilotError:
        # So few replicates of each are not enough: the lab takes more rounds for them.
        rounded = round_design(plan.design, plan.candidates, size, method="exchange", report=report)
    return _issued(state, plan.candidates.rows[rounded.support], rounded.counts, "g", plan.design)


def near_threshold(
    state: State,
    leader: int,
    rows: Ints,
    beyond: Floats,
    half: float,
    known: Floats,
    size: int,
    rest: int,
    report: Report,
) -> Allocation:
    """Return the phase that lessens the expected number of compounds decided wrongly at the end: see ``wrong``.

    ``beyond`` and ``half`` in units of the noise SD, of the differences from the leader; ``rest``: measurements still
    to come, these ``size`` included. ``known``: the information ``(c, c)`` so far.
    """
    features = state.problem.features
    candidates = table(features, np.flatnonzero(state.problem.measurable))
    places = np.arange(candidates.n_rows)
    if len(places) > _MOST_CANDIDATES:
        places = places[:: math.ceil(len(places) / _MOST_CANDIDATES)]
    kept = np.argsort(beyond, kind="stable")[:_MOST_CANDIDATES]
    away = features.dense(np.array([leader], dtype=np.intp)) - features.dense(rows[kept])
    y, b = away @ candidates.basis, beyond[kept]
    moving = np.einsum("ij,ij->i", y, y) > 1e-12
    y, b = y[moving], b[moving]
    x, base = candidates.coordinates(places), candidates.basis.T @ known @ candidates.basis
    if not len(y) or np.linalg.matrix_rank(base, hermitian=True) < candidates.rank:
        return even_phase(state, size, report)
    now = np.einsum("ij,ij->i", y @ np.linalg.inv(base), y)

    def mattering(inverse: Floats) -> tuple[Floats, Floats]:
        """Return the differences that more measurements would still improve, and how much, largest 1."""
        seen = y @ inverse
        then = np.minimum(np.maximum(np.einsum("ij,ij->i", seen, y), 1e-300), now)
        slopes = np.maximum(wrong(b, half, now, then) - wrong(b, half, now, then * (1.0 - _STEP)), 0.0) / then
        counted = slopes > _COUNTS * slopes.max()
        return y[counted], slopes[counted] / max(slopes.max(), 1e-300)

    def gains(inverse: Floats, matter: tuple[Floats, Floats]) -> Floats:
        """Return the gain of one more measurement of each candidate."""
        seen = matter[0] @ inverse
        got: Floats = np.einsum("ij,ij->i", x @ (seen.T @ (seen * matter[1][:, None])), x)
        return np.maximum(got, 0.0)

    weights = np.full(len(x), 1.0 / len(x))
    for _ in range(_STEPS):
        inverse: Floats = np.linalg.inv(base + rest * (x.T @ (x * weights[:, None])))
        weights = weights * np.sqrt(gains(inverse, mattering(inverse)))
        if not weights.sum() > 0.0:
            # Nothing is left that more measurements would improve.
            return even_phase(state, size, report)
        weights = weights / weights.sum() + _TINY / len(weights)
        weights /= weights.sum()
    # Whole measurements of a few: the largest weights.
    few = np.argsort(-weights, kind="stable")[: max(size // 2, 1)]
    counts = np.zeros(len(x), dtype=np.intp)
    counts[few] = apportion(weights[few], size)
    most = max(_most(state, size), math.ceil(size / len(x)))
    each = rest / size
    matter = (y[:0], b[:0])
    for move in range(_MOVES):
        inverse = np.asarray(np.linalg.inv(base + each * (x.T @ (x * counts[:, None]))), dtype=np.float64)
        if move % _REFRESH == 0:
            matter = mattering(inverse)
        gain, length = gains(inverse, matter), each * np.einsum("ij,ij->i", x @ inverse, x)
        lost = np.where((counts > 0) & (length < 1.0 - 1e-9), gain / np.maximum(1.0 - length, 1e-9), np.inf)
        give = int(np.argmin(np.where(counts > most, -1.0, lost)))
        won = np.where(counts < most, gain / (1.0 + length), -np.inf)
        take = int(np.argmax(won))
        if give == take or (counts[give] <= most and won[take] <= lost[give] * 1.0001):
            break
        counts[give] -= 1
        counts[take] += 1
    used = np.flatnonzero(counts)
    design = Design("xy", used, counts[used] / size, 0.0, 0.0, False, _STEPS, 0.0)
    return _issued(state, candidates.rows[places[used]], counts[used], "near", design)


def _most(state: State, size: int) -> int:
    capacity = state.problem.capacity
    assert capacity is not None
    return capacity.max_replicates * math.ceil(size / capacity.per_round)


def _issued(state: State, arms: Ints, counts: Ints, criterion: str, design: Design) -> Allocation:
    certificate = Certificate(criterion, design.value, design.lower_bound)
    return Allocation.after(state, arms, counts, math.inf, certificate)
