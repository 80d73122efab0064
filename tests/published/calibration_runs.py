"""Simulated campaigns on the strategy's level, a phase at a time, from sufficient statistics."""

import time

import numpy as np

from assaypilot.engine.strategies.protocol import Outcome
from tests.published.calibration_checks import Calibration, inverse_of, is_wrong, standardised
from tests.published.calibration_kinds import Seen
from tests.strategies import came_back

SHRUNK = 1.3


def calibrate(kind, instance, mode, runs, *, first=0, lost=0.0):
    """What ``runs`` campaigns came to; with ``lost`` each measurement is lost with that chance, whatever its value."""
    begun = time.process_time()
    found = Calibration(kind.label, instance.name, mode or "-", instance.delta)
    for seed in range(first, first + runs):
        problem = instance.problem(mode, kind.parameters, seed)
        state = campaign(kind, instance, mode, problem, np.random.default_rng((2070, seed)), found, lost)
        found.runs += 1
        found.wrong += is_wrong(problem.goal, state.status, instance.truth, instance.wanted)
        found.unfinished += bool((state.status[problem.wanted] == 0).any())
        found.measurements.append(state.spent)
    found.seconds = time.process_time() - begun
    return found


def campaign(kind, instance, mode, problem, rng, found, lost):
    """The last state of one campaign; what its phases say of their bounds goes into ``found``."""
    strategy = kind.make()
    state = strategy.start(problem)
    for _ in range(kind.most):
        if strategy.stop(state):
            break
        allocation = strategy.ask(state)
        outcome = answers(instance, problem, allocation, rng, state.spent, lost)
        decision = strategy.decide(state, outcome)
        if decision is None:
            state = strategy.tell(state, outcome)
            continue
        look(Seen(kind, instance, mode, state, outcome, decision), found)
        state = strategy.apply(state, decision)
    return state


def answers(instance, problem, allocation, rng, spent, lost):
    """What comes back of a phase."""
    if instance.response == "gaussian":
        return came_back(problem, instance.truth, allocation, rng, spent=spent, lost=lost)
    counts, means = np.zeros(instance.truth.shape), np.zeros(instance.truth.shape)
    back = rng.binomial(allocation.counts, 1.0 - lost)
    kept = back > 0
    counts[0, allocation.arms[kept]] = back[kept]
    shares = 1.0 / (1.0 + np.exp(-instance.truth[0, allocation.arms[kept]]))
    means[0, allocation.arms[kept]] = rng.binomial(back[kept], shares) / back[kept]
    return Outcome(allocation, counts, means, spent + int(counts.sum()))


def look(seen, found):
    """Add a phase's standardised errors, and how its half-widths compare with the statement's."""
    claimed, ratio = seen.kind.width(seen)
    found.promise = max(found.promise, ratio)
    if claimed is None or not seen.kind.normal:
        return
    x = seen.instance.x
    for row, counts in enumerate(seen.outcome.counts):
        if not counts.any():
            continue
        truth = seen.instance.truth[row]
        if seen.instance.additive is not None:
            # What least squares makes of a truth that does not add up.
            truth = x @ (inverse_of(x, counts) @ (x.T @ (counts * truth)))
        found.errors += standardised(x, counts, seen.decision.estimate[row] - truth, claimed[row])
