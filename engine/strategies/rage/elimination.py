"""Who is beaten by whom: elimination by pairs without a matrix of all pairs, and equal rows as one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Flags, Floats, Ints
from ...design.inverses import square_root
from ...domain.features import Features, ProjectedFeatures, SiteFeatures
from ...models.ols import Estimate

__all__ = ["Beaten", "Compared", "beaten", "compared", "first_of_equals"]


_LEADERS = 16
"""So many of the best are compared with everything first; they remove nearly all that can be removed."""
_ENTRIES = 2_000_000
"""Distances held at once."""
_PAIRS = 100_000_000
"""Up to so many pairs are compared beyond those with the leaders: a second or two."""
_CODES = 2**62


class Beaten(NamedTuple):
    """Who is beaten, and whether every pair was looked at."""

    rows: Flags
    exact: bool
    """False: only the leaders were compared with everything, so some that are beaten may still be in."""


class Compared(NamedTuple):
    """Who is out, and who leads."""

    out: Flags
    leader: int
    """The row with the highest estimate among those that can be told from each other."""
    exact: bool
    known: Flags
    """Whether the difference to the leader was estimated."""


def beaten(scores: Floats, points: Floats, spread: float, least: float = 0.0) -> Beaten:
    """Which rows i some row j beats: scores_j - scores_i > max(spread ||points_j - points_i||, least).

    ``scores`` ``(m,)``, ``points`` ``(m, k)``. The best few are compared with every row; what they leave is compared
    with everything, in blocks. Where that would be more than a hundred million pairs it is left out: then a row that
    only some lesser row beats stays, which removes less than the rule allows and so keeps whatever the rule promises.
    """
    m = len(scores)
    out = np.zeros(m, dtype=bool)
    if m < 2:
        return Beaten(out, True)
    order = np.argsort(-scores, kind="stable")
    for leader in order[:_LEADERS]:
        away = points - points[leader]
        width = spread * np.sqrt(np.einsum("ij,ij->i", away, away))
        out |= scores[leader] - scores > np.maximum(width, least)
    # Nobody is beaten who is not behind the best by more than the least difference.
    left = order[~out[order] & (scores[order[0]] - scores[order] > least)]
    ranked, behind = points[order], -scores[order]
    # Only better ones can beat a row.
    if float(np.searchsorted(behind, -scores[left], side="left").sum()) > _PAIRS:
        return Beaten(out, False)
    lengths = np.einsum("ij,ij->i", ranked, ranked)
    step = max(1, _ENTRIES // m)
    for start in range(0, len(left), step):
        rows = left[start : start + step]
        stop = int(np.searchsorted(behind, -scores[rows].min(), side="left"))
        if stop <= _LEADERS:
            continue
        own = points[rows]
        squares = np.einsum("ij,ij->i", own, own)[:, None] + lengths[:stop] - 2.0 * (own @ ranked[:stop].T)
        # A rounding error must not make a pair look closer than it is.
        squares = np.maximum(squares, 0.0) + 1e-13 * lengths[:stop]
        ahead = -behind[:stop] - scores[rows, None]
        out[rows] = (ahead > np.maximum(spread * np.sqrt(squares), least)).any(axis=1)
    return Beaten(out, True)


def compared(fit: Estimate, rows: Ints, spread: float, least: float) -> Compared:
    """Which rows are beaten, among those whose difference to the leader this phase can estimate.

    A difference can be estimated where neither mean can: both may share what was not measured.
    """
    scores = fit.means(rows)
    leader = int(np.argmax(scores))
    known = np.isfinite(fit.difference_norm(int(rows[leader]), rows))
    out = np.zeros(len(rows), dtype=bool)
    few = np.flatnonzero(known)
    points = ProjectedFeatures(fit.features, rows[few], fit.basis).coordinates() @ square_root(fit.inverse)
    found = beaten(scores[few], points - points[np.searchsorted(few, leader)], spread, least)
    out[few] = found.rows
    return Compared(out, int(rows[leader]), found.exact, known)


def first_of_equals(features: Features, rows: Ints) -> tuple[Ints, Ints]:
    """Equal feature rows as one: positions in ``rows`` of the first of each kind, and the kind of every row."""
    if isinstance(features, SiteFeatures):
        codes = features.codes[rows]
        if np.prod([float(size) for size in features.sizes]) < _CODES:
            keys = np.zeros(len(rows), dtype=np.int64)
            for site, size in enumerate(features.sizes):
                keys = keys * size + codes[:, site]
            _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
        else:
            _, first, kind = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    else:
        _, first, kind = np.unique(features.dense(rows), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return first[order].astype(np.intp), place[kind.ravel()]
