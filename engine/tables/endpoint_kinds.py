"""What an endpoint is, by its name: which way is better, the scale the field uses, and the names users call it by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..domain.endpoint import CONCENTRATIONS, Endpoint
from ..errors import AssayPilotError
from . import headers
from .headers import split_unit
from .raw import fold

_DECADES = 100.0
"""Largest over smallest value from which a quantity of an unknown kind is compared by factors."""
_FEWEST = 8
PERCENT = re.compile(
    r"\b(?:yield|ausbeute|rendement|conversion|umsatz|e ?e|inhibition|inhib|recovery|area|purity|bioavailability|"
    r"remaining|viability|efficacy|selectivity)\b"
)
"""Names of what is given in per cent where no unit is given."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of a quantity by its name."""

    better: Literal["high", "low", ""]
    """Which values are better, as they are entered; "" where nobody can know."""
    scale: Literal["log", "none", ""]
    """The scale it is compared on; "" where the values say."""
    what: str
    """What it is, with the reason: ``a clearance``."""
    potency: Literal["target", "liability", ""] = ""
    """At what it is a potency; "" for what is none."""


_LIABILITY = re.compile(
    r"\b(?:herg|kv ?11(?: ?1)?|cyp ?\w*|(?:1a2|2a6|2b6|2c8|2c9|2c19|2d6|2e1|3a4|3a5)|nav ?1 ?5|cav ?1 ?2|bsep|pxr|"
    r"phospholipidosis|off ?target|counter ?screen|anti ?target)\b"
)
_TOXIC_LEVEL = re.compile(
    r"\b(?:cc|tc|lc|ld|td|hc|cytotox\w*|tox\w*) ?_?\d\d\b|\b(?:mtd|noael|noel|selectivity index)\b"
)
_TOXIC = re.compile(r"\b(?:cyto)?tox(?:icity)?\b|\bha?emolysis\b|\bcell death\b|\bldh release\b")
_RULES: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"\b(?:mic|mbc|mec|mfc)(?: ?\d\d)?\b"), Kind("low", "log", "a concentration that suffices")),
    (
        re.compile(r"\b(?:cl ?int|clearance|cl)(?: ?,? ?u)?\b|\b(?:hlm|rlm|mlm|hep\w*) cl\w*\b"),
        Kind("low", "log", "a clearance"),
    ),
    (
        re.compile(r"\befflux\b|\b(?:mdck|caco|mdr1|bcrp|p ?gp)\b.*\b(?:er|ratio)\b|\bb a ?/ ?a b\b"),
        Kind("low", "log", "an efflux ratio"),
    ),
    (re.compile(r"\bt ?1 ?/ ?2\b|\bhalf ?li(?:fe|ves)\b|\bmrt\b|\bt half\b"), Kind("high", "log", "a half-life")),
    (re.compile(r"\b(?:papp|pampa|permeability|perm|pe)\b"), Kind("high", "log", "a permeability")),
    (re.compile(r"\b(?:solub\w*|löslich\w*|loeslich\w*|solubilité)\b"), Kind("high", "log", "a solubility")),
    (re.compile(r"\b(?:free|unbound|fu)\b"), Kind("high", "log", "a free fraction")),
    (re.compile(r"\b(?:bound|ppb|protein binding)\b"), Kind("low", "none", "the share bound to protein")),
    (re.compile(r"\b(?:auc|c ?max|exposure)\b"), Kind("high", "log", "an exposure")),
    (re.compile(r"\bbio ?availability\b|^(?:oral )?f ?%?$"), Kind("high", "none", "a bioavailability")),
    (
        re.compile(
            r"\b(?:impurit\w*|by ?products?|side ?products?|dimer|starting material|sm|unreacted|residual|degrad\w*|"
            r"waste|verunreinigung\w*)\b"
        ),
        Kind("low", "none", "an impurity or what was left over"),
    ),
    (
        re.compile(r"\b(?:yields?|ausbeute|rendement|conversion|umsatz|e ?e|e ?r|d ?r|product|selectivity)\b"),
        Kind("high", "none", "what comes of a reaction"),
    ),
    (
        re.compile(
            r"\b(?:inhib\w*|hemmung|activation|response|efficacy|e ?max|occupancy|knock ?down|degradation|engagement)\b"
        ),
        Kind("high", "", "an effect"),
    ),
    (re.compile(r"\b(?:remaining|stability|recovery|viability|survival)\b"), Kind("high", "none", "what remains")),
    (
        re.compile(r"\b(?:luc\w*|lumin\w*|rlu|rfu|fluor\w*|transfection|titre|titer|expression|intensity)\b"),
        Kind("high", "", "a signal"),
    ),
    (re.compile(r"\b(?:encapsulation|ee ?%|loading)"), Kind("high", "none", "an efficiency")),
    (
        re.compile(
            r"\b(?:pdi|polydispersity|rmsd|aggregat\w*|viscosity|immunogenicity|errors?|costs?|runtime|latency)\b"
        ),
        Kind("low", "none", "a quantity to keep low"),
    ),
    (re.compile(r"\b(?:tm|Δ ?tm|d ?tm|delta tm)\b"), Kind("high", "none", "a melting temperature")),
)
_UNKNOWN = Kind("", "", "")


def kind_of(name: str, unit: str, header: str = "") -> Kind:
    """Return what a name (without its unit) and a unit say of a quantity; potencies of targets are the caller's.

    A potency at a liability (hERG, a cytochrome) is better weak, as is a concentration that is toxic. ``header``: the
    name with its unit, where that says more (``% free``).
    """
    folded = fold(name)
    potency = headers.looks_like_activity(f"{name} ({unit})" if unit in CONCENTRATIONS else name)
    logs = headers.is_log_concentration(name)
    # logIC50 is high where the compound is weak, pIC50 is low there.
    negative = potency and not logs and not headers.looks_like_potency(name, unit)
    scale: Literal["log", "none"] = "none" if negative or logs else "log"
    if _TOXIC_LEVEL.search(folded) is not None:
        return Kind("low" if negative else "high", scale, "a level that is toxic")
    if _LIABILITY.search(folded) is not None and (potency or "inhib" in folded):
        if not potency:
            return Kind("low", "none", "a liability")
        return Kind("low" if negative else "high", scale, "a potency at a liability", "liability")
    if potency and _RULES[0][0].search(folded) is None:
        return Kind("high" if negative else "low", scale, "a potency", "target")
    if _TOXIC.search(folded) is not None:
        return Kind("low", "none", "a toxicity")
    texts = (folded, fold(header))
    return next((kind for pattern, kind in _RULES if any(map(pattern.search, texts))), _UNKNOWN)


def spans_decades(values: Sequence[float]) -> bool:
    """Whether all values are positive and the largest is 100 times the smallest or more."""
    return len(values) >= _FEWEST and min(values) > 0 and max(values) >= _DECADES * min(values)


def spellings(endpoints: Sequence[Endpoint]) -> dict[str, str]:
    """Return the names of endpoints by every spelling, case-folded, that means only one of them.

    ``IC50 (nM)`` is also called ``IC50`` and, as that is what goals and statements call it, ``pIC50``.
    """
    found: dict[str, set[str]] = {}
    for endpoint in endpoints:
        for spelling in (split_unit(endpoint.name)[0], endpoint.scale_name):
            found.setdefault(spelling.strip().casefold(), set()).add(endpoint.name)
    short = {spelling: next(iter(names)) for spelling, names in found.items() if len(names) == 1}
    return short | {endpoint.name.casefold(): endpoint.name for endpoint in endpoints}


def named(texts: Sequence[str], endpoints: Sequence[Endpoint]) -> list[str]:
    """Return the names of the endpoints that texts mean, each one or, with commas, several.

    AssayPilotError for any other.
    """
    by_name = spellings(endpoints)
    found = []
    for text in texts:
        # A text that is a name as a whole is that endpoint, commas and all.
        for piece in [text] if text.strip().casefold() in by_name else text.split(","):
            name = by_name.get(piece.strip().casefold())
            if name is None:
                raise AssayPilotError(
                    f"there is no endpoint {piece.strip()!r}",
                    option="--objective",
                    mend=f"Choose one of: {', '.join(endpoint.name for endpoint in endpoints)}.",
                )
            found.append(name)
    return found
