"""What later words on the assay noise add to the error: who says them has seen results, and may choose by them.

**Bounds of a noise that is not known** have a share of delta for one sequence of replicates, looked at as often as one
likes (``models.sd_bound``). Another sequence is another chance, and counts with a share of its own:

- whoever says after results that the noise is known, or is not, may choose between both: decisions by the stated SD are
  wrong with all of delta (those by bounds, with 0.9 of it, among them), and bounds with the share each had;
- once values known only as bounds came, replicates far from these count and not all; how far is measured by the guess,
  and from where by the bounds met so far (``models.sd_cut``). So each guess, and each bound beyond those met before,
  makes another sequence. Before there is a bound a guess chooses nothing: no decision rests on it;
- whoever says after results by which classes it differs has other sequences, one for each class; and whoever says that
  plates shift what stands on them, or not, since replicates of two plates are then not compared;
- a class of which nothing could be had at first changes the scale of all walks when it comes: decisions by that have a
  share of their own, as decisions have (``models.sd_classes``).

Values left out or corrected make no further one: ``results.amending``.

**Weights** of measurements that are chosen after their values make other estimates, each wrong with all of delta:

- classes of noise that are given up, or changed, by which ``adaptive`` weighs what it measured
  (``strategies.adaptive.classes``); not the first that are given: ``later``;
- the noise of the parts of a difference, where they came in unequal numbers: its effective counts hang on how their
  SDs compare (``engine.difference``).

The SD itself may be any that is no less than the true one, whatever it was chosen by: ``strategies.adaptive.anew``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from assaypilot.engine.campaign.changing.turns import Turn
from assaypilot.engine.campaign.counting import Books
from assaypilot.engine.campaign.noise import by_class
from assaypilot.engine.campaign.noise.scatter import bounds_met
from assaypilot.engine.difference import parts
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.models.sd_bound import OF_DECISIONS
from assaypilot.engine.noise_classes import NoiseClasses

__all__ = ["asked_for", "weightings"]

_Terms = tuple[int, Sequence[Endpoint]]
"""Phases that had been decided when terms began to hold or were decided under, and the endpoints."""


def asked_for(books: Books, turns: Sequence[Turn]) -> float:
    """What the bounds of the noise add to the error, in deltas; ``turns``: the changes that kept the guarantee."""
    terms = [books.endpoints, *(turn.was["endpoints"] for turn in turns)]
    sets = [[k for k in books.measured if k < len(one) and one[k].noise_estimated] for one in terms]
    each: dict[int, float] = {}
    for one in sets:
        each |= {k: max(each.get(k, 0.0), (1.0 - OF_DECISIONS) / len(one)) for k in one}
    cut = {m.endpoint for m in books.measurements if m.counted and m.relation != "=" and not m.withdrawn}
    again = sum(share * _sequences(books, k, turns) for k, share in each.items() if k in cut)
    again += sum(share * (_partings(terms, k) - 1) for k, share in each.items())
    again += OF_DECISIONS * by_class.late(books)
    blocks = {turn.was["settings"].blocks for turn in turns if turn.after} | {books.settings.blocks}
    again += (len(blocks) - 1) * sum(each.values())
    return again + (0.0 if all(one == sets[0] for one in sets) else sum(each.values()))


def _partings(terms: Sequence[Sequence[Endpoint]], position: int) -> int:
    """By how many sets of classes the noise of an endpoint was estimated; at least 1."""
    own = [one[position] for one in terms if position < len(one) and one[position].noise_estimated]
    return len({(e.noise_classes.site, e.noise_classes.classes) if e.noise_classes else None for e in own}) or 1


def _sequences(books: Books, position: int, turns: Sequence[Turn]) -> int:
    """Sequences of replicates far from bounds that decisions rested on, at least 1: by bounds met, and by guess."""
    met = bounds_met(books, position)
    guesses = [(decided, endpoints[position]) for decided, endpoints in _decided(books, turns)]
    beside = [(met[n], e) for n, e in guesses if e.noise_estimated and any(map(math.isfinite, met[n]))]
    return max(1, len({(ends, e.noise_sd, e.noise_classes) for ends, e in beside}))


def _decided(books: Books, turns: Sequence[Turn]) -> list[_Terms]:
    """All that was decided: each phase under the terms of its time, and all so far under those of each change."""
    held = [*(turn.was["endpoints"] for turn in turns), books.endpoints]
    phases = range(1, len(books.phases) + 1)
    found: list[_Terms] = [(number, held[sum(turn.after < number for turn in turns)]) for number in phases]
    found += [(turn.after, endpoints) for turn, endpoints in zip(turns, held[1:], strict=True) if turn.after]
    return [(number, [*endpoints, *books.endpoints[len(endpoints) :]]) for number, endpoints in found]


def weightings(books: Books, turns: Sequence[Turn], *, classes: bool) -> int:
    """In how many ways the measurements were weighed that decisions rest on, at least 1.

    ``classes``: whether the strategy weighs by classes of noise.
    """
    terms = [*(turn.was["endpoints"] for turn in turns if turn.after), books.endpoints]
    if len(terms) == 1:
        return 1
    first = _at_first(books)
    uneven = [k for k in books.deciding_endpoints if _uneven(books, k)]
    goal = books.behind(books.goal_endpoints) if classes else ()
    ways = [[_weights(one[k], first) for one in terms] for k in goal]
    for own in ways:
        # What was measured before there were classes keeps its weights: ``later``.
        begun = next((place for place, one in enumerate(own) if one is not None), 0)
        own[:begun] = [own[begun]] * begun
    ratios = [[_ratio(one, k) for one in terms] for k in uneven]
    return len(set(zip(*ways, *ratios, strict=True))) if ways or ratios else 1


def _weights(endpoint: Endpoint, first: Collection[str]) -> tuple[NoiseClasses, bool] | None:
    """What weights by class rest on: the SDs stated, or guesses and replicates; None without classes.

    Compounds that were added had nothing measured when their class was said: those of the ``first`` library count.
    """
    own = endpoint.noise_classes
    if own is None:
        return None
    return replace(own, compounds=tuple(pair for pair in own.compounds if pair[0] in first)), endpoint.noise_estimated


def _at_first(books: Books) -> frozenset[str]:
    """The ids of the compounds that were there at the start."""
    return frozenset(books.library.ids[compound] for compound in np.flatnonzero(books.since[books.arm_of] == 0))


def _uneven(books: Books, position: int) -> bool:
    """Whether the parts of a difference came in unequal numbers in any phase."""
    both = parts(books.endpoints, position)
    if len(both) < 2:
        return False
    for number in range(1, len(books.phases) + 1):
        first, second = (books.span(number, part).counts for part in both)
        if bool(((first > 0) & (second > 0) & (first != second)).any()):
            return True
    return False


def _ratio(endpoints: Sequence[Endpoint], position: int) -> float:
    """How the noise of the parts of a difference compares, as it is taken for its effective counts."""
    if position >= len(endpoints):
        return 1.0
    first, second = (endpoints[part].noise_sd for part in parts(endpoints, position))
    return float(np.round((first or 1.0) / (second or 1.0), 12)) if first and second else 1.0
