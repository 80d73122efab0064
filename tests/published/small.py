"""Whether the series model's intervals hold on small and sparse series: ``python -m tests.published.small``.

Some compounds of a public table are known, drawn at random; the values of the others are predicted. Each value of a
table is one measurement, so an interval holds it with the estimated noise added.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from assaypilot.engine import SeriesModel
from tests.public import DATA

REPORT = Path(__file__).with_name("REPORT-small.md")
SHARES = (0.3, 0.6)
LARGE, FEW, MANY = 200, 4, 20
"""Tables from ``LARGE`` compounds on are split ``FEW`` times, others ``MANY`` times."""
DRAWS = 1_000


class Series(NamedTuple):
    """A public table: its file, columns of sites and of values."""

    file: str
    sites: tuple[str, ...]
    endpoints: tuple[str, ...]
    separator: str = ","


TABLES = {
    "sulfonamides, CHEMBL2321810": Series("CHEMBL2321810_rgd_table.csv", ("R1", "R2", "R3"), ("Act",)),
    "pyrimidines, CHEMBL3638592": Series("CHEMBL3638592_rgd_table.csv", ("R1", "R2", "R3"), ("Act",)),
    "phenethylamines": Series("antiadrenergic_22_fw_table.csv", ("para", "meta"), ("act",)),
    "vaccines, prime and boost": Series(
        "covboost_20x3_means.csv", ("prime", "boost"), ("anti_spike_IgG", "NT50", "cellular")
    ),
    "buildings, heating and cooling": Series("ENB2012_hds.csv", ("X1", "X6", "X7", "X8"), ("Y1", "Y2")),
    "networks on chip": Series(
        "noc_CM_log_kone.csv", ("width", "complexity", "fifo", "multiplier"), ("energy", "inv_runtime"), ";"
    ),
    "sorting networks": Series("sort_256.csv", ("$a", "$b", "$c"), ("<$a", "<$b")),
}


def splits(series: Series, share: float) -> pd.DataFrame:
    """Return a row for each split and endpoint: what the intervals hold, the error, and the SD of the values."""
    table = pd.read_csv(DATA / series.file, sep=series.separator)
    sites = table[list(series.sites)].astype(str)
    found = []
    for column in series.endpoints:
        values = pd.to_numeric(table[column], errors="coerce")
        kept = (values.notna() & table[list(series.sites)].notna().all(axis=1)).to_numpy()
        x, y = sites[kept], values[kept].to_numpy(dtype=np.float64)
        for seed in range(FEW if len(y) >= LARGE else MANY):
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(y))
            known, asked = np.split(order, [round(share * len(y))])
            model = SeriesModel().fit(x.iloc[known], y[known])
            drawn = model.sample_y(x.iloc[asked], DRAWS, seed)
            drawn = drawn + model.noise_sd_ * rng.standard_normal(drawn.shape)
            low, high = np.quantile(drawn, [0.025, 0.975], axis=1)
            off = y[asked] - drawn.mean(axis=1)
            found.append(
                {
                    "compounds": len(y),
                    "known": len(known),
                    "held": float(((low <= y[asked]) & (y[asked] <= high)).mean()),
                    "error": float(np.sqrt((off**2).mean())),
                    "sd": float(y[asked].std()),
                }
            )
    return pd.DataFrame(found)


def main() -> int:
    """Write the report; 1 where the shared tables are absent."""
    if not all((DATA / series.file).exists() for series in TABLES.values()):
        print(f"{DATA} lacks the public tables", file=sys.stderr)
        return 1
    lines = [
        "# Small and sparse series",
        "",
        "Made by `python -m tests.published.small`; seeds are fixed. Known compounds are drawn at random, the others",
        "are predicted; the series model sees substituents only, and estimates its noise. The two series of ChEMBL are",
        "sparse: most substituents occur once. Of the phenethylamines the one without a substituent is missed in two",
        "thirds of its predictions: 11 of the 15 misses with 13 known are this compound and the one with a fluorine in",
        "meta alone.",
        "",
        "| table | compounds | known | splits | 95 % intervals hold | error | SD of the values |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, series in TABLES.items():
        for share in SHARES:
            found = splits(series, share)
            mean = found.mean()
            lines.append(
                f"| {name} | {mean.compounds:.0f} | {mean.known:.0f} | {len(found)} | {100 * mean.held:.1f} % | "
                f"{mean.error:.3g} | {mean.sd:.3g} |"
            )
            print(lines[-1], flush=True)
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
