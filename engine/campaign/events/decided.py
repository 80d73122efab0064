"""The events that decide a phase, decide it again, or change the terms under which all is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..changing import apply_amendment
from ..file.chain import Draft
from ..phrases import many, names
from ..replay import Ledger
from .kind import Kind, Step, note_in_words

__all__ = ["CombinationsListed", "CompoundsAdded", "PhaseDecided", "PhaseEmpty", "PhaseRedecided", "SettingsChanged"]


class PhaseDecided(Kind):
    """What a phase decided."""

    name = "phase_decided"
    ends_undo = True

    def apply(self, ledger: Ledger) -> None:
        """Take in the stored decision."""
        ledger.take_decision(self.data, self.event.sequence)

    def sentence(self, ledger: Ledger) -> str:
        """Return how many compounds it decided."""
        data = self.data
        told = f"Phase {data['phase']} decided: {len(data['in']):,} more in, {len(data['out']):,} more out"
        return told + "".join(
            f", {len(entry['out']):,} fail {ledger.endpoints[k].limit_text}"
            for k, entry in zip(ledger.limited, data.get("limits", ()), strict=True)
            if entry["out"]
        )


class PhaseRedecided(Kind):
    """What decided phases decide after a correction."""

    name = "phase_redecided"
    ends_undo = True

    def apply(self, ledger: Ledger) -> None:
        """Take in the stored decisions."""
        ledger.take_again(self.data["decisions"], self.data["parts"])

    def sentence(self, ledger: Ledger) -> str:
        """Return what changed by it."""
        decisions, old = self.data["decisions"], self.data["old"]
        first, last = decisions[0]["phase"], decisions[-1]["phase"]
        which = f"Phase {first}" if first == last else f"Phases {first} {'and' if last == first + 1 else 'to'} {last}"
        changes = []
        for key, word in (("in", "in"), ("out", "out")):
            before = {name for decision in old for name in decision[key]}
            now = {name for decision in decisions for name in decision[key]}
            changes += [
                f"{many(len(more), 'compound')} {text} {word}"
                for more, text in ((now - before, "more"), (before - now, "no longer"))
                if more
            ]
        what = ", ".join(changes) if changes else "the same compounds are in and out"
        return f"{which} decided again: {what} ({self.data['reason']})"


class PhaseEmpty(Kind):
    """A phase that ended without a usable result."""

    name = "phase_empty"
    ends_undo = True

    def apply(self, ledger: Ledger) -> None:
        """Drop the plan; what came back for this attempt must not fill the next, which has the same number."""
        phase = self.data["phase"]
        ledger.measurements = [replace(m, phase=0) if m.phase == phase else m for m in ledger.measurements]
        ledger.under_way = None

    def sentence(self, ledger: Ledger) -> str:
        """Return the phase."""
        phase = self.data["phase"]
        return f"Phase {phase} ended without a usable result; it will be planned anew if it is still needed"


class SettingsChanged(Kind):
    """Other terms."""

    name = "settings_changed"

    def apply(self, ledger: Ledger) -> None:
        """Go on under the new terms, or return to those before."""
        if "undoes" in self.data:
            apply_amendment.take_back(ledger)
        else:
            apply_amendment.take(ledger, self.data)

    def sentence(self, ledger: Ledger) -> str:
        """Return the changes."""
        words = apply_amendment.changes_in_words(self.data["changes"], ledger.settings.goal)
        undone = "undoes" in self.data
        return f"Change of {words} undone" if undone else f"Changed {words}{note_in_words(self.data['note'])}"

    def step(self) -> Step:
        """Return the change."""
        return Step("Change the terms", SettingsChanged, self.data)

    @classmethod
    def inverse(cls, data: Mapping[str, Any]) -> Draft:
        """Return the change taken back."""
        return cls.draft({"changes": data["changes"]})


class CompoundsAdded(Kind):
    """More compounds."""

    name = "compounds_added"

    def apply(self, ledger: Ledger) -> None:
        """Go on with the larger library, or return to the one before."""
        if "undoes" in self.data:
            apply_amendment.take_back(ledger)
        else:
            apply_amendment.take_compounds(ledger, self.data)

    def sentence(self, ledger: Ledger) -> str:
        """Return the compounds."""
        data = self.data
        if "undoes" in data:
            return "Added compounds taken back"
        source = f" from {data['source']['name']}" if data["source"] else ""
        added = names(list(ledger.library.ids[-data["compounds"] :]))
        return f"{many(data['compounds'], 'compound')} added{source}: {added}{note_in_words(data['note'])}"

    def step(self) -> Step:
        """Return the addition."""
        return Step("Add compounds", CompoundsAdded, self.data)

    @classmethod
    def inverse(cls, data: Mapping[str, Any]) -> Draft:
        """Return the addition taken back."""
        return cls.draft({"changes": data["changes"]})


class CombinationsListed(CompoundsAdded):
    """More of a library's combinations, of which there are too many to list all."""

    name = "combinations_listed"
    ends_undo = True

    def sentence(self, ledger: Ledger) -> str:
        """Return how many."""
        n, of = len(ledger.library), ledger.library.n_combinations
        return f"{many(self.data['compounds'], 'combination')} listed that may be the best, {n:,} of {of:,} by now"
