"""Tables and settings on which strategies are compared: practice-960 and random additive ones, fixed by their seeds."""

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best
from assaypilot.engine.simulate import baselines, instances
from assaypilot.engine.simulate.instances import Drawn, Instance
from assaypilot.engine.simulate.runner import Task
from tests.published.forecasts import contributions

TABLES = 21
"""practice-960, and 20 that are drawn."""
SETTINGS = ((0.2, 0.5), (0.2, 0.25), (0.3, 0.5), (0.3, 0.25))
"""(SD of the assay, slack)."""
EPSILON, DELTA, PER_ROUND = 0.5, 0.05, 96
LEAST, MOST = 100, 5000


@dataclass(frozen=True)
class Pair:
    """A table and a setting."""

    table: int
    sd: float
    slack: float

    @property
    def name(self):
        return f"{table(self.table).name}, SD {self.sd:g}, slack {self.slack:g}"

    def task(self, strategy, parameters=None, *, best=False, per_round=PER_ROUND):
        """What is run: all within epsilon of the best, or (``best``) one within the slack of it."""
        goal = Best(self.slack) if best else AllEpsilonBest(EPSILON, self.slack)
        seed = 2100 + self.table
        return Task(
            baselines.get(strategy),
            table(self.table),
            seed,
            parameters or {},
            goal=goal,
            delta=DELTA,
            noise=(self.sd,),
            per_round=per_round,
        )


PAIRS = tuple(Pair(number, *setting) for number in range(TABLES) for setting in SETTINGS)


@cache
def table(number):
    """An instance without chance: 0 is practice-960, the others have 3 to 6 sites and 100 to 5,000 compounds.

    Every other one is a full product, the others a part of one. How large contributions are is drawn as for forecasts:
    about as in public tables, half of the tables with more extreme ones than a normal distribution.
    """
    if number == 0:
        return instances.get("practice-960")
    rng = np.random.default_rng((2100, number))
    codes = _codes(rng, whole=number % 2 == 1)
    sizes = tuple(int(top) + 1 for top in codes.max(axis=0))
    truth = contributions(rng, codes)
    name = f"{number}: {' x '.join(map(str, sizes))}"
    name += "" if len(codes) == np.prod(sizes) else f", {len(codes):,} of them"
    return _fixed(name, SiteFeatures(codes, sizes), truth)


@cache
def at_the_border(compounds):
    """As many compounds as worst for ``adaptive``: each a hair less than epsilon behind one leader, unlike any other.

    All but the leader may be put out wrongly, by errors that have little in common.
    """
    truth = np.full(compounds + 1, 1e-9 - EPSILON)
    truth[0] = 0.0
    return _fixed(f"{compounds} at the border", DenseFeatures(np.eye(compounds + 1)), truth)


def _fixed(name, features, truth):
    """An instance of one draw."""
    every = np.ones(len(truth), dtype=bool)
    goal = AllEpsilonBest(EPSILON, 0.25)
    drawn = Drawn(features, truth[None], truth[None], measurable=every, wanted=every, goal=goal, noise=(0.2,))
    return Instance(name=name, paper="random", title=name, draw=lambda _: drawn, random=False)


def _codes(rng, whole):
    """Codes of a library in which every substituent occurs."""
    while True:
        sizes = rng.integers(2, 13, rng.integers(3, 7))
        wanted = round(np.exp(rng.uniform(np.log(LEAST), np.log(MOST))))
        there = int(np.prod(sizes))
        if whole and not wanted / 1.5 <= there <= min(1.5 * wanted, MOST):
            continue
        if not whole and (not 1.5 * wanted <= there <= 20 * wanted or there > 50_000):
            continue
        codes = np.array(list(product(*map(range, sizes))))
        if not whole:
            codes = codes[np.sort(rng.choice(there, wanted, replace=False))]
        if len(codes) >= LEAST and all(len(np.unique(site)) == size for site, size in zip(codes.T, sizes, strict=True)):
            return codes
