"""What of a batch of results is in the campaign already: a file sent again, a work list filled in bit by bit."""

from __future__ import annotations

import datetime
import functools
import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypeVar

from ...domain.endpoint import Endpoint, Relation
from ...domain.measurements import Measurement

Key = TypeVar("Key")

Place = tuple[str, str, str]
"""Plate, well, date."""

Identity = tuple[int, int, Place, float, Relation]
"""Compound, endpoint, place, value, relation: what makes two entries the same measurement."""

ToldIdentity = tuple[int, str, Identity]
"""Round and replicate as the table says them, and the rest."""

Label = tuple[int, str, int, int, Relation]
"""Round and replicate as the table says them, compound, endpoint, relation."""

Subject = tuple[int, str, int, int]
"""Round and replicate as the table says them, compound, endpoint."""

_QUESTIONS = 5
_NOWHERE = ("", "", "")
_ROUNDED = 1e-8
"""How far a spreadsheet's rounding moves a value that is shown with ten digits, and a little more."""
_WELL = re.compile(r"([A-Za-z]{1,2})[ _-]?0*([1-9]\d*)")


def place_of(measurement: Measurement) -> Place:
    """Plate, well and date of a measurement, the well in one spelling; empty where nothing was said."""
    entered = measurement.entered
    return (entered.plate.strip(), _well(entered.well), entered.date.strip())


def _well(text: str) -> str:
    """Return a well in one spelling: ``a01``, ``A-1`` and ``A1`` are the same hole."""
    match = _WELL.fullmatch(text.strip())
    return f"{match[1].upper()}{int(match[2])}" if match else text.strip()


def without_duplicates(
    new: Sequence[Measurement],
    earlier: Sequence[Measurement],
    endpoints: Sequence[Endpoint],
    typed: bool,
    coarse: Collection[int] = (),
) -> list[Measurement]:
    """Return the new measurements that are not there already.

    With plate and well, or round and replicate, a row that a file repeats is one measurement (a block pasted twice);
    without them two equal rows are two replicates.

    A result that says its round is there already when an entry of the same round, compound, endpoint, replicate,
    plate, well and date has the same value: a work list sent again. Where it says its replicate, plate, well and date
    that only one of the two says are no difference: they may have been filled in since.

    One that does not say its round is looked for by plate, well, date and value. Without any of them two replicates
    may agree by chance, so the value alone is not enough: a file repeats what returned in an earlier round (or the
    history) when it holds all values of at least half of that round's compounds it speaks of. A single value that is
    there again proves nothing, unless it is of the last round or all that the file holds. Values of ``coarse``
    endpoints agree as a rule and prove nothing: to leave out those that agree would also bias what is left. A work
    list that is filled in and recorded bit by bit is the everyday case.
    """
    new = _once_each(new)
    bare = [m for m in new if m.entered.round is None]
    told = _those_there([m for m in new if m.entered.round is not None], earlier, endpoints)
    own = Counter(_identity(m) for m in bare)
    kept = [
        (m.round, _identity_in_table(m, endpoints, own))
        for m in earlier
        if not m.withdrawn and not ((typed or m.endpoint in coarse) and place_of(m) == _NOWHERE)
    ]
    there = Counter(identity for _, identity in kept if identity[2] != _NOWHERE)
    if not typed:
        there += _repeated(own, kept)
    fresh = []
    for m in new:
        known = _drawn(there, _identity(m)) if m.entered.round is None else _drawn(told, _told_identity(m))
        if not known:
            fresh.append(m)
    return fresh


def _drawn(there: Counter[Key], key: Key) -> bool:
    """Whether one of these was there; it is not there a second time."""
    known = there[key] > 0
    there[key] -= known
    return known


def _once_each(new: Sequence[Measurement]) -> list[Measurement]:
    """Return the measurements without those that repeat another one.

    That is its plate and well, or its round and replicate, and everything else that counts.
    """
    seen: set[tuple[Identity, int | None, str]] = set()
    kept = []
    for m in new:
        plate, well, _ = place_of(m)
        names = [""] if plate and well else []
        names += [_replicate(m)] if m.entered.round is not None and _replicate(m) else []
        keys = {(_identity(m), m.entered.round, name) for name in names}
        if not keys & seen:
            kept.append(m)
        seen |= keys
    return kept


def _those_there(
    told: Sequence[Measurement], earlier: Sequence[Measurement], endpoints: Sequence[Endpoint]
) -> Counter[ToldIdentity]:
    """How many of the measurements that say their round are there already, by what they say.

    Plate, well and date may have been filled in since, or left out, and a spreadsheet that saved the list may have
    spelled the date anew or cut a value after its tenth digit: what says its round and its replicate is the same one
    unless what stands in both differs. An earlier entry that did not say its round is the same one only at
    the same plate, well and date.
    """
    own = {_without_place(_identity(m)) for m in told}
    with_round: Counter[ToldIdentity] = Counter()
    placed: Counter[Identity] = Counter()
    for m in earlier if told else ():
        if not m.withdrawn:
            identity = _in_table(m, endpoints, as_entered=_without_place(_identity(m)) not in own)
            if m.entered.round is not None:
                with_round[(m.entered.round, _replicate(m), identity)] += 1
            elif identity[2] != _NOWHERE:
                placed[identity] += 1
    there: Counter[ToldIdentity] = Counter()
    others = []
    for m in told:
        key = _told_identity(m)
        if _drawn(with_round, key) or _drawn(placed, key[2]):
            there[key] += 1
        elif key[1]:
            others.append(key)
    left: dict[Label, list[ToldIdentity]] = {}
    for key in with_round.elements() if others else ():
        left.setdefault(_label(key), []).append(key)
    # Those that say most choose first, whatever the order of the rows.
    for key in sorted(others, key=lambda key: key[2][2].count("")):
        of_label = left.get(_label(key), [])
        alike = [other for other in of_label if _same_measurement(other[2], key[2])]
        if alike:
            of_label.remove(min(alike, key=lambda other: other[2][2].count("")))
            there[key] += 1
    return there


def questioned(
    fresh: Sequence[Measurement], earlier: Sequence[Measurement], endpoints: Sequence[Endpoint]
) -> tuple[str, ...]:
    """Return what is new although its round and replicate have another value already.

    A typo corrected in the list, perhaps.

    Both values stay; whoever sent the list knows which one is right.
    """
    told = {_subject(m) for m in fresh if m.entered.round is not None and _replicate(m)}
    before: dict[Subject, list[Measurement]] = {}
    for m in earlier if told else ():
        if m.entered.round is not None and _subject(m) in told and not m.withdrawn and m.excluded is None:
            before.setdefault(_subject(m), []).append(m)
    said = []
    for m in fresh:
        other = next((o for o in before.get(_subject(m), ()) if _same_place(_identity(o)[2], _identity(m)[2])), None)
        if m.entered.round is not None and other is not None and m.excluded is None:
            row = f"Row {m.entered.row}, " if m.entered.row else ""
            endpoint = f" of {endpoints[m.endpoint].name}" if len(endpoints) > 1 else ""
            said.append(
                f"{row}{m.entered.compound}: replicate {m.entered.replicate} of round {m.entered.round}{endpoint} was "
                f"{_as_entered(other)} and is {_as_entered(m)} now. Both are kept; correct or exclude the wrong one."
            )
    more = len(said) - _QUESTIONS
    return (*said[:_QUESTIONS], *([f"{more} more have another value than before."] if more > 0 else []))


def _as_entered(m: Measurement) -> str:
    entered = m.entered
    value = f"{m.value:.6g} (corrected)" if m.corrected is not None else f"{entered.value:.10g}"
    return " ".join(filter(None, (f"{'' if entered.relation == '=' else entered.relation}{value}", entered.unit or "")))


def _subject(m: Measurement) -> Subject:
    return (m.entered.round or 0, _replicate(m), m.compound, m.endpoint)


def _same_measurement(one: Identity, other: Identity) -> bool:
    """Whether two entries of a round and replicate are one, saved again: rounded, a date spelled anew, a well added."""
    close = math.isclose(one[3], other[3], rel_tol=_ROUNDED, abs_tol=_ROUNDED)
    return close and _same_place(one[2], other[2])


def _same_place(one: Place, other: Place) -> bool:
    """Whether plate, well and date are the same wherever both say them."""
    *places, day = one
    *other_places, other_day = other
    same = all(a == b or not (a and b) for a, b in zip(places, other_places, strict=True))
    return same and (day == other_day or not (day and other_day) or bool(days(day) & days(other_day)))


def _repeated(own: Counter[Identity], kept: Sequence[tuple[int, Identity]]) -> Counter[Identity]:
    """Return the entries without plate, well and date that a file holding ``own`` gives again, of (round.

    Entry) ``kept``.
    """
    bare = Counter({identity: n for identity, n in own.items() if identity[2] == _NOWHERE})
    spoken_of = {identity[:2] for identity in bare}
    rounds: dict[int, dict[tuple[int, int], Counter[Identity]]] = {}
    for number, identity in kept:
        if identity[2] == _NOWHERE and identity[:2] in spoken_of:
            rounds.setdefault(number, {}).setdefault(identity[:2], Counter())[identity] += 1
    last = max((number for number, _ in kept), default=0)
    repeated: Counter[Identity] = Counter()
    for number, subjects in rounds.items():
        same: Counter[Identity] = Counter()
        whole = [values for values in subjects.values() if values <= bare]
        for values in whole:
            same += values
        proof = same.total() > 1 or number == last > 0 or same == own
        if proof and 2 * len(whole) >= len(subjects):
            repeated += same
    return repeated


def _identity(m: Measurement) -> Identity:
    plate, well, date = place_of(m)
    found = days(date)
    # A date that can be read in one way only is the same in every spelling.
    return (m.compound, m.endpoint, (plate, well, min(found) if len(found) == 1 else date), m.value, m.relation)


def _told_identity(m: Measurement) -> ToldIdentity:
    return (m.entered.round or 0, _replicate(m), _identity(m))


def _without_place(identity: Identity) -> tuple[int, int, float, Relation]:
    return (*identity[:2], *identity[3:])


def _label(key: ToldIdentity) -> Label:
    compound, endpoint, _, _, relation = key[2]
    return (key[0], key[1], compound, endpoint, relation)


def _replicate(m: Measurement) -> str:
    return m.entered.replicate.strip().casefold()


def _identity_in_table(m: Measurement, endpoints: Sequence[Endpoint], own: Counter[Identity]) -> Identity:
    """Return an earlier measurement as a table would hold it.

    As corrected if that is what ``own`` holds, else as entered.
    """
    return _in_table(m, endpoints, as_entered=not own[_identity(m)])


def _in_table(m: Measurement, endpoints: Sequence[Endpoint], *, as_entered: bool) -> Identity:
    """Return an earlier measurement as it is now or, where it was corrected, as it was entered."""
    now = _identity(m)
    if m.corrected is None or not as_entered:
        return now
    endpoint, entered = endpoints[m.endpoint], m.entered
    relation = endpoint.relation_on_model(entered.relation)
    return (*now[:3], endpoint.to_model(entered.value, entered.unit), relation)


_YEAR_FIRST = re.compile(r"(\d{4})[-./](\d{1,2})[-./](\d{1,2})")
_NUMBERS = re.compile(r"(\d{1,2})([-./])(\d{1,2})\2(\d{4}|\d{2})")
_DAY_AND_NAME = re.compile(r"(\d{1,2})[-./ ]{1,2}([^\W\d_]{3,})[-./, ]{1,2}(\d{4}|\d{2})")
_NAME_AND_DAY = re.compile(r"([^\W\d_]{3,})[. ]{1,2}(\d{1,2}),? (\d{4}|\d{2})")
_TIME = re.compile(r"[T ]+\d{1,2}:\d\d.*")
_SERIAL = re.compile(r"[34]\d{4}")
_FIRST_DAY = datetime.date(1899, 12, 30)
"""Day 0 of spreadsheets."""
_MONTHS = (
    ("jan",), ("feb", "fév"), ("mar", "mär"), ("apr", "avr"), ("may", "mai"), ("jun", "juin"), ("jul", "juil"),
    ("aug", "aoû"), ("sep",), ("oct", "okt"), ("nov",), ("dec", "dez", "déc"),
)  # fmt: skip


@functools.lru_cache(maxsize=1024)
def days(text: str) -> frozenset[str]:
    """Return the days a text may stand for, as 2026-03-05: two for 3/5/2026; none when it is no date.

    The time of day is left aside. Year of two digits: 1970 to 2069. A whole number from 30000 to 49999 is the day a
    spreadsheet counts.
    """
    bare = _TIME.sub("", text.strip())
    if match := _YEAR_FIRST.fullmatch(bare):
        found = [_day(match[1], int(match[2]), match[3])]
    elif match := _NUMBERS.fullmatch(bare):
        found = [_day(match[4], int(match[3]), match[1])]
        if match[2] != ".":  # with points the day stands first everywhere
            found.append(_day(match[4], int(match[1]), match[3]))
    elif match := _DAY_AND_NAME.fullmatch(bare):
        found = [_day(match[3], _month(match[2]), match[1])]
    elif match := _NAME_AND_DAY.fullmatch(bare):
        found = [_day(match[3], _month(match[1]), match[2])]
    elif _SERIAL.fullmatch(bare):
        found = [(_FIRST_DAY + datetime.timedelta(days=int(bare))).isoformat()]
    else:
        found = []
    return frozenset(day for day in found if day)


def _month(name: str) -> int:
    """Its number from its first letters; 0 when it is no month."""
    folded = name.casefold()
    # "juin" and "juil" begin alike, so the longest beginning decides.
    fits = [(len(start), k) for k, starts in enumerate(_MONTHS, 1) for start in starts if folded.startswith(start)]
    return max(fits)[1] if fits else 0


def _day(year: str, month: int, day: str) -> str:
    """Return the day, or "" when there is none."""
    full = int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= 70 else 2000)
    try:
        return datetime.date(full, month, int(day)).isoformat()
    except ValueError:
        return ""
