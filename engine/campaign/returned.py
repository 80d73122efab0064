"""Compounds that can be had again after others were put in, and what that adds to the error.

**What ``adaptive`` states then.** What is promised is about the best b(t) of those that could be estimated at the time.
With others back b(t) may be another one. Who is out stays out rightly, since the best only rises. But who is worse than
epsilon and slack had to pass against the old best to be in before, and has to pass against the new one to be in after:
two walks, and one more for whom is taken not to be the best. So each time, after somebody was put in, what is for these
is spent once more, and that is stated on top: of the first compounds, and of each cohort that had come before. For the
best compound that is both halves: that another is taken not to be it, and that the one named is taken to be near it. It
does not matter whether a phase put them in or a change of the terms, which decides all phases before it anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from assaypilot.engine.arrays import Flags
from assaypilot.engine.campaign.asking import Terms
from assaypilot.engine.campaign.changing.turns import Anew
from assaypilot.engine.features import outside_span
from assaypilot.engine.strategies.adaptive.cohorts import shared
from assaypilot.engine.strategies.designs import table
from assaypilot.engine.strategies.protocol import Decision

__all__ = ["spent_again"]


_AGAIN = {"epsilon-best": 0.55, "best": 0.95, "pareto": 0.6}
"""Of delta what ``adaptive`` has for who is in and for who is not the best, by goal."""


def spent_again(ledger: Terms, decisions: Mapping[int, Decision], changed: Sequence[Anew] = ()) -> float:
    """How many times delta ``adaptive`` may err on top, because compounds came back after others were put in.

    ``decisions``: as each phase made it; ``changed``: as changes of the terms made them of all phases before.
    """
    if ledger.strategy.info.name != "adaptive":
        return 0.0
    could = [decided.measurable for decided in ledger.phases]
    any_in, times = False, 0.0
    by_change = {anew.decision.phase for anew in changed if len(anew.decision.ins)}
    for phase, (before, after) in enumerate(pairwise([*could, ledger.measurable()]), start=1):
        any_in = any_in or len(decisions[phase].ins) > 0 or phase in by_change
        # Compounds that were added since have a share of their own: see ``strategies.adaptive.cohorts``.
        old = ledger.since < phase
        if any_in and _back(ledger, before, after, old):
            times += shared(len(np.unique(ledger.since[old])))
    return times * _AGAIN.get(ledger.settings.goal, 1.0)


def _back(ledger: Terms, before: Flags, after: Flags, old: Flags) -> bool:
    """Whether any of the ``old`` arms could not be estimated when only some could be measured, and can now.

    Also by others: a compound that was added may carry the one substituent that nobody told of.
    """
    new = np.flatnonzero(after & ~before)
    basis = table(ledger.features, np.flatnonzero(before)).basis if len(new) else None
    if basis is None or not outside_span(ledger.features, basis, new).any():
        return False
    gone = np.flatnonzero(old)
    gone = gone[outside_span(ledger.features, basis, gone)]
    now = table(ledger.features, np.flatnonzero(after)).basis
    return bool((~outside_span(ledger.features, now, gone)).any())
