"""How a phase is cut into rounds, and why each compound is in its round, in a chemist's words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, Ints
from ..chemistry.names import site_names
from ..domain.library import Library

_INDEPENDENT = 1e-8


def lay_out(counts: Ints, vectors: Floats, per_round: int, max_replicates: int, seed: int) -> list[tuple[int, int]]:
    """Return the order of a phase's measurements as (position, measurements) runs, fixed before the first is made.

    ``counts`` ``(m,)`` are the measurements of each compound, ``vectors`` ``(m, d)`` its feature coordinates. Every
    stretch of ``per_round`` measurements starts with compounds that span as much as is left to span, then takes an
    even share of every compound, at most ``max_replicates`` of each.
    """
    remaining = np.array(counts, dtype=np.intp)
    shuffled = np.random.default_rng(seed).permutation(len(remaining))
    n_rounds = max(math.ceil(remaining.sum() / per_round), math.ceil(remaining.max(initial=0) / max_replicates))
    order: list[tuple[int, int]] = []
    for number in range(n_rounds):
        size = min(per_round, int(remaining.sum()))
        if size == 0:
            break
        by_need = shuffled[np.argsort(-remaining[shuffled], kind="stable")]
        by_need = by_need[remaining[by_need] > 0]
        first = _spanning(vectors, by_need, size)
        room = np.minimum(remaining, max_replicates)
        share = remaining / (n_rounds - number)
        even = [np.minimum(rounded(share).astype(np.intp), room).tolist() for rounded in (np.floor, np.ceil)]
        # What the later rounds could not take; without it a measurement could be left over after the last one.
        take: list[int] = np.maximum(remaining - max_replicates * (n_rounds - number - 1), 0).tolist()
        free, needed = size - sum(take), by_need.tolist()
        for position in first:
            if take[position] == 0 and free > 0:
                take[position] = min(1, int(room[position]), free)
                free -= take[position]
        for limits in (*even, room.tolist()):
            for position in needed:
                more = min(limits[position] - take[position], free)
                if more > 0:
                    take[position] += more
                    free -= more
        leading = set(first)
        rest = [position for position in needed if position not in leading]
        order += [(position, take[position]) for position in [*first, *rest] if take[position]]
        remaining -= np.array(take, dtype=np.intp)
    return order


def _spanning(vectors: Floats, order: Ints, most: int) -> list[int]:
    """Return the first positions in ``order`` that together span all of them, or the first ``most`` (Gram-Schmidt)."""
    most = min(most, vectors.shape[1])
    whole = np.zeros((most, vectors.shape[1]))
    chosen: list[int] = []
    for position in order.tolist():
        vector, basis = vectors[position], whole[: len(chosen)]
        rest = vector - basis.T @ (basis @ vector)
        rest -= basis.T @ (basis @ rest)
        length = math.sqrt(rest @ rest)
        if length > _INDEPENDENT * max(math.sqrt(vector @ vector), 1e-300):
            whole[len(chosen)] = rest / length
            chosen.append(position)
            if len(chosen) == most:
                break
    return chosen


def next_round(
    order: Sequence[tuple[int, int]], done: dict[int, int], per_round: int, max_replicates: int
) -> list[tuple[int, int]]:
    """Return the next (compound, measurements) to issue: what the order still requests, earliest first.

    ``done`` are the measurements of each compound that are in or lost, so that missing ones come again first.
    """
    left = dict(done)
    taken: dict[int, int] = {}
    room = per_round
    for compound, n in order:
        if room == 0:
            break
        over = min(left.get(compound, 0), n)
        left[compound] = left.get(compound, 0) - over
        take = min(n - over, room, max_replicates - taken.get(compound, 0))
        if take > 0:
            taken[compound] = taken.get(compound, 0) + take
            room -= take
    return list(taken.items())


def reasons(library: Library, compounds: Sequence[int]) -> list[str]:
    """Return why each compound of a round is there: the substituents it brings in, or the one it adds most to."""
    seen = [np.zeros(len(site.substituents), dtype=np.intp) for site in library.sites]
    varied = [len(np.unique(library.codes[list(compounds), k])) > 1 for k in range(len(library.sites))]
    texts = []
    for compound in compounds:
        codes = library.codes[compound]
        labels = {
            k: f"{site.name} = {site_names(site.substituents)[codes[k]]}"
            for k, site in enumerate(library.sites)
            if varied[k]
        }
        new = [label for k, label in labels.items() if seen[k][codes[k]] == 0]
        if new:
            shown = ", ".join(new[:2]) + (f" and {len(new) - 2} more" if len(new) > 2 else "")
            texts.append(f"brings in {shown}")
        elif labels:
            rarest = min(labels, key=lambda k: (seen[k][codes[k]], k))
            texts.append(f"settles {labels[rarest]}")
        else:
            texts.append("repeats the measurement")
        for k, counts in enumerate(seen):
            counts[codes[k]] += 1
    return texts
