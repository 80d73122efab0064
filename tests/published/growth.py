"""How time and memory grow with results and compounds: ``python -m tests.published.growth`` writes the report.

Each size in a process of its own, one after the other. Times are of the process's own processor time, in seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.cli.files import export_shortlist
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result

REPORT = Path(__file__).parent / "REPORT-growth.md"
RESULTS = (1_000, 10_000, 100_000)
COMPOUNDS = (10_000, 100_000, 1_000_000)
MEASURED = (500, 1_000, 2_000, 5_000)
SETTINGS = Settings("pIC50", epsilon=0.5, slack=0.5, per_round=96, max_replicates=2, seed=3)
MOST = 4_800
"""Results of one entry while a campaign is filled."""


def library(compounds: int) -> Library:
    """All products of equally large sites, three to six of them."""
    sites = round(np.log10(compounds))
    return Library.product([Site(f"R{k + 1}", tuple(f"s{i}" for i in range(10))) for k in range(sites)])


def create(path: Path, compounds: int) -> Campaign:
    """Return a new campaign on such a library."""
    endpoints = (Endpoint("pIC50", noise_sd=0.3),)
    return Campaign.create(path, library=library(compounds), endpoints=endpoints, settings=SETTINGS)


def timed(told: dict[str, float], name: str, action: Callable[[], object]) -> None:
    """Keep the processor time of an action under a name."""
    begun = time.process_time()
    action()
    told[name] = time.process_time() - begun


def memory() -> float:
    """Return the peak memory of this process in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def of_results(path: Path, size: int) -> dict[str, float]:
    """Return the times of a campaign on 1,000 compounds with that many results."""
    rng = np.random.default_rng(1)
    effects = rng.normal(size=(3, 10))
    given = 0

    def batch(library: Library, n: int) -> list[Result]:
        nonlocal given
        rows = np.arange(given, given + n) % len(library)
        given += n
        means = 6.0 + sum(effects[k][library.codes[rows, k]] for k in range(3))
        values = means + 0.3 * rng.standard_normal(n)
        return [Result(library.ids[row], float(value), "pIC50") for row, value in zip(rows, values, strict=True)]

    with create(path, 1_000) as campaign:
        compounds = campaign.status().library
        campaign.plan()
        while given < size:
            campaign.record(batch(compounds, min(MOST, size - given)), again=True, close_when_complete=False)
    told: dict[str, float] = {}
    opened: list[Campaign] = []
    timed(told, "open", lambda: opened.append(Campaign.open(path)))
    with opened[0] as campaign:
        timed(told, "status", campaign.status)
        new = batch(compounds, 96)
        timed(told, "record 96", lambda: campaign.record(new, close_when_complete=False))
    return told | {"MB": memory()}


def of_compounds(path: Path, size: int) -> dict[str, float]:
    """Return the times of a new campaign with that many compounds."""
    told: dict[str, float] = {}
    made: list[Campaign] = []
    timed(told, "create", lambda: made.append(create(path, size)))
    with made[0] as campaign:
        timed(told, "plan", campaign.plan)
        timed(told, "status", campaign.status)
        now, out = campaign.status(), path.with_suffix(".csv")
        timed(told, "csv of all", lambda: export_shortlist(now, out, "all"))
    timed(told, "open", lambda: Campaign.open(path, read_only=True).close())
    return told | {"MB": memory()}


def of_model(path: Path, known: int, sizes: tuple[int, int, int]) -> dict[str, float]:
    """Return the times of the series model with so many compounds of a product known, 96 a round."""
    rng = np.random.default_rng(2)
    compounds = Library.product([Site(f"R{k + 1}", tuple(f"s{i}" for i in range(n))) for k, n in enumerate(sizes)])
    codes = compounds.codes
    means = 6.0 + 0.2 * rng.standard_normal(len(compounds)) + rng.normal(0.0, 0.2, sizes[:2])[codes[:, 0], codes[:, 1]]
    means += sum(rng.normal(0.0, 0.4, n)[codes[:, k]] for k, n in enumerate(sizes))

    def measured(rows: Iterable[int]) -> list[Result]:
        return [Result(compounds.ids[row], means[row] + 0.3 * rng.standard_normal(), "pIC50") for row in rows]

    history = measured(rng.choice(len(compounds), known, replace=False))
    settings = replace(SETTINGS, strategy="gaussian-process")
    endpoints = (Endpoint("pIC50", noise_sd=0.3),)
    told: dict[str, float] = {}
    with Campaign.create(path, library=compounds, endpoints=endpoints, settings=settings, history=history) as campaign:
        timed(told, "plan", campaign.plan)
        issued = campaign.status().open_round
        assert issued is not None
        new = measured(item.compound for item in issued.items for _ in range(item.replicates))
        timed(told, "record 96", lambda: campaign.record(new))
    return told | {"MB": memory()}


KINDS: dict[str, tuple[Callable[[Path, int], dict[str, float]], tuple[int, ...]]] = {
    "results": (of_results, RESULTS),
    "compounds": (of_compounds, COMPOUNDS),
    "measured": (lambda path, size: of_model(path, size, (25, 20, 20)), MEASURED),
    "listed": (lambda path, size: of_model(path, 500, (100, 100, size // 10_000)), COMPOUNDS[1:]),
}


def table(kind: str, rows: dict[int, dict[str, float]]) -> list[str]:
    """Return a table with a line for each size, and the exponent over the last tenfold step."""
    names = list(next(iter(rows.values())))
    lines = [f"| {kind} | {' | '.join(names)} |", f"|{'---|' * (len(names) + 1)}"]
    for size, told in rows.items():
        cells = (f"{told[name]:.0f}" if name == "MB" else f"{told[name]:.2f}" for name in names)
        lines.append(f"| {size:,} | {' | '.join(cells)} |")
    (small, before), (large, after) = list(rows.items())[-2:]
    steps = (np.log(after[name] / max(before[name], 1e-3)) / np.log(large / small) for name in names)
    return [*lines, f"| exponent, last step | {' | '.join(f'{step:.1f}' for step in steps)} |"]


def main() -> None:
    """Measure every size in a process of its own, and write the report; with ``--one`` measure one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, metavar=("KIND", "SIZE"))
    options = parser.parse_args()
    if options.one is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(KINDS[options.one[0]][0](Path(folder) / "x.assaypilot", int(options.one[1]))))
        return
    lines = ["# Growth", "", "Made by `python -m tests.published.growth`. Processor seconds; MB at the peak."]
    lines += ["First a proven campaign; then the series model, with so many of 10,000 compounds measured before,"]
    lines += ["and with 500 of so many.", ""]
    for kind, (_, sizes) in KINDS.items():
        rows = {}
        for size in sizes:
            command = [sys.executable, "-m", "tests.published.growth", "--one", kind, str(size)]
            rows[size] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        lines += [*table(kind, rows), ""]
    REPORT.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
