"""How often the bound of an audit holds, and how wide it is: ``python -m tests.published.audits``.

practice-960 with own deviations, after three rounds of the series model. Missed members are then hidden among the
compounds that were never measured: where the model expects the highest values (near), or the lowest (far). Each audit
draws a sample of its own, measures it with noise, and states how many members are missed at most.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from assaypilot import datasets
from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.campaign import auditing
from assaypilot.engine.strategies.gaussian_process.strategy import GaussianProcess
from assaypilot.engine.strategies.protocol import IN, Outcome
from tests.published.series import problem

REPORT = Path(__file__).with_name("REPORT-audits.md")
AUDITS = 1_000
SD, EPSILON, ROUND, ROUNDS = 0.2, 0.5, 48, 3
SIZES, HIDDEN = (24, 48, 96), (5, 50, 200)


def campaign(seed: int = 1) -> tuple[Floats, Ints, Ints, Floats]:
    """Return true values ``(n,)``, the compounds measured, those that may be drawn, and the model's means ``(n,)``."""
    table = datasets.load("practice-960")
    with table.path.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    codes = np.stack([np.unique([row[site] for row in rows], return_inverse=True)[1] for site in table.sites], axis=1)
    rng = np.random.default_rng(seed)
    truth = np.array(datasets.truth("practice-960")[1]) + 0.3 * rng.standard_normal(len(codes))
    strategy = GaussianProcess()
    state = strategy.start(problem(codes.astype(np.intp), SD, EPSILON, ROUND, seed, None))
    seen = np.zeros(len(truth), dtype=bool)
    for _ in range(ROUNDS):
        plan = strategy.ask(state)
        counts, means = np.zeros((1, len(truth))), np.zeros((1, len(truth)))
        counts[0, plan.arms] = plan.counts
        means[0, plan.arms] = truth[plan.arms] + SD / np.sqrt(plan.counts) * rng.standard_normal(len(plan.arms))
        state = strategy.tell(state, Outcome(plan, counts, means, int(counts.sum()) + state.spent))
        seen[plan.arms] = True
    assert state.last is not None
    return truth, np.flatnonzero(seen), np.flatnonzero(~seen & (state.status != IN)), state.last.estimate[0]


def ledger(measured: Ints, values: Floats, drawn: Ints, population: int) -> Any:
    """Return what an audit looks at: one value of each measured compound, and the sample."""
    results = [
        SimpleNamespace(endpoint=0, compound=int(c), relation="=", excluded=None, withdrawn=False, value=float(v), n=1)
        for c, v in zip(measured, values, strict=True)
    ]
    items = [SimpleNamespace(compound=int(c)) for c in drawn]
    return SimpleNamespace(
        endpoints=[SimpleNamespace(sign=1)],
        objective=0,
        settings=SimpleNamespace(goal="epsilon-best", distance=EPSILON),
        measurements=results,
        rounds=[SimpleNamespace(population=population, state="closed", number=ROUNDS + 1, items=items)],
    )


def main() -> int:
    """Write the report; 1 where a bound holds too rarely."""
    truth, seen, population, means = campaign()
    auditing.assay_noise = cast("Any", SimpleNamespace(informing=lambda _: [SimpleNamespace(noise_sd=SD)]))
    lines = [
        "# Audits: how often the bound holds, and how wide it is",
        "",
        f"Made by `python -m tests.published.audits`: practice-960 with own deviations of .3 after {ROUNDS} rounds of "
        f"{ROUND}; {len(population)} compounds are neither in nor measured; {AUDITS:,} audits a row; 95 % is asked.",
        "",
        "| members hidden | sample | truly missed | bound holds | median bound, % of the population |",
        "|---|---|---|---|---|",
    ]
    least = 1.0
    order = population[np.argsort(means[population])]
    for place, of in (("near the model's best", order[::-1]), ("far from them", order)):
        for hidden in HIDDEN:
            for size in SIZES:
                values = truth.copy()
                border = values[seen].max() - EPSILON
                others = population[values[population] >= border]
                values[others] = border - 1.0  # only the hidden ones are members
                values[of[:hidden]] = border + 0.02
                rng = np.random.default_rng([hidden, size])
                held, widths = 0, []
                for _ in range(AUDITS):
                    drawn = rng.choice(population, size, replace=False)
                    measured = np.concatenate([seen, drawn])
                    noisy = values[measured] + SD * rng.standard_normal(len(measured))
                    told = auditing.audited(ledger(measured, noisy, drawn, len(population)))
                    assert told is not None
                    held += told.missed >= hidden - int(np.isin(of[:hidden], drawn).sum())
                    widths.append(told.missed / len(population))
                least = min(least, held / AUDITS)
                lines.append(
                    f"| {place} | {size} | {hidden} | {100 * held / AUDITS:.1f} % | {100 * np.median(widths):.1f} |"
                )
    lines += ["", f"The bound holds in {100 * least:.1f} % of the audits at least."]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(least < 0.95)


if __name__ == "__main__":
    sys.exit(main())
