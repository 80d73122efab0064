"""The file that somebody meant who misspelled its name."""

from __future__ import annotations

import os
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

_LOOKED_AT = 5_000
_NEAR = 0.75


def where_else(path: Path) -> str:
    """Return what to do about a file that is not there.

    The name of the one that was meant, where one of the folder is near.

    A name without its ending means the file that has one, if only one does.
    """
    check = "Check the name and the folder."
    try:
        with os.scandir(path.parent) as entries:
            there = [entry.name for entry in islice(entries, _LOOKED_AT)]
    except (OSError, ValueError):
        return check
    ended = [name for name in there if Path(name).stem == path.name]
    near = ended if len(ended) == 1 else get_close_matches(path.name, there, n=1, cutoff=_NEAR)
    return f"Did you mean {near[0]}?" if near else check
