"""Domain values to the JSON of events and back, and the numbers behind a decision to bytes: a part of the file.

Never pickle. A part holds arrays by name: a JSON list of [name, type, shape], then their bytes.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints
from ..domain.controls import Control, Reading
from ..domain.measurements import Measurement, Result
from ..strategies.protocol import Arrays, Decision
from .findings import Prediction
from .issued_rounds import RoundItem, Source
from .settings import Settings

_RESULT_DEFAULTS = {f.name: f.default for f in fields(Result) if f.name not in ("compound", "value")}


def finite(value: float) -> float | None:
    """Return the number, or None where JSON has no word for it."""
    return float(value) if math.isfinite(value) else None


def source_to_json(source: Source | None) -> dict[str, Any] | None:
    """Return a source as an object, or None."""
    return None if source is None else {"name": source.name, "digest": source.digest}


def settings_to_json(settings: Settings) -> dict[str, Any]:
    """Return settings as an object; the endpoints of a goal about one are not named twice."""
    data = asdict(settings) | {"parameters": dict(settings.parameters), "slack": settings.softness}
    data["controls"] = [control.as_json() for control in settings.controls]
    if not settings.controls:
        del data["controls"]
    if settings.top is None:
        del data["top"]
    if settings.goal == "pareto":
        return data | {"objectives": list(settings.objectives)}
    del data["objectives"]
    return data


def settings_from_json(data: Mapping[str, Any]) -> Settings:
    """Return the settings that ``settings_to_json`` wrote."""
    controls = tuple(map(Control.from_json, data.get("controls", ())))
    return Settings(**{**data, "objectives": tuple(data.get("objectives", ())), "controls": controls})


def result_to_json(result: Result) -> dict[str, Any]:
    """Return a result with what differs from an empty one."""
    short: dict[str, Any] = {"compound": result.compound, "value": result.value}
    for name, default in _RESULT_DEFAULTS.items():
        value = getattr(result, name)
        if value != default:
            short[name] = value
    return short


def value_to_json(value: Measurement | Reading) -> dict[str, Any]:
    """Return a measurement, or a value of a control, as it is first recorded; what becomes of it are other events."""
    data = {
        f.name: getattr(value, f.name) for f in fields(value) if f.name not in ("entered", "withdrawn", "corrected")
    }
    return {**data, "entered": result_to_json(value.entered)}


def measurement_from_json(data: Mapping[str, Any]) -> Measurement:
    """Return the measurement that ``value_to_json`` wrote."""
    return Measurement(**{**data, "entered": Result(**data["entered"])})


def reading_from_json(data: Mapping[str, Any]) -> Reading:
    """Return the value of a control that ``value_to_json`` wrote."""
    return Reading(**{**data, "entered": Result(**data["entered"])})


def item_to_json(item: RoundItem) -> dict[str, Any]:
    """One line of a round as an object."""
    data = asdict(item)
    for name in ("asked", "each"):
        if not data[name]:
            del data[name]
    return data


def item_from_json(data: Mapping[str, Any]) -> RoundItem:
    """Return the line that ``item_to_json`` wrote."""
    each = tuple(None if told is None else tuple(told) for told in data.get("each", ()))
    return RoundItem(**{**data, "asked": tuple(data.get("asked", ())), "each": each})


def prediction_to_json(prediction: Prediction) -> dict[str, Any]:
    """Return a prediction as an object, with its interval for whoever reads the log."""
    return asdict(prediction) | {"low": prediction.low, "high": prediction.high}


def prediction_from_json(data: Mapping[str, Any]) -> Prediction:
    """Return the prediction that ``prediction_to_json`` wrote."""
    return Prediction(**{field.name: data[field.name] for field in fields(Prediction) if field.name in data})


def decision_to_json(decision: Decision, names: Sequence[str]) -> dict[str, Any]:
    """Return a decision as an object; ``names`` are the arms' compound ids. The estimates travel as a part."""

    def named(arms: Ints) -> list[str]:
        return [names[arm] for arm in arms]

    return {
        "phase": decision.phase,
        "radius": finite(decision.radius),
        "in": named(decision.ins),
        "out": named(decision.outs),
        "left": named(decision.left),
        "contradicted": named(decision.contradicted),
        "spent": decision.spent,
        "numbers": {name: finite(value) for name, value in decision.numbers.items()},
    }


def decision_from_json(data: Mapping[str, Any], numbers: Numbers, arm_of: Mapping[str, int]) -> Decision:
    """Return the decision that ``decision_to_json`` wrote, with its numbers; ``arm_of`` maps compound ids to arms."""

    def arms(key: str) -> Ints:
        return np.array([arm_of[name] for name in data[key]], dtype=np.intp)

    radius = data["radius"]
    return Decision(
        phase=data["phase"],
        radius=math.inf if radius is None else radius,
        ins=arms("in"),
        outs=arms("out"),
        left=arms("left"),
        estimate=numbers.estimate,
        low=numbers.low,
        high=numbers.high,
        contradicted=arms("contradicted"),
        spent=data["spent"],
        numbers={name: math.nan if value is None else value for name, value in data["numbers"].items()},
        memory=numbers.memory,
    )


_FORMAT = b"APEST2\n"
_LARGEST = 2**28
"""Bytes a part may unpack to; a file from anyone may hold one that unpacks without end."""
_MOST = 256
"""Arrays in one part."""
_TYPES = frozenset(
    ("<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")
)  # numbers and booleans, as numpy spells them
_MEMORY = "memory "


@dataclass(frozen=True, eq=False)
class Numbers:
    """What a part holds."""

    estimate: Floats
    """``(n_endpoints, n_arms)``, as ``low`` and ``high``."""
    low: Floats
    high: Floats
    memory: Arrays = field(default_factory=dict)
    """What the strategy carries to the next phase."""


def to_bytes(numbers: Numbers | Decision) -> bytes:
    """Return part; raises ValueError for an array that is no array of numbers, and for more than a part may hold."""
    named: dict[str, NDArray[Any]] = {"estimate": numbers.estimate, "low": numbers.low, "high": numbers.high}
    named |= {_MEMORY + name: np.asarray(array) for name, array in numbers.memory.items()}
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
    return _FORMAT + zlib.compress(raw, 1)


def from_bytes(blob: bytes) -> Numbers:
    """Return what ``to_bytes`` wrote; raises ValueError when the bytes are something else, cut short or too large."""
    if not blob.startswith(_FORMAT):
        raise ValueError("not the estimates of a phase")
    named = _arrays(_unpacked(blob[len(_FORMAT) :]))
    try:
        estimate, low, high = named["estimate"], named["low"], named["high"]
    except KeyError as error:
        raise ValueError(f"the estimates of a phase lack {error}") from None
    if not all(array.dtype == float and array.ndim == 2 for array in (estimate, low, high)):
        raise ValueError("the estimates of a phase are not tables of numbers")
    memory = {name[len(_MEMORY) :]: array for name, array in named.items() if name.startswith(_MEMORY)}
    return Numbers(estimate, low, high, memory)


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
