"""Designs and the geometry of measurements, remembered by content: the same question is solved once.

A simulation needs the same first design in every run, and a campaign that is opened again needs those it needed
before. Everything here depends on tables, rows, counts and options alone, never on values, so what is remembered is
what would be computed, to the last bit. Bounded in memory; safe to use from several threads.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats, Ints
from ..design import Design, Pairs, g_optimal, xy_optimal
from ..domain.features import (
    DenseFeatures,
    Features,
    ProjectedFeatures,
    SiteFeatures,
    outside_span,
    span_basis,
    span_rank,
)
from ..models.ols import Estimate, least_squares
from ..system.progress import Report, silent
from .protocol import Problem

_Held = TypeVar("_Held")

_MOST_BYTES = 64_000_000
"""Limit of the cache in bytes; anything above a quarter of it is not kept at all."""


_KEY = 2000
"""About what a key takes at most."""
_SOONER = 2000
"""Entries of the rows up to which their norms are computed sooner than found."""


class Plan(NamedTuple):
    """A design and the rows its support counts in."""

    candidates: ProjectedFeatures
    design: Design


class Memo:
    """Values by key, the least recently used forgotten first, up to a number of bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[Any, ...], tuple[Any, int]] = OrderedDict()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """About how much memory the values take."""
        return self._bytes

    def get(self, key: tuple[Any, ...], make: Callable[[], _Held], size: int) -> _Held:
        """Return the value of a key, made when it is not known; ``size`` in bytes, about."""
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
                value: _Held = found[0]
                return value
        # Made without the lock: two threads may make the same, and it is the same.
        made = make()
        size += _KEY
        if 4 * size <= self._most:
            with self._lock:
                if key not in self._held:
                    self._held[key] = made, size
                    self._bytes += size
                while self._bytes > self._most:
                    _, (_, freed) = self._held.popitem(last=False)
                    self._bytes -= freed
        return made

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._held.clear()
            self._bytes = 0


_MEMO = Memo(_MOST_BYTES)
_DIGESTS: WeakKeyDictionary[Features, bytes] = WeakKeyDictionary()
_DIGESTS_LOCK = threading.Lock()


def clear() -> None:
    """Forget everything (for measurements of time)."""
    _MEMO.clear()


def table(features: Features, rows: Ints, span: Ints | None = None) -> ProjectedFeatures:
    """Return rows of a table in coordinates of their span, or of the span of other rows (they should be in it)."""
    # At most: the coordinates may be kept, and the features are kept alive.
    size = _bytes(features) + 8 * len(rows) * (features.n_columns + 1) + 8 * features.n_columns**2

    def make() -> ProjectedFeatures:
        return ProjectedFeatures(features, rows, None if span is None else table(features, span).basis)

    return remembered("table", features, (rows, span), size, make)


class Designer:
    """An optimal design over rows of a table, made once for the same table, rows and options."""

    def __init__(self, criterion: str, make: Callable[..., Design]) -> None:
        self._criterion, self._make = criterion, make

    def __call__(
        self,
        features: Features,
        rows: Ints,
        targets: Ints | None = None,
        *,
        span: Ints | None = None,
        gap: float = 1e-3,
        upper: float | None = None,
        max_support: int | None = None,
        report: Report = silent,
    ) -> Plan:
        """Return the design; its support counts in ``rows``.

        ``targets``: rows that it is for (None: ``rows``); they must lie in the span. ``span``: rows that span the
        coordinates, when ``rows`` are more than these. Arrays of the design are not to be written to.
        """
        candidates = table(features, rows, span)

        def make() -> Design:
            wanted = None if targets is None else table(features, targets, rows if span is None else span)
            design = self._make(
                candidates, targets=wanted, gap=gap, upper=upper, max_support=max_support, report=report
            )
            design.support.flags.writeable = False
            design.weights.flags.writeable = False
            return design

        parts = (gap, rows, targets, span, upper, max_support)
        design = remembered(self._criterion, features, parts, 16 * features.n_columns**2, make)
        # The observer receives a remembered one, and may stop it, too.
        report(1.0, "design ready")
        return Plan(candidates, design)


def _of_means(candidates: ProjectedFeatures, **options: Any) -> Design:
    return g_optimal(candidates, **options)


def _of_differences(candidates: ProjectedFeatures, *, targets: ProjectedFeatures | None, **options: Any) -> Design:
    return xy_optimal(candidates, Pairs(candidates if targets is None else targets), **options)


g_design = Designer("g", _of_means)
"""The G-optimal design, see ``design.g_optimal``; of the targets ``value`` reports the worst variance."""
xy_design = Designer("xy", _of_differences)
"""The XY-optimal design for all differences of the targets; ``design.xy_optimal`` documents what is refused."""


def in_question(problem: Problem) -> tuple[int, int]:
    """Return how many wanted arms can be estimated, and the dimension of their means."""
    features, wanted = problem.features, np.flatnonzero(problem.wanted)
    inside = wanted[~outside_span(features, span_basis(features, np.flatnonzero(problem.measurable)), wanted)]
    return len(inside), span_rank(features, inside)


def remembered(
    name: str, features: Features, parts: tuple[ArrayLike | None, ...], size: int, make: Callable[[], _Held]
) -> _Held:
    """Return what ``make`` gives, from memory when it was made before for this table and these parts.

    ``name`` is the kind of design; ``parts`` are all that it depends on besides the table; ``size`` in bytes, about.
    """
    known = _digest(features)
    return make() if known is None else _MEMO.get((name, known, *map(_content, parts)), make, size)


def fit(features: Features, measured: Ints, counts: Floats, means: Floats) -> Estimate:
    """``least_squares``; for the same measurements only what depends on the values is computed again."""
    return _geometry(features, measured, counts).of_values(means)


def fit_norms(features: Features, measured: Ints, counts: Floats, rows: Ints, fitted: Estimate | None = None) -> Floats:
    """Return ||x||_{V^-1} of rows for V of these measurements; infinite outside their span. Not to be written to.

    ``fitted``: a fit of these measurements, where there is one.
    """

    def make() -> Floats:
        norms = (_geometry(features, measured, counts) if fitted is None else fitted).half_norms(rows)
        norms.flags.writeable = False
        return norms

    if len(rows) * features.n_columns <= _SOONER:
        return make()
    return remembered("norms", features, (measured, counts, rows), 8 * len(rows), make)


def estimated(features: Features, measured: Ints, counts: Floats, means: Floats, rows: Ints) -> tuple[Floats, Floats]:
    """Return the least-squares means of rows, and their norms as ``fit_norms`` gives them.

    ``means`` ``(m,)`` of the measured rows, or of several endpoints ``(m, k)``: then so are the means found.
    """
    if saturated(features, measured, rows):
        return means, 1.0 / np.sqrt(counts)
    found = fit(features, measured, counts, means)
    return found.means(rows), fit_norms(features, measured, counts, rows, found)


def saturated(features: Features, measured: Ints, rows: Ints) -> bool:
    """Return whether rows are those measured, as many as effects: each estimate is then the arm's own mean."""
    return np.array_equal(rows, measured) and table(features, rows).rank == len(rows)


def _geometry(features: Features, measured: Ints, counts: Floats) -> Estimate:
    """Return the fit of zeros."""

    def make() -> Estimate:
        basis = table(features, measured).basis if len(counts) and counts.min() > 0 else None
        return least_squares(features, measured, counts, np.zeros(len(measured)), basis)

    size = _bytes(features) + 32 * features.n_columns**2 + 24 * len(measured)
    return remembered("fit", features, (measured, counts), size, make)


def _content(given: ArrayLike | None) -> tuple[str, tuple[int, ...], bytes] | None:
    """Return an array's kind, shape and content, which is a digest when it is long."""
    if given is None:
        return None
    array = np.asarray(given)
    content = array.tobytes()
    if len(content) > 256:
        content = hashlib.blake2b(content, digest_size=20).digest()
    return array.dtype.char, array.shape, content


def _bytes(features: Features) -> int:
    """Return about how much memory a table takes."""
    return features.codes.nbytes if isinstance(features, SiteFeatures) else 8 * features.n_rows * features.n_columns


def _digest(features: Features) -> bytes | None:
    """Return a table's content; None for one too large, or of a kind not known here."""
    if not isinstance(features, SiteFeatures | DenseFeatures) or 4 * _bytes(features) > _MOST_BYTES:
        return None
    with _DIGESTS_LOCK:
        known = _DIGESTS.get(features)
    if known is None:
        if isinstance(features, SiteFeatures):
            content: tuple[object, ...] = (_content(features.codes), features.sizes)
        else:
            content = (_content(features.dense(np.arange(features.n_rows))),)
        known = hashlib.blake2b(repr(content).encode(), digest_size=20).digest()
        with _DIGESTS_LOCK:
            _DIGESTS[features] = known
    return known
