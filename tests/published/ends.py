"""What the three plans say is still to measure, beside what campaigns then took.

``python -m tests.published.ends [RUNS]`` plays whole campaigns and writes REPORT-ends.md beside this file: lead series
of 69 compounds at four sites with effects drawn anew, three tenths of them in stock, by adaptive, with the same plan
chosen in every phase. At each choice it notes the plan's figure and, when the campaign has ended, what it came to.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.plan_choice import foreseen
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.stock import IN_STOCK, TO_MAKE, PlanName, StockLine, StockTerms
from assaypilot.engine.simulate.forecast import forecast_campaign

REPORT = Path(__file__).with_name("REPORT-ends.md")
SIZES, COMPOUNDS, SHARE = (5, 4, 4, 3), 69, 0.3
NOISE = 0.2


@dataclass(frozen=True)
class Kind:
    """Campaigns of one kind."""

    words: str
    guess: float
    unknown: bool


KINDS = (
    Kind("SD known", NOISE, unknown=False),
    Kind("SD not known, guessed right", NOISE, unknown=True),
    Kind("SD not known, guessed 1.5 times too large", 1.5 * NOISE, unknown=True),
)
WAYS: tuple[PlanName, ...] = ("cheapest", "fastest")


class Said(NamedTuple):
    """One figure: whether at the first choice, what it said, and what came."""

    first: bool
    said: int
    came: int


def play(job: tuple[Kind, PlanName, int]) -> list[Said]:
    """The figures of one campaign."""
    kind, way, seed = job
    rng = np.random.default_rng((3, seed))
    codes = np.array(np.unravel_index(rng.permutation(np.prod(SIZES))[:COMPOUNDS], SIZES)).T
    library = Library.listed(["R1", "R2", "R3", "R4"], [["ABCDE"[code] for code in row] for row in codes])
    truth = 6.0 + sum(rng.normal(0.0, 0.7, n)[codes[:, k]] for k, n in enumerate(SIZES))
    here = rng.random(COMPOUNDS) < SHARE
    lines = [
        StockLine(c, IN_STOCK) if here[c] else StockLine(c, TO_MAKE, float(rng.uniform(500, 3000)), 28.0)
        for c in range(COMPOUNDS)
    ]
    endpoint = Endpoint("pIC50", noise_sd=kind.guess, noise_estimated=kind.unknown)
    settings = Settings("pIC50", epsilon=0.5, slack=0.25, per_round=48, max_replicates=4, seed=seed)
    figures: list[tuple[int, int]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.assaypilot"
        stock = (lines, StockTerms(measurement_cost=40.0))
        with Campaign.create(path, library=library, endpoints=[endpoint], settings=settings, stock=stock) as campaign:
            while not (now := campaign.status()).finished:
                if now.open_round is None:
                    if now.choosable and now.phase is None:
                        made = forecast_campaign(path)
                        plans = foreseen(campaign.plan_options(), now, made.measurements.middle - now.measurements_used)
                        told = next(one.to_end for one in plans if one.name == way)
                        if told is not None:
                            figures.append((now.measurements_used, told))
                    issued = campaign.plan(choice=way if now.choosable else None)
                    if issued is None and not campaign.status().finished:
                        waited = campaign.status().stock
                        assert waited is not None
                        campaign.arrived([library.ids[order.compound] for order in waited.orders])
                    continue
                values = [
                    Result(library.ids[item.compound], float(truth[item.compound] + NOISE * rng.standard_normal()))
                    for item in now.open_round.items
                    for _ in range(item.replicates)
                ]
                campaign.record(values, close=True)
            total = campaign.status().measurements_used
    return [Said(used == 0, told, total - used) for used, told in figures]


def row(kind: Kind, way: PlanName, first: bool, found: list[Said]) -> str:
    """A line of the report."""
    ratios = np.array([one.said / one.came for one in found if one.first == first])
    low, middle, high = np.percentile(ratios, [10, 50, 90])
    when = "first" if first else "later"
    return f"| {kind.words} | {way} | {when} | {len(ratios)} | {middle:.2f} ({low:.2f} to {high:.2f}) |"


def main(arguments: list[str]) -> int:
    """0; plays the campaigns and writes the report."""
    runs = int(arguments[0]) if arguments else 10
    kinds = [(kind, way) for kind in KINDS for way in WAYS]
    with Pool(2) as pool:
        found = pool.map(play, [(*one, seed) for one in kinds for seed in range(runs)], chunksize=1)
    lines = [
        "# What the three plans say is still to measure",
        "",
        f"Made by `python -m tests.published.ends {runs}`: {runs} campaigns of each kind, lead series of {COMPOUNDS} "
        "compounds at four sites, three tenths in stock, by adaptive; within 0.5 of the best, soft by 0.25, noise "
        f"{NOISE}, rounds of 48. The figure of the plan that was then chosen, over what the campaign came to: median, "
        "and the 80 % interval. It is the middle of simulated campaigns, times what the plan tells less than the most "
        "telling one.",
        "",
        "| noise | plan | choice | figures | said over came |",
        "|---|---|---|---|---|",
    ]
    for place, (kind, way) in enumerate(kinds):
        own = [said for one in found[place * runs : (place + 1) * runs] for said in one]
        lines += [row(kind, way, first, own) for first in (True, False)]
    lines += [
        "",
        "Until replicates tell the noise a guess that is 1.5 times too large asks for 2.25 times as many: the figure "
        "is as good as the guess.",
        "",
    ]
    REPORT.write_text("\n".join(lines), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
