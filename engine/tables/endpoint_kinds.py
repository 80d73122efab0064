"""The kind of an endpoint by its name: its better direction, its scale, and notes on them."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..domain.derived import find_parts
from ..domain.endpoint import CONCENTRATIONS, Direction, Endpoint, Transform, normalise_unit
from ..domain.noise import USUAL
from ..errors import AssayPilotError
from . import headers
from .headers import split_unit
from .options import EndpointColumn, EndpointSpec
from .raw import PATTERNS, RawTable, fold

_DECADES = 100.0
"""Largest over smallest value from which a quantity of an unknown kind is compared by factors."""
_FEWEST = 8
PERCENT = PATTERNS["in per cent"]
"""Names of what is given in per cent where no unit is given."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The properties of a quantity by its name."""

    better: Literal["high", "low", ""]
    """Which entered values are better; "" where the name does not determine it."""
    scale: Literal["log", "none", ""]
    """The scale it is compared on; "" where the values decide."""
    what: str
    """Its description for reasons: ``a clearance``."""
    potency: Literal["target", "liability", ""] = ""
    """At what it is a potency; "" for what is none."""


_LIABILITY = PATTERNS["liability"]
_OF_REACTION = ("what comes of a reaction", "an impurity or what was left over")
_AT_TARGET = ("an effect", "an activity that is left")
"""Kinds that are better the other way at a liability."""
_TOXIC_LEVEL = PATTERNS["toxic level"]
_TOXIC = re.compile(r"\b(?:cyto)?tox(?:icity)?\b|\bha?emolysis\b|\bcell death\b|\bldh release\b")


@cache
def _rules() -> tuple[tuple[re.Pattern[str], Kind], ...]:
    """Return the kinds of quantities from ``kinds.csv``, by patterns of their folded names; the first fits."""
    with Path(__file__).with_name("kinds.csv").open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    return tuple((re.compile(row["pattern"]), Kind(row["better"], row["scale"], row["what"])) for row in rows)


_LOG_FIRST = re.compile(r"(?:log(?:10)?|ln)[\s_(]", re.I)
"""The beginning of names of logarithms: LOG CLint, log(kcat)."""
_SUFFICES = re.compile(r"\b(?:mic|mbc|mec|mfc)(?: ?\d\d)?\b")
"""Concentrations that suffice for an effect, which are no potencies at a target."""
_UNKNOWN = Kind("", "", "")


def kind_of(name: str, unit: str, header: str = "") -> Kind:
    """Return the kind of a quantity by its name (without unit) and unit; potencies of targets are the caller's.

    A potency at a liability (hERG, a cytochrome) is better weak, as is a concentration that is toxic. ``header``: the
    name with its unit, where that is more specific (``% free``).
    """
    folded = fold(name)
    with_unit = unit in CONCENTRATIONS or headers.is_rate(unit)
    potency = headers.looks_like_activity(f"{name} ({unit})" if with_unit else name)
    logs = headers.is_log_concentration(name)
    # logIC50 is high where the compound is weak, pIC50 is low there.
    negative = potency and not logs and not headers.looks_like_potency(name, unit)
    scale: Literal["log", "none"] = "none" if negative or logs else "log"
    if _TOXIC_LEVEL.search(folded) is not None:
        return Kind("low" if negative else "high", scale, "a level that is toxic")
    liability = _LIABILITY.search(folded) is not None
    if potency and liability:
        return Kind("low" if negative else "high", scale, "a potency at a liability", "liability")
    if potency and _SUFFICES.search(folded) is None:
        return Kind("high" if negative else "low", scale, "a potency", "target")
    if _TOXIC.search(folded) is not None:
        return Kind("low", "none", "a toxicity")
    texts = (folded, fold(header))
    kind = next((kind for pattern, kind in _rules() if any(map(pattern.search, texts))), _UNKNOWN)
    if liability and kind.what in _AT_TARGET:
        return Kind("low" if kind.better == "high" else "high", "none", f"{kind.what} at a liability")
    return kind


def of_reactions(raw: RawTable) -> bool:
    """Whether a table is of reactions: a column is called as a result of one is, and holds more than words."""
    found = (raw.column(column) for column in raw.columns if is_of_reaction(column))
    return any(not any(texts) or any(text.lstrip("<>≤≥~ ")[:1].isdigit() for text in texts) for texts in found)


def is_of_reaction(header: str) -> bool:
    """Whether a column is called as a result of a reaction is: a yield, an ee, an impurity."""
    return kind_of(*split_unit(header), header).what in _OF_REACTION and not headers.is_property(header)


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
        # A text that is a whole name is that endpoint, even with commas.
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


_LIKE_A_LOGARITHM = 12
"""Above this no number is a p value of a concentration."""
_LEAST_SPAN = 3.0
"""Largest over smallest value below which a logarithm changes nothing."""
_FULL = 130.0


class Described(NamedTuple):
    """An endpoint with the reasons for its settings, and notes and warnings on it."""

    column: EndpointColumn
    notes: list[str]
    warnings: list[str]


def described(spec: EndpointSpec, bare: str, unit: str, values: Sequence[float] = ()) -> Described:
    """Return the endpoint with its scale and direction chosen where the user did not.

    ``bare``: its name without the unit; ``values``: those of its column, as numbers in the entry unit.
    """
    if spec.kind in ("yes-no", "count"):
        return Described(EndpointColumn(_plain(spec), direction_why="given with its kind"), [], [])
    bare = headers.with_logarithm(bare)
    kind = kind_of(bare, unit, spec.name)
    if _LOG_FIRST.match(bare) is not None:
        kind = replace(kind, scale="none")
    logarithms = _logarithms(spec, kind, bare, unit, values)
    kind = logarithms or kind
    if not unit and spec.unit is None and _in_per_cent(bare, values):
        unit = "%"
    transform, scale_why = _scale(spec, kind, bare, unit, values)
    if logarithms is not None:
        transform, scale_why = "none", "the values are logarithms by their size"
    endpoint = _plain(replace(spec, unit=unit, transform=transform, direction="max"))
    direction, why = _direction(spec, kind, endpoint)
    found = EndpointColumn(
        replace(endpoint, direction=direction),
        direction_why=why,
        direction_known=spec.direction is not None or bool(kind.better),
        scale_why=scale_why,
    )
    if logarithms is None:
        return _described(found, spec, kind, bare, values)
    better = "higher" if direction == "max" else "lower"
    taken = (
        f"All {len(values)} values of {spec.name} lie between {min(values):g} and {max(values):g}: they are taken as "
        f"negative logarithms, as pIC50 is, and {better} as better. If they are concentrations, give their unit."
    )
    return Described(found, [], [taken])


_FEWEST_NAMED = 3


def _logarithms(spec: EndpointSpec, kind: Kind, bare: str, unit: str, values: Sequence[float]) -> Kind | None:
    """Return the kind of potencies without a unit whose values must be negative logarithms; None for others.

    Few values do where the name begins as such names do (pEGFR IC50); pERK IC50, a readout of cells, begins so, too.
    """
    stated = unit or spec.unit or spec.transform or spec.direction
    liability = _LIABILITY.search(fold(bare[1:])) is not None
    named = bare[:1] == "p" and (bare[1:2].isupper() or liability)
    if named and liability and not kind.potency:
        kind = Kind("high", "log", "a potency at a liability", "liability")
    fewest = _FEWEST_NAMED if named else _FEWEST
    if stated or not kind.potency or kind.scale != "log" or len(values) < fewest:
        return None
    if not USUAL[0] <= min(values) <= max(values) <= USUAL[1]:
        return None
    return replace(kind, better="low" if kind.better == "high" else "high", scale="none")


def _in_per_cent(bare: str, values: Sequence[float]) -> bool:
    """Whether a quantity without a unit is in per cent, by its name and its values."""
    named = PERCENT.search(fold(bare)) is not None and "/" not in bare  # A/B is a ratio
    return named and bool(values) and 1.5 < max(values) <= _FULL and min(values) >= -_FULL


def _scale(spec: EndpointSpec, kind: Kind, bare: str, unit: str, values: Sequence[float]) -> tuple[Transform, str]:
    """Return the scale that is modelled, and why."""
    if spec.transform is not None:
        return spec.transform, "given"
    if headers.looks_like_potency(bare, unit) or (kind.potency and kind.scale == "log"):
        return "log", "potencies are compared by factors"
    positive = not values or min(values) > 0
    if kind.scale == "log" and positive and (not values or max(values) >= _LEAST_SPAN * min(values)):
        return "log", f"{kind.what} is compared by factors"
    if kind.scale == "" and unit != "%" and not Endpoint(bare).is_log and spans_decades(values):
        return "log", f"the values span decades ({min(values):.3g} to {max(values):.3g})"
    return (
        "none",
        f"{kind.what} is compared as it is" if kind.scale == "none" else "the values are compared as they are",
    )


def _direction(spec: EndpointSpec, kind: Kind, endpoint: Endpoint) -> tuple[Direction, str]:
    """Return the better direction on the model scale, and the reason."""
    if spec.direction is not None:
        return spec.direction, "given"
    if not kind.better:
        return "max", "not known from its name: higher is taken as better"
    # -log10 of a concentration is high where the concentration is low.
    up = (kind.better == "high") != endpoint.is_potency
    why = f"{kind.what}: {'higher' if kind.better == 'high' else 'lower'} is better"
    if endpoint.is_potency:
        why += f", that is {'higher' if up else 'lower'} {endpoint.scale_name}"
    return ("max" if up else "min"), why


def _described(found: EndpointColumn, spec: EndpointSpec, kind: Kind, bare: str, values: Sequence[float]) -> Described:
    """Return an endpoint with notes and warnings on it."""
    endpoint = found.endpoint
    notes: list[str] = []
    warnings: list[str] = []
    name, unit, better = spec.name, endpoint.unit, "higher" if endpoint.direction == "max" else "lower"
    target = kind.potency == "target"
    if endpoint.transform == "log" and target and not unit and spec.transform is None:
        warnings.append(
            f"{name} has no unit: it is modelled as {endpoint.scale_name}, {better} is better. "
            "Give the unit of its values for a pIC50-like scale."
        )
    elif headers.is_log_concentration(name) and spec.direction is None:
        warnings.append(
            f"{name} is taken as the logarithm of a concentration: {better} is better. If it is the negative one, "
            "as pIC50 is, say so."
        )
    elif endpoint.is_potency and target:
        potent = "more" if endpoint.direction == "max" else "less"
        by_unit = " Only its unit makes it a potency: if it is none, choose the values as they are, and the better end."
        alone = "" if headers.looks_like_activity(re.sub(r"[()\[\]]", " ", bare)) else by_unit
        notes.append(
            f"{name} in {unit} is modelled as {endpoint.scale_name} = -log10(mol/L): "
            f"{better} ({potent} potent) is better.{alone}"
        )
    elif spec.direction is None and not found.direction_known:
        notes.append(f"{name}: which way is better is not known; higher is taken. If lower is better, say so.")
    elif (
        spec.direction is None
        and (endpoint.transform != "log" or spec.transform is not None)
        and not (endpoint.is_log and kind.better == "high" and target)
    ):
        notes.append(f"{name} is taken as {found.direction_why}.")
    if endpoint.transform == "log" and spec.transform is None and not (target and (endpoint.is_potency or not unit)):
        so = f": {better} {f'{endpoint.scale_name} ' if endpoint.is_potency else ''}is better" if kind.better else ""
        notes.append(
            f"{name} is modelled as {endpoint.scale_name}, as {found.scale_why}{so}. If not, choose the values as they "
            "are."
        )
    elif (
        kind.scale == "log" and endpoint.transform == "none" and spec.transform is None and values and min(values) <= 0
    ):
        zeros = sum(value <= 0 for value in values)
        warnings.append(
            f"{name} holds {zeros} value{'s' if zeros > 1 else ''} of 0 or less, so it is not modelled as a logarithm. "
            "Are they below the limit of quantitation? Then write < and that limit."
        )
    if endpoint.is_potency and unit == "nM" and endpoint.limit and 3 <= endpoint.limit.value <= _LIKE_A_LOGARITHM:
        # 5 is a usual upper limit of a pIC50, and rarely a limit in nM.
        value, below = endpoint.limit.value, endpoint.limit.relation[0] == "<"
        warnings.append(
            f"The limit {endpoint.limit.text} of {name} is in {unit}, as the values are. If "
            f"{endpoint.scale_name} {endpoint.limit.text} is meant, give {'>' if below else '<'}"
            f"{10 ** (9 - value):.0f}."
        )
    if endpoint.is_potency and spec.direction == "min" and target:
        warnings.append(
            f"Lower {name} is meant on the model scale: it looks for the lowest {endpoint.scale_name}, "
            f"that is the highest {bare} in {unit}, the least potent compounds. "
            "Choose higher to look for the most potent."
        )
    return Described(found, notes, warnings)


def without_column(spec: EndpointSpec, others: Sequence[Endpoint]) -> tuple[Endpoint, list[str]]:
    """Return the endpoint that comes to others with no column behind it, and what to warn of."""
    if spec.of is not None:
        of = find_parts(spec.name, spec.of, others)
        made = Endpoint(spec.name, direction=spec.direction or "max", epsilon=spec.epsilon, limit=spec.limit, of=of)
        return made, []
    bare, unit = headers.split_unit(spec.name)
    found = described(spec, bare, unit if spec.unit is None else normalise_unit(spec.unit))
    return found.column.endpoint, found.warnings


def _plain(spec: EndpointSpec) -> Endpoint:
    """Return the endpoint as specified, with the usual scale and direction where these were not given."""
    return Endpoint(
        spec.name,
        spec.unit or "",
        spec.transform or "none",
        spec.direction or "max",
        spec.sd,
        spec.wells_per_measurement,
        spec.epsilon,
        spec.limit,
        noise_estimated=spec.sd_estimated,
        kind=spec.kind or "value",
        words=spec.words,
    )
