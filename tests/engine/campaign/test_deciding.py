"""What phases decide by the facts."""

from pathlib import Path

import numpy as np
import pytest

from tests.engine.campaign.making import decide_phase, make


@pytest.mark.usefixtures("planned_phases")
def test_an_oracle_of_the_first_phase(tmp_path: Path) -> None:
    """Least squares by hand over the counted values of phase 1, and the rules of the first phase on top."""
    wide = {"per_round": 96, "max_replicates": 96}
    with make(tmp_path / "x.assaypilot", epsilon=0.9, slack=0.4, **wide) as campaign:
        decide_phase(campaign)
        decide_phase(campaign)
        ledger = campaign._ledger
    library, settings = ledger.library, ledger.settings
    rows = np.zeros((9, 7))
    rows[:, 0] = 1.0
    rows[np.arange(9), 1 + library.codes[:, 0]] = 1.0
    rows[np.arange(9), 4 + library.codes[:, 1]] = 1.0
    own = [m for m in ledger.measurements if m.phase == 1]
    x = np.array([rows[m.compound] for m in own])
    y = np.array([m.value for m in own])
    theta = np.linalg.lstsq(x, y, rcond=None)[0]
    half = 0.2 * np.sqrt(2 * np.log(2 * 9 * 2 / 0.05)) * np.sqrt(np.sum(rows @ np.linalg.pinv(x.T @ x) * rows, axis=1))
    low, high = rows @ theta - half, rows @ theta + half
    decision = ledger.estimates[1]
    assert np.allclose(decision.low, low)
    assert np.allclose(decision.high, high)
    good = low >= high.max() - settings.epsilon - settings.softness
    bad = high < low.max() - settings.epsilon
    assert set(decision.ins) == set(np.flatnonzero(good))
    assert set(decision.outs) == set(np.flatnonzero(bad))
