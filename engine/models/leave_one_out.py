"""Leave-one-out predictions of the additive model, for plots of measured against predicted."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Ints
from .diagnostics import LEVERAGE_ONE
from .ols import Estimate


def leave_one_out(fit: Estimate, rows: Ints, means: Floats, counts: Floats) -> Floats:
    """Return the prediction ``(m,)`` of each measured row from the other rows; NaN where they do not predict it.

    ``fit`` is that to the ``means`` ``(m,)``, model scale, ``counts`` the determinations behind each: a row is left out
    with all of them. y - e / (1 - h) with the leverage h (Cook and Weisberg 1982, section 2.2): one fit serves all.
    """
    if not len(rows):
        return np.zeros(0)
    leverage = np.minimum(fit.features.quadratic(fit.covariance, rows) * counts, 1.0)
    alone = leverage > 1.0 - LEVERAGE_ONE
    room = np.where(alone, 1.0, 1.0 - leverage)
    predicted: Floats = np.where(alone, np.nan, means - (means - fit.means(rows)) / room)
    return predicted
