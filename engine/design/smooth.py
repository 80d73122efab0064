"""Smooth convex functions of very many weights, minimised by L-BFGS over the logarithms of the weights.

And what makes the largest of many variances smooth: the soft maximum over all pairs of a table, or over a list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.optimize import minimize

from ..arrays import Floats, Ints
from ..models.ols import lower_factor, lower_inverse
from .criteria import square_root
from .directions import Directions
from .pairs import Pairs

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


_LISTED = 3000
"""Directions that stand for all where they are no pairs of one table, to begin with."""
_MOST_LISTED = 12_000
_MOST_ROWS = 3000
"""Rows whose pairs represent all pairs, at most."""


@dataclass(frozen=True, slots=True)
class SoftMaximum:
    """The soft maximum of some variances, sum of prior * exp(sharpness * v) under a logarithm, and its slope."""

    largest: float
    """The largest variance itself, of those evaluated."""
    value: float
    average: Floats
    """The average of y y' by the weights prior * exp(sharpness * v), ``(d, d)``: a convex combination."""


class Soft(Protocol):
    """Directions that stand for all."""

    def at(self, inverse: Floats, sharpness: float) -> SoftMaximum:
        """Return the soft maximum of y' inverse y; ``sharpness`` in units of one over a variance."""

    def heaviest(self, inverse: Floats, sharpness: float, count: int) -> tuple[Ints, Floats]:
        """Return keys of the directions of largest weight in the average, and their shares of it."""

    def take(self, keys: Ints) -> None:
        """Let directions in that turned out to matter."""


def softened(directions: Directions, inverse: Floats, rows: Ints, weights: Floats) -> Soft:
    """Return directions that stand for all: pairs of some rows of a table where they are pairs, else the largest found.

    ``rows`` and ``weights``: rows of the table of pairs that together inform about every effect about as all do.
    """
    if isinstance(directions, Pairs):
        return _SoftPairs(directions.table.coordinates, rows, weights)
    return _SoftList(directions, directions.find(inverse, _LISTED)[0])


class _SoftPairs:
    """All pairs of some rows of a table, never listed; a pair's prior is the product of its rows' weights."""

    def __init__(self, coordinates: Callable[[Ints], Floats], rows: Ints, weights: Floats) -> None:
        self._coordinates, self._rows = coordinates, rows
        self._z = coordinates(rows)
        self._log_prior = np.log(weights / weights.sum())

    def at(self, inverse: Floats, sharpness: float) -> SoftMaximum:
        """Return the soft maximum over the pairs, in O(m^2 d) for m rows."""
        z = self._z
        weights, largest = self._weights(inverse, sharpness)
        each = (weights.sum(axis=0) + weights.sum(axis=1)) / 2.0
        total = float(each.sum())
        average = (z * each[:, None]).T @ z - z.T @ (weights @ z)
        average = (average + average.T) / total
        return SoftMaximum(largest, largest + float(np.log(total)) / sharpness, average)

    def _weights(self, inverse: Floats, sharpness: float) -> tuple[Floats, float]:
        """Of every row against every other, prior * exp(sharpness * (v - largest)), and the largest v."""
        z = self._z
        # Weights may be rough, in single precision: any do, as long as the average is by just these.
        u = (z @ square_root(inverse)).astype(np.float32)
        lengths = np.einsum("ij,ij->i", u, u)
        rough = u @ u.T
        rough *= -2.0
        rough += lengths
        rough += lengths[:, None]
        largest = float(rough.max())
        rough -= np.float32(largest)
        rough *= np.float32(sharpness)
        prior = self._log_prior.astype(np.float32)
        rough += prior
        rough += prior[:, None]
        np.exp(rough, out=rough)
        np.fill_diagonal(rough, 0.0)
        return rough.astype(float), largest

    def heaviest(self, inverse: Floats, sharpness: float, count: int) -> tuple[Ints, Floats]:
        """Return the pairs of largest weight, the lower position first, and their shares."""
        weights = np.triu(self._weights(inverse, sharpness)[0], 1)
        first, second, shares = _heaviest(weights, count)
        return np.sort(np.column_stack([self._rows[first], self._rows[second]]), axis=1), shares

    def take(self, keys: Ints) -> None:
        """Let the rows of the pairs in, with the weight of an average row."""
        new = np.setdiff1d(keys, self._rows)[: max(_MOST_ROWS - len(self._rows), 0)]
        if not len(new):
            return
        self._rows = np.concatenate([self._rows, new])
        self._z = np.concatenate([self._z, self._coordinates(new)])
        weights = np.concatenate([np.exp(self._log_prior), np.full(len(new), 1.0 / len(self._rows))])
        self._log_prior = np.log(weights / weights.sum())


class _SoftList:
    """Directions one by one, all of one prior."""

    def __init__(self, directions: Directions, keys: Ints) -> None:
        self._directions = directions
        self._have: set[tuple[int, ...]] = set()
        self._y = np.zeros((0, directions.dimension))
        self._keys = keys[:0]
        self.take(keys)

    def at(self, inverse: Floats, sharpness: float) -> SoftMaximum:
        """Return the soft maximum over the directions."""
        y = self._y
        seen = y @ square_root(inverse)
        variances = np.einsum("ij,ij->i", seen, seen)
        largest = float(variances.max())
        weights = np.exp(sharpness * (variances - largest))
        total = float(weights.sum())
        average = (y * (weights / total)[:, None]).T @ y
        return SoftMaximum(largest, largest + float(np.log(total / len(y))) / sharpness, (average + average.T) / 2.0)

    def take(self, keys: Ints) -> None:
        """Let the directions in that are not there."""
        names = [tuple(key) for key in keys.tolist()]
        new = [i for i, name in enumerate(names) if name not in self._have][: max(_MOST_LISTED - len(self._y), 0)]
        if new:
            self._have.update(names[i] for i in new)
            self._y = np.concatenate([self._y, self._directions.vectors(keys[new])])
            self._keys = np.concatenate([self._keys, keys[new]])

    def heaviest(self, inverse: Floats, sharpness: float, count: int) -> tuple[Ints, Floats]:
        """Return the directions of largest weight, and their shares."""
        seen = self._y @ square_root(inverse)
        variances = np.einsum("ij,ij->i", seen, seen)
        _, places, shares = _heaviest(np.exp(sharpness * (variances - float(variances.max())))[None, :], count)
        return self._keys[places], shares


def _heaviest(weights: Floats, count: int) -> tuple[Ints, Ints, Floats]:
    """Return rows and columns of the largest positive entries, and these as shares of all."""
    flat = weights.ravel()
    places = np.argpartition(-flat, count)[:count] if count < len(flat) else np.arange(len(flat))
    places = places[flat[places] > 0.0]
    first, second = np.unravel_index(places, weights.shape)
    return first.astype(np.intp), second.astype(np.intp), flat[places] / float(flat.sum())
