"""The value of one cell: a number with its relation and unit, nothing yet, or no number; and its decimal mark."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..domain.endpoint import CONCENTRATIONS, Relation, normalise_unit
from .raw import CELLS

DASHES = frozenset({"", "-", "--", "---", "–", "—"})
_NONE = frozenset({"na", "n/a", "n.a.", "#n/a", "#na", "<na>", "null", "(null)"})
MISSING = DASHES | _NONE | set(CELLS["not measured yet"])
"""Words of an empty cell, in lower case."""

YES = frozenset({"yes", "y", "true", "1", "x", "t", "ja", "excluded", "available"})
NO = frozenset({"no", "n", "false", "0", "f", "nein", "", "-", "not available"})
"""Words of a yes-or-no column, in lower case."""

_RELATIONS: dict[str, Relation] = {
    **dict.fromkeys(("", "=", "=="), "="),
    **dict.fromkeys(("<", "<=", "=<", "≤", "<<"), "<"),
    **dict.fromkeys((">", ">=", "=>", "≥", ">>"), ">"),
}
_WIDE = {sign: sign - 0xFEE0 for sign in range(0xFF01, 0xFF5F)} | {ord("　"): " ", ord("≦"): "≤", ord("≧"): "≥"}
"""Full-width signs, digits and letters, as East Asian keyboards give them, and what they stand for."""
_CELL = re.compile(
    r"(?P<relation>[<>=≤≥]*)\s*(?P<number>[+\-−]?(?:\d[\d.,  ']*|[.,]\d+)(?:[eE][+\-−]?\d+)?)"
    r"(?P<unit>\s*[A-Za-zµμ%Å°].*)?"
)
_ROUND_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.000")
_LONGEST_SHOWN = 40
_LONGEST_MISSING = max(map(len, MISSING))

_PLAIN = r"[<>=≤≥]*\s*[+\-−]?(?:\d+(?:[.,]\d+)*|[.,]\d+)(?:[eE][+\-−]?\d+)?\s*(?:%|[pnuµμm]?M|[A-Za-z]+/[A-Za-z]+)?"
_SIGN_BEHIND = re.compile(
    r"(?P<value>(?:\d+(?:[.,]\d+)*|[.,]\d+)(?:[eE][+\-−]?\d+)?)\s*(?P<unit>%|[pnuµμm]?M)?\s*[<>≤≥]=?\s*(?P<last>%|[pnuµμm]?M)?",
    re.I,
)
_BEHIND_MARKS = re.compile(r"(?P<body>.*[^\s*†‡§¶])\s*(?P<rest>[*†‡§¶]+)", re.S)
_BEHIND_SPREAD = re.compile(
    r"(?P<body>[^±()]*?[\d%A-Za-zµμ])\s*(?P<rest>(?:±|\+/[-−–]|\+[-−–])\s*[\d.,]+(?:[eE][+-]?\d+)?\s*(?P<unit>%|[A-Za-zµμ][^\s\d]*)?)",
    re.S,
)
_BEHIND_INTERVAL = re.compile(
    r"(?P<body>.*?[^\s(\[])\s*(?P<rest>[(\[]\s*[\d.,]+(?:[eE][+-]?\d+)?\s*(?:-|–|—|to|;|,\s|\.\.\.?|…)\s*"
    r"[\d.,]+(?:[eE][+-]?\d+)?\s*[)\]])",
    re.I | re.S,
)
_BEHIND_NUMBER = re.compile(r"(?P<body>[^()]*?[\d%A-Za-zµμ])\s*(?P<rest>\(\s*\d[\d.,]*\s*\))")
"""A value with a number in parentheses behind it, which may be an SD, a standard error or a count."""
_BEHIND = (_BEHIND_MARKS, _BEHIND_INTERVAL, _BEHIND_NUMBER, _BEHIND_SPREAD)
_TIMES_TEN = re.compile(r"(?<=\d)\s*[x×·*]\s*10\s*\^?\s*(?P<power>[+\-−–]?\s?\d{1,2})(?![\d.,])", re.I)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_BEHIND_COUNT = re.compile(
    r"(?P<body>.*?\S)(?:\s*[,;]?\s+|\s*(?P<open>[(\[])\s*|\s*[,;]\s*)(?P<rest>(?:n|sd|stdev)\b.*)", re.I | re.S
)
_COUNT = re.compile(r"\bn\s*[=:]?\s*0*([1-9]\d{0,5})", re.I)
_SD = re.compile(r"(?:sd|stdev)\s*[=:]?\s*([\d.,]+(?:[eE][+-]?\d+)?)", re.I)
with Path(__file__).with_name("unreadable.csv").open(encoding="utf-8", newline="") as _file:
    _REFUSED = tuple(
        (re.compile(row["pattern"].replace("{number}", _PLAIN), re.I | re.S), row["why"])
        for row in csv.DictReader(_file)
    )
"""Cells that labs write instead of one value, and the remedies."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number as a cell writes it, or as an endpoint takes it."""

    value: float
    relation: Relation = "="
    unit: str | None = None
    """The unit written after the number; None when there is none."""
    n: int | None = None
    """The number of determinations where the cell gives it: ``7.2 (n=3)``."""
    sd: float | None = None
    """The SD where the cell calls it so: ``7.2 (n=3, sd=0.1)``."""
    rest: str = ""
    """Text after the value that is ambiguous and therefore not used: ``± 0.1``, ``*``."""
    note: str = ""
    """How it was written, where it was converted while reading, or not all of it was used."""


def narrow(text: str) -> str:
    """Return the text with ordinary signs and digits in place of full-width ones: ``>5`` for ``＞５``."""
    return text if text.isascii() else text.translate(_WIDE)


def is_missing(text: str) -> bool:
    """Whether a cell means that there is no value (yet)."""
    return not text or (len(text) <= _LONGEST_MISSING and narrow(text).strip().casefold() in MISSING)


def quoted(text: str) -> str:
    """Return a cell's text in quotation marks, shortened, on one line."""
    line = " ".join(text.split())
    return f"'{line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1] + '…'}'"


def parse_relation(text: str) -> Relation:
    """Return the relation in a separate cell; raises ValueError with the reason."""
    try:
        return _RELATIONS[narrow(text).strip().strip("'\"").strip()]
    except KeyError:
        raise ValueError(f"{quoted(text)} is no relation (=, <, >, <= or >=)") from None


def parse_number(text: str, decimal: str = ".") -> float:
    """Return a finite number, with a decimal point or comma and perhaps thousands marks.

    Raises ValueError with the reason.

    A number that could be read in two ways (``1,234`` where decimals are points) is refused, not guessed.
    """
    body = narrow(text).strip()
    try:
        number = float(body)
    except ValueError:
        number = math.nan if not re.search(r"[., '’]", body) else _marked(body, decimal)
        if math.isnan(number):
            raise ValueError(f"{quoted(text)} is not a number") from None
    else:
        if "_" in body:
            raise ValueError(f"{quoted(text)} is not a number")
        if decimal == "," and _could_be_thousands(body, "."):
            raise ValueError(_unclear(text))
        if decimal == "," and _ROUND_THOUSANDS.fullmatch(body):
            number *= 1000.0
    if not math.isfinite(number):
        raise ValueError(f"{quoted(text)} is not a finite number")
    return number


def plain_number(text: str) -> float | None:
    """Return the number of a cell that is only a finite number with a decimal point; None for any other cell."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


def parse_value(text: str, decimal: str = ".") -> Value:
    """Return the number, relation and unit of one cell (``>10000``, ``35 nM``).

    ValueError has the reason for any other cell.
    """
    text = _powers(narrow(text))
    try:
        return Value(parse_number(text, decimal))
    except ValueError as error:
        if (found := _with_more(text.strip(), decimal)) is not None:
            return found
        if (behind := _SIGN_BEHIND.fullmatch(text.strip())) is not None:
            value = " ".join(filter(None, (behind["value"], behind["unit"] or behind["last"])))
            raise ValueError(
                f"{quoted(text)} has its sign behind the number; write >{value} for more than {value}, or <{value} for "
                "less"
            ) from None
        match = _CELL.fullmatch(text.strip())
        relation = _RELATIONS.get(match["relation"]) if match else None
        if match is None or relation is None or not (match["relation"] or match["unit"]):
            raise _unreadable(text) or error from None
    try:
        number = parse_number(match["number"].strip().replace("−", "-"), decimal)
    except ValueError as error:
        raise _unreadable(text) or error from None
    unit = match["unit"] or ""
    if any(sign.isdigit() for sign in unit) and (why := _unreadable(text)) is not None:
        raise why
    if re.match(r"\s*[x×]\s*10", unit, re.I):
        raise ValueError(f"{quoted(text)} is not a number; write it as 3e-6")
    glued = unit and not unit[0].isspace() and not match["number"][-1].isspace()
    if glued and unit != "%" and (unit == "m" or normalise_unit(unit) not in CONCENTRATIONS):
        # 1A and 0x10 are names, 5 mg/mL is a value: a unit written without a space must be a known one.
        raise ValueError(f"{quoted(text)} is not a number")
    return Value(number, relation, unit.strip() or None)


def _powers(text: str) -> str:
    """Return the text with ``1.2 × 10⁻⁶`` as ``1.2e-6``."""
    if "10" not in text.translate(_SUPERSCRIPTS):
        return text
    plain = text.translate(_SUPERSCRIPTS)
    return _TIMES_TEN.sub(lambda m: "e" + m["power"].replace("−", "-").replace("–", "-").replace(" ", ""), plain)


def _with_more(text: str, decimal: str) -> Value | None:
    """Return a value with text after it: its n and SD by name, a spread of unknown kind, a footnote's mark."""
    counted = None if _BEHIND_MARKS.fullmatch(text) else _BEHIND_COUNT.fullmatch(text)
    if counted is not None:
        n, sd = _COUNT.search(counted["rest"]), _SD.search(counted["rest"])
        if _COUNT.sub("", _SD.sub("", counted["rest"], 1), 1).strip(" ,;)]"):
            return None
        spread = None if sd is None else parse_number(sd[1], decimal)
        return _joined(counted["body"], decimal, n=None if n is None else int(n[1]), sd=spread)
    found = next((match for pattern in _BEHIND if (match := pattern.fullmatch(text)) is not None), None)
    if found is None:
        return None
    # The unit of 35 ± 4 nM is that of both.
    unit = found.groupdict().get("unit") or ""
    body = f"{found['body']} {unit}" if unit and found["body"][-1].isdigit() else found["body"]
    return _joined(body, decimal, rest=found["rest"])


def _joined(body: str, decimal: str, *, n: int | None = None, sd: float | None = None, rest: str = "") -> Value | None:
    """Return the value of a text with what was found behind it.

    None when the text is no value, or gives the same twice.
    """
    try:
        found = parse_value(body, decimal)
    except ValueError:
        return None
    if (n is not None and found.n is not None) or (sd is not None and found.sd is not None):
        return None
    return replace(
        found,
        n=found.n if n is None else n,
        sd=found.sd if sd is None else sd,
        rest=" ".join(filter(None, (found.rest, rest))),
    )


def _unreadable(text: str) -> ValueError | None:
    """Return why a cell with numbers is no value, for kinds that labs write; None for any other text."""
    why = next((why for pattern, why in _REFUSED if pattern.fullmatch(text.strip())), None)
    return None if why is None else ValueError(f"{quoted(text)} {why}")


def _unclear(text: str) -> str:
    return f"{quoted(text)} can be read in two ways; write it without a mark, or say what marks the decimals"


def _could_be_thousands(body: str, mark: str) -> bool:
    """Whether a number may be a thousand or a decimal; ``10,000`` is a thousand, three idle zeros are unusual."""
    return re.fullmatch(rf"[+-]?[1-9]\d{{0,2}}{re.escape(mark)}(?!000$)\d{{3}}", body) is not None


def _marked(body: str, decimal: str) -> float:
    """Return a number written with a decimal comma or thousands marks; NaN when it is none, ValueError when unclear."""
    plain = re.sub(r"(?<=\d)[   '’](?=\d{3}(?!\d))", "", body).replace("−", "-")
    other = "," if decimal == "." else "."
    if decimal == "." and re.fullmatch(r"[+-]?[1-9]\d{0,2},000", plain):
        return float(plain.replace(",", ""))
    if decimal == "." and _could_be_thousands(plain, ","):
        raise ValueError(_unclear(body))
    for point, thousands in ((decimal, other), (other, decimal)):
        dot, mark = re.escape(point), re.escape(thousands)
        grouped = rf"[+-]?(?:[1-9]\d{{0,2}}(?:{mark}\d{{3}})+|\d+)?(?:{dot}\d*)?(?:[eE][+-]?\d+)?"
        if re.search(r"\d", plain) and re.fullmatch(grouped, plain):
            return float(plain.replace(thousands, "").replace(point, "."))
    return math.nan


_UNIT = r"(?:\s*[A-Za-zµμ%]+)?"
_DECIMAL_COMMA = re.compile(rf"[<>=≤≥]*\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?{_UNIT}")
_THOUSANDS = re.compile(rf"[<>=≤≥]*\s*[1-9]\d{{0,2}},\d{{3}}{_UNIT}")
_GROUPED = re.compile(rf"[<>=≤≥]*\s*[1-9]\d{{0,2}}(?:,\d{{3}})+(?:\.\d+)?{_UNIT}")
_SHORT = re.compile(rf"[<>=≤≥]*\s*\d{{1,3}}{_UNIT}")
_LONG = re.compile(rf"[<>=≤≥]*\s*\d{{4,}}{_UNIT}")
_DECIMAL = re.compile(rf"[<>=≤≥]*\s*[+-]?\d*[.,]\d+(?:[eE][+-]?\d+)?{_UNIT}")
_DECIMAL_POINT = re.compile(rf"[<>=≤≥]*\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?{_UNIT}")


def thousands_read(
    columns: Sequence[str], cells: Sequence[tuple[str, ...]], delimiter: str, warnings: list[str]
) -> tuple[tuple[str, ...], ...]:
    """Return the cells of a comma-separated table without thousands marks, where commas can only be these.

    Every comma of their numbers precedes three digits, and no integer is as long without one; other cells are
    shorter integers, decimals with a point, or have commas at another place. A warning names these columns.
    """
    found = [place for place, column in enumerate(cells) if delimiter == "," and _has_thousands(column)]
    if found and decimal_mark(cells, delimiter, []) == ".":
        warnings.append(
            f"The commas in numbers of {', '.join(columns[place] for place in found)} are read as thousands, such as "
            f"{next(filter(_is_doubtful, cells[found[0]]))!r}. If they mark decimals, say so."
        )
        return tuple(without_thousands([c], ".")[0] if place in found else c for place, c in enumerate(cells))
    return tuple(cells)


def _has_thousands(column: Sequence[str]) -> bool:
    marked = [cell for cell in column if "," in cell]
    if not any(map(_is_doubtful, marked)) or not all(map(_GROUPED.fullmatch, marked)):
        return False
    numbers = [cell for cell in column if _SHORT.fullmatch(cell) or _DECIMAL_POINT.fullmatch(cell)]
    return not any(map(_LONG.fullmatch, column)) and (bool(numbers) or len({cell.index(",") for cell in marked}) > 1)


def _is_doubtful(cell: str) -> bool:
    """Whether a number may be a thousand or a decimal by itself; 10,000 and 1,234.5 are none."""
    return "," in cell and not cell.endswith(",000") and _THOUSANDS.fullmatch(cell) is not None


def decimal_mark(cells: Sequence[Sequence[str]], delimiter: str, warnings: list[str]) -> str:
    """Whether the numbers of a table are written with a point or a comma."""
    commas = [cell for column in cells for cell in column if "," in cell and _DECIMAL_COMMA.fullmatch(cell)]
    if not commas:
        return "."
    pointed = [cell for column in cells for cell in column if "." in cell and _DECIMAL_POINT.fullmatch(cell)]
    points = len(pointed)
    # 1,234 in a comma-separated file is more likely a thousand than a decimal; in the others it is a decimal.
    surely = [cell for cell in commas if not re.search(r"(?<!\d)[1-9]\d{0,2},\d{3}(?!\d)", cell)]
    # 12,500 next to 830.5 is a thousand; next to 1.250 it is ambiguous.
    thousands = not surely and any(not re.search(r"(?<!\d)[1-9]\d{0,2}\.\d{3}(?!\d)", cell) for cell in pointed)
    unclear = not surely and not points and delimiter != "," and any(map(_thousands_among_integers, cells))
    decimal = "." if points > len(commas) or (delimiter == "," and not surely) or thousands or unclear else ","
    if unclear:
        warnings.append(
            f"{_shown(commas)} may be thousands or decimals: taken as thousands where only zeros follow the comma, and "
            "left out otherwise. Say what marks the decimals, a point or a comma."
        )
    rounded = [cell for cell in commas if ",000" in cell]
    if points and not (thousands and len(rounded) == len(commas)):
        warnings.append(
            f"Some numbers have a decimal comma ({len(commas)}) and some a decimal point ({points}); "
            f"read with {'a point' if decimal == '.' else 'a comma'}, and unclear ones are left out."
        )
    return decimal


def _thousands_among_integers(column: Sequence[str]) -> bool:
    """Whether a column has possible thousands (12,500) among short integers (830) and no unmarked long one.

    Spreadsheets show thousands so. Decimals that all happen to have three digits are rare among integers.
    """
    marked = any(_THOUSANDS.fullmatch(cell) for cell in column if "," in cell)
    return marked and any(map(_SHORT.fullmatch, column)) and not any(map(_LONG.fullmatch, column))


def _shown(cells: Sequence[str]) -> str:
    """Return the first of some cells, and how many more."""
    return f"{cells[0]!r}" + (f" and {len(cells) - 1:,} more" if len(cells) > 1 else "")


def without_thousands(cells: Sequence[tuple[str, ...]], decimal: str) -> tuple[tuple[str, ...], ...]:
    """Return cells of a table without the thousands marks of its numbers, once the decimal mark is known."""
    mark = "," if decimal == "." else "."
    number = re.compile(rf"[<>=≤≥]*\s*[+-]?[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+{_UNIT}")
    return tuple(
        tuple(cell.replace(mark, "") if mark in cell and number.fullmatch(cell) else cell for cell in column)
        for column in cells
    )


def with_decimal(texts: Sequence[str], own: str, mark: str) -> Sequence[str]:
    """Return cells with another decimal mark, where they are numbers with one."""
    if own == mark:
        return texts
    return tuple(text.replace(own, mark) if own in text and _DECIMAL.fullmatch(text) else text for text in texts)
