"""Assay noise that differs by class: compounds with some substituents scatter more, or less, than all others.

The class of a compound is its substituent at one site, or what a column of the table says of it. So it is fixed before
any measurement. Of a site compounds that are added later have one, too; of a column they count among all others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assaypilot.engine.arrays import Floats
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.library import Library

__all__ = ["NoiseClasses", "parse_noise_classes"]


OPTION = "--noise-class"
_EXAMPLE = 'For example "R1: Ph=0.4, tBu=0.5"; all other compounds have the SD that --sd says.'
_SD = re.compile(r"\s*(.+?)\s*=\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:,|$)")
"""A substituent and its SD; a substituent may hold commas and equal signs (SMILES), what follows its last one not."""


@dataclass(frozen=True, slots=True)
class NoiseClasses:
    """SDs between measurements of one compound by its substituent at a site, model scale."""

    site: str
    """A site, or another column of the table the campaign was made from."""
    sds: tuple[tuple[str, float], ...]
    """Substituents, or what the column says, with an SD of their own; at least one."""
    other: float | None = None
    """The SD of all other compounds; None until the endpoint's own is known to be that."""
    compounds: tuple[tuple[str, str], ...] = ()
    """Ids and classes of the compounds that a column gives one; empty where it is a site."""

    def __post_init__(self) -> None:
        if not self.sds:
            raise AssayPilotError(f"no substituent at {self.site} is given an SD", option=OPTION, mend=_EXAMPLE)
        names = [name for name, _ in self.sds]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise AssayPilotError(f"{twice} at {self.site} is given an SD twice", option=OPTION, mend="Give one.")
        for name, sd in self.sds:
            if not (math.isfinite(sd) and 1e-9 <= sd <= 1e9):
                raise AssayPilotError(
                    f"the SD of compounds with {name} at {self.site} must be a number > 0, got {sd:g}",
                    option=OPTION,
                    mend=_EXAMPLE,
                )

    @property
    def largest(self) -> float:
        """The largest SD of any class."""
        return max(self.other or 0.0, *(sd for _, sd in self.sds))

    def with_other(self, sd: float) -> NoiseClasses:
        """The same beside the SD of all other compounds."""
        return replace(self, other=sd)

    @property
    def text(self) -> str:
        """As it is typed: ``R1: Ph=0.4, tBu=0.5``."""
        return f"{self.site}: " + ", ".join(f"{name}={sd:.10g}" for name, sd in self.sds)

    @property
    def in_words(self) -> str:
        """``0.2; 0.4 with Ph and 0.5 with tBu at R1``; without the first where that is not known yet.

        Of a column ``0.2; 0.4 where Solubility is poor``.
        """
        own = [f"{sd:.3g} {'where' if self.compounds else 'with'} {self.named(name)}" for name, sd in self.sds]
        listed = f"{', '.join(own[:-1])} and {own[-1]}" if len(own) > 1 else own[0]
        first = "" if self.other is None else f"{self.other:.3g}; "
        return f"{first}{listed}" if self.compounds else f"{first}{listed} at {self.site}"

    def named(self, name: str) -> str:
        """A class in words: its substituent, or ``Solubility is poor``."""
        return f"{self.site} is {name}" if self.compounds else name

    def check(self, library: Library) -> None:
        """Nothing; AssayPilotError for a site or a substituent that the library does not have."""
        site = next((one for one in library.sites if one.name == self.site), None)
        if self.compounds:
            return
        if site is None:
            raise AssayPilotError(
                f"there is no site {self.site!r} that the noise could differ by",
                option=OPTION,
                mend=f"Name one of: {', '.join(one.name for one in library.sites)}.",
            )
        missing = next((name for name, _ in self.sds if name not in site.substituents), None)
        if missing is not None:
            shown = ", ".join(site.substituents[:12]) + (", ..." if len(site.substituents) > 12 else "")
            raise AssayPilotError(
                f"no compound has {missing} at {self.site}", option=OPTION, mend=f"Name one of: {shown}."
            )

    def of(self, library: Library) -> Floats:
        """``(n_compounds,)``, the SD of each compound."""
        if self.compounds and self.other is not None:
            found = np.full(len(library), self.other)
            places = ((library.find(name), one) for name, one in self.compounds)
            for place, one in places:
                if place is not None:
                    found[place] = dict(self.sds)[one]
            return found
        column = next((k for k, one in enumerate(library.sites) if one.name == self.site), None)
        if column is None or self.other is None:
            return np.full(len(library), self.largest)
        own = dict(self.sds)
        by_code = np.array([own.get(name, self.other) for name in library.sites[column].substituents])
        return np.asarray(by_code[library.codes[:, column]], dtype=np.float64)

    def precision(self, library: Library) -> Floats:
        """``(n_compounds,)``, how many measurements of the largest SD one of each compound is worth; at least 1."""
        worth: Floats = (self.largest / self.of(library)) ** 2
        return worth

    def as_json(self) -> dict[str, Any]:
        """As a campaign file keeps it."""
        data = {"site": self.site, "sds": [[name, sd] for name, sd in self.sds], "other": self.other}
        return data | ({"compounds": [list(pair) for pair in self.compounds]} if self.compounds else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NoiseClasses:
        """What ``as_json`` wrote."""
        compounds = tuple((name, one) for name, one in data.get("compounds", ()))
        return cls(data["site"], tuple((name, float(sd)) for name, sd in data["sds"]), data["other"], compounds)


def parse_noise_classes(text: str) -> NoiseClasses:
    """What a text like ``R1: Ph=0.4, tBu=0.5`` says; AssayPilotError for any other text."""
    site, colon, rest = (part.strip() for part in text.partition(":"))
    found: list[tuple[str, float]] = []
    at = 0
    while colon and at < len(rest):
        match = _SD.match(rest, at)
        if match is None:
            break
        found.append((match[1], float(match[2])))
        at = match.end()
    if not site or not found or rest[at:].strip():
        raise AssayPilotError(f"{text.strip()!r} does not say whose noise differs", option=OPTION, mend=_EXAMPLE)
    return NoiseClasses(site, tuple(found))
