"""Small tables that come with the program: published ones with their sources, and one made up for practice."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from assaypilot.engine.errors import AssayPilotError


@dataclass(frozen=True, slots=True)
class Dataset:
    """A shipped table and what is needed to read it."""

    name: str
    title: str
    rows: int
    sites: tuple[str, ...]
    """The columns of substituents."""
    endpoints: tuple[str, ...]
    """What to say of each endpoint, in the words of the option ``--endpoint``."""
    source: str
    licence: str
    synthetic: bool = False
    """Whether the values were drawn, not measured."""
    id: str | None = None
    """The column of ids; None: ids are made from the substituents."""
    smiles: str | None = None
    truth_file: str | None = None

    @property
    def path(self) -> Path:
        """The table's csv file."""
        return _path(f"{self.name}.csv")

    @property
    def truth(self) -> Path | None:
        """The csv file of the true values, where they are known."""
        return None if self.truth_file is None else _path(self.truth_file)


_FACTS = "Facts of the cited publication; no rights claimed"

_ALL = (
    Dataset(
        name="tetracycline",
        title="Ten tetracyclines, antibacterial activity against Staphylococcus aureus",
        rows=10,
        sites=("R", "X", "Y"),
        endpoints=("activity",),
        source=(
            "S. M. Free and J. W. Wilson, A Mathematical Contribution to Structure-Activity Studies, "
            "J. Med. Chem. 1964, 7, 395-399"
        ),
        licence=_FACTS,
    ),
    Dataset(
        name="antiadrenergic",
        title="22 N,N-dimethyl-2-bromo-2-phenylethylamines, antiadrenergic activity as log 1/C",
        rows=22,
        sites=("para", "meta"),
        endpoints=("log 1/C",),
        source=(
            "J. D. P. Graham and M. A. Karrar, J. Med. Chem. 1963, 6, 103; as log 1/C in "
            "S. H. Unger and C. Hansch, J. Med. Chem. 1973, 16, 745"
        ),
        licence=_FACTS,
        id="ID",
        smiles="SMILES",
    ),
    Dataset(
        name="covboost",
        title=(
            "COV-BOOST, two primes and ten third doses: natural logarithms of the geometric means 28 days after the "
            "third dose of anti-spike IgG (ELU/mL), neutralising titre NT50 and cellular response (SFC per million)"
        ),
        rows=20,
        sites=("prime", "boost"),
        endpoints=("ln anti-spike IgG", "ln NT50", "ln cellular"),
        source=(
            "A. P. S. Munro et al., Safety and immunogenicity of seven COVID-19 vaccines as a third dose (booster), "
            "Lancet 2021, 398, 2258-2276, doi 10.1016/S0140-6736(21)02717-3"
        ),
        licence=_FACTS,
    ),
    Dataset(
        name="practice-960",
        title="Practice campaign (SYNTHETIC: effects drawn at random, for benzimidazole-4-carboxamides)",
        rows=960,
        sites=("R1", "R2", "R3", "R4", "R5"),
        endpoints=("pIC50;sd=0.2",),
        source=(
            "Synthetic. Truth = 6 + effects drawn with numpy.random.default_rng(2070).normal(0, 0.5, l) for each site "
            "in order, l = 4, 5, 4, 3, 4"
        ),
        licence="MIT, as the program",
        synthetic=True,
        id="ID",
        smiles="SMILES",
        truth_file="practice-960-truth.csv",
    ),
)


def names() -> tuple[str, ...]:
    """Return the names of the shipped tables."""
    return tuple(dataset.name for dataset in _ALL)


def load(name: str) -> Dataset:
    """Return the shipped table of that name; AssayPilotError when there is none."""
    for dataset in _ALL:
        if dataset.name == name.strip().lower():
            return dataset
    raise AssayPilotError(
        f"there is no shipped table {name!r}; there are {', '.join(names())}",
        option="--dataset",
        mend="Name one of them.",
    )


def truth(name: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the ids and true values (model scale) of a table whose truth is known; AssayPilotError for any other."""
    path = load(name).truth
    if path is None:
        raise AssayPilotError(f"the true values of {name} are not known", mend="Use practice-960, which is synthetic.")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    return tuple(row[0] for row in rows), tuple(float(row[1]) for row in rows)


def _path(file: str) -> Path:
    return Path(str(files(__name__) / file))
