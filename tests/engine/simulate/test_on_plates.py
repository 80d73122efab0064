"""A simulated lab that fills plates: two of a compound beside each other where only they tell the noise."""

import numpy as np

from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.simulate.instances import get
from assaypilot.engine.simulate.on_plates import Plates, sample_on_plates
from assaypilot.engine.simulate.replicates import Replicates
from assaypilot.engine.simulate.runner import Task, drawn_of, run_of
from assaypilot.engine.strategies.adaptive.one import Adaptive
from assaypilot.engine.strategies.protocol import Allocation, Certificate

TASK = Task(Adaptive(), get("practice-960"), seed=4, goal=AllEpsilonBest(0.5, 0.25), per_round=96, budget=192,
            plates=Plates(0.3, 21, 4), estimated=True)  # fmt: skip


def within(cells) -> int:
    """How many measurements repeat others of their plate."""
    return int((cells.counts[0] - 1).sum())


def test_pairs_are_dealt_to_plates_together() -> None:
    counts = np.array([2] * 20 + [3] * 4 + [1] * 6)
    allocation = Allocation(1, np.arange(30), counts, 0.1, Certificate("g", 1.0, 1.0))
    drawn = drawn_of(TASK, 0)
    repeats = {}
    for pairs in (False, True):
        outcome = sample_on_plates(drawn, allocation, np.random.default_rng(1), 0, TASK.plates, pairs=pairs)
        assert outcome.cells is not None
        assert outcome.cells.counts.sum() == counts.sum() == outcome.counts.sum()
        assert outcome.counts[0, :30].tolist() == counts.tolist()
        repeats[pairs] = within(outcome.cells)
    assert repeats[False] < 12
    assert repeats[True] >= 22, "a pair that comes between two plates is parted"


def test_beside_plates_their_own_replicates_tell_the_noise(monkeypatch) -> None:
    told = []
    decide = Replicates.to_decide

    def spied(self, state, counts):
        told.append(np.asarray(counts))
        return decide(self, state, counts)

    monkeypatch.setattr(Replicates, "to_decide", spied)
    run_of(TASK, 0)
    assert [int(counts.sum()) for counts in told] == [96, 96]
    first = told[0]
    assert 1 in first, "cells, not compounds: some pairs are on two plates"
    assert (first - 1).sum() > 0.75 * 48


def test_plates_are_filled_in_four_ways() -> None:
    """The same measurements; by the design and along the list each plate is a copy of the others."""
    counts = np.array([2] * 12 + [1] * 60)
    allocation = Allocation(1, np.arange(0, 72 * 13, 13), counts, 0.1, Certificate("g", 1.0, 1.0))
    drawn = drawn_of(TASK, 0)
    x = drawn.features.dense(allocation.arms)
    apart = {}
    for filled in ("design", "list", "lot", "table"):
        cells = sample_on_plates(drawn, allocation, np.random.default_rng(1), 0, Plates(0.3, 21, 4, filled)).cells
        assert cells is not None
        shares = np.zeros((4, len(counts)))
        shares[cells.blocks, np.searchsorted(allocation.arms, cells.arms)] = cells.counts[0]
        assert shares.sum(axis=0).tolist() == counts.tolist()
        assert shares.sum(axis=1).tolist() == [21.0] * 4
        apart[filled] = float(((shares @ x - counts @ x / 4) ** 2).sum())
    assert apart["design"] <= apart["list"] < apart["lot"] < apart["table"]
