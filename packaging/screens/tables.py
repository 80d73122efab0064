"""The made-up tables in the pictures, and the truth behind them: additive, with a simulated assay on top."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

__all__ = [
    "LONG",
    "NOISE",
    "SHORT",
    "Truth",
    "Words",
    "benzamides",
    "beside_each_other",
    "two_endpoints",
    "with_stock",
]

NOISE = 0.2
R1 = {"Me": "C", "Et": "CC", "iPr": "C(C)C", "cPr": "C1CC1", "tBu": "C(C)(C)C"}
R2 = {"H": "", "F": "F", "Cl": "Cl", "CF3": "C(F)(F)F", "OMe": "OC"}
R3 = {"H": "", "F": "F", "CN": "C#N", "SO2Me": "S(C)(=O)=O"}
EFFECTS = ((0.0, 0.25, 0.35, 0.6, -0.3), (0.0, 0.2, 0.5, 0.65, -0.1), (0.0, 0.25, 0.7, 0.1))

Truth = dict[str, float]


@dataclass(frozen=True, slots=True)
class Words:
    """How the made-up compounds, substituents and endpoints are called."""

    compound: str = "BZ-{}"
    file: str = "Benzamide series 4"
    first: str = "pIC50"
    second: str = "hERG pIC50"
    substituents: Mapping[str, str] = field(default_factory=dict)
    """Other names, by the short ones."""

    def called(self, name: str) -> str:
        """The name a substituent goes by."""
        return self.substituents.get(name, name)


SHORT = Words()
LONG = Words(
    compound="Discovery Chemistry Northern Site benzamide {} (racemate, batch 2, hydrochloride salt)",
    file="Benzamide series 4, all that was registered until November with the compounds of the second patent",
    first="pIC50 human receptor, radioligand displacement, 10 % serum",
    second="pIC50 hERG automated patch clamp at room temperature",
    substituents={
        "cPr": "cyclopropyl, from the boronic acid",
        "tBu": "1,1-dimethylethyl (tert-butyl)",
        "SO2Me": "methanesulfonyl <sub>2</sub> & co",
        "CF3": "trifluoromethyl $_3$ %s",
    },
)


def benzamides(folder: Path, words: Words = SHORT) -> tuple[Path, Truth]:
    """A table of 100 made-up benzamides, some with earlier values, and the truth behind it."""
    rng = np.random.default_rng(4)
    lines, truth = [f'ID,SMILES,R1,R2,R3,"{words.first}"'], {}
    for number, (a, b, c) in enumerate(itertools.product(range(5), range(5), range(4)), start=100):
        name = words.compound.format(number)
        n, x, y = list(R1.values())[a], list(R2.values())[b], list(R3.values())[c]
        smiles = f"O=C(N{n})c1ccc({x})c({y})c1".replace("()", "")
        truth[name] = 6.3 + EFFECTS[0][a] + EFFECTS[1][b] + EFFECTS[2][c]
        known = f"{truth[name] + NOISE * rng.standard_normal():.2f}" if rng.random() < 0.14 else ""
        sites = (words.called(list(of)[at]) for of, at in ((R1, a), (R2, b), (R3, c)))
        lines.append(",".join([f'"{name}"', smiles, *(f'"{site}"' for site in sites), known]))
    path = folder / f"{words.file}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, truth


def two_endpoints(folder: Path, words: Words = SHORT) -> tuple[Path, tuple[Truth, Truth]]:
    """The made-up benzamides with a second endpoint that gets worse as the first gets better, and both truths."""
    table, first = benzamides(folder, words)
    rng = np.random.default_rng(9)
    effects = [rng.normal(0.0, 0.3, len(labels)) for labels in (R1, R2, R3)]
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    second, lines = {}, [f'{head},"{words.second}"']
    for row, name, places in zip(rows, first, itertools.product(range(5), range(5), range(4)), strict=True):
        own = sum(float(values[at]) for values, at in zip(effects, places, strict=True))
        second[name] = 4.6 + own + 0.45 * (first[name] - 6.3)
        known = f"{second[name] + NOISE * rng.standard_normal():.2f}" if rng.random() < 0.1 else ""
        lines.append(f"{row},{known}")
    path = folder / f"{words.file} and hERG.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, (first, second)


def with_stock(folder: Path, words: Words = SHORT) -> tuple[Path, Truth]:
    """The made-up benzamides with what is in stock, what else would cost, and how long it would take."""
    table, truth = benzamides(folder, words)
    rng = np.random.default_rng(11)
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    lines = [f"{head},Stock,Cost (EUR),Lead time"]
    for row in rows:
        here, cost, weeks = rng.random() < 0.4, int(rng.integers(8, 60)) * 10, int(rng.integers(2, 9))
        lines.append(f"{row},yes,," if here else f"{row},no,{cost},{weeks} weeks")
    path = folder / f"{words.file} with stock.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, truth


def beside_each_other(folder: Path, words: Words = SHORT) -> Path:
    """The made-up benzamides, all measured, of which R2 and R3, neighbours on the ring, act together."""
    table, truth = benzamides(folder, words)
    rng = np.random.default_rng(13)
    both = rng.normal(0.0, 0.6, (len(R2), len(R3)))
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    lines = [head]
    for row, name, (_, b, c) in zip(rows, truth, itertools.product(range(5), range(5), range(4)), strict=True):
        value = truth[name] + both[b, c] + NOISE * rng.standard_normal()
        lines.append(f"{row.rpartition(',')[0]},{value:.2f}")
    path = folder / f"{words.file}, neighbours.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
