"""GSE's instances: the best arm within a fixed budget. Section 8, appendix E.3."""

from __future__ import annotations

import csv
import math
from functools import partial
from pathlib import Path

import numpy as np

from ...arrays import Floats
from ...domain.goals import Best
from ...errors import AssayPilotError
from .instance import Drawn, Instance, Setting, dense, number, whole
from .rage import disturbed, near_pair

_VARIANCE = 10.0


def _budget(arms: int, per_arm: Setting) -> int:
    return arms * whole("per_arm", per_arm, 1)


def adaptive(name: str, arms: Setting, per_arm: Setting) -> Instance:
    """Section 8.1: e_1..e_d and an arm at the angle 1/10, theta = e_1, d = K - 1, noise variance 10."""
    count = whole("arms", arms, 3)
    return Instance(
        name=name,
        paper="GSE, section 8.1",
        title=f"adaptive: {count} arms, d = {count - 1}",
        draw=partial(disturbed, count - 1, 0.1, math.sqrt(_VARIANCE)),
        random=False,
        budget=_budget(count, per_arm),
    )


def static(name: str, gap: Setting, arms: Setting, per_arm: Setting) -> Instance:
    """Section 8.2: e_1..e_16, theta = (Delta, 0, .., 0), B = 320. The noise is not printed: that of section 8.1."""
    count, height = whole("arms", arms, 2), number("gap", gap)
    return Instance(
        name=name,
        paper="GSE, section 8.2",
        title=f"static: {count} arms, Delta = {height:g}",
        draw=partial(_static, count, height),
        random=False,
        budget=_budget(count, per_arm),
    )


def _static(n: int, gap: float, _: np.random.Generator) -> Drawn:
    return dense(np.eye(n), np.where(np.arange(n) == 0, gap, 0.0), Best(), sd=math.sqrt(_VARIANCE))


def sphere(name: str, arms: Setting, d: Setting, variance: Setting, per_arm: Setting) -> Instance:
    """Section 8.3: points on the unit sphere, d = 10, theta = x_i + 0.01 (x_j - x_i) for the two closest.

    Noise variance 10, as in section 8.1; appendix E.3 repeats it with 1.
    """
    count, size = whole("arms", arms, 2), whole("d", d, 2)
    return Instance(
        name=name,
        paper="GSE, section 8.3",
        title=f"{count} points on a sphere of dimension {size}",
        draw=partial(near_pair, count, size, math.sqrt(number("variance", variance))),
        random=True,
        budget=_budget(count, per_arm),
    )


def corner(name: str, arms: Setting, per_arm: Setting) -> Instance:
    """Appendix E.3, Figure 7: e_1, one at 3 pi / 4, the others at pi / 4 + N(0, 0.09^2); theta = e_1, SD 1."""
    count = whole("arms", arms, 3)
    return Instance(
        name=name,
        paper="GSE, appendix E.3",
        title=f"corner case: {count} arms, d = 2",
        draw=partial(_corner, count),
        random=True,
        budget=_budget(count, per_arm),
    )


def _corner(n: int, rng: np.random.Generator) -> Drawn:
    angles = np.concatenate([[0.0], math.pi / 4 + 0.09 * rng.standard_normal(n - 2), [0.75 * math.pi]])
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    return dense(rows, rows[:, 0], Best())


def logistic(name: str, d: Setting, arms: Setting, per_arm: Setting) -> Instance:
    """Section 8.4: K = 8 arms uniform on [-0.5, 0.5]^d, theta ~ N(0, 3 / d), measurements 0 or 1, logistic link.

    d = 5, 7, 10, 12. The truth is on the link scale.
    """
    return _behind_link(name, "GSE, section 8.4", "logistic", "bernoulli", d, arms, per_arm)


def counts(name: str, d: Setting, arms: Setting, per_arm: Setting) -> Instance:
    """Return the arms and theta of section 8.4 with Poisson counts of mean exp(x'theta).

    Ours, the paper has no such figure.

    The SD is the largest of the draw. The truth is on the link scale.
    """
    return _behind_link(name, "ours, after GSE, section 8.4", "Poisson", "poisson", d, arms, per_arm)


def _behind_link(name: str, paper: str, title: str, kind: str, d: Setting, arms: Setting, per_arm: Setting) -> Instance:
    size, count = whole("d", d, 1), whole("arms", arms, 2)
    return Instance(
        name=name,
        paper=paper,
        title=f"{title}: {count} arms, d = {size}",
        draw=partial(_link, size, count, kind == "poisson"),
        random=True,
        budget=_budget(count, per_arm),
    )


def _link(d: int, n: int, is_count: bool, rng: np.random.Generator) -> Drawn:
    rows = rng.uniform(-0.5, 0.5, (n, d))
    truth = rows @ rng.normal(0.0, math.sqrt(3.0 / d), d)
    if is_count:
        expected = np.exp(truth)
        sd = float(np.sqrt(expected.max()))
        return dense(rows, truth, Best(), sd=sd, expected=expected, kind="poisson")
    return dense(rows, truth, Best(), sd=0.5, expected=1.0 / (1.0 + np.exp(-truth)), kind="bernoulli")


_CAR = (11, 13, 16, 23, 24)
"""Width, curb weight, engine size, city and highway miles per gallon; the price is in column 25."""
_PRICE = 25


def automobile(name: str, file: Setting, arms: Setting, per_arm: Setting) -> Instance:
    """Appendix E.2: the dearest of K cars drawn from the Automobile data, five features, noise variance 0.1.

    Features and prices are rescaled to [0, 1]; cars without a price or a feature are left out. Prices are not linear in
    the features, so no error rate is promised.
    """
    count = whole("arms", arms, 2)
    if not str(file):
        raise AssayPilotError(
            f"{name} needs its table", option="--instance", mend=f"Name the file: --instance {name}:file=PATH."
        )
    rows, prices = _cars(Path(str(file)))
    if count > len(rows):
        raise AssayPilotError(f"arms must be at most {len(rows)}, got {count}", option="--instance")
    return Instance(
        name=name,
        paper="GSE, appendix E.2",
        title=f"{count} cars of {len(rows)}",
        draw=partial(_some_cars, rows, prices, count),
        random=True,
        budget=_budget(count, per_arm),
        notes=("prices are not linear in the features",),
    )


def _some_cars(rows: Floats, prices: Floats, n: int, rng: np.random.Generator) -> Drawn:
    """Return the cars of which one is the dearest."""
    while True:
        chosen = rng.choice(len(rows), n, replace=False)
        two = np.sort(prices[chosen])[-2:]
        if two[0] < two[1]:
            return dense(rows[chosen], prices[chosen], Best(), sd=math.sqrt(0.1))


def _cars(path: Path) -> tuple[Floats, Floats]:
    """Return the features ``(n, 5)`` and prices ``(n,)`` in [0, 1]."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise AssayPilotError("this table cannot be read", file=str(path), mend="Name imports-85.data.") from None
    lines = [line for line in csv.reader(text.splitlines()) if line]
    try:
        cells = [[line[column] for column in (*_CAR, _PRICE)] for line in lines]
        table = np.array([[float(cell) for cell in row] for row in cells if "?" not in row])
    except (IndexError, ValueError):
        raise AssayPilotError(
            "this is not the Automobile table", file=str(path), mend="Name imports-85.data."
        ) from None
    if len(table) < 2 or (np.ptp(table, axis=0) == 0).any():
        raise AssayPilotError("this is not the Automobile table", file=str(path), mend="Name imports-85.data.")
    table = (table - table.min(axis=0)) / np.ptp(table, axis=0)
    return table[:, :-1], table[:, -1]
