"""How long exports make people wait, and how large they are: one line per format, printed.

``pytest tests/benchmarks/test_export_speed.py -m benchmark -s``. Wall and processor time of this process.
"""

import dataclasses
import time

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.chemistry.cores import CORE_SITE, with_structures
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Scaffold, Site
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.export.contents import Choice, contents
from assaypilot.engine.export.formats import write

pytestmark = pytest.mark.benchmark

CORE = "c1cc2c(cc1[*:1])c([*:2])nn2[*:3]"
FIRST = ["[H]", "C", "F", "Cl", "OC", "C#N", "C(F)(F)F", "CC", "O", "N(C)C"]
SECOND = [
    "[H]",
    "C",
    "c1ccccc1",
    "c1ccccc1F",
    "N1CCCCC1",
    "NS(C)(=O)=O",
    "OCCOC",
    "N1CCOCC1",
    "C(C)(C)C",
    "NC(=O)c1ccncc1",
]
THIRD = ["[H]", "C", "C1CC1", "Cc1ccccc1", "C(C)=O", "CC(=O)O", "CC(F)(F)F", "C(C)C", "CCOC", "CC#C"]
PROMISED = {(".xlsx", 1_000): 10.0, (".pdf", 500): 15.0}
"""Seconds; for the table, not enforced: machines differ."""


@pytest.fixture(scope="module")
def lines():
    found = []
    yield found
    print(f"\n{'export':<28} {'rows':>9} {'wall s':>8} {'cpu s':>8} {'MB':>7} {'promised s':>11}")
    print("\n".join(found))


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """1,000 indazoles, a thousand measurements in three rounds."""
    parts = [[f"[*:{n}]{text}" for text in texts] for n, texts in enumerate((FIRST, SECOND, THIRD), start=1)]
    library = Library.product([Site(f"R{n}", tuple(texts)) for n, texts in enumerate(parts, start=1)])
    library = with_structures(dataclasses.replace(library, scaffold=Scaffold((CORE,), ((CORE_SITE, CORE),))))
    rng = np.random.default_rng(1)
    means = 6.5 + sum(0.6 * rng.standard_normal(10)[library.codes[:, k]] for k in range(3))
    settings = Settings("pIC50", epsilon=0.5, per_round=384)
    path = tmp_path_factory.mktemp("series") / "x.assaypilot"
    endpoints = [Endpoint("pIC50", noise_sd=0.2)]
    with Campaign.create(path, library=library, endpoints=endpoints, settings=settings) as campaign:
        for _ in range(3):
            issued = campaign.plan()
            campaign.record(
                [
                    Result(library.ids[item.compound], float(means[item.compound] + 0.2 * rng.standard_normal()))
                    for item in issued.items
                    for _ in range(item.replicates)
                ],
                close=True,
            )
        return campaign.status()


@pytest.mark.parametrize("n", [100, 500, 1_000])
@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".sdf", ".pdf", ".pptx"])
def test_a_series_with_structures(series, tmp_path, lines, ending, n):
    write(tmp_path / f"warm{ending}", contents(series, Choice("all", (0, 1))))  # modules are loaded once
    timed(tmp_path / f"x{ending}", series, Choice("all", tuple(range(n))), lines, PROMISED.get((ending, n)))


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_a_library_of_100_000(tmp_path, lines, ending):
    library = Library.product([Site(f"R{k}", tuple("ABCDEFGHIJ")) for k in range(1, 6)])
    settings = Settings("pIC50", epsilon=0.5)
    with Campaign.create(
        tmp_path / "x.assaypilot", library=library, endpoints=[Endpoint("pIC50", noise_sd=0.2)], settings=settings
    ) as campaign:
        status = campaign.status()
    timed(tmp_path / f"x{ending}", status, Choice("all"), lines, None)


def timed(path, status, choice, lines, promised):
    wall, processor = time.perf_counter(), time.process_time()
    rows = write(path, contents(status, choice))
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    size = path.stat().st_size / 1e6
    lines.append(f"{path.suffix:<28} {rows:>9,} {wall:>8.2f} {processor:>8.2f} {size:>7.2f} {promised or '':>11}")
