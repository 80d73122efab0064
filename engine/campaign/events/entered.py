"""The events of what the lab enters: values and their amendments, controls, and what is available."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...domain.controls import Reading
from ...domain.kinds import word_of
from ...domain.measurements import Measurement
from .. import codec, stocked
from ..file.chain import Draft
from ..phrases import many, names, number
from ..replay import Ledger
from ..stock_view import stock_in_words
from .kind import Kind


class ResultsRecorded(Kind):
    """Results returned."""

    name = "results_recorded"

    def apply(self, ledger: Ledger) -> None:
        """Take the values."""
        take_values(ledger, self.data)

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

    def undone(self) -> tuple[str, Draft]:
        """Return the entry taken back."""
        values = self._values()
        n = len(values["numbers"]) + len(values.get("controls", ()))
        return f"Enter {n} result{'s' if n != 1 else ''}", ResultsWithdrawn.draft(values)

    def done_again(self) -> Draft:
        """Return the same values used again."""
        return ResultsRestored.draft(self._values() | {"round": self.data["round"]})

    def _values(self) -> dict[str, Any]:
        """Return the entry by the numbers of its values."""
        data = self.data
        source = data.get("source") or {"digest": "", "name": ""}
        controls = [r["number"] for r in data.get("controls", ())]
        values = {"numbers": [m["number"] for m in data["measurements"]], "source": source["digest"]}
        return values | ({"controls": controls} if controls else {})


class ResultsWithdrawn(Kind):
    """Entered values taken back."""

    name = "results_withdrawn"

    def apply(self, ledger: Ledger) -> None:
        """Mark the values as withdrawn."""
        data = self.data
        _mark_all(ledger, data, withdrawn=True)
        _count_source(ledger, data["source"], -1)

    def sentence(self, ledger: Ledger) -> str:
        """Return how many values."""
        return f"Entry of {_entries(self.data)} undone"


class ResultsRestored(Kind):
    """Withdrawn values entered again."""

    name = "results_restored"

    def apply(self, ledger: Ledger) -> None:
        """Use the values again, in the round they were entered in."""
        data = self.data
        _mark_all(ledger, data, withdrawn=False, round=data["round"])
        _count_source(ledger, data["source"], 1)

    def sentence(self, ledger: Ledger) -> str:
        """Return how many values."""
        return f"Entry of {_entries(self.data)} redone"


class MeasurementExcluded(Kind):
    """A value left out."""

    name = "measurement_excluded"

    def apply(self, ledger: Ledger) -> None:
        """Leave the value out, and count the judgement."""
        if self.data["judgement"]:
            ledger.judged.add(self.data["number"])
        _mark(ledger, self.data, excluded=self.data["reason"])

    def sentence(self, ledger: Ledger) -> str:
        """Return the value and why."""
        how = "by judgement" if self.data["judgement"] else "for a technical cause"
        return f"Value {_value(ledger, self.data)} excluded {how}: {self.data['reason']}"

    def undone(self) -> tuple[str, Draft]:
        """Return the exclusion taken back."""
        return "Exclude a value", MeasurementIncluded.draft({**_which(self.data), "reason": "undo"})


class MeasurementIncluded(Kind):
    """An excluded value used again."""

    name = "measurement_included"

    def apply(self, ledger: Ledger) -> None:
        """Use the value again."""
        if not self.data.get("control"):
            ledger.judged.discard(self.data["number"])
        _mark(ledger, self.data, excluded=None)

    def sentence(self, ledger: Ledger) -> str:
        """Return the value and why."""
        return f"Value {_value(ledger, self.data)} used again: {self.data['reason']}"

    def undone(self) -> tuple[str, Draft]:
        """Return the inclusion taken back."""
        return "Include a value", MeasurementExcluded.draft({**_which(self.data), **self.data["before"]})


class MeasurementCorrected(Kind):
    """Another value in place of a wrong one."""

    name = "measurement_corrected"

    def apply(self, ledger: Ledger) -> None:
        """Replace the value."""
        data = self.data
        _mark(ledger, data, value=data["value"], relation=data["relation"], corrected=data["reason"])

    def sentence(self, ledger: Ledger) -> str:
        """Return both values and why."""
        data = self.data
        if "entered" not in data:
            return f"Correction of the value {_value(ledger, data)} undone"
        measurement = ledger.measurement(data["number"], control=data.get("control", False))
        relation = ledger.endpoints[measurement.endpoint].relation_on_model(data["relation"])
        to = _entry(ledger, measurement, data["entered"], relation, data["unit"])
        return f"Value {_value(ledger, data)} corrected to {to}: {data['reason']}"

    def undone(self) -> tuple[str, Draft]:
        """Return the correction taken back."""
        before = {**_which(self.data), **self.data["before"], "before": None}
        return "Correct a value", MeasurementCorrected.draft(before)


class CompoundsUnavailable(Kind):
    """Compounds that cannot be measured any more."""

    name = "compounds_unavailable"

    def apply(self, ledger: Ledger) -> None:
        """Mark the compounds."""
        for compound in self.data["compounds"]:
            ledger.unavailable[compound] = self.data["reason"]

    def sentence(self, ledger: Ledger) -> str:
        """Return the compounds and why."""
        ids = ledger.library.ids
        return f"Unavailable: {names([ids[c] for c in self.data['compounds']])} ({self.data['reason']})"

    def undone(self) -> tuple[str, Draft]:
        """Return the mark taken back."""
        data = self.data
        return "Mark as unavailable", CompoundsAvailable.draft({"compounds": data["compounds"]})


class CompoundsAvailable(Kind):
    """Compounds that can be measured again."""

    name = "compounds_available"

    def apply(self, ledger: Ledger) -> None:
        """Take the mark away."""
        for compound in self.data["compounds"]:
            ledger.unavailable.pop(compound, None)

    def sentence(self, ledger: Ledger) -> str:
        """Return the compounds."""
        ids = ledger.library.ids
        return f"Available again: {names([ids[c] for c in self.data['compounds']])}"


class StockStated(Kind):
    """Stock states of compounds, and costs."""

    name = "stock_stated"

    def apply(self, ledger: Ledger) -> None:
        """Take the statement."""
        stocked.take(ledger, self.data)

    def sentence(self, ledger: Ledger) -> str:
        """Return what is stated."""
        return stock_in_words(self.data, ledger.library.ids)

    def undone(self) -> tuple[str, Draft]:
        """Return the statement the other way round."""
        label = "Arrivals" if self.data["note"] == "arrived" else "Change the stock"
        return label, StockStated.draft(stocked.opposite(self.data))


def take_values(ledger: Ledger, data: Mapping[str, Any]) -> None:
    """Append the values of results and controls, and count their source."""
    ledger.measurements += [codec.value_from_json(one, Measurement) for one in data["measurements"]]
    ledger.readings += [codec.value_from_json(one, Reading) for one in data.get("controls", ())]
    source = data.get("source")
    if source and source["digest"]:
        _count_source(ledger, source["digest"], 1)


def _count_source(ledger: Ledger, digest: str, step: int) -> None:
    times = ledger.sources.pop(digest, 0) + step
    if digest and times > 0:
        ledger.sources[digest] = times


def _which(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return which value an amendment is of: a compound's or a control's, by its number."""
    return {name: data[name] for name in ("number", "control") if name in data}


def _mark(ledger: Ledger, data: Mapping[str, Any], **now: Any) -> None:
    """Apply an amendment to a value."""
    control, place = data.get("control", False), data["number"] - 1
    value = ledger.measurement(data["number"], control=control)
    if control:
        ledger.readings[place] = replace(ledger.readings[place], **now)
    else:
        ledger.measurements[place] = replace(value, **now)
    if value.round == 0:
        ledger.history_changed()


def _mark_all(ledger: Ledger, data: Mapping[str, Any], **now: Any) -> None:
    """Change all values of an entry."""
    for one in data["numbers"]:
        _mark(ledger, {"number": one}, **now)
    for one in data.get("controls", ()):
        _mark(ledger, {"number": one, "control": True}, **now)


def _entries(data: Mapping[str, Any]) -> str:
    return many(len(data["numbers"]) + len(data.get("controls", ())), "result")


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
