"""The events of what the lab enters: values and their amendments, controls, and what is available."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...domain.controls import Reading
from ...domain.kinds import word_of
from ...domain.measurements import Measurement
from ...text import listed as names
from ...text import many, number
from .. import codec, stocked
from ..replay import Ledger
from ..stock_view import stock_in_words
from .kind import Kind, Revert


class ResultsRecorded(Kind):
    """Results returned."""

    name = "results_recorded"

    def apply(self, ledger: Ledger) -> Revert:
        """Take the values."""
        take_values(ledger, self.data)
        return self._withdraw

    def sentence(self, ledger: Ledger) -> str:
        """Return how many values, and of what."""
        data = self.data
        source = f" from {data['source']['name']}" if data["source"] else ""
        entered = [m["entered"]["compound"] for m in data["measurements"]]
        controls = [r["entered"]["compound"] for r in data.get("controls", ())]
        counted = [many(len(entered), "result")] if entered or not controls else []
        counted += [many(len(controls), "control value")] if controls else []
        both = names(list(dict.fromkeys([*entered, *controls])))
        return f"{' and '.join(counted)} entered{source}: {both}"

    @property
    def label(self) -> str:
        """How many values are entered."""
        n = sum(1 for _ in self._values())
        return f"Enter {n} result{'s' if n != 1 else ''}"

    def again(self, ledger: Ledger) -> Revert:
        """Use the values again, in the round they were entered in."""
        for one in self._values():
            _mark(ledger, one, withdrawn=False, round=self.data["round"])
        _count_source(ledger, self.data.get("source"), 1)
        return self._withdraw

    def _withdraw(self, ledger: Ledger) -> None:
        """Mark the values as withdrawn: they were seen."""
        for one in self._values():
            _mark(ledger, one, withdrawn=True)
        _count_source(ledger, self.data.get("source"), -1)

    def _values(self) -> Iterator[dict[str, Any]]:
        """Yield the values by their numbers."""
        yield from ({"number": one["number"]} for one in self.data["measurements"])
        yield from ({"number": one["number"], "control": True} for one in self.data.get("controls", ()))


class MeasurementExcluded(Kind):
    """A value left out."""

    name = "measurement_excluded"

    label = "Exclude a value"

    def apply(self, ledger: Ledger) -> Revert:
        """Leave the value out, and count the judgement."""
        revert = _mark(ledger, self.data, excluded=self.data["reason"])
        if self.data["judgement"]:
            ledger.judged.add(self.data["number"])
        return revert

    def sentence(self, ledger: Ledger) -> str:
        """Return the value and why."""
        how = "by judgement" if self.data["judgement"] else "for a technical cause"
        return f"Value {_value(ledger, self.data)} excluded {how}: {self.data['reason']}"


class MeasurementIncluded(Kind):
    """An excluded value used again."""

    name = "measurement_included"

    label = "Include a value"

    def apply(self, ledger: Ledger) -> Revert:
        """Use the value again."""
        revert = _mark(ledger, self.data, excluded=None)
        if not self.data.get("control"):
            ledger.judged.discard(self.data["number"])
        return revert

    def sentence(self, ledger: Ledger) -> str:
        """Return the value and why."""
        return f"Value {_value(ledger, self.data)} used again: {self.data['reason']}"


class MeasurementCorrected(Kind):
    """Another value in place of a wrong one."""

    name = "measurement_corrected"

    label = "Correct a value"

    def apply(self, ledger: Ledger) -> Revert:
        """Replace the value."""
        data = self.data
        return _mark(ledger, data, value=data["value"], relation=data["relation"], corrected=data["reason"])

    def sentence(self, ledger: Ledger) -> str:
        """Return both values and why."""
        data = self.data
        measurement = ledger.measurement(data["number"], control=data.get("control", False))
        relation = ledger.endpoints[measurement.endpoint].relation_on_model(data["relation"])
        to = _entry(ledger, measurement, data["entered"], relation, data["unit"])
        return f"Value {_value(ledger, data)} corrected to {to}: {data['reason']}"


class CompoundsUnavailable(Kind):
    """Compounds that cannot be measured any more."""

    name = "compounds_unavailable"

    label = "Mark as unavailable"

    def apply(self, ledger: Ledger) -> Revert:
        """Mark the compounds."""
        revert = _restoring(ledger)
        for compound in self.data["compounds"]:
            ledger.unavailable[compound] = self.data["reason"]
        return revert

    def sentence(self, ledger: Ledger) -> str:
        """Return the compounds and why."""
        ids = ledger.library.ids
        return f"Unavailable: {names([ids[c] for c in self.data['compounds']])} ({self.data['reason']})"


class StockStated(Kind):
    """Stock states of compounds, and costs."""

    name = "stock_stated"

    @property
    def label(self) -> str:
        """Whether it is about arrivals."""
        return "Arrivals" if self.data["note"] == "arrived" else "Change the stock"

    def apply(self, ledger: Ledger) -> Revert:
        """Take the statement."""
        revert = _restoring(ledger)
        stocked.take(ledger, self.data)
        return revert

    def sentence(self, ledger: Ledger) -> str:
        """Return what is stated."""
        return stock_in_words(self.data, ledger.library.ids)


def _restoring(ledger: Ledger) -> Revert:
    """Return what restores the present stock and the compounds that are unavailable now."""
    stock, unavailable = ledger.stock, dict(ledger.unavailable)

    def revert(ledger: Ledger) -> None:
        ledger.stock, ledger.unavailable = stock, dict(unavailable)

    return revert


def take_values(ledger: Ledger, data: Mapping[str, Any]) -> None:
    """Append the values of results and controls, and count their source."""
    ledger.measurements += [codec.value_from_json(one, Measurement) for one in data["measurements"]]
    ledger.readings += [codec.value_from_json(one, Reading) for one in data.get("controls", ())]
    _count_source(ledger, data.get("source"), 1)


def _count_source(ledger: Ledger, source: Mapping[str, Any] | None, step: int) -> None:
    digest = source["digest"] if source else ""
    times = ledger.sources.pop(digest, 0) + step
    if digest and times > 0:
        ledger.sources[digest] = times


def _mark(ledger: Ledger, data: Mapping[str, Any], **now: Any) -> Revert:
    """Change a value, of a compound or a control; return what restores it."""
    number, control = data["number"], data.get("control", False)
    before, judged = ledger.measurement(number, control=control), number in ledger.judged

    def put(ledger: Ledger, value: Measurement) -> None:
        values: list[Any] = ledger.readings if control else ledger.measurements
        values[number - 1] = value
        if value.round == 0:
            ledger.history_changed()

    def revert(ledger: Ledger) -> None:
        put(ledger, before)
        if not control:
            (ledger.judged.add if judged else ledger.judged.discard)(number)

    put(ledger, replace(before, **now))
    return revert


def _value(ledger: Ledger, data: Mapping[str, Any]) -> str:
    """Return a value as it was first entered, and its compound: ``>10000 nM of CPD-7``."""
    control = data.get("control", False)
    measurement = ledger.measurement(data["number"], control=control)
    entered = measurement.entered
    sample = f"the control {entered.compound}" if control else entered.compound
    return f"{_entry(ledger, measurement, entered.value, entered.relation, entered.unit)} of {sample}"


def _entry(ledger: Ledger, measurement: Measurement, value: float, relation: str, unit: str | None) -> str:
    endpoint = ledger.endpoints[measurement.endpoint]
    word = word_of(endpoint, value)
    if word is not None:
        return word
    unit = (unit or "").strip() or endpoint.unit
    return f"{'' if relation == '=' else relation}{number(value)}{f' {unit}' if unit else ''}"
