"""GEGE's decisions derived anew, by the bounds its phases made: see ``strategies.anew``."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assaypilot.engine.strategies.derived import Phase, derived
from assaypilot.engine.strategies.gege.confidence import phase_size
from assaypilot.engine.strategies.gege.parts import estimates, goal_of, units
from assaypilot.engine.strategies.gege.rules import Boxes, by_bounds
from assaypilot.engine.strategies.protocol import Decision, State, Strategy

__all__ = ["by_boxes"]


def by_boxes(strategy: Strategy, state: State, phases: Sequence[Phase]) -> Decision:
    """What the boxes around each compound's means say together, each the intersection of those of its phases."""
    problem = state.problem
    shape = (problem.n_endpoints, problem.n_arms)
    shown = np.stack([np.full(shape, np.nan), np.full(shape, -np.inf), np.full(shape, np.inf)])
    noise, unit = np.array(problem.noise)[:, None], units(problem)
    radii = {p.name: p.default for p in strategy.info.parameters} | dict(problem.parameters)
    for number, phase in enumerate(phases, start=1):
        arms = np.flatnonzero(phase.active)
        if not (phase.outcome.counts > 0).any() or not len(arms):
            continue
        among = int((problem.wanted & phase.known).sum()) if phase.revised else len(arms)
        size = phase_size(
            radii["radii"], number, 1.0,
            sigma=1.0, rank=1, arms=among, endpoints=problem.n_endpoints, delta=problem.delta,
        )  # fmt: skip
        found = estimates(problem, phase.outcome.counts, phase.outcome.means, arms)
        half = noise * math.sqrt(2.0 * size.log) * found.norms
        told = np.isfinite(half)
        shown[0][:, arms] = np.where(told, found.means, shown[0][:, arms])
        shown[1][:, arms] = np.maximum(shown[1][:, arms], np.where(told, found.means - half, -np.inf))
        shown[2][:, arms] = np.minimum(shown[2][:, arms], np.where(told, found.means + half, np.inf))
    bounded = np.isfinite(shown[2]).any(axis=0)
    asked = np.flatnonzero(problem.wanted & (state.active | bounded))
    nobody = np.zeros(len(asked), dtype=bool)
    margin = 1.0 if any(goal_of(problem).margins) else 0.0
    low, high = shown[1][:, asked] / unit, shown[2][:, asked] / unit
    verdict = by_bounds(Boxes(low, high), Boxes(low[:, :0], high[:, :0]), nobody, margin)
    ins, outs, left = (np.zeros(problem.n_arms, dtype=bool) for _ in range(3))
    for flags, found_flags in ((ins, verdict.ins), (outs, verdict.outs), (left, verdict.leaves)):
        flags[asked] = found_flags & bounded[asked]
    shown[1:] = np.where(np.isfinite(shown[1:]), shown[1:], np.nan)
    return derived(state, phases, shown, ins, outs, left)
