"""Domain values to the JSON of events and back, and the numbers behind a decision to bytes: a part of the file.

A part has arrays by name, as ``numpy.savez`` writes them; never pickles.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints
from ..domain.controls import Control
from ..domain.measurements import Measurement, Result
from ..strategies.protocol import Arrays, Decision
from .issued_rounds import RoundItem, Source
from .settings import Settings

_Value = TypeVar("_Value", bound=Measurement)

_RESULT_DEFAULTS = {f.name: f.default for f in fields(Result) if f.name not in ("compound", "value")}


def finite(value: float) -> float | None:
    """Return the number, or None where JSON has no word for it."""
    return float(value) if math.isfinite(value) else None


def source_to_json(source: Source | None) -> dict[str, Any] | None:
    """Return a source as an object, or None."""
    return None if source is None else {"name": source.name, "digest": source.digest}


def settings_to_json(settings: Settings) -> dict[str, Any]:
    """Return settings as an object."""
    controls = [control.as_json() for control in settings.controls]
    return asdict(settings) | {"slack": settings.softness, "controls": controls}


def settings_from_json(data: Mapping[str, Any]) -> Settings:
    """Return the settings that ``settings_to_json`` wrote."""
    controls = tuple(map(Control.from_json, data["controls"]))
    return Settings(**{**data, "objectives": tuple(data["objectives"]), "controls": controls})


def result_to_json(result: Result) -> dict[str, Any]:
    """Return a result with what differs from an empty one."""
    short: dict[str, Any] = {"compound": result.compound, "value": result.value}
    for name, default in _RESULT_DEFAULTS.items():
        value = getattr(result, name)
        if value != default:
            short[name] = value
    return short


def value_to_json(value: Measurement) -> dict[str, Any]:
    """Return a measurement, or a value of a control, as it is first recorded; what becomes of it are other events."""
    data = {f.name: getattr(value, f.name) for f in fields(value) if f.name not in ("withdrawn", "corrected")}
    return {**data, "entered": result_to_json(value.entered)}


def value_from_json(data: Mapping[str, Any], kind: type[_Value]) -> _Value:
    """Return the value that ``value_to_json`` wrote: a measurement, or a value of a control."""
    return kind(**{**data, "entered": Result(**data["entered"])})


def item_from_json(data: Mapping[str, Any]) -> RoundItem:
    """Return the line of a round that ``asdict`` wrote."""
    each = tuple(None if point is None else tuple(point) for point in data["each"])
    return RoundItem(**{**data, "asked": tuple(data["asked"]), "each": each})


_ARMS = {"in": "ins", "out": "outs", "left": "left", "contradicted": "contradicted"}
"""What a decision states of arms, by its names in the file: compounds by their positions."""


def decision_to_json(decision: Decision, first: Ints) -> dict[str, Any]:
    """Return a decision as an object; ``first``: the compound of each arm. The estimates travel as a part."""
    return {
        "phase": decision.phase,
        "radius": finite(decision.radius),
        **{name: first[getattr(decision, field)].tolist() for name, field in _ARMS.items()},
        "spent": decision.spent,
        "numbers": {name: finite(value) for name, value in decision.numbers.items()},
    }


def decision_from_json(data: Mapping[str, Any], numbers: Numbers, arm_of: Ints) -> Decision:
    """Return the decision that ``decision_to_json`` wrote, with its numbers; ``arm_of``: the arm of each compound."""
    radius = data["radius"]
    return Decision(
        phase=data["phase"],
        radius=math.inf if radius is None else radius,
        **{field: arm_of[np.array(data[name], dtype=np.intp)] for name, field in _ARMS.items()},
        estimate=numbers.estimate,
        low=numbers.low,
        high=numbers.high,
        spent=data["spent"],
        numbers={name: math.nan if value is None else value for name, value in data["numbers"].items()},
        memory=numbers.memory,
    )


_LARGEST = 2**28
"""Bytes a part may unpack to; a file from anyone may have one that unpacks without end."""
_MOST = 256
"""Arrays in one part."""
_KINDS = "biuf"
"""Kinds of arrays: booleans and numbers, as numpy calls them."""
_MEMORY = "memory "


@dataclass(frozen=True, eq=False)
class Numbers:
    """The contents of a part."""

    estimate: Floats
    """``(n_endpoints, n_arms)``, as ``low`` and ``high``."""
    low: Floats
    high: Floats
    memory: Arrays = field(default_factory=dict)
    """Memory of the strategy for the next phase."""


def to_bytes(numbers: Numbers | Decision) -> bytes:
    """Return a part; raises ValueError for an array that is no array of numbers, and for more than a part may have."""
    named: dict[str, NDArray[Any]] = {"estimate": numbers.estimate, "low": numbers.low, "high": numbers.high}
    named |= {_MEMORY + name: np.asarray(array) for name, array in numbers.memory.items()}
    for name, array in named.items():
        if array.dtype.kind not in _KINDS:
            raise ValueError(f"{name} is no array of numbers ({array.dtype})")
    size = sum(array.nbytes for array in named.values())
    if size > _LARGEST or len(named) > _MOST:
        raise ValueError(f"{size:,} bytes in {len(named)} arrays are more than a part may hold")
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **named)
    return stream.getvalue()


def from_bytes(blob: bytes) -> Numbers:
    """Return what ``to_bytes`` wrote; raises ValueError when the bytes are something else, cut short or too large.

    The log is read again for its history and for its past: the last small parts are kept, and nobody may change them.
    """
    return _from_few(blob) if len(blob) <= _FEW else _from_bytes(blob)


def _from_bytes(blob: bytes) -> Numbers:
    try:
        with zipfile.ZipFile(io.BytesIO(blob)) as packed:
            entries = packed.infolist()
            if len(entries) > _MOST or sum(entry.file_size for entry in entries) > _LARGEST:
                raise ValueError("the estimates of a phase are too large")
            named = {entry.filename.removesuffix(".npy"): _array(packed.read(entry)) for entry in entries}
    except Exception as error:  # numpy and zipfile raise all kinds of errors for bytes that anyone may have written
        raise ValueError(f"not the estimates of a phase: {error}") from error
    if not all(array.dtype.kind in _KINDS for array in named.values()):
        raise ValueError("the estimates of a phase hold what is no array of numbers")
    try:
        estimate, low, high = named["estimate"], named["low"], named["high"]
    except KeyError as error:
        raise ValueError(f"the estimates of a phase lack {error}") from None
    if not all(array.dtype == float and array.ndim == 2 for array in (estimate, low, high)):
        raise ValueError("the estimates of a phase are not tables of numbers")
    memory = {name[len(_MEMORY) :]: array for name, array in named.items() if name.startswith(_MEMORY)}
    return Numbers(estimate, low, high, memory)


_FEW = 100_000
"""Bytes of a part up to which it is kept once it was read."""
_from_few = lru_cache(32)(_from_bytes)


def _array(data: bytes) -> NDArray[Any]:
    """Return the array of one entry, which cannot be changed."""
    array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    array.flags.writeable = False
    return array
