"""Differences of two measured endpoints, such as a selectivity: endpoints that are calculated and never measured.

A profile (see ``desirability``) is the other kind; what is calculated of either, from its parts, is found here.

A difference lives on the model scale, pIC50(target) - pIC50(off-target). It is a pure function of its two parts at the
point where counts and means are made; everything behind that point takes it for one more endpoint. What the lab
measures, and what is entered, are the parts.

Its noise: one measurement of each part gives a difference of variance sd_a^2 + sd_b^2, their errors being independent
of each other (where they rise and fall together it is smaller). Means of n_a and n_b measurements have a difference of
variance sd_a^2 / n_a + sd_b^2 / n_b, which is that of

    n = (sd_a^2 + sd_b^2) / (sd_a^2 / n_a + sd_b^2 / n_b)

pairs: the effective count (Kish), n_a where both are equal, 0 where one is missing. It is made of counts alone, never
of values, so it is like any count that is fixed before the values.

A difference in a goal with one of its own parts has errors correlated with that part's. Decisions allow
for that: the error probability is shared out among endpoints by a union bound (a factor d in the logarithm of GEGE),
which needs no independence between them, and what one endpoint's bounds promise rests on that endpoint's own errors
alone. The posterior probability of being a trade-off does take the endpoints as independent; it informs and never
decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Floats
from ..errors import AssayPilotError
from .endpoint import Endpoint
from .measurements import Pooled
from .profiles import Known, profile_of

_MINUS = "-\N{MINUS SIGN}\N{EN DASH}"
_EXAMPLE = "For example Selectivity = pIC50 - hERG."


def parts(endpoints: Sequence[Endpoint], position: int) -> tuple[int, ...]:
    """Return the positions of the endpoints that are measured for one: its own, or those of its parts."""
    of = endpoints[position].of
    if of is None:
        return (position,)
    names = [endpoint.name for endpoint in endpoints]
    return tuple(names.index(name) for name in of)


def behind(endpoints: Sequence[Endpoint], positions: Sequence[int]) -> tuple[int, ...]:
    """Return the positions of all endpoints that are measured for these, each once, in their order."""
    return tuple(dict.fromkeys(part for position in positions for part in parts(endpoints, position)))


def pooled_of(
    endpoints: Sequence[Endpoint], position: int, measured: Callable[[int], Pooled], known: Known | None = None
) -> Pooled:
    """Return counts and means of an endpoint.

    ``measured`` gives those of one that is measured, by its position; ``known`` the properties of a profile.
    """
    own = parts(endpoints, position)
    if endpoints[position].of is None:
        return measured(position)
    if endpoints[position].curves:
        return _scores(endpoints, position, [measured(part) for part in own], known)
    first, second = (endpoints[part].noise_sd for part in own)
    return difference(measured(own[0]), measured(own[1]), (first, second))


def difference(first: Pooled, second: Pooled, sds: tuple[float | Floats | None, float | Floats | None]) -> Pooled:
    """Return effective counts and means of the first minus the second, per arm; count and mean 0 where one is missing.

    ``sds``: the noise of one measurement of each, for all or ``(n_arms,)``; taken as equal where one is not known.
    """
    known = [np.asarray(sd, dtype=np.float64) for sd in sds if sd is not None]
    a, b = (known[0] ** 2, known[1] ** 2) if len(known) == 2 else (np.ones(()), np.ones(()))
    both = (first.counts > 0) & (second.counts > 0)
    scatter = a * second.counts + b * first.counts
    pairs = np.divide((a + b) * first.counts * second.counts, scatter, out=np.zeros(len(both)), where=both)
    # Exact, so that a phase that returned whole is seen to be whole.
    counts = np.where(first.counts == second.counts, first.counts, pairs)
    return Pooled(counts, np.where(both, first.means - second.means, 0.0))


def _scores(endpoints: Sequence[Endpoint], position: int, of_parts: Sequence[Pooled], known: Known | None) -> Pooled:
    """Return the scores of compounds of which every part of a profile was measured, with the smallest count."""
    profile = profile_of(endpoints, position, known)
    counts = np.min([one.counts for one in of_parts], axis=0)
    signs = [endpoints[part].sign for part in profile.parts]
    values = np.array([sign * one.means for sign, one in zip(signs, of_parts, strict=True)])
    return Pooled(counts, np.where(counts > 0, profile.score(values), 0.0))


def with_noise(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    """Return the endpoints, those that are calculated with the noise that their parts give them.

    None where that of a part is not known.
    """
    out = []
    for position, endpoint in enumerate(endpoints):
        if endpoint.of is not None:
            known = [sd for part in parts(endpoints, position) if (sd := endpoints[part].noise_sd) is not None]
            if len(known) < len(endpoint.of):
                sd = None
            else:
                sd = profile_of(endpoints, position).noise(known) if endpoint.curves else math.hypot(*known)
            endpoint = replace(endpoint, noise_sd=sd)
        out.append(endpoint)
    return out


def in_words(endpoints: Sequence[Endpoint], position: int) -> str:
    """Return how an endpoint is calculated: ``pIC50 - phERG``, ``pIC50:6..8, phERG:6..5``; empty for a measured one."""
    if endpoints[position].of is None:
        return ""
    if endpoints[position].curves:
        return ", ".join(curve.text for curve in endpoints[position].curves)
    return " - ".join(endpoints[part].scale_name for part in parts(endpoints, position))


def find_parts(name: str, text: str, endpoints: Sequence[Endpoint]) -> tuple[str, str]:
    """Return the names of the two endpoints that a text like ``pIC50 - hERG`` subtracts from each other.

    Names may contain minus signs and blanks of their own: every minus is tried, and one must split the text into two
    endpoints (by name, or by what they are modelled as). AssayPilotError when none does, or more than one.
    """
    known: dict[str, list[str]] = {}
    for endpoint in endpoints:
        for spelling in dict.fromkeys(map(_plain, (endpoint.name, endpoint.scale_name))):
            known.setdefault(spelling, []).append(endpoint.name)
    found: list[tuple[str, str]] = []
    for minus in re.finditer(f"[{_MINUS}]", text):
        first, second = (known.get(_plain(side), []) for side in (text[: minus.start()], text[minus.end() :]))
        found += [(a, b) for a in first for b in second]
    found = list(dict.fromkeys(found))
    if not found:
        named = ", ".join(endpoint.name for endpoint in endpoints) or "none"
        raise AssayPilotError(
            f"{name} must be one endpoint minus another, and {text!r} is not; the endpoints are: {named}",
            option="--endpoint",
            mend=_EXAMPLE,
        )
    if len(found) > 1:
        readings = " and as ".join(f"{a!r} minus {b!r}" for a, b in found)
        raise AssayPilotError(
            f"{name} can be read as {readings}", option="--endpoint", mend="Give one of the columns another name."
        )
    return found[0]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def check_differences(endpoints: Sequence[Endpoint]) -> None:
    """Raise AssayPilotError for a difference of what is not measured, is one endpoint, or is no logarithm."""
    by_name = {endpoint.name: endpoint for endpoint in endpoints}
    for whole in endpoints:
        if whole.of is None or whole.curves:
            continue
        for name in whole.of:
            if name not in by_name:
                named = ", ".join(endpoint.name for endpoint in endpoints if endpoint.of is None)
                raise AssayPilotError(
                    f"{whole.name} is made of {name}, which is no endpoint; there are {named}",
                    option="--endpoint",
                    mend=_EXAMPLE,
                )
            if by_name[name].of is not None:
                raise AssayPilotError(
                    f"{whole.name} is made of {name}, which is a difference itself",
                    option="--endpoint",
                    mend="Name two endpoints that are measured.",
                )
        first, second = (by_name[name] for name in whole.of)
        if first is second:
            raise AssayPilotError(
                f"{whole.name} is {first.name} minus itself", option="--endpoint", mend="Name two endpoints."
            )
        _check_scales(whole.name, first, second)


def _check_scales(name: str, first: Endpoint, second: Endpoint) -> None:
    for part, other in ((first, second), (second, first)):
        if not part.is_log:
            raise AssayPilotError(
                f"{name} needs two endpoints on a log scale, and {part.name} is not known to be on one",
                option="--endpoint",
                mend=f"Give the unit of {part.name}: log where its values are logarithms, for example nM where they "
                "are concentrations.",
            )
        if part.transform == "log" and not part.unit and not (other.transform == "log" and not other.unit):
            raise AssayPilotError(
                f"{name} subtracts {second.scale_name} from {first.scale_name}, and without a unit {part.name} may be "
                "a concentration, whose logarithm counts the other way round",
                option="--endpoint",
                mend=f"Give the unit of {part.name}, for example nM.",
            )
