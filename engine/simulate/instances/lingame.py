"""LinGame's instances: the best arm, SD 1, delta 0.01. Section 5."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ...domain.goals import Best
from .instance import Drawn, Instance, Setting, dense, number, whole
from .rage import closest, on_sphere

_PAPER = "LinGame, section 5"


def hard(name: str, d: Setting, alpha: Setting) -> Instance:
    """Return the usual hard instance: e_1..e_d and cos(alpha) e_1 + sin(alpha) e_2, theta = e_1.

    Table 1: d = 2, alpha = 0.1, delta = 0.01; Figure 1: alpha = pi / 6.
    """
    size, turn = whole("d", d, 2), number("alpha", alpha)
    return Instance(
        name=name,
        paper=_PAPER,
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


def sphere(name: str, arms: Setting, d: Setting) -> Instance:
    """20 points on the unit sphere, d = 6, 8, 10, 12; theta = a + 0.01 (a' - a) for the two closest (Figure 2)."""
    count, size = whole("arms", arms, 2), whole("d", d, 2)
    return Instance(
        name=name,
        paper=_PAPER,
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
