"""An endpoint that is recorded only: under the series model it informs the others, and no round asks for it."""

from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from tests.engine.campaign import making


def errors(folder: Path, monkeypatch: pytest.MonkeyPatch, recorded: bool) -> tuple[float, set[str]]:
    """Error of what nobody measured of the goal's endpoint, and the endpoints that the rounds asked for."""
    rng = np.random.default_rng(4)
    library = making.small_library((8, 8))
    true = 6.0 + sum(rng.normal(0, 0.4, 8)[library.codes[:, site]] for site in range(2)) + rng.normal(0, 0.6, 64)
    monkeypatch.setattr(making, "truth", lambda _: true)
    older = [Result(library.ids[k], float(true[k] - 0.5 + rng.normal(0, 0.1)), "Binding") for k in range(64)]
    with making.make(
        folder / f"{recorded}.assaypilot",
        library=library,
        endpoints=(Endpoint("pIC50", noise_sd=0.2), Endpoint("Binding", noise_sd=0.1)),
        history=older if recorded else (),
        strategy="gaussian-process",
        per_round=16,
        max_replicates=1,
    ) as campaign:
        issued = campaign.plan()
        names = {campaign.status().endpoints[k].name for k in campaign.status().measured_endpoints}
        seen = {item.compound for item in issued.items}
        campaign.record(making.answers(campaign), close=True)
        known = campaign.status().candidates
    rest = np.array(sorted(set(range(64)) - seen))
    return float(np.sqrt(np.mean((known.estimates["pIC50"][rest] - true[rest]) ** 2))), names


def test_recorded_endpoint_halves_errors_and_is_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    informed, asked = errors(tmp_path, monkeypatch, recorded=True)
    alone, _ = errors(tmp_path, monkeypatch, recorded=False)
    assert asked == {"pIC50"}
    assert informed < 0.5 * alone
