"""Whole products of sites: optimal designs in closed form, without a list of the compounds.

They rest on orthogonal arrays: few rows of a product of sites in which every pair of substituents is equally frequent.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures, SiteFeatures
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from .criteria import Design, Shares
from .largest_sum import largest_quadratic

Codes = NDArray[np.int32]

_LARGEST_FIELD = 1024
"""Elements of a field that is not the whole numbers modulo a prime: its table of products is searched for."""
_MOST_ROWS = 2_000_000
"""Compounds of the largest design."""
_MOST_EFFECTS = 6_000
"""Effects up to which an information matrix is inverted."""
_ATTEMPTS = 4
"""Designs of fewer compounds that are tried before the exact one."""
_RAKING = 50
_STRIP = 256
_SINGULAR = 1e-10


def _prime_powers(size: int) -> dict[int, int]:
    out: dict[int, int] = {}
    rest, p = size, 2
    while p * p <= rest:
        while rest % p == 0:
            out[p] = out.get(p, 0) + 1
            rest //= p
        p += 1
    if rest > 1:
        out[rest] = out.get(rest, 0) + 1
    return out


@dataclass(frozen=True, slots=True)
class _Part:
    """What the sites whose size a prime p divides share: vectors of ``length`` over a field of p^``field``.

    Every combination of their parts instead, one digit after the other, where those are no more (``length`` 0).
    """

    p: int
    field: int
    length: int
    exponents: dict[int, int]

    @property
    def rows(self) -> int:
        return int(self.p ** (self.field * self.length if self.length else sum(self.exponents.values())))


def _plan(sizes: tuple[int, ...]) -> list[_Part]:
    of_site = [_prime_powers(size) for size in sizes]
    out = []
    for p in sorted({p for powers in of_site for p in powers}):
        exponents = {site: powers[p] for site, powers in enumerate(of_site) if p in powers}
        field, length = max(exponents.values()), 1
        q = p**field
        # One direction per site, no two of them parallel: there are (q^length - 1) / (q - 1).
        while (q**length - 1) // (q - 1) < len(exponents):
            length += 1
        out.append(_Part(p, field, length if field * length < sum(exponents.values()) else 0, exponents))
    return out


def _directions(q: int, length: int, count: int) -> list[tuple[int, ...]]:
    """The first ``count`` vectors over a field of q elements whose first entry other than 0 is 1, short ones first."""
    out: list[tuple[int, ...]] = []
    for first in range(length):
        for rest in itertools.product(range(q), repeat=first):
            if len(out) == count:
                return out
            out.append((0,) * (length - first - 1) + (1, *rest))
    return out


def orthogonal_rows(sizes: tuple[int, ...]) -> int | None:
    """How many rows ``orthogonal_array`` has for these sites; None when its field would be too large."""
    rows = 1
    for part in _plan(sizes):
        if part.field > 1 and part.length > 1 and part.p**part.field > _LARGEST_FIELD:
            return None
        rows *= part.rows
    return rows


def _times(p: int, exponent: int) -> NDArray[np.int64]:
    """The table of products of the field of p^exponent elements, written as numbers of base p."""
    q = p**exponent
    if exponent == 1:
        return np.outer(np.arange(q), np.arange(q)) % p
    digits = (np.arange(q)[:, None] // p ** np.arange(exponent)) % p
    for polynomial in range(1, q):
        tail = digits[polynomial]
        # Rows of t^k * x for every x, where t^exponent = -tail: t shifts the digits and folds the highest back.
        shifted = [digits]
        for _ in range(exponent - 1):
            last = shifted[-1]
            moved = np.concatenate([np.zeros((q, 1), dtype=last.dtype), last[:, :-1]], axis=1)
            shifted.append((moved - last[:, -1:] * tail) % p)
        products = sum(digits[:, k, None, None] * shifted[k][None] for k in range(exponent)) % p
        table: NDArray[np.int64] = products @ p ** np.arange(exponent)
        if not (table[1:, 1:] == 0).any():
            return table
    raise AssertionError("every prime power has a field")


def _plus(left: NDArray[np.int64], right: NDArray[np.int64], p: int, exponent: int) -> NDArray[np.int64]:
    if exponent == 1:
        return (left + right) % p
    out = np.zeros_like(left)
    for k in range(exponent):
        out += (left // p**k + right // p**k) % p * p**k
    return out


def orthogonal_array(sizes: tuple[int, ...]) -> Codes:
    """Rows ``(m, n_sites)`` of strength two: every pair of substituents of two sites is equally frequent.

    For each prime p, every site it divides takes a linear form of its own over the vectors of a field of p^E elements
    (Rao 1947, Bush 1952), kept to as many digits as the site's size has. By the Chinese remainder the primes' parts
    are independent, so m is the product of their numbers of vectors.
    """
    codes = [np.zeros(1, dtype=np.int64) for _ in sizes]
    for part in _plan(sizes):
        p, q = part.p, part.p**part.field
        new = [np.zeros(part.rows, dtype=np.int64) for _ in sizes]
        if not part.length:
            rest = np.arange(part.rows)
            for site, exponent in part.exponents.items():
                new[site], rest = rest % p**exponent, rest // p**exponent
            _append(codes, new, part)
            continue
        vectors = [np.arange(part.rows) // q**k % q for k in range(part.length)]
        directions = _directions(q, part.length, len(part.exponents))
        table = _times(p, part.field) if max(map(max, directions)) > 1 else None
        for (site, exponent), direction in zip(part.exponents.items(), directions, strict=True):
            symbol = np.zeros(part.rows, dtype=np.int64)
            for factor, x in zip(direction, vectors, strict=True):
                if factor:
                    symbol = _plus(symbol, x if table is None or factor == 1 else table[factor][x], p, part.field)
            new[site] = symbol % p**exponent
        _append(codes, new, part)
    return np.column_stack(codes).astype(np.int32)


def _append(codes: list[NDArray[np.int64]], new: list[NDArray[np.int64]], part: _Part) -> None:
    """Every row so far with every row of another prime's part."""
    for site in range(len(codes)):
        scale = part.p ** part.exponents.get(site, 0)
        codes[site] = np.repeat(codes[site], part.rows) * scale + np.tile(new[site], len(codes[site]))


def parallel_classes(sizes: tuple[int, ...], classes: int) -> Codes:
    """Rows in ``classes`` classes, each with every substituent of every site about equally often, pairs nearly so.

    Over the least prime q that is enough: class y has the rows x + a y (mod q) for all x, at site a, scaled down to the
    sizes. Which y is fixed but without pattern, since in regular ones the unevenness of pairs adds up.
    """
    q = class_rows(sizes)
    y = np.sort(np.random.default_rng(1).permutation(q)[:classes])
    x = np.tile(np.arange(q), len(y))
    y = np.repeat(y, q)
    return np.column_stack([(x + a * y) % q * size // q for a, size in enumerate(sizes)]).astype(np.int32)


def class_rows(sizes: tuple[int, ...]) -> int:
    """How many rows a class of ``parallel_classes`` has: the least prime not below any size or the number of sites."""
    q = max(max(sizes), len(sizes), 2)
    while any(q % p == 0 for p in range(2, int(q**0.5) + 1)):
        q += 1
    return q


@dataclass(frozen=True, slots=True)
class Product:
    """Every combination of one substituent per site; a compound's position counts the last site fastest."""

    sizes: tuple[int, ...]
    """The substituents of each site."""

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1:
            raise AssayPilotError("a product needs at least one site, and each site at least one substituent")
        if self.n_rows > np.iinfo(np.int64).max:
            raise AssayPilotError("a product of more than 9e18 compounds is too large to number them")

    @property
    def n_rows(self) -> int:
        """How many compounds."""
        return math.prod(self.sizes)

    @property
    def rank(self) -> int:
        """How many effects: 1 + sum(l_n - 1)."""
        return 1 + sum(size - 1 for size in self.sizes)

    def codes(self, positions: Ints) -> NDArray[np.int32]:
        """The substituents of the compounds at the positions, ``(m, n_sites)``."""
        return np.column_stack(np.unravel_index(positions, self.sizes)).astype(np.int32)

    def positions(self, codes: NDArray[np.integer]) -> Ints:
        """The positions of compounds, ``(m,)``."""
        places: Ints = np.ravel_multi_index(tuple(codes.T.astype(np.intp)), self.sizes).astype(np.intp)
        return places

    def listed(self) -> ProjectedFeatures:
        """All compounds as rows; for products small enough."""
        return ProjectedFeatures(SiteFeatures(self.codes(np.arange(self.n_rows)), self.sizes))

    def worst(self, support: Ints, weights: Floats) -> float | None:
        """The largest x'V(w)^-1x over all compounds, or what is proven of it; None when V is singular."""
        features = SiteFeatures(self.codes(support), self.sizes)
        total = features.gram(weights)
        # Each site's first substituent is the reference: coordinates of full rank.
        first = 1 + np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        kept = np.setdiff1d(np.arange(features.n_columns), first)
        reduced = np.asfortranarray(total[np.ix_(kept, kept)])
        del total
        scale = np.sqrt(np.diagonal(reduced))
        if scale.min() <= 0:
            return None
        reduced /= scale
        reduced /= scale[:, None]
        # In place: with thousands of effects every copy counts.
        reduced, failed = lapack.dpotrf(reduced, lower=1, clean=1, overwrite_a=1)
        if failed or np.diagonal(reduced).min() ** 2 <= _SINGULAR:
            return None
        reduced, failed = lapack.dpotri(reduced, lower=1, overwrite_c=1)
        if failed:
            return None
        reduced /= scale
        reduced /= scale[:, None]
        inverse = np.zeros((features.n_columns,) * 2)
        inverse[np.ix_(kept, kept)] = reduced
        del reduced
        # Only the part below the diagonal was computed; the diagonal must not count twice.
        inverse.ravel()[:: features.n_columns + 1] /= 2.0
        for begin in range(0, features.n_columns, _STRIP):
            strip = slice(begin, begin + _STRIP)
            whole = inverse[strip, begin:].T + inverse[begin:, strip]
            inverse[begin:, strip] = whole
            inverse[strip, begin:] = whole.T
        return max(largest_quadratic(inverse, self.sizes).bound, float(self.rank))


def recognised(candidates: ProjectedFeatures) -> tuple[tuple[int, ...], Ints] | None:
    """The sizes of the whole product that the candidates are, and the row of each of its positions; else None.

    Substituents that none of the candidates carry do not count; equal rows do not matter.
    """
    features = candidates.features
    if not isinstance(features, SiteFeatures) or not features.sizes or not candidates.n_rows:
        return None
    codes = features.codes[candidates.rows]
    dense = np.empty_like(codes)
    sizes = []
    for site, size in enumerate(features.sizes):
        seen = np.bincount(codes[:, site], minlength=size) > 0
        dense[:, site] = (np.cumsum(seen) - 1)[codes[:, site]]
        sizes.append(int(seen.sum()))
        if math.prod(sizes) > len(codes):
            return None
    row_of = np.full(math.prod(sizes), -1, dtype=np.intp)
    places = np.ravel_multi_index(tuple(dense.T.astype(np.intp)), tuple(sizes))
    # The first of equal rows stands for them.
    row_of[places[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return None if row_of.min() < 0 else (tuple(sizes), row_of)


def orthogonal_start(sizes: tuple[int, ...], row_of: Ints) -> Shares | None:
    """The optimal design of a whole product on the rows of an orthogonal array; None when there is no small one."""
    rows = orthogonal_rows(sizes)
    effects = 1 + sum(size - 1 for size in sizes)
    if rows is None or rows > max(effects * (effects + 1) // 2, 4 * effects):
        return None
    product = Product(sizes)
    return Shares(row_of[product.positions(orthogonal_array(sizes))], np.full(rows, 1.0 / rows))


def product_design(product: Product, *, gap: float, max_support: int | None = None, report: Report = silent) -> Design:
    """A G-optimal design of a product too large to list, with its certificate over every compound.

    With every pair of substituents equally frequent all variances equal the rank, which is the optimum
    (Kiefer and Wolfowitz 1960); an orthogonal array does that on few compounds. Where a larger ``gap`` is allowed, or
    fewer compounds are asked for, part of an array does it nearly, and the largest variance is found over the sites.
    Raises AssayPilotError when no design of that size is known.
    """
    begun = time.perf_counter()
    report(0.0, "looking for a balanced design")
    d = product.rank
    exact = orthogonal_rows(product.sizes)
    most = min(_MOST_ROWS, product.n_rows) if max_support is None else max_support
    if most < d:
        raise AssayPilotError(
            f"{most:,} compounds are too few to estimate every effect", mend=f"Allow at least {d:,} compounds."
        )
    best: tuple[float, Shares] | None = None
    per_class = class_rows(product.sizes)
    sites = len(product.sizes)
    # The loss falls with the number of classes, about half the ordered pairs of sites over it.
    classes = math.ceil(0.5 * sites * (sites - 1) / gap) if max_support is None else most // per_class
    looks = 0
    if d <= _MOST_EFFECTS and sites > 1:
        for attempt in range(_ATTEMPTS):
            size = min(classes, most // per_class, per_class)
            if size < 1 or (exact is not None and exact <= most and size * per_class > 0.8 * exact):
                break
            report(0.1 + 0.2 * attempt, f"trying a design on {size * per_class:,} compounds")
            shares = _raked(product, parallel_classes(product.sizes, size))
            worst = product.worst(shares.support, shares.weights)
            looks += 1
            if worst is not None and (best is None or worst < best[0]):
                best = worst, shares
            if (worst is not None and worst <= d * (1.0 + gap)) or max_support is not None:
                break
            classes = math.ceil(1.3 * size * max(1.0, min(3.0, 3.0 if worst is None else (worst / d - 1.0) / gap)))
    reached = best is not None and best[0] <= d * (1.0 + gap)
    if not reached and exact is not None and exact <= most:
        codes = orthogonal_array(product.sizes)
        _check_balanced(codes, product.sizes)
        best = float(d), Shares(product.positions(codes), np.full(exact, 1.0 / exact))
        looks += 1
    if best is None:
        needed = sites * per_class if exact is None else min(exact, sites * per_class)
        raise AssayPilotError(
            f"no design of at most {most:,} compounds is known for this product of {product.n_rows:,}",
            mend=f"Allow {max(needed, most + per_class):,} compounds or more, or list the compounds that matter.",
        )
    value, shares = best
    order = np.argsort(shares.support, kind="stable")
    report(1.0, "design ready")
    return Design(
        criterion="g",
        support=shares.support[order],
        weights=shares.weights[order],
        value=value,
        lower_bound=float(d),
        converged=bool(value <= d * (1.0 + gap)),
        iterations=looks,
        seconds=time.perf_counter() - begun,
        gap=value / d - 1.0,
    )


def _raked(product: Product, codes: NDArray[np.int32]) -> Shares:
    """Weights on distinct rows with every substituent of a site equally frequent (iterative proportional fitting)."""
    positions, counts = np.unique(product.positions(codes), return_counts=True)
    codes = product.codes(positions)
    w = counts / counts.sum()
    for _ in range(_RAKING):
        off = 0.0
        for site, size in enumerate(product.sizes):
            share = np.bincount(codes[:, site], w, size)
            if share.min() <= 0:
                break
            off = max(off, float(np.abs(share * size - 1.0).max()))
            w = w / (size * share)[codes[:, site]]
        if off < 1e-12:
            break
    return Shares(positions.astype(np.intp), w / w.sum())


def _check_balanced(codes: NDArray[np.int32], sizes: tuple[int, ...]) -> None:
    """Every pair of substituents of two sites is equally frequent: counted, since the certificate rests on it."""
    for b in range(len(sizes)):
        for a in range(b + 1):
            pairs = codes[:, a].astype(np.intp) * sizes[b] + codes[:, b]
            counts = np.bincount(pairs, minlength=sizes[a] * sizes[b])
            wanted = len(codes) // (sizes[a] if a == b else sizes[a] * sizes[b])
            if (counts[counts > 0] != wanted).any() or np.count_nonzero(counts) * wanted != len(codes):
                raise AssertionError("an orthogonal array is not balanced")
