"""LinFACT's instances: all compounds within epsilon of the best. Section 7, Table 1, appendix EC.12.

And the shipped table practice-960, of the shape of its section 7.2.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from assaypilot import datasets

from ...domain.features import SiteFeatures
from ...domain.goals import AllEpsilonBest
from .instance import Drawn, Instance, Setting, dense, number, of_sites, shipped, whole

_M, _VARIANCE = 4, 3.0
_SITES = (4, 5, 4, 3, 4)


def adaptive(name: str, d: Setting, epsilon: Setting) -> Instance:
    """Synthetic I (EC.12.1): basis vectors, some good, and disturbing arms just below the threshold.

    m = 4 and X = 1 in the mean; d is Table 1's (8 or 12; the text's 10 is a slip). The number of good arms is
    N(4, 3) rounded to 1..5 (section 7.1). The distribution of the threshold is not printed: uniform on 0.8..1.2. SD 1,
    as everywhere in the paper. The last disturbing arm of the printed formula would lie exactly on the border, where
    no number of measurements decides: here they are at X - (n - i) epsilon / n for i = 0..n - 1, which is Figure 4.
    """
    size, width = whole("d", d, 7), number("epsilon", epsilon)
    return Instance(
        name=name,
        paper="LinFACT, Table 1 and appendix EC.12.1",
        title=f"synthetic I, adaptive: d = {size}, epsilon = {width:g}",
        draw=partial(_adaptive, size, width),
        random=True,
    )


def _good(rng: np.random.Generator, most: int) -> int:
    return int(np.clip(np.rint(rng.normal(_M, _VARIANCE**0.5)), 1, most))


def _adaptive(d: int, epsilon: float, rng: np.random.Generator) -> Drawn:
    good = _good(rng, 5)
    threshold = rng.uniform(0.8, 1.2)
    theta = np.zeros(d)
    theta[:good] = threshold + epsilon * np.arange(good, 0, -1) / good
    n = 3 * _M // 2 - good
    share = (threshold - epsilon * (n - np.arange(n)) / n) / (threshold + epsilon)
    disturbing = np.zeros((n, d))
    disturbing[:, 0], disturbing[:, -1] = share, np.sqrt(1.0 - share**2)
    rows = np.vstack([np.eye(d), disturbing])
    return dense(rows, rows @ theta, AllEpsilonBest(epsilon), hints={"m": _M})


def static(name: str, d: Setting, gap: Setting) -> Instance:
    """Synthetic II (EC.12.2): d basis vectors, N(4, 3) of them (rounded to 1..d - 1) at Delta, the others at 0.

    epsilon = Delta / 2; Table 1 has Delta = 1 and d = 8, 12, 16; SD 1.
    """
    size, height = whole("d", d, 2), number("gap", gap)
    return Instance(
        name=name,
        paper="LinFACT, Table 1 and appendix EC.12.2",
        title=f"synthetic II, static: d = {size}, Delta = {height:g}",
        draw=partial(_static, size, height),
        random=True,
    )


def _static(d: int, gap: float, rng: np.random.Generator) -> Drawn:
    means = np.where(np.arange(d) < _good(rng, d - 1), gap, 0.0)
    return dense(np.eye(d), means, AllEpsilonBest(gap / 2.0), hints={"m": _M})


def free_wilson(name: str, good: Setting, epsilon: Setting, seed: Setting) -> Instance:
    """Return the real-data shape of section 7.2: 4, 5, 4, 3, 4 substituents, 960 compounds, 20 of them good.

    The coefficients of Katz et al. (1977) are not in any source at hand, so the effects are drawn (normal, once, by
    the seed of the settings) and scaled so that the border between the 20th and the 21st compound is half way at the
    paper's epsilon, 4.325. SD 1.
    """
    return Instance(
        name=name,
        paper="LinFACT, section 7.2 (SYNTHETIC effects)",
        title="Free-Wilson, 4 x 5 x 4 x 3 x 4 substituents, 20 compounds within 4.325 of the best",
        draw=partial(_free_wilson, whole("good", good, 1, 959), number("epsilon", epsilon), whole("seed", seed, 0)),
        random=False,
        notes=("the effects are synthetic: the paper's own coefficients are not printed in it",),
    )


def _free_wilson(good: int, epsilon: float, seed: int, _: np.random.Generator) -> Drawn:
    codes = np.indices(_SITES).reshape(len(_SITES), -1).T
    rng = np.random.default_rng(seed)
    means = np.zeros(len(codes))
    for site, size in enumerate(_SITES):
        means += rng.normal(size=size)[codes[:, site]]
    behind = np.sort(means.max() - means)
    means = means * (epsilon / ((behind[good - 1] + behind[good]) / 2.0))
    return of_sites(SiteFeatures(codes, _SITES), means[None], AllEpsilonBest(epsilon), (1.0,), {"m": good})


def practice(name: str, epsilon: Setting, slack: Setting, sd: Setting) -> Instance:
    """Return the practice table: 960 compounds with synthetic effects, whose truth is shipped; SD 0.2, within 0.5."""
    goal = AllEpsilonBest(number("epsilon", epsilon), number("slack", slack, -1e-300))
    return Instance(
        name=name,
        paper="shipped table (SYNTHETIC), the shape of LinFACT, section 7.2",
        title=f"practice table, within {goal.epsilon:g} of the best",
        draw=partial(_practice, goal, number("sd", sd)),
        random=False,
    )


def _practice(goal: AllEpsilonBest, sd: float, _: np.random.Generator) -> Drawn:
    library, _ids = shipped("practice-960", "ID")
    known = dict(zip(*datasets.truth("practice-960"), strict=True))
    truth = np.array([known[name] for name in library.ids])
    return of_sites(SiteFeatures.of(library), truth[None], goal, (sd,), {"m": int(goal.members(truth).sum())})
