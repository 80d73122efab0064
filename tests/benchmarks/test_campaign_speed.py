"""How long a campaign makes people wait: medians of opening, planning and recording, printed as a table.

``pytest tests/benchmarks -m benchmark -s``. Wall time and processor time of this process, in milliseconds.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
import pytest

from assaypilot.engine.campaign import verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.simulate.practice import create_practice, practice_results, practice_truth

pytestmark = pytest.mark.benchmark

ROUNDS, PER_ROUND = 30, 96
GOALS = {"open, 30 rounds of 96": 500, "plan": 50, "record + status, 96 measurements": 100}
"""Milliseconds promised; for the table, not enforced: machines differ."""


class Table:
    """Times by what was done."""

    def __init__(self):
        self.rows: dict[str, list[tuple[float, float]]] = {}

    def timed(self, name, action):
        wall, processor = time.perf_counter(), time.process_time()
        result = action()
        spent = time.perf_counter() - wall, time.process_time() - processor
        self.rows.setdefault(name, []).append((1000 * spent[0], 1000 * spent[1]))
        return result

    def show(self):
        print(f"\n{'median, milliseconds':<42} {'wall':>8} {'worst':>8} {'processor':>10} {'n':>4} {'promised':>9}")
        for name, times in ((name, times) for name, times in self.rows.items() if times):
            wall, processor = zip(*times, strict=True)
            promised = GOALS.get(name, "")
            print(
                f"{name:<42} {statistics.median(wall):>8.1f} {max(wall):>8.1f} "
                f"{statistics.median(processor):>10.1f} {len(times):>4} {promised:>9}"
            )


@pytest.fixture(scope="module")
def table():
    table = Table()
    yield table
    table.show()


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    with create_practice(tmp_path_factory.mktemp("library") / "p.assaypilot") as campaign:
        return campaign.status().library


def long_campaign(path, library):
    """960 compounds, noisy enough that thirty rounds of 96 decide only some."""
    settings = Settings("pIC50", epsilon=0.5, slack=0.25, per_round=PER_ROUND, max_replicates=4)
    return Campaign.create(path, library=library, endpoints=[Endpoint("pIC50", noise_sd=0.3)], settings=settings)


def test_thirty_rounds_of_96(tmp_path, library, table):
    rng, truth = np.random.default_rng(1), practice_truth()
    path = tmp_path / "long.assaypilot"
    campaign = table.timed("create", lambda: long_campaign(path, library))
    while len(campaign.status().rounds) < ROUNDS:
        decided = campaign.status().phases_decided
        new_phase = campaign.status().phase is None
        issued = table.timed("plan, a new phase" if new_phase else "plan", campaign.plan)
        results = [
            Result(library.ids[item.compound], float(truth[item.compound] + 0.3 * rng.standard_normal()))
            for item in issued.items
            for _ in range(item.replicates)
        ]

        def enter(results=results):
            campaign.record(results)
            campaign.status()

        name = "record + status, 96 measurements" if len(results) == PER_ROUND else "record + status, a short round"
        table.timed(name, enter)
        if campaign.status().phases_decided > decided:
            table.rows[f"{name}, decides"] = [*table.rows.get(f"{name}, decides", []), table.rows[name].pop()]
    before = campaign.status()
    campaign.close()
    for _ in range(10):
        campaign = table.timed("open, 30 rounds of 96", lambda: Campaign.open(path))
        now = table.timed("first status after opening", campaign.status)
        campaign.close()
    assert (now.head, len(now.measurements)) == (before.head, len(before.measurements))
    with Campaign.open(path) as campaign:
        table.timed("history in words", campaign.history)
        table.timed("exclude + status", lambda: (campaign.exclude(9, "bubble", judgement=False), campaign.status()))
    table.timed("verify", lambda: verifying.verify(path))
    assert table.timed("verify, recomputed", lambda: verifying.verify(path, recompute=True)).ok


@pytest.mark.parametrize("seed", range(3))
def test_the_practice_campaign(tmp_path, table, seed):
    with create_practice(tmp_path / "p.assaypilot", seed=seed) as campaign:
        while True:
            phase = campaign.status().phase
            issued = table.timed("practice: plan, a new phase" if phase is None else "practice: plan", campaign.plan)
            if issued is None:
                break
            results = practice_results(campaign, issued)
            table.timed("practice: record + status", lambda r=results: (campaign.record(r), campaign.status()))
        assert campaign.status().finished
