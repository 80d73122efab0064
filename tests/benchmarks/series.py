"""Processor seconds of a plan under the series model, nothing kept from before: fit, joint draws and the batch.

By hand, one thread: ``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.series``.
"""

import csv
import gzip
import resource
import time

import numpy as np

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.models.gaussian_process.measured import Measured
from assaypilot.engine.strategies.gaussian_process.strategy import GaussianProcess
from assaypilot.engine.strategies.protocol import Capacity, Problem
from tests.public import DATA

GB1 = DATA / "real" / "gb1_149361.csv.gz"


def product(sizes, seed):
    """All combinations, and values with own deviations of a third of a site's effects."""
    rng = np.random.default_rng(seed)
    codes = np.stack([one.ravel() for one in np.meshgrid(*map(range, sizes), indexing="ij")], axis=1)
    values = sum(rng.normal(0, 0.6, size)[codes[:, site]] for site, size in enumerate(sizes))
    return codes, values + 0.2 * rng.standard_normal(len(codes))


def gb1():
    with gzip.open(GB1, "rt") as stream:
        rows = list(csv.DictReader(stream))
    sites = ("V39", "V40", "V41", "V54")
    codes = np.stack([np.unique([row[site] for row in rows], return_inverse=True)[1] for site in sites], axis=1)
    return codes, np.array([float(row["fitness"]) for row in rows])


def seconds(codes, values, n):
    """Processor seconds of decision and plan with ``n`` compounds measured at random."""
    rng, every = np.random.default_rng(3), np.ones(len(values), dtype=bool)
    features = SiteFeatures(codes, tuple(codes.max(axis=0) + 1))
    given = Problem(features, every, every, AllEpsilonBest(0.5, 0.25), 0.05, (0.2,), capacity=Capacity(96, 4, None))
    arms = np.sort(rng.permutation(len(values))[:n])
    strategy = GaussianProcess()
    seen = Measured.exact(arms, values[arms] + 0.2 * rng.standard_normal(n), np.ones(n))
    state = strategy.inform(strategy.start(given), (seen,))
    began = time.process_time()
    strategy.ask(strategy.apply(state, strategy.decision(state, n)))
    return time.process_time() - began


def main():
    tasks = [("1,000 candidates", product((10,) * 3, 1), 500, 0.5), ("10,000", product((10,) * 4, 1), 1000, 3.0)]
    if GB1.exists():
        tasks.append(("GB1, 149,361", gb1(), 1000, 10.0))
    for name, (codes, values), n, aim in tasks:
        taken = seconds(codes, values, n)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{name} with {n:,} measured: {taken:.2f} s (aim {aim:g} s), {most:,.0f} MB so far")


if __name__ == "__main__":
    main()
