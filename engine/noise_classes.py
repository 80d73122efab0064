"""Assay noise that differs by class: compounds with some substituents scatter more, or less, than all others.

The class of a compound is its substituent at one site, or what a column of the table says of it. So it is fixed before
any measurement. Of a site compounds that are added later have one, too; of a column by that of their own table, or
they count among all others. Where the SDs are not known, those that are said are guesses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.library import Library

__all__ = ["NoiseClasses", "parse_noise_classes"]


OPTION = "--noise-class"
_EXAMPLE = 'For example "R1: Ph=0.4, tBu=0.5"; all other compounds have the SD that --sd says.'
_UNKNOWN = 'Give them: "R1: Ph=0.4, tBu=0.5"; or say --sd unknown, and they are estimated on the way.'
_SD = re.compile(r"\s*(.+?)\s*=\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:,|$)")
"""A substituent and its SD; a substituent may hold commas and equal signs (SMILES), what follows its last one not."""
_NUMBER = re.compile(r"=\s*[\d.]|(?:^|,)\s*=|,\s*$")
"""What was to be an SD, or ends in the middle; an equal sign within SMILES is followed by an atom."""

_FARTHEST = 10_000.0
"""Times as large as the smallest the largest SD may be: squared it is what weights take off 16 digits."""


@dataclass(frozen=True, slots=True)
class NoiseClasses:
    """SDs between measurements of one compound by its substituent at a site, model scale."""

    site: str
    """A site, or another column of the table the campaign was made from."""
    sds: tuple[tuple[str, float | None], ...] = ()
    """Substituents, or what the column says, with an SD of their own; None: nobody knows it. Empty: each has one."""
    other: float | None = None
    """The SD of all other compounds; None until the endpoint's own is known to be that."""
    compounds: tuple[tuple[str, str], ...] = ()
    """Ids and classes of the compounds that a column gives one; empty where it is a site."""

    def __post_init__(self) -> None:
        names = [name for name, _ in self.sds]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise AssayPilotError(f"{twice} at {self.site} is named twice", option=OPTION, mend="Name it once.")
        for name, sd in self.sds:
            if sd is not None and not (math.isfinite(sd) and 1e-9 <= sd <= 1e9):
                raise AssayPilotError(
                    f"the SD of compounds with {name} at {self.site} must be a number > 0, got {sd:g}",
                    option=OPTION,
                    mend=_EXAMPLE,
                )

    @property
    def largest(self) -> float:
        """The largest SD of any class."""
        return max(self.other or 0.0, *(sd or 0.0 for _, sd in self.sds), 0.0)

    @property
    def stated(self) -> bool:
        """Whether every class that is named has an SD."""
        return bool(self.sds) and all(sd is not None for _, sd in self.sds)

    def check_stated(self, name: str) -> None:
        """Nothing; AssayPilotError where an SD of an endpoint is missing that decisions would rest on."""
        if not self.stated:
            who = f"compounds {self.who(self.sds[0][0])}" if self.sds else f"each {self.site}"
            raise AssayPilotError(f"the assay noise (SD) of {name} of {who} is not given", option=OPTION, mend=_UNKNOWN)

    def with_other(self, sd: float) -> NoiseClasses:
        """The same beside the SD of all other compounds."""
        return replace(self, other=sd)

    @property
    def text(self) -> str:
        """As it is typed: ``R1: Ph=0.4, tBu=0.5``; ``R1: Ph, tBu`` without SDs; ``R1``: each has its own."""
        if not self.sds:
            return self.site
        return f"{self.site}: " + ", ".join(name if sd is None else f"{name}={sd:.10g}" for name, sd in self.sds)

    @property
    def in_words(self) -> str:
        """``0.2; 0.4 with Ph and 0.5 with tBu at R1``; without the first where that is not known yet.

        Of a column ``0.2; 0.4 where Solubility is poor``.
        """
        own = [
            f"{'?' if sd is None else f'{sd:.3g}'} {'where' if self.compounds else 'with'} {self.named(name)}"
            for name, sd in self.sds
        ]
        listed = f"{', '.join(own[:-1])} and {own[-1]}" if len(own) > 1 else "".join(own)
        first = "" if self.other is None else f"{self.other:.3g}; "
        return f"{first}{listed}" if self.compounds else f"{first}{listed} at {self.site}"

    def named(self, name: str) -> str:
        """A class in words: its substituent, or ``Solubility is poor``."""
        return f"{self.site} is {name}" if self.compounds else name

    def who(self, name: str | None) -> str:
        """Which compounds a class is of: ``with Ph at R1``, ``where Solubility is poor``; None: ``of all others``."""
        if name is None:
            return "of all others"
        return f"where {self.named(name)}" if self.compounds else f"with {name} at {self.site}"

    @property
    def classes(self) -> tuple[str | None, ...]:
        """The classes by name, the one of all others (None) first."""
        return (None, *(name for name, _ in self.sds))

    @property
    def guesses(self) -> tuple[float, ...]:
        """The SD of each class, or what is said of it, in their order; that of all others where nothing is."""
        other = self.other or self.largest or 1.0
        return (other, *(sd or other for _, sd in self.sds))

    def with_guesses(self, sds: Sequence[float]) -> NoiseClasses:
        """The same classes with other SDs, in their order."""
        own = tuple((name, sd) for (name, _), sd in zip(self.sds, sds[1:], strict=True))
        return replace(self, sds=own, other=sds[0])

    def spread_out(self, library: Library) -> NoiseClasses:
        """The same, each substituent of the site a class where none was named; as it is where some are."""
        site = next((one for one in library.sites if one.name == self.site), None)
        if self.sds or self.compounds or site is None:
            return self
        used = np.unique(library.codes[:, library.sites.index(site)])
        return replace(self, sds=tuple((site.substituents[code], None) for code in used))

    def codes(self, library: Library) -> Ints:
        """``(n_compounds,)``, the place of each compound's class among ``classes``."""
        place = {name: k for k, (name, _) in enumerate(self.sds, start=1)}
        found = np.zeros(len(library), dtype=np.intp)
        if self.compounds:
            places = ((library.find(name), one) for name, one in self.compounds)
            for compound, one in places:
                if compound is not None:
                    found[compound] = place[one]
            return found
        column = next((k for k, one in enumerate(library.sites) if one.name == self.site), None)
        if column is None:
            return found
        by_code = np.array([place.get(name, 0) for name in library.sites[column].substituents], dtype=np.intp)
        return np.asarray(by_code[library.codes[:, column]], dtype=np.intp)

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

    def check_comparable(self, name: str) -> None:
        """Nothing; AssayPilotError for SDs of an endpoint that no measurements could be weighed by together."""
        told = [sd for sd in (self.other, *(sd for _, sd in self.sds)) if sd is not None]
        if max(told, default=1.0) > _FARTHEST * min(told, default=1.0):
            raise AssayPilotError(
                f"the assay noise (SD) of {name} is said to be {min(told):.3g} for some compounds and {max(told):.3g} "
                "for others, which are too far apart to be real",
                option=OPTION,
                mend=f"Give SDs in {name} units, no more than {_FARTHEST:,.0f} times apart.",
            )

    def of(self, library: Library) -> Floats:
        """``(n_compounds,)``, the SD of each compound."""
        known = any(one.name == self.site for one in library.sites) or self.compounds
        if self.other is None or not known:
            return np.full(len(library), self.largest)
        found: Floats = np.array(self.guesses)[self.codes(library)]
        return found

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
        sds = tuple((name, None if sd is None else float(sd)) for name, sd in data["sds"])
        return cls(data["site"], sds, data["other"], compounds)


def parse_noise_classes(text: str) -> NoiseClasses:
    """What a text says: ``R1: Ph=0.4, tBu=0.5``; without SDs ``R1: Ph, tBu``, or ``R1``: each substituent is a class.

    AssayPilotError for any other text.
    """
    site, colon, rest = (part.strip() for part in text.partition(":"))
    if site and not colon and "=" not in site:
        return NoiseClasses(site)
    found: list[tuple[str, float | None]] = []
    at = 0
    while colon and at < len(rest):
        match = _SD.match(rest, at)
        if match is None:
            break
        found.append((match[1], float(match[2])))
        at = match.end()
    if colon and rest and not found and not _NUMBER.search(rest):
        # A comma without a space belongs to a name, as in 2,6-diF.
        found, at = [(name.strip(), None) for name in re.split(r",\s+", rest)], len(rest)
    if not site or not found or rest[at:].strip() or not all(name for name, _ in found):
        raise AssayPilotError(f"{text.strip()!r} does not say whose noise differs", option=OPTION, mend=_EXAMPLE)
    return NoiseClasses(site, tuple(found))
