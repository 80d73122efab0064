"""Whether rounds and plates differ by more than the assay noise, told from their controls, each in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.campaign import words

if TYPE_CHECKING:
    from assaypilot.engine.campaign.plates.blocking import Block

__all__ = ["drift"]

Kind = Literal["round", "block", "slope"]

_DRIFT = 0.05
"""Chance of calling anything drift in an endpoint while there is none, all comparisons together."""
_LISTED = 5
"""Rounds or plates that are named one by one."""
_SEVERAL = {"plate": "plates", "batch": "batches", "date": "days"}


@dataclass(frozen=True, slots=True)
class _Found:
    """One comparison."""

    kind: Kind
    name: str
    """``3`` of a round, ``plate R1-P2`` of a block."""
    round: int
    difference: float
    """Of a slope by round."""
    p: float


def drift(
    blocks: Sequence[Block],
    names: Mapping[Block, str],
    above: Floats,
    weights: Floats,
    noise: float,
    *,
    taken_out: str | None,
) -> list[str]:
    """What of rounds and plates differs by more than the noise; ``above`` nominal ``(m,)`` with their ``weights``.

    Each round against those before it, a slope over three and more rounds, and each plate against the others of its
    round: normal tests, at 0.05 together (Holm 1979); one sentence for rounds, one for plates. P values are those
    after Holm. Where plates (batches, dates) are ``taken_out`` anyway they are not compared, and what they scatter
    within rounds beyond the assay noise is no drift of rounds; where no round has two of them, that cannot be told.
    """
    rounds = np.array([block[0] for block in blocks])
    where = np.unique(np.array([f"{number} {name}" for number, name in blocks]), return_inverse=True)[1]
    alone = len(np.unique(where)) == len(np.unique(rounds))
    between = 0.0 if taken_out is None else _between_plates(rounds, where, above, weights, noise)
    tests: list[_Found] = []

    def test(kind: Kind, name: str, number: int, difference: float, share: Floats) -> None:
        """Keeps a comparison, which is the sum of the values with these shares."""
        variance = noise**2 * (share**2 / weights).sum() + between * (np.bincount(where, share) ** 2).sum()
        tests.append(_Found(kind, name, number, difference, _two_sided(difference / math.sqrt(variance))))

    def compare(kind: Kind, name: str, number: int, one: Flags, other: Flags) -> None:
        if one.any() and other.any():
            share = weights * one / weights[one].sum() - weights * other / weights[other].sum()
            test(kind, name, number, float(share @ above), share)

    for number in np.unique(rounds)[1:].tolist():
        compare("round", str(number), number, rounds == number, rounds < number)
    for block in [] if taken_out is not None else sorted(set(blocks)):
        here = np.array([other == block for other in blocks])
        compare("block", names[block], block[0], here, (rounds == block[0]) & ~here)
    if len(np.unique(rounds)) > 2:
        centred = rounds - weights @ rounds / weights.sum()
        share = weights * centred / float(weights @ centred**2)
        test("slope", "", 0, float(share @ above), share)
    found = _surprising(tests)
    doubt = ""
    if alone and taken_out in _SEVERAL:
        doubt = f", or {_SEVERAL[taken_out]} that differ: with one {taken_out} a round both look alike"
    parts = [[one for one in found if (one.kind == "block") is of_blocks] for of_blocks in (False, True)]
    return [f"controls {_in_words(part)} ({_p(part)}): drift{doubt}" for part in parts if part]


def _two_sided(z: float) -> float:
    from scipy.special import ndtr

    return 2.0 * float(ndtr(-abs(z)))


def _surprising(tests: Sequence[_Found]) -> list[_Found]:
    """Those that differ, all of them together at ``_DRIFT``, with their p values after Holm, in order of rounds."""
    found, highest = [], 0.0
    for place, one in enumerate(sorted(tests, key=lambda test: (test.p, -abs(test.difference)))):
        highest = max(highest, min(1.0, one.p * (len(tests) - place)))
        if highest >= _DRIFT:
            break
        found.append(replace(one, p=highest))
    return sorted(found, key=lambda one: (one.round, one.name))


def _in_words(found: Sequence[_Found]) -> str:
    """``of round 3 read 0.31 lower than before and rise by 0.06 a round``; of several, all in one."""
    slopes = [f"{'rise' if one.difference > 0 else 'fall'} by {abs(one.difference):.2f} a round" for one in found
              if one.kind == "slope"]  # fmt: skip
    others = [one for one in found if one.kind != "slope"]
    if not others:
        return slopes[0]
    sizes = sorted(abs(one.difference) for one in others)
    size = f"{sizes[0]:.2f}" if f"{sizes[0]:.2f}" == f"{sizes[-1]:.2f}" else f"{sizes[0]:.2f} to {sizes[-1]:.2f}"
    ways = [way for way, sign in (("higher", 1), ("lower", -1)) if any(sign * one.difference > 0 for one in others)]
    whom = "before"
    if others[0].kind == "block":
        numbers = {one.round for one in others}
        whom = f"those of the rest of {f'round {others[0].round}' if len(numbers) == 1 else 'their rounds'}"
    listed = [one.name for one in others]
    who = words.joined(listed) if len(listed) <= _LISTED else words.names(listed)
    if others[0].kind == "round":
        who = f"round{'' if len(others) == 1 else 's'} {who}"
    return " and ".join([f"of {who} read {size} {' or '.join(ways)} than {whom}", *slopes])


def _p(found: Sequence[_Found]) -> str:
    """The largest of their p values."""
    highest = max(one.p for one in found)
    equal = "=" if len(found) == 1 else "at most"
    return "p < 0.0001" if highest < 1e-4 else f"p {equal} {highest:.2g}"


def _between_plates(rounds: NDArray[np.int_], where: Ints, above: Floats, weights: Floats, noise: float) -> float:
    """The variance of plates within rounds beyond the noise, by the method of moments; 0 where no round has two."""
    totals = np.bincount(where, weights)
    means = np.bincount(where, weights * above) / totals
    own = np.zeros(len(totals), dtype=np.intp)
    own[where] = rounds
    squares, freedom, expected = 0.0, 0, 0.0
    for number in np.unique(own):
        here = own == number
        k = int(here.sum())
        squares += float(((means[here] - means[here].mean()) ** 2).sum())
        freedom += k - 1
        expected += noise**2 * float((1 / totals[here]).sum()) * (k - 1) / k
    return max(0.0, squares - expected) / freedom if freedom else 0.0
