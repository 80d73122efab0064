"""Results as they come in: matched to compounds, put on the model scale, told apart from what is there already."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...domain.difference import in_words
from ...domain.endpoint import Endpoint
from ...domain.library import Library
from ...domain.measurements import Measurement, Result
from ...domain.p_scale import about_unit, unusual
from ...errors import AssayPilotError
from ..replay import Ledger
from .duplicates import place_of, questioned, without_duplicates

_MOST_DETERMINATIONS = 100_000
"""N above this is a slip of the keyboard; estimates would lose their digits to it."""
_MADE_BY_TABLE = "excluded in the table"


@dataclass(frozen=True, slots=True)
class Past:
    """What a late result of one endpoint may belong to, and what it may not be taken for."""

    rounds: frozenset[int] = frozenset()
    """The rounds of other phases than the one under way."""
    lost: Mapping[int, int] = field(default_factory=dict)
    """Measurements that decided phases never got, by compound."""
    asked: Mapping[int, int] = field(default_factory=dict)
    """Measurements that the open round still waits for, by compound."""


@dataclass(frozen=True, slots=True)
class Due:
    """What the phase under way still waits for of one endpoint."""

    outstanding: Mapping[int, int]
    """Measurements by compound."""
    past: Past = field(default_factory=Past)


@dataclass(frozen=True, slots=True)
class Intake:
    """What a batch of results comes to."""

    measurements: tuple[Measurement, ...]
    duplicates: int
    rejected: tuple[tuple[int | None, str], ...]
    """(row, reason)."""
    warnings: tuple[str, ...]


def prepare(
    library: Library,
    endpoints: Sequence[Endpoint],
    results: Iterable[Result],
    *,
    first_number: int,
    due: Mapping[int, Due] | None = None,
    phase: int = 0,
    round_number: int = 0,
    earlier: Sequence[Measurement] = (),
    typed: bool = False,
    check: Callable[[int, float], None] | None = None,
    coarse: Collection[int] = (),
) -> Intake:
    """Return the measurements that results stand for, numbered from ``first_number``.

    A result of an endpoint that is ``due`` counts for ``phase`` as far as its compound is outstanding there. When a
    batch holds more of a compound than that, which of them count is drawn by lot, never taken from the order of the
    rows, since a lab may sort its file by value. A result of a round of the past, or beyond what the open round asks
    while a decided phase still lacks one of its compound, is taken for a late one and counts for none. ``earlier``
    measurements are looked through for duplicates, except for ``typed`` values without round, plate, well and date,
    which are two when they are typed twice. ``check`` refuses a value (endpoint, model scale) that cannot be used.
    ``coarse`` endpoints have few values, such as yes and no or counts.
    """
    kept: list[Measurement] = []
    rejected: list[tuple[int | None, str]] = []
    for result in results:
        try:
            measurement = _measurement(library, endpoints, result)
            if check is not None:
                check(measurement.endpoint, measurement.value)
            kept.append(measurement)
        except AssayPilotError as error:
            rejected.append((result.row, str(error)))
    fresh = without_duplicates(kept, earlier, endpoints, typed, coarse)
    counted = [0] * len(fresh)
    for endpoint, of_it in (due or {}).items():
        for row, counts in _counted(fresh, endpoint, of_it.outstanding, of_it.past, first_number).items():
            counted[row] = counts
    numbered = [
        replace(m, number=first_number + row, round=round_number, phase=phase if counts else 0, counted=counts)
        for row, (m, counts) in enumerate(zip(fresh, counted, strict=True))
    ]
    asked = (*_questions(endpoints, fresh, earlier), *questioned(fresh, earlier, endpoints))
    return Intake(tuple(numbered), len(kept) - len(fresh), tuple(rejected), asked)


_LOTS = 7_251_944
"""Where the lots begin; any constant does, as long as it was fixed before any value was seen."""


def _counted(
    fresh: Sequence[Measurement], endpoint: int, outstanding: Mapping[int, int], past: Past, first_number: int
) -> dict[int, int]:
    """How many planned measurements of an endpoint the results of a batch fill, by their place in it.

    The replicates of a compound in one batch are exchangeable, but their order in the file is not: sorted by value,
    "the first two count" would be "the best two count", which biases every decision made with them. So the surplus
    is dealt with by lot. The lots hang on the compound and the place of the batch in the campaign alone, both fixed
    before the values come, and are dealt to the replicates in an order of their own (of their content), so that the
    same batch gives the same choice in whatever order its rows stand.

    A result that was given up when its round was closed, and comes after its phase was decided, must not enter a
    later phase: that phase was planned on its own, and whoever found the value again had seen it.
    """
    own: dict[int, list[int]] = {}
    for row, m in enumerate(fresh):
        if m.endpoint == endpoint and m.excluded is None and m.compound in outstanding:
            own.setdefault(m.compound, []).append(row)
    counted: dict[int, int] = {}
    for compound, both in own.items():
        rows = [row for row in both if fresh[row].entered.round not in past.rounds]
        left = min(outstanding[compound], _not_late(fresh, both, rows, past))
        if sum(fresh[row].n for row in rows) > left:
            rows.sort(key=lambda row: _content(fresh[row]))
            lots = np.random.default_rng((_LOTS, compound, first_number)).permutation(len(rows))
            # What says that it is of this phase goes before what may be late.
            rows = sorted((rows[lot] for lot in lots), key=lambda row: fresh[row].entered.round is None)
        for row in rows:
            counted[row] = min(fresh[row].n, left)
            left -= counted[row]
    return counted


def _not_late(fresh: Sequence[Measurement], both: Sequence[int], rows: Sequence[int], past: Past) -> int:
    """How many determinations in ``rows``, of one compound, are not taken for late ones of a decided phase.

    Those that say their round are what they say, and the late ones of ``both`` fill what was lost before any other.
    """
    total = sum(fresh[row].n for row in rows)
    silent = sum(fresh[row].n for row in rows if fresh[row].entered.round is None)
    compound = fresh[both[0]].compound
    lost = past.lost.get(compound, 0) - (sum(fresh[row].n for row in both) - total)
    beyond = total - past.asked.get(compound, 0)
    return total - max(0, min(lost, beyond, silent))


def _content(m: Measurement) -> tuple[float, str, int, float, str, str, str, str, str]:
    """All that tells replicates of a compound apart, apart from where they stand in the file."""
    entered = m.entered
    spread = -1.0 if entered.sd is None else entered.sd
    return (m.value, m.relation, m.n, spread, entered.replicate, *place_of(m), entered.comment)


def due_now(ledger: Ledger) -> dict[int, Due]:
    """Return what is due now of each measured endpoint, and what late results of it may belong to."""
    if ledger.under_way is None:
        return _due_to_confirm(ledger)
    left = ledger.outstanding()
    received = {phase: ledger.received(phase) for phase in range(1, len(ledger.phases) + 1)}
    due = {}
    for k in ledger.measured:
        came = [{c: n for (endpoint, c), n in of_it.items() if endpoint == k} for of_it in received.values()]
        outstanding = {compound: n for (endpoint, compound), n in left.items() if endpoint == k}
        due[k] = Due(outstanding, _past(ledger, ledger.under_way.allocation.phase, k, came))
    return due


def _due_to_confirm(ledger: Ledger) -> dict[int, Due]:
    """Return what an open confirmation round waits for; between phases nothing else can be taken for anything.

    What fills it counts for no phase.
    """
    issued = ledger.open_round
    if issued is None or not issued.confirmation:
        return {}
    due: dict[int, dict[int, int]] = {k: {} for k in ledger.measured}
    for (endpoint, compound), n in ledger.awaited(issued):
        due[endpoint][compound] = n
    return {endpoint: Due(left) for endpoint, left in due.items()}


def _past(ledger: Ledger, now: int, endpoint: int, received: Sequence[Mapping[int, int]]) -> Past:
    """Return what late results of an endpoint may belong to in phase ``now``.

    ``received``: what each decided phase got.
    """
    issued = ledger.open_round
    phase_of = {entry.number: entry.phase for entry in ledger.rounds}
    lost: dict[int, int] = {}
    since: dict[int, int] = {}
    for phase, (decided, came) in enumerate(zip(ledger.phases, received, strict=True), start=1):
        if endpoint not in decided.measured:
            continue
        begun = min((number for number, its in phase_of.items() if its == phase), default=0)
        for compound, n in decided.planned.items():
            if n > came.get(compound, 0):
                lost[compound] = lost.get(compound, 0) + n - came.get(compound, 0)
                since.setdefault(compound, begun)
    for m in ledger.measurements if lost else ():
        # Late ones that are here already: they count for no phase.
        own = m.endpoint == endpoint and m.compound in lost and m.round >= max(1, since[m.compound])
        if own and not m.phase and m.excluded is None and not m.withdrawn:
            lost[m.compound] -= m.n
    place = ledger.measured.index(endpoint)
    asked = () if issued is None else zip(issued.items, ledger.returned(issued), strict=True)
    return Past(
        rounds=frozenset(number for number, its in phase_of.items() if its != now),
        lost=lost,
        asked={item.compound: item.of(place) - back[place] for item, back in asked},
    )


def to_mark(ledger: Ledger, names: Iterable[str]) -> tuple[int, ...]:
    """Return the compounds of these ids that are not marked as not to be had yet, each once; refuses an unknown id."""
    compounds: dict[int, None] = {}
    for name in names:
        compound = ledger.library.find(name)
        if compound is None:
            raise AssayPilotError(f"{name!r} is not in the library", option="--unavailable")
        if compound not in ledger.unavailable:
            compounds[compound] = None
    return tuple(compounds)


def on_model(endpoints: Sequence[Endpoint], result: Result) -> tuple[int, float]:
    """Return the position of a result's endpoint, and its value on the model scale; AssayPilotError for neither."""
    entered = [place for place, endpoint in enumerate(endpoints) if endpoint.of is None]
    if result.endpoint is None and len(entered) != 1:
        names = ", ".join(endpoints[place].name for place in entered)
        raise AssayPilotError(f"the result of {result.compound} does not say which endpoint ({names})")
    wanted = None if result.endpoint is None else result.endpoint.strip().casefold()
    known = [endpoint.name.casefold() for endpoint in endpoints]
    if wanted is not None and wanted not in known:
        raise AssayPilotError(f"there is no endpoint {result.endpoint!r}")
    place = entered[0] if wanted is None else known.index(wanted)
    if endpoints[place].of is not None:
        raise AssayPilotError(f"{endpoints[place].name} is calculated ({in_words(endpoints, place)}), never entered")
    if result.n < 1:
        raise AssayPilotError(f"N must be 1 or more, got {result.n}")
    if result.n > _MOST_DETERMINATIONS:
        raise AssayPilotError(f"N is {result.n:,}: that is too many for one compound")
    if result.sd is not None and not (math.isfinite(result.sd) and result.sd >= 0):
        raise AssayPilotError(f"SD must be 0 or more, got {result.sd}")
    return place, endpoints[place].to_model(result.value, result.unit)


def left_out(result: Result) -> str | None:
    """Return why a table says that a value is not to be used; None where it does not."""
    return (result.comment or _MADE_BY_TABLE) if result.excluded else None


def _measurement(library: Library, endpoints: Sequence[Endpoint], result: Result) -> Measurement:
    compound = library.find(result.compound)
    if compound is None:
        raise AssayPilotError(f"{result.compound!r} is not in the library")
    place, value = on_model(endpoints, result)
    return Measurement(
        number=0,
        compound=compound,
        endpoint=place,
        value=value,
        relation=endpoints[place].relation_on_model(result.relation),
        n=result.n,
        entered=result,
        round=0,
        phase=0,
        excluded=left_out(result),
    )


def _questions(
    endpoints: Sequence[Endpoint], fresh: Sequence[Measurement], earlier: Sequence[Measurement]
) -> tuple[str, ...]:
    """Values that look like another unit than the endpoint's, as questions."""
    questions = []
    for m in fresh:
        endpoint = endpoints[m.endpoint]
        # In the words of the tables' reader, so that a value it has asked about already is asked about once.
        asked = None if (m.entered.unit or "").strip() else unusual(endpoint, m.entered.value)
        if asked is not None:
            row = f"Row {m.entered.row}, " if m.entered.row else ""
            questions.append(f"{row}{m.entered.compound}: {asked}")
    for place, endpoint in enumerate(endpoints):
        bare, before = (
            [endpoint.from_model(m.value) for m in those if m.endpoint == place and m.usable and not m.entered.unit]
            for those in (fresh, earlier)
        )
        questions += filter(None, [about_unit(endpoint, bare, before)])
    return tuple(questions)
