"""Texts on their way between processes: few long ones instead of millions of short ones.

Unpickling a tuple of a million texts holds the interpreter for tenths of a second, and a window stands still meanwhile.
Needs nothing else: what a process loads first is what it holds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

CELLS = 20_000
"""Texts in one piece: cutting them takes about a millisecond."""
BETWEEN = "\x00"

Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parcel:
    """Texts, packed; ``plain`` where they could not be joined."""

    pieces: tuple[str, ...]
    size: int
    plain: tuple[Texts, ...] = ()


def pack_texts(texts: Sequence[str]) -> Parcel:
    """Return the texts as few long ones."""
    pieces = []
    for start in range(0, len(texts), CELLS):
        part = texts[start : start + CELLS]
        piece = BETWEEN.join(part)
        if piece.count(BETWEEN) != len(part) - 1:
            return Parcel((), len(texts), (tuple(texts),))
        pieces.append(piece)
    return Parcel(tuple(pieces), len(texts))


def unpack_texts(parcel: Parcel) -> Texts:
    """Return the texts; other threads get their turn between the pieces."""
    if parcel.plain:
        return parcel.plain[0]
    out: list[str] = []
    for piece in parcel.pieces:
        out.extend(piece.split(BETWEEN))
        time.sleep(0)
    return tuple(out)
