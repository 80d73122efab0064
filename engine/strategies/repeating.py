"""Measurements that repeat others of their phase, where the noise is told by them (``Problem.repeats``).

Which and how many is fixed with the plan, by nothing but designs: pairs of the same compound in the same phase.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arrays import Ints
from ..design.rounding import Rounded
from ..errors import AssayPilotError
from .protocol import Strategy

__all__ = ["in_pairs", "refuse_unknown_noise", "rounded_up", "too_few"]


def refuse_unknown_noise(
    strategy: Strategy, *, parameters: Mapping[str, Any], max_replicates: int, replicates: int = 0
) -> None:
    """Raise AssayPilotError where noise that is not known cannot be estimated on the way.

    ``replicates``: degrees of freedom that are known of it already.
    """
    name = strategy.info.name
    if not strategy.info.noise_bound:
        from .registry import named_by

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
