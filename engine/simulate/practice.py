"""The practice campaign: a synthetic table whose truth is known, and an assay that answers at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from assaypilot import datasets

from ..arrays import Floats
from ..campaign.campaign import Campaign
from ..campaign.issued_rounds import Round, Source
from ..campaign.settings import Settings
from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.measurements import Result
from ..system.progress import Report, silent

PRACTICE = "practice-960"
"""The shipped table the practice campaign runs on."""

NOISE_SD = 0.2
_ENDPOINT = Endpoint("pIC50", noise_sd=NOISE_SD)
_TITLE = "Practice campaign (synthetic)"


@cache
def _library() -> Library:
    from ..tables.importer import import_table
    from ..tables.mapping import propose
    from ..tables.opening import read_table

    table = read_table(datasets.load(PRACTICE).path)
    return import_table(table, propose(table)).library


def practice_truth() -> Floats:
    """Return the true pIC50 of every compound of the practice table, in library order."""
    ids, values = datasets.truth(PRACTICE)
    known = dict(zip(ids, values, strict=True))
    return np.array([known[name] for name in _library().ids])


def create_practice(path: str | Path, *, seed: int = 0, report: Report = silent) -> Campaign:
    """Return a new practice campaign: all within 0.5 of the best, cutoff soft by 0.5, 95 % sure, 384 a round."""
    settings = Settings(objective=_ENDPOINT.name, epsilon=0.5, slack=0.5, delta=0.05, per_round=384, seed=seed)
    return Campaign.create(
        path,
        library=_library(),
        endpoints=[_ENDPOINT],
        settings=settings,
        name=_TITLE,
        source=Source(f"{PRACTICE}.csv"),
        warnings=["This campaign is for practice: its table and its assay are synthetic."],
        report=report,
    )


def is_practice(campaign: Campaign) -> bool:
    """Return whether a campaign runs on the practice table, so that its assay can be simulated."""
    return campaign.status().library == _library()


def practice_results(campaign: Campaign, issued: Round) -> list[Result]:
    """Return the results of the virtual assay for a round of the practice campaign: one per measurement."""
    status = campaign.status()
    assay = VirtualAssay(practice_truth(), NOISE_SD, status.settings.seed)
    return assay.measure(issued, status.endpoints[status.objective], status.library.ids)


class VirtualAssay:
    """Measures compounds whose truth is known, with normal noise.

    ``truth`` ``(n_compounds,)`` and ``sd`` are on the model scale. The values of a round depend on the seed and the
    round's number and the endpoint's name alone: a repeated call gives the same, endpoints have noise of their own.
    """

    def __init__(self, truth: Floats, sd: float, seed: int) -> None:
        self._truth = np.asarray(truth, dtype=float)
        self._sd = sd
        self._seed = seed

    def measure(self, issued: Round, endpoint: Endpoint, ids: Sequence[str]) -> list[Result]:
        """Return one result per requested measurement, in the endpoint's entry unit."""
        rng = np.random.default_rng((self._seed, issued.number, *endpoint.name.encode()))
        results = []
        for item in issued.items:
            for replicate in range(item.replicates):
                value = self._truth[item.compound] + self._sd * rng.standard_normal()
                results.append(
                    Result(
                        compound=ids[item.compound],
                        value=endpoint.from_model(float(value)),
                        endpoint=endpoint.name,
                        replicate=str(replicate + 1),
                    )
                )
        return results
