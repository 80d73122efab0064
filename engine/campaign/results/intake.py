"""Results as they come in: matched to compounds, put on the model scale, checked for duplicates."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ...domain.controls import Control, Reading, find_control
from ...domain.derived import in_words
from ...domain.endpoint import Endpoint
from ...domain.library import Library
from ...domain.measurements import Measurement, Result
from ...domain.noise import about_unit, unusual
from ...errors import AssayPilotError
from ..bookkeeping import Place
from ..replay import Ledger
from .duplicates import place_of, questioned, without_duplicates

_MOST_DETERMINATIONS = 100_000
"""N above this is a slip of the keyboard; estimates would lose their digits to it."""


@dataclass(frozen=True, slots=True)
class Intake:
    """The outcome of reading a batch of results."""

    measurements: tuple[Measurement, ...]
    duplicates: int
    rejected: tuple[tuple[int | None, str], ...]
    """(row, reason)."""
    warnings: tuple[str, ...]

    def joined(self, other: Intake) -> Intake:
        """Return both together."""
        return Intake(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


def prepare(
    make: Callable[[Result], Measurement],
    endpoints: Sequence[Endpoint],
    results: Iterable[Result],
    *,
    first_number: int,
    due: Mapping[Place, int] | None = None,
    phase: int = 0,
    round_number: int = 0,
    other_rounds: Collection[int] = (),
    earlier: Sequence[Measurement] = (),
    typed: bool = False,
    coarse: Collection[int] = (),
) -> Intake:
    """Return the values of results, numbered from ``first_number``.

    ``make`` makes one of a result; AssayPilotError where it cannot be used. A result whose endpoint and compound are
    ``due`` counts for ``phase`` as far as they are outstanding there. When a batch has more than that, a lot decides
    which of them count, never the order of the rows: a lab may sort its file by value. One that
    belongs to ``other_rounds``, those of other phases, counts for none. ``earlier`` values are looked through for
    duplicates, except for ``typed`` ones without round, plate, well and date, which are two when they are typed twice.
    ``coarse`` endpoints have few values, such as yes and no or counts.
    """
    kept: list[Measurement] = []
    rejected: list[tuple[int | None, str]] = []
    for result in results:
        try:
            kept.append(make(result))
        except AssayPilotError as error:
            rejected.append((result.row, str(error)))
    fresh = without_duplicates(kept, earlier, endpoints, typed, coarse, due, round_number)
    counted = _counted(fresh, due or {}, other_rounds, first_number)
    numbered = [
        replace(m, number=first_number + row, round=m.round or round_number, phase=phase if n else 0, counted=n)
        for row, (m, n) in enumerate(zip(fresh, counted, strict=True))
    ]
    repeated = len(kept) - len(fresh)
    asked = questioned(fresh, earlier, endpoints, repeated, due or ())
    all_questions = (*_questions(endpoints, fresh, earlier), *asked)
    return Intake(tuple(numbered), repeated, tuple(rejected), all_questions)


_LOTS = 7_251_944
"""Where the lots begin; any constant does, as long as it was fixed before any value was seen."""


def _counted(
    fresh: Sequence[Measurement], due: Mapping[Place, int], other_rounds: Collection[int], first_number: int
) -> list[int]:
    """Return how many planned measurements each of the results of a batch fills.

    The replicates of a compound in one batch are exchangeable, but their order in the file is not. Sorted by value,
    "the first two count" would be "the best two count", which biases every decision made with them. So the surplus is
    drawn by lot. The lots depend on the compound and the place of the batch in the campaign alone, both fixed before
    the values come. They go to the replicates in an order of their content, so the order of the rows does not matter.
    """
    own: dict[Place, list[int]] = {}
    for row, m in enumerate(fresh):
        if m.excluded is None and (m.endpoint, m.compound) in due and m.entered.round not in other_rounds:
            own.setdefault((m.endpoint, m.compound), []).append(row)
    counted = [0] * len(fresh)
    for place, rows in own.items():
        left = due[place]
        if sum(fresh[row].n for row in rows) > left:
            rows.sort(key=lambda row: _content(fresh[row]))
            lots = np.random.default_rng((_LOTS, place[1], first_number)).permutation(len(rows))
            rows = [rows[lot] for lot in lots]
        for row in rows:
            counted[row] = min(fresh[row].n, left)
            left -= counted[row]
    return counted


def _content(m: Measurement) -> tuple[float, str, int, float, str, str, str, str, str]:
    """Return all that distinguishes replicates of a compound, except their order in the file."""
    entered = m.entered
    spread = -1.0 if entered.sd is None else entered.sd
    return (m.value, m.relation, m.n, spread, entered.replicate, *place_of(m), entered.comment)


def due_now(ledger: Ledger) -> dict[Place, int]:
    """Return what is due now of each endpoint and compound: of the phase under way, else of a confirmation round."""
    issued = ledger.open_round
    if ledger.under_way is not None:
        return ledger.outstanding()
    return dict(ledger.awaited(issued)) if issued is not None and issued.confirmation else {}


def to_mark(ledger: Ledger, names: Iterable[str]) -> tuple[int, ...]:
    """Return the compounds of these ids that are not marked as unavailable, each once; refuse an unknown id."""
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
    named = None if result.endpoint is None else result.endpoint.strip().casefold()
    known = [endpoint.name.casefold() for endpoint in endpoints]
    if named is not None and named not in known:
        raise AssayPilotError(f"there is no endpoint {result.endpoint!r}")
    place = entered[0] if named is None else known.index(named)
    if endpoints[place].of is not None:
        raise AssayPilotError(f"{endpoints[place].name} is calculated ({in_words(endpoints, place)}), never entered")
    if result.n < 1:
        raise AssayPilotError(f"N must be 1 or more, got {result.n}")
    if result.n > _MOST_DETERMINATIONS:
        raise AssayPilotError(f"N is {result.n:,}: that is too many for one compound")
    if result.sd is not None and not (math.isfinite(result.sd) and result.sd >= 0):
        raise AssayPilotError(f"SD must be 0 or more, got {result.sd}")
    return place, endpoints[place].to_model(result.value, result.unit)


def measurement(library: Library, endpoints: Sequence[Endpoint], result: Result) -> Measurement:
    """Return the measurement of a result; AssayPilotError where it cannot be used."""
    compound = library.find(result.compound)
    if compound is None:
        raise AssayPilotError(f"{result.compound!r} is not in the library")
    return _value(Measurement, compound, endpoints, result)


def reading(controls: Sequence[Control], endpoints: Sequence[Endpoint], result: Result) -> Measurement:
    """Return the value of a control from a result; AssayPilotError where it cannot be used."""
    control = find_control(controls, result.compound)
    assert control is not None
    read = _value(Reading, control, endpoints, result)
    refuse_bound(controls[control].name, result)
    return replace(read, round=result.round or 0)


def refuse_bound(control: str, result: Result) -> None:
    """Raise AssayPilotError for a value of a control that is known only as a bound."""
    if result.relation != "=":
        raise AssayPilotError(f"the control {control} reads {result.relation}{result.value:g}: a number is needed")


def _value(kind: type[Measurement], compound: int, endpoints: Sequence[Endpoint], result: Result) -> Measurement:
    place, value = on_model(endpoints, result)
    return kind(
        number=0,
        compound=compound,
        endpoint=place,
        value=value,
        relation=endpoints[place].relation_on_model(result.relation),
        n=result.n,
        entered=result,
        round=0,
        phase=0,
        excluded=(result.comment or "excluded in the table") if result.excluded else None,
    )


def _questions(
    endpoints: Sequence[Endpoint], fresh: Sequence[Measurement], earlier: Sequence[Measurement]
) -> tuple[str, ...]:
    """Return values that look like another unit than the endpoint's, as questions."""
    questions = []
    for m in fresh:
        endpoint = endpoints[m.endpoint]
        # In the words of the tables' reader, so that a value is questioned once.
        question = None if (m.entered.unit or "").strip() else unusual(endpoint, m.entered.value)
        if question is not None:
            row = f"Row {m.entered.row}, " if m.entered.row else ""
            questions.append(f"{row}{m.entered.compound}: {question}")
    for place, endpoint in enumerate(endpoints):
        bare, before = (
            [endpoint.from_model(m.value) for m in those if m.endpoint == place and m.usable and not m.entered.unit]
            for those in (fresh, earlier)
        )
        questions += filter(None, [about_unit(endpoint, bare, before)])
    return tuple(questions)
