"""What controls say of plates and rounds, as ``status`` shows it."""

from __future__ import annotations

from typing import Any

from ..campaign.state import Status
from .console import table
from .recorded_values import value_told

__all__ = ["controls_document", "plate_lines"]

_LAST = 12
"""Plates shown in the terminal, the last ones."""


def controls_document(now: Status) -> dict[str, Any]:
    """Return the keys of ``status --json`` about controls; none in campaigns without controls."""
    settings, told = now.settings, now.quality
    if not settings.controls:
        return {}
    return {
        "controls": {
            "compounds": [control.as_json() for control in settings.controls],
            "values": sum(r.usable for r in now.readings),
            "readings": [value_told(now, r) for r in now.readings if not r.withdrawn],
            "plates": [
                {
                    "round": line.round,
                    "name": line.name,
                    "endpoint": now.endpoints[line.endpoint].name,
                    "values": line.n,
                    "above_nominal": line.mean,
                    "sd": line.sd,
                    "wide": line.wide,
                }
                for line in told.plates
            ],
            "drift": told.drift,
        },
    }


def plate_lines(now: Status) -> list[str]:
    """Return the same in lines for people; none in campaigns without controls."""
    told = now.quality
    if not now.settings.controls:
        return []
    names = ", ".join(control.name for control in now.settings.controls)
    if not told.plates:
        return [f"Controls ({names}): no value yet"]
    several = len({line.endpoint for line in told.plates}) > 1
    rows = [
        (
            line.round,
            line.name,
            *((now.endpoints[line.endpoint].name,) if several else ()),
            line.n,
            f"{line.mean:+.2f}",
            "-" if line.sd is None else f"{line.sd:.2f}",
            "scatter more than the assay noise" if line.wide else "",
        )
        for line in told.plates[-_LAST:]
    ]
    header = ["Round", "Plate", *(["Endpoint"] if several else []), "Values", "Above nominal", "SD", ""]
    more = len(told.plates) - _LAST
    lines = ["", f"Controls ({names}):", *table(header, rows)]
    lines += [f"... and {more} before (--json lists them all)"] if more > 0 else []
    return [*lines, ""]
