"""Duplicates in a batch of results: a file sent again, a work list filled in by parts."""

from __future__ import annotations

import datetime
import functools
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from ...domain.endpoint import Endpoint, Relation
from ...domain.measurements import Measurement

Place = tuple[str, str, str]
"""Plate, well, date."""

Identity = tuple[int, int, float, Relation]
"""Compound, endpoint, value, relation."""

_QUESTIONS = 5
_NOWHERE = ("", "", "")
_ROUNDED = 1e-8
"""How far a spreadsheet's rounding moves a value that is shown with ten digits, and a little more."""
_WELL = re.compile(r"([A-Za-z]{1,2})[ _-]?0*([1-9]\d*)")


def place_of(measurement: Measurement) -> Place:
    """Return the plate, well and date of a measurement, each in one spelling; empty where none is given.

    A date that can be read in two ways stays as it was written.
    """
    entered, date = measurement.entered, measurement.entered.date.strip()
    found = days(date)
    return (entered.plate.strip(), _well(entered.well), min(found) if len(found) == 1 else date)


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
    due: Mapping[tuple[int, int], int] | None = None,
    round_number: int = 0,
) -> list[Measurement]:
    """Return the new measurements without duplicates of earlier ones.

    With plate and well, or round and replicate, a row that a file repeats is one measurement (a block pasted twice);
    without them two equal rows are two replicates.

    A result is a duplicate of an earlier entry by ``_same_measurement``; each entry has at most one. A result without
    round, plate, well or date is compared by its value. Two replicates may agree by chance, so that alone is not
    enough. A file repeats an earlier round (or the history) when it has all values of at least half of that round's
    compounds that it names. A single repeated value proves nothing, unless it is of the last round or the only one of
    the file. Values of ``coarse`` endpoints and bounds usually agree and prove nothing: to leave out those that agree
    would bias the rest. The usual case is a work list that is filled in and recorded in parts.

    ``due``: how many values the round under way, ``round_number``, still waits for of endpoints and compounds. So many
    are new, although they agree with those of an earlier round, unless the file repeats that round's other compounds,
    or has values of that round alone, of half of its compounds or more.
    """
    new = _once_each(new)
    there: dict[tuple[int, int], list[Measurement]] = {}
    for m in earlier:
        if not m.withdrawn:
            there.setdefault((m.compound, m.endpoint), []).append(m)
    known: set[int] = set()
    # Those with most details choose first, whatever the order of the rows.
    for row in sorted(range(len(new)), key=lambda row: place_of(new[row]).count("")):
        m = new[row]
        of_it = there.get((m.compound, m.endpoint), [])
        matches = [other for other in of_it if _same_measurement(m, other, endpoints)]
        if matches:
            place = place_of(m)
            of_it.remove(min(matches, key=lambda other: (place_of(other) != place, place_of(other).count(""))))
            known.add(row)
    if not typed:
        bare = {row: _identities(m, endpoints)[0] for row, m in enumerate(new) if row not in known and _is_bare(m)}
        own = Counter(identity for identity in bare.values() if identity[1] not in coarse)
        left = [m for of_it in there.values() for m in of_it if place_of(m) == _NOWHERE]
        repeated = _repeated(own, [(m.round, _identities(m, endpoints)) for m in left], due or {}, round_number)
        for row, identity in bare.items():
            if repeated[identity] > 0:
                repeated[identity] -= 1
                known.add(row)
    return [m for row, m in enumerate(new) if row not in known]


def _is_bare(m: Measurement) -> bool:
    """Return whether a result has neither round nor plate, well or date."""
    return m.entered.round is None and place_of(m) == _NOWHERE


def _same_measurement(new: Measurement, other: Measurement, endpoints: Sequence[Endpoint]) -> bool:
    """Return whether a result and an earlier entry of its compound and endpoint are one measurement, saved again.

    They have the same value, as entered or corrected. Where both have a round, it is the same, and so is the
    replicate. With a replicate, plate, well and date that only one of the two has are no difference: they may have
    been filled in since. In all other cases both must have these, and the same.
    """
    new_identity = _identities(new, endpoints)[0]
    if not any(
        new_identity[3] == relation and math.isclose(new_identity[2], value, rel_tol=_ROUNDED, abs_tol=_ROUNDED)
        for _, _, value, relation in _identities(other, endpoints)
    ):
        return False
    one, two = place_of(new), place_of(other)
    if new.entered.round is None or other.entered.round is None:
        return one == two != _NOWHERE
    if new.entered.round != other.entered.round or _replicate(new) != _replicate(other):
        return False
    return _same_place(one, two) if _replicate(new) else one == two


def _once_each(new: Sequence[Measurement]) -> list[Measurement]:
    """Return the measurements without those that repeat another one.

    That is its plate and well, or its round and replicate, and everything else that counts.
    """
    seen: set[tuple[object, ...]] = set()
    kept = []
    for m in new:
        place = place_of(m)
        names = [""] if place[0] and place[1] else []
        names += [_replicate(m)] if m.entered.round is not None and _replicate(m) else []
        keys = {(m.compound, m.endpoint, place, m.value, m.relation, m.entered.round, name) for name in names}
        if not keys & seen:
            kept.append(m)
        seen |= keys
    return kept


def questioned(
    fresh: Sequence[Measurement],
    earlier: Sequence[Measurement],
    endpoints: Sequence[Endpoint],
    repeated: int,
    due: Collection[tuple[int, int]],
) -> tuple[str, ...]:
    """Return questions about new values whose round and replicate, or plate and well, have another value already.

    A typo corrected in the list, perhaps. So is a new value of a measured compound where the list repeats more known
    values, ``repeated`` of them, than it has new ones; unless it is ``due``, by endpoint and compound.

    Both values stay; the sender of the list knows which one is right.
    """
    known: dict[tuple[int, int], list[Measurement]] = {(m.compound, m.endpoint): [] for m in fresh}
    for m in earlier:
        if (m.compound, m.endpoint) in known and not m.withdrawn and m.excluded is None:
            known[m.compound, m.endpoint].append(m)
    questions = []
    for m in fresh:
        others = known[m.compound, m.endpoint]
        held = (
            (words, other)
            for subject, words in _subjects(m).items()
            for other in others
            if subject in _subjects(other) and _same_place(place_of(other), place_of(m))
        )
        words, other = next(held, ("", None))
        if other is None and others and repeated > len(fresh) and (m.endpoint, m.compound) not in due:
            words, other = "its value", others[-1]
        if other is not None and m.excluded is None:
            row = f"Row {m.entered.row}, " if m.entered.row else ""
            endpoint = f" of {endpoints[m.endpoint].name}" if len(endpoints) > 1 else ""
            questions.append(
                f"{row}{m.entered.compound}: {words}{endpoint} was {_as_entered(other)} and is {_as_entered(m)} now. "
                "Both are kept; correct or exclude the wrong one."
            )
    more = len(questions) - _QUESTIONS
    return (*questions[:_QUESTIONS], *([f"{more} more have another value than before."] if more > 0 else []))


def _as_entered(m: Measurement) -> str:
    entered = m.entered
    value = f"{m.value:.6g} (corrected)" if m.corrected is not None else f"{entered.value:.10g}"
    return " ".join(filter(None, (f"{'' if entered.relation == '=' else entered.relation}{value}", entered.unit or "")))


def _subjects(m: Measurement) -> dict[tuple[object, ...], str]:
    """Return what can hold one value of a compound and endpoint only, each with its words: a replicate, and a well."""
    found: dict[tuple[object, ...], str] = {}
    if m.entered.round is not None and _replicate(m):
        found[m.entered.round, _replicate(m)] = f"replicate {m.entered.replicate} of round {m.entered.round}"
    plate, well, _ = place_of(m)
    if plate and well:
        found[plate, well] = f"well {well} of plate {plate}"
    return found


def _same_place(one: Place, other: Place) -> bool:
    """Return whether plate, well and date are the same wherever both have them."""
    *places, day = one
    *other_places, other_day = other
    same = all(a == b or not (a and b) for a, b in zip(places, other_places, strict=True))
    return same and (day == other_day or not (day and other_day) or bool(days(day) & days(other_day)))


def _repeated(
    own: Counter[Identity],
    kept: Sequence[tuple[int, Sequence[Identity]]],
    due: Mapping[tuple[int, int], int],
    round_number: int,
) -> Counter[Identity]:
    """Return the entries without a place that a file holding ``own`` gives again, of those ``kept``.

    These come with their round, and as they are now or were entered. ``due``: by endpoint and compound, in the round
    under way.
    """
    given: Counter[tuple[int, int]] = Counter()
    for identity, n in own.items():
        given[identity[:2]] += n
    rounds: dict[int, dict[tuple[int, int], Counter[Identity]]] = {}
    measured: dict[int, set[tuple[int, int]]] = {}
    for number, identities in kept:
        measured.setdefault(number, set()).add(identities[0][:2])
        identity = next((one for one in identities if own[one]), identities[0])
        if identity[:2] in given:
            rounds.setdefault(number, {}).setdefault(identity[:2], Counter())[identity] += 1
    last = max((number for number, _ in kept), default=0)
    numbers = _without_bounds(own)
    repeated: Counter[Identity] = Counter()
    for number, subjects in rounds.items():
        same: Counter[Identity] = Counter()
        held, size = subjects, 0
        other = {of: values for of, values in subjects.items() if number == round_number or of[::-1] not in due}
        # Where all that agrees is due, only a list of that round alone, or more values than are due, show it again.
        if not other and own <= sum(subjects.values(), Counter()):
            size = len(measured[number])
        elif not other:
            held = {of: values for of, values in subjects.items() if given[of] > due[of[::-1]]}
        telling = [values for values in (other or held).values() if _without_bounds(values)]
        whole = [values for values in telling if values <= own]
        for values in whole:
            same += _without_bounds(values)
        proof = same.total() > 1 or number == last > 0 or same == numbers
        if whole and proof and 2 * len(whole) >= (size or len(telling)):
            # Of the others, too: for example one of two values of a replicate.
            for values in held.values():
                repeated += values & own
    return repeated


def _without_bounds(values: Counter[Identity]) -> Counter[Identity]:
    return Counter({identity: n for identity, n in values.items() if identity[3] == "="})


def _replicate(m: Measurement) -> str:
    return m.entered.replicate.strip().casefold()


def _identities(m: Measurement, endpoints: Sequence[Endpoint]) -> list[Identity]:
    """Return a measurement as it is now and, where it was corrected, as it was entered."""
    found: list[Identity] = [(m.compound, m.endpoint, m.value, m.relation)]
    if m.corrected is not None:
        endpoint, entered = endpoints[m.endpoint], m.entered
        relation = endpoint.relation_on_model(entered.relation)
        found.append((m.compound, m.endpoint, endpoint.to_model(entered.value, entered.unit), relation))
    return found


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
    """Return the days a text may mean, as 2026-03-05: two for 3/5/2026; none when it is no date.

    The time of day is left aside. Year of two digits: 1970 to 2069. A whole number from 30000 to 49999 is the day a
    spreadsheet counts.
    """
    bare = _TIME.sub("", text.strip())
    if match := _YEAR_FIRST.fullmatch(bare):
        found = [_day(match[1], int(match[2]), match[3])]
    elif match := _NUMBERS.fullmatch(bare):
        found = [_day(match[4], int(match[3]), match[1])]
        if match[2] != ".":  # with points the day comes first everywhere
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
    """Return its number from its first letters; 0 when it is no month."""
    folded = name.casefold()
    # "juin" and "juil" have the same start, so the longest start decides.
    fits = [(len(start), k) for k, starts in enumerate(_MONTHS, 1) for start in starts if folded.startswith(start)]
    return max(fits)[1] if fits else 0


def _day(year: str, month: int, day: str) -> str:
    """Return the day, or "" when there is none."""
    full = int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= 70 else 2000)
    try:
        return datetime.date(full, month, int(day)).isoformat()
    except ValueError:
        return ""
