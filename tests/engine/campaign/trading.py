"""Campaigns about several endpoints for the tests: a truth per endpoint, and what an assay says of a round."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from tests.engine.campaign.making import small_library

POTENCY = Endpoint("pIC50", noise_sd=0.2)
HERG = Endpoint("hERG", noise_sd=0.3, direction="min")
EFFECTS = {
    "pIC50": ((0.0, 0.9, -0.4), (0.0, 0.5, -0.7)),
    "hERG": ((5.0, 5.8, 5.6), (0.0, -0.3, 0.5)),
    "logD": ((1.0, 2.0, 3.0), (0.0, 0.4, 0.2)),
}


def truth(name: str, library: Any = None) -> np.ndarray:
    """The mean of every compound of the small table: of pIC50 6 plus its effects, of the others their effects."""
    library = small_library() if library is None else library
    base = 6.0 if name == "pIC50" else 0.0
    bare = name.removesuffix(" (nM)").removeprefix("K ")
    return base + sum(np.array(EFFECTS[bare][k])[library.codes[:, k]] for k in range(2))


def trade(
    path: Path, *endpoints: Endpoint, library: Any = None, history: Sequence[Result] = (), **changes: Any
) -> Campaign:
    """A campaign on the small table; trade-offs between the endpoints unless another goal is given."""
    given = {"goal": "pareto", "epsilon": 0.5, "per_round": 24, "max_replicates": 6, "seed": 3} | changes
    return Campaign.create(
        path,
        library=small_library() if library is None else library,
        endpoints=endpoints or (POTENCY, HERG),
        settings=Settings(**given),
        history=history,
    )


def answers(campaign: Campaign, *, seed: int = 0, shift: float = 0.0, only: Sequence[str] = ()) -> list[Result]:
    """What an assay says of the open round: every measurement asked for that is not back, of these endpoints."""
    now = campaign.status()
    issued = now.open_round
    rng = np.random.default_rng((seed, issued.number))
    results = []
    for item, back in zip(issued.items, issued.back, strict=True):
        for place, k in enumerate(issued.endpoints):
            endpoint = now.endpoints[k]
            means = truth(endpoint.name, now.library)
            for _ in range(item.of(place) - back[place]):
                value = float(means[item.compound] + shift + (endpoint.noise_sd or 0.0) * rng.standard_normal())
                if not only or endpoint.name in only:
                    results.append(Result(now.library.ids[item.compound], endpoint.from_model(value), endpoint.name))
    return results


def samples(issued: Round) -> int:
    """Replicates of compounds in a round."""
    return sum(item.replicates for item in issued.items)


def decide_phase(campaign: Campaign, *, seed: int = 0) -> Status:
    """Rounds until one more phase is decided."""
    before = campaign.status().phases_decided
    while campaign.status().phases_decided == before:
        assert campaign.plan() is not None
        campaign.record(answers(campaign, seed=seed))
    return campaign.status()


def finish(campaign: Campaign, *, seed: int = 0, most: int = 200) -> Status:
    """Rounds until nothing more is asked."""
    for _ in range(most):
        if campaign.plan() is None:
            return campaign.status()
        campaign.record(answers(campaign, seed=seed))
    raise AssertionError("no end in sight")
