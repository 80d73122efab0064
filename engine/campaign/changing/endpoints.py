"""One more endpoint in the middle of a campaign: recorded only, or with a limit from the next phase on.

**Recorded only.** It decides nothing, is asked for in no round, and nothing that was decided or will be depends on it.

**With a limit.** From the next phase on every compound is measured for it, too; a phase is measured for what it was
planned for, so none is under way when that changes. After results that ends the guarantee, as any change does.

**As a second objective** it changes the question: what is as good as nothing else in both. Phases that did not measure
it say nothing of that, so nothing that was decided carries over: the campaign begins anew, with what was measured as
its history (``restarting``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...domain.difference import check_differences
from ...domain.endpoint import Endpoint
from ...errors import AssayPilotError

__all__ = ["added_in_words", "one_more", "only_recorded"]

_USUAL = 0.3
"""The SD that plans start from where nobody knows it: of log values, as biochemical assays have it."""


def one_more(endpoints: Sequence[Endpoint], new: Endpoint) -> Endpoint:
    """Return the endpoint as it comes to those there are; AssayPilotError where it cannot."""
    taken = next((one.name for one in endpoints if one.name.casefold() == new.name.casefold()), None)
    if taken is not None:
        raise AssayPilotError(
            f"there is an endpoint {taken} already", option="--endpoint", mend="Give the new one another name."
        )
    check_differences([*endpoints, new])
    if new.limit is None or new.of is not None or new.noise_sd is not None:
        return new
    if new.noise_estimated and new.is_log:
        return replace(new, noise_sd=_USUAL)
    guess = " Or sd=unknown:0.2, with a guess, where nobody knows it." if not new.noise_estimated else ""
    raise AssayPilotError(
        f"nothing says about how large the assay noise (SD) of {new.name} is, and a limit is decided by it",
        option="--endpoint",
        mend=f'Say it: --endpoint "{new.name};sd=0.3;limit=...".{guess}',
    )


def only_recorded(change: Mapping[str, Any]) -> bool:
    """Whether a change, as the log keeps it, is an endpoint that decides nothing."""
    return change["what"] == "endpoint" and change["after"].get("limit") is None


def added_in_words(change: Mapping[str, Any]) -> str:
    """Such a change in a few words: ``the endpoints, by Solubility (recorded only)``."""
    new = Endpoint.from_json(change["after"])
    return f"the endpoints, by {new.name} ({new.limit_text or 'recorded only'})"
