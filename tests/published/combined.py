"""Everything a lab does at once, with whole campaigns: ``python -m tests.published.combined``.

Unknown noise, stock, lost compounds, partial rounds, corrections: one
at a time and together, through the campaign itself and its file. What is made is written down in combined-runs.jsonl
(or ``--kept FILE``), ten campaigns a line, so it can be stopped at any time and gone on with; REPORT-combined.md is
written from what there is. ``--report`` only writes that, ``--only NAME`` makes kinds whose name has this in it.
"""

import argparse
import json
import math
import tempfile
import time
from pathlib import Path

import numpy as np

from assaypilot.engine.simulate.scores import error_limits
from tests.published.combined_lab import SIGMA, TABLES, Kind, play

REPORT = Path(__file__).with_name("REPORT-combined.md")
KEPT = Path(__file__).with_name("combined-runs.jsonl")
PART = 10
KINDS = (
    Kind("nothing of it"),
    Kind("noise not known", unknown=True),
    Kind("stock", stock=True),
    Kind("lost compounds", lost=0.04),
    Kind("partial rounds", partial=True),
    Kind("corrections", typos=True),
    Kind("trade-offs: noise, lost, partial", "pareto", unknown=True, lost=0.02, partial=True),
    Kind("deviations (tau 0.1): noise, partial", unknown=True, partial=True, tau=0.1),
    Kind("mistake: noise said 1.3 times too small", partial=True, shrunk=1.3),
)  # fmt: skip


def read(path):
    """The lines of a file that there are, without a last one that was cut off."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]


def made(kind, part, folder):
    """What ten campaigns came to together, as one line of a file."""
    begun, told = time.process_time(), []
    for run in range(PART * part, PART * (part + 1)):
        path = Path(folder) / f"{run}.assaypilot"
        told.append(play(kind, run, path))
        path.unlink()
    total = {name: sum(one[name] for one in told) for name in ("wrong", "held", "finished", "low", "rounds")}
    return {
        "kind": kind.name,
        "part": part,
        "runs": PART,
        **total,
        "promised": round(sum(one["promised"] for one in told), 4),
        "steps": [round(float(x), 3) for x in np.sum([one["steps"] for one in told], axis=0)],
        "measurements": [one["measurements"] for one in told],
        "seconds": round(time.process_time() - begun, 1),
    }


def row(kind, lines):
    """A line of the table."""
    runs = sum(line["runs"] for line in lines)
    total = {name: sum(line[name] for line in lines) for name in ("wrong", "held", "finished", "low", "promised")}
    low, high = error_limits(total["wrong"], runs)
    squares, freedom, n, sums, of_squares = np.sum([line["steps"] for line in lines], axis=0)
    ratio = f"{squares / freedom:.3f} ± {1.645 * math.sqrt(2.0 / freedom):.3f}" if freedom else "-"
    drift = f"{sums / n:+.3f} ± {1.645 * math.sqrt(of_squares / n / n):.3f}" if n else "-"
    bound = f"{total['low'] / runs:.3f}" if kind.unknown else "-"
    used = np.median([m for line in lines for m in line["measurements"]])
    return (
        f"| {kind.name} | {runs} | {total['wrong']} | {total['wrong'] / runs:.3f} | {low:.3f} | {high:.3f} "
        f"| {total['promised'] / runs:.3f} | {ratio} | {drift} | {bound} | {total['held'] / runs:.2f} "
        f"| {total['finished'] / runs:.2f} | {used:,.0f} |"
    )


def report(lines):
    """The text."""
    tables = ", ".join(f"{math.prod(sizes)} ({per_round})" for sizes, per_round in TABLES)
    parts = [
        "# All at once",
        "",
        "Made by `python -m tests.published.combined`; seeds are fixed. Every run is a whole campaign with its file "
        f"and all its events, on tables by turns of {tables} compounds (measurements in a round), sigma {SIGMA:g}, "
        "epsilon 0.5, slack 0.25, asked for 70 % sure. Effects are multiples of 0.125, so that many compounds lie a "
        "hair on the wrong side of a border: just within epsilon, just beyond epsilon and slack. "
        "**Wrong** is a campaign in which anything untrue was "
        "decided after any round, while a guarantee was stated. Its limits are one-sided, of 95 % (Clopper and "
        "Pearson); **stated** is the mean of the largest error probability that each campaign stated.",
        "",
        "Union bounds and borders that are rarely all reached leave the rates far below what is stated, so that they "
        "alone would notice little. So the errors of the phases' estimates are compared with the standard errors they "
        "are decided by, too: **chi square** of all differences over its degrees of freedom is 1, and the mean step "
        "from a phase's leader to any compound (**drift**) is 0, both with what they may be off at 90 %. **Too low**: "
        "campaigns in which what was used for an unknown noise was ever below it, at most 0.03 of all. **Held**: those "
        "whose guarantee still stood when they were left, after 16 rounds at the latest; one that is handed over "
        "to the series model, as after values corrected when they had decided, is left there. The last row shows what "
        "a mistake looks like.",
        "",
        "| campaigns with | runs | wrong | rate | at least | at most | stated | chi square | drift | too low | held "
        "| ended | measurements |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for kind in KINDS:
        own = [line for line in lines if line["kind"] == kind.name]
        if own:
            parts.append(row(kind, own))
    return "\n".join(parts) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="of each kind")
    parser.add_argument("--only", default="", help="part of a kind's name")
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--report", action="store_true", help="only write the report")
    options = parser.parse_args(arguments)
    lines = read(options.kept)
    there = {(line["kind"], line["part"]) for line in lines}
    with tempfile.TemporaryDirectory() as folder:
        for part in range(0 if options.report else math.ceil(options.runs / PART)):
            for kind in KINDS:
                if (kind.name, part) not in there and options.only in kind.name:
                    lines.append(made(kind, part, folder))
                    with options.kept.open("a", encoding="utf-8", newline="\n") as stream:
                        stream.write(json.dumps(lines[-1]) + "\n")
                    print(lines[-1]["kind"], part, lines[-1]["wrong"], lines[-1]["seconds"], flush=True)
    REPORT.write_text(report(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
