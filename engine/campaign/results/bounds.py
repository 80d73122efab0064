"""Results known only as a bound, like ``>10000``: what they do to estimates, decisions and the guarantee."""

from __future__ import annotations

from ...domain.measurements import Measurement
from ..decisions import Decisions

__all__ = ["deciding", "what_it_does", "what_one_does", "what_they_would_do"]

_DECIDES = "decisions count the bound itself"


def what_it_does(*, counted: bool = True, holds: bool = True) -> str:
    """Return what a value known only as a bound does to a campaign, as the rest of a sentence about such values.

    ``counted``: whether estimates count it; ``holds``: whether anything is guaranteed.
    """
    lost = "" if holds else ", and because of them nothing is guaranteed any more"
    used = "estimates count it as a bound" if counted else "kept and shown, not used in estimates"
    return f"{used}, {_DECIDES}{lost}"


def what_they_would_do(n: int, *, counted: bool = True) -> str:
    """Return the same before so many of them are kept, as a sentence; empty for none."""
    if not n:
        return ""
    are = f"{n:,} value{' is' if n == 1 else 's are'} known only as {'a bound' if n == 1 else 'bounds'}"
    return _told(are, counted=counted)


def what_one_does(value: str, *, counted: bool = True) -> str:
    """Return the same of one ``value`` that is there, in its own words (``>10000 nM``)."""
    return _told(f"{value} is known only as a bound", counted=counted)


def _told(which: str, *, counted: bool) -> str:
    used = "estimates count it as a bound" if counted else "estimates do not use it"
    return (
        f"{which}: {used}, {_DECIDES}. If it was asked for, nothing is guaranteed any more; where the curve gives a "
        "fitted number, enter that."
    )


def deciding(ledger: Decisions) -> list[Measurement]:
    """Return the results known only as a bound among the values that phases decide by."""
    return [
        m
        for m in ledger.measurements
        if ledger.matters(m) and m.counted > 0 and m.relation != "=" and m.excluded is None and not m.withdrawn
    ]
