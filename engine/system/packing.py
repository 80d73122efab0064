"""Values on their way between processes: long tuples travel in pieces.

Unpickling a tuple of a million texts holds the interpreter for tenths of a second, and a window stands still meanwhile.
Needs nothing else: what a process loads first is what it holds.
"""

from __future__ import annotations

import gc
import io
import pickle
import time
from dataclasses import dataclass
from typing import Any

from .resources import without_collecting

PIECE = 2_000
"""Members of a tuple in one piece."""
MANY = 20_000
"""Values other than texts beyond which the collector leaves them alone."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A value, packed."""

    rest: bytes
    """The value without its long tuples."""
    long: tuple[tuple[bytes, ...], ...]
    """The pieces of each of these."""


class _Packer(pickle.Pickler):
    """Takes long tuples out of what it pickles."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.places: dict[int, tuple[int, Any]] = {}
        """Of each long tuple, which is held so that no other one gets its identity."""
        self.long: list[tuple[bytes, ...]] = []

    def persistent_id(self, value: Any) -> int | None:
        if type(value) is not tuple or len(value) <= PIECE:
            return None
        if id(value) not in self.places:
            self.places[id(value)] = len(self.long), value
            parts = (value[start : start + PIECE] for start in range(0, len(value), PIECE))
            self.long.append(tuple(map(pickle.dumps, parts)))
        return self.places[id(value)][0]


class _Unpacker(pickle.Unpickler):
    """Puts long tuples back."""

    def __init__(self, parcel: Parcel) -> None:
        super().__init__(io.BytesIO(parcel.rest))
        self._parcel = parcel
        self._known: dict[int, tuple[Any, ...]] = {}

    def persistent_load(self, place: int) -> tuple[Any, ...]:
        if place not in self._known:
            values: list[Any] = []
            for piece in self._parcel.long[place]:
                values += pickle.loads(piece)  # from our own process, through its own pipe
                time.sleep(0)  # other threads get their turn
            if len(values) > MANY and not isinstance(values[0], str):
                # They hold no cycles and stay: looking through them again and again would stop the window each time.
                gc.freeze()
            self._known[place] = tuple(values)
        return self._known[place]


def pack(value: Any) -> Parcel:
    """Return the value as few bytes that take no time to unpickle."""
    file = io.BytesIO()
    packer = _Packer(file)
    packer.dump(value)
    return Parcel(file.getvalue(), tuple(packer.long))


def unpack(parcel: Parcel) -> Any:
    """Return the value; tuples that were one are one."""
    with without_collecting():
        return _Unpacker(parcel).load()
