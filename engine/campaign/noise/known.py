"""The assay noise of a campaign as it is known now, where it was not stated."""

from __future__ import annotations

import math
from dataclasses import replace

from ...domain.difference import with_noise
from ...domain.endpoint import Endpoint
from ..decisions import Decisions
from .scatter import Spread, latest

__all__ = ["informing", "known", "sentence"]


def known(ledger: Decisions) -> tuple[Spread, ...]:
    """Return what the last decision used, as the log says; before the first one what the history says."""
    return latest(ledger, ledger.spreads)


def informing(ledger: Decisions) -> tuple[Endpoint, ...]:
    """Return the endpoints with the noise that estimates and probabilities use: the estimate where it is not known."""
    found = {one.endpoint: one.shown for one in known(ledger)}
    if not found:
        return ledger.endpoints
    return tuple(with_noise([replace(e, noise_sd=found.get(k, e.noise_sd)) for k, e in enumerate(ledger.endpoints)]))


def sentence(ledger: Decisions, one: Spread) -> str:
    """``assay noise of pIC50 estimated: 0.21 from 34 degrees of freedom, at most 0.27 is used``."""
    name = ledger.endpoints[one.endpoint].scale_name
    if one.sd is None:
        return f"assay noise of {name} not known yet ({one.guess:.2g} is a guess for the first plan)"
    used = f"at most {one.used:.2g} is used" if math.isfinite(one.used) else "too few to decide anything"
    if one.sd == 0:
        used = "which decides nothing: measurements made independently never all agree exactly"
    degrees = f"{one.freedom:,} degree{'' if one.freedom == 1 else 's'} of freedom"
    return f"assay noise of {name} estimated: {one.sd:.2g} from {degrees}, {used}"
