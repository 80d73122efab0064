"""Values from a noisier assay: intervals hold, those of its compounds too."""

from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.domain.measurements import Result
from tests.engine.campaign import making


def test_intervals_hold_for_compounds_of_the_noisier_of_two_assays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        library = making.small_library((8, 8))
        true = 6.0 + sum(rng.normal(0, 0.6, 8)[library.codes[:, site]] for site in range(2))
        monkeypatch.setattr(making, "truth", lambda _, true=true: true)
        old = rng.permutation(64)[:50]
        crude = np.arange(50) >= 30
        values = true[old] + np.where(crude, 1.2, 0.2) * rng.standard_normal(50)
        history = [
            Result(library.ids[k], float(v), "pIC50", batch="single point" if c else "curve")
            for k, v, c in zip(old, values, crude, strict=True)
        ]
        with making.make(
            tmp_path / f"{seed}.assaypilot", library=library, history=history, strategy="gaussian-process"
        ) as campaign:
            known = campaign.status().candidates
        at = old[crude]
        inside.append(np.mean((known.low[at] <= true[at]) & (true[at] <= known.high[at])))
    assert np.mean(inside) >= 0.85
