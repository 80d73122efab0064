"""Results known only as a bound, like ``>10000``: what they say to a decision, and which decisions took them in."""

from __future__ import annotations

from assaypilot.engine.campaign.decisions import Decisions
from assaypilot.engine.measurements import Measurement

__all__ = ["left_out", "taken", "what_it_does", "what_one_does", "what_they_would_do"]


def what_it_does(*, taken_in: bool, counted: bool = True, holds: bool = True) -> str:
    """What a value known only as a bound does to a campaign, as the rest of a sentence about such values.

    ``taken_in``: whether decisions take such values in; ``counted``: whether estimates count them; ``holds``: whether
    anything is guaranteed.
    """
    if taken_in:
        return (
            "estimates count it as a bound; decisions count it as the worst that could be beyond the bound, which "
            "takes more measurements (where the curve gives a fitted number, enter that)"
        )
    lost = "" if holds else ", and because of them nothing is guaranteed any more"
    used = "estimates count it as a bound, decisions do not" if counted else "kept and shown, not used in estimates"
    return f"{used}{lost}"


def what_they_would_do(n: int, *, taken_in: bool, counted: bool = True) -> str:
    """The same before so many of them are kept, as a sentence; empty for none."""
    if not n:
        return ""
    are = f"{n:,} value{' is' if n == 1 else 's are'} known only as {'a bound' if n == 1 else 'bounds'}"
    return _told(are, taken_in=taken_in, counted=counted)


def what_one_does(value: str, *, taken_in: bool, counted: bool = True) -> str:
    """The same of one ``value`` that is there, in its own words (``>10000 nM``)."""
    return _told(f"{value} is known only as a bound", taken_in=taken_in, counted=counted)


def _told(which: str, *, taken_in: bool, counted: bool) -> str:
    if taken_in:
        return f"{which}: {what_it_does(taken_in=True)}."
    used = "estimates count it as a bound, decisions leave it out" if counted else "kept and shown, not used"
    return (
        f"{which}: {used}. If it was asked for, nothing is guaranteed "
        "any more, because it is left out for its size; where the curve gives a fitted number, enter that. A campaign "
        "by adaptive counts it in."
    )


def left_out(ledger: Decisions) -> list[Measurement]:
    """Results known only as a bound that a decision left out, or will: selected by their size."""
    goal = ledger.behind(ledger.goal_endpoints)
    return [
        m for m in _bounds(ledger) if not (_by_goal(ledger, m.phase) if m.endpoint in goal else _by_limits(ledger, m))
    ]


def taken(ledger: Decisions) -> list[Measurement]:
    """Results known only as a bound that decisions take in as all that they may stand for."""
    out = {m.number for m in left_out(ledger)}
    return [m for m in _bounds(ledger) if m.number not in out]


def _bounds(ledger: Decisions) -> list[Measurement]:
    return [
        m
        for m in ledger.measurements
        if ledger.matters(m) and m.counted > 0 and m.relation != "=" and m.excluded is None and not m.withdrawn
    ]


def _by_goal(ledger: Decisions, phase: int) -> bool:
    if not ledger.takes_bounds:
        return False
    if not 0 < phase <= len(ledger.phases):
        return True
    anew = ledger.anew
    if phase <= ledger.settled and anew is not None and anew.derived and "low" in anew.decision.memory:
        return True
    return bool(ledger.estimates[phase].numbers.get("censored"))


def _by_limits(ledger: Decisions, m: Measurement) -> bool:
    verdict = ledger.verdicts.get(m.phase)
    if ledger.settings.blocks != "none" and ledger.limited:
        return False
    if verdict is None:
        return not 0 < m.phase <= len(ledger.phases)
    rows = [row for row, k in enumerate(ledger.limited) if m.endpoint in ledger.behind((k,))]
    return all(verdict.censored[row] for row in rows)
