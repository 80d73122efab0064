"""The header rows of a sheet: titles above it, groups over names, units and types below."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import AssayPilotError
from . import headers
from .raw import CELLS, fold
from .values import is_missing

SEARCHED = 40
"""Rows among which the header is looked for."""

NUMBER = re.compile(r"[<>~≈]?\s*[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?\s*%?")

_TYPES = frozenset(CELLS["type"])
"""Names of column types in programs."""


class Header(NamedTuple):
    """The header of a table and where its rows begin."""

    names: list[str]
    first: int
    """The first line of the table's rows."""
    top: list[str] | None
    """The first line of the header, which may stand again further down; None where there is none."""
    titles: int = 0
    """Lines above the header, which are no part of the table."""
    rows: tuple[int, ...] = ()
    """The rows of a header of several; empty for one row."""


def find_header(head: list[list[str]], numbers: Sequence[int], warnings: list[str]) -> Header:
    """Return the header among the first lines of a sheet, with ``warnings`` about lines joined and left out."""
    at = _header_at(head)
    group = _group_above(head, numbers, at)
    begin = at if group is None else at - 1
    names = list(head[at]) if group is None else _combined(group, head[at])
    first = at + 1
    while (below := _continued(head, numbers, first, names)) is not None:
        names = _combined(names, below)
        first += 1
    rows = tuple(numbers[begin:first]) if first - begin > 1 else ()
    if rows:
        joined = "and" if len(rows) == 2 else "to"
        warnings.append(f"Rows {rows[0]} {joined} {rows[-1]} were read together as the header.")
    names, first = _under_units(head, numbers, first, names, warnings)
    if _are_types(head, numbers, first, names):
        warnings.append(f"Row {numbers[first]} says of which type the columns are, and was left out.")
        first += 1
    if at == 0 and first == 1 and _is_data(names):
        warnings.append(
            f"Row {numbers[0]} holds numbers, so the table has no header; its columns are called column 1, column 2, …"
        )
        return Header(_numbered_columns(len(names)), 0, None)
    return Header(names, first, head[at], begin, rows)


def given_header(
    lines: list[list[str]], numbers: Sequence[int], given: tuple[int, int], *, file: str | None, warnings: list[str]
) -> Header:
    """Return the header in the row, and of the number of rows, that the user gave; see ``lay_out``."""
    row, count = given
    if count == 0:
        return Header(_numbered_columns(max(map(len, lines), default=0)), 0, None)
    if row not in numbers:
        raise AssayPilotError(f"row {row} is empty, so it is no header", file=file, mend="Name another row.")
    at = numbers.index(row)
    top, *below = lines[at : at + 2]
    names, first = (top, at + 1) if count == 1 or not below else (_combined(top, below[0]), at + 2)
    return Header(*_under_units(lines, numbers, first, names, warnings), top)


def _under_units(
    head: Sequence[Sequence[str]], numbers: Sequence[int], first: int, names: list[str], warnings: list[str]
) -> tuple[list[str], int]:
    """Return the names with the units that stand in a row below them, and the first row of the table."""
    if (units := _units(head, numbers, first, names)) is None:
        return names, first
    warnings.append(f"Row {numbers[first]} holds units; they were joined to the headers.")
    return [_with_unit(name, unit) for name, unit in itertools.zip_longest(names, units, fillvalue="")], first + 1


def _numbered_columns(width: int) -> list[str]:
    return [f"column {place}" for place in range(1, width + 1)]


def count_filled(line: Sequence[str]) -> int:
    """Return the number of filled cells."""
    return sum(1 for text in line if text)


def count_known(line: Sequence[str]) -> int:
    """Return the number of cells that are headers chemists use."""
    return sum(1 for text in line if text and headers.is_known(text))


def count_numeric(line: Sequence[str]) -> int:
    """Return the number of cells that are numbers."""
    return sum(1 for text in line if text and NUMBER.fullmatch(text))


def _is_data(line: Sequence[str]) -> bool:
    """Whether a row has values, not headers: mostly numbers, and few known headers."""
    numeric = count_numeric(line)
    return 2 * numeric > len(line) and 4 * count_known(line) < numeric


def _header_at(head: Sequence[Sequence[str]]) -> int:
    """Return the place of the header.

    The first row, unless narrower rows precede a wide one with the headers.
    """
    wide = max(map(count_filled, head))
    # A title with a comma in it looks like two cells; a row of only headers shows that it is none.
    named = next((place for place, line in enumerate(head) if count_known(line) >= max(2, 0.6 * count_filled(line))), 0)
    if (
        named
        and not any(map(count_known, head[:named]))
        and count_filled(head[named]) >= max(map(count_filled, head[:named]))
    ):
        return named
    at = next((place for place, line in enumerate(head) if count_filled(line) >= max(2, 0.6 * wide)), 0)
    # Where nothing is known on either side only lone cells above three or more columns are surely titles.
    known = max(map(count_known, head[:at]), default=0)
    titles = wide >= 3 and not known and all(count_filled(above) == 1 for above in head[:at])
    more = known < min(2, count_known(head[at]))
    return at if (titles or more) and 2 * count_numeric(head[at]) <= count_filled(head[at]) else 0


def _group_above(head: Sequence[Sequence[str]], numbers: Sequence[int], at: int) -> Sequence[str] | None:
    """Return row right above the header when it names groups of its columns (``IC50`` over ``mean``, ``SD``, ``N``)."""
    if at == 0 or numbers[at] != numbers[at - 1] + 1:
        return None
    above, header = head[at - 1], head[at]
    wide = len(header)
    spots = [place for place, text in enumerate(above[:wide]) if text]
    if not spots or spots == [0] or count_numeric(above):
        return None
    repeated = len(set(filter(None, header))) < count_filled(header)
    needed = {at for at in range(spots[0], wide) if not header[at] or headers.is_part(header[at]) or repeated}
    parts = bool(needed) and needed.issuperset(set(spots) - {0})
    merged = any(not header[at] and headers.is_known(above[at]) for at in spots)  # Compound, over both rows
    # IC50 (nM) above JAK1, JAK2: the columns have names, and only the group names their quantity.
    quantified = any(_names_quantity(above[at]) and _is_bare(header[at]) for at in spots)
    return above if parts or merged or quantified else None


def _continued(
    head: Sequence[Sequence[str]], numbers: Sequence[int], place: int, names: Sequence[str]
) -> Sequence[str] | None:
    """Return the row right below the header when it is one of headers, too; None for any other.

    It has no number. Its cell at the header's compounds is empty or another such name; without one, it names compounds.
    A row of units comes next.
    """
    if place + 1 >= len(head) or numbers[place] != numbers[place - 1] + 1 or count_numeric(head[place]):
        return None
    own = {at for at, name in enumerate(names) if _names_compounds(name)}
    texts = {at: text for at, text in enumerate(head[place]) if text}
    again = {at for at, text in texts.items() if fold(text) in headers.IDS or fold(text) in headers.STRUCTURES}
    heading = texts.keys() == {0}  # Amides, above compounds
    if not texts or heading or not (own or again) or not own & texts.keys() <= again or head[place] == head[place - 1]:
        return None
    return None if all(headers.is_unit(text) or is_missing(text) for text in texts.values()) else head[place]


def _names_compounds(name: str) -> bool:
    """Whether a header is that of ids, structures or sites."""
    folded = fold(name)
    return folded in headers.IDS or folded in headers.STRUCTURES or headers.SITE.fullmatch(folded) is not None


def _names_quantity(text: str) -> bool:
    """Whether a group's name is the quantity of all its columns: IC50 (nM), Ki, % inhibition."""
    return headers.looks_like_activity(text) or (bool(text) and headers.split_unit(text)[1] != "")


def _is_bare(text: str) -> bool:
    """Whether a header is a name alone, whose quantity a group above may name: JAK1, WT, HeLa."""
    known = headers.is_known(text) or headers.is_part(text) or headers.is_property(text) or headers.is_of_fit(text)
    return bool(text) and not known and not headers.split_unit(text)[1]


def _combined(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """Return one name from two rows; a group's name applies to the columns on its right without one."""
    names, group, of = [], "", ""
    repeated = {text for text in lower if text and list(lower).count(text) > 1}
    for place in range(max(len(upper), len(lower))):
        over = upper[place] if place < len(upper) else ""
        under = lower[place] if place < len(lower) else ""
        group = over or (group if under else "")
        # Parts after EGFR IC50 (nM) in a group belong to it, not to the group.
        of = of if headers.is_part(under) and not over else ""
        if not under or not group:
            names.append(under or over)
        elif of and not headers.is_unit(under):
            names.append(f"{of} {under}")
        elif headers.is_unit(under):
            names.append(_with_unit(group, under))
        elif headers.is_mean(under):
            names.append(group)
        elif under not in repeated and (
            _is_complete(under) or headers.is_mean(group) or fold(under).startswith(f"{fold(group)} ")
        ):
            names.append(under)
            of = under if headers.looks_like_activity(under) and not headers.is_mean(group) else ""
        elif _names_quantity(group) and _is_bare(under):
            names.append(f"{under} {group}")
        elif over or headers.is_part(under) or under in repeated:
            names.append(f"{group} {under}")
        else:
            names.append(under)
    return names


def _is_complete(text: str) -> bool:
    """Whether a header needs no group's name: ``R1`` under ``Substituents`` is the site R1, ``Date`` is a date."""
    if _names_compounds(text):
        return True
    if headers.looks_like_activity(text):
        # EGFR IC50 (nM) names the target; IC50 (nM) and Mean IC50 (nM) do not.
        return all(" " in base for base in headers.bases(headers.split_unit(text)[0]))
    return headers.role_of(text) in ("date", "comment", "plate", "well", "batch")


def _units(
    head: Sequence[Sequence[str]], numbers: Sequence[int], place: int, header: Sequence[str]
) -> Sequence[str] | None:
    """Return the row right below the header when it consists of units."""
    if place + 1 >= len(head) or numbers[place] != numbers[place - 1] + 1:
        return None
    texts = [text for text in head[place] if text and not is_missing(text)]
    units = [text for text in texts if headers.is_unit(text)]
    if not units or len(units) < len(texts) or len(head[place]) > len(header):
        return None
    return ["" if is_missing(text) else text for text in head[place]]


def _are_types(head: Sequence[Sequence[str]], numbers: Sequence[int], place: int, header: Sequence[str]) -> bool:
    """Whether the row right below the header only names types (String, Real), as Spotfire and KNIME write it."""
    if place + 1 >= len(head) or numbers[place] != numbers[place - 1] + 1:
        return False
    texts = [fold(text) for text in head[place] if text]
    return len(texts) > 1 and len(texts) >= count_filled(header) - 1 and all(text in _TYPES for text in texts)


def _with_unit(name: str, unit: str) -> str:
    bare = unit.strip("()[] ")
    return f"{name} ({bare})" if name and bare and not headers.split_unit(name)[1] else name
