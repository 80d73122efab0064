"""Controls: compounds outside the library, measured repeatedly, so that plates and rounds can be compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import AssayPilotError
from .endpoint import Endpoint
from .library import Library
from .measurements import Measurement

_LONGEST = 24
"""Letters of a control's name: what fits a legend, and what a plate's controls may have."""


@dataclass(frozen=True, slots=True)
class Control:
    """A control compound and what it should read."""

    name: str
    values: tuple[tuple[str, float], ...] = ()
    """Endpoint and nominal value, model scale; the endpoint "" means the only one that is measured.

    For an endpoint that is not named the value is unknown: the reading of the control's first round replaces it.
    """

    def nominal(self, endpoint: str) -> float | None:
        """Return the nominal value for an endpoint; None when it was not given."""
        return dict(self.values).get(endpoint)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of a campaign file."""
        return {"name": self.name, "values": dict(self.values)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Control:
        """Return the control that ``as_json`` wrote."""
        return cls(data["name"], tuple(data["values"].items()))


class Reading(Measurement):
    """One value of a control in a campaign; its compound is the control's position among those of the campaign."""

    __slots__ = ()

    @property
    def control(self) -> int:
        """Position among the campaign's controls."""
        return self.compound


def parse_control(text: str) -> Control:
    """Return the control that ``NAME``, ``NAME;value=7.1`` or ``NAME;pIC50=7.1;hERG=5`` names."""
    name, *parts = (part.strip() for part in text.split(";"))
    if not name or len(name) > _LONGEST:
        raise AssayPilotError(
            f"{name!r} is no name of a control: 1 to {_LONGEST} letters",
            option="--control",
            mend='For example "REF-1;value=7.1".',
        )
    values: dict[str, float] = {}
    for part in filter(None, parts):
        endpoint, equals, number = (piece.strip() for piece in part.rpartition("="))
        try:
            value = float(number.replace(",", "."))
        except ValueError:
            value = math.nan
        if not equals or not endpoint or not math.isfinite(value):
            raise AssayPilotError(
                f"{part!r} has no nominal value of the control {name}",
                option="--control",
                mend=f'For example "{name};value=7.1", on the log scale for a log endpoint; or leave it out.',
            )
        endpoint = "" if endpoint.casefold() == "value" else endpoint
        if endpoint in values:
            raise AssayPilotError(f"the control {name} is given two values", option="--control", mend="Give one.")
        values[endpoint] = value
    return Control(name, tuple(values.items()))


def find_control(controls: Sequence[Control], name: str) -> int | None:
    """Return the position of the control of that name, large or small letters; None when there is none."""
    key = name.strip().casefold()
    return next((place for place, control in enumerate(controls) if control.name.casefold() == key), None)


def check_names(controls: Sequence[Control]) -> None:
    """Raise AssayPilotError for two controls of one name."""
    for place, control in enumerate(controls):
        if find_control(controls[:place], control.name) is not None:
            raise AssayPilotError(
                f"the control {control.name} is named twice", option="--control", mend="Name it once."
            )


def resolved(
    controls: Sequence[Control], endpoints: Sequence[Endpoint], measured: Sequence[int]
) -> tuple[Control, ...]:
    """Return the controls with every nominal value under its endpoint's full name.

    AssayPilotError for one of no endpoint.
    """
    names = [endpoint.name for endpoint in endpoints if endpoint.of is None]
    known = {name.casefold(): name for name in names}
    out = []
    for control in controls:
        values: dict[str, float] = {}
        for stated, value in control.values:
            if not stated and len(measured) == 1:
                values[endpoints[measured[0]].name] = value
            elif stated.casefold() in known:
                values[known[stated.casefold()]] = value
            else:
                what = "does not say of which endpoint" if not stated else f"is of no measured endpoint: {stated!r}"
                raise AssayPilotError(
                    f"the nominal value of the control {control.name} {what}",
                    option="--control",
                    mend=f'Write "{control.name};{names[0]}={value:g}"; there are {", ".join(names)}.',
                )
        out.append(Control(control.name, tuple(values.items())))
    return tuple(out)


def refuse_compounds(controls: Sequence[Control], library: Library) -> None:
    """Raise AssayPilotError when a control is also a compound of the library: its values could be of either."""
    for control in controls:
        if library.find(control.name) is not None:
            raise AssayPilotError(
                f"{control.name} is a compound of the library, so it cannot be a control",
                option="--control",
                mend="Call the control otherwise in its wells, for example with ctrl behind it.",
            )
