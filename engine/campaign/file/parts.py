"""The numbers behind a decision as bytes and back: a part of the file. Never pickle.

Two formats. ``APEST1`` holds one block of numbers, estimate, low and high of every arm, and is still written when there
is nothing else to keep. ``APEST2`` holds arrays by name: a JSON list of [name, type, shape], then their bytes.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats
from ...strategies.protocol import Arrays, Decision

__all__ = ["Numbers", "from_bytes", "to_bytes"]


_PLAIN, _NAMED = b"APEST1\n", b"APEST2\n"
_LARGEST = 2**28
"""Bytes a part may unpack to; a file from anyone may hold one that unpacks without end."""
_MOST = 256
"""Arrays in one part."""
_TYPES = frozenset(
    ("<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")
)  # numbers and booleans, as numpy spells them
_MEMORY, _LIMITS = "memory ", "limits "


@dataclass(frozen=True, eq=False)
class Numbers:
    """What a part holds."""

    estimate: Floats
    """``(n_endpoints, n_arms)``, as ``low`` and ``high``."""
    low: Floats
    high: Floats
    memory: Arrays = field(default_factory=dict)
    """What the strategy carries to the next phase."""
    limits: Mapping[str, Floats] = field(default_factory=dict)
    """``low`` and ``high`` of the endpoints with a limit, ``(n_limits, n_arms)``; empty without limits."""

    @classmethod
    def of(cls, decision: Decision, limits: Mapping[str, Floats]) -> Numbers:
        """Return the numbers of a decision, and the bounds its phase gave for the limits."""
        return cls(decision.estimate, decision.low, decision.high, decision.memory, limits)


def to_bytes(numbers: Numbers) -> bytes:
    """Return part; raises ValueError for an array that is no array of numbers, and for more than a part may hold."""
    if not numbers.memory and not numbers.limits:
        block = np.concatenate([numbers.estimate, numbers.low, numbers.high]).astype("<f8")
        return _PLAIN + zlib.compress(struct.pack("<Q", block.shape[1]) + block.tobytes(), 1)
    named: dict[str, NDArray[Any]] = {"estimate": numbers.estimate, "low": numbers.low, "high": numbers.high}
    named |= {_MEMORY + name: np.asarray(array) for name, array in numbers.memory.items()}
    named |= {_LIMITS + name: array for name, array in numbers.limits.items()}
    table, blobs = [], []
    for name, array in named.items():
        kind = array.dtype.newbyteorder("<").str
        if kind not in _TYPES:
            raise ValueError(f"{name} is no array of numbers ({array.dtype})")
        table.append([name, kind, list(array.shape)])
        blobs.append(np.ascontiguousarray(array).astype(kind).tobytes())
    text = json.dumps(table, separators=(",", ":")).encode()
    raw = struct.pack("<Q", len(text)) + text + b"".join(blobs)
    if len(raw) > _LARGEST or len(named) > _MOST:
        raise ValueError(f"{len(raw):,} bytes in {len(named)} arrays are more than a part may hold")
    return _NAMED + zlib.compress(raw, 1)


def from_bytes(blob: bytes) -> Numbers:
    """Return what ``to_bytes`` wrote; raises ValueError when the bytes are something else, cut short or too large."""
    if blob.startswith(_PLAIN):
        raw = _unpacked(blob[len(_PLAIN) :])
        (n,) = struct.unpack_from("<Q", raw)
        block = np.frombuffer(raw, dtype="<f8", offset=8).reshape(3, -1, n).astype(float)
        return Numbers(block[0], block[1], block[2])
    if not blob.startswith(_NAMED):
        raise ValueError("not the estimates of a phase")
    named = _arrays(_unpacked(blob[len(_NAMED) :]))
    try:
        estimate, low, high = named["estimate"], named["low"], named["high"]
    except KeyError as error:
        raise ValueError(f"the estimates of a phase lack {error}") from None
    if not all(array.dtype == float and array.ndim == 2 for array in (estimate, low, high)):
        raise ValueError("the estimates of a phase are not tables of numbers")
    return Numbers(estimate, low, high, _under(named, _MEMORY), _under(named, _LIMITS))


def _under(named: Mapping[str, NDArray[Any]], start: str) -> dict[str, NDArray[Any]]:
    return {name[len(start) :]: array for name, array in named.items() if name.startswith(start)}


def _unpacked(packed: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(packed, _LARGEST)
    if not unpacker.eof:
        raise ValueError("the estimates of a phase are cut short, or too large")
    return raw


def _arrays(raw: bytes) -> dict[str, NDArray[Any]]:
    (length,) = struct.unpack_from("<Q", raw)
    if length > len(raw) - 8:
        raise ValueError("the estimates of a phase are cut short")
    try:
        table = json.loads(raw[8 : 8 + length])
    except RecursionError:
        raise ValueError("the estimates of a phase are nested too deeply") from None
    if not isinstance(table, list) or len(table) > _MOST:
        raise ValueError("the estimates of a phase have no list of arrays")
    place = 8 + length
    named: dict[str, NDArray[Any]] = {}
    for name, kind, shape in table:
        if not isinstance(name, str) or kind not in _TYPES or not _is_shape(shape):
            raise ValueError("the estimates of a phase hold what is no array of numbers")
        dtype = np.dtype(kind)
        size = math.prod(shape) * dtype.itemsize
        if size > len(raw) - place:
            raise ValueError("the estimates of a phase are cut short")
        array = np.frombuffer(raw, dtype, math.prod(shape), place).reshape(shape)
        named[name] = array.astype(dtype.newbyteorder("="))
        place += size
    if place != len(raw):
        raise ValueError("the estimates of a phase hold more than they list")
    return named


def _is_shape(shape: object) -> bool:
    return isinstance(shape, list) and len(shape) <= 8 and all(type(n) is int and n >= 0 for n in shape)
