"""What to say where the noise of an endpoint is known by SDs beside its means alone, which may be of single runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..domain.endpoint import Endpoint
from ..domain.measurements import Result, pure_error

__all__ = ["about_own_sds"]

_FEWEST = 8
"""Degrees of freedom of the SDs below which they hardly say anything."""
_MUCH = 1.5
"""How many times the SD within means that between rows must be, to be worth its figure."""
_FEWEST_BETWEEN = 4


def about_own_sds(endpoints: Sequence[Endpoint], history: Sequence[Result]) -> list[str]:
    """Return a hint for each endpoint without a stated noise whose means of N come with SDs that say something.

    Replicates of one run share its day, plate and dilution. Their SD is smaller than that between runs, so that what
    is left of an additive model looks too large beside it, and a mean of N counts as N measurements.
    """
    named = {result.endpoint for result in history if result.sd is not None}
    asked = [e for e in endpoints if e.noise_sd is None and not e.noise_estimated and e.kind == "value"]
    return list(
        filter(None, [_about(e, [r for r in history if r.endpoint == e.name]) for e in asked if e.name in named])
    )


def _about(endpoint: Endpoint, results: Sequence[Result]) -> str | None:
    exact = [result for result in results if result.relation == "=" and not result.excluded]
    values = [endpoint.to_model(r.value, r.unit) for r in exact]
    sds = [endpoint.sd_to_model(r.value, r.sd) for r in exact]
    times = [r.n for r in exact]
    squares, freedom, _ = pure_error(range(len(exact)), values, times, sds)
    if freedom < _FEWEST or squares <= 0.0:
        return None
    within = math.sqrt(squares / freedom)
    places = {name: place for place, name in enumerate(dict.fromkeys(r.compound for r in exact))}
    arms = [places[r.compound] for r in exact]
    apart, rows, _ = pure_error(arms, values, [1] * len(exact), [None] * len(exact))
    between = math.sqrt(apart / rows) if rows >= _FEWEST_BETWEEN else 0.0
    said = f"{endpoint.name}: the SDs beside its means of N say a noise of {within:.2g}. "
    if between > _MUCH * within:
        said += f"Rows of one compound differ by more, SD {between:.2g}. "
    return (
        f"{said}If they are of replicates within a run (one day, one plate), the noise from run to run is larger: "
        "additivity is judged too strictly, and a mean of N counts as N measurements. "
        f'State the SD between runs: --endpoint "{endpoint.name};sd=...".'
    )
