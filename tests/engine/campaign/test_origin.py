"""Where an estimate comes from."""

from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result


def test_the_reason_of_a_compound_is_a_sum_that_comes_to_its_estimate(tmp_path: Path):
    library = Library.product([Site("R1", tuple("ABCDE")), Site("R2", tuple("KLMN"))])
    rng = np.random.default_rng(1)
    truth = 6.0 + rng.normal(0, 0.6, 5)[library.codes[:, 0]] + rng.normal(0, 0.4, 4)[library.codes[:, 1]]
    truth[6] += 2.0  # no sum of effects
    history = [Result(library.ids[k], float(truth[k])) for k in range(0, 20, 2)]
    settings = Settings("pIC50", epsilon=0.5, slack=0.25, per_round=6, strategy="gaussian-process")
    endpoints = [Endpoint("pIC50", noise_sd=0.2)]
    path = tmp_path / "a.assaypilot"
    with Campaign.create(path, library=library, endpoints=endpoints, settings=settings, history=history) as campaign:
        status, reasons = campaign.status(), campaign.reasons()
        for compound in range(20):
            (source,) = reasons.of(compound).sources
            parts = [one.value for one in source.contributions]
            total = source.mean + np.nansum(parts) + source.rest
            assert total == pytest.approx(status.candidates.estimates["pIC50"][compound])
            assert [one.substituent for one in source.contributions] == list(library.substituents(compound).values())
