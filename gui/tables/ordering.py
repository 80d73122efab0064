"""Orders of many rows from texts and numbers, in steps that leave other threads their turn. Needs no Qt."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Ints

Ranks = NDArray[np.int64] | NDArray[np.float64]

CHUNK = 20_000
"""Texts examined in one go: a few milliseconds."""
WIDTH = 240
"""Bytes of a text that are compared: one long text must not make the keys of a million others as long."""
LONGEST = 31
"""Digits of a number, beyond which lengths are not distinguished."""
_END = "\x00"
_NUMBER = re.compile(r"0*([0-9]+)")


def order_of(keys: Ranks, down: bool) -> Ints:
    """Return the places of the keys, the least first (``down``: the largest), equal ones as they are, NaN last."""
    if keys.dtype.kind == "f":
        return np.argsort(-keys if down else keys, kind="stable")
    if not keys.size:
        return np.zeros(0, dtype=np.intp)
    low, high = int(keys.min()), int(keys.max())
    if high - low < 1 << 16:  # sorted by counting
        near = (high - keys if down else keys - low).astype(np.uint16)
        return np.argsort(near, kind="stable")
    return np.argsort(-keys if down else keys, kind="stable")


def text_ranks(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each text in alphabetical order, numbers inside texts by value (BZ-9 before BZ-10).

    Case and leading zeros make no difference; texts that differ in nothing else have the same place.
    """
    if not len(texts):
        return np.zeros(0, dtype=np.int64)
    parts = []
    for start in range(0, len(texts), CHUNK):
        parts.append(_keys(texts[start : start + CHUNK]))
        time.sleep(0)
    _, ranks = np.unique(np.concatenate(parts), return_inverse=True)
    return ranks.astype(np.int64)


def _keys(texts: Sequence[str]) -> NDArray[np.bytes_]:
    """Return a key for bytewise comparison: a number becomes its count of digits, below all signs, and its digits."""
    joined = _END.join(text.replace(_END, " ") for text in texts).casefold()
    counted = _NUMBER.sub(lambda found: chr(min(len(found[1]), LONGEST)) + found[1], joined)
    return np.array([key[:WIDTH] for key in counted.encode("utf-8", "surrogatepass").split(b"\x00")])
