"""The candidates table: the current results for every compound."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from math import isinf, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Floats
from assaypilot.engine.campaign.state import STATUSES, Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.export.measured import bound_text, bounds_note, estimate_text, measured_means, only_bounds
from assaypilot.engine.export.shortlist import availability, confirmed, decimals_of
from assaypilot.engine.text import interval_name, probability

from ..library.library_rows import coded_column, id_column, site_columns, structure_column
from ..session.view import View
from ..tables.filter import Facts, facts_of
from ..tables.ordering import Ranks
from ..tables.properties import Calculated, property_columns
from ..tables.rows import Coded, Column, RowsModel, two_lines

_CONFIRMED_RANK = {False: 0, None: 1, True: 2}
"""Order of the states of a confirmation: those that need attention first; all others come after."""
_CONFIRMED_KIND = {False: "wrong", None: "muted"}
STATUS_RANK = np.array([1, 0, 2, 3])
"""Order of the status codes in a table: in, undecided, out, not estimable."""


SHORT = 18
"""Letters of an endpoint in one line of a heading."""
_SIGNS = {True: "\N{CHECK MARK}", False: "\N{BALLOT X}", None: "\N{HORIZONTAL ELLIPSIS}"}


def confirmed_text(status: Status, compound: int) -> str:
    """``✓ confirmed``, ``✗ not confirmed: 0.62 below predicted``, ``… not measured yet``; empty for all others."""
    words = confirmed(status, compound)
    return f"{_SIGNS[status.confirmation.states.get(compound)]} {words}" if words else ""


def interval_text(low: float, high: float, digits: int = 2) -> str:
    """Return ``7.15 – 7.57``, or words where an end is open; empty for an unknown interval."""
    low, high = float(low), float(high)  # numpy's own numbers are slow one by one
    if isnan(low) or isnan(high):
        return ""
    if isinf(low) and isinf(high):
        return "unbounded"
    if isinf(low):
        return f"below {high:.{digits}f}"
    if isinf(high):
        return f"above {low:.{digits}f}"
    return f"{low:.{digits}f} – {high:.{digits}f}"


def probability_text(value: float) -> str:
    """``0.41``; never a bare 0 or 1, because it is none."""
    return "" if isnan(value) else probability(float(value))


class CandidatesModel(RowsModel):
    """All compounds with status, estimates, bounds, probabilities and, once calculated, properties."""

    def show(self, status: Status, properties: Calculated | None = None) -> None:
        """Take over what a campaign knows."""
        library, known = status.library, status.candidates
        self.fill(
            [
                Column(
                    "status",
                    "Status",
                    lambda row: STATUSES[known.status[row]],
                    lambda: _by_status(status),
                    coded=lambda: Coded(known.status, STATUSES),
                    status=lambda row: int(known.status[row]),
                    width=99 + (14 if (known.status == STATUSES.index("not estimable")).any() else 0),
                ),
                id_column(library),
                *structure_column(library),
                *site_columns(library),
                *_means(status),
                *_numbers(status),
                _measured(status),
                *_confirmed(status),
                _decided(status),
                _available(status),
                *property_columns(status, properties),
            ],
            len(library),
        )


def _by_status(status: Status) -> Ranks:
    """Sort keys: by status, the best estimate first; for trade-offs the most probable one first."""
    known = status.candidates
    best_first = np.nan_to_num(-status.endpoints[status.objective].sign * known.estimate, nan=1e6)
    likely = -np.nan_to_num(known.probability_within_epsilon) * 1e4 if len(status.goal_endpoints) > 1 else 0.0
    return STATUS_RANK[known.status] * 1e9 + likely + np.clip(best_first, -1e8, 1e8)


def _numbers(status: Status) -> list[Column]:
    """Estimates, bounds and probabilities; with several endpoints, comparable columns are neighbours."""
    goal = [status.endpoints[place] for place in status.goal_endpoints]
    limited = [status.endpoints[place] for place in status.limited_endpoints]
    others = [endpoint for k in status.requested_endpoints if (endpoint := status.endpoints[k]) not in goal]
    bounds = [_bounds(status, one, place) for place, one in enumerate(goal)]
    if len(goal) == 1 and not others:
        return [_estimate(status, goal[0], 0), *bounds, *_chances(status)]
    return [
        *(_estimate(status, one, place) for place, one in enumerate([*goal, *others])),
        *_chances(status),
        *(_meets(status, one) for one in limited),
        *_profile_met(status),
        *bounds,
    ]


def _measured_title(name: str) -> str:
    return f"{name}\nmeasured" if len(name) <= SHORT else two_lines(f"{name} measured")


def _means(status: Status) -> list[Column]:
    """Return the mean and count of each measured endpoint, as columns next to the estimate."""

    def column(position: int) -> Column:
        endpoint, means = status.endpoints[position], measured_means(status, position)
        levels = np.full(len(status.library), np.nan)
        for compound, one in means.items():
            if one.values:
                levels[compound] = one.values[0][1]
        several, digits = len(status.requested_endpoints) > 1, decimals_of(status)

        def text(row: int) -> str:
            one = means.get(row)
            return "\N{EN DASH}" if one is None or not one.values else f"{one.text(digits)} ({one.n})"

        return Column(
            "mean" if position == status.objective else f"mean-{endpoint.name}",
            _measured_title(endpoint.scale_name) if several else "Measured\n(n)",
            text,
            lambda: levels,
            number=True,
            tip=f"{endpoint.scale_name}: mean of the values that count, those of the table included, and how many",
            kind=lambda row: None if row in means else "muted",
            name=f"{endpoint.scale_name} measured",
        )

    return [column(position) for position in status.requested_endpoints]


def _estimate(status: Status, endpoint: Endpoint, place: int) -> Column:
    """Return an endpoint's estimate; ``place`` is the one among those shown."""
    estimate, digits = status.candidates.estimates[endpoint.name], decimals_of(status)
    better = (
        f" {'Higher' if endpoint.sign > 0 else 'Lower'} is better." if place < len(status.goal_endpoints) > 1 else ""
    )
    bounds = f" {bounds_note(status)}".rstrip()
    return Column(
        "estimate" if place == 0 else f"estimate-{endpoint.name}",
        two_lines(endpoint.scale_name),
        lambda row: estimate_text(status, endpoint.name, row, digits),
        lambda: estimate,
        number=True,
        tip=f"{endpoint.scale_name}: estimate from everything measured and usable, the table's own values included."
        f"{better}{bounds}",
        name=endpoint.scale_name,
    )


def _bounds(status: Status, endpoint: Endpoint, place: int) -> Column:
    """Return the deciding bounds of an endpoint of the goal."""
    low, high = status.candidates.lows[endpoint.name], status.candidates.highs[endpoint.name]
    several, digits = len(status.requested_endpoints) > 1, decimals_of(status)
    name = interval_name(status.guarantee.kind)
    short = textwrap.shorten(endpoint.scale_name, 18, placeholder=" …")
    return Column(
        "interval" if place == 0 else f"interval-{endpoint.name}",
        f"{short}\n{name[:1].lower()}{name[1:]}" if several else name.replace("% ", "%\n"),
        lambda row: interval_text(low[row], high[row], digits),
        lambda: high - low,
        number=True,
        tip=f"95 % interval of {endpoint.scale_name} under the series model"
        if name != "Bounds"
        else f"Bounds of {endpoint.scale_name} of the last decided phase; empty until one has bounded the compound",
        width=95,
        name=f"{endpoint.scale_name} bounds" if several else "",
    )


def _chances(status: Status) -> list[Column]:
    """P(in the set) and P(acceptable); one column where both are the same."""
    known, settings = status.candidates, status.settings
    unit = status.endpoints[status.objective].scale_unit
    unit = f" {unit}" if unit else ""
    informs = "; informs, never decides"
    match settings.goal:
        case "pareto":
            titles = ("P(trade-\noff)", "P(with\nmargin)")
            first = "Posterior probability that no other compound is better in every endpoint"
            second = f"{first} by more than the differences that do not matter"
        case "best":
            titles = ("P(best)", f"P(within\n{settings.softness:g})")
            first = "Posterior probability of being the best"
            second = f"Posterior probability of being within {settings.softness:g}{unit} of the best"
        case "top":
            titles = (f"P(top\n{settings.top})", f"P(within\n{settings.softness:g})")
            first = f"Posterior probability of being among the best {settings.top}"
            second = f"Posterior probability of being within {settings.softness:g}{unit} of the last of them"
        case _:
            far = settings.distance + settings.softness
            titles = (f"P(within\n{settings.distance:g})", f"P(within\n{far:g})")
            first = f"Posterior probability of being within {settings.distance:g}{unit} of the best"
            second = f"Posterior probability of being within {far:g}{unit} of the best, the soft zone included"
    near, soft = known.probability_within_epsilon, known.probability_within_slack
    made = [("near", titles[0], near, f"{first}{informs}"), ("far", titles[1], soft, second)]
    differ = any(status.margins) if settings.goal == "pareto" else settings.softness > 0
    return [
        _probability(*one, name=one[1].replace("-\n", "-").replace("\n", " ")) for one in (made if differ else made[:1])
    ]


def _meets(status: Status, endpoint: Endpoint) -> Column:
    """P(keeps to an endpoint's limit)."""
    title, limit = endpoint.limit_text, endpoint.limit
    if limit is not None:
        title = f"P({textwrap.shorten(endpoint.name, 18, placeholder=' …')}\n{limit.text})"
    chance = status.candidates.probability_meets[endpoint.name]
    tip = f"Posterior probability that its mean keeps to {endpoint.limit_text}; out only when it certainly fails"
    return _probability(f"meets-{endpoint.name}", title, chance, tip, name=f"P({endpoint.limit_text})")


def _profile_met(status: Status) -> list[Column]:
    """P(profile met), where the campaign has a profile."""
    met = status.candidates.profile_met
    tip = "Probability that every desirability of the profile is at least a half"
    return [] if met is None else [_probability("profile-met", "P(profile\nmet)", met, tip, name="P(profile met)")]


def _probability(key: str, title: str, values: Floats, tip: str, name: str = "") -> Column:
    return Column(
        key, title, lambda row: probability_text(values[row]), lambda: values, number=True, tip=tip, name=name
    )


def _measured(status: Status) -> Column:
    known = status.candidates
    names = [status.endpoints[place] for place in status.measured_endpoints]

    def by_endpoint(row: int) -> str:
        return "\n".join(f"{one.scale_name}: {_times(one, row)}" for one in names)

    def _times(one: Endpoint, row: int) -> str:
        n, limit = int(known.measured_of[one.name][row]), bound_text(status, one.name, row)
        return f"{n} and {limit}" if n and limit else str(n or limit or "never")

    return Column(
        "measured",
        "n",
        lambda row: str(int(known.measured[row])) if known.measured[row] else only_bounds(status, row) or "never",
        lambda: (
            known.measured + 0.5 * (known.censored > 0) * (known.measured == 0)
            if bounds_note(status)
            else known.measured
        ),
        number=True,
        tip="Usable measurements"
        + (", of the endpoint with the fewest" if len(status.goal_endpoints) > 1 else "")
        + "; never: inferred from compounds with the same substituents"
        + ("; <5.0: measured, and known only as a bound" if bounds_note(status) else ""),
        kind=lambda row: None if known.measured[row] or known.censored[row] else "muted",
        cell_tip=by_endpoint if len(names) > 1 else None,
    )


def _decided(status: Status) -> Column:
    """Return the round that decided a compound."""
    known = status.candidates
    return Column(
        "decided",
        "Decided",
        lambda row: f"round {int(known.decided_in_round[row])}" if known.decided_in_round[row] else "",
        lambda: known.decided_in_round,
        tip="The round after which the compound was decided",
        width=67,
    )


def _available(status: Status) -> Column:
    """Whether a compound is there."""
    shown = Column(
        "available",
        "Available",
        str,
        tip="Made: measured at least once. In stock: never measured, stated as available. Else to be made",
        width=84,
    )
    return coded_column(shown, availability_of(status))


def availability_of(status: Status) -> Coded:
    """Return the ``availability`` text of every compound, which depends on a few facts only."""
    made, measurable = status.candidates.made, status.library.measurable
    gone = np.zeros(len(status.library), dtype=bool)
    gone[sorted(status.unavailable)] = True
    facts = made.view(np.int8) << 2 | gone.view(np.int8) << 1 | measurable.view(np.int8)
    if status.stock is not None:
        facts += 8 * status.stock.state
    return Coded(facts, _texts(facts, 32, lambda row: availability(status, row)))


def _texts(codes: NDArray[np.integer[Any]], kinds: int, text: Callable[[int], str]) -> list[str]:
    """Return the text of each code, taken from its first row; empty for codes without a row."""
    there = np.bincount(codes, minlength=kinds) > 0
    return [text(int(np.argmax(codes == code))) if there[code] else "" for code in range(kinds)]


def _confirmed(status: Status) -> list[Column]:
    """Whether a measurement of its own confirms a compound; only where a confirmation round exists."""
    if not status.confirmation.rounds:
        return []
    found = status.confirmation
    whole = {row: confirmed_text(status, row) for row in (*found.states, *found.due, *found.gone)}
    texts = {row: text.split(":")[0] for row, text in whole.items()}
    order = np.full(len(status.library), len(_CONFIRMED_RANK))
    for row in texts:
        order[row] = _CONFIRMED_RANK[found.states.get(row)]
    return [
        Column(
            "confirmed",
            "Confirmed",
            lambda row: texts.get(row, ""),
            lambda: order,
            tip="Whether the one measurement of the confirmation round lies where the model predicted it; empty for "
            "compounds that were measured before",
            kind=lambda row: _CONFIRMED_KIND.get(found.states.get(row)) if row in texts else None,
            cell_tip=lambda row: whole.get(row, ""),
            width=128,
        )
    ]


def filter_facts(status: Status, columns: Sequence[Column]) -> Facts:
    """Return the facts that a filter can use."""
    known = status.candidates
    named = {endpoint.name: known.estimates[endpoint.name] for endpoint in status.endpoints}
    named |= {e.scale_name: known.estimates[e.name] for e in status.endpoints}
    return facts_of(columns, known.estimate, named)


def filter_hint(status: Status) -> str:
    """Return examples for the filter, with names of this campaign."""
    names = [status.endpoints[place].scale_name for place in status.requested_endpoints]
    short = next((name for name in names[1:] if " " not in name and len(name) < 12), "")
    return f"Filter: R1=Me, >7.5{f', {short}<5' if short else ''}"


def when_words(view: View) -> str:
    """Return the basis of the page's numbers, in a few words."""
    status = view.status
    closed = [one.number for one in status.rounds if one.state == "closed"]
    standing = status.open_round
    parts = [f"after round {max(closed)}" if closed else "before the first round"]
    sure = status.claim.p_wrong is not None and status.claim.p_wrong <= status.settings.delta
    # The page shows above that nothing is undecided, and how sure a calibrated answer is.
    if status.finished and status.finish_reason and not sure and (status.candidates.status == 0).any():
        parts.append(status.finish_reason)
    if standing is not None and standing.came > 0:
        back, requested = standing.came, standing.measurements
        parts.append(f"estimates include {back:,} of {requested:,} results of round {standing.number}")
    return " · ".join(parts)
