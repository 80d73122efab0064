"""Whole campaigns of LinFACT-G in files: phases cut into rounds, rounds that come back in part, some failed."""

import math
import tempfile
import time
from pathlib import Path

import numpy as np

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from tests.oracles import linfact as oracle
from tests.published.calibration_checks import Calibration, is_wrong, standardised
from tests.strategies import dense

PER_ROUND, REPLICATES = 240, 30


def calibrate_files(sites, mode, runs, *, first=0):
    """What ``runs`` campaigns on a table of sites came to."""
    begun = time.process_time()
    found = Calibration("LinFACT-G", sites.name, mode, sites.delta)
    x, truth = dense(sites.features), sites.truth
    rows = [[f"{'abc'[k]}{code}" for k, code in enumerate(row)] for row in sites.codes]
    library = Library.listed([f"R{k + 1}" for k in range(len(sites.sizes))], rows)
    goal = AllEpsilonBest(sites.epsilon, sites.slack)
    for seed in range(first, first + runs):
        rng = np.random.default_rng((2071, seed))
        settings = Settings(
            objective="pIC50",
            epsilon=sites.epsilon,
            slack=sites.slack,
            delta=sites.delta,
            per_round=PER_ROUND,
            max_replicates=REPLICATES,
            budget=sites.budget,
            parameters={"decide": mode},
            seed=seed,
        )
        with (
            tempfile.TemporaryDirectory() as folder,
            Campaign.create(
                Path(folder) / "c.assaypilot",
                library=library,
                endpoints=[Endpoint("pIC50", noise_sd=sites.sd)],
                settings=settings,
            ) as campaign,
        ):
            _carry_out(campaign, found, x, truth, rng)
            status = campaign.status()
            found.runs += 1
            found.wrong += is_wrong(goal, status.candidates.status, truth)
            found.unfinished += status.counts["undecided"] > 0
            found.measurements.append(status.measurements_used)
    found.seconds = time.process_time() - begun
    return found


def _carry_out(campaign, found, x, truth, rng):
    """Plan and record rounds until the campaign is finished."""
    counts = np.zeros(len(x))
    status = campaign.status()
    ids, sd = status.library.ids, status.endpoints[0].noise_sd
    decided, bounds = 0, status.candidates.low
    while (issued := campaign.plan()) is not None:
        part = rng.random() < 0.4
        results = []
        for item in issued.items:
            back = int(rng.binomial(item.replicates, 0.7)) if part else item.replicates
            counts[item.compound] += back
            values = truth[item.compound] + sd * rng.standard_normal(back)
            results += [Result(ids[item.compound], float(value)) for value in values]
        if len(results) == issued.measurements or not results:
            missing = "return"
        else:
            missing = "failed" if rng.random() < 0.3 else "return"
        order = rng.permutation(len(results))
        if results:
            campaign.record([results[k] for k in order], close=True, missing=missing)
        else:
            campaign.close_round(missing)
        status = campaign.status()
        if status.phases_decided > decided:
            decided, candidates = status.phases_decided, status.candidates
            if found.mode == "realised":
                anew = candidates.low != bounds
                half = (candidates.high - candidates.low) / 2
                centre = np.where(anew, (candidates.high + candidates.low) / 2, np.nan)
                sds = half / math.sqrt(2 * oracle.log_term(len(x), decided, found.delta))
                found.errors += standardised(x, counts, centre - truth, sds)
            counts, bounds = np.zeros(len(x)), candidates.low
