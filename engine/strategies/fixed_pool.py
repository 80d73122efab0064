"""Shared parts of baselines that pool all measurements: sums that a file can keep, and the fit they give."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..domain.elimination import RANK_TOLERANCE
from ..domain.features import OUTSIDE_TOLERANCE, Features
from ..domain.goals import AllEpsilonBest, ParetoSet, dominated
from .protocol import Arrays, Decision, Outcome, Problem, State


def empty_sums(problem: Problem) -> Arrays:
    """Return sums of no measurements: V ``(n_endpoints, c, c)`` and that of values times rows ``(n_endpoints, c)``."""
    c, m = problem.features.n_columns, problem.n_endpoints
    return {"information": np.zeros((m, c, c)), "moment": np.zeros((m, c))}


def absorbed(memory: Arrays, problem: Problem, outcome: Outcome) -> dict[str, Floats]:
    """Return the sums with this phase's measurements."""
    information, moment = memory["information"].copy(), memory["moment"].copy()
    for endpoint, (counts, means) in enumerate(zip(outcome.counts, outcome.means, strict=True)):
        rows = np.flatnonzero(counts > 0)
        if len(rows):
            information[endpoint] += problem.features.gram(counts[rows], rows)
            moment[endpoint] += problem.features.moment(counts[rows] * means[rows], rows)
    return {"information": information, "moment": moment}


@dataclass(frozen=True, slots=True)
class Fit:
    """Least squares from sums: estimates, and how well rows and their differences are known."""

    features: Features
    basis: Floats
    """``(c, r)``, spans what was measured."""
    root: Floats
    """``(c, r)``, F with F F' a pseudo-inverse of V: ||F'y|| is the standard error of y at a noise SD of 1."""
    theta: Floats

    def means(self, rows: Ints) -> Floats:
        """Return the mean of each row; only the part of it that was measured where it is not estimable."""
        return self.features.times(self.theta, rows)

    def points(self, rows: Ints) -> Floats:
        """Return F'x of each row ``(m, r)``; distances between them are standard errors of differences."""
        return self.features.dense(rows) @ self.root

    def half_norms(self, rows: Ints) -> Floats:
        """Return ||x||_{V^-1}; infinite where not estimable."""
        identity = np.eye(self.features.n_columns)
        outside = self.features.quadratic(identity - self.basis @ self.basis.T, rows)
        known = outside <= OUTSIDE_TOLERANCE**2 * self.features.quadratic(identity, rows)
        squares = self.features.quadratic(self.root @ self.root.T, rows)
        return np.where(known, np.sqrt(np.maximum(squares, 0.0)), math.inf)

    def difference_norm(self, rows: Ints, other: int) -> Floats:
        """Return ||x - x_other||_{V^-1} of each row; infinite where that difference is not estimable."""
        away = self.features.dense(rows) - self.features.dense(np.array([other]))
        rest = away - (away @ self.basis) @ self.basis.T
        # A difference is estimable where what was measured spans it, even if it spans neither row.
        scale = np.maximum(np.einsum("ij,ij->i", away, away), 1e-300)
        known = np.einsum("ij,ij->i", rest, rest) <= OUTSIDE_TOLERANCE**2 * scale
        seen = away @ self.root
        return np.where(known, np.sqrt(np.einsum("ij,ij->i", seen, seen)), math.inf)


def fitted(features: Features, information: Floats, moment: Floats) -> Fit:
    """Return the least-squares fit of one endpoint's sums; nothing measured gives a fit of rank 0."""
    scale = np.sqrt(np.diagonal(information))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(information / scale / scale[:, None])
    kept = values > RANK_TOLERANCE * max(float(values[-1]), 1e-300)
    if values[-1] <= 0:
        kept[:] = False
    basis = np.linalg.qr(scale[:, None] * vectors[:, kept])[0] if kept.any() else np.zeros((len(scale), 0))
    inner = basis.T @ information @ basis
    half = np.linalg.cholesky(np.linalg.inv(inner)) if kept.any() else inner
    root = basis @ half
    return Fit(features, basis, root, root @ (root.T @ moment))


def best_guess(problem: Problem, means: Floats, rows: Ints) -> Flags:
    """Return which of the rows an estimate ``(n_endpoints, len(rows))`` calls members; of the best exactly one."""
    if problem.goal.name == "best":
        chosen = np.zeros(len(rows), dtype=bool)
        chosen[int(np.argmax(means[0]))] = True
        return chosen
    if isinstance(problem.goal, ParetoSet):
        return ~dominated(means)
    assert isinstance(problem.goal, AllEpsilonBest)
    return problem.goal.members(means[0])


def decided(
    state: State,
    outcome: Outcome,
    *,
    ins: Ints,
    outs: Ints,
    rows: Ints,
    estimate: Floats,
    half: Floats,
    numbers: dict[str, float],
    memory: Arrays,
    leave: bool = False,
) -> Decision:
    """Return a decision on the rows, with estimates and half-widths ``(n_endpoints, len(rows))`` of them.

    ``leave``: whether those that are in are not measured any more.
    """
    shown = np.full((3, state.problem.n_endpoints, state.problem.n_arms), np.nan)
    known = np.isfinite(estimate)
    mean = np.where(known, estimate, 0.0)
    shown[0][:, rows] = estimate
    shown[1][:, rows] = np.where(known, mean - half, -np.inf)
    shown[2][:, rows] = np.where(known, mean + half, np.inf)
    left = ins if leave else ins[:0]
    return Decision.after(state, outcome, shown, ins=ins, outs=outs, left=left, numbers=numbers, memory=memory)
