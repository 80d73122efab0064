"""The papers' own solvers of the G-optimal design, written plainly on dense rows of full rank."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from scipy.optimize import minimize_scalar


def _leverages(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    inverse = np.linalg.inv(x.T @ (x * w[:, None]))
    return np.einsum("ij,ij->i", x @ inverse, x), inverse


def mirror_descent(x: np.ndarray) -> Iterator[float]:
    """GEGE, Algorithm 4 (Tao et al. 2018): w exp(eta g), g the leverages, eta = sqrt(2 ln N / t) / L."""
    n = len(x)
    w = np.full(n, 1.0 / n)
    slope, t = None, 1
    while True:
        leverages, _ = _leverages(x, w)
        yield float(leverages.max())
        slope = float(leverages.max()) if slope is None else slope
        w = w * np.exp(np.sqrt(2.0 * np.log(n) / t) / slope * (leverages - leverages.max()))
        w /= w.sum()
        t += 1


def frank_wolfe_line_search(x: np.ndarray) -> Iterator[float]:
    """GSE, Algorithm 2: towards the row of steepest descent of the worst variance, as far as it falls."""
    n = len(x)
    w = np.full(n, 1.0 / n)
    while True:
        leverages, inverse = _leverages(x, w)
        yield float(leverages.max())
        slopes = x @ (inverse @ x[int(np.argmax(leverages))])
        vertex = int(np.argmax(slopes**2))
        u = x[vertex] @ inverse
        across, own = (x @ u) ** 2, float(leverages[vertex])

        def worst(step: float, leverages=leverages, across=across, own=own) -> float:
            # (1 - s) V + s x x' by Sherman and Morrison, for every row at once.
            ratio = step / (1.0 - step)
            return float((leverages - ratio * across / (1.0 + ratio * own)).max()) / (1.0 - step)

        step = float(minimize_scalar(worst, bounds=(0.0, 0.5), method="bounded", options={"xatol": 1e-10}).x)
        w *= 1.0 - step
        w[vertex] += step


def frank_wolfe(x: np.ndarray) -> Iterator[float]:
    """RAGE: the same direction with step 2 / (k + 2)."""
    n = len(x)
    w = np.full(n, 1.0 / n)
    k = 1
    while True:
        leverages, inverse = _leverages(x, w)
        yield float(leverages.max())
        slopes = x @ (inverse @ x[int(np.argmax(leverages))])
        step = 2.0 / (k + 2.0)
        w *= 1.0 - step
        w[int(np.argmax(slopes**2))] += step
        k += 1


SOLVERS = {
    "mirror descent": mirror_descent,
    "Frank-Wolfe, line search": frank_wolfe_line_search,
    "Frank-Wolfe, 2/(k+2)": frank_wolfe,
}


def run(name: str, x: np.ndarray, seconds: float, gap: float) -> tuple[float, float, int]:
    """The least relative gap reached within the time (or ``gap``), the seconds it took, and the steps."""
    begun = time.perf_counter()
    best, when, step = np.inf, 0.0, 0
    for step, value in enumerate(SOLVERS[name](x), start=1):  # noqa: B007
        now = time.perf_counter() - begun
        if np.isfinite(value) and value / x.shape[1] - 1.0 < best:
            best, when = value / x.shape[1] - 1.0, now
        if best <= gap or now > seconds:
            break
    return best, when, step
