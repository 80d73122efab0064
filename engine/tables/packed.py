"""A table as JSON, on its way from the process that read it: nothing there is unpickled."""

from __future__ import annotations

import json
from dataclasses import fields

from .problems import Problem
from .raw import RawTable

__all__ = ["from_bytes", "to_bytes"]


def to_bytes(table: RawTable) -> bytes:
    """Return the table as JSON."""
    values = {field.name: getattr(table, field.name) for field in fields(RawTable)}
    values["problems"] = [[one.row, one.column, one.reason, one.severity] for one in table.problems]
    return json.dumps(values).encode()


def from_bytes(data: bytes) -> RawTable:
    """Return the table that ``to_bytes`` wrote."""
    values = json.loads(data)
    for name in ("columns", "rows", "warnings"):
        values[name] = tuple(values[name])
    values["cells"] = tuple(map(tuple, values["cells"]))
    values["unmatched"] = tuple(map(tuple, values["unmatched"]))
    values["problems"] = tuple(Problem(*one) for one in values["problems"])
    return RawTable(**values)
