"""Names for structures that a table does not name: ``CPD-001``, in its order."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["numbered"]

_NAME = re.compile(r"CPD-(\d+)")


def numbered(count: int, known: Iterable[str] = ()) -> list[str]:
    """So many names, which go on behind those that are known; as wide as the largest number."""
    taken = [match[1] for match in map(_NAME.fullmatch, known) if match]
    last = max(map(int, taken), default=0)
    width = max(3, len(str(last + count)), *map(len, taken))
    return [f"CPD-{last + k:0{width}d}" for k in range(1, count + 1)]
