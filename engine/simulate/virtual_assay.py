"""A simulated assay: the truth of every compound plus noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..campaign.state import Round
from ..domain.endpoint import Endpoint
from ..domain.measurements import Result

__all__ = ["VirtualAssay"]


class VirtualAssay:
    """Measures compounds whose truth is known, with normal noise.

    ``truth`` ``(n_compounds,)`` and ``sd`` are on the model scale. The values of a round depend on the seed and the
    round's number and the endpoint's name alone: asking twice gives the same, endpoints have noise of their own.
    """

    def __init__(self, truth: Floats, sd: float, seed: int) -> None:
        self._truth = np.asarray(truth, dtype=float)
        self._sd = sd
        self._seed = seed

    def measure(self, issued: Round, endpoint: Endpoint, ids: Sequence[str]) -> list[Result]:
        """One result per measurement asked for, in the endpoint's entry unit."""
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
