"""A campaign begun anew in a file of its own, with other sites taken together, and what was measured as its history.

Which sites act together shapes every design and every bound, and is mostly seen from results. So a campaign never
changes it on the way: a new one begins, with the same compounds, goal and endpoints. What was measured is its history,
shown and used to estimate; decisions rest on what it measures itself, so that the guarantee holds although the pair was
chosen by values. Before the first result that costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Source, Status
from assaypilot.engine.campaign.words import joined, many
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import SiteFeatures, span_rank
from assaypilot.engine.interactions import Pairs, chosen_pairs, pair_name
from assaypilot.engine.measurements import Measurement, Result
from assaypilot.engine.progress import Report, silent

__all__ = ["begin_anew", "consequences_of_pairs"]


def consequences_of_pairs(now: Status, texts: Sequence[str]) -> tuple[str, ...]:
    """What beginning anew with these pairs of sites together does, in sentences; no text: with none.

    AssayPilotError for what is no pair, or when the campaign takes just these together already.
    """
    pairs = _pairs(now, texts)
    library = replace(now.library, interactions=pairs)
    before, after = (span_rank(SiteFeatures.of(one)) for one in (now.library, library))
    taken = joined([pair_name(pair) for pair in pairs]) if pairs else "no sites"
    told = [
        f"A new campaign begins, which takes {taken} together: {after:,} unknowns instead of {before:,}. This file "
        "stays as it is."
    ]
    if pairs:
        told.append("A combination of such substituents that cannot be measured in any compound cannot be estimated.")
    kept = len(_history(now))
    if kept:
        told.append(
            f"{many(kept, 'value')} go with it as history: shown and used to estimate, not to decide. So its guarantee "
            "holds, although the pair was chosen by them; what was decided here is decided anew."
        )
    if now.stock is not None:
        told.append("What was said of stock and costs is not taken over: say it there again.")
    if kept and now.settings.blocks != "none":
        told.append("The values go as they are, effects of their plates in them; its own rounds have blocks as here.")
    return tuple(told)


def begin_anew(now: Status, path: str | Path, texts: Sequence[str], report: Report = silent) -> Campaign:
    """The new campaign, open, in a new file; AssayPilotError, and nothing written, when it cannot be made."""
    measurable = now.library.measurable.copy()
    measurable[sorted(now.unavailable)] = False
    library = replace(now.library, interactions=_pairs(now, texts), measurable=measurable)
    return Campaign.create(
        path,
        library=library,
        endpoints=now.endpoints,
        settings=replace(now.settings, strategy=now.strategy),
        history=_history(now),
        source=Source(now.name),
        report=report,
    )


def _pairs(now: Status, texts: Sequence[str]) -> Pairs:
    pairs = chosen_pairs([site.name for site in now.library.sites], texts)
    if set(pairs) == set(now.library.interactions):
        taken = joined([pair_name(pair) for pair in pairs]) if pairs else "no sites"
        raise AssayPilotError(f"this campaign takes {taken} together already", option="--interaction")
    return pairs


def _history(now: Status) -> list[Result]:
    """What was measured and can be used or shown, as it was entered; what was corrected, as it is now."""
    return [_as_it_is(now, m) for m in now.measurements if not m.withdrawn and m.excluded is None]


def _as_it_is(now: Status, m: Measurement) -> Result:
    if m.corrected is None:
        return replace(m.entered, compound=now.library.ids[m.compound])
    endpoint = now.endpoints[m.endpoint]
    return replace(
        m.entered,
        compound=now.library.ids[m.compound],
        value=endpoint.from_model(m.value),
        relation=endpoint.relation_on_model(m.relation),  # a flip, and so its own opposite
        unit=None,
    )
