"""The three ways to plan a phase: what they cost and what they tell."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.stock import PLANS
from assaypilot.engine.strategies.choosing import Costs, Plans
from assaypilot.engine.strategies.protocol import OUT, UNDECIDED, Capacity, Outcome, Problem
from assaypilot.engine.strategies.registry import get


def features(*sizes):
    return SiteFeatures.of(Library.product([Site(f"R{k}", tuple(map(str, range(n)))) for k, n in enumerate(sizes)]))


def problem(table, seed=0, delta=0.05, per_round=48):
    every = np.ones(table.n_rows, dtype=bool)
    return Problem(table, every, every, AllEpsilonBest(0.5, 0.25), delta, (0.2,), {}, seed, Capacity(per_round, 4))


def costs(rng, n, share, measurement=40.0):
    ready = rng.random(n) < share
    return Costs(ready, np.where(ready, 0.0, rng.uniform(500, 3000, n).round()), measurement, 4)


def measured(strategy, state, allocation, truth, rng):
    counts, means = np.zeros((1, len(truth))), np.zeros((1, len(truth)))
    counts[0, allocation.arms] = allocation.counts
    noise = rng.standard_normal(len(allocation.arms)) * 0.2 / np.sqrt(allocation.counts)
    means[0, allocation.arms] = truth[allocation.arms] + noise
    return strategy.tell(state, Outcome(allocation, counts, means, state.spent + allocation.total))


@pytest.mark.parametrize("seed", range(6))
def test_a_phase_for_a_few_differences_can_be_chosen_although_it_tells_of_little_else(seed):
    """The end of a campaign: those left differ at one site alone, and some of what tells them apart is to be made."""
    table, strategy, rng = features(3, 3), get("rage"), np.random.default_rng(seed)
    had = ~np.isin(np.arange(9), [4, 7])
    asked = replace(problem(table), goal=Best(0.1), measurable=had, wanted=had)
    state = strategy.start(asked)
    state = measured(strategy, state, strategy.ask(state), rng.normal(0.0, 0.01, 9), rng)
    last = np.isin(np.arange(9), [0, 3, 6])
    left = replace(state, status=np.where(last, UNDECIDED, OUT).astype(np.int8), active=last)
    plans = Plans(strategy, left, costs(rng, 9, 0.4))
    for way in PLANS:
        assert plans.named(way).allocation.total > 0


@pytest.mark.parametrize("seed", range(4))
def test_the_cheapest_costs_the_least_that_spans(seed):
    rng = np.random.default_rng(seed)
    table = features(3, 3)
    spent = costs(rng, 9, 0.3)
    strategy = get("adaptive")
    plan = Plans(strategy, strategy.start(problem(table)), spent).named("cheapest").allocation
    x = table.dense(np.arange(9))
    paid = float(spent.price[plan.arms].sum())
    least = min(
        float(spent.price[list(more)].sum())
        for k in range(6)
        for more in itertools.combinations(np.flatnonzero(~spent.ready), k)
        if np.linalg.matrix_rank(x[[*np.flatnonzero(spent.ready), *more]]) == 5
    )
    assert paid <= least + 1e-9  # what the stock tells alone may even make some of it needless
    assert np.linalg.matrix_rank(x[plan.arms]) == 5


@pytest.mark.parametrize("share", [0.04, 0.3])
def test_dearer_plans_tell_more(share):
    rng = np.random.default_rng(5)
    table = features(4, 5, 4, 3)
    strategy, spent = get("adaptive"), costs(rng, table.n_rows, share)
    truth = rng.normal(0, 0.6, table.n_columns)
    truth = table.dense(np.arange(table.n_rows)) @ truth
    state = strategy.start(problem(table))
    gains = []
    for _ in range(3):
        plans = Plans(strategy, state, spent)
        three = [plans.named(name) for name in PLANS]
        values = [one.value for one in three]
        paid = [float(spent.price[one.allocation.arms].sum()) for one in three]
        assert values == sorted(values, reverse=True)
        assert paid == sorted(paid)
        assert min(values) >= three[0].best * (1 - 1e-9)
        assert all(np.isfinite(values))
        assert all(one.allocation.counts.max() <= 4 for one in three)
        gains.append((values[0] / values[2], values[0] / values[1], paid[1], paid[2]))
        state = measured(strategy, state, three[1].allocation, truth, rng)
    if share < 0.1:
        # Where hardly anything is in stock, a small part of the money buys most of what money buys.
        whole, part, some, most = gains[0]
        assert whole > 1.5
        assert part > 1 + 0.5 * (whole - 1)
        assert some < 0.5 * most


def test_the_value_is_that_of_the_counts_themselves():
    rng = np.random.default_rng(1)
    table = features(4, 4, 3)
    strategy = get("linfact-g")
    plans = Plans(strategy, strategy.start(problem(table)), costs(rng, table.n_rows, 0.3))
    x = table.dense(np.arange(table.n_rows))
    for name in PLANS:
        one = plans.named(name)
        inverse = np.linalg.pinv((x[one.allocation.arms].T * one.allocation.counts) @ x[one.allocation.arms])
        worst = float(np.einsum("ij,ij->i", x @ inverse, x).max()) * one.allocation.total
        assert one.value == pytest.approx(worst, rel=1e-6)
        assert one.loss == pytest.approx(worst / one.best)
