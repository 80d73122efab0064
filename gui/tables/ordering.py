"""Orders of many rows from texts and numbers, in steps of numpy that leave other threads their turn. Needs no Qt."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Flags, Ints

Ranks = NDArray[np.int64] | NDArray[np.float64]
Bytes = NDArray[np.uint8]

CHUNK = 20_000
"""Texts looked at in one go: a few milliseconds."""
WIDTH = 48
"""Bytes of a text that are compared as numbers; what is equal in all of them is compared as text."""
LONGEST = 31
"""Digits of a number, beyond which longer ones are not told apart by their length."""
_END = "\x00"
_ZERO, _NINE = 48, 57
_NUMBER = re.compile(r"0*(\d+)", re.ASCII)


def order_of(keys: Ranks, down: bool) -> Ints:
    """The places of the keys, the least first (``down``: the largest), equal ones as they stand, NaN last in both."""
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
    """The place of each text in alphabetical order, numbers inside texts by value (BZ-9 before BZ-10).

    Case and leading zeros make no difference; texts that differ in nothing else have the same place.
    """
    if not len(texts):
        return np.zeros(0, dtype=np.int64)
    matrix = np.zeros((len(texts), WIDTH), dtype=np.uint8)
    longer = np.zeros(len(texts), dtype=bool)
    for start in range(0, len(texts), CHUNK):
        stop = min(start + CHUNK, len(texts))
        _fill(texts[start:stop], matrix[start:stop], longer[start:stop])
        time.sleep(0)
    ranks = _ranks(_words(matrix))
    if longer.any():
        ranks = _told_apart(texts, ranks, np.flatnonzero(longer))
    return ranks


def _fill(texts: Sequence[str], into: Bytes, longer: Flags) -> None:
    """Write the first bytes of the key of each text, and which texts have more of them."""
    joined = _END.join(texts).casefold()
    if joined.count(_END) != len(texts) - 1:  # a text holds the mark itself
        joined = _END.join(text.replace(_END, " ") for text in texts).casefold()
    signs = _numbered(np.frombuffer((joined + _END).encode("utf-8", "surrogatepass"), dtype=np.uint8))
    ends = np.flatnonzero(signs == 0)
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    longer[:] = lengths > WIDTH
    shift = (np.arange(len(texts)) * WIDTH - starts).astype(np.int32)
    target = np.arange(len(signs), dtype=np.int32) + np.repeat(shift, lengths + 1)
    if (lengths >= WIDTH).any():
        inside = target < np.repeat(np.arange(1, len(texts) + 1, dtype=np.int32) * WIDTH, lengths + 1)
        target, signs = target[inside], signs[inside]
    into.reshape(-1)[target] = signs


def _numbered(signs: Bytes) -> Bytes:
    """The signs with each number's leading zeros left out and the count of its digits put before it.

    A count is below every sign that is printed, so that numbers come before letters and short ones before long ones.
    """
    digit = (signs >= _ZERO) & (signs <= _NINE)
    begins = digit.copy()
    begins[1:] &= ~digit[:-1]
    starts = np.flatnonzero(begins)
    if not starts.size:
        return signs
    follows = np.append(digit[1:], False)
    if (follows & begins & (signs == _ZERO)).any():
        run = np.cumsum(begins) - 1
        seen = np.cumsum(digit & (signs != _ZERO))
        before = (seen - (digit & (signs != _ZERO)))[starts]
        leading = digit & follows & (seen == before[run])
        used = np.add.reduceat((digit & ~leading).astype(np.int32), starts)
        stays = ~leading
    else:
        after = np.flatnonzero(digit & ~follows)
        used = after - starts + 1
        stays = np.ones(len(signs), dtype=bool)
    wide = stays.astype(np.int32)
    wide[starts] += 1
    # Where each sign comes to stand; a number's count one before its first digit, or there if that is left out.
    last = np.cumsum(wide, dtype=np.int32) - 1
    out = np.empty(int(last[-1]) + 1, dtype=np.uint8)
    out[last[stays]] = signs[stays]
    out[last[starts] - stays[starts]] = np.minimum(used, LONGEST)
    return out


def _words(matrix: Bytes) -> NDArray[np.uint64]:
    """The rows of bytes as few numbers that order alike, the most significant first ``(n_words, n)``."""
    columns = np.ascontiguousarray(matrix.T)
    varying = columns[[bool((column != column[0]).any()) for column in columns]]
    room = max(-(-len(varying) // 8), 1)
    words = np.zeros((room, len(matrix)), dtype=np.uint64)
    for place, column in enumerate(varying):
        words[place // 8] |= column.astype(np.uint64) << np.uint64(8 * (7 - place % 8))
    return words


def _ranks(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The place of each column of numbers among all, equal ones the same place."""
    order = np.lexsort(words[::-1])
    steps = np.zeros(words.shape[1], dtype=bool)
    for word in words:
        ordered = word[order]
        steps[1:] |= ordered[1:] != ordered[:-1]
    ranks = np.empty(words.shape[1], dtype=np.int64)
    ranks[order] = np.cumsum(steps)
    return ranks


def _told_apart(texts: Sequence[str], ranks: NDArray[np.int64], longer: Ints) -> NDArray[np.int64]:
    """The ranks with those texts told apart that go on where the bytes compared end."""
    tails = [_key(texts[place]) for place in longer.tolist()]
    among = {key: place for place, key in enumerate(sorted(set(tails)), start=1)}
    second = np.zeros(len(texts), dtype=np.uint64)
    second[longer] = [among[key] for key in tails]
    return _ranks(np.stack([ranks.astype(np.uint64), second]))


def _key(text: str) -> bytes:
    """The whole key of a text, as ``_fill`` makes it."""
    folded = text.casefold().replace(_END, " ")
    counted = _NUMBER.sub(lambda found: chr(min(len(found[1]), LONGEST)) + found[1], folded)
    return counted.encode("utf-8", "surrogatepass")
