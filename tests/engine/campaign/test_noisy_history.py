"""Values of the table from a noisier assay: intervals of what nobody measured in the campaign hold all the same."""

from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.domain.measurements import Result
from tests.engine.campaign import making


@pytest.mark.slow
@pytest.mark.parametrize("times", [1.0, 6.0])
def test_intervals_hold_whatever_the_noise_of_the_tables_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: float
) -> None:
    inside = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        library = making.small_library((8, 8))
        true = 6.0 + sum(rng.normal(0, 0.6, 8)[library.codes[:, site]] for site in range(2))
        monkeypatch.setattr(making, "truth", lambda _, true=true: true)
        old = rng.permutation(64)[:30]
        values = true[old] + times * 0.2 * rng.standard_normal(30)
        history = [Result(library.ids[k], float(v), "pIC50") for k, v in zip(old, values, strict=True)]
        with making.make(
            tmp_path / f"{seed}.assaypilot",
            library=library,
            history=history,
            strategy="gaussian-process",
            per_round=16,
            max_replicates=1,
        ) as campaign:
            asked = set()
            for _ in range(2):
                issued = campaign.plan()
                if issued is None:
                    break
                asked |= {item.compound for item in issued.items}
                campaign.record(making.answers(campaign), close=True)
            known = campaign.status().candidates
        rest = np.array(sorted(set(range(64)) - asked))
        inside.append(np.mean((known.low[rest] <= true[rest]) & (true[rest] <= known.high[rest])))
    assert np.mean(inside) >= 0.9
