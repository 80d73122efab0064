"""The core of a series that came without one: the best that its structures share, taken and named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ..system.guarded import TooLong, TooMuch, guarded
from ..system.progress import Report, part_of, silent
from .raw import RawTable

__all__ = ["FoundCores", "find_cores"]


@dataclass(frozen=True, slots=True)
class FoundCores:
    """The cores that are taken, and what to say of them, or why there are none."""

    cores: tuple[str, ...] = ()
    sentence: str = ""


def find_cores(
    raw: RawTable, smiles: str, values: Sequence[float] | None = None, report: Report = silent
) -> FoundCores:
    """Return the best cores for the structures of a column, with others named; none where they share none.

    ``values``: how good each row is, so that the best compounds are kept. A process of its own looks for them, within
    limits of time and memory: for some structures the search has no end.
    """
    given = {"smiles": raw.column(smiles), "ours": raw.spelled == smiles, "values": values}
    try:
        answer = guarded(_proposed, json.dumps(given).encode(), report=report, file=raw.file)
    except (TooLong, TooMuch):
        return FoundCores(sentence="no core was found in the time for it")
    best, others = ([_Found(*one) for one in part] for part in json.loads(answer))
    if not best:
        return FoundCores()
    taken = " ".join(f"--core '{one.smiles}'" for one in best)
    counts = " and ".join(str(one.used) for one in best)
    said = (
        f"No core was given. Taken {'is' if len(best) == 1 else 'are'} {taken}, which {counts} of {best[0].sample} "
        "structures looked at have. Look at it before you use it."
    )
    if others:
        said += (
            " Other cores: "
            + " or ".join(f"--core '{other.smiles}' ({other.used} of {other.sample})" for other in others)
            + "."
        )
    return FoundCores(tuple(one.smiles for one in best), said)


@dataclass(frozen=True, slots=True)
class _Found:
    """A core and how much of the series it covers."""

    smiles: str
    used: int
    sample: int


def _proposed(data: bytes, report: Report) -> bytes:
    """Return the cores to take and the others as JSON; in a process of its own."""
    from ..chemistry.proposing import propose_set
    from ..chemistry.structures import read_structures

    given = json.loads(data)
    read = read_structures(given["smiles"], part_of(report, 0.0, 0.3), ours=given["ours"])
    both = propose_set([one.smiles for one in read], part_of(report, 0.3, 1.0), values=given["values"])
    return json.dumps([[[one.core.smiles, one.used, one.sample] for one in part] for part in both]).encode()
