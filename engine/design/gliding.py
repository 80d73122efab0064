"""Minimising a smooth convex function of weights on very many candidates: quasi-Newton steps of their logarithms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats

__all__ = ["Sample", "even_leverages", "glided", "same_information"]


_MEMORY = 12
"""Steps that the quasi-Newton matrix remembers."""
_SUFFICIENT = 1e-4
"""Share of the fall foreseen by the slope that a step must bring (Armijo)."""
_SHORTEST = 1e-6
_FURTHEST = 2.0
"""No weight changes by more than a factor of exp of this in a step."""
_RIDGE = 1e-6
"""Share of the average eigenvalue added to an information matrix that may be singular."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A smooth function at some weights."""

    value: float
    slope: Floats
    """The derivative by every weight."""
    enough: bool
    """Whether the weights are as good as is asked for."""


def glided(function: Callable[[Floats], Sample | None], w: Floats, limit: int) -> Floats:
    """Weights that sum to 1 and are lower on the function, after at most ``limit`` looks at it.

    ``function`` gives None where it is not defined. L-BFGS (Liu and Nocedal 1989) of z, w proportional to
    u exp(z / sqrt(u)) for the first weights u: at u the metric is that in which -log w has the Hessian 1, so that a
    plain step multiplies weights by about 1 minus their slope, and a quadratic takes as many steps as conjugate
    gradients need.
    """
    now = function(w)
    if now is None:
        return w
    root = np.sqrt(w)
    z = np.zeros(len(w))
    slope = w * (now.slope - float(w @ now.slope)) / root
    steps: list[tuple[Floats, Floats]] = []
    looks = 1
    while looks < limit and not now.enough:
        direction = -_times_inverse(steps, slope)
        fall = float(direction @ slope)
        if fall >= 0.0:
            steps.clear()
            direction, fall = -slope, -float(slope @ slope)
        if fall == 0.0:
            break
        length = min(1.0, _FURTHEST / float(np.abs(direction / root).max()))
        if not steps:
            # Weights are multiplied by 1 minus their slope over its typical size.
            length = min(length, 1.0 / max(float(w @ np.abs(now.slope)), 1e-300))
        while True:
            new_z = z + length * direction
            exponent = new_z / root
            new_w = root * root * np.exp(exponent - float(exponent.max()))
            new_w /= new_w.sum()
            new = function(new_w)
            looks += 1
            if new is not None and new.value <= now.value + _SUFFICIENT * length * fall:
                break
            length *= 0.5 if new is None else max(0.1, min(0.5, _parabola(now.value, fall * length, new.value)))
            if length < _SHORTEST or looks >= limit:
                return w
        new_slope = new_w * (new.slope - float(new_w @ new.slope)) / root
        change, turned = new_z - z, new_slope - slope
        if float(change @ turned) > 1e-10 * float(change @ change):
            steps = [*steps[1 - _MEMORY :], (change, turned)]
        z, w, slope, now = new_z, new_w, new_slope, new
    return w


def _parabola(value: float, fall: float, reached: float) -> float:
    """The share of a step at which the parabola through the value, the slope and the value reached is lowest."""
    bend = reached - value - fall
    return -fall / (2.0 * bend) if bend > 0.0 else 0.5


def _times_inverse(steps: list[tuple[Floats, Floats]], slope: Floats) -> Floats:
    """The inverse of the quasi-Newton matrix times the slope (the two loops of L-BFGS)."""
    out = slope.copy()
    shares = []
    for change, turned in reversed(steps):
        share = float(change @ out) / float(change @ turned)
        shares.append(share)
        out -= share * turned
    if steps:
        change, turned = steps[-1]
        out *= float(change @ turned) / float(turned @ turned)
    for (change, turned), share in zip(steps, reversed(shares), strict=True):
        out += (share - float(turned @ out) / float(change @ turned)) * change
    return out


def even_leverages(x: Floats, w: Floats, base: Floats | None, tolerance: float, limit: int) -> Floats:
    """Weights under which the rows ``x`` say much the same of every effect: nearly D-optimal ones.

    Ends when no leverage is above the average by more than the relative tolerance, or after ``limit`` looks. Rows that
    span less are taken with a small ridge.
    """
    d = x.shape[1]
    ridge = _RIDGE * float(np.einsum("ij,ij->", x, x)) / (len(x) * d) * np.eye(d)
    fixed = ridge if base is None else base + ridge

    def look(weights: Floats) -> Sample | None:
        try:
            factor = np.linalg.cholesky((x * weights[:, None]).T @ x + fixed)
        except np.linalg.LinAlgError:
            return None
        white = np.linalg.inv(factor) @ x.T
        leverages = np.einsum("ij,ij->j", white, white)
        value = -2.0 * float(np.log(np.diagonal(factor)).sum())
        average = float(weights @ leverages)
        return Sample(value, -leverages, bool(leverages.max() <= average * (1.0 + tolerance)))

    return glided(look, w, limit)


def same_information(
    x: Floats, w: Floats, inverse: Floats, base: Floats | None, tolerance: float, limit: int
) -> Floats:
    """Weights on the rows ``x`` whose information V(w) is close to the one whose inverse is given.

    Minimises Stein's loss tr(V(w) inverse) - log det (V(w) inverse), convex and least where they are equal. Ends when
    the eigenvalues of V(w) inverse are off 1 by no more than the tolerance (root mean square), or after so many looks.
    """
    d = x.shape[1]

    def look(weights: Floats) -> Sample | None:
        information = (x * weights[:, None]).T @ x
        if base is not None:
            information += base
        try:
            factor = np.linalg.cholesky(information)
        except np.linalg.LinAlgError:
            return None
        white = np.linalg.inv(factor)
        product = information @ inverse
        loss = float(np.trace(product)) - 2.0 * float(np.log(np.diagonal(factor)).sum())
        off = float(np.vdot(product, product.T)) - 2.0 * float(np.trace(product)) + d
        slope = np.einsum("ij,ij->i", x @ (inverse - white.T @ white), x)
        return Sample(loss, slope, bool(off <= d * tolerance**2))

    return glided(look, w, limit)
