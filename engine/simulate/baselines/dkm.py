"""DKM: the game of LinGame without what linearity tells of an arm that was measured less often than others.

Source: Degenne, Koolen and Menard, "Non-asymptotic pure exploration by solving games" (2019), Algorithm 1 with AdaHedge
as the learner and nature's best response. Its confidence is one interval per arm, from that arm's own measurements, so
optimism makes it measure every arm again and again (LinGame, section 5 and Table 1). Nature, the estimate and the end
are those of the linear model, as in LinGame's comparison.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ...arrays import Floats
from ...strategies.lingame.lingame import LinGame, Round
from ...strategies.protocol import StrategyInfo


class _ArmByArm(Round):
    """A round in which every arm is as unsure as its own measurements leave it."""

    def variances(self, counts: Floats) -> Floats:
        """One over the measurements; those of an arm that has none count as one."""
        found: Floats = 1.0 / np.maximum(counts, 1.0)
        return found


class Dkm(LinGame):
    """LinGame with an interval for each arm instead of the ellipsoid."""

    round = _ArmByArm
    info: ClassVar[StrategyInfo] = replace(
        LinGame.info, name="dkm", title="DKM", source="Degenne et al. (2019), Algorithm 1", baseline=True
    )
