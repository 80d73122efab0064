"""Whether endpoints, values and budget are what the campaign's strategy can decide on; refused where they are not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..domain.features import outside_span, span_basis, span_rank
from ..domain.measurements import Measurement
from ..errors import AssayPilotError
from ..strategies.phased import refuse_unknown_noise
from ..strategies.registry import SERIES
from ..text import joined
from . import noise as assay_noise
from .replay import Ledger

_FEWEST = 4
"""Fewer values may all be 0 and 1 by chance of rounding."""
_KINDS = {"logit": "shares or yes/no as 1/0", "log": "counts"}


def check_campaign(ledger: Ledger) -> None:
    """Raise AssayPilotError for an endpoint, a history or a budget that the campaign could decide nothing with."""
    if ledger.calibrated:
        return
    ledger.library.refuse_partial(ledger.strategy.info.name, "Choose gaussian-process. ")
    beyond = next((endpoint for endpoint in ledger.endpoints if endpoint.limit is not None or endpoint.curves), None)
    if beyond is not None:
        what = "a profile" if beyond.curves else f"the limit {beyond.limit_text}"
        raise AssayPilotError(
            f"{ledger.strategy.info.name} proves nothing about {what}",
            option="--strategy",
            mend=f"Choose {SERIES}, the series model.",
        )
    check_kinds(ledger)
    _check_scale(ledger)
    for m in ledger.measurements:
        try:
            check_value(ledger, m.endpoint, m.value)
        except AssayPilotError as error:
            where = f"the table says {error.message} ({ledger.library.ids[m.compound]})"
            raise AssayPilotError(where, option=error.option, mend=error.mend) from error
    check_values(ledger, ())
    _check_noise(ledger)
    _check_budget(ledger)


def check_kinds(ledger: Ledger) -> None:
    """Refuse yes and no, or counts, where a strategy decides on values of one noise."""
    if ledger.calibrated:
        return
    for k in ledger.goal_endpoints:
        endpoint, linked = ledger.endpoints[k], k == ledger.objective and ledger.settings.goal != "pareto"
        link = ledger.link[0] if linked else "identity"
        if endpoint.kind != "value" and link != {"yes-no": "logit", "count": "log"}[endpoint.kind]:
            what = "a yes or no" if endpoint.kind == "yes-no" else "a count, which scatters more the larger it is"
            raise AssayPilotError(
                f"{endpoint.name} is {what}: {ledger.strategy.info.name} needs values that all scatter alike",
                option="--strategy",
                mend=f"Choose {SERIES}, or linfact-glm for the goal epsilon-best.",
            )


def _check_noise(ledger: Ledger) -> None:
    """Raise AssayPilotError where noise that is not known cannot be estimated on the way."""
    unknown = assay_noise.estimated(ledger)
    if not unknown:
        return
    if len(unknown) > 1 or any(ledger.endpoints[k].of is not None for k in ledger.goal_endpoints):
        raise AssayPilotError(
            f"{ledger.strategy.info.name} proves with at most one unknown assay noise (SD), and none in a difference",
            option="--endpoint",
            mend=f"State the SD of {joined([ledger.endpoints[k].name for k in unknown])}, or choose {SERIES}.",
        )
    refuse_unknown_noise(
        ledger.strategy,
        parameters=ledger.settings.parameters,
        max_replicates=ledger.settings.max_replicates,
        replicates=min(one.freedom for one in assay_noise.spreads(ledger, len(ledger.phases))),
    )


def _check_scale(ledger: Ledger) -> None:
    """Raise AssayPilotError for an endpoint that a link cannot take: its values turned around, or logarithms."""
    link, endpoint = ledger.link[0], ledger.endpoints[ledger.objective]
    for misfit, what, needed in (
        (endpoint.sign < 0, "better where it is smaller (direction=min)", "larger to be better"),
        (endpoint.of is not None, "a difference of logarithms", "the plain values"),
        (endpoint.transform == "log", "modelled as its logarithm (transform=log)", "the plain values"),
    ):
        if link != "identity" and misfit:
            raise AssayPilotError(
                f"{endpoint.name} is {what}, and the {link} link of {ledger.strategy.info.name} needs {needed}",
                option="--endpoint",
                mend=f"Choose a strategy without a link, such as {SERIES}.",
            )


def check_value(ledger: Ledger, position: int, value: float) -> None:
    """Raise AssayPilotError for a value (model scale) that no measurement under the strategy's link can have."""
    if position != ledger.objective:
        return
    link = ledger.link[0]
    highest = 1.0 if link == "logit" else np.inf
    if link == "identity" or 0.0 <= value <= highest:
        return
    allowed = "from 0 to 1" if link == "logit" else "of 0 or more"
    raise AssayPilotError(
        f"{ledger.endpoints[position].name} {value:g}, and the {link} link takes values {allowed}",
        option="--parameter",
        mend=f"Give {_KINDS[link]}, or choose a strategy without a link.",
    )


def check_values(ledger: Ledger, new: Sequence[Measurement]) -> None:
    """Raise AssayPilotError when all values of an endpoint, ``new`` ones too, are yes or no as 1 or 0.

    Those are no plain values with a normal spread around a sum of effects, which every strategy without a link needs.
    """
    for k in ledger.measured:
        if (k == ledger.objective and ledger.link[0] != "identity") or ledger.endpoints[k].kind != "value":
            continue
        values = [m.value for m in (*ledger.measurements, *new) if m.endpoint == k and not m.withdrawn]
        if len(values) >= _FEWEST and set(values) == {0.0, 1.0}:
            name = ledger.endpoints[k].name
            raise AssayPilotError(
                f"all {len(values)} values of {name} are 0 or 1: yes or no is no plain value with a spread of "
                f"{ledger.endpoints[k].noise_sd:.3g}, as {ledger.strategy.info.name} needs it",
                option="--strategy",
                mend=f"Say that {name} is one: kind=yes-no; after results, in a new campaign.",
            )


def _check_budget(ledger: Ledger) -> None:
    """Raise AssayPilotError for a budget below one measurement of every endpoint for every effect."""
    budget = ledger.settings.budget
    if budget is None or not ledger.measurable().any():
        return
    basis = span_basis(ledger.features, np.flatnonzero(ledger.measurable()))
    inside = np.flatnonzero(~outside_span(ledger.features, basis))
    rank = span_rank(ledger.features, inside)
    if budget < rank * ledger.per_sample:
        names = [ledger.endpoints[k].name for k in ledger.measured]
        each = f" and endpoint ({joined(names)})" if len(names) > 1 else ""
        raise AssayPilotError(
            f"a budget of {budget:,} is below one measurement per effect{each}: {rank} effects of substituents",
            option="--budget",
            mend=f"Give at least {rank * ledger.per_sample:,} measurements.",
        )
