"""Whether forecasts hold: whole campaigns in files, forecast at the start, after the first round and in the middle.

``python -m tests.published.forecasts [N]`` runs 60 campaigns (or N) of each strategy and writes REPORT-forecast.md
beside this file. A forecast's 80 % interval should hold the number of measurements that the campaign then really took
in 70 to 90 % of them: 240 campaigns show that to 5 % for all strategies together, 60 to 10 % for one. The tables'
contributions are not drawn as forecasts assume them: their sizes are those of public tables, and half of the tables
have more extreme ones than a normal distribution. Every tenth campaign is practice-960 as it is shipped.
"""

import sys
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.simulate.forecast import forecast_campaign
from assaypilot.engine.simulate.practice import _library, practice_truth
from tests.published.calibration_checks import limits
from tests.published.cases import processes

REPORT = Path(__file__).with_name("REPORT-forecast.md")
CAMPAIGNS = 60
"""Of each strategy; twice as many would narrow the intervals by a third and take 12 minutes more."""
STRATEGIES = {
    "linfact-g": "epsilon-best",
    "adaptive": "epsilon-best",
    "gege": "pareto",
    "lingame-c": "best",
}
SIZES = (
    (0.53, 0.27),  # antiadrenergic, 6 x 6
    (0.99, 0.55),  # tropanes, 5 x 2
    (0.49, 0.84),  # covboost: antibodies, neutralisation, cellular response, 2 x 10
    (0.25, 0.77),
    (0.20, 0.34),
    (0.57, 0.65, 0.91),  # CHEMBL2321810, 73 x 2 x 445
    (0.33, 0.15, 0.35),  # CHEMBL3638592, 42 x 5 x 486
)
"""SDs of contributions at the sites of public tables, in log units, by variance components."""
MOMENTS = ("start", "first round", "middle")
MOST_ROUNDS = 400


@dataclass(frozen=True)
class Look:
    """One forecast and what became of it."""

    moment: str
    low: int
    middle: int
    high: int
    rounds: tuple[int, int]
    open_ended: bool
    spent: int
    seconds: float


@dataclass(frozen=True)
class Played:
    """One campaign."""

    strategy: str
    seed: int
    compounds: int
    sd: float
    measurements: int
    rounds: int
    ended: bool
    looks: tuple[Look, ...]


def table(rng, largest):
    """Codes of a library of 2 to 5 sites and 30 or more compounds: a full product, or part of one."""
    while True:
        sizes = rng.integers(2, 13, rng.integers(2, 6))
        whole = int(np.prod(sizes))
        most = round(np.exp(rng.uniform(np.log(30), np.log(largest))))
        if whole < 30 or whole > 20_000:
            continue
        codes = np.array(list(product(*map(range, sizes))))
        if whole > most:
            codes = codes[rng.choice(whole, most, replace=False)]
        if len(codes) <= largest:
            return codes


def contributions(rng, codes):
    """True means of a table's compounds: the size of each site's contributions is about one of a public table."""
    sizes = SIZES[rng.integers(len(SIZES))]
    heavy = rng.random() < 0.5
    means = np.full(len(codes), 6.0)
    for site in codes.T:
        own = rng.choice(sizes) * np.exp(0.2 * rng.standard_normal())
        n = site.max() + 1
        effects = rng.laplace(0.0, own / np.sqrt(2.0), n) if heavy else rng.normal(0.0, own, n)
        means += effects[site]
    return means


def campaign_of(strategy, seed):
    """(library, endpoints, settings, truths) of one campaign."""
    rng = np.random.default_rng((2077, seed))
    sd, slack = ((0.2, 0.25), (0.2, 0.5), (0.3, 0.5))[seed % 3]
    several = STRATEGIES[strategy] == "pareto"
    if seed % 10 == 0:
        library = _library()
        truths = [practice_truth()]
    else:
        codes = table(rng, 1000)
        sites = [f"R{k + 1}" for k in range(codes.shape[1])]
        library = Library.listed(sites, [[f"S{code}" for code in row] for row in codes.tolist()])
        truths = [contributions(rng, codes)]
    if several:
        truths.append(contributions(rng, np.asarray(library.codes)))
    per_round = 96 if len(library) > 300 else 48
    if strategy in ("linfact-g", "gege"):
        per_round *= 4
    endpoints = [Endpoint(f"pIC50 {k + 1}", noise_sd=sd) for k in range(len(truths))]
    settings = Settings(
        objective="" if several else endpoints[0].name,
        epsilon=slack if several else 0.5,
        slack=None if several else slack,
        goal=STRATEGIES[strategy],
        strategy=strategy,
        per_round=per_round * len(truths),
        seed=seed,
    )
    return library, endpoints, settings, truths


def results(issued, library, endpoints, truths, rng):
    """What the lab says of a round: the mean of each compound's measurements."""
    out = []
    for item in issued.items:
        for endpoint, truth in zip(endpoints, truths, strict=True):
            sd = endpoint.noise_sd
            value = truth[item.compound] + sd / np.sqrt(item.replicates) * rng.standard_normal()
            out.append(
                Result(library.ids[item.compound], float(value), endpoint=endpoint.name, n=item.replicates, sd=sd)
            )
    return out


def play(strategy, seed):
    """One campaign in a file to its end, with its forecasts."""
    library, endpoints, settings, truths = campaign_of(strategy, seed)
    rng = np.random.default_rng((2078, seed))
    looks = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "c.assaypilot"

        def look(moment, spent):
            begun = time.process_time()
            made = forecast_campaign(path, seed=seed)
            spread, rounds = made.measurements, (made.rounds.low, made.rounds.high)
            seconds = time.process_time() - begun
            looks.append(Look(moment, spread.low, spread.middle, spread.high, rounds, made.open_ended, spent, seconds))

        with Campaign.create(path, library=library, endpoints=endpoints, settings=settings) as campaign:
            look("start", 0)
            spent = 0
            for _ in range(MOST_ROUNDS):
                issued = campaign.plan()
                if issued is None:
                    break
                if len(looks) == 1 and spent:
                    look("first round", spent)
                elif len(looks) == 2 and spent >= looks[0].middle / 2:
                    look("middle", spent)
                campaign.record(results(issued, library, endpoints, truths, rng))
                spent += issued.measurements
            now = campaign.status()
            return Played(
                strategy,
                seed,
                len(library),
                endpoints[0].noise_sd,
                now.measurements_used,
                len(now.rounds),
                now.finished,
                tuple(looks),
            )


def everything(campaigns=CAMPAIGNS, jobs=2):
    """All campaigns of all strategies, the same whatever the number of processes."""
    with processes(jobs) as pool:
        waiting = [pool.submit(play, strategy, seed) for seed in range(campaigns) for strategy in STRATEGIES]
        return [future.result() for future in waiting]


def holds(look, played):
    """Whether the interval holds what the campaign took."""
    return look.low <= played.measurements <= look.high


def row(strategy, moment, found):
    """One line of the report: the forecasts of a strategy at a moment."""
    looks = [(look, played) for played in found for look in played.looks if look.moment == moment]
    open_ = [(look, played) for look, played in looks if look.low < look.high]
    certain = [holds(look, played) for look, played in looks if look.low == look.high]
    if not open_:
        return (
            f"| {strategy} | {moment} | {len(looks)} | - | - | - | - | {sum(certain)} of {len(certain)} | - | - | - |"
        )
    right = sum(holds(look, played) for look, played in open_)
    lower, upper = limits(right, len(open_))
    above = sum(played.measurements > look.high for look, played in open_)
    width = np.median([(look.high - look.low) / look.middle for look, _ in open_])
    bias = np.median([played.measurements / look.middle for look, played in open_])
    seconds = np.median([look.seconds for look, _ in looks])
    return (
        f"| {strategy} | {moment} | {len(open_)} | {right / len(open_):.1%} | {lower:.1%} to {upper:.1%} | {above} |"
        f" {len(open_) - right - above} | {sum(certain)} of {len(certain)} | {width:.0%} | {bias:.2f} | {seconds:.2f} |"
    )


def ranges(seeds):
    """``0-24, 50-61``."""
    groups = []
    for seed in sorted(seeds):
        if groups and groups[-1][1] == seed - 1:
            groups[-1][1] = seed
        else:
            groups.append([seed, seed])
    return ", ".join(f"{first}-{last}" if first < last else f"{first}" for first, last in groups)


def sizes(played):
    """How many campaigns, of how many compounds, and what they took."""
    compounds, taken = [one.compounds for one in played], [one.measurements for one in played]
    return (
        f"{len(played)} campaigns (seeds {ranges([one.seed for one in played])}) of {min(compounds)} to "
        f"{max(compounds)} compounds, median {int(np.median(compounds))}; they took "
        f"{min(taken):,} to {max(taken):,} measurements"
    )


def report(found):
    """The report as markdown."""
    by = {strategy: [played for played in found if played.strategy == strategy] for strategy in STRATEGIES}
    by = {strategy: ended for strategy, played in by.items() if (ended := [one for one in played if one.ended])}
    asked = {**by, "all": [played for one in by.values() for played in one]}
    rows = "\n".join(row(strategy, moment, played) for strategy, played in asked.items() for moment in MOMENTS)
    counts = "\n".join(f"- {strategy}: {sizes(played)}" for strategy, played in by.items())
    return f"""# Whether forecasts hold

Made by `python -m tests.published.forecasts`; seeds are fixed. Campaigns:

{counts}

A forecast's interval should hold the number of measurements that the campaign then took in 80 % of them; 70 to 90 % is
asked for. Whole campaigns in files, with simulated results; every tenth is practice-960, the others are additive tables
of 2 to 5 sites and at most 1,000 compounds, whose contributions are as large as those of public tables, half of them
with more extreme ones than a normal distribution has. Goals: all within 0.5 of the best with slack 0.25 or 0.5 at an
assay noise of 0.2 or 0.3
(gege: differences of that size do not matter), 95 % sure.

- "start": before the first measurement. "first round": after it. "middle": after the round that reaches half of what
  the first forecast's middle said. A campaign that ended before a moment has no forecast there.
- "open": forecasts of more than one number. LinFACT and GEGE know beforehand what their last phase takes; forecasts
  of one number are "certain", and how many of those were right is said.
- "above", "below": how often it took more than the interval, or less. "5 to 95 %": one-sided limits of the rate.
- "width": of the interval, in its middle (median). "taken": what it took, in the forecast's middle (median).
- "seconds": processor time of a forecast (median), on the table sizes above, of processes that shared a busy machine.

| strategy | moment | open | hold | 5 to 95 % | above | below | certain and right | width | taken | seconds |
|---|---|---|---|---|---|---|---|---|---|---|
{rows}
"""


def main():
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else CAMPAIGNS
    REPORT.write_text(report(everything(campaigns)), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
