"""Which measurements share a block (a plate, a round): every block a balanced copy of what the whole tells.

Blocks whose effects are taken out leave V_b = V - sum_p t_p t_p' / (n_p + c_p) of the information V = X'X, where t_p is
the sum of the rows of block p, n_p its measurements and c_p its controls (``models.blocks``). To first order that
takes sum_p t_p' V^-1 t_p / (n_p + c_p) from log det V: the squared lengths of the sums of blocks in coordinates
z = V^(-1/2) x, in which every direction counts as much as the measurements tell of it. Measurements of two blocks
change places as long as that makes it less. Blocks that are copies of each other differ by nothing that tells of a
difference between compounds, and so lose nothing of any (orthogonal blocking; Cochran and Cox, Experimental Designs,
1957, chapter 4), with controls or without.

A phase that is for some comparisons y'theta and no others is dealt for these above all: of y the blocks take
sum_p (t_p' V^-1 y)^2 / (n_p + c_p) from the 1 / variance that y'V^-1 y is without them, to first order, which is the
squared length of the sums of blocks along V^(-1/2) y. So lengths along those count many times more than across.

In the phases of campaigns on the practice table plates that are dealt like this keep on average 0.98 of the information
on what a phase is for and more, also eight to a plate without any control (tests/published/REPORT-plates.md): so
compounds are chosen without a thought of plates, since another choice could win no more than the rest.
"""

from __future__ import annotations

import numpy as np

from assaypilot.engine.arrays import Floats, Ints

__all__ = ["coordinates", "dealt", "exchanged", "in_turn"]

_GAIN = 1e-9
"""Exchanges that gain less than this share of a measurement are none."""
_TOLD = 1e-7
"""Directions with less than this share of the largest singular value are rounding errors."""
_LOOKED_AT = 512
"""Measurements that one is compared with at a time."""
_TURNS = 20_000
"""Measurements that are looked at before it is left as it is; 1,000 take 0.1 to 0.3 s."""
_LARGE = 4e9
"""Products of numbers above which rows are taken as they come: their coordinates would take many seconds."""
_MANY = 20_000_000
"""Entries of a table of blocks and compounds above which the same holds."""
_PIECE = 8
"""Measurements of a list that need not be balanced any further."""
_LONG = 2_000
"""Compounds above which a list stays as it is: nobody fills plates along it by hand."""
_ABOVE_ALL = 100.0
"""How many times more the comparisons count that a phase is for, all together, than any other direction: of those of
the practice table 0.867 was kept of the worst without, 0.944 with it."""


def coordinates(x: Floats, counts: Ints) -> Floats:
    """``(n, k)``, z of each row ``(n, d)`` that is measured ``counts`` times; no columns where that takes too long."""
    return _frame(x, counts)[0]


def _frame(x: Floats, counts: Ints) -> tuple[Floats, Floats]:
    """``coordinates``, and V^(-1/2) ``(d, k)``, which gives those of any other direction."""
    n, d = x.shape
    if not n or n * d * min(n, d) > _LARGE:
        return np.zeros((n, 0)), np.zeros((d, 0))
    root = np.sqrt(np.maximum(counts, 1.0))[:, None]
    left, values, right = np.linalg.svd(x * root, full_matrices=False)
    told = values > _TOLD * values[0]
    z: Floats = left[:, told] / root
    return z, right[told].T / values[told]


def _aimed(x: Floats, counts: Ints, directions: Floats | None) -> Floats:
    """``coordinates``, longer along ``directions`` ``(m, d)``, each as long as it matters."""
    z, half = _frame(x, counts)
    if directions is None or not z.shape[1]:
        return z
    along = directions @ half
    whole = float(np.einsum("ij,ij->", along, along))
    if whole <= 0.0:
        return z
    # z times the root of I + 100 M, M the directions' share of each: lengths are what counts, not axes.
    values, vectors = np.linalg.eigh(along.T @ along / whole)
    longer: Floats = (z @ vectors) * np.sqrt(1.0 + _ABOVE_ALL * np.maximum(values, 0.0))
    return longer


def dealt(
    x: Floats,
    counts: Ints,
    n_blocks: int,
    *,
    together: int = 1,
    directions: Floats | None = None,
    room: Ints | None = None,
) -> Ints:
    """``(n_blocks, n)``, measurements of every compound in each block, always the same; blocks are filled evenly.

    ``x``: features of the compounds ``(n, d)``; ``counts``: measurements of each. Those of one compound go to
    different blocks as evenly as can be, with ``together`` 2 two by two; a pair that no block has room for is parted.
    ``directions`` ``(m, d)``: the comparisons they are for, each as long as it matters; None: all alike. ``room``
    ``(n_blocks,)``: what each block takes of them all, where that is not even.
    """
    room = _evenly(int(counts.sum()), n_blocks) if room is None else room
    items, sizes, at = _by_turns(counts, room) if together == 1 else _in_pairs(counts, room)
    if n_blocks > 1 and n_blocks * len(counts) <= _MANY:
        z = _aimed(x, counts, directions)
        # Pairs are parted as compounds of their own.
        at = exchanged(sizes[:, None] * z[items], at, room.astype(np.float64), sizes, items + len(counts) * sizes)
    shares = np.zeros((n_blocks, len(counts)), dtype=np.intp)
    np.add.at(shares, (at, items), sizes)
    return shares


def _evenly(total: int, n_blocks: int) -> Ints:
    """``(n_blocks,)``, as full as each other."""
    return total // n_blocks + (np.arange(n_blocks) < total % n_blocks).astype(np.intp)


def _by_turns(counts: Ints, room: Ints) -> tuple[Ints, Ints, Ints]:
    """Single measurements: compound, 1, and the block, dealt by turns."""
    items = np.repeat(np.arange(len(counts)), counts)
    turn = np.concatenate([np.arange(n) for n in room])
    block = np.repeat(np.arange(len(room)), room)
    return items, np.ones(len(items), dtype=np.intp), block[np.lexsort((block, turn))]


def _in_pairs(counts: Ints, room: Ints) -> tuple[Ints, Ints, Ints]:
    """Pairs, and singles where one is left over: compound, how many, and the block."""
    room = room.copy()
    found: list[tuple[int, int, int]] = []

    def deal(item: int, size: int, held: Ints) -> None:
        # The block that holds fewest of it, then the one with most room.
        free = np.flatnonzero(room)
        block = int(free[np.lexsort((free, -room[free], held[free]))[0]])
        taken = min(size, int(room[block]))
        room[block] -= taken
        held[block] += taken
        found.append((item, taken, block))
        if taken < size:
            deal(item, size - taken, held)

    holding = {item: np.zeros(len(room), dtype=np.intp) for item in np.flatnonzero(counts).tolist()}
    for size in (2, 1):
        for item, held in holding.items():
            for _ in range(counts[item] // 2 if size == 2 else counts[item] % 2):
                deal(item, size, held)
    items, sizes, at = np.array(found, dtype=np.intp).reshape(-1, 3).T
    return items, sizes, at


def exchanged(z: Floats, at: Ints, sizes: Floats, kinds: Ints | None = None, groups: Ints | None = None) -> Ints:
    """``(m,)``, the block of each of ``z`` ``(m, k)`` after exchanges that make sum |t_p|^2 / size_p less.

    ``at``: blocks at first; ``sizes``: of each block. Only what is of the same of ``kinds`` changes places, and what
    is of one of ``groups`` only to a block that holds less of it. Deterministic: the first of the best exchanges.
    """
    at, (m, k), n_blocks = at.copy(), z.shape, len(sizes)
    if m < 2 or n_blocks < 2 or not k:
        return at
    kinds = np.zeros(m, dtype=np.intp) if kinds is None else kinds
    held, own = None, np.arange(m)
    if groups is not None and len(named := np.unique(groups)) < m:
        own = np.searchsorted(named, groups)
        held = np.zeros((n_blocks, len(named)), dtype=np.int32)
        np.add.at(held, (at, own), 1)
    totals = np.zeros((n_blocks, k))
    np.add.at(totals, at, z)
    squares, inverse = np.einsum("ij,ij->i", z, z), 1.0 / np.maximum(sizes, 1e-300)
    since = 0
    for turn in range(_TURNS):
        if since == m:
            break
        since += 1
        i = turn % m
        p = at[i]
        others = _others(m, turn)
        q = at[others]
        may = (q != p) & (kinds[others] == kinds[i])
        if held is not None:
            may &= (held[q, own[i]] < held[p, own[i]]) & (held[p, own[others]] < held[q, own[others]])
        others = others[may]
        if not len(others):
            continue
        q = at[others]
        steps = z[others] - z[i]
        apart = np.einsum("ij,ij->i", steps, steps)
        more = (2.0 * (steps @ totals[p]) + apart) * inverse[p]
        more += (apart - 2.0 * np.einsum("ij,ij->i", steps, totals[q])) * inverse[q]
        best = int(np.argmin(more))
        if more[best] >= -_GAIN * (squares[i] + squares[others[best]]) * inverse[p]:
            continue
        j, other = others[best], q[best]
        totals[p] += steps[best]
        totals[other] -= steps[best]
        if held is not None:
            for who, here, there in ((i, p, other), (j, other, p)):
                held[here, own[who]] -= 1
                held[there, own[who]] += 1
        at[i], at[j] = other, p
        since = 0
    return at


def _others(m: int, turn: int) -> Ints:
    """The measurements that one is compared with: all, or of many a part that is another one every time around."""
    if m <= _LOOKED_AT:
        return np.arange(m)
    step = -(-m // _LOOKED_AT)
    return np.arange((turn + turn // m) % step, m, step)


def in_turn(x: Floats, counts: Ints) -> Ints:
    """``(n,)``, an order of compounds of which every stretch is about a balanced copy of the whole; always the same.

    So plates that are filled along it are, however many measurements fit on one. The measurements of a compound follow
    each other. Halves are balanced, and halves of these.
    """
    z = counts[:, None] * coordinates(x, counts)
    if len(counts) > _LONG or not z.shape[1]:
        return np.arange(len(counts))
    found: list[Ints] = []
    parts = [np.arange(len(counts))]
    while parts:
        part = parts.pop()
        if len(part) < 2 or counts[part].sum() <= _PIECE:
            found.append(part)
            continue
        # Equally many of those with as many measurements stand in both halves from the start.
        part = part[np.argsort(-counts[part], kind="stable")]
        at = np.arange(len(part)) % 2
        at = exchanged(z[part], at, np.bincount(at, counts[part], 2).astype(np.float64), counts[part])
        parts += [part[at == 1], part[at == 0]]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)
