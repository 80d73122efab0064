"""The history of a campaign and what to beware of, in a chemist's words."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import numpy as np

from ..strategies.protocol import IN, Decision
from .phrases import joined, many, names, number
from .replay import Ledger
from .results.bounds import deciding as deciding_bounds

__all__ = ["LogEntry", "cautions"]


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the history."""

    sequence: int
    time: str
    author: str
    kind: str
    text: str


_COSTS = (
    " Decisions take them in as anything beyond their limit, which takes more measurements. "
    "Where the curve gives a fitted number, enter that instead."
)


def cautions(ledger: Ledger, *, open_ones: bool) -> tuple[str, ...]:
    """Return what somebody should know before trusting the picture.

    ``open_ones``: whether any compound is undecided.
    """
    exact = {(m.endpoint, m.compound) for m in ledger.measurements if m.usable}
    bounded = {
        (m.endpoint, m.compound)
        for m in ledger.measurements
        if m.endpoint in ledger.measured and m.relation != "=" and m.excluded is None and not m.withdrawn
    }
    only = sorted({compound for _, compound in bounded - exact})
    counting = {m.compound for m in deciding_bounds(ledger)}
    # What was there before the campaign decides nothing anyhow.
    deciding = {m.compound for m in ledger.measurements if m.round > 0 and (m.endpoint, m.compound) in bounded}
    texts = []
    coarse = bool(set(ledger.coarse) & set(ledger.measured))
    for used, found in (
        ("counted as such in estimates", [c for c in only if c in counting]),
        (
            "shown but not used" if coarse else "counted in estimates, not in decisions",
            [c for c in only if c not in counting],
        ),
    ):
        if not found:
            continue
        hold_up = ""
        if open_ones and not deciding.isdisjoint(found):
            hold_up = _COSTS if found[0] in counting else " They may keep the set from being decided."
        texts.append(
            f"{many(len(found), 'compound')} with values known only as bounds, {used}: "
            f"{names([ledger.library.ids[c] for c in found])}.{hold_up}{_no_difference(ledger, bounded - exact)}"
        )
    # Compounds in order, each once: by whether both can be true.
    against: dict[bool, dict[str, None]] = {False: {}, True: {}}
    for decision in ledger.decisions.values():
        for arm in decision.contradicted:
            against[_right_all_the_same(ledger, decision, int(arm))][ledger.library.ids[ledger.first[arm]]] = None
    if against[False]:
        told = names(list(against[False]))
        texts.append(f"A later phase speaks against an earlier decision (the first stands): {told}.")
    if against[True]:
        texts.append(f"{_shown_since(ledger)}: {names(list(against[True]))}.")
    return tuple(texts)


def _right_all_the_same(ledger: Ledger, decision: Decision, arm: int) -> bool:
    """Whether a compound that is in is a right answer even if what a later phase says against it is true.

    That is so in the soft zone, and for who is beaten by no more than what does not matter.
    """
    pareto = ledger.settings.goal == "pareto"
    soft = any(ledger.margins) if pareto else ledger.settings.softness > 0 and ledger.settings.goal != "best"
    if not soft or ledger.state.status[arm] != IN or not np.isfinite(decision.high[:, arm]).all():
        return False
    far = ledger.margins if pareto else [ledger.settings.distance + ledger.settings.softness]
    lead = decision.low - decision.high[:, [arm]]
    with np.errstate(invalid="ignore"):
        return not bool((lead > np.array(far)[:, None]).all(axis=0).any())


def _shown_since(ledger: Ledger) -> str:
    """Return what a later phase says of compounds that are in, and why they stay."""
    settings = ledger.settings
    if settings.goal == "pareto":
        return "In, though shown since to be beaten (by so little that it does not matter, as far as is known)"
    wide = number(settings.distance + settings.softness)
    behind = f"In, though shown since to be more than {number(settings.distance)} behind the best"
    return f"{behind} (up to {wide} is a right answer, too)"


def _no_difference(ledger: Ledger, bounded: Set[tuple[int, int]]) -> str:
    """Return that a bound gives no difference, as a sentence with a space in front.

    Empty where none is asked for of it.
    """
    measured = {endpoint for endpoint, _ in bounded}
    lacking = [
        ledger.endpoints[k].name
        for k in ledger.deciding_endpoints
        if ledger.endpoints[k].of is not None and measured & set(ledger.behind((k,)))
    ]
    return f" A bound gives no {joined(lacking)}." if lacking else ""
