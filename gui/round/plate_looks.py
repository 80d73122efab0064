"""How the wells of a plate look: by what has come back, or by value."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.plates import Placed, Plate, Well

from .entry import entered_text
from .round_columns import Slot
from .round_rows import RoundModel

LONGEST = 22
"""Letters of an endpoint's name in the legend."""
LINES, STATE, VALUE = "lines", "state", "value"
"""The colouring of wells; a value is ``value`` and the endpoint's place in the round."""

Kind = Literal["waiting", "missing", "back", "partly", "excluded", "asked", "wrong"]
WORDS: dict[Kind, str] = {
    "waiting": "pending",
    "back": "back",
    "partly": "partly back",
    "asked": "asked about",
    "wrong": "not kept",
    "excluded": "excluded",
    "missing": "never came",
}
"""The kinds as the legend has them, in its order."""


@dataclass(frozen=True, slots=True)
class Look:
    """One well."""

    kind: Kind
    line: int
    """Line of the list, from 0."""
    words: str
    """The content of the well, in a sentence."""
    text: str = ""
    """The value, where wells are coloured by it."""
    share: float | None = None
    """Its position on the scale of values, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Looks:
    """The wells of one plate, and what their colours mean."""

    by: str
    wells: dict[Well, Look]
    low: str = ""
    """The lowest and the highest value of the round, where wells are coloured by it."""
    high: str = ""
    scale: str = ""

    @property
    def kinds(self) -> list[Kind]:
        """The kinds there are, in the order of the legend."""
        there = {look.kind for look in self.wells.values()}
        return [kind for kind in WORDS if kind in there]


def plain_looks(plate: Plate, ranks: Mapping[int, int]) -> Looks:
    """Wells that show only their line in the list; ``ranks``: the line of each compound, from 1."""
    wells = {
        well: Look("waiting", ranks.get(placed.compound, 0) - 1, "") for placed in plate.placed for well in placed.wells
    }
    return Looks(LINES, wells)


def unvalued(look: Look) -> Kind | None:
    """How a well is shown that has no value to be coloured by, or one that does not count; None for any other."""
    return None if look.share is not None and look.kind != "excluded" else look.kind


def looks_of(model: RoundModel, status: Status, plate: Plate, by: str, questioned: Collection[int] = ()) -> Looks:
    """Return the wells of a plate; ``questioned``: numbers of measurements to be confirmed."""
    shown = model.round
    assert shown is not None
    lines = {item.compound: line for line, item in enumerate(shown.items)}
    place = int(by.removeprefix(VALUE)) if by.startswith(VALUE) else None
    low, high = (0.0, 0.0) if place is None else _range(model, place)
    refused = model.refused
    wells: dict[Well, Look] = {}
    for placed in plate.placed:
        line = lines[placed.compound]
        cells = [(shown.endpoints.index(endpoint), placed.replicate - 1) for endpoint in placed.endpoints]
        slots = [(k, model.slot(line, k, at) or Slot()) for k, at in cells]
        wrong = any((line, *cell) in refused for cell in cells)
        kind = _kind([slot for _, slot in slots], questioned, wrong=wrong, open_=shown.state == "open")
        own = next((one for k, slot in slots if k == place and (one := slot.kept or slot.within) is not None), None)
        share = None if own is None else 1.0 if high <= low else (own.value - low) / (high - low)
        text = "" if own is None else f"{'' if own.relation == '=' else own.relation}{own.value:.1f}"
        words = _words(model, status, placed, line, slots, kind)
        wells |= dict.fromkeys(placed.wells, Look(kind, line, words, text, share))
    scale = "" if place is None else textwrap.shorten(model.endpoints[place].scale_name, LONGEST, placeholder=" …")
    return Looks(by, wells, f"{low:.2f}", f"{high:.2f}", scale)


def _range(model: RoundModel, place: int) -> tuple[float, float]:
    """Return the lowest and the highest value of an endpoint in the round."""
    rows = range(len(model.values))
    values = [one.value for row in rows for one in model.values_of(row, place) if one.excluded is None]
    return (min(values), max(values)) if values else (0.0, 0.0)


def _kind(slots: list[Slot], questioned: Collection[int], *, wrong: bool, open_: bool) -> Kind:
    """Return what is to be seen of the cells that are measured in one well."""
    if wrong:
        return "wrong"
    ones = [slot.kept or slot.within for slot in slots]
    if any(one is not None and one.number in questioned for one in ones):
        return "asked"
    if any(slot.excluded and slot.empty for slot in slots):
        return "excluded"
    if all(one is not None for one in ones) and ones:
        return "back"
    if any(one is not None for one in ones):
        return "partly"
    return "waiting" if open_ else "missing"


def _words(
    model: RoundModel, status: Status, placed: Placed, line: int, slots: list[tuple[int, Slot]], kind: Kind
) -> str:
    """``line 5, BZ-137, measurement 1: 6.51``."""
    name = status.library.ids[placed.compound]
    values = [part for k, slot in slots if (part := _value(slot, model.endpoints[k], several=len(slots) > 1))]
    text = f"line {line + 1}, {name}, measurement {placed.replicate}"
    state = "" if kind == "back" else f" ({WORDS[kind]})"
    return f"{text}: {', '.join(values)}{state}" if values else f"{text}: {WORDS[kind]}"


def _value(slot: Slot, endpoint: Endpoint, *, several: bool) -> str:
    one = slot.kept or slot.within or (slot.excluded[-1] if slot.excluded else None)
    if one is None:
        return ""
    text = entered_text(one, endpoint)
    return f"{endpoint.name} {text}" if several else text
