"""Additive models that are wrong by a known amount: how far estimates can be off, and the projection onto such models.

Means are mu = a'theta + Delta with |Delta| <= L for every compound, whatever is measured. Source: "Identifying all
epsilon-best arms in linear bandits", section 5 (eq. 28 to 32, Proposition 5.4 with the compound's own error, which it
leaves out).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Floats, Ints
from .ols import Estimate

if TYPE_CHECKING:
    from scipy import sparse


_CHUNK_ENTRIES = 4_000_000
_ADDED = 200
"""Limits on unmeasured arms that are taken in at once, when they are broken."""
_BROKEN = 1e-7
"""A limit is broken when it is passed by more than this share of it."""


def least_squares_bias(fit: Estimate, measured: Ints, counts: Floats, rows: Ints, model_error: float) -> Floats:
    """How far the deviations from additivity can move each row's least-squares mean from its true one, ``(n,)``.

    L (1 + sum over measured a of N(a) |x' V^-1 a|): the largest effect of other compounds' deviations, plus the row's
    own. Exact: deviations of those signs reach it. Where a row is not estimable the number says nothing.
    """
    measured_rows = fit.features.dense(measured)
    inner = (counts[:, None] * measured_rows) @ fit.covariance
    out = np.empty(len(rows))
    step = max(1, _CHUNK_ENTRIES // max(len(measured), 1))
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        out[start : start + step] = np.abs(fit.features.dense(some) @ inner.T).sum(axis=1)
    return model_error * (1.0 + out)


def projected_means(
    fit: Estimate,
    measured: Ints,
    counts: Floats,
    means: Floats,
    rows: Ints,
    *,
    model_error: float,
    largest_mean: float = math.inf,
) -> Floats:
    """The means of rows by the projection of the measured ones onto the models that can be true (eq. 30), ``(n,)``.

    The projection minimises sum N (mu - mean)^2 over mu = a'theta + Delta, |Delta| <= ``model_error``, |mu| <=
    ``largest_mean`` of every row. For measured rows its mu is unique. For others any Delta would do: theirs is x'theta
    for the theta that fits the projected means best. ``fit`` is the least-squares fit of the same measurements.
    """
    x = fit.features.dense(measured) @ fit.basis
    others = np.setdiff1d(rows, measured)
    projected = _projection(
        x, counts, means, fit.features.dense(others) @ fit.basis, model_error=model_error, largest_mean=largest_mean
    )
    theta = fit.basis @ (fit.inverse @ (x.T @ (counts * projected)))
    out = fit.features.times(theta, rows)
    place = {int(row): i for i, row in enumerate(measured)}
    for i, row in enumerate(rows):
        if int(row) in place:
            out[i] = projected[place[int(row)]]
    return out


def _projection(
    x: Floats, counts: Floats, means: Floats, others: Floats, *, model_error: float, largest_mean: float
) -> Floats:
    """Eq. 30 for measured rows ``x`` in coordinates of full rank; ``others`` are unmeasured rows that bind theta."""
    # In units of the data, so that the solver's tolerances mean the same everywhere.
    bounded = math.isfinite(largest_mean)
    centre = 0.0 if bounded else float(counts @ means / counts.sum())
    constant = None if centre == 0.0 else np.linalg.lstsq(x, np.ones(len(x)), rcond=None)[0]
    if constant is not None and not np.allclose(x @ constant, 1.0, atol=1e-9):
        centre = 0.0
    scale = max(model_error, float(np.abs(means - centre).max()), 1e-300)
    largest = largest_mean / scale
    taken = np.zeros(0, dtype=np.intp)
    while True:
        theta, deviation = _solved(
            x, counts / counts.mean(), (means - centre) / scale, others[taken], model_error / scale, largest
        )
        if not bounded:
            break
        over = np.abs(others @ theta) - (largest + model_error / scale)
        over[taken] = -np.inf
        broken = np.flatnonzero(over > _BROKEN * largest)
        if not len(broken):
            break
        taken = np.concatenate([taken, broken[np.argsort(-over[broken], kind="stable")[:_ADDED]]])
    projected: Floats = centre + scale * (x @ theta + deviation)
    return projected


def _solved(
    x: Floats, weights: Floats, means: Floats, others: Floats, model_error: float, largest: float
) -> tuple[Floats, Floats]:
    """Theta and Delta of the weighted projection; AssayPilotError never: 0 is allowed, so there is a solution."""
    # Only this estimator needs it, and it takes time to load.
    import clarabel
    from scipy import sparse

    m, d = x.shape
    design = sparse.csc_matrix(np.hstack([x, np.eye(m)]))
    weighted = sparse.diags(np.sqrt(weights)) @ design
    quadratic = sparse.csc_matrix(sparse.triu(weighted.T @ weighted))
    linear = -np.asarray(design.T @ (weights * means))
    only_deviation = sparse.hstack([sparse.csc_matrix((m, d)), sparse.identity(m, format="csc")])
    blocks: list[sparse.sparray | sparse.spmatrix] = [only_deviation, -only_deviation]
    limits = [np.full(2 * m, model_error)]
    if math.isfinite(largest):
        only_theta = sparse.hstack([sparse.csc_matrix(others), sparse.csc_matrix((len(others), m))])
        blocks += [design, -design, only_theta, -only_theta]
        limits += [np.full(2 * m, largest), np.full(2 * len(others), largest + model_error)]
    limit = np.concatenate(limits)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    cones = [clarabel.NonnegativeConeT(len(limit))]
    solver = clarabel.DefaultSolver(quadratic, linear, sparse.vstack(blocks).tocsc(), limit, cones, settings)
    found = np.asarray(solver.solve().x)
    return found[:d], np.clip(found[d:], -model_error, model_error)
