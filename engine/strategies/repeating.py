"""Measurements that repeat others of their phase, where the noise is told by them (``Problem.repeats``).

Which and how many is fixed with the plan, by nothing but designs: pairs of the same compound in the same phase.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from assaypilot.engine.arrays import Flags, Ints
from assaypilot.engine.design.rounding import Rounded
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.protocol import Strategy

__all__ = ["in_pairs", "of_classes", "refuse_unknown_noise", "rounded_up", "too_few"]


def refuse_unknown_noise(
    strategy: Strategy, *, parameters: Mapping[str, Any], max_replicates: int, replicates: int = 0
) -> None:
    """Nothing; AssayPilotError where noise that is not known cannot be estimated on the way.

    ``replicates``: degrees of freedom that are known of it already.
    """
    name = strategy.info.name
    if not strategy.info.noise_bound:
        from assaypilot.engine.strategies.registry import named_by

        raise AssayPilotError(
            f"{name} needs the assay noise (SD), and it is said to be unknown",
            option="--sd",
            mend=f"Give the SD, or choose one of: {named_by('noise_bound')}.",
        )
    if parameters.get("decide", "realised") != "realised":
        raise AssayPilotError(
            "what a plan promised (decide=planned) rests on a known assay noise (SD)",
            option="--parameter decide",
            mend="Leave it out, or give the SD.",
        )
    if max_replicates < 2 and not replicates:
        raise AssayPilotError(
            "the assay noise (SD) is unknown, and with one measurement of each compound in a round nothing tells it",
            option="--max-replicates",
            mend="Allow 2 or more, or give the SD.",
        )


def too_few(counts: Ints, repeats: int) -> bool:
    """Whether fewer measurements repeat others than asked for, and fewer than half of all."""
    total = int(counts.sum())
    return total - int(np.count_nonzero(counts)) < min(repeats, total // 2)


def rounded_up(counts: Ints, repeats: int) -> Ints:
    """The counts, every one raised to an even number where too few measurements would repeat others."""
    return np.asarray(2 * ((counts + 1) // 2), dtype=np.intp) if too_few(counts, repeats) else counts


def in_pairs(whole: Callable[[int, int | None], Rounded], n: int, most: int | None, repeats: int) -> Rounded:
    """About ``n`` whole measurements, ``whole(n, most)``; where too few would repeat others half as many, each twice.

    The pairs are placed as well as single measurements would be: what is lost is that there are half as many places.
    """
    single = whole(n, most)
    if not too_few(single.counts, repeats) or (most is not None and most < 2):
        return single
    try:
        half = whole(n // 2, None if most is None else most // 2)
    except AssayPilotError:
        return single
    return Rounded(half.support, 2 * half.counts, half.value, half.method, half.finished)


def of_classes(whole: Callable[[int], Rounded], n: int, most: int | None, classes: Sequence[Flags]) -> Rounded:
    """About ``n`` whole measurements, ``whole(n)``, with replicates in each of some ``classes`` of candidates.

    Each has half of what an even share of the measurements would give it, at least: who holds one of a class in pairs
    knows it from half as many degrees of freedom. What that takes is taken from all others alike.
    """
    found = whole(n)
    share = n // (4 * (len(classes) + 1))
    asked = n
    for _ in range(4 if classes else 0):
        filled = _filled(found, classes, max(share, 1), most)
        over = int(filled.counts.sum()) - n
        if over <= 0:
            return filled
        asked -= over
        try:
            found = whole(asked)
        except AssayPilotError:
            break
    return found if int(found.counts.sum()) == n else whole(n)


def _filled(found: Rounded, classes: Sequence[Flags], repeats: int, most: int | None) -> Rounded:
    """The measurements and more, so that so many of each class repeat others of the same compound."""
    counts = np.zeros(len(classes[0]), dtype=np.intp)
    counts[found.support] = found.counts
    limit = repeats + 1 if most is None else most
    for own in classes:
        lacking = repeats - int(np.maximum(counts[own] - 1, 0).sum())
        # Those that are measured anyway take one more; of all others two are one repeat.
        places = np.flatnonzero(own)
        for place in places[np.argsort(-counts[places], kind="stable")].tolist():
            if lacking < 1:
                break
            before = int(counts[place])
            if before < limit:
                # Two of a compound, rather than many of one: as few as tell.
                counts[place] = max(before + 1, 2)
                lacking -= 1
        while lacking > 0 and (counts[places] < limit).any():
            place = int(places[np.argmin(counts[places])])
            counts[place] += 1
            lacking -= 1
    support = np.flatnonzero(counts)
    return Rounded(support, counts[support], found.value, found.method, found.finished)
