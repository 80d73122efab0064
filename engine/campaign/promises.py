"""The goal, state and guarantee of a campaign in a chemist's words, for every goal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from ..domain.measurements import Measurement
from ..strategies.protocol import IN, NOT_ESTIMABLE, State, StopReason
from ..text import joined, many, number, odds, percent, roughly
from ..text import listed as names
from . import noise as assay_noise
from . import series
from .additivity import deviations
from .control_quality import quality
from .replay import Ledger
from .state import Candidates, Claim, Guarantee

WAY_ON = "The series model takes all of it as data, and asks for none of these assumptions."
"""The advice when a proof is void."""


def _best(ledger: Ledger) -> str:
    endpoint = ledger.endpoints[ledger.objective]
    return f"the {'lowest' if endpoint.sign < 0 else 'best'} {endpoint.scale_name}"


def _scales(ledger: Ledger) -> list[str]:
    return [ledger.endpoints[k].scale_name for k in ledger.goal_endpoints]


def _everywhere(ledger: Ledger) -> str:
    return "both" if len(ledger.goal_endpoints) == 2 else "all of them"


def _limits(ledger: Ledger) -> str:
    """Return the limits as one text: ``hERG < 5 and logD < 3``; empty without any."""
    return joined([ledger.endpoints[k].limit_text for k in ledger.limited]) if ledger.limited else ""


def _margins(ledger: Ledger) -> str:
    """Return the differences that do not matter: ``0.3``, or ``0.3 in pIC50 and 0.2 in hERG``.

    Empty when all matter.
    """
    margins = ledger.margins
    if not any(margins):
        return ""
    if len(set(margins)) == 1:
        return number(margins[0])
    return joined([f"{number(m)} in {scale}" for m, scale in zip(margins, _scales(ledger), strict=True)])


def goal_sentence(ledger: Ledger) -> str:
    """Return the goal: ``All compounds within 0.5 of the best pIC50, cutoff soft by 0.25, 95 % sure``."""
    settings = ledger.settings
    sure = f"{percent(1 - settings.delta, 10)} sure"
    soft = ledger.far(settings.softness)
    match settings.goal:
        case "pareto":
            margins = _margins(ledger)
            words = f"The best trade-offs between {joined(_scales(ledger))}"
            words += f", differences up to {margins} not counted" if margins else ""
        case "best":
            words = f"The compound with {_best(ledger)}"
            words += f", or one within {soft} of it" if settings.softness > 0 else ""
        case "top":
            words = f"The {settings.top:,} compounds with {_best(ledger)}"
            words += f", or others within {soft} of the last" if settings.softness > 0 else ""
        case _:
            words = f"All compounds within {ledger.far(settings.distance)} of {_best(ledger)}"
            words += f", cutoff soft by {soft}" if settings.softness > 0 else ""
    limit = _limits(ledger)
    return f"{words}{f', {limit}' if limit else ''}, {sure}"


def probability_names(ledger: Ledger) -> tuple[str, str]:
    """Return the texts of a compound's two probabilities, to be put behind a P; one text twice where they are equal."""
    settings = ledger.settings
    match settings.goal:
        case "pareto":
            margins = _margins(ledger)
            return "trade-off", f"trade-off up to {margins}" if margins else "trade-off"
        case "best":
            return "best", f"within {ledger.far(settings.softness)}" if settings.softness > 0 else "best"
        case "top":
            near = f"within {ledger.far(settings.softness)} of them" if settings.softness > 0 else ""
            return f"top {settings.top}", near or f"top {settings.top}"
        case _:
            return (
                f"within {ledger.far(settings.distance)}",
                f"within {ledger.far(settings.distance + settings.softness)}",
            )


def claim(ledger: Ledger, state: State, promise: Guarantee) -> Claim:
    """Return how sure the present set is: expected errors under the series model, else the proof."""
    if not ledger.calibrated:
        return Claim(promise.kind)
    known = series.knowledge(ledger, state)
    if known is None:
        return Claim("calibrated")
    return Claim("calibrated", known.expected_missed, known.expected_wrong, known.p_wrong)


def _calibrated(ledger: Ledger, counts: Mapping[str, int]) -> Guarantee:
    """Return the claim of the series model: expected errors, and their basis."""
    known = series.knowledge(ledger, ledger.current())
    assumptions = tuple(ledger.strategy.assumes(ledger.state.problem))
    if known is None:
        what = "Not every endpoint of the goal" if ledger.measurements else "Nothing"
        sentence = f"{what} was measured yet, so nothing is claimed"
    else:
        members = "best trade-offs" if ledger.settings.goal == "pareto" else "members"
        missing = f"{roughly(known.expected_missed)} {members} are expected to be missing"
        sentence = f"No compound is in; {missing}"
        if counts["in"]:
            wrong = f"{roughly(known.expected_wrong)} are expected to be wrong"
            # Of the best ones others may be right, too: those within the slack.
            sentence = f"Of {counts['in']:,} in, {wrong}"
            sentence += "" if ledger.settings.goal in ("best", "top") else f"; {missing}"
    if ledger.library.partial:
        sentence += f", of the {len(ledger.library):,} listed of {ledger.library.n_combinations:,} combinations"
    sentence += ". Calibrated on real series, not proven: effects need not add up."
    first = ledger.endpoints[ledger.objective]
    stated = None if first.noise_estimated or first.curves else first.noise_sd
    if known is not None and stated and not math.isclose(known.noise[0], stated, rel_tol=1e-6):
        sentence += (
            f" Replicates scatter more than the stated noise: an SD of {known.noise[0]:.2g} is used, not {stated:.2g}."
        )
    return Guarantee(ledger.settings.delta, True, assumptions, (), sentence, "calibrated")


def statement(
    ledger: Ledger, candidates: Candidates, counts: Mapping[str, int], reasons: Sequence[StopReason], *, holds: bool
) -> str:
    """Return what is known now, in a sentence or two.

    What the set contains for sure only while the guarantee ``holds``.
    """
    tail = f" {counts['not_estimable']:,} cannot be estimated." if counts["not_estimable"] else ""
    tally = f"{counts['in']:,} in, {counts['undecided']:,} undecided, {counts['out']:,} out"
    used = many(ledger.spent(), "measurement")
    if ledger.calibrated:
        promise = _calibrated(ledger, counts).first
        if reasons and reasons[0].name == "decided":
            return f"Finished after {used}: {tally}. {promise}."
        why = f"Stopped after {used}: {reasons[0].text}. " if reasons else f"After {used}: "
        return f"{why}{tally}. {promise}."
    if reasons and reasons[0].name == "decided":
        if ledger.settings.goal == "best":
            found, sure = _found_best(ledger, candidates)
        elif ledger.settings.goal == "pareto":
            found, sure = _found_trade_offs(ledger, counts)
        else:
            found, sure = _found_set(ledger, counts)
        if not holds:
            return f"Decided after {used}: {found}, as the best estimate without a guarantee.{tail}"
        return f"Decided after {used}: {found}{sure}.{tail}"
    if reasons:
        return f"Stopped after {used}: {reasons[0].text}. {tally}.{tail}"
    if not ledger.phases:
        return f"Nothing is decided yet: {many(counts['undecided'], 'compound')} undecided, {used} in.{tail}"
    return f"After {used}: {tally}.{tail}"


def _found_set(ledger: Ledger, counts: Mapping[str, int]) -> tuple[str, str]:
    settings = ledger.settings
    within, worst = ledger.far(settings.distance), ledger.far(settings.distance + settings.softness)
    found = f"{counts['in']:,} of {many(len(ledger.library), 'compound')} {'is' if counts['in'] == 1 else 'are'} in"
    if not counts["in"]:
        # Only possible when the best were lost on the way: everything left is certainly worse than they were.
        return found, f"; what is left is worse than {_best(ledger)} by more than {within}"
    every = f"Every compound within {within} of {_best(ledger)} is among them"
    return found, f". {every}, and none that is worse by more than {worst}"


def _found_best(ledger: Ledger, candidates: Candidates) -> tuple[str, str]:
    ids = [ledger.library.ids[compound] for compound in np.flatnonzero(candidates.status == IN)]
    if not ids:
        return "no compound is in; the best cannot be named", ""
    slack = ledger.settings.softness
    have = "has" if len(ids) == 1 else "have"
    return f"{names(ids)} {have} {_best(ledger)}", f", or one within {ledger.far(slack)} of it" if slack > 0 else ""


def _found_trade_offs(ledger: Ledger, counts: Mapping[str, int]) -> tuple[str, str]:
    are = "is a best trade-off" if counts["in"] == 1 else "are the best trade-offs"
    found = f"{counts['in']:,} of {many(len(ledger.library), 'compound')} {are} between {joined(_scales(ledger))}"
    margins = _margins(ledger)
    by = f" by more than {margins}" if margins else ""
    return found, f": no other compound is better in {_everywhere(ledger)}{by}"


def broken(ledger: Ledger) -> tuple[str, ...]:
    """Return why nothing is guaranteed at this moment; empty while something is."""
    if ledger.calibrated:
        return ()
    return (*_broken(ledger), *ledger.strategy.void(ledger.state.problem))


def guarantee(ledger: Ledger, counts: Mapping[str, int], reasons: Sequence[StopReason]) -> Guarantee:
    """Return what is promised and under which assumptions, true at this moment."""
    if ledger.calibrated:
        return _calibrated(ledger, counts)
    happened, assumptions = _broken(ledger), _assumptions(ledger, counts)
    void = [*happened, *ledger.strategy.void(ledger.state.problem)]
    if void:
        more = " any more" if ledger.seen() and happened else ""
        sentence = f"No guarantee{more}: {'; '.join(void)}. The set is the best estimate. {WAY_ON}"
    else:
        undecided = "" if reasons and reasons[0].name == "decided" else " or undecided"
        promise = _promise(ledger, counts, undecided)
        sentence = f"{promise}; wrong at most {odds(ledger.settings.delta)}. Assumes {'; '.join(assumptions)}."
        sentence += "".join(f" {one.sentence}" for one in deviations(ledger) if one.found.freedom)
    kind: Literal["none", "proven"] = "none" if void else "proven"
    return Guarantee(ledger.settings.delta, not void, tuple(assumptions), tuple(void), sentence, kind)


def _promise(ledger: Ledger, counts: Mapping[str, int], undecided: str) -> str:
    settings = ledger.settings
    match settings.goal:
        case "pareto":
            margins, everywhere = _margins(ledger), _everywhere(ledger)
            by = f" by more than {margins}" if margins else ""
            every, none = "Every compound", "none that another beats"
            if counts["not_estimable"]:
                every, none = "Of the compounds that can be estimated, every one", "none that another of them beats"
            promise = (
                f"{every} that no other truly beats in {everywhere} is in{undecided}; {none} in {everywhere}{by} is in"
            )
        case "best":
            near = f" or one within {ledger.far(settings.softness)} of it" if settings.softness > 0 else ""
            subject = "The compound that is in" if not undecided else "The compound that ends up in"
            promise = f"{subject} truly has {_best(ledger)}{near}"
        case _:
            subject = "Every compound that can be estimated and is" if counts["not_estimable"] else "Every compound"
            promise = (
                f"{subject} truly within {ledger.far(settings.distance)} of {_best(ledger)} is in{undecided}; "
                f"none that is worse by more than {ledger.far(settings.distance + settings.softness)} is in"
            )
    return promise


def _scatter(ledger: Ledger) -> list[str]:
    """Return how measurements of one compound are taken to scatter; under a link as its own kind of values does."""
    measured = [ledger.endpoints[k] for k in ledger.measured]
    estimated = assay_noise.known(ledger)
    unknown = {one.endpoint for one in estimated}
    normal = [ledger.endpoints[k] for k in ledger.measured if k not in ledger.coarse and k not in unknown]
    several = len(measured) > 1
    found = []
    if normal:
        spread = joined([f"{e.noise_sd or 0.0:.4g}{f' in {e.scale_name}' if several else ''}" for e in normal])
        found.append(f"measurements of one compound scatter independently and normally, SD at most {spread}")
    if unknown:
        found.append("measurements of one compound scatter independently and normally, those of one round, too")
        found += [assay_noise.sentence(ledger, one) for one in estimated]
        if any(one.freedom for one in assay_noise.spreads(ledger, 0)):
            found.append("replicates in the table scatter as those of the campaign do")
    found += [_coarse(ledger, k) for k in ledger.coarse if k in ledger.measured]
    return found


def _coarse(ledger: Ledger, position: int) -> str:
    """Return how yes and no, or counts, are taken to scatter."""
    endpoint, link = ledger.endpoints[position], ledger.link[0]
    if position != ledger.objective or link == "identity":
        return (
            f"measurements of {endpoint.name} are independent, and their sums scatter as those of normal values with "
            "an SD of 0.5, the largest that yes and no can have"
        )
    answers = f"answers, {' or '.join(endpoint.words or ('1', '0'))}"
    what = "counts" if link == "log" else "shares between 0 and 1" if endpoint.kind == "value" else answers
    return f"measurements of {endpoint.name} are independent {what}"


_LOST = "measurements that are missing, left out or corrected are so for reasons unrelated to the values"
"""Return the assumptions of partial rounds, unavailable compounds, and corrected slips."""


def _assumptions(ledger: Ledger, counts: Mapping[str, int]) -> list[str]:
    """Return the assumptions of a proof: its strategy's, one noise, and that no value is lost by choice."""
    found = [*ledger.strategy.assumes(ledger.state.problem), *_scatter(ledger), _LOST]
    for k in ledger.goal_endpoints:
        if ledger.endpoints[k].of is not None:
            both = joined([ledger.endpoints[part].scale_name for part in ledger.behind((k,))])
            found.append(f"errors of {both} are independent of each other: {ledger.endpoints[k].name} is a difference")
    state = ledger.current()
    if bool(state.lost.any()):
        found.append("compounds lost on the way still count for the best, with their last bounds")
    if int((state.lost & (state.status == NOT_ESTIMABLE))[ledger.arm_of].sum()) < counts["not_estimable"]:
        found.append("the best means the best of the compounds that can be estimated")
    return found


def _broken(ledger: Ledger) -> list[str]:
    """Return what happened in the campaign that no proof covers, one reason each; empty while its promise is valid."""
    void = list(ledger.void)
    # What comes of a confirmation decides nothing.
    values = [m for m in ledger.measurements if ledger.matters(m) and not m.withdrawn]
    for found, what in (
        ([m for m in values if m.round > 0 and m.entered.excluded], "left out by the table of results"),
        ([m for m in values if _rests_on(ledger, m) and m.number in ledger.judged], "excluded by judgement"),
        ([m for m in values if m.n > m.counted > 0 and m.excluded is None], "made of more determinations than planned"),
        ([m for m in values if m.relation != "=" and _counts(ledger, m)], "known only as a bound"),
    ):
        if found:
            ids = list(dict.fromkeys(ledger.library.ids[m.compound] for m in found))
            void.append(f"{many(len(found), 'value')} {what} ({names(ids)})")
    return [*void, *quality(ledger).drift, *(one.sentence for one in deviations(ledger) if one.contradicted)]


def _rests_on(ledger: Ledger, m: Measurement) -> bool:
    """Return whether a decision may rest on a value, or the noise that it uses."""
    return m.counted > 0 or assay_noise.informs_noise(ledger, m)


def _counts(ledger: Ledger, m: Measurement) -> bool:
    """Return whether a value known only as a bound counts for decisions, or hides the noise between replicates."""
    return (m.counted > 0 and m.excluded is None) or m.endpoint in assay_noise.estimated(ledger)
