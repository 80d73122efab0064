"""``adaptive`` against LinFACT and the oracle: ``python -m tests.published.against``.

All compounds within 0.5 of the best, 95 % sure, in rounds of 96, on practice-960 and 20 random additive tables with two
assay noises and two soft zones. What is made is written down run by run in adaptive-runs.jsonl (or ``--kept FILE``), so
it can be stopped at any time and gone on with; REPORT-adaptive.md is written from what there is. ``--report`` only
writes that.
"""

import argparse
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import stats

from assaypilot.engine.simulate.baselines.oracle import simultaneous_level
from tests.published.against_runs import (
    BORDERS,
    EARLIER,
    NOISES,
    OF_PRACTICE,
    PRACTICE_RUNS,
    RUNS,
    make,
    own_level,
    read,
)
from tests.published.against_tables import DELTA, PAIRS, PER_ROUND, table
from tests.published.calibration_checks import limits
from tests.published.noise import interval

REPORT = Path(__file__).with_name("REPORT-adaptive.md")
KEPT = Path(__file__).with_name("adaptive-runs.jsonl")
COLUMNS = (
    "| table and setting | runs | adaptive | LinFACT-G | LinFACT-XY | oracle, all pairs | oracle, own level |"
    " oracle, all at once | bound | / LinFACT-G | / own oracle | / all at once |\n|" + 12 * "---|"
)
SHARE = 5
"""At most a fifth of LinFACT-G's measurements in the median over the pairs."""


def own_oracle(number, least):
    """What the oracle takes at adaptive's own level, from what it takes at that of all ordered pairs.

    Its design does not depend on the level, so measurements go with its square: with the quantile of 0.45 delta / K,
    what adaptive spends on one compound at its first look, in place of delta / (K (K - 1)).
    """
    compounds, own = table(PAIRS[number].table).compounds, stats.norm.isf(own_level(PAIRS[number].table))
    return math.ceil(least * (own / simultaneous_level(compounds, DELTA)) ** 2)


def medians(rows):
    """{(kind, pair): (median measurements, runs)}."""
    by = defaultdict(list)
    for row in rows:
        by[row["kind"], row["pair"]].append(row["measurements"])
    return {key: (float(np.median(values)), len(values)) for key, values in by.items()}


def line(number, known):
    """A row of the table of pairs; empty before all that it needs was made."""
    needed = [(kind, number) for kind in ("adaptive", "linfact-g", "oracle", "all at once")]
    if not all(key in known for key in needed):
        return ""
    (ours, runs), (plain, _), (least, _), (at_once, _) = (known[key] for key in needed)
    other, bound = (
        f"{known[kind, number][0]:,.0f}" if (kind, number) in known else "-" for kind in ("linfact-xy", "bound")
    )
    own = own_oracle(number, least)
    return (
        f"| {PAIRS[number].name} | {runs} | {ours:,.0f} | {plain:,.0f} | {other} |"
        f" {least:,.0f} | {own:,} | {at_once:,.0f} | {bound} | {ours / plain:.3f} | {ours / own:.2f} |"
        f" {ours / at_once:.2f} |"
    )


def of_best(rows):
    """What adaptive takes beside RAGE where the one best compound is asked for; empty before there is any."""
    known = medians(rows)
    ratios = [
        known["adaptive best", number][0] / known["rage", number][0]
        for number in range(len(PAIRS))
        if ("rage", number) in known and ("adaptive best", number) in known
    ]
    if not ratios:
        return ""
    wrong = sum(row["wrong"] for row in rows if row["kind"] == "adaptive best")
    return (
        f"RAGE answers another question, which compound is the best. There, on {len(ratios)} pairs with a slack as "
        f"above, adaptive takes {np.median(ratios):.2f} of its measurements in the median ({min(ratios):.2f} to "
        f"{max(ratios):.2f}); {wrong} answers were wrong.\n\n"
    )


def with_history(rows):
    """What values known before the campaign save on practice-960; empty before there is any."""
    known = medians(rows)
    told = [number for number in range(OF_PRACTICE) if ("history", number) in known and ("adaptive", number) in known]
    if not told:
        return ""
    wrong = sum(row["wrong"] for row in rows if row["kind"] == "history")
    lines = [
        f"| {PAIRS[number].name} | {known['adaptive', number][0]:,.0f} | {known['history', number][0]:,.0f} |"
        f" {known['history', number][1]} |"
        for number in told
    ]
    return f"""
## With values from before the campaign

{EARLIER} compounds at random, measured once before with the same noise; these are not counted. They name whom to
compare, in place of a first phase that decides nothing. Medians; {wrong} campaigns were wrong.

| table and setting | without | with {EARLIER} values | campaigns |
|---|---|---|---|
{chr(10).join(lines)}
"""


def other_noise(rows):
    """How often adaptive is wrong where errors are not normal; empty before there is any."""
    lines = []
    for number, asked in enumerate(NOISES):
        found = [row for row in rows if row["kind"] == "noise" and row["pair"] == number]
        if found:
            wrong, runs = sum(row["wrong"] for row in found), len(found)
            low, high = interval(wrong, runs)
            spent = np.median([row["measurements"] for row in found])
            lines.append(
                f"| {asked.shape} | {asked.delta} | {runs} | {wrong} | {wrong / runs:.3f} | {low:.3f} to {high:.3f} |"
                f" {spent:,.0f} |"
            )
    if not lines:
        return ""
    return f"""
## Errors that are not normal

The limits are those of normal errors, about four standard errors out. Here 27 compounds (3 x 3 x 3) whose effects are
steps of 0.125, so that many stand at a border; within 0.5, slack 0.25, SD 0.2, rounds of 24. Student's errors have the
stated SD; gross errors are ten times as large as the stated SD says. Nothing looks for outliers here; what a noise that
is estimated changes is in [REPORT-noise.md](REPORT-noise.md). Intervals are 95 % (Clopper-Pearson).

| errors | delta | campaigns | wrong | rate | 95 % | measurements |
|---|---|---|---|---|---|---|
{chr(10).join(lines)}
"""


def at_borders(rows):
    """How much of delta is spent where errors are as likely as they can be; empty before there is any."""
    lines = []
    for number, (delta, compounds) in enumerate(BORDERS):
        found = [row for row in rows if row["kind"] == "border" and row["pair"] == number]
        if found:
            wrong, runs = sum(row["wrong"] for row in found), len(found)
            low, high = limits(wrong, runs)
            lines.append(f"| {compounds} | {delta} | {runs} | {wrong} | {wrong / runs:.3f} | {low:.3f} | {high:.3f} |")
    if not lines:
        return ""
    return f"""
## At the border

How much of delta is spent: one leader, and compounds a hair less than epsilon behind it, each with an effect of its
own. All of them may be put out wrongly. Slack 0.25, SD 0.2, rounds of four measurements of each. Limits are one-sided,
95 %.

| compounds at the border | delta | campaigns | wrong | rate | at least | at most |
|---|---|---|---|---|---|---|
{chr(10).join(lines)}
"""


def beside_bound(made):
    """Of a row of the table: adaptive's measurements, the oracle's at its own level, and the bound; 0 for none."""
    return [float(made.split("|")[column].strip(" -").replace(",", "") or 0) for column in (3, 7, 9)]


def of_bound(ratios):
    """How many times the proven bound that is, and how many times the oracle takes; empty before there is one."""
    if not ratios:
        return ""
    ours, oracles = np.median(ratios, axis=0)
    times = [one for one, _ in ratios]
    return (
        f",\n  and {ours:.0f} times the proven bound ({min(times):.0f} to {max(times):.0f}),"
        f" of which that oracle takes {oracles:.0f}"
    )


def report(rows):
    """The report as markdown."""
    known = medians(rows)
    lines = [made for number in range(len(PAIRS)) if (made := line(number, known))]
    shares, times, at_once = ([float(made.split("|")[column]) for made in lines] for column in (10, 11, 12))
    bounds = [(ours / least, own / least) for ours, own, least in map(beside_bound, lines) if least]
    within = sum(share <= 1 / SHARE for share in shares)
    ours = [row for row in rows if row["kind"] == "adaptive"]
    wrong, undecided = sum(row["wrong"] for row in ours), sum(row["undecided"] > 0 for row in ours)
    low, high = limits(wrong, len(ours))
    steps = [step for row in ours for step in row["steps"]]
    p = stats.kstest(steps, "norm").pvalue
    return f"""# adaptive against LinFACT and the oracle

Made by `python -m tests.published.against`; seeds are fixed. All compounds within 0.5 of the best, 95 % sure, in rounds
of {PER_ROUND}, the last of which may be partial. {len(lines)} of {len(PAIRS)} pairs of a table and a setting;
{len(ours):,} campaigns of adaptive, {RUNS} of each asked for, and {PRACTICE_RUNS} of those of practice-960.

- Median over these pairs: {np.median(shares):.3f} of the measurements of LinFACT-G (asked for: {1 / SHARE:.3f}; at
  most that in {within} of {len(lines)}), {np.median(times):.2f} times those of the oracle at adaptive's own level
  ({min(times):.2f} to {max(times):.2f}){of_bound(bounds)}.
- {np.median(at_once):.2f} times ({min(at_once):.2f} to {max(at_once):.2f}) those of the oracle that has to show all
  compounds at once, as a strategy has to.
- Wrong: {wrong} of {len(ours):,} campaigns, delta {DELTA:g}; one-sided 95 % limits {low:.4f} and {high:.4f}. With
  something undecided at the end: {undecided}.
- Errors of {len(steps):,} differences, one from each phase, in the standard errors that were decided by: SD
  {np.std(steps):.3f}, Kolmogorov-Smirnov p {p:.3f}.

{of_best(rows)}Measurements are medians; LinFACT-XY is the tight one.
Many plans are equally good, and rounding decides between them: single runs change with the processor's linear algebra
and with the solvers, medians within chance. The oracles know the truth and have the design that is best for it from
the first well on. Each comparison is certified half of the time where the first two end: every ordered pair at the
level of all (5.31 standard errors for 960 compounds), and at adaptive's own, 0.45 delta for all compounds put in
together (4.07). The third ends where all comparisons hold at once, half of the time, at that level; a rival shown
not to be the best (0.1 delta) needs no comparison. The bound is proven: whoever errs with at most delta takes as many
in the mean; compounds in the soft zone, of which most hard ones of these tables are, add nothing to it.
Tables whose number is odd are full products.

{COLUMNS}
{chr(10).join(lines)}
{with_history(rows)}{other_noise(rows)}{at_borders(rows)}"""


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="against", description="adaptive against LinFACT and the oracle.")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where runs are written down")
    parser.add_argument("--most", type=int, help="runs to make now; all")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once; 2")
    parser.add_argument("--report", action="store_true", help="only the report, of what there is")
    options = parser.parse_args(arguments)
    if not options.report:
        make(options.kept, options.jobs, options.most)
    REPORT.write_text(report(read(options.kept)), encoding="utf-8", newline="\n")
    print(REPORT.name)


if __name__ == "__main__":
    main()
