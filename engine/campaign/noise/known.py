"""The assay noise of a campaign as it is known now, where it was not stated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from assaypilot.engine.arrays import Floats
from assaypilot.engine.campaign.decisions import Decisions
from assaypilot.engine.campaign.noise import precision
from assaypilot.engine.campaign.noise.scatter import Spread, latest
from assaypilot.engine.campaign.plates.blocking import Together, everything
from assaypilot.engine.difference import with_noise
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.models.sd_bound import TARGET

__all__ = ["beside_blocks", "informing", "known", "sentence", "told_within_blocks", "who", "worth"]


def known(ledger: Decisions) -> tuple[Spread, ...]:
    """What the last decision used, as the log says; before the first one what the history says."""
    return latest(ledger, ledger.spreads)


def told_within_blocks(ledger: Decisions) -> bool:
    """Whether replicates have to share a block, and so a round, to tell a noise that is not known well enough yet."""
    return ledger.settings.blocks != "none" and any(one.freedom < TARGET for one in known(ledger))


def informing(ledger: Decisions) -> tuple[Endpoint, ...]:
    """The endpoints with the noise that estimates and probabilities use: the estimate where it is not known."""
    told = known(ledger)
    found = {one.endpoint: one.shown for one in told if one.group is None}
    if not told:
        return ledger.endpoints
    endpoints = [replace(e, noise_sd=found.get(k, e.noise_sd)) for k, e in enumerate(ledger.endpoints)]
    for k in {one.endpoint for one in told if one.group is not None}:
        endpoints[k] = _by_class(endpoints[k], [one for one in told if one.endpoint == k])
    return tuple(with_noise(endpoints))


def _by_class(endpoint: Endpoint, told: Sequence[Spread]) -> Endpoint:
    """The endpoint with the SD of each class as it is estimated; its own is the largest of those that count."""
    assert endpoint.noise_classes is not None
    sds = list(endpoint.noise_classes.guesses)
    for one in told:
        sds[one.group or 0] = one.shown
    own = endpoint.noise_classes.with_guesses(sds)
    return replace(endpoint, noise_classes=own, noise_sd=own.largest)


def worth(ledger: Decisions, position: int) -> Floats:
    """``(n_compounds,)``, how many measurements of the largest SD one of each is worth, by the noise as it is known."""
    return precision.worth(informing(ledger), ledger.library, position)


def beside_blocks(ledger: Decisions, position: int) -> Together:
    """Everything of an endpoint by compound and block, counted as measurements of its largest SD."""
    told, endpoint = everything(ledger, position), informing(ledger)[position]
    if endpoint.noise_classes is None:
        return told
    each = precision.worth((endpoint,), ledger.library, 0)[ledger.first]
    of_control = precision.of_control(endpoint)
    return told._replace(counts=told.counts * each[told.arms], control_counts=told.control_counts * of_control)


def who(ledger: Decisions, one: Spread) -> str:
    """The class of compounds an estimate is of: ``with Ph at R1``, ``of all others``; empty for all together."""
    own = ledger.endpoints[one.endpoint].noise_classes
    return "" if one.group is None or own is None else own.who(own.classes[one.group])


def sentence(ledger: Decisions, one: Spread) -> str:
    """``assay noise of pIC50 estimated: 0.21 from 34 degrees of freedom, at most 0.27 is used``."""
    endpoint = ledger.endpoints[one.endpoint]
    name = endpoint.scale_name
    if one.group is not None:
        name += f" {who(ledger, one)}"
    if one.sd is None:
        return f"assay noise of {name} not known yet ({one.guess:.2g} is a guess for the first plan)"
    used = f"at most {one.used:.2g} is used" if math.isfinite(one.used) else "too few to decide anything"
    if one.sd == 0:
        used = "which decides nothing: measurements made independently never all agree exactly"
    degrees = f"{one.freedom:,} degree{'' if one.freedom == 1 else 's'} of freedom"
    return f"assay noise of {name} estimated: {one.sd:.2g} from {degrees}, {used}"
