"""On which plate a value stood that names none, where the campaign keeps the plates of its round."""

from __future__ import annotations

from assaypilot.engine.campaign.counting import Books
from assaypilot.engine.controls import Reading
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.measurements import Measurement
from assaypilot.engine.plates.layout import Plate
from assaypilot.engine.plates.wells import Format, Well, read_well

__all__ = ["told_plate"]


def told_plate(books: Books, one: Measurement | Reading) -> str | None:
    """The plate that can only be meant, by its compound and well; None where none is kept, or several could be.

    Of a control that plate alone which is the only one of its endpoint.
    """
    layout = books.layouts.get(one.entered.round or one.round)
    if layout is None:
        return None
    plates = [plate for plate in layout.plates if one.endpoint in plate.endpoints]
    if isinstance(one, Measurement):
        well = _well(one.entered.well, layout.use.format)
        plates = [plate for plate in plates if _stands_on(plate, one, well)]
    return plates[0].name if len(plates) == 1 else None


def _stands_on(plate: Plate, m: Measurement, well: Well | None) -> bool:
    return any(
        one.compound == m.compound and m.endpoint in one.endpoints and (well is None or well in one.wells)
        for one in plate.placed
    )


def _well(text: str, on: Format) -> Well | None:
    """The first well of a text such as ``A1`` or ``A1-A8``; None where it names none."""
    name = text.replace(";", "-").replace(",", "-").split("-")[0].strip()
    if not name:
        return None
    try:
        return read_well(name, on)
    except AssayPilotError:
        return None
