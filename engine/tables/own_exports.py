"""Our own exports, read again: which of their columns are sites, and which only say what a campaign thought of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .raw import fold

_MARKS = ("status", "evidence", "availability")
"""Headers that stand in every export with all its columns."""
_SAID = frozenset(
    (*_MARKS, "decided in round", "why out", "goal", "guarantee", "program", "exported", "events", "campaign head")
)
_BETWEEN = ("smiles", "name", "picture")
"""What may stand between the ids and the sites."""
_CHANCE = re.compile(r"p\(.*\)")
_NOISE = re.compile(r"assay noise \(sd\)(?: of .*)?")
_BOUND = re.compile(r"(?P<of>.+) (?:low|high|measured|n)")


def is_export(columns: Sequence[str]) -> bool:
    """Whether these are the headers of a shortlist that this program wrote, with all its columns."""
    found = set(map(fold, columns))
    return "id" in found and found.issuperset(_MARKS)


def sites(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of sites in an export, which stand between id and status; none where they were moved."""
    if not is_export(columns):
        return ()
    folded = list(map(fold, columns))
    between = columns[folded.index("id") + 1 : folded.index("status")]
    return tuple(name for name in between if fold(name) not in _BETWEEN)


def said(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of an export that hold no values.

    Status, probabilities, bounds, and where the file comes from.
    """
    if not is_export(columns):
        return ()
    estimates = {fold(name).removesuffix(" estimate") for name in columns if fold(name).endswith(" estimate")}
    return tuple(name for name in columns if _says(fold(name), estimates))


def _says(folded: str, estimates: set[str]) -> bool:
    bound = _BOUND.fullmatch(folded)
    return (
        folded in _SAID
        or _CHANCE.fullmatch(folded) is not None
        or _NOISE.fullmatch(folded) is not None
        or (bound is not None and bound["of"] in estimates)
    )
