"""RAGE's instances: the best of Z while measuring only X, SD 1, delta 0.05. Section 5.

And LinGame's, of the same kind: the best arm, SD 1, delta 0.01. Its section 5.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ...arrays import Floats
from ...domain.goals import Best
from ...errors import AssayPilotError
from .instance import Drawn, Instance, Setting, dense, number, redraw, whole

_PAPER = "RAGE, section 5"


def soare(name: str, d: Setting, angle: Setting) -> Instance:
    """Return the benchmark of Soare et al.: e_1..e_d and cos(angle) e_1 + sin(angle) e_2, theta = 2 e_1; angle 0.01."""
    size, turn = whole("d", d, 2), number("angle", angle)
    return Instance(
        name=name,
        paper=_PAPER,
        title=f"Soare's instance: d = {size}, angle {turn:g}",
        draw=partial(_soare, size, turn),
        random=False,
    )


def _soare(d: int, angle: float, _: np.random.Generator) -> Drawn:
    rows = np.vstack([np.eye(d), np.zeros(d)])
    rows[-1, :2] = math.cos(angle), math.sin(angle)
    return dense(rows, 2.0 * rows[:, 0], Best())


def moderate(name: str, arms: Setting) -> Instance:
    """Many arms with moderate gaps: e_1, one at 3 pi / 4, the others at pi / 4 + N(0, 0.09); theta = e_1, d = 2.

    The paper's N(0, .09) is read as a variance, as its N(0, 1) elsewhere.
    """
    count = whole("arms", arms, 3)
    return Instance(
        name=name,
        paper=_PAPER,
        title=f"{count} arms with moderate gaps",
        draw=partial(_moderate, count),
        random=True,
    )


def _moderate(n: int, rng: np.random.Generator) -> Drawn:
    angles = np.concatenate([[0.0, 0.75 * math.pi], math.pi / 4 + 0.3 * rng.standard_normal(n - 2)])
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    return dense(rows, rows[:, 0], Best())


def on_sphere(rng: np.random.Generator, n: int, d: int) -> Floats:
    """N points drawn uniformly on the unit sphere of dimension d, ``(n, d)``."""
    rows = rng.standard_normal((n, d))
    unit: Floats = rows / np.linalg.norm(rows, axis=1)[:, None]
    return unit


def closest(rows: Floats) -> tuple[int, int]:
    """Return the two closest rows of ``(n, d)`` unit vectors, the first of them first."""
    best, pair = -math.inf, (0, 1)
    for start in range(0, len(rows), 512):
        block = rows[start : start + 512] @ rows.T
        block[np.arange(len(block)), np.arange(start, start + len(block))] = -math.inf
        place = int(np.argmax(block))
        i, j = divmod(place, len(rows))
        if block[i, j] > best:
            best, pair = float(block[i, j]), (min(i + start, j), max(i + start, j))
    return pair


def sphere(name: str, arms: Setting, d: Setting) -> Instance:
    """Return points drawn on the unit sphere, d = 9; theta is one of the two closest."""
    count, size = whole("arms", arms, 2), whole("d", d, 2)
    return Instance(
        name=name,
        paper=_PAPER,
        title=f"{count} points on a sphere of dimension {size}",
        draw=partial(_sphere, count, size),
        random=True,
    )


def _sphere(n: int, d: int, rng: np.random.Generator) -> Drawn:
    rows = on_sphere(rng, n, d)
    return dense(rows, rows @ rows[closest(rows)[0]], Best())


def transductive(name: str, d: Setting) -> Instance:
    """X = e_1..e_d; Z = e_1..e_{d/2} and cos(.1) e_j + sin(.1) e_{j + d/2}; theta = e_1.

    Half of the arms in question cannot be measured.
    """
    size = whole("d", d, 2)
    if size % 2:
        raise AssayPilotError(f"d must be even, got {size}", option="--instance")
    return Instance(
        name=name,
        paper=_PAPER,
        title=f"transductive: d = {size}, half of the arms in question cannot be measured",
        draw=partial(_transductive, size),
        random=False,
    )


def _transductive(d: int, _: np.random.Generator) -> Drawn:
    half = d // 2
    extra = np.hstack([np.eye(half) * math.cos(0.1), np.eye(half) * math.sin(0.1)])
    rows = np.vstack([np.eye(d), extra])
    number_of = np.arange(len(rows))
    return dense(rows, rows[:, 0], Best(), measurable=number_of < d, wanted=(number_of < half) | (number_of >= d))


def multivariate(name: str, factors: Setting) -> Instance:
    """All 2^D layouts of D two-level factors with pairwise interactions; theta on the grid -0.3, -0.29, .. 0.3.

    First-order effects count 1, interactions 0.5. A draw whose best layout is not unique is drawn again, because no
    number of measurements decides it.
    """
    count = whole("factors", factors, 2, 12)
    return Instance(
        name=name,
        paper=_PAPER,
        title=f"multivariate testing: {count} factors with interactions",
        draw=partial(_multivariate, count),
        random=True,
    )


def _multivariate(factors: int, rng: np.random.Generator) -> Drawn:
    levels = np.indices((2,) * factors).reshape(factors, -1).T * 2.0 - 1.0
    first, second = np.triu_indices(factors, 1)
    rows = np.hstack([np.ones((len(levels), 1)), levels, levels[:, first] * levels[:, second]])
    strength = np.concatenate([np.ones(1 + factors), np.full(len(first), 0.5)])

    def draw() -> tuple[Floats, Floats]:
        theta = rng.integers(-30, 31, rows.shape[1]) / 100.0
        return rows, rows @ (strength * theta)

    rows, means = redraw("multivariate testing", draw, lambda means: bool(np.diff(np.sort(means)[-2:])[0] > 1e-9))
    return dense(rows, means, Best())


def hard(name: str, d: Setting, alpha: Setting) -> Instance:
    """Return the usual hard instance: e_1..e_d and cos(alpha) e_1 + sin(alpha) e_2, theta = e_1.

    Table 1: d = 2, alpha = 0.1, delta = 0.01; Figure 1: alpha = pi / 6.
    """
    size, turn = whole("d", d, 2), number("alpha", alpha)
    return Instance(
        name=name,
        paper="LinGame, section 5",
        title=f"the usual hard instance: d = {size}, alpha = {turn:g}",
        draw=partial(disturbed, size, turn, 1.0),
        random=False,
        delta=0.01,
    )


def disturbed(d: int, angle: float, sd: float, _: np.random.Generator) -> Drawn:
    """Return the basis, an arm at an angle to the first one, and theta = e_1."""
    rows = np.vstack([np.eye(d), np.zeros(d)])
    rows[-1, :2] = math.cos(angle), math.sin(angle)
    return dense(rows, rows[:, 0], Best(), sd=sd)


def near_sphere(name: str, arms: Setting, d: Setting) -> Instance:
    """20 points on the unit sphere, d = 6, 8, 10, 12; theta = a + 0.01 (a' - a) for the two closest (Figure 2)."""
    count, size = whole("arms", arms, 2), whole("d", d, 2)
    return Instance(
        name=name,
        paper="LinGame, section 5",
        title=f"{count} points on a sphere of dimension {size}",
        draw=partial(near_pair, count, size, 1.0),
        random=True,
        delta=0.01,
    )


def near_pair(n: int, d: int, sd: float, rng: np.random.Generator) -> Drawn:
    """Return the points on a sphere; theta is the first of the two closest, moved a hundredth towards the other."""
    rows = on_sphere(rng, n, d)
    a, b = closest(rows)
    return dense(rows, rows @ (rows[a] + 0.01 * (rows[b] - rows[a])), Best(), sd=sd)
