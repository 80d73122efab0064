"""Domain values to the JSON of events and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from ...arrays import Ints
from ...domain.controls import Control, Reading
from ...domain.measurements import Measurement, Result
from ...strategies.protocol import Decision
from ..confirmed import Prediction
from ..state import RoundItem, Settings, Source
from .parts import Numbers

__all__ = [
    "decision_from_json",
    "decision_to_json",
    "item_from_json",
    "item_to_json",
    "measurement_from_json",
    "measurement_to_json",
    "prediction_from_json",
    "prediction_to_json",
    "reading_from_json",
    "reading_to_json",
    "settings_from_json",
    "settings_to_json",
    "source_to_json",
]

_READING = ("number", "control", "endpoint", "value", "n", "round", "excluded")
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


def measurement_to_json(measurement: Measurement) -> dict[str, Any]:
    """Return a measurement as it is first recorded (exclusions and corrections are events of their own)."""
    return {
        "number": measurement.number,
        "compound": measurement.compound,
        "endpoint": measurement.endpoint,
        "value": measurement.value,
        "relation": measurement.relation,
        "n": measurement.n,
        "round": measurement.round,
        "phase": measurement.phase,
        "counted": measurement.counted,
        "excluded": measurement.excluded,
        "entered": result_to_json(measurement.entered),
    }


def measurement_from_json(data: Mapping[str, Any]) -> Measurement:
    """Return the measurement that ``measurement_to_json`` wrote."""
    return Measurement(**{**data, "entered": Result(**data["entered"])})


def reading_to_json(reading: Reading) -> dict[str, Any]:
    """Return the value of a control as it is first recorded."""
    data = {name: getattr(reading, name) for name in _READING}
    return {**data, "entered": result_to_json(reading.entered)}


def reading_from_json(data: Mapping[str, Any]) -> Reading:
    """Return the value of a control that ``reading_to_json`` wrote."""
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
