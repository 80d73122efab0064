"""The rows of a work list for the controls of a campaign: where each stands, with empty cells for what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..campaign.state import Round, Status
from ..domain.controls import find_control
from ..domain.plates.layout import Layout

__all__ = ["ControlWell", "control_wells"]

_WITHOUT_PLATES = 4
"""Rows of each control where no plate is laid out; those that are left empty are no results."""


@dataclass(frozen=True, slots=True)
class ControlWell:
    """One measurement of a control to come."""

    control: int
    """Position among the campaign's controls."""
    replicate: int
    """From 1, of this control and endpoint on its plate."""
    endpoints: tuple[int, ...]
    """Positions of what is read there."""
    plate: str = ""
    well: str = ""
    """The first one, where a measurement takes several."""


def control_wells(status: Status, issued: Round, layout: Layout | None) -> Iterator[ControlWell]:
    """Yield the controls of a round in order of plates and wells; without a layout some of each, on no plate.

    Wells of controls that are none of the campaign's, such as those of a solvent, are in the plate map alone.
    """
    controls = status.settings.controls
    if layout is None:
        for place in range(len(controls)):
            for replicate in range(1, _WITHOUT_PLATES + 1):
                yield ControlWell(place, replicate, issued.endpoints)
        return
    for plate in layout.plates:
        # A curve takes as many wells of a control as of a compound.
        size = max((status.endpoints[k].wells_per_measurement for k in plate.endpoints), default=1)
        wells: dict[int, list[str]] = {}
        for well, name in sorted(layout.use.control_wells().items()):
            found = find_control(controls, name)
            if found is not None:
                wells.setdefault(found, []).append(str(well))
        for control, own in sorted(wells.items()):
            for replicate in range(1, len(own) // size + 1):
                first = own[(replicate - 1) * size]
                yield ControlWell(control, replicate, plate.endpoints, plate.name, first)
