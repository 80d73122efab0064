"""The plates of a round: the place of each measurement, and the event that keeps it.

``plates_laid_out`` has every well: a printed plate stays what it is whatever a later program would lay out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..domain.plates import Control, Grid, Layout, Placed, Plate, PlateUse, controls_text, read_well
from ..domain.spreading import spread
from ..errors import AssayPilotError
from ..text import many
from .file.chain import Draft
from .issued_rounds import Round
from .state import Status

_MOST_PLATES = 1_000
"""No lab runs more in a round; more is a slip, such as 24-well plates for a screen."""


def check_plates(status: Status, use: PlateUse) -> None:
    """Raise AssayPilotError unless a measurement of every endpoint that is measured fits on a plate."""
    for group in _groups(status.measured_endpoints, use):
        _grid(status, group, use)


def layout_of(status: Status, issued: Round, use: PlateUse | None) -> Layout | None:
    """Return the plates of a round, used like this; those the campaign keeps where they are, so that nothing moves."""
    if use is None or (issued.layout is not None and issued.layout.use == use):
        return None if use is None else issued.layout
    return plate_layout(status, issued, use)


def plate_layout(status: Status, issued: Round, use: PlateUse) -> Layout:
    """Return the place of each measurement of a round; it depends on campaign seed, round and use of plates alone.

    Each endpoint has its own plates, unless all are read from the same wells. As few plates as the round needs;
    replicates of a compound are separated (see ``spread``), on different plates if there are; the rest is by lot.
    AssayPilotError when a measurement fits on no plate.
    """
    plates: list[Plate] = []
    for group in _groups(issued.endpoints, use):
        grid = _grid(status, group, use)
        requested = [[item.of(issued.endpoints.index(k)) for k in group] for item in issued.items]
        counts = [max(of_it) for of_it in requested]
        n_plates = -(-sum(counts) // len(grid))
        if len(plates) + n_plates > _MOST_PLATES:
            raise AssayPilotError(
                f"the round would take {len(plates) + n_plates:,} plates, more than {_MOST_PLATES:,}",
                option="--plate",
                mend="Choose larger plates, or plan fewer measurements per round.",
            )
        entropy = (status.settings.seed, issued.number, group[0])
        where = spread(counts, len(grid.tops), len(grid.lefts), entropy)
        placed: list[list[Placed]] = [[] for _ in range(n_plates)]
        for item, of_it, places in zip(issued.items, requested, where, strict=True):
            for replicate, (plate, row, column) in enumerate(places, start=1):
                endpoints = tuple(k for k, n in zip(group, of_it, strict=True) if replicate <= n)
                placed[plate].append(Placed(item.compound, endpoints, replicate, grid.at(row, column)))
        for own in placed:
            name = f"R{issued.number}-P{len(plates) + 1}"
            plates.append(Plate(name, group, tuple(sorted(own, key=lambda one: one.wells))))
    return Layout(use, issued.number, tuple(plates))


def _groups(endpoints: tuple[int, ...], use: PlateUse) -> list[tuple[int, ...]]:
    """Return the endpoints (positions) that share plates."""
    return [endpoints] if use.same_wells else [(endpoint,) for endpoint in endpoints]


def _grid(status: Status, group: tuple[int, ...], use: PlateUse) -> Grid:
    """Return the places for measurements of some endpoints: of as many wells as the largest of them takes."""
    largest = max((status.endpoints[k] for k in group), key=lambda endpoint: endpoint.wells_per_measurement)
    return use.grid(largest.wells_per_measurement, f"a measurement of {largest.name}")


# ---------------------------------------------------------------------- the event


def laid_out(issued: Round, layout: Layout | None) -> Draft:
    """Return the event that keeps the plates of a round, or (None) that it has none any more."""
    if issued.state == "withdrawn":
        raise AssayPilotError(f"round {issued.number} was withdrawn, so it has no plates")
    return Draft("plates_laid_out", {"round": issued.number, "layout": layout_to_json(layout)})


def layout_to_json(layout: Layout | None) -> dict[str, Any] | None:
    """Return a layout as an object, its wells by name; None for none."""
    if layout is None:
        return None
    use = layout.use
    return {
        "size": use.size,
        "controls": [{"name": one.name, "columns": list(one.columns)} for one in use.controls],
        "edge": use.edge,
        "same_wells": use.same_wells,
        "plates": [
            {
                "name": plate.name,
                "endpoints": list(plate.endpoints),
                "placed": [_placed_to_json(one, plate) for one in plate.placed],
            }
            for plate in layout.plates
        ],
    }


def _placed_to_json(one: Placed, plate: Plate) -> dict[str, Any]:
    data = {"compound": one.compound, "replicate": one.replicate, "wells": [str(well) for well in one.wells]}
    return data if one.endpoints == plate.endpoints else data | {"endpoints": list(one.endpoints)}


def layout_from_json(data: Mapping[str, Any] | None, issued: Round) -> Layout | None:
    """Return the layout that ``layout_to_json`` wrote.

    AssayPilotError unless it has what the round requests, once each.
    """
    if data is None:
        return None
    use = _use_from_json(data)
    plates = []
    for entry in data["plates"]:
        shared = tuple(entry["endpoints"])
        placed = tuple(
            Placed(
                one["compound"],
                tuple(one.get("endpoints", shared)),
                one["replicate"],
                tuple(read_well(name, use.format) for name in one["wells"]),
            )
            for one in entry["placed"]
        )
        plates.append(Plate(entry["name"], shared, placed))
    layout = Layout(use, issued.number, tuple(plates))
    _check(layout, issued)
    return layout


def _use_from_json(data: Mapping[str, Any]) -> PlateUse:
    controls = tuple(Control(one["name"], tuple(one["columns"])) for one in data["controls"])
    return PlateUse(data["size"], controls, data["edge"], data["same_wells"])


def _check(layout: Layout, issued: Round) -> None:
    """Raise AssayPilotError unless every measurement of a round has wells of its own, and nothing else has."""
    requested = {
        (item.compound, replicate, endpoint)
        for item in issued.items
        for place, endpoint in enumerate(issued.endpoints)
        for replicate in range(1, item.of(place) + 1)
    }
    there = [
        (one.compound, one.replicate, endpoint)
        for plate in layout.plates
        for one in plate.placed
        for endpoint in one.endpoints
    ]
    taken = set(layout.use.control_wells())
    wells = all(
        all(one.wells for one in plate.placed)
        and len(own := [well for one in plate.placed for well in one.wells]) == len(set(own) - taken)
        for plate in layout.plates
    )
    names = {plate.name for plate in layout.plates}
    if set(there) != requested or len(there) != len(requested) or not wells or len(names) != len(layout.plates):
        raise AssayPilotError(f"the log lays out something else than round {issued.number}")


def moved_in_words(status: Status, number: int) -> tuple[str, ...]:
    """Return what other plates mean for the values of a round that are in, in a sentence; empty without any."""
    came = sum(m.round == number and not m.withdrawn for m in status.measurements)
    came += sum(r.round == number and not r.withdrawn for r in status.readings)
    if not came:
        return ()
    keep = "is in already. It keeps the plate" if came == 1 else "are in already. They keep the plates"
    return (f"{many(came, 'value')} of round {number} {keep} and wells that were entered, whatever these say.",)


def layout_in_words(data: Mapping[str, Any]) -> str:
    """Return one sentence for a ``plates_laid_out`` event."""
    number, layout = data["round"], data["layout"]
    if layout is None:
        return f"Plates of round {number} taken away"
    use = _use_from_json(layout)
    parts = [f"{many(len(layout['plates']), 'plate')} of {use.size:,} wells"]
    if use.controls:
        parts.append(f"controls in columns {controls_text(use.controls)}")
    if not use.edge:
        parts.append("no measurement in the outermost wells")
    return f"Round {number} laid out on {', '.join(parts)}"
