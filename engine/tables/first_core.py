"""The core of a series that came without one: the best that its structures share, taken and named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import AssayPilotError
from ..system.guarded import TooLong, TooMuch, guarded
from ..system.progress import Report, part_of, silent
from .options import EndpointColumn
from .raw import RawTable
from .values import is_missing, parse_value

_WEAK = -1e9
"""How good a row without a value is."""


@dataclass(frozen=True, slots=True)
class FoundCore:
    """A core and how much of the series it covers."""

    smiles: str
    used: int
    """Structures of the sample that it takes apart."""
    sample: int


@dataclass(frozen=True, slots=True)
class FoundCores:
    """The cores to take together, and others to choose from."""

    taken: tuple[FoundCore, ...] = ()
    others: tuple[FoundCore, ...] = ()
    why: str = ""
    """Why there are none, where that is known."""

    @property
    def sentence(self) -> str:
        """Which cores are taken, and the others."""
        taken = " ".join(f"--core '{one.smiles}'" for one in self.taken)
        counts = " and ".join(str(one.used) for one in self.taken)
        said = (
            f"No core was given. Taken {'is' if len(self.taken) == 1 else 'are'} {taken}, which {counts} of "
            f"{self.taken[0].sample} structures looked at have. Look at it before you use it."
        )
        others = " or ".join(f"--core '{one.smiles}' ({one.used} of {one.sample})" for one in self.others)
        return f"{said} Other cores: {others}." if others else said


def find_cores(
    raw: RawTable, smiles: str, columns: Sequence[EndpointColumn] = (), report: Report = silent
) -> FoundCores:
    """Return the best cores for the structures of a column, and others; none where they share none.

    ``columns``: by the first with values the best compounds are kept. A process of its own looks for them, within
    limits of time and memory: for some structures the search has no end.
    """
    given = {"smiles": raw.column(smiles), "ours": raw.spelled == smiles, "values": _strengths(raw, columns)}
    try:
        answer = guarded(_proposed, json.dumps(given).encode(), report=report, file=raw.file)
    except (TooLong, TooMuch):
        return FoundCores(why="no core was found in the time for it")
    taken, others = (tuple(FoundCore(*one) for one in part) for part in json.loads(answer))
    return FoundCores(taken, others)


def _strengths(raw: RawTable, columns: Sequence[EndpointColumn]) -> list[float] | None:
    """Return how good the compound of each row is, by the first endpoint; None without values."""
    column = next((one for one in columns if one.value is not None and one.endpoint.kind == "value"), None)
    if column is None or column.value is None:
        return None
    found = []
    for text in raw.column(column.value):
        try:
            read = None if is_missing(text) else parse_value(text, raw.decimal)
            level = None if read is None or read.relation != "=" else column.endpoint.to_model(read.value, read.unit)
        except (ValueError, AssayPilotError):
            level = None
        found.append(_WEAK if level is None else column.endpoint.sign * level)
    return found


def _proposed(data: bytes, report: Report) -> bytes:
    """Return the cores to take and the others as JSON; in a process of its own."""
    from ..chemistry.proposing import propose_set
    from ..chemistry.structures import read_structures

    given = json.loads(data)
    read = read_structures(given["smiles"], part_of(report, 0.0, 0.3), ours=given["ours"])
    both = propose_set([one.smiles for one in read], part_of(report, 0.3, 1.0), values=given["values"])
    return json.dumps([[[one.core.smiles, one.used, one.sample] for one in part] for part in both]).encode()
