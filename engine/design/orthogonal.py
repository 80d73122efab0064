"""Orthogonal arrays: few rows of a product of sites in which every pair of substituents is equally frequent."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["class_rows", "orthogonal_array", "orthogonal_rows", "parallel_classes"]

Codes = NDArray[np.int32]

_LARGEST_FIELD = 1024
"""Elements of a field that is not the whole numbers modulo a prime: its table of products is searched for."""


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
