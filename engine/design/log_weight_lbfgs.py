"""Smooth convex functions of very many weights, minimised by L-BFGS over the logarithms of the weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..arrays import Floats
from ..models.ols import lower_factor, lower_inverse

_MEMORY = 12
"""Steps that the quasi-Newton matrix remembers."""
_RIDGE = 1e-6
"""Share of the average eigenvalue added to an information matrix that may be singular."""
_BEYOND = 1e3
"""Substitute for a value where the function is not defined: so many times the first one, in size."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A smooth function at some weights."""

    value: float
    slope: Floats
    """The derivative by every weight."""
    enough: bool
    """Whether the weights are as good as requested."""


def minimised(function: Callable[[Floats], Sample | None], w: Floats, limit: int) -> Floats:
    """Return weights that sum to 1 and are lower on the function, after about ``limit`` looks at it.

    ``function`` gives None where it is not defined. The unknowns are z, w proportional to u exp(z / sqrt(u)) for the
    first weights u. In this metric -log w has the Hessian 1 at u, so a plain step multiplies weights by about 1 minus
    their slope. A quadratic takes as many steps as conjugate gradients need.
    """
    first = function(w)
    if first is None or first.enough:
        return w
    root = np.sqrt(w)
    best, last = (first.value, w), first

    def weights(z: Floats) -> Floats:
        exponent = z / root
        grown = w * np.exp(exponent - float(exponent.max()))
        found: Floats = grown / grown.sum()
        return found

    def look(z: Any) -> tuple[float, Floats]:
        nonlocal best, last
        if not z.any():
            now, there = first, w
        else:
            there = weights(z)
            found = function(there)
            if found is None:
                return first.value + _BEYOND * (1.0 + abs(first.value)), np.zeros(len(z))
            now = found
        last = now
        if now.value < best[0]:
            best = now.value, there
        slope: Floats = there * (now.slope - float(there @ now.slope)) / root
        return now.value, slope

    def stop(xk: Floats) -> None:
        if last.enough:
            raise StopIteration

    minimize(
        look,
        np.zeros(len(w)),
        jac=True,
        method="L-BFGS-B",
        callback=stop,
        options={"maxcor": _MEMORY, "maxfun": limit - 1, "maxiter": limit, "ftol": 0.0, "gtol": 0.0},
    )
    return best[1]


def even_leverages(x: Floats, w: Floats, base: Floats | None, tolerance: float, limit: int) -> Floats:
    """Return weights under which the rows ``x`` estimate every effect about equally well: nearly D-optimal ones.

    Ends when no leverage is above the average by more than the relative tolerance, or after ``limit`` looks. Rows that
    span less are taken with a small ridge.
    """
    d = x.shape[1]
    ridge = _RIDGE * float(np.einsum("ij,ij->", x, x)) / (len(x) * d) * np.eye(d)
    fixed = ridge if base is None else base + ridge

    def look(weights: Floats) -> Sample | None:
        try:
            factor = lower_factor((x * weights[:, None]).T @ x + fixed)
        except np.linalg.LinAlgError:
            return None
        white = lower_inverse(factor) @ x.T
        leverages = np.einsum("ij,ij->j", white, white)
        value = -2.0 * float(np.log(np.diagonal(factor)).sum())
        average = float(weights @ leverages)
        return Sample(value, -leverages, bool(leverages.max() <= average * (1.0 + tolerance)))

    return minimised(look, w, limit)


def same_information(
    x: Floats, w: Floats, inverse: Floats, base: Floats | None, tolerance: float, limit: int
) -> Floats:
    """Return weights on the rows ``x`` whose information V(w) is close to the one whose inverse is given.

    Minimises Stein's loss tr(V(w) inverse) - log det (V(w) inverse), convex and least where they are equal. Ends when
    the eigenvalues of V(w) inverse are off 1 by no more than the tolerance (root mean square), or after so many looks.
    """
    d = x.shape[1]

    def look(weights: Floats) -> Sample | None:
        information = (x * weights[:, None]).T @ x
        if base is not None:
            information += base
        try:
            factor = lower_factor(information)
        except np.linalg.LinAlgError:
            return None
        white = lower_inverse(factor)
        product = information @ inverse
        loss = float(np.trace(product)) - 2.0 * float(np.log(np.diagonal(factor)).sum())
        off = float(np.vdot(product, product.T)) - 2.0 * float(np.trace(product)) + d
        slope = np.einsum("ij,ij->i", x @ (inverse - white.T @ white), x)
        return Sample(loss, slope, bool(off <= d * tolerance**2))

    return minimised(look, w, limit)
