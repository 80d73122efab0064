"""What tests are made of: libraries, tables (full, sparse, of deficient rank), goals, problems, what comes back."""

import itertools

import numpy as np
import pytest
from hypothesis import strategies as st

from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.domain.library import Library
from assaypilot.engine.strategies.protocol import Outcome, Problem

seeds = st.integers(0, 2**32 - 1)

# What people put in tables: letters of several alphabets, brackets, markup, spaces.
labels = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8)


def few(first, *, of):
    """Numbers to draw from: the first in every run, the others, which draw the same again, in a slow one."""
    return [pytest.param(number, marks=pytest.mark.slow if number >= first else ()) for number in range(of)]


@st.composite
def goals(draw, slack=None):
    epsilon = draw(st.floats(1e-3, 10.0))
    return AllEpsilonBest(epsilon, draw(st.floats(0.0, 10.0)) if slack is None else slack)


@st.composite
def libraries(draw, min_compounds=1, max_compounds=30, unique_rows=False):
    """Libraries of one to four sites, some compounds without structure or not to be had."""
    names = draw(st.lists(labels, min_size=1, max_size=4, unique=True))
    shelves = [draw(st.lists(labels, min_size=1, max_size=4, unique=True)) for _ in names]
    row = st.tuples(*(st.sampled_from(shelf) for shelf in shelves))
    most = max_compounds
    if unique_rows:
        most = min(most, int(np.prod([len(shelf) for shelf in shelves])))
    rows = draw(st.lists(row, min_size=min(min_compounds, most), max_size=most, unique=unique_rows))
    n = len(rows)
    ids = draw(st.one_of(st.none(), st.lists(labels, min_size=n, max_size=n, unique=True)))
    if ids is None and len(set(rows)) < n:
        ids = [f"C{i}" for i in range(n)]
    smiles = draw(st.one_of(st.none(), st.lists(st.sampled_from(["", "CC", "c1ccccc1"]), min_size=n, max_size=n)))
    measurable = draw(st.one_of(st.none(), st.lists(st.booleans(), min_size=n, max_size=n)))
    return Library.listed(names, rows, ids=ids, smiles=smiles, measurable=measurable)


def product(sizes):
    """Every combination of codes, ``(n, n_sites)``."""
    return np.array(list(itertools.product(*map(range, sizes))), dtype=np.int32)


def plain(x):
    """Candidates of numbers, in their own coordinates."""
    return ProjectedFeatures(DenseFeatures(np.asarray(x, dtype=float)), None, np.eye(np.shape(x)[1]))


def unit_rows(rng, k, d):
    """Rows on the unit sphere."""
    rows = rng.standard_normal((k, d))
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def random_table(rng, kind, most=40):
    """Codes and sizes of 2 to 5 sites with 2 to 5 substituents each, distinct rows.

    ``full``: all combinations, at most ``most``; ``sparse``: some of them; ``deficient``: some
    in which sites go together, so that the rank is below that of the full product.
    """
    while True:
        sizes = tuple(int(n) for n in rng.integers(2, 6, rng.integers(2, 6)))
        size = int(np.prod(sizes))
        if kind != "full" or size <= most:
            break
    if kind == "full":
        return product(sizes), sizes
    codes = np.column_stack([rng.integers(0, n, 4 * most) for n in sizes])
    if kind == "deficient":
        # A second site that says nothing beyond the first, and blocks that share no substituent.
        codes[:, 1] = codes[:, 0] % sizes[1]
        codes = codes[(codes[:, 0] < 2) == (codes[:, -1] < 2)]
    codes = np.unique(codes, axis=0)
    codes = codes[rng.permutation(len(codes))[: int(rng.integers(2, most))]]
    return codes.astype(np.int32), sizes


@st.composite
def site_tables(draw, most=40):
    """Site features of random tables, full, sparse or of deficient rank."""
    rng = np.random.default_rng(draw(seeds))
    codes, sizes = random_table(rng, draw(st.sampled_from(["full", "sparse", "deficient"])), most)
    return SiteFeatures(codes, sizes)


def dense(features):
    """All rows as a matrix."""
    return features.dense(np.arange(features.n_rows))


def problem_of(
    features,
    *,
    goal=None,
    epsilon=0.5,
    slack=0.25,
    delta=0.1,
    sd=0.2,
    measurable=None,
    wanted=None,
    capacity=None,
    seed=0,
    **parameters,
):
    """A problem that asks about every row; ``sd`` is one number, or one for each endpoint of the goal."""  # fmt: skip
    everything = np.ones(features.n_rows, dtype=bool)
    return Problem(
        features=features,
        measurable=everything if measurable is None else np.asarray(measurable, dtype=bool),
        wanted=everything if wanted is None else np.asarray(wanted, dtype=bool),
        goal=AllEpsilonBest(epsilon, slack) if goal is None else goal,
        delta=delta,
        noise=tuple(np.atleast_1d(sd).tolist()),
        parameters=parameters,
        seed=seed,
        capacity=capacity,
    )


def came_back(problem, truth, allocation, rng, *, spent=0, lost=0.0, extra=0):
    """The outcome of a phase when each measurement is lost with probability ``lost``, whatever its value.

    ``truth`` is ``(n_arms,)`` or ``(n_endpoints, n_arms)``. ``extra`` measurements of random arms come back unasked.
    Means are drawn as such, not one value at a time.
    """
    counts = np.zeros((problem.n_endpoints, problem.n_arms))
    counts[:, allocation.arms] = rng.binomial(allocation.counts, 1.0 - lost, (len(counts), len(allocation.arms)))
    for arm in rng.choice(np.flatnonzero(problem.measurable), extra):
        counts[:, arm] += 1
    errors = rng.standard_normal(counts.shape) * np.array(problem.noise)[:, None] / np.sqrt(np.maximum(counts, 1.0))
    means = np.where(counts > 0, truth + errors, 0.0)
    return Outcome(allocation, counts, means, spent + int(counts.max(axis=0).sum()))


def phases(strategy, problem, truth, rng, *, most=40, **came):
    """(state before, outcome, decision) of each phase until the strategy stops or ``most`` phases have come."""
    state = strategy.start(problem)
    for _ in range(most):
        if strategy.stop(state):
            return
        outcome = came_back(problem, truth, strategy.ask(state), rng, spent=state.spent, **came)
        decision = strategy.decide(state, outcome)
        yield state, outcome, decision
        state = strategy.tell(state, outcome)


def finished(strategy, state, truth, rng, *, most=400, **came):
    """The state once the strategy stops, or after ``most`` phases."""
    for _ in range(most):
        if strategy.stop(state):
            break
        outcome = came_back(state.problem, truth, strategy.ask(state), rng, spent=state.spent, **came)
        state = strategy.tell(state, outcome)
    return state
