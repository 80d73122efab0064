"""Stock in a table: its own column, the cost of making a compound, and the lead time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from ..domain.library import Library
from ..domain.stock import CANNOT, DEAREST, IN_STOCK, LONGEST, TO_MAKE, StockLine
from ..errors import AssayPilotError
from . import headers
from .raw import CELLS, Problem, RawTable
from .values import is_missing, parse_number, quoted

_LOOKED_AT = 1000
"""Cells of a column that identify its role."""

_AMOUNT = re.compile(r"([-+]?[\d.,]*\d)\s*(?:[a-zA-Zµμ]{1,5}|%)?")
_DAYS = {"": 1, "d": 1, "day": 1, "days": 1, "tage": 1, "w": 7, "wk": 7, "wks": 7, "week": 7, "weeks": 7, "wochen": 7}
_DAYS |= {"month": 30, "months": 30}
_LEAD = re.compile(r"([-+]?[\d.,]*\d)\s*([a-zA-Z]*)\.?")
_MONEY = re.compile(r"[^\d.,+-]*([-+]?[\d.,' ]*\d)[^\d.,]*")


def _refused(text: str, reason: str) -> ValueError:
    return ValueError(f"{quoted(text)} {reason}")


def parse_state(text: str, decimal: str = ".") -> int:
    """Return the state in a cell of a stock column, as a code.

    An amount above 0 is in stock. ValueError for other words.
    """
    word = " ".join(text.casefold().replace("_", " ").replace("-", " ").split())
    for words, code in (("in stock", IN_STOCK), ("to be made", TO_MAKE), ("cannot be made", CANNOT)):
        if word in CELLS[words]:
            return code
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise _refused(text, "says neither yes, no, an amount, in stock, to be made nor cannot")
    amount = parse_number(match[1], decimal)
    if amount < 0:
        raise _refused(text, "is below 0, so it is no amount")
    return IN_STOCK if amount > 0 else TO_MAKE


def parse_cost(text: str, decimal: str = ".") -> float:
    """Return the amount of money in a cell, with or without a currency. ValueError for anything else, and below 0."""
    match = _MONEY.fullmatch(text.strip())
    if match is None:
        raise _refused(text, "is no cost")
    cost = parse_number(match[1].replace(" ", "").replace("'", ""), decimal)
    if cost < 0:
        raise _refused(text, "is a cost below 0")
    if cost >= DEAREST:
        raise _refused(text, "is more than any compound costs")
    return cost


def parse_lead(text: str, decimal: str = ".", round_days: float = 7.0) -> float:
    """Days in a cell: ``14``, ``2 weeks``, ``3 rounds``. ValueError for anything else, below 0, and above ten years."""
    match = _LEAD.fullmatch(text.strip())
    if match is None:
        raise _refused(text, "is no lead time; write days, or for example 3 weeks or 2 rounds")
    unit = match[2].casefold()
    each = round_days if unit in ("round", "rounds") else _DAYS.get(unit)
    if each is None:
        raise _refused(text, "is no lead time; write days, or for example 3 weeks or 2 rounds")
    lead = each * parse_number(match[1], decimal)
    if lead < 0:
        raise _refused(text, "is a lead time below 0")
    if lead > LONGEST:
        raise _refused(text, "is a lead time of more than ten years")
    return lead


STOCK_ROLES = {
    "stock": "says which compounds are in stock, to be made, or cannot be made",
    "cost": "says what making each compound costs",
    "lead": "says how long making each compound takes",
}
"""The possible columns, with a note on each."""


_READERS: dict[str, Callable[..., float]] = {"stock": parse_state, "cost": parse_cost, "lead": parse_lead}


def matches_role(role: str, texts: Sequence[str], decimal: str = ".") -> bool:
    """Whether at least half of the filled cells of a column can be read in a role, and at least one."""
    read = _READERS[role]
    filled = [text for text in texts if not is_missing(text)][:_LOOKED_AT]
    good = 0
    for text in filled:
        with suppress(ValueError):
            read(text, decimal)
            good += 1
    return good > 0 and 2 * good >= len(filled)


@dataclass(frozen=True, slots=True)
class StockTable:
    """The contents of a stock list."""

    lines: tuple[StockLine, ...]
    """One per compound in the list."""
    not_used: tuple[Problem, ...]
    """Cells and rows that could not be used, each with its reason; the rest of their rows was taken."""
    unread: str | None = None
    """A possible stock column that was not read, because of its name; None without one."""


def read_stock(
    raw: RawTable, compounds: Sequence[int | None], columns: Mapping[str, str | None], *, round_days: float = 7.0
) -> StockTable:
    """Return the stock of the rows' compounds (None: the row is skipped), from columns by their roles.

    A cell that cannot be read is listed and the rest of its row used. A price of 0 without a word is in stock, one
    above 0 is to be made. Rows of one compound may repeat each other; a contradicting row is listed.
    """
    found: dict[int, dict[str, float]] = {}
    first: dict[int, int] = {}
    unclear: set[int] = set()
    problems: list[Problem] = []
    readers = _READERS | {"lead": partial(parse_lead, round_days=round_days)}
    cells = [(role, column, raw.column(column)) for role in STOCK_ROLES if (column := columns.get(role)) is not None]
    for at, (row, compound) in enumerate(zip(raw.rows, compounds, strict=True)):
        for role, column, texts in cells:
            text = texts[at]
            if compound is None or is_missing(text):
                continue
            try:
                value = readers[role](text, raw.decimal)
            except ValueError as error:
                problems.append(Problem(row, column, str(error)))
                unclear |= {compound} if role == "stock" else set()
                continue
            known = found.setdefault(compound, {})
            if known.setdefault(role, value) != value:
                problems.append(Problem(row, column, f"{quoted(text)} contradicts row {first[compound]}"))
            first.setdefault(compound, row)
    lines = [_line(compound, known, guess=compound not in unclear) for compound, known in found.items()]
    return StockTable(tuple(lines), tuple(problems))


def _line(compound: int, known: Mapping[str, float], *, guess: bool) -> StockLine:
    state = known.get("stock")
    if state is None and guess:
        amounts = [known[role] for role in ("cost", "lead") if role in known]
        state = TO_MAKE if any(amounts) else IN_STOCK if amounts else None
    return StockLine(compound, None if state is None else int(state), known.get("cost"), known.get("lead"))


def read_stock_list(
    raw: RawTable, library: Library, roles: Mapping[str, str | None], *, round_days: float = 7.0
) -> StockTable:
    """Return the stock in a list of ids, by the columns of ``roles``.

    Rows with ids that are not in the library, or are there twice, are listed with why. Columns that are not named are
    found by their headers. AssayPilotError when there is no id column, or no column of stock.
    """
    named = {role: raw.named(name, f"--{role}") for role, name in roles.items() if name is not None}
    taken = set(named.values())
    columns = {role: named.get(role) or raw.called(headers.ROLES[role], taken) for role in STOCK_ROLES}
    ids = raw.called(headers.IDS, taken)
    if ids is None:
        raise AssayPilotError(
            "there is no column of ids", file=raw.file, mend="Call it ID; the others are Stock, Cost and Lead."
        )
    if not any(columns.values()):
        raise AssayPilotError(
            f"no column says what is in stock; the columns are {', '.join(raw.columns)}",
            file=raw.file,
            option="--stock",
            mend="Name the column of stock, cost or lead time.",
        )
    problems: list[Problem] = []
    compounds = [library.find(name) if name else None for name in raw.column(ids)]
    for row, name, compound in zip(raw.rows, raw.column(ids), compounds, strict=True):
        if compound is None:
            reason = f"{quoted(name)} is no compound of this campaign" if name else "the id is missing"
            problems.append(Problem(row, ids, reason))
    read = read_stock(raw, compounds, columns, round_days=round_days)
    not_used = tuple(sorted((*problems, *read.not_used), key=lambda one: one.row or 0))
    unread = None if columns["stock"] else _in_words(raw, {ids, *columns.values()})
    return StockTable(read.lines, not_used, unread)


def _in_words(raw: RawTable, taken: set[str | None]) -> str | None:
    """Return the first other column whose words are states of stock; numbers may be anything."""
    for name in raw.columns:
        words = [text for text in raw.column(name) if any(letter.isalpha() for letter in text)]
        if name not in taken and matches_role("stock", words, raw.decimal):
            return name
    return None
